// SPDX-License-Identifier: BSD-2-Clause
// Maxima and minima with their positions: max and min along a dimension, argmax and argmin. The first of equal elements
// is the result; the first NaN wins over every number.
#include "ir/tensor.h"
#include "ops/engine/lines_of_one.h"
#include "ops/tensor/reduce_index_lines.h"

enum { LANES = 128 };

typedef struct picker {
    const taper_tensor *x;
    bool smallest;
    taper_ew_class class_; // class of the elements, F64 or I64
    union {
        double f[LANES];
        int64_t i[LANES];
    } best;
    int64_t where[LANES];
    taper_ew_block elements, temp;
} picker;

#define PICK(name, type, field, improves)                                                                              \
    static void name(picker *p, const void *from, size_t m, bool lanes, int64_t at)                                    \
    {                                                                                                                  \
        const type *xs = from;                                                                                         \
        for (size_t k = 0; k < m; k++) {                                                                               \
            const size_t j = lanes ? k : 0;                                                                            \
            const int64_t position = lanes ? at : at + (int64_t)k;                                                     \
            const type x = p->smallest ? -xs[k] : xs[k], b = p->best.field[j];                                         \
            if (position == 0 || (improves)) {                                                                         \
                p->best.field[j] = x;                                                                                  \
                p->where[j] = position;                                                                                \
            }                                                                                                          \
        }                                                                                                              \
    }
PICK(pick_f64, double, f, x > b || (x != x && b == b))

// Compares m elements with the current extremes. Neighbouring lines (lanes) are compared without branches.
static void pick_i64(picker *p, const void *from, size_t m, bool lanes, int64_t at)
{
    const int64_t *xs = from;
    for (size_t k = 0; k < m && lanes; k++) {
        const bool better = at == 0 || (p->smallest ? xs[k] < p->best.i[k] : xs[k] > p->best.i[k]);
        p->best.i[k] = better ? xs[k] : p->best.i[k];
        p->where[k] = better ? at : p->where[k];
    }
    for (size_t k = 0; k < m && !lanes; k++) {
        const int64_t position = at + (int64_t)k;
        if (position == 0 || (p->smallest ? xs[k] < p->best.i[0] : xs[k] > p->best.i[0])) {
            p->best.i[0] = xs[k];
            p->where[0] = position;
        }
    }
}

static void pick(picker *p, const char *from, int64_t step, size_t m, bool lanes, int64_t at)
{
    taper_ew_load((taper_dtype)p->x->dtype, p->class_, &p->elements, from, step, m, &p->temp);
    if (p->class_ == TAPER_EW_I64) {
        pick_i64(p, &p->elements, m, lanes, at);
    } else {
        pick_f64(p, &p->elements, m, lanes, at);
    }
}

// Finds the extremes of all lines. values, which may be NULL, and indices are contiguous and have the shape of the
// result.
static void pick_lines(taper_run *run, const taper_tensor *x, size_t dim, bool smallest, bool keep,
                       taper_tensor *values, taper_tensor *indices)
{
    picker p;
    taper_lines lines;
    p.x = x;
    p.smallest = smallest;
    p.class_ = taper_dtype_is_integral((taper_dtype)x->dtype) || x->dtype == TAPER_BOOL ? TAPER_EW_I64 : TAPER_EW_F64;
    taper_lines_make(&lines, x, dim, indices, true, keep);
    char *const base = taper_tensor_mutable(indices);
    const int64_t value_item = (int64_t)taper_tensor_item(x), index_item = 8;
    const size_t block = TAPER_EW_BLOCK_BYTES / 16;
    taper_walk walk;
    taper_reduce_walk(&walk, lines.kept, lines.side_by_side ? 1 : 0, lines.kept_count);
    do {
        const char *from = (const char *)taper_tensor_data(x) + walk.at[0];
        char *to = base + walk.at[1];
        const int64_t width = lines.side_by_side ? lines.kept[0].size : 1;
        for (int64_t lane = 0; lane < width; lane += LANES) {
            const size_t m = (size_t)taper_min_i64(LANES, width - lane);
            if (lines.side_by_side) {
                for (int64_t r = 0; r < lines.line.size && taper_run_goes_on(run, m * 5); r++) {
                    pick(&p, from + lane * lines.kept[0].in + r * lines.line.in, lines.kept[0].in, m, true, r);
                }
            } else {
                for (int64_t r = 0; r < lines.line.size && taper_run_goes_on(run, block * 5); r += (int64_t)block) {
                    pick(&p, from + r * lines.line.in, lines.line.in,
                         (size_t)taper_min_i64((int64_t)block, lines.line.size - r), false, r);
                }
            }
            const int64_t step = lines.side_by_side ? lines.kept[0].out : 0;
            char *const target = to + lane * step;
            taper_ew_store(TAPER_I64, TAPER_EW_I64, target, step, p.where, m, &p.temp);
            if (values != NULL) {
                if (smallest && p.class_ == TAPER_EW_F64) {
                    for (size_t k = 0; k < m; k++) {
                        p.best.f[k] = -p.best.f[k];
                    }
                }
                char *const place = (char *)taper_tensor_mutable(values) + (target - base) / index_item * value_item;
                taper_ew_store((taper_dtype)x->dtype, p.class_, place, step / index_item * value_item, &p.best, m,
                               &p.temp);
            }
        }
    } while (taper_run_goes_on(run, 50) && taper_walk_next(&walk));
}

