// SPDX-License-Identifier: BSD-2-Clause
// softmax and log_softmax. A line that fits into a block is read once. Longer lines, and neighbouring lines that are
// computed side by side (lanes: one line per vector lane), are read three times: for the maximum, the sum of
// exponentials, and the results.
#include <math.h>

#include "ops/engine/doubles.h"
#include "ops/engine/elementwise_math.h"
#include "ops/engine/reduce.h"
#include "ops/engine/softmax_lines.h"
#include "ops/list/shared_kernels.h"
#include "ops/math/elementwise_ops.h"
#include "ops/tensor/composite.h"
#include "ops/tensor/reduce_kernels.h"

enum { LANES = 128, BLOCK = TAPER_EW_BLOCK_BYTES / 8, PARTS = 8, SHORT = 4096 };

typedef struct soft {
    const taper_run *run;
    taper_run *spender; // run to charge; NULL in a task, because taper_lines_run charges its work
    const taper_tensor *x;
    taper_tensor *out;
    bool logarithm;
    taper_ew_class class_; // class of the elements, F32 or F64
    taper_ew_block elements, temp, spare;
    double top[LANES], sum[LANES];
} soft;

static bool goes_on(const soft *s, uint64_t work)
{
    return s->spender == NULL || taper_run_goes_on(s->spender, work);
}

static void load(soft *s, const char *from, int64_t step, size_t n)
{
    taper_ew_load((taper_dtype)s->x->dtype, s->class_, &s->elements, from, step, n, &s->temp);
}

static void store(soft *s, char *to, int64_t step, size_t n)
{
    taper_ew_store((taper_dtype)s->out->dtype, s->class_, to, step, &s->elements, n, &s->temp);
}

// These functions compute exponentials in place. exponentials_f64 may also write elements after the n-th, which are not
// used.
static void exponentials_f32(const soft *s, float *x, size_t n)
{
    (void)s;
    for (size_t k = 0; k < n; k++) {
        x[k] = taper_expf(x[k]);
    }
}
static void exponentials_f64(const soft *s, double *x, size_t n)
{
    if (taper_doubles_are_fast(s->run)) {
        taper_doubles_apply(s->run, TAPER_NATIVE_EXP, n, x, x, x, x, &(taper_native_numbers){{0}, {0}});
        return;
    }
    for (size_t k = 0; k < n; k++) {
        x[k] = exp(x[k]);
    }
}

// The steps over one block. If `lanes` is set, each element of the block belongs to another line and has a separate
// maximum and sum. Otherwise the block is a part of one line. A NaN makes the whole line NaN. Sums are split into
// independent parts, which the CPU overlaps.
#define EACH(expression)                                                                                               \
    for (size_t k = 0; k < n; k++) {                                                                                   \
        expression;                                                                                                    \
    }
