// SPDX-License-Identifier: BSD-2-Clause
// Products of tensors by taper_gemm_run, and small functions that the product operators share.
#include <math.h>
#include <stdio.h>

#include "ir/tensor.h"
#include "ir/walk.h"
#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"
#include "ops/kernels/kernel_select.h"

taper_dtype taper_work_dtype(taper_dtype dtype)
{
    switch (dtype) {
    case TAPER_F32:
    case TAPER_F16:
    case TAPER_BF16:
        return TAPER_F32;
    case TAPER_F64:
        return TAPER_F64;
    case TAPER_C32:
    case TAPER_C64:
    case TAPER_C128:
        return TAPER_C128;
    default:
        return TAPER_I64;
    }
}

taper_status taper_tensor_cast(taper_run *run, taper_tensor *tensor, taper_dtype dtype, taper_tensor **cast)
{
    if (tensor->dtype == dtype) {
        *cast = taper_tensor_keep(tensor);
        return TAPER_OK;
    }
    taper_tensor *copy = NULL;
    const int64_t *strides = taper_tensor_is_dense(tensor) ? tensor->strides : NULL;
    TAPER_TRY(taper_tensor_new(run->heap, dtype, tensor->rank, tensor->sizes, strides, &copy, run->error));
    const taper_status status = taper_run_copy(run, copy, tensor);
    if (status != TAPER_OK) {
        taper_tensor_drop(copy);
        return status;
    }
    *cast = copy;
    return TAPER_OK;
}

taper_status taper_tensor_floats(taper_run *run, taper_tensor *tensor, taper_tensor **floats)
{
    taper_tensor *plain;
    TAPER_TRY(taper_run_contiguous(run, tensor, &plain));
    const taper_status status = taper_tensor_cast(run, plain, TAPER_F32, floats);
    taper_obj_release(&plain->head);
    return status;
}

taper_status taper_ret_cast(taper_call *call, size_t at, taper_tensor *value, taper_dtype dtype)
{
    if (value->dtype == dtype) {
        return taper_ret_tensor(call, at, value);
    }
    taper_run *run = call->run;
    taper_tensor *cast = NULL;
    taper_status status =
        taper_tensor_new(run->heap, dtype, value->rank, value->sizes, value->strides, &cast, run->error);
    if (status == TAPER_OK) {
        status = taper_run_copy(run, cast, value);
    }
    taper_tensor_drop(value);
    if (status != TAPER_OK) {
        taper_tensor_drop(cast);
        return status;
    }
    return taper_ret_tensor(call, at, cast);
}

taper_status taper_check_product_dtype(const taper_call *call, const taper_tensor *tensor, const char *name)
{
    if (taper_dtype_is_quantized(tensor->dtype) || tensor->dtype == TAPER_BOOL) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%s: not implemented for '%s'", name,
                   taper_dtype_torch_name(tensor->dtype));
    }
    return TAPER_OK;
}

taper_shape_text taper_shape_print(size_t rank, const int64_t *sizes)
{
    taper_shape_text shape = {"["};
    size_t used = 1;
    for (size_t i = 0; i < rank && i < TAPER_MAX_RANK; i++) {
        const int wrote =
            snprintf(shape.text + used, sizeof shape.text - used, "%s%lld", i == 0 ? "" : ", ", (long long)sizes[i]);
        if (wrote > 0) {
            used += (size_t)wrote;
        }
    }
    snprintf(shape.text + used, sizeof shape.text - used, "]");
    return shape;
}

taper_tensor taper_tensor_twin(const taper_tensor *tensor, size_t rank, const int64_t *sizes, const int64_t *strides)
{
    taper_tensor twin = taper_tensor_local(tensor);
    twin.rank = (uint8_t)rank;
    twin.hidden_nhwc = false;
    for (size_t i = 0; i < rank; i++) {
        twin.sizes[i] = sizes[i];
        twin.strides[i] = strides[i];
    }
    return twin;
}

