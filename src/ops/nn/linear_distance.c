// SPDX-License-Identifier: BSD-2-Clause
// Distances between rows: cdist and pdist. Rows of up to a few thousand floats are added as floats; all other rows
// are added as doubles.
#include <math.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/parallel.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/kernels/kernel_select.h"

// Returns the p-norm of the difference of n elements.
static double distance(const double *a, const double *b, int64_t n, double p)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double d = fabs(a[i] - b[i]);
        if (p == 2.0) {
            sum += d * d;
        } else if (p == 1.0) {
            sum += d;
        } else if (p == 0.0) {
            sum += d > 0.0 ? 1.0 : d; // keeps a NaN, which is not greater than 0
        } else if (isinf(p)) {
            sum = d > sum || d != d ? d : sum;
        } else {
            sum += pow(d, p);
        }
    }
    return p == 2.0 ? sqrt(sum) : p == 1.0 || p == 0.0 || isinf(p) ? sum : pow(sum, 1.0 / p);
}

// Copies the tensor to contiguous doubles.
static taper_status as_double(taper_run *run, const taper_tensor *tensor, taper_tensor **wide)
{
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_F64, tensor->rank, tensor->sizes, NULL, wide, run->error));
    return taper_run_copy(run, *wide, tensor);
}

static taper_status check_cdist(taper_call *call, const taper_tensor *x, const taper_tensor *y, double p)
{
    taper_error *error = call->run->error;
    for (int i = 0; i < 2; i++) {
        const taper_tensor *t = i == 0 ? x : y;
        if (!taper_dtype_is_float((taper_dtype)t->dtype)) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "cdist only supports floating-point dtypes, X%d got: %s", i + 1,
                       taper_dtype_torch_name((taper_dtype)t->dtype));
        }
        if (t->rank < 2) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "cdist only supports at least 2D tensors, X%d got: %uD", i + 1,
                       t->rank);
        }
    }
    if (x->sizes[x->rank - 1u] != y->sizes[y->rank - 1u]) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "X1 and X2 must have the same number of columns. X1: %lld X2: %lld",
                   (long long)x->sizes[x->rank - 1u], (long long)y->sizes[y->rank - 1u]);
    }
    if (!(p >= 0.0)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "cdist only supports non-negative p values");
    }
    return TAPER_OK;
}

// ---- floats: distances of one row to many rows, which are stored as columns

typedef struct near_work {
    taper_distance_f32_function *distances;
    double p;
    const float *x, *columns;
    int64_t n, k;
    float *to;
    bool triangle; // true for pdist: only distances of a row of x to later rows, stored without gaps
} near_work;

static taper_distance kind_of(double p)
{
    return p == 1.0   ? TAPER_DISTANCE_SUM
           : p == 2.0 ? TAPER_DISTANCE_SQUARES
           : p == 0.0 ? TAPER_DISTANCE_DIFFERENT
           : isinf(p) ? TAPER_DISTANCE_MOST
                      : TAPER_DISTANCE_POWERS;
}

// Computes the distances of rows [begin, end) of x.
static void near_range(void *argument, size_t begin, size_t end)
{
    const near_work *w = argument;
    const taper_distance kind = kind_of(w->p);
    for (int64_t i = (int64_t)begin; i < (int64_t)end; i++) {
        const int64_t first = w->triangle ? i + 1 : 0, count = w->n - first;
        float *to = w->to + (w->triangle ? i * w->n - i * (i + 1) / 2 : i * w->n);
        w->distances((size_t)w->k, (size_t)count, w->x + i * w->k, w->columns + first, (size_t)w->n, (float)w->p, to);
        for (int64_t j = 0; kind == TAPER_DISTANCE_SQUARES && j < count; j++) {
            to[j] = sqrtf(to[j]);
        }
        for (int64_t j = 0; kind == TAPER_DISTANCE_POWERS && j < count; j++) {
            to[j] = (float)pow((double)to[j], 1.0 / w->p);
        }
    }
}

#include "ops/nn/linear_distance_floats.h"

static taper_status run_near(taper_run *run, near_work *w, int64_t m)
{
    const double work = (w->distances == taper_vector_f32_select(run->cpu)->distances[TAPER_DISTANCE_POWERS] ? 20 : 2) *
                        (double)w->k * (double)w->n;
    return taper_run_floats(run, near_range, w, (size_t)m, (w->triangle ? work / 2 : work) + 4 * (double)w->n);
}

