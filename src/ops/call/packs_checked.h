// SPDX-License-Identifier: BSD-2-Clause
// Remembers which packs of a file were read completely and found good. These packs are listed in a small file beside
// the file of packs. For a day, later processes do not check these packs again if the file of packs is the same file
// and was not written to. git's index uses the same criterion. For a model of 100 MB the check takes a sixth of the
// time of the first run.
#ifndef TAPER_OPS_PACKS_CHECKED_H
#define TAPER_OPS_PACKS_CHECKED_H

#include "base/memory.h"
#include "platform/kept_files.h"

typedef struct taper_packs_checked {
    taper_kept_stamp file; // state of the file of packs
    uint8_t *packs;        // 1 for each pack whose checksum was correct, otherwise 0
    size_t count;
    bool known; // true if the file of checked packs already contains these facts
} taper_packs_checked;

// Reads the small file at `path`, about a file of `count` packs with this stamp. If the small file is about another
// file, or memory is missing, no pack counts as checked.
void taper_packs_checked_read(taper_packs_checked *c, const taper_allocator *allocator, const char *path,
                              const taper_kept_stamp *stamp, size_t count);
void taper_packs_checked_free(taper_packs_checked *c, const taper_allocator *allocator);
// Returns true if there is news: packs that this process has checked, in a file that was written some time ago. From
// then on no more packs are added, because another thread reads the struct.
bool taper_packs_checked_take(taper_packs_checked *c);
void taper_packs_checked_write(const taper_packs_checked *c, const char *path, const char *part);

#endif