taper_tensor taper_tensor_twin_t(const taper_tensor *tensor)
{
    taper_tensor twin = taper_tensor_twin(tensor, tensor->rank, tensor->sizes, tensor->strides);
    const size_t r = tensor->rank;
    twin.sizes[r - 1] = tensor->sizes[r - 2];
    twin.sizes[r - 2] = tensor->sizes[r - 1];
    twin.strides[r - 1] = tensor->strides[r - 2];
    twin.strides[r - 2] = tensor->strides[r - 1];
    return twin;
}

bool taper_broadcast_shapes(size_t a_rank, const int64_t *a, size_t b_rank, const int64_t *b, size_t *rank,
                            int64_t *sizes)
{
    const size_t r = taper_max_size(a_rank, b_rank);
    for (size_t i = 0; i < r; i++) {
        const int64_t x = i + a_rank < r ? 1 : a[i + a_rank - r];
        const int64_t y = i + b_rank < r ? 1 : b[i + b_rank - r];
        if (x != y && x != 1 && y != 1) {
            return false;
        }
        sizes[i] = x == 1 ? y : x;
    }
    *rank = r;
    return true;
}

bool taper_broadcast_strides(const taper_tensor *tensor, size_t rank, const int64_t *sizes, int64_t *strides)
{
    if (tensor->rank > rank) {
        return false;
    }
    int64_t own[TAPER_MAX_RANK];
    taper_tensor_steps(tensor, 1, own);
    const size_t skip = rank - tensor->rank;
    for (size_t i = 0; i < rank; i++) {
        strides[i] = 0;
        if (i >= skip) {
            const int64_t size = tensor->sizes[i - skip];
            if (size == sizes[i]) {
                strides[i] = own[i - skip];
            } else if (size != 1) {
                return false;
            }
        }
    }
    return true;
}

taper_status taper_product_into(taper_run *run, const taper_tensor *a, const taper_tensor *b, taper_tensor *c)
{
    const size_t rank = c->rank;
    const taper_gemm gemm = {.dtype = (taper_dtype)c->dtype,
                             .m = c->sizes[rank - 2],
                             .n = c->sizes[rank - 1],
                             .k = a->sizes[rank - 1],
                             .a = taper_tensor_data(a),
                             .a_row = a->strides[rank - 2],
                             .a_column = a->strides[rank - 1],
                             .b = taper_tensor_data(b),
                             .b_row = b->strides[rank - 2],
                             .b_column = b->strides[rank - 1],
                             .c = taper_tensor_mutable(c),
                             .c_row = c->strides[rank - 2],
                             .c_column = c->strides[rank - 1]};
    int64_t left[TAPER_MAX_RANK], right[TAPER_MAX_RANK], out[TAPER_MAX_RANK];
    taper_tensor_steps(a, 1, left);
    taper_tensor_steps(b, 1, right);
    taper_tensor_steps(c, 1, out);
    taper_gemm_batch batch = {.rank = rank - 2};
    for (size_t d = 0; d < batch.rank; d++) {
        batch.sizes[d] = c->sizes[d];
        batch.a[d] = left[d];
        batch.b[d] = right[d];
        batch.c[d] = out[d];
    }
    return taper_gemm_run_batch(run, &gemm, &batch);
}

typedef struct scale_pair {
    double beta, beta_im, alpha, alpha_im;
    uint64_t beta_int, alpha_int;
    bool use_self, plain; // true if self is read; true if beta and alpha are 1
    const taper_vector_entry *vector;
} scale_pair;