#define STEPS(type, field, suffix)                                                                                     \
    static void top_##suffix(soft *s, size_t n, bool lanes)                                                            \
    {                                                                                                                  \
        const type *const x = s->elements.field;                                                                       \
        double *const top = s->top;                                                                                    \
        if (lanes) {                                                                                                   \
            EACH(top[k] = (double)x[k] > top[k] || x[k] != x[k] ? (double)x[k] : top[k])                               \
        } else {                                                                                                       \
            type t = (type)top[0];                                                                                     \
            EACH(t = x[k] > t || x[k] != x[k] ? x[k] : t)                                                              \
            top[0] = (double)t;                                                                                        \
        }                                                                                                              \
    }                                                                                                                  \
    /* If `keep` is set, the elements are replaced by                                                                  \
     * their exponentials. */                                                                                          \
    static void sum_##suffix(soft *s, size_t n, bool lanes, bool keep)                                                 \
    {                                                                                                                  \
        type *const x = s->elements.field, *const e = keep ? x : s->spare.field;                                       \
        if (lanes) {                                                                                                   \
            EACH(e[k] = x[k] - (type)s->top[k])                                                                        \
            exponentials_##suffix(s, e, n);                                                                            \
            EACH(s->sum[k] += (double)e[k])                                                                            \
        } else {                                                                                                       \
            const type top = (type)s->top[0];                                                                          \
            double part[PARTS] = {0};                                                                                  \
            EACH(e[k] = x[k] - top)                                                                                    \
            exponentials_##suffix(s, e, n);                                                                            \
            size_t k = 0;                                                                                              \
            for (; k + PARTS <= n; k += PARTS) {                                                                       \
                for (size_t j = 0; j < PARTS; j++) {                                                                   \
                    part[j] += (double)e[k + j];                                                                       \
                }                                                                                                      \
            }                                                                                                          \
            for (; k < n; k++) {                                                                                       \
                part[0] += (double)e[k];                                                                               \
            }                                                                                                          \
            for (size_t j = 0; j < PARTS; j++) {                                                                       \
                s->sum[0] += part[j];                                                                                  \
            }                                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void result_##suffix(soft *s, size_t n, bool lanes, bool kept)                                              \
    {                                                                                                                  \
        type *const x = s->elements.field;                                                                             \
        const type top = (type)s->top[0], sum = (type)s->sum[0];                                                       \
        if (lanes && s->logarithm) {                                                                                   \
            EACH(x[k] = x[k] - (type)s->top[k] - (type)s->sum[k])                                                      \
        } else if (lanes) {                                                                                            \
            EACH(x[k] = x[k] - (type)s->top[k])                                                                        \
            exponentials_##suffix(s, x, n);                                                                            \
            EACH(x[k] = x[k] / (type)s->sum[k])                                                                        \
        } else if (s->logarithm) {                                                                                     \
            EACH(x[k] = x[k] - top - sum)                                                                              \
        } else {                                                                                                       \
            if (!kept) {                                                                                               \
                EACH(x[k] = x[k] - top)                                                                                \
                exponentials_##suffix(s, x, n);                                                                        \
            }                                                                                                          \
            const type factor = 1 / sum;                                                                               \
            EACH(x[k] = x[k] * factor)                                                                                 \
        }                                                                                                              \
    }
STEPS(float, f32, f32)
STEPS(double, f64, f64)

// Returns true if the block is a part of a line of doubles and vector kernels compute it.
static bool is_fast(const soft *s, bool lanes)
{
    return s->class_ == TAPER_EW_F64 && !lanes && taper_doubles_are_fast(s->run);
}

static void top(soft *s, size_t n, bool lanes)
{
    if (is_fast(s, lanes)) {
        const double most = taper_doubles_most(s->run, n, s->elements.f64);
        s->top[0] = most > s->top[0] || most != most ? most : s->top[0];
    } else if (s->class_ == TAPER_EW_F32) {
        top_f32(s, n, lanes);
    } else {
        top_f64(s, n, lanes);
    }
}

static void shift(const soft *s, double *to, size_t n, double off, double factor)
{
    const double *x = s->elements.f64;
    taper_doubles_apply(s->run, TAPER_NATIVE_AFFINE, n, x, x, x, to, &(taper_native_numbers){{off, factor, 0}, {0}});
}

static void sum(soft *s, size_t n, bool lanes, bool keep)
{
    if (is_fast(s, lanes)) {
        double *const e = keep ? s->elements.f64 : s->spare.f64;
        shift(s, e, n, s->top[0], 1);
        exponentials_f64(s, e, n);
        s->sum[0] += taper_doubles_sum(s->run, n, e);
    } else if (s->class_ == TAPER_EW_F32) {
        sum_f32(s, n, lanes, keep);
    } else {
        sum_f64(s, n, lanes, keep);
    }
}

static void result(soft *s, size_t n, bool lanes, bool kept)
{
    if (is_fast(s, lanes) && kept && !s->logarithm) {
        shift(s, s->elements.f64, n, 0, 1 / s->sum[0]);
    } else if (s->class_ == TAPER_EW_F32) {
        result_f32(s, n, lanes, kept);
    } else {
        result_f64(s, n, lanes, kept);
    }
}

static void start(soft *s, size_t m)
{
    for (size_t k = 0; k < m; k++) {
        s->top[k] = -INFINITY;
        s->sum[k] = 0;
    }
}

static void end_sum(soft *s, size_t m) // takes the logarithm of the sum, which log_softmax subtracts
{
    for (size_t k = 0; k < m && s->logarithm; k++) {
        s->sum[k] = log(s->sum[k]);
    }
}

static void run_line(soft *s, const taper_reduce_dim *line, const char *from, char *to)
{
    const size_t n = (size_t)line->size;
    start(s, 1);
    if (n <= BLOCK) {
        load(s, from, line->in, n);
        top(s, n, false);
        if (s->logarithm) {
            sum(s, n, false, false);
        } else {
            sum(s, n, false, true);
        }
        end_sum(s, 1);
        result(s, n, false, true);
        store(s, to, line->out, n);
        return;
    }
    for (int pass = 0; pass < 3; pass++) {
        for (size_t at = 0; at < n && goes_on(s, BLOCK * 15); at += BLOCK) {
            const size_t m = taper_min_size(BLOCK, n - at);
            load(s, from + (int64_t)at * line->in, line->in, m);
            if (pass == 0) {
                top(s, m, false);
            } else if (pass == 1) {
                sum(s, m, false, false);
            } else {
                result(s, m, false, false);
                store(s, to + (int64_t)at * line->out, line->out, m);
            }
        }
        if (pass == 1) {
            end_sum(s, 1);
        }
    }
}

static void run_lanes(soft *s, const taper_reduce_dim *line, const taper_reduce_dim *lanes, const char *from, char *to,
                      size_t m)
{
    start(s, m);
    for (int pass = 0; pass < 3; pass++) {
        for (int64_t r = 0; r < line->size && goes_on(s, m * 15); r++) {
            load(s, from + r * line->in, lanes->in, m);
            if (pass == 0) {
                top(s, m, true);
            } else if (pass == 1) {
                sum(s, m, true, false);
            } else {
                result(s, m, true, false);
                store(s, to + r * line->out, lanes->out, m);
            }
        }
        if (pass == 1) {
            end_sum(s, m);
        }
    }
}

typedef struct soft_job {
    taper_run *run;
    const taper_tensor *x;
    taper_tensor *out;
    bool logarithm;
    taper_ew_class class_;
    const taper_lines *lines;
} soft_job;

static void start_soft(soft *s, const soft_job *job, bool spends)
{
    s->run = job->run;
    s->spender = spends ? job->run : NULL;
    s->x = job->x;
    s->out = job->out;
    s->logarithm = job->logarithm;
    s->class_ = job->class_;
}

#include "ops/nn/softmax_shared.h"

static taper_status run_softmax(taper_call *call, size_t dtype_at, bool logarithm)
{
    taper_tensor *x;
    size_t dim;
    taper_error *error = call->run->error;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_dim(call, 1, x->rank, &dim));
    TAPER_TRY(taper_reduce_supported(call, x));
    taper_dtype dtype = (taper_dtype)x->dtype;
    if (dtype_at != 0) {
        TAPER_TRY(taper_arg_dtype_or(call, dtype_at, dtype, &dtype));
    }
    const bool empty = taper_tensor_numel(x) == 0; // an empty tensor may have any dtype
    if (!taper_dtype_is_float(dtype) && !empty) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "not implemented for '%s'", taper_dtype_torch_name(dtype));
    }
    taper_tensor *out;
    if (x->hidden_nhwc) {
        TAPER_TRY(taper_ret_new_nhwc(call, 0, dtype, x->rank, x->sizes, true, &out));
    } else {
        TAPER_TRY(taper_ret_new(call, 0, dtype, x->rank, x->sizes, NULL, &out));
    }
    if (!taper_dtype_is_float((taper_dtype)out->dtype) && !empty) {
        return taper_check_cast(dtype, (taper_dtype)out->dtype, error);
    }
    if (empty) {
        return TAPER_OK;
    }
    taper_lines lines;
    taper_lines_make(&lines, x, dim, out, false, false);
    if (x->dtype == TAPER_F32 && out->dtype == TAPER_F32 && dtype == TAPER_F32) {
        const taper_softmax_kind kind = logarithm ? TAPER_LOG_SOFTMAX : TAPER_SOFTMAX;
        taper_status status =
            taper_softmax_lines(call->run, &lines, kind, taper_tensor_data(x), taper_tensor_mutable(out));
        if (status == TAPER_DECLINED) {
            status = run_dense(call, x, dim, out, kind);
        }
        if (status != TAPER_DECLINED) {
            return status;
        }
    }
    soft_job job = {.run = call->run, .x = x, .out = out, .logarithm = logarithm, .lines = &lines};
    job.class_ = dtype == TAPER_F64 ? TAPER_EW_F64 : TAPER_EW_F32;
    const taper_status status = run_short(call->run, &job, &lines);
    if (status != TAPER_DECLINED) {
        return status;
    }
    soft s; // state for lines that are too long for a block
    start_soft(&s, &job, true);
    taper_walk walk;
    taper_reduce_walk(&walk, lines.kept, lines.side_by_side ? 1 : 0, lines.kept_count);
    do {
        const char *from = (const char *)taper_tensor_data(x) + walk.at[0];
        char *to = (char *)taper_tensor_mutable(out) + walk.at[1];
        if (!lines.side_by_side) {
            run_line(&s, &lines.line, from, to);
            continue;
        }
        const taper_reduce_dim *lanes = &lines.kept[0];
        for (int64_t at = 0; at < lanes->size; at += LANES) {
            const size_t m = (size_t)taper_min_i64(LANES, lanes->size - at);
            run_lanes(&s, &lines.line, lanes, from + at * lanes->in, to + at * lanes->out, m);
        }
    } while (taper_run_goes_on(call->run, BLOCK * 20) && taper_walk_next(&walk));
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_softmax)
{
    return run_softmax(call, 2, false);
}
TAPER_KERNEL(taper_op_log_softmax)
{
    return run_softmax(call, 2, true);
}

