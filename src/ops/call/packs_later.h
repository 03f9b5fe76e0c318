// SPDX-License-Identifier: BSD-2-Clause
// Packs that are kept in a file for later processes.
#ifndef TAPER_OPS_CALL_PACKS_LATER_H
#define TAPER_OPS_CALL_PACKS_LATER_H

#include "ops/call/packs_parts.h"

struct taper_packs_file;

static inline bool taper_packs_has_file(const struct taper_packs *packs)
{
    return packs->keeping.file != NULL;
}
// Takes packs from this file, and adds the packs that the file lacks. A thread writes these packs after the first run
// that needed no new pack, or they are written when the model is freed. Takes over the file.
void taper_packs_use_file(struct taper_packs *packs, struct taper_packs_file *file);
// Call this after a run, with the lock held. Returns what went wrong in writing, or NULL.
const char *taper_packs_keep_after_run(struct taper_packs *packs);
// Call this when no run is left. Writes the remaining packs and closes the file. Returns what went wrong in writing, or
// NULL.
const char *taper_packs_end(struct taper_packs *packs);

#endif
