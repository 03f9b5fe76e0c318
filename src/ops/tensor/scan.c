// SPDX-License-Identifier: BSD-2-Clause
// Running sums, products, extremes and log-sums (logarithms of running sums of exponentials) along a dimension. Floats
// accumulate in double.
#include <math.h>

#include "ir/storage.h"
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/elementwise_math.h"
#include "ops/engine/reduce.h"
#include "ops/engine/view_move.h"
#include "ops/tensor/scan_lines.h"

enum { LANES = 128, BLOCK = TAPER_EW_BLOCK_BYTES / 16 };

typedef struct scan {
    taper_run *run;
    taper_scan kind;
    const taper_tensor *x;
    taper_tensor *out, *indices;
    taper_ew_class class_; // class of the elements: F64, I64 or C128
    taper_ew_block elements, temp;
    int64_t where[TAPER_EW_BLOCK_BYTES / 8]; // position of each element of a block within its line
    union {
        double f[LANES];
        int64_t i[LANES];
        taper_c128 c[LANES];
    } acc;
    int64_t at[LANES];
} scan;

static double join_f64(taper_scan kind, double a, double x)
{
    switch (kind) {
    case TAPER_SCAN_SUM:
        return a + x;
    case TAPER_SCAN_PROD:
        return a * x;
    default:
        return taper_logaddexp(a, x);
    }
}

// Adds element k of the block, at `position` of its line, to accumulator j, and replaces the element by the result.
static void step_f64(scan *s, size_t k, size_t j, int64_t position)
{
    const double x = s->elements.f64[k], a = s->acc.f[j];
    if (s->kind >= TAPER_SCAN_MAX) {
        const bool better = s->kind == TAPER_SCAN_MAX ? x >= a : x <= a;
        if (position == 0 || x != x || (a == a && better)) {
            s->acc.f[j] = x;
            s->at[j] = position;
        }
    } else {
        s->acc.f[j] = position == 0 ? x : join_f64(s->kind, a, x);
    }
    s->elements.f64[k] = s->acc.f[j];
    s->where[k] = s->at[j];
}

static void step_i64(scan *s, size_t k, size_t j, int64_t position)
{
    const int64_t x = s->elements.i64[k], a = s->acc.i[j];
    if (s->kind >= TAPER_SCAN_MAX) {
        if (position == 0 || (s->kind == TAPER_SCAN_MAX ? x >= a : x <= a)) {
            s->acc.i[j] = x;
            s->at[j] = position;
        }
    } else {
        s->acc.i[j] = position == 0 ? x : s->kind == TAPER_SCAN_SUM ? taper_wrap_add(a, x) : taper_wrap_mul(a, x);
    }
    s->elements.i64[k] = s->acc.i[j];
    s->where[k] = s->at[j];
}

static void step_c128(scan *s, size_t k, size_t j, int64_t position)
{
    const taper_c128 x = s->elements.c128[k], a = s->acc.c[j];
    s->acc.c[j] = position == 0 ? x : s->kind == TAPER_SCAN_SUM ? taper_c_add(a, x) : taper_c_mul(a, x);
    s->elements.c128[k] = s->acc.c[j];
}

// Scans n elements: one element of each lane, or n elements of one line, of which the first is at `position`.
static void run_block(scan *s, const char *from, int64_t in, char *to, char *to_index, int64_t out, size_t n,
                      bool lanes, int64_t position)
{
    taper_ew_load((taper_dtype)s->x->dtype, s->class_, &s->elements, from, in, n, &s->temp);
    for (size_t k = 0; k < n; k++) {
        const size_t j = lanes ? k : 0;
        const int64_t p = lanes ? position : position + (int64_t)k;
        if (s->class_ == TAPER_EW_F64) {
            step_f64(s, k, j, p);
        } else if (s->class_ == TAPER_EW_I64) {
            step_i64(s, k, j, p);
        } else {
            step_c128(s, k, j, p);
        }
    }
    taper_ew_store((taper_dtype)s->out->dtype, s->class_, to, out, &s->elements, n, &s->temp);
    if (to_index != NULL) {
        const int64_t item = (int64_t)taper_tensor_item(s->out);
        taper_ew_store(TAPER_I64, TAPER_EW_I64, to_index, out / item * 8, s->where, n, &s->temp);
    }
}

