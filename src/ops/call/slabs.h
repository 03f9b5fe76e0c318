// SPDX-License-Identifier: BSD-2-Clause
// Memory for packed weights: a few large pieces in which packs are consecutive. The memory only grows. Unused memory of
// a piece is never touched, except up to the end of a large page.
#ifndef TAPER_OPS_SLABS_H
#define TAPER_OPS_SLABS_H

#include "platform/platform.h"

typedef struct taper_slabs { // before the first use, all members except the allocator must be zero
    const taper_allocator *allocator;
    struct taper_slab *slabs; // list of slabs; new packs go to the first slab
    size_t slab_bytes;        // size of the next slab, in bytes
    size_t bytes;             // number of bytes of the packs in all slabs
} taper_slabs;

// Returns memory aligned to TAPER_ALIGNMENT, with TAPER_OVERREAD bytes after it, or NULL if memory is missing.
void *taper_slabs_alloc(taper_slabs *slabs, size_t bytes);
// Requests large pages for the memory at data. Call this before the first write to the memory.
void taper_slabs_touch(const taper_slabs *slabs, const void *data, size_t bytes);
// Frees the memory that taper_slabs_alloc returned last.
void taper_slabs_undo(taper_slabs *slabs, const void *data);
void taper_slabs_free(taper_slabs *slabs);

#endif
