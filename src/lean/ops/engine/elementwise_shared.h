// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/elementwise_shared.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_ELEMENTWISE_SHARED_H
#define TAPER_OPS_ENGINE_ELEMENTWISE_SHARED_H

static inline bool is_conversion(const taper_ew *ew)
{
    (void)ew;
    return false;
}

static inline taper_cast_function *find_side_cast(const taper_run *run, const taper_ew_side *s, bool result)
{
    (void)run, (void)s, (void)result;
    return NULL;
}

static inline bool is_even(const taper_ew *ew, const taper_ew_decision *d, const taper_ew_inner *inner)
{
    (void)ew, (void)d, (void)inner;
    return false;
}

#endif
