// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/reduce_native.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_REDUCE_NATIVE_H
#define TAPER_OPS_ENGINE_REDUCE_NATIVE_H

static inline const taper_native_folder *find_native(const taper_run *run, const taper_reduce *r,
                                                     taper_native_fold fold)
{
    (void)run, (void)r, (void)fold;
    return NULL;
}

static inline taper_cast_function *find_read_cast(const taper_run *run, const taper_reduce *r)
{
    (void)run, (void)r;
    return NULL;
}

#endif