// Combines floats with the vector kernels. Returns false if they are not contiguous. self is NULL if it is not read.
static bool combine_floats(float *product, int64_t p_step, const float *self, int64_t s_step, int64_t count,
                           const scale_pair *scale)
{
    const taper_vector_entry *v = scale->vector;
    if (v == NULL || v->blend == NULL || p_step != 1 || (self != NULL && (s_step | 1) != 1)) {
        return false;
    }
    const float alpha = (float)scale->alpha, beta = (float)scale->beta;
    const size_t n = (size_t)count;
    if (self != NULL && s_step == 1) {
        if (scale->plain) {
            v->binary[TAPER_BINARY_ADD][TAPER_OPERANDS_VV](n, product, self, product, -INFINITY, INFINITY);
        } else {
            v->blend(n, product, self, alpha, beta, product);
        }
        return true;
    }
    const float numbers[] = {alpha, self == NULL ? 0 : beta * *self, -INFINITY, INFINITY};
    v->unary[TAPER_UNARY_AFFINE](n, product, product, numbers);
    return true;
}

static void combine_row(taper_dtype dtype, void *product, int64_t p_step, const void *self, int64_t s_step,
                        int64_t count, const scale_pair *scale)
{
    switch (dtype) {
    case TAPER_F32: {
        float *p = product;
        const float *s = self;
        const float alpha = (float)scale->alpha, beta = (float)scale->beta;
        if (combine_floats(p, p_step, s, s_step, count, scale)) {
            break;
        }
        if (scale->plain) {
            for (int64_t i = 0; i < count; i++) {
                p[i * p_step] += s[i * s_step];
            }
        } else {
            for (int64_t i = 0; i < count; i++) {
                p[i * p_step] = alpha * p[i * p_step] + (scale->use_self ? beta * s[i * s_step] : 0.0f);
            }
        }
        break;
    }
    case TAPER_F64: {
        double *p = product;
        const double *s = self;
        for (int64_t i = 0; i < count; i++) {
            p[i * p_step] = scale->alpha * p[i * p_step] + (scale->use_self ? scale->beta * s[i * s_step] : 0.0);
        }
        break;
    }
    case TAPER_I64: {
        uint64_t *p = product;
        const uint64_t *s = self;
        for (int64_t i = 0; i < count; i++) {
            p[i * p_step] = scale->alpha_int * p[i * p_step] + (scale->use_self ? scale->beta_int * s[i * s_step] : 0u);
        }
        break;
    }
    default: {
        double *p = product;
        const double *s = self;
        for (int64_t i = 0; i < count; i++) {
            double *x = p + 2 * i * p_step;
            double re = scale->alpha * x[0] - scale->alpha_im * x[1], im = scale->alpha * x[1] + scale->alpha_im * x[0];
            if (scale->use_self) {
                const double *y = s + 2 * i * s_step;
                re += scale->beta * y[0] - scale->beta_im * y[1];
                im += scale->beta * y[1] + scale->beta_im * y[0];
            }
            x[0] = re;
            x[1] = im;
        }
        break;
    }
    }
}

// Converts a factor of an integer product to an integer. The conversion truncates, as in PyTorch.
static uint64_t scalar_int(taper_scalar scalar)
{
    if (scalar.kind < TAPER_SCALAR_DOUBLE) {
        return (uint64_t)scalar.i;
    }
    return scalar.f > -9.2e18 && scalar.f < 9.2e18 ? (uint64_t)(int64_t)scalar.f : 0;
}

