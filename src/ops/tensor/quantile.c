// SPDX-License-Identifier: BSD-2-Clause
// quantile and nanquantile. Lines are sorted, and values between two ranks are interpolated in the dtype of the input.
#include <math.h>

#include "ir/tensor.h"
#include "ops/engine/view_shape.h"
#include "ops/list/shared_kernels.h"
#include "ops/tensor/composite.h"

typedef enum quantile_mode { MODE_LINEAR, MODE_LOWER, MODE_HIGHER, MODE_MIDPOINT, MODE_NEAREST } quantile_mode;

typedef struct quantile {
    taper_tensor *x, *q; // q may be NULL: then there is one quantile, `number`
    double number;
    bool all, keep, skip_nan;
    size_t dim;
    quantile_mode mode;
    int64_t wanted; // number of quantiles to compute
} quantile;

static taper_status read_mode(const taper_call *call, quantile_mode *mode)
{
    static const char *const names[] = {"linear", "lower", "higher", "midpoint", "nearest"};
    const taper_string *text;
    TAPER_TRY(taper_arg_string(call, 4, &text));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(text->data, names[i]) == 0) {
            *mode = (quantile_mode)i;
            return TAPER_OK;
        }
    }
    TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
               "argument 'interpolation': must be one of linear, lower, higher, midpoint or nearest, but got %.40s",
               text->data);
}

static double wanted_at(const quantile *w, int64_t i)
{
    return w->q == NULL ? w->number
                        : taper_load_double((taper_dtype)w->q->dtype, taper_tensor_data(w->q),
                                            w->q->rank == 0 ? 0 : i * w->q->strides[0]);
}

static taper_status read_args(const taper_call *call, quantile *w)
{
    taper_error *error = call->run->error;
    TAPER_TRY(taper_arg_tensor(call, 0, &w->x));
    if (call->args[1].tag == TAPER_TENSOR) {
        w->q = call->args[1].as.tensor;
    } else {
        TAPER_TRY(taper_arg_double(call, 1, &w->number));
    }
    w->all = taper_arg_is_none(call, 2);
    if (!w->all) {
        TAPER_TRY(taper_arg_dim(call, 2, w->x->rank, &w->dim));
    }
    TAPER_TRY(taper_arg_bool(call, 3, &w->keep));
    TAPER_TRY(read_mode(call, &w->mode));
    if (taper_tensor_numel(w->x) == 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "input tensor must be non-empty");
    }
    if (w->q != NULL && w->q->rank > 1) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "argument 'q': must be a scalar or 1D tensor");
    }
    if ((w->x->dtype != TAPER_F32 && w->x->dtype != TAPER_F64) || (w->q != NULL && w->q->dtype != w->x->dtype)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "input tensor must be either float or double dtype, and q of the same dtype");
    }
    w->wanted = w->q == NULL ? 1 : taper_tensor_numel(w->q);
    for (int64_t i = 0; i < w->wanted && taper_run_step(call->run, i, 3); i++) {
        const double q = wanted_at(w, i);
        if (!(q >= 0 && q <= 1)) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "argument 'q': values must be in the range [0, 1]");
        }
    }
    return TAPER_OK;
}

