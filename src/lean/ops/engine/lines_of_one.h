// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/lines_of_one.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_LINES_OF_ONE_H
#define TAPER_OPS_ENGINE_LINES_OF_ONE_H

#include "ops/engine/reduce.h"

static inline bool taper_lines_of_one(taper_run *run, const taper_tensor *x, size_t dim, bool keep,
                                      taper_tensor *values, taper_tensor *positions)
{
    (void)run, (void)x, (void)dim, (void)keep, (void)values, (void)positions;
    return false;
}

#endif
