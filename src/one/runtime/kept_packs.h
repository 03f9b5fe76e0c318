// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/runtime/kept_packs.h in a library for one model, which keeps no packs for later processes.
#ifndef TAPER_RUNTIME_KEPT_PACKS_H
#define TAPER_RUNTIME_KEPT_PACKS_H

#include "base/status.h"

enum { TAPER_KEEPS_PACKS = 0 };

static inline taper_status taper_model_use_cache(taper_model *model, taper_error *error)
{
    (void)model, (void)error;
    return TAPER_OK;
}

static inline void taper_model_tell_of_packs(const taper_model *model, const char *problem)
{
    (void)model, (void)problem;
}

#endif