// Transposes a matrix of n rows of k floats.
static taper_status make_columns(taper_run *run, const float *rows, int64_t n, int64_t k, taper_tensor **columns)
{
    const int64_t sizes[2] = {k, n};
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_F32, 2, sizes, NULL, columns, run->error));
    taper_vector_f32_select(run->cpu)->transpose((size_t)n, (size_t)k, rows, (size_t)k, taper_tensor_mutable(*columns),
                                                 (size_t)n);
    return taper_run_spend(run, (uint64_t)n * (uint64_t)k);
}

// Computes the steps from one matrix of a batch to the next, for a batch that is broadcast to `sizes`. A tensor without
// elements may have strides up to INT64_MAX, but then no code uses them.
static void batch_steps(const taper_tensor *tensor, size_t batch, const int64_t *sizes, int64_t *steps)
{
    const taper_tensor matrices = taper_tensor_twin(tensor, tensor->rank - 2u, tensor->sizes, tensor->strides);
    (void)taper_broadcast_strides(&matrices, batch, sizes, steps);
    if (taper_tensor_numel(tensor) == 0) {
        memset(steps, 0, batch * sizeof *steps);
    }
}

static taper_status cdist_floats(taper_run *run, taper_tensor *x, taper_tensor *y, near_work *w, taper_tensor *out)
{
    taper_tensor *dense_x = NULL, *dense_y = NULL, *columns = NULL;
    const int64_t m = x->sizes[x->rank - 2u];
    int64_t steps_x[TAPER_MAX_RANK], steps_y[TAPER_MAX_RANK];
    const size_t batch = out->rank - 2u;
    taper_status status = taper_run_contiguous(run, x, &dense_x);
    if (status == TAPER_OK) {
        status = taper_run_contiguous(run, y, &dense_y);
    }
    if (status == TAPER_OK) {
        batch_steps(dense_x, batch, out->sizes, steps_x);
        batch_steps(dense_y, batch, out->sizes, steps_y);
        const int64_t count = taper_tensor_numel(out) == 0 ? 0 : taper_tensor_numel(out) / (m * w->n);
        int64_t held = -1; // index of the matrix whose columns are stored; -1 if none are stored
        for (int64_t i = 0; i < count && status == TAPER_OK; i++) {
            int64_t rest = i, at_x = 0, at_y = 0;
            for (size_t d = batch; d-- > 0;) {
                at_x += rest % out->sizes[d] * steps_x[d];
                at_y += rest % out->sizes[d] * steps_y[d];
                rest /= out->sizes[d];
            }
            if (held != at_y) {
                taper_tensor_drop(columns);
                columns = NULL;
                status = make_columns(run, (const float *)taper_tensor_data(dense_y) + at_y, w->n, w->k, &columns);
                held = at_y;
            }
            if (status == TAPER_OK) {
                w->x = (const float *)taper_tensor_data(dense_x) + at_x;
                w->columns = taper_tensor_data(columns);
                w->to = (float *)taper_tensor_mutable(out) + i * m * w->n;
                status = run_near(run, w, m);
            }
        }
    }
    taper_tensor_drop(dense_x);
    taper_tensor_drop(dense_y);
    taper_tensor_drop(columns);
    return status;
}