taper_status taper_product_combine(taper_run *run, taper_tensor *product, taper_tensor *self, taper_scalar beta,
                                   taper_scalar alpha)
{
    const bool integral = product->dtype == TAPER_I64;
    if (product->dtype != TAPER_C128 && (beta.kind == TAPER_SCALAR_COMPLEX || alpha.kind == TAPER_SCALAR_COMPLEX)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "argument %s is complex, the tensors are not",
                   beta.kind == TAPER_SCALAR_COMPLEX ? "beta" : "alpha");
    }
    const bool scalar_complex = beta.kind == TAPER_SCALAR_COMPLEX || alpha.kind == TAPER_SCALAR_COMPLEX;
    scale_pair scale = {.beta = beta.f, .alpha = alpha.f, .beta_int = scalar_int(beta), .alpha_int = scalar_int(alpha)};
    scale.beta_im = scalar_complex && beta.kind == TAPER_SCALAR_COMPLEX ? beta.im : 0.0;
    scale.alpha_im = scalar_complex && alpha.kind == TAPER_SCALAR_COMPLEX ? alpha.im : 0.0;
    scale.use_self = integral ? scale.beta_int != 0 : beta.f != 0.0 || scale.beta_im != 0.0;
    scale.vector = run->portable ? NULL : taper_vector_f32_select(run->cpu);
    scale.plain = scale.beta == 1.0 && scale.alpha == 1.0 && scale.beta_im == 0.0 && scale.alpha_im == 0.0;
    if (!scale.use_self && scale.alpha == 1.0 && scale.alpha_im == 0.0) {
        return TAPER_OK;
    }
    taper_tensor *bias = NULL;
    int64_t steps[TAPER_MAX_RANK] = {0};
    const size_t rank = product->rank;
    if (scale.use_self) {
        if (!taper_broadcast_strides(self, rank, product->sizes, steps)) {
            TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                       "The expanded size of the tensor %s must match the existing size %s", TAPER_SHAPE(product),
                       TAPER_SHAPE(self));
        }
        TAPER_TRY(taper_tensor_cast(run, self, (taper_dtype)product->dtype, &bias));
        (void)taper_broadcast_strides(bias, rank, product->sizes, steps);
    }
    const int64_t total = taper_tensor_numel(product), inner = rank == 0 ? 1 : product->sizes[rank - 1];
    int64_t places[TAPER_MAX_RANK];
    taper_tensor_steps(product, 1, places);
    const int64_t inner_p = rank == 0 ? 1 : places[rank - 1], inner_s = rank == 0 ? 1 : steps[rank - 1];
    const size_t item = taper_tensor_item(product);
    taper_walk rows;
    taper_walk_over(&rows, rank == 0 ? 0 : rank - 1, product->sizes, SIZE_MAX, places, steps);
    const char *from = bias != NULL ? taper_tensor_data(bias) : NULL;
    for (int64_t done = 0; done < total; done += inner) {
        combine_row((taper_dtype)product->dtype, (char *)taper_tensor_mutable(product) + rows.at[0] * (int64_t)item,
                    inner_p, from != NULL ? from + rows.at[1] * (int64_t)item : NULL, inner_s, inner, &scale);
        (void)taper_walk_next(&rows);
    }
    taper_tensor_drop(bias);
    return TAPER_OK;
}

taper_status taper_product_new(taper_run *run, const taper_tensor *a, const taper_tensor *b, size_t rank,
                               const int64_t *sizes, taper_tensor **result)
{
    const taper_dtype work = taper_work_dtype((taper_dtype)a->dtype);
    taper_tensor twin_a = taper_tensor_local(a), twin_b = taper_tensor_local(b);
    taper_tensor *work_a = NULL, *work_b = NULL, *made = NULL;
    taper_status status = taper_tensor_cast(run, &twin_a, work, &work_a);
    if (status == TAPER_OK) {
        status = taper_tensor_cast(run, &twin_b, work, &work_b);
    }
    if (status == TAPER_OK) {
        status = taper_tensor_new(run->heap, work, rank, sizes, NULL, &made, run->error);
    }
    if (status == TAPER_OK) {
        status = taper_product_into(run, work_a, work_b, made);
    }
    taper_tensor_drop(work_a);
    taper_tensor_drop(work_b);
    if (status != TAPER_OK) {
        taper_tensor_drop(made);
        return status;
    }
    *result = made;
    return TAPER_OK;
}

// Fails with PyTorch's message for sizes that do not match.
static taper_status matmul_mismatch(taper_run *run, const taper_tensor *a, const taper_tensor *b)
{
    TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "matrices of sizes %s and %s cannot be multiplied", TAPER_SHAPE(a),
               TAPER_SHAPE(b));
}

