// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/call/packs_later.h in a library for one model, which keeps no packs for later processes.
#ifndef TAPER_OPS_CALL_PACKS_LATER_H
#define TAPER_OPS_CALL_PACKS_LATER_H

#include "ops/call/packs_parts.h"

static inline bool taper_packs_has_file(const struct taper_packs *packs)
{
    (void)packs;
    return false;
}

static inline const char *taper_packs_keep_after_run(struct taper_packs *packs)
{
    (void)packs;
    return NULL;
}

static inline const char *taper_packs_end(struct taper_packs *packs)
{
    (void)packs;
    return NULL;
}

#endif