// Scans along dim. out and indices (NULL for sums) have equal strides.
static taper_status run_scan(scan *s, size_t dim)
{
    const taper_status status = taper_scan_lines(s->run, s->kind, dim, s->x, s->out, s->indices);
    if (status != TAPER_DECLINED) {
        return status;
    }
    taper_lines lines;
    taper_lines_make(&lines, s->x, dim, s->out, false, false);
    char *const base = taper_tensor_mutable(s->out);
    const int64_t item = (int64_t)taper_tensor_item(s->out);
    taper_walk walk;
    taper_reduce_walk(&walk, lines.kept, lines.side_by_side ? 1 : 0, lines.kept_count);
    do {
        const char *from = (const char *)taper_tensor_data(s->x) + walk.at[0];
        char *to = base + walk.at[1];
        const int64_t width = lines.side_by_side ? lines.kept[0].size : 1;
        const int64_t lane_in = lines.side_by_side ? lines.kept[0].in : 0,
                      lane_out = lines.side_by_side ? lines.kept[0].out : 0;
        const int64_t step = lines.side_by_side ? 1 : BLOCK;
        for (int64_t lane = 0; lane < width; lane += LANES) {
            for (int64_t r = 0; r < lines.line.size; r += step) {
                const int64_t n =
                    lines.side_by_side ? taper_min_i64(LANES, width - lane) : taper_min_i64(BLOCK, lines.line.size - r);
                if (!taper_run_goes_on(s->run, (uint64_t)n * 20)) {
                    return TAPER_OK; // the run ended, which the interpreter reports
                }
                char *const target = to + lane * lane_out + r * lines.line.out;
                char *const place =
                    s->indices == NULL ? NULL : (char *)taper_tensor_mutable(s->indices) + (target - base) / item * 8;
                run_block(s, from + lane * lane_in + r * lines.line.in, lines.side_by_side ? lane_in : lines.line.in,
                          target, place, lines.side_by_side ? lane_out : lines.line.out, (size_t)n, lines.side_by_side,
                          r);
            }
        }
    } while (taper_walk_next(&walk));
    return TAPER_OK;
}

static void scan_begin(taper_run *run, scan *s, taper_scan kind, const taper_tensor *x, taper_dtype dtype)
{
    memset(s->at, 0, sizeof s->at);
    memset(&s->acc, 0, sizeof s->acc);
    s->run = run;
    s->kind = kind;
    s->x = x;
    s->indices = NULL;
    s->class_ = taper_dtype_is_complex(dtype) ? TAPER_EW_C128
                : taper_dtype_is_float(dtype) ? TAPER_EW_F64
                                              : TAPER_EW_I64;
}

#include "ops/tensor/scan_ones.h"

// Computes cumsum(self, dim, dtype), cumprod, or logcumsumexp(self, dim).
static taper_status run_sums(taper_call *call, taper_scan kind)
{
    taper_tensor *x, *out;
    size_t dim;
    taper_error *error = call->run->error;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    TAPER_TRY(taper_reduce_supported(call, x));
    const taper_tensor *target = taper_ret_target(call, 0);
    const bool whole = taper_dtype_is_integral((taper_dtype)x->dtype) || x->dtype == TAPER_BOOL;
    taper_dtype dtype = (taper_dtype)x->dtype;
    if (kind != TAPER_SCAN_LOGSUM) {
        dtype = target != NULL ? (taper_dtype)target->dtype : whole ? TAPER_I64 : dtype;
        TAPER_TRY(taper_arg_dtype_or(call, 2, dtype, &dtype));
    }
    if (taper_ew_class_of(dtype) == TAPER_EW_CLASSES || (kind == TAPER_SCAN_LOGSUM && !taper_dtype_is_float(dtype))) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "not implemented for '%s'", taper_dtype_torch_name(dtype));
    }
    if (target != NULL) {
        TAPER_TRY(taper_check_cast(dtype, (taper_dtype)target->dtype, error));
    }
    TAPER_TRY(taper_tensor_new(call->run->heap, dtype, x->rank, x->sizes, NULL, &out, error));
    if (taper_tensor_numel(out) != 0 && !scan_ones(call->run, kind, x, dim, out)) {
        scan s;
        scan_begin(call->run, &s, kind, x, dtype);
        s.out = out;
        const taper_status status = run_scan(&s, dim);
        if (status != TAPER_OK) {
            taper_tensor_drop(out);
            return status;
        }
    }
    return taper_ret_tensor(call, 0, out);
}

