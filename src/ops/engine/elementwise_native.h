// SPDX-License-Identifier: BSD-2-Clause
// Part of elementwise_inner.c: loops in the operator's own dtype (ops/kernels/native.h).
#ifndef TAPER_OPS_ENGINE_ELEMENTWISE_NATIVE_H
#define TAPER_OPS_ENGINE_ELEMENTWISE_NATIVE_H

#include "ops/engine/doubles.h"

static int native_type(taper_dtype dtype, taper_native native)
{
    if (native == TAPER_NATIVE_WHERE) { // the kernel copies bits, so only the width of elements matters
        switch (taper_dtype_size(dtype)) {
        case 1:
            return TAPER_NATIVE_U8;
        case 2:
            return TAPER_NATIVE_I16;
        case 4:
            return TAPER_NATIVE_I32;
        case 8:
            return TAPER_NATIVE_I64;
        default:
            return -1;
        }
    }
    static const int8_t types[TAPER_DTYPE_COUNT] = {
        [TAPER_U8] = 1 + TAPER_NATIVE_U8,   [TAPER_I8] = 1 + TAPER_NATIVE_I8,     [TAPER_I16] = 1 + TAPER_NATIVE_I16,
        [TAPER_I32] = 1 + TAPER_NATIVE_I32, [TAPER_I64] = 1 + TAPER_NATIVE_I64,   [TAPER_F32] = 1 + TAPER_NATIVE_F32,
        [TAPER_F64] = 1 + TAPER_NATIVE_F64, [TAPER_BOOL] = 1 + TAPER_NATIVE_BOOL, [TAPER_C64] = 1 + TAPER_NATIVE_C64};
    return types[dtype] - 1;
}

// Returns true if no native kernel computes the operator with these numbers: a sum with a factor other than 1, or a
// polygamma function other than trigamma.
static bool has_factor(taper_native native, const taper_ew_args *args, taper_ew_class class_)
{
    const bool one = class_ == TAPER_EW_C128  ? args->c[0].re == 1 && args->c[0].im == 0
                     : class_ == TAPER_EW_F64 ? args->f[0] == 1
                                              : args->i[0] == 1;
    return native == TAPER_NATIVE_TRIGAMMA ? args->f[0] != 1
                                           : (native == TAPER_NATIVE_ADD || native == TAPER_NATIVE_SUB) && !one;
}

// Returns true if the side (an input or the result) has the dtype that the kernel wants, or if a cast kernel converts
// between the two dtypes.
static bool is_reachable(const taper_run *run, const taper_ew_side *s, bool result)
{
    return s->dtype == s->wanted ||
           (s->steps[0] == (int64_t)taper_dtype_size(s->dtype) &&
            taper_ew_find_cast(run->cpu, result ? s->wanted : s->dtype, result ? s->dtype : s->wanted) != NULL);
}

// Returns the kernel that reads lines of doubles in place, or NULL. Each operand must be contiguous along the line, or
// have one element for it.
static taper_lines_f64 *choose_lines(const taper_run *run, taper_native native, const taper_ew_lines *w)
{
    enum { SHORTEST = 4 }; // lines shorter than this take less time in tiles
    taper_lines_f64 *const lines = taper_doubles_lines(run, native);
    if (lines == NULL || w->sides != 3 || w->sizes[0] < SHORTEST) {
        return NULL;
    }
    for (size_t k = 0; k < w->sides; k++) {
        const taper_ew_side *const s = &w->side[k];
        if (s->dtype != TAPER_F64 || (s->steps[0] != sizeof(double) && (k == 0 || s->steps[0] != 0))) {
            return NULL;
        }
    }
    return w->side[1].steps[0] != 0 || w->side[2].steps[0] != 0 ? lines : NULL;
}

static bool choose_native(const taper_run *run, const taper_ew_op *op, const taper_ew_args *args,
                          const taper_ew_decision *d, taper_ew_lines *w, taper_ew_inner *inner)
{
    if (run->portable || op->native == 0) {
        return false;
    }
    const taper_native native = (taper_native)((op->native & ~TAPER_EW_SWAPPED) - 1);
    const int type = native_type(d->common, native);
    if (type < 0 || has_factor(native, args, d->in_class)) {
        return false;
    }
    inner->native = taper_native_select(run->cpu)->functions[native][type];
    inner->swaps = (op->native & TAPER_EW_SWAPPED) != 0;
    if (inner->native == NULL) {
        return false;
    }
    bool reachable = true;
    for (size_t k = 0; k < w->sides; k++) {
        const bool mask = k != 0 && (op->masks >> (k - 1) & 1) != 0;
        w->side[k].wanted = mask || (k == 0 && op->result == TAPER_EW_BOOL) ? TAPER_BOOL
                            : k == 0 && op->result == TAPER_EW_REAL         ? taper_dtype_to_real(d->common)
                                                                            : d->common;
        reachable = reachable && is_reachable(run, &w->side[k], k == 0);
    }
    if (!reachable) {
        inner->native = NULL;
        return false;
    }
    inner->lines = type == TAPER_NATIVE_F64 ? choose_lines(run, native, w) : NULL;
    memcpy(inner->numbers.f, args->f, sizeof inner->numbers.f);
    memcpy(inner->numbers.i, args->i, sizeof inner->numbers.i);
    return true;
}

#endif
