// SPDX-License-Identifier: BSD-2-Clause
// Part of gather_rows.c: scatter that combines elements with elements of the table.
#ifndef TAPER_OPS_TENSOR_GATHER_ROWS_JOINED_H
#define TAPER_OPS_TENSOR_GATHER_ROWS_JOINED_H

// These functions return the maximum or the minimum, or NaN if either operand is NaN. The first comparison compiles to
// one instruction that returns x if either is NaN. The test of y is a predictable branch.
static inline float greater(float x, float y)
{
    const float most = x < y ? y : x;
    return y == y ? most : y;
}
static inline float less(float x, float y)
{
    const float least = x > y ? y : x;
    return y == y ? least : y;
}

SCATTER(add_f32, float, x + y)
SCATTER(multiply_f32, float, x *y)
SCATTER(maximum_f32, float, greater(x, y))
SCATTER(minimum_f32, float, less(x, y))
SCATTER(add_i64, int64_t, (uint64_t)x + (uint64_t)y)
SCATTER(add_i32, uint32_t, x + y)
SCATTER(maximum_i64, int64_t, x > y ? x : y)
SCATTER(minimum_i64, int64_t, x < y ? x : y)

static row_function *find_joined(const taper_gather *g)
{
    static row_function *const floats[] = {[TAPER_INTO_ADD] = scatter_add_f32,
                                           [TAPER_INTO_MULTIPLY] = scatter_multiply_f32,
                                           [TAPER_INTO_MAXIMUM] = scatter_maximum_f32,
                                           [TAPER_INTO_MINIMUM] = scatter_minimum_f32};
    static row_function *const integers[] = {[TAPER_INTO_ADD] = scatter_add_i64,
                                             [TAPER_INTO_MULTIPLY] = NULL,
                                             [TAPER_INTO_MAXIMUM] = scatter_maximum_i64,
                                             [TAPER_INTO_MINIMUM] = scatter_minimum_i64};
    if (g->dtype == TAPER_I32 && g->operation == TAPER_INTO_ADD) {
        return scatter_add_i32;
    }
    return g->dtype == TAPER_F32 ? floats[g->operation] : g->dtype == TAPER_I64 ? integers[g->operation] : NULL;
}

#endif