TAPER_KERNEL(taper_op_cumsum)
{
    return run_sums(call, TAPER_SCAN_SUM);
}
TAPER_KERNEL(taper_op_cumprod)
{
    return run_sums(call, TAPER_SCAN_PROD);
}
TAPER_KERNEL(taper_op_logcumsumexp)
{
    return run_sums(call, TAPER_SCAN_LOGSUM);
}

// Makes new tensors with the running extremes and their positions.
static taper_status extremes(taper_call *call, taper_scan kind, const taper_tensor *x, size_t dim,
                             taper_tensor **values, taper_tensor **indices)
{
    taper_error *error = call->run->error;
    TAPER_TRY(taper_reduce_supported(call, x));
    if (taper_dtype_is_complex((taper_dtype)x->dtype) && taper_tensor_numel(x) != 0) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "not implemented for '%s'",
                   taper_dtype_torch_name((taper_dtype)x->dtype));
    }
    TAPER_TRY(taper_tensor_new(call->run->heap, (taper_dtype)x->dtype, x->rank, x->sizes, NULL, values, error));
    const taper_status status = taper_tensor_new(call->run->heap, TAPER_I64, x->rank, x->sizes, NULL, indices, error);
    if (status != TAPER_OK) {
        taper_tensor_drop(*values);
        return status;
    }
    if (taper_tensor_numel(x) != 0) {
        scan s;
        scan_begin(call->run, &s, kind, x, (taper_dtype)x->dtype);
        s.out = *values;
        s.indices = *indices;
        const taper_status ended = run_scan(&s, dim);
        if (ended != TAPER_OK) {
            taper_tensor_drop(*values);
            taper_tensor_drop(*indices);
            return ended;
        }
    }
    return TAPER_OK;
}

static taper_status run_extremes(taper_call *call, taper_scan kind)
{
    taper_tensor *x, *values, *indices;
    size_t dim;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (x->rank == 0 || taper_tensor_numel(x) == 0) { // PyTorch does not check the dimension of such tensors
        dim = 0;
    } else {
        TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    }
    TAPER_TRY(extremes(call, kind, x, dim, &values, &indices));
    const taper_status status = taper_ret_tensor(call, 0, values);
    if (status != TAPER_OK) {
        taper_tensor_drop(indices);
        return status;
    }
    return taper_ret_tensor(call, 1, indices);
}

TAPER_KERNEL(taper_op_cummax)
{
    return run_extremes(call, TAPER_SCAN_MAX);
}
TAPER_KERNEL(taper_op_cummin)
{
    return run_extremes(call, TAPER_SCAN_MIN);
}

// Computes _cummax_helper(self, values, indices, dim), which writes to given tensors.
static taper_status fill_extremes(taper_call *call, taper_scan kind)
{
    taper_tensor *x, *to[2], *from[2];
    size_t dim;
    taper_error *error = call->run->error;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_dim(call, 3, x->rank, &dim));
    for (size_t k = 0; k < 2; k++) {
        TAPER_TRY(taper_arg_tensor(call, 1 + k, &to[k]));
        if (to[k]->dtype != (k == 0 ? x->dtype : TAPER_I64) || to[k]->rank != x->rank ||
            memcmp(to[k]->sizes, x->sizes, x->rank * sizeof *x->sizes) != 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "argument '%s': expected a tensor of self's sizes and of dtype %s",
                       k == 0 ? "values" : "indices", k == 0 ? taper_dtype_torch_name((taper_dtype)x->dtype) : "Long");
        }
        TAPER_TRY(taper_ret_check_overlap(call, to[k]));
    }
    TAPER_TRY(extremes(call, kind, x, dim, &from[0], &from[1]));
    taper_status status = TAPER_OK;
    for (size_t k = 0; k < 2; k++) {
        if (status == TAPER_OK) {
            status = taper_storage_write(to[k]->storage, error);
        }
        if (status == TAPER_OK) {
            status = taper_run_copy(call->run, to[k], from[k]);
        }
        taper_tensor_drop(from[k]);
    }
    return status;
}

TAPER_KERNEL(taper_op_cummax_helper)
{
    return fill_extremes(call, TAPER_SCAN_MAX);
}
TAPER_KERNEL(taper_op_cummin_helper)
{
    return fill_extremes(call, TAPER_SCAN_MIN);
}
