// SPDX-License-Identifier: BSD-2-Clause
// The cosine of the angle between rows, along any dimension. Floats are added as floats in blocks of a few thousand;
// other dtypes are added as doubles.
#include <math.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/parallel.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/kernels/kernel_select.h"

// Both operands as contiguous doubles, broadcast, with the reduced dimension last.
typedef struct row_pair {
    taper_tensor *a, *b;
    taper_dtype dtype;
    size_t rank; // rank and sizes of the broadcast operands
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
        TAPER_TRY(taper_tensor_new(call->run->heap, TAPER_F64, twin.rank, twin.sizes, NULL, to, call->run->error));
        TAPER_TRY(taper_run_copy(call->run, *to, &twin));
    }
    return TAPER_OK;
}

// Makes the result, which lacks the reduced dimension.
static taper_status new_rows(taper_call *call, const row_pair *pair, size_t dim, taper_dtype dtype, taper_tensor **out)
{
    int64_t sizes[TAPER_MAX_RANK];
    size_t rank = 0;
    for (size_t d = 0; d < pair->rank; d++) {
        if (d != dim) {
            sizes[rank++] = pair->sizes[d];
        }
    }
    return taper_tensor_new(call->run->heap, dtype, rank, sizes, NULL, out, call->run->error);
}

// Returns the cosine of two lines of n elements, which are step_a and step_b apart.
#define COSINE(name, type)                                                                                             \
    static double name(const type *a, int64_t step_a, const type *b, int64_t step_b, int64_t n, double eps)            \
    {                                                                                                                  \
        double aa = 0.0, bb = 0.0, ab = 0.0;                                                                           \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            aa += (double)a[i * step_a] * (double)a[i * step_a];                                                       \
            bb += (double)b[i * step_b] * (double)b[i * step_b];                                                       \
        }                                                                                                              \
        const double na = sqrt(aa) < eps ? eps : sqrt(aa), nb = sqrt(bb) < eps ? eps : sqrt(bb);                       \
        for (int64_t i = 0; i < n; i++) {                                                                              \
            ab += (double)a[i * step_a] / na * ((double)b[i * step_b] / nb);                                           \
        }                                                                                                              \
        return ab;                                                                                                     \
    }
COSINE(cosine_doubles, double)

static taper_status ret_rows(taper_call *call, row_pair *pair, size_t dim, double eps)
{
    taper_tensor *out = NULL;
    taper_status status = copy_pair(call, pair, dim);
    if (status == TAPER_OK) {
        status = new_rows(call, pair, dim, TAPER_F64, &out);
    }
    if (status == TAPER_OK) {
        const int64_t n = pair->rank == 0 ? 1 : pair->sizes[dim], count = taper_tensor_numel(out);
        const double *a = taper_tensor_data(pair->a), *b = taper_tensor_data(pair->b);
        double *to = taper_tensor_mutable(out);
        for (int64_t i = 0; i < count && taper_run_goes_on(call->run, (uint64_t)n * 8 + 40); i++) {
            to[i] = cosine_doubles(a + i * n, 1, b + i * n, 1, n, eps);
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

#include "ops/nn/linear_cosine_floats.h"

TAPER_KERNEL(taper_op_cosine_similarity)
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
    bool done;
    TAPER_TRY(ret_floats(call, &pair, dim, eps, &done));
    return done ? TAPER_OK : ret_rows(call, &pair, dim, eps);
}