// Computes softmax, except that a row of only -inf gives zeros.
TAPER_KERNEL(taper_op_safe_softmax)
{
    taper_tensor *x;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *y = TAPER_COMPOSE(&c, taper_op_softmax, NULL, call->args[0], call->args[1], call->args[2]);
    taper_tensor *blind =
        TAPER_COMPOSE(&c, taper_op_binary, &taper_ew_eq, TAPER_VAL(x), taper_val_double(-(double)INFINITY));
    blind = TAPER_COMPOSE(&c, taper_op_every, &taper_reduce_dim_keep, taper_compose_arg(blind), call->args[1],
                          taper_val_bool(true));
    return taper_compose_ret(
        &c, call, 0,
        TAPER_COMPOSE(&c, taper_op_where, NULL, taper_compose_arg(blind), taper_val_double(0), taper_compose_arg(y)));
}

// Computes _softmax(self, dim, half_to_float). half_to_float is not supported, as on PyTorch's CPU.
static taper_status inner(taper_call *call, bool logarithm)
{
    bool half_to_float;
    TAPER_TRY(taper_arg_bool(call, 2, &half_to_float));
    if (half_to_float) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "softmax with half to float conversion is not supported on CPU");
    }
    return run_softmax(call, 0, logarithm);
}

TAPER_KERNEL(taper_op_softmax_inner)
{
    return inner(call, false);
}
TAPER_KERNEL(taper_op_log_softmax_inner)
{
    return inner(call, true);
}
