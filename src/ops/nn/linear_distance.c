// SPDX-License-Identifier: BSD-2-Clause
// Distances and angles between rows: cdist, pdist, pairwise_distance, cosine_similarity. Sums are made in double.
#include <math.h>

#include "ir/walk.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/list/kernels.h"
#include "ops/list/op_config.h"
#include "ops/nn/distance_rows.h"

// The p-norm of the difference of n elements, plus eps.
static double distance(const double *a, const double *b, int64_t n, double p, double eps)
{
    double sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        const double d = fabs(a[i] - b[i] + eps);
        if (p == 2.0) {
            sum += d * d;
        } else if (p == 1.0) {
            sum += d;
        } else if (p == 0.0) {
            sum += d != 0.0 ? 1.0 : 0.0;
        } else if (isinf(p)) {
            sum = d > sum || d != d ? d : sum;
        } else {
            sum += pow(d, p);
        }
    }
    return p == 2.0 ? sqrt(sum) : p == 1.0 || p == 0.0 || isinf(p) ? sum : pow(sum, 1.0 / p);
}

// Contiguous doubles.
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

// Of floats, one matrix of the batch after the other. Declines what taper_distance_rows does not do.
static taper_status cdist_floats(taper_call *call, taper_tensor *x, taper_tensor *y, double p, size_t batch,
                                 const int64_t *sizes)
{
    enum { FEW = 4 }; // rows that are not worth it
    taper_run *run = call->run;
    const int64_t m = sizes[batch], n = sizes[batch + 1], k = x->sizes[x->rank - 1u];
    if (TAPER_SMALL || run->portable || x->dtype != TAPER_F32 || y->dtype != TAPER_F32 || (p != 1.0 && p != 2.0) ||
        m < FEW || n < FEW || k < 1) {
        return TAPER_DECLINED;
    }
    taper_tensor *plain_x, *plain_y = NULL, *out = NULL;
    TAPER_TRY(taper_run_contiguous(run, x, &plain_x));
    taper_status status = taper_run_contiguous(run, y, &plain_y);
    if (status == TAPER_OK) {
        status = taper_tensor_new(run->heap, TAPER_F32, batch + 2, sizes, NULL, &out, run->error);
    }
    if (status == TAPER_OK) {
        int64_t steps_x[TAPER_MAX_RANK], steps_y[TAPER_MAX_RANK];
        taper_tensor batch_x = taper_tensor_twin(plain_x, plain_x->rank - 2u, plain_x->sizes, plain_x->strides);
        taper_tensor batch_y = taper_tensor_twin(plain_y, plain_y->rank - 2u, plain_y->sizes, plain_y->strides);
        (void)taper_broadcast_strides(&batch_x, batch, sizes, steps_x);
        (void)taper_broadcast_strides(&batch_y, batch, sizes, steps_y);
        const int64_t matrices = taper_tensor_numel(out) / (m * n);
        float *to = taper_tensor_mutable(out);
        taper_walk walk;
        taper_walk_over(&walk, batch, sizes, SIZE_MAX, steps_x, steps_y);
        for (int64_t i = 0; i < matrices && status == TAPER_OK; i++, to += m * n) {
            status = taper_distance_rows(run, m, n, k, (const float *)taper_tensor_data(plain_x) + walk.at[0],
                                         (const float *)taper_tensor_data(plain_y) + walk.at[1], p == 2.0, to);
            (void)taper_walk_next(&walk);
        }
    }
    taper_tensor_drop(plain_x);
    taper_tensor_drop(plain_y);
    if (status != TAPER_OK) {
        taper_tensor_drop(out);
        return status;
    }
    return taper_ret_tensor(call, 0, out);
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
    taper_status status = cdist_floats(call, x, y, p, batch, sizes);
    if (status != TAPER_DECLINED) {
        return status;
    }
    status = as_double(run, x, &wide_x);
    if (status == TAPER_OK) {
        status = as_double(run, y, &wide_y);
    }
    if (status == TAPER_OK) {
        status = taper_tensor_new(run->heap, TAPER_F64, batch + 2, sizes, NULL, &out, run->error);
    }
    if (status == TAPER_OK) {
        taper_tensor batch_x = taper_tensor_twin(wide_x, wide_x->rank - 2u, wide_x->sizes, wide_x->strides);
        taper_tensor batch_y = taper_tensor_twin(wide_y, wide_y->rank - 2u, wide_y->sizes, wide_y->strides);
        (void)taper_broadcast_strides(&batch_x, batch, sizes, steps_x);
        (void)taper_broadcast_strides(&batch_y, batch, sizes, steps_y);
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
                             (const double *)taper_tensor_data(wide_y) + at_y, k, p, 0.0);
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

taper_status taper_op_cdist(taper_call *call)
{
    taper_tensor *x, *y;
    double p;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &y));
    TAPER_TRY(taper_arg_double(call, 2, &p));
    return cdist(call, x, y, p);
}

taper_status taper_op_euclidean_dist(taper_call *call)
{
    taper_tensor *x, *y;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &y));
    return cdist(call, x, y, 2.0);
}

