// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/reduce_turned.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_REDUCE_TURNED_H
#define TAPER_OPS_ENGINE_REDUCE_TURNED_H

static inline bool fold_turned(walk *w, const taper_reduce_op *op, const taper_reduce_vector *v,
                               const taper_native_folder *native, double *acc, const char *from, size_t m)
{
    (void)w, (void)op, (void)v, (void)native, (void)acc, (void)from, (void)m;
    return false;
}

#endif
