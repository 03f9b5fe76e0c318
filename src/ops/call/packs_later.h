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
// Packs come from this file where it has them, and those that it has not are written to it: by a thread after the first
// run that needed no more of them, or when the model goes. Takes it over.
void taper_packs_use_file(struct taper_packs *packs, struct taper_packs_file *file);
// A run has ended; under the lock. What went wrong in writing, to be told.
const char *taper_packs_keep_after_run(struct taper_packs *packs);
// Nobody runs any more: what is not written yet is written, and the file closed. As above.
const char *taper_packs_end(struct taper_packs *packs);

#endif