// Returns the quantile q of the n elements of a sorted line. The last elements may be NaN.
#define QUANTILE(name, type, function)                                                                                 \
    static type name(const quantile *w, const type *line, int64_t n, double q)                                         \
    {                                                                                                                  \
        int64_t numbers = 0, end = n; /* NaN comes last */                                                             \
        while (numbers < end) {                                                                                        \
            const int64_t middle = numbers + (end - numbers) / 2;                                                      \
            if (line[middle] == line[middle]) {                                                                        \
                numbers = middle + 1;                                                                                  \
            } else {                                                                                                   \
                end = middle;                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
        const int64_t last = w->skip_nan ? taper_max_i64(numbers - 1, 0) : n - 1;                                      \
        type rank = numbers < n && !w->skip_nan ? (type)last : (type)q * (type)last;                                   \
        rank = w->mode == MODE_LOWER     ? floor##function(rank)                                                       \
               : w->mode == MODE_HIGHER  ? ceil##function(rank)                                                        \
               : w->mode == MODE_NEAREST ? rint##function(rank)                                                        \
                                         : rank;                                                                       \
        const int64_t below = taper_min_i64((int64_t)rank, n - 1);                                                     \
        if (w->mode != MODE_LINEAR && w->mode != MODE_MIDPOINT) {                                                      \
            return line[below];                                                                                        \
        }                                                                                                              \
        const type weight = w->mode == MODE_MIDPOINT ? (type)0.5 : rank - (type)below;                                 \
        const type low = line[below], high = line[taper_min_i64((int64_t)ceil##function(rank), n - 1)];                \
        return weight < (type)0.5 ? low + weight * (high - low) : high - (high - low) * (1 - weight);                  \
    }
QUANTILE(quantile_f32, float, f)
QUANTILE(quantile_f64, double, )

// Sorts the lines and makes them contiguous, one after the other.
static taper_tensor *sorted_lines(taper_compose *c, const quantile *w, int64_t n)
{
    taper_tensor *x = w->x, *plain = NULL;
    taper_tensor turned = taper_tensor_local(x);
    if (!w->all && x->rank != 0) { // moves dim to the end
        size_t to = 0;
        for (size_t i = 0; i < x->rank; i++) {
            if (i != w->dim) {
                turned.sizes[to] = x->sizes[i];
                turned.strides[to++] = x->strides[i];
            }
        }
        turned.sizes[to] = x->sizes[w->dim];
        turned.strides[to] = x->strides[w->dim];
    }
    taper_compose_fail(c, taper_view_clone(c->run, &turned, TAPER_FORMAT_CONTIGUOUS, &plain));
    if (c->status != TAPER_OK) {
        return NULL;
    }
    const int64_t sizes[2] = {taper_tensor_numel(x) / n, n};
    taper_tensor *lines = taper_compose_reshape(c, taper_compose_keep(c, plain), 2, sizes);
    return TAPER_COMPOSE(c, taper_op_sort, NULL, taper_compose_arg(lines), taper_val_int(1), taper_val_bool(false));
}

// Makes a result whose first dimension is the number of quantiles. The quantiles of one line are contiguous.
static taper_status new_result(taper_run *run, const quantile *w, taper_tensor **result)
{
    int64_t sizes[TAPER_MAX_RANK + 1] = {0}, strides[TAPER_MAX_RANK + 1] = {0};
    const bool many = w->q != NULL && w->q->rank == 1;
    size_t rank = 0;
    for (size_t i = 0; i < w->x->rank; i++) {
        const bool gone = w->all || i == w->dim;
        if (!gone || w->keep) {
            sizes[rank++] = gone ? 1 : w->x->sizes[i];
        }
    }
    if (many) {
        sizes[rank++] = w->wanted;
    }
    if (rank > TAPER_MAX_RANK) {
        return taper_rank_refused(run->error);
    }
    taper_strides_contiguous(rank, sizes, strides);
    if (many) {
        memmove(sizes + 1, sizes, (rank - 1) * sizeof *sizes);
        memmove(strides + 1, strides, (rank - 1) * sizeof *strides);
        sizes[0] = w->wanted;
        strides[0] = 1;
    }
    return taper_tensor_new(run->heap, (taper_dtype)w->x->dtype, rank, sizes, strides, result, run->error);
}

static taper_status run_quantile(taper_call *call, bool skip_nan)
{
    quantile w = {.skip_nan = skip_nan};
    TAPER_TRY(read_args(call, &w));
    const int64_t n = w.all ? taper_tensor_numel(w.x) : w.x->rank == 0 ? 1 : w.x->sizes[w.dim];
    if (n > INT64_C(1) << 24) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "input tensor is too large");
    }
    taper_compose c;
    taper_compose_begin(&c, call->run);
    taper_tensor *result = NULL;
    const taper_tensor *lines = sorted_lines(&c, &w, n);
    if (lines != NULL) {
        taper_compose_fail(&c, new_result(call->run, &w, &result));
    }
    if (c.status == TAPER_OK && taper_compose_keep(&c, result) != NULL) {
        void *to = taper_tensor_mutable(result);
        const void *from = taper_tensor_data(lines);
        for (int64_t row = 0; row < lines->sizes[0] && c.status == TAPER_OK; row++) {
            for (int64_t i = 0; i < w.wanted && taper_run_step(call->run, i, 50); i++) {
                if (w.x->dtype == TAPER_F32) {
                    ((float *)to)[row * w.wanted + i] =
                        quantile_f32(&w, (const float *)from + row * n, n, wanted_at(&w, i));
                } else {
                    ((double *)to)[row * w.wanted + i] =
                        quantile_f64(&w, (const double *)from + row * n, n, wanted_at(&w, i));
                }
            }
        }
    }
    return taper_compose_ret(&c, call, 0, result);
}

TAPER_KERNEL(taper_op_quantile)
{
    return run_quantile(call, false);
}
TAPER_KERNEL(taper_op_nanquantile)
{
    return run_quantile(call, true);
}