taper_status taper_matmul_new(taper_run *run, taper_tensor *a, taper_tensor *b, taper_tensor **result)
{
    const size_t ra = a->rank, rb = b->rank;
    if (ra == 0 || rb == 0) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "both arguments to matmul need to be at least 1D, but they are %zuD and %zuD", ra, rb);
    }
    if (a->dtype != b->dtype) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "expected scalar type %s but found %s",
                   taper_dtype_torch_name((taper_dtype)a->dtype), taper_dtype_torch_name((taper_dtype)b->dtype));
    }
    // A vector on the left counts as a matrix of one row, and a vector on the right as a matrix of one column.
    int64_t sizes[TAPER_MAX_RANK + 2] = {0}, strides[TAPER_MAX_RANK + 2] = {0};
    const taper_tensor *left = a, *right = b;
    taper_tensor as_row, as_column, twins[2];
    if (ra == 1) {
        as_row = taper_tensor_twin(a, 2, (const int64_t[]){1, a->sizes[0]}, (const int64_t[]){0, a->strides[0]});
        left = &as_row;
    }
    if (rb == 1) {
        as_column = taper_tensor_twin(b, 2, (const int64_t[]){b->sizes[0], 1}, (const int64_t[]){b->strides[0], 0});
        right = &as_column;
    }
    if (left->sizes[left->rank - 1] != right->sizes[right->rank - 2]) {
        return matmul_mismatch(run, a, b);
    }
    const int64_t m = left->sizes[left->rank - 2], n = right->sizes[right->rank - 1];
    size_t batch;
    if (!taper_broadcast_shapes(left->rank - 2u, left->sizes, right->rank - 2u, right->sizes, &batch, sizes)) {
        return matmul_mismatch(run, a, b);
    }
    // A batch of rows times one matrix is a single product.
    int64_t rows = 1;
    const bool fold = right->rank == 2 && left->rank > 2 && taper_tensor_is_contiguous(left);
    const taper_tensor *factors[2] = {left, right};
    size_t rank = 2;
    if (fold) {
        for (size_t i = 0; i + 1 < left->rank; i++) {
            rows *= left->sizes[i];
        }
        const int64_t k = left->sizes[left->rank - 1];
        twins[0] = taper_tensor_twin(left, 2, (const int64_t[]){rows, k}, (const int64_t[]){k, 1});
        factors[0] = &twins[0];
    } else {
        rank = batch + 2;
        for (int side = 0; side < 2; side++) {
            const taper_tensor *from = factors[side];
            if (from->rank == rank) {
                continue;
            }
            int64_t full[TAPER_MAX_RANK + 2] = {0};
            for (size_t i = 0; i < rank; i++) {
                const bool there = i + from->rank >= rank;
                full[i] = there ? from->sizes[i + from->rank - rank] : 1;
                strides[i] = there ? from->strides[i + from->rank - rank] : 0;
            }
            twins[side] = taper_tensor_twin(from, rank, full, strides);
            factors[side] = &twins[side];
        }
    }
    int64_t folded[2] = {rows, n};
    sizes[batch] = m;
    sizes[batch + 1] = n;
    taper_tensor *made = NULL;
    TAPER_TRY(taper_tensor_check_sizes((taper_dtype)left->dtype, batch + 2, sizes, run->error));
    TAPER_TRY(taper_product_new(run, factors[0], factors[1], rank, fold ? folded : sizes, &made));
    // Removes the dimensions that were added for vectors. The result remains contiguous.
    size_t final = batch;
    if (ra > 1) {
        sizes[final++] = m;
    }
    if (rb > 1) {
        sizes[final++] = n;
    }
    made->rank = (uint8_t) final;
    memcpy(made->sizes, sizes, final * sizeof *sizes);
    taper_strides_contiguous(final, sizes, made->strides);
    if (ra == 2 && rb > 2 &&
        taper_tensor_numel(made) == 0) { // PyTorch computes the transposed product and keeps its memory order
        made->strides[final - 1] = taper_max_i64(m, 1);
        made->strides[final - 2] = 1;
    }
    *result = made;
    return TAPER_OK;
}
