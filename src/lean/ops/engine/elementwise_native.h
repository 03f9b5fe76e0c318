// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/engine/elementwise_native.h in small builds, which omit its code.
#ifndef TAPER_OPS_ENGINE_ELEMENTWISE_NATIVE_H
#define TAPER_OPS_ENGINE_ELEMENTWISE_NATIVE_H

static inline bool choose_native(const taper_run *run, const taper_ew_op *op, const taper_ew_args *args,
                                 const taper_ew_decision *d, taper_ew_lines *w, taper_ew_inner *inner)
{
    (void)run, (void)op, (void)args, (void)d, (void)w, (void)inner;
    return false;
}

#endif