static taper_status cdist(taper_call *call, taper_tensor *x, taper_tensor *y, double p)
{
    taper_run *run = call->run;
    taper_tensor *wide_x = NULL, *wide_y = NULL, *out = NULL;
    int64_t sizes[TAPER_MAX_RANK + 2], steps_x[TAPER_MAX_RANK], steps_y[TAPER_MAX_RANK];
    size_t batch;
    TAPER_TRY(check_cdist(call, x, y, p));
    if (!taper_broadcast_shapes(x->rank - 2u, x->sizes, y->rank - 2u, y->sizes, &batch, sizes)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "the batches of X1 %s and X2 %s do not fit together",
                   TAPER_SHAPE(x), TAPER_SHAPE(y));
    }
    const int64_t m = x->sizes[x->rank - 2u], n = y->sizes[y->rank - 2u], k = x->sizes[x->rank - 1u];
    sizes[batch] = m;
    sizes[batch + 1] = n;
    near_work w = {.distances = find_distances(run, x, y, p), .p = p, .n = n, .k = k};
    if (w.distances != NULL) {
        TAPER_TRY(taper_tensor_new(run->heap, TAPER_F32, batch + 2, sizes, NULL, &out, run->error));
        const taper_status done = cdist_floats(run, x, y, &w, out);
        if (done != TAPER_OK) {
            taper_tensor_drop(out);
            return done;
        }
        return taper_ret_cast(call, 0, out, TAPER_F32);
    }
    taper_status status = as_double(run, x, &wide_x);
    if (status == TAPER_OK) {
        status = as_double(run, y, &wide_y);
    }
    if (status == TAPER_OK) {
        status = taper_tensor_new(run->heap, TAPER_F64, batch + 2, sizes, NULL, &out, run->error);
    }
    if (status == TAPER_OK) {
        batch_steps(wide_x, batch, sizes, steps_x);
        batch_steps(wide_y, batch, sizes, steps_y);
        double *to = taper_tensor_mutable(out);
        const int64_t count = taper_tensor_numel(out);
        for (int64_t i = 0; i < count && taper_run_goes_on(run, (uint64_t)k * 5 + 50); i++) {
            int64_t rest = i / (m * n), at_x = i / n % m * k, at_y = i % n * k;
            for (size_t d = batch; d-- > 0;) {
                at_x += rest % sizes[d] * steps_x[d];
                at_y += rest % sizes[d] * steps_y[d];
                rest /= sizes[d];
            }
            to[i] = distance((const double *)taper_tensor_data(wide_x) + at_x,
                             (const double *)taper_tensor_data(wide_y) + at_y, k, p);
        }
    }
    taper_tensor_drop(wide_x);
    taper_tensor_drop(wide_y);
    if (status != TAPER_OK) {
        taper_tensor_drop(out);
        return status;
    }
    return taper_ret_cast(call, 0, out, taper_promote((taper_dtype)x->dtype, (taper_dtype)y->dtype));
}

TAPER_KERNEL(taper_op_cdist)
{
    taper_tensor *x, *y;
    double p;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &y));
    TAPER_TRY(taper_arg_double(call, 2, &p));
    return cdist(call, x, y, p);
}

TAPER_KERNEL(taper_op_euclidean_dist)
{
    taper_tensor *x, *y;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &y));
    return cdist(call, x, y, 2.0);
}

static taper_status pdist_floats(taper_call *call, taper_tensor *x, near_work *w, int64_t count)
{
    taper_run *run = call->run;
    taper_tensor *dense = NULL, *columns = NULL, *out = NULL;
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_F32, 1, &count, NULL, &out, run->error));
    taper_status status = taper_run_contiguous(run, x, &dense);
    if (status == TAPER_OK) {
        w->x = taper_tensor_data(dense);
        w->to = taper_tensor_mutable(out);
        status = make_columns(run, w->x, w->n, w->k, &columns);
    }
    if (status == TAPER_OK) {
        w->columns = taper_tensor_data(columns);
        status = run_near(run, w, w->n);
    }
    taper_tensor_drop(dense);
    taper_tensor_drop(columns);
    if (status != TAPER_OK) {
        taper_tensor_drop(out);
        return status;
    }
    return taper_ret_cast(call, 0, out, TAPER_F32);
}

TAPER_KERNEL(taper_op_pdist)
{
    taper_tensor *x, *wide = NULL, *out = NULL;
    double p;
    taper_run *run = call->run;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_double(call, 1, &p));
    if (x->rank != 2) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "pdist only supports 2D tensors, got: %uD", x->rank);
    }
    if (!taper_dtype_is_float((taper_dtype)x->dtype)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "pdist only supports floating-point dtypes");
    }
    if (!(p >= 0.0)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "pdist only supports non-negative p values");
    }
    const int64_t rows = x->sizes[0], k = x->sizes[1];
    int64_t count;
    if (!taper_mul_i64(rows, rows - 1, &count)) {
        return taper_fail_memory(run->error);
    }
    count = rows < 2 ? 0 : count / 2;
    near_work w = {.distances = find_distances(run, x, x, p), .p = p, .n = rows, .k = k, .triangle = true};
    if (w.distances != NULL && rows != 0) {
        return pdist_floats(call, x, &w, count);
    }
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_F64, 1, &count, NULL, &out, run->error));
    taper_status status = as_double(run, x, &wide);
    if (status == TAPER_OK) {
        const double *from = taper_tensor_data(wide);
        double *to = taper_tensor_mutable(out);
        for (int64_t i = 0; i < rows; i++) {
            for (int64_t j = i + 1; j < rows && taper_run_goes_on(run, (uint64_t)k * 5 + 20); j++) {
                *to++ = distance(from + i * k, from + j * k, k, p);
            }
        }
    }
    taper_tensor_drop(wide);
    if (status != TAPER_OK) {
        taper_tensor_drop(out);
        return status;
    }
    return taper_ret_cast(call, 0, out, (taper_dtype)x->dtype);
}