// ---- floats that are read in place

static taper_status check_ordered(const taper_call *call, const taper_tensor *x)
{
    TAPER_TRY(taper_reduce_supported(call, x));
    if (taper_dtype_is_complex((taper_dtype)x->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "not implemented for '%s': complex numbers have no order",
                   taper_dtype_torch_name((taper_dtype)x->dtype));
    }
    return TAPER_OK;
}

static taper_status pick_dim(taper_call *call, taper_tensor *x, size_t dim, bool keep, bool smallest, bool with_values)
{
    taper_heap *heap = call->run->heap;
    taper_error *error = call->run->error;
    if (x->rank != 0 && x->sizes[dim] == 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "Expected reduction dim %zu to have non-zero size.", dim);
    }
    bool over[TAPER_MAX_RANK] = {false};
    int64_t sizes[TAPER_MAX_RANK];
    over[dim] = true;
    const size_t rank = taper_reduce_sizes(x, over, keep, sizes);
    taper_tensor *values = NULL, *indices = NULL;
    TAPER_TRY(taper_tensor_new(heap, TAPER_I64, rank, sizes, NULL, &indices, error));
    if (with_values) {
        const taper_status made = taper_tensor_new(heap, (taper_dtype)x->dtype, rank, sizes, NULL, &values, error);
        if (made != TAPER_OK) {
            taper_tensor_drop(indices);
            return made;
        }
    }
    taper_status status = TAPER_OK;
    if (!taper_lines_of_one(call->run, x, dim, keep, values, indices) && taper_tensor_numel(indices) != 0 &&
        !taper_pick_lines(call->run, x, dim, smallest, keep, values, indices, &status)) {
        pick_lines(call->run, x, dim, smallest, keep, values, indices);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(values);
        taper_tensor_drop(indices);
        return status;
    }
    if (values != NULL) {
        status = taper_ret_tensor(call, 0, values);
        if (status != TAPER_OK) {
            taper_tensor_drop(indices);
            return status;
        }
    }
    return taper_ret_tensor(call, with_values ? 1 : 0, indices);
}

static taper_status extreme_dim(taper_call *call, bool smallest)
{
    taper_tensor *x;
    size_t dim;
    bool keep;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    TAPER_TRY(taper_arg_bool(call, 2, &keep));
    TAPER_TRY(check_ordered(call, x));
    return pick_dim(call, x, dim, keep, smallest, true);
}

TAPER_KERNEL(taper_op_max_dim)
{
    return extreme_dim(call, false);
}
TAPER_KERNEL(taper_op_min_dim)
{
    return extreme_dim(call, true);
}

static taper_status arg_extreme(taper_call *call, bool smallest)
{
    taper_tensor *x, *flat, *line;
    size_t dim;
    bool keep;
    taper_error *error = call->run->error;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_bool(call, 2, &keep));
    TAPER_TRY(taper_tensor_numel(x) != 0 ? check_ordered(call, x) : taper_reduce_supported(call, x));
    if (!taper_arg_is_none(call, 1)) {
        TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
        return pick_dim(call, x, dim, keep, smallest, false);
    }
    const int64_t count = taper_tensor_numel(x), step = 1;
    if (count == 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
                   "'dim' argument.");
    }
    TAPER_TRY(taper_run_contiguous(call->run, x, &flat));
    taper_status status = taper_tensor_alias(call->run->heap, flat, flat->offset, 1, &count, &step, &line, error);
    taper_tensor_drop(flat);
    TAPER_TRY(status);
    taper_tensor *result = NULL;
    int64_t ones[TAPER_MAX_RANK];
    for (size_t i = 0; i < x->rank; i++) {
        ones[i] = 1;
    }
    status = taper_tensor_new(call->run->heap, TAPER_I64, keep ? x->rank : 0, ones, NULL, &result, error);
    if (status == TAPER_OK) {
        taper_tensor scalar = taper_tensor_local(result); // a view of the result without dimensions
        scalar.rank = 0;
        if (!taper_pick_lines(call->run, line, 0, smallest, false, NULL, &scalar, &status)) {
            pick_lines(call->run, line, 0, smallest, false, NULL, &scalar);
        }
        if (status == TAPER_OK) {
            status = taper_ret_tensor(call, 0, result);
        } else {
            taper_tensor_drop(result);
        }
    }
    taper_tensor_drop(line);
    return status;
}

TAPER_KERNEL(taper_op_argmax)
{
    return arg_extreme(call, false);
}
TAPER_KERNEL(taper_op_argmin)
{
    return arg_extreme(call, true);
}
