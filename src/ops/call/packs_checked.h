// SPDX-License-Identifier: BSD-2-Clause
// Which packs of a file were looked at whole and found good, in a small file beside it. Later processes take these
// without looking, for a day, as long as the file of packs is the same one and nobody has written to it: by what git's
// index goes, too. For a model of 100 MB that is a sixth of the first run.
#ifndef TAPER_OPS_PACKS_CHECKED_H
#define TAPER_OPS_PACKS_CHECKED_H

#include "base/memory.h"
#include "platform/kept_files.h"

typedef struct taper_packs_checked {
    taper_kept_stamp file; // of packs
    uint8_t *packs;        // 1 for one that was good
    size_t count;
    bool known; // an earlier process said so, or this one has said it
} taper_packs_checked;

// What the file at path says of the file of `count` packs with this stamp: where it says nothing, or there is no
// memory, no pack is known to be good.
void taper_packs_checked_read(taper_packs_checked *c, const taper_allocator *allocator, const char *path,
                              const taper_kept_stamp *stamp, size_t count);
void taper_packs_checked_free(taper_packs_checked *c, const taper_allocator *allocator);
// Whether there is something to say: packs that this process looked at, of a file that was written some time ago. What
// is good is not written down any more from then on: another thread reads it.
bool taper_packs_checked_take(taper_packs_checked *c);
void taper_packs_checked_write(const taper_packs_checked *c, const char *path, const char *part);

#endif