taper_status taper_op_pdist(taper_call *call)
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
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_F64, 1, &count, NULL, &out, run->error));
    taper_status status = as_double(run, x, &wide);
    if (status == TAPER_OK) {
        const double *from = taper_tensor_data(wide);
        double *to = taper_tensor_mutable(out);
        for (int64_t i = 0; i < rows; i++) {
            for (int64_t j = i + 1; j < rows && taper_run_goes_on(run, (uint64_t)k * 5 + 20); j++) {
                *to++ = distance(from + i * k, from + j * k, k, p, 0.0);
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

// Both operands broadcast, as contiguous doubles with the reduced dimension last.
typedef struct row_pair {
    taper_tensor *a, *b;
    taper_dtype dtype;
    size_t rank; // of the broadcast operands
    int64_t sizes[TAPER_MAX_RANK];
} row_pair;

static taper_status make_pair(taper_call *call, row_pair *pair)
{
    taper_tensor *a, *b;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    taper_promotion promotion = taper_promotion_start();
    taper_promotion_tensor(&promotion, a);
    taper_promotion_tensor(&promotion, b);
    pair->dtype = taper_promotion_result(&promotion);
    if (taper_dtype_is_complex(pair->dtype) || taper_dtype_is_quantized(pair->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED, "not implemented for '%s'",
                   taper_dtype_torch_name(pair->dtype));
    }
    if (!taper_broadcast_shapes(a->rank, a->sizes, b->rank, b->sizes, &pair->rank, pair->sizes)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "sizes %s and %s do not fit together", TAPER_SHAPE(a),
                   TAPER_SHAPE(b));
    }
    return TAPER_OK;
}

static taper_status copy_pair(taper_call *call, row_pair *pair, size_t dim)
{
    for (size_t i = 0; i < 2; i++) {
        taper_tensor *from, **to = i == 0 ? &pair->a : &pair->b;
        int64_t strides[TAPER_MAX_RANK] = {0}, sizes[TAPER_MAX_RANK] = {0}, turned[TAPER_MAX_RANK] = {0};
        TAPER_TRY(taper_arg_tensor(call, i, &from));
        (void)taper_broadcast_strides(from, pair->rank, pair->sizes, strides);
        size_t at = 0;
        for (size_t d = 0; d < pair->rank; d++) {
            if (d != dim) {
                sizes[at] = pair->sizes[d];
                turned[at++] = strides[d];
            }
        }
        if (pair->rank != 0) {
            sizes[at] = pair->sizes[dim];
            turned[at] = strides[dim];
        }
        const taper_tensor twin = taper_tensor_twin(from, pair->rank, sizes, turned);
        TAPER_TRY(as_double(call->run, &twin, to));
    }
    return TAPER_OK;
}

// The result without (or with size 1 in) the reduced dimension.
static taper_status new_rows(taper_call *call, const row_pair *pair, size_t dim, bool keep, taper_tensor **out)
{
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank = 0;
    for (size_t d = 0; d < pair->rank; d++) {
        if (d != dim || keep) {
            sizes[rank++] = d == dim ? 1 : pair->sizes[d];
        }
    }
    return taper_tensor_new(call->run->heap, TAPER_F64, rank, sizes, NULL, out, call->run->error);
}

static double cosine(const double *a, const double *b, int64_t n, double eps)
{
    double aa = 0.0, bb = 0.0, ab = 0.0;
    for (int64_t i = 0; i < n; i++) {
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    const double na = sqrt(aa) < eps ? eps : sqrt(aa), nb = sqrt(bb) < eps ? eps : sqrt(bb);
    for (int64_t i = 0; i < n; i++) {
        ab += a[i] / na * (b[i] / nb);
    }
    return ab;
}

static taper_status ret_rows(taper_call *call, row_pair *pair, size_t dim, bool keep, bool angle, double p, double eps)
{
    taper_tensor *out = NULL;
    taper_status status = copy_pair(call, pair, dim);
    if (status == TAPER_OK) {
        status = new_rows(call, pair, dim, keep, &out);
    }
    if (status == TAPER_OK) {
        const int64_t n = pair->rank == 0 ? 1 : pair->sizes[dim], count = taper_tensor_numel(out);
        const double *a = taper_tensor_data(pair->a), *b = taper_tensor_data(pair->b);
        double *to = taper_tensor_mutable(out);
        for (int64_t i = 0; i < count && taper_run_goes_on(call->run, (uint64_t)n * 8 + 40); i++) {
            to[i] = angle ? cosine(a + i * n, b + i * n, n, eps) : distance(a + i * n, b + i * n, n, p, eps);
        }
    }
    taper_tensor_drop(pair->a);
    taper_tensor_drop(pair->b);
    if (status != TAPER_OK) {
        taper_tensor_drop(out);
        return status;
    }
    return taper_ret_cast(call, 0, out, taper_dtype_to_float(pair->dtype));
}

taper_status taper_op_cosine_similarity(taper_call *call)
{
    row_pair pair = {0};
    size_t dim = 0;
    double eps;
    TAPER_TRY(make_pair(call, &pair));
    TAPER_TRY(taper_arg_dim(call, 2, pair.rank, &dim));
    TAPER_TRY(taper_arg_double(call, 3, &eps));
    if (!taper_dtype_is_float(pair.dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "expected common dtype to be floating point, yet common dtype is %s",
                   taper_dtype_torch_name(pair.dtype));
    }
    return ret_rows(call, &pair, dim, false, true, 0.0, eps);
}
