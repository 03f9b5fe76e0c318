// SPDX-License-Identifier: BSD-2-Clause
// Where packed weights lie: one behind the other in few large pieces of memory, which only grow. What is not used of a
// piece is never touched, but for the end of a large page.
#ifndef TAPER_OPS_SLABS_H
#define TAPER_OPS_SLABS_H

#include "platform/platform.h"

typedef struct taper_slabs { // zero but for the allocator
    const taper_allocator *allocator;
    struct taper_slab *slabs; // the one in use first
    size_t slab_bytes;        // of the next one
    size_t bytes;             // that were given
} taper_slabs;

// Aligned to TAPER_ALIGNMENT, with TAPER_OVERREAD bytes behind; NULL: no memory.
void *taper_slabs_alloc(taper_slabs *slabs, size_t bytes);
// Before what was given is written to: it may become large pages.
void taper_slabs_touch(const taper_slabs *slabs, const void *data, size_t bytes);
// What taper_slabs_alloc gave last is not needed.
void taper_slabs_undo(taper_slabs *slabs, const void *data);
void taper_slabs_free(taper_slabs *slabs);

#endif
