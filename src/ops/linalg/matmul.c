// SPDX-License-Identifier: BSD-2-Clause
// Operators that are one matrix product, some of them plus a tensor: mm, bmm, matmul, mv, dot, addmm and similar
// operators.
#include <math.h>

#include "base/half.h"
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/call/parallel.h"
#include "ops/engine/matmul.h"
#include "ops/kernels/kernel_select.h"
#include "ops/math/elementwise_ops.h"

static taper_status same_dtype(const taper_call *call, const taper_tensor *a, const taper_tensor *b)
{
    if (a->dtype != b->dtype) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "expected scalar type %s but found %s",
                   taper_dtype_torch_name((taper_dtype)a->dtype), taper_dtype_torch_name((taper_dtype)b->dtype));
    }
    return TAPER_OK;
}

// Reads two factors and checks that they have these ranks.
static taper_status factors(const taper_call *call, size_t at, size_t a_rank, size_t b_rank, taper_tensor **a,
                            taper_tensor **b)
{
    static const char *const kinds[] = {"a number", "a vector", "a matrix", "a 3D tensor"};
    TAPER_TRY(taper_arg_tensor(call, at, a));
    TAPER_TRY(taper_arg_tensor(call, at + 1, b));
    if ((*a)->rank != a_rank || (*b)->rank != b_rank) {
        const bool first = (*a)->rank != a_rank;
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%s must be %s, but its sizes are %s",
                   taper_arg_name(call, first ? at : at + 1), kinds[first ? a_rank : b_rank],
                   TAPER_SHAPE(first ? *a : *b));
    }
    TAPER_TRY(same_dtype(call, *a, *b));
    return taper_check_product_dtype(call, *a, taper_arg_name(call, at));
}

static taper_status matrix_factors(const taper_call *call, size_t at, taper_tensor **a, taper_tensor **b)
{
    TAPER_TRY(factors(call, at, 2, 2, a, b));
    if ((*a)->sizes[1] != (*b)->sizes[0]) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "mat1 and mat2 shapes cannot be multiplied (%lldx%lld and %lldx%lld)", (long long)(*a)->sizes[0],
                   (long long)(*a)->sizes[1], (long long)(*b)->sizes[0], (long long)(*b)->sizes[1]);
    }
    return TAPER_OK;
}

static taper_status batch_factors(const taper_call *call, size_t at, taper_tensor **a, taper_tensor **b)
{
    TAPER_TRY(factors(call, at, 3, 3, a, b));
    if ((*a)->sizes[0] != (*b)->sizes[0] || (*a)->sizes[2] != (*b)->sizes[1]) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "Expected size for first two dimensions of batch2 tensor to be: [%lld, %lld] but got: [%lld, %lld].",
                   (long long)(*a)->sizes[0], (long long)(*a)->sizes[2], (long long)(*b)->sizes[0],
                   (long long)(*b)->sizes[1]);
    }
    return TAPER_OK;
}

static taper_status vector_factors(const taper_call *call, size_t at, taper_tensor **a, taper_tensor **b)
{
    TAPER_TRY(factors(call, at, 2, 1, a, b));
    if ((*a)->sizes[1] != (*b)->sizes[0]) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "size mismatch, got %lld, %lldx%lld,%lld",
                   (long long)(*a)->sizes[0], (long long)(*a)->sizes[0], (long long)(*a)->sizes[1],
                   (long long)(*b)->sizes[0]);
    }
    return TAPER_OK;
}

// Computes the dot product of bfloat16 vectors. Rounds after each operation, as PyTorch does.
static taper_status ret_dot_bf16(taper_call *call, const taper_tensor *a, const taper_tensor *b)
{
    taper_tensor *sum;
    TAPER_TRY(taper_tensor_new(call->run->heap, TAPER_BF16, 0, NULL, NULL, &sum, call->run->error));
    const uint16_t *x = taper_tensor_data(a), *y = taper_tensor_data(b);
    float total = 0;
    for (int64_t i = 0; i < a->sizes[0] && taper_run_step(call->run, i, 10); i++) {
        const float product = taper_bf16_to_float(x[i * a->strides[0]]) * taper_bf16_to_float(y[i * b->strides[0]]);
        total = taper_bf16_to_float(taper_float_to_bf16(total + taper_bf16_to_float(taper_float_to_bf16(product))));
    }
    *(uint16_t *)taper_tensor_mutable(sum) = taper_float_to_bf16(total);
    return taper_ret_tensor(call, 0, sum);
}

static taper_status ret_matmul(taper_call *call, taper_tensor *a, taper_tensor *b)
{
    if (a->dtype == TAPER_BF16 && b->dtype == TAPER_BF16 && a->rank == 1 && b->rank == 1 &&
        a->sizes[0] == b->sizes[0]) {
        return ret_dot_bf16(call, a, b);
    }
    taper_tensor *product = NULL;
    TAPER_TRY(taper_matmul_new(call->run, a, b, &product));
    return taper_ret_cast(call, 0, product, (taper_dtype)a->dtype);
}

TAPER_KERNEL(taper_op_mm)
{
    taper_tensor *a, *b;
    TAPER_TRY(matrix_factors(call, 0, &a, &b));
    return ret_matmul(call, a, b);
}

TAPER_KERNEL(taper_op_bmm)
{
    taper_tensor *a, *b;
    TAPER_TRY(batch_factors(call, 0, &a, &b));
    return ret_matmul(call, a, b);
}

TAPER_KERNEL(taper_op_mv)
{
    taper_tensor *a, *b;
    TAPER_TRY(vector_factors(call, 0, &a, &b));
    return ret_matmul(call, a, b);
}

TAPER_KERNEL(taper_op_matmul)
{
    taper_tensor *a, *b;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    TAPER_TRY(taper_check_product_dtype(call, a, "self"));
    return ret_matmul(call, a, b);
}

TAPER_KERNEL(taper_op_dot)
{
    taper_tensor *a, *b;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    taper_error *error = call->run->error;
    if (a->rank != 1 || b->rank != 1) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "1D tensors expected, but got %uD and %uD tensors", a->rank, b->rank);
    }
    if (a->dtype != b->dtype) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "dot : expected both vectors to have same dtype, but found %s and %s",
                   taper_dtype_torch_name((taper_dtype)a->dtype), taper_dtype_torch_name((taper_dtype)b->dtype));
    }
    if (a->sizes[0] != b->sizes[0]) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "inconsistent tensor size, expected tensor [%lld] and src [%lld] to have the same number of "
                   "elements, but got "
                   "%lld and %lld elements respectively",
                   (long long)a->sizes[0], (long long)b->sizes[0], (long long)a->sizes[0], (long long)b->sizes[0]);
    }
    TAPER_TRY(taper_check_product_dtype(call, a, "self"));
    return ret_matmul(call, a, b);
}

// Returns the complex conjugate of a complex tensor as a new complex double tensor.
static taper_status conjugate(taper_run *run, const taper_tensor *tensor, taper_tensor **result)
{
    taper_tensor *made = NULL;
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_C128, tensor->rank, tensor->sizes, NULL, &made, run->error));
    const taper_status status = taper_run_copy(run, made, tensor);
    if (status != TAPER_OK) {
        taper_tensor_drop(made);
        return status;
    }
    double *data = taper_tensor_mutable(made);
    const int64_t count = taper_tensor_numel(made);
    for (int64_t i = 0; i < count; i++) {
        data[2 * i + 1] = -data[2 * i + 1];
    }
    *result = made;
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_vdot)
{
    taper_tensor *a, *b;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    if (!taper_dtype_is_complex((taper_dtype)a->dtype) || a->rank != 1 || b->rank != 1 || a->dtype != b->dtype ||
        a->sizes[0] != b->sizes[0]) {
        return taper_op_dot(call);
    }
    taper_tensor *turned = NULL, *wide = NULL, *product = NULL;
    taper_status status = conjugate(call->run, a, &turned);
    if (status == TAPER_OK) {
        status = taper_tensor_cast(call->run, b, TAPER_C128, &wide);
    }
    if (status == TAPER_OK) {
        status = taper_matmul_new(call->run, turned, wide, &product);
    }
    taper_tensor_drop(turned);
    taper_tensor_drop(wide);
    TAPER_TRY(status);
    return taper_ret_cast(call, 0, product, (taper_dtype)a->dtype);
}

// Sets result 0 to beta * self + alpha * product, in the dtype of self. Takes over the reference to product.
static taper_status ret_combined(taper_call *call, taper_tensor *product, taper_tensor *self, size_t beta_at)
{
    taper_scalar beta, alpha;
    taper_status status = taper_arg_scalar(call, beta_at, &beta);
    if (status == TAPER_OK) {
        status = taper_arg_scalar(call, beta_at + 1, &alpha);
    }
    for (int k = 0; k < 2 && status == TAPER_OK && taper_dtype_is_float((taper_dtype)self->dtype); k++) {
        status = taper_scalar_check((taper_dtype)self->dtype, k == 0 ? &beta : &alpha, call->run->error);
    }
    if (status == TAPER_OK) {
        status = taper_product_combine(call->run, product, self, beta, alpha);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(product);
        return status;
    }
    return taper_ret_cast(call, 0, product, (taper_dtype)self->dtype);
}

static taper_status check_addend(const taper_call *call, const taper_tensor *self, const taper_tensor *factor)
{
    if (self->dtype != factor->dtype) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "self and mat2 must have the same dtype, but got %s and %s",
                   taper_dtype_torch_name((taper_dtype)self->dtype),
                   taper_dtype_torch_name((taper_dtype)factor->dtype));
    }
    return TAPER_OK;
}

// Fails unless self expands to the sizes. PyTorch expands self even if beta is 0 and self is not read.
static taper_status check_expands(const taper_call *call, const taper_tensor *self, size_t rank, const int64_t *sizes)
{
    int64_t strides[TAPER_MAX_RANK];
    if (!taper_broadcast_strides(self, rank, sizes, strides)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "self of sizes %s does not expand to the result's sizes %s",
                   TAPER_SHAPE(self), taper_shape_print(rank, sizes).text);
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_addmm)
{
    taper_tensor *self, *a, *b, *product = NULL;
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    TAPER_TRY(matrix_factors(call, 1, &a, &b));
    TAPER_TRY(check_addend(call, self, a));
    TAPER_TRY(check_expands(call, self, 2, (const int64_t[]){a->sizes[0], b->sizes[1]}));
    TAPER_TRY(taper_matmul_new(call->run, a, b, &product));
    return ret_combined(call, product, self, 3);
}

TAPER_KERNEL(taper_op_addmm_activation)
{
    taper_tensor *self, *a, *b, *product = NULL;
    bool gelu;
    taper_scalar beta, alpha;
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    TAPER_TRY(matrix_factors(call, 1, &a, &b));
    TAPER_TRY(check_addend(call, self, a));
    TAPER_TRY(taper_arg_scalar(call, 3, &beta));
    TAPER_TRY(taper_arg_scalar(call, 4, &alpha));
    TAPER_TRY(taper_arg_bool(call, 5, &gelu));
    TAPER_TRY(taper_matmul_new(call->run, a, b, &product));
    const taper_status status = taper_product_combine(call->run, product, self, beta, alpha);
    if (status != TAPER_OK) {
        taper_tensor_drop(product);
        return status;
    }
    if (product->dtype != TAPER_F32 && product->dtype != TAPER_F64) {
        taper_tensor_drop(product);
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "self: not implemented for '%s'",
                   taper_dtype_torch_name((taper_dtype)self->dtype));
    }
    const int64_t count = taper_tensor_numel(product);
    for (int64_t i = 0; i < count; i++) {
        const double x = taper_load_double((taper_dtype)product->dtype, taper_tensor_data(product), i);
        const double y = gelu ? 0.5 * x * (1.0 + erf(x * 0.70710678118654752)) : (x < 0.0 ? 0.0 : x);
        if (product->dtype == TAPER_F32) {
            ((float *)taper_tensor_mutable(product))[i] = (float)y;
        } else {
            ((double *)taper_tensor_mutable(product))[i] = y;
        }
    }
    return taper_ret_cast(call, 0, product, (taper_dtype)self->dtype);
}

TAPER_KERNEL(taper_op_addmv)
{
    taper_tensor *self, *a, *b, *product = NULL;
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    TAPER_TRY(vector_factors(call, 1, &a, &b));
    TAPER_TRY(check_addend(call, self, a));
    TAPER_TRY(check_expands(call, self, 1, a->sizes));
    TAPER_TRY(taper_matmul_new(call->run, a, b, &product));
    return ret_combined(call, product, self, 3);
}

TAPER_KERNEL(taper_op_baddbmm)
{
    taper_tensor *self, *a, *b, *product = NULL;
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    TAPER_TRY(batch_factors(call, 1, &a, &b));
    TAPER_TRY(check_addend(call, self, a));
    TAPER_TRY(check_expands(call, self, 3, (const int64_t[]){a->sizes[0], a->sizes[1], b->sizes[2]}));
    TAPER_TRY(taper_matmul_new(call->run, a, b, &product));
    return ret_combined(call, product, self, 3);
}

TAPER_KERNEL(taper_op_addbmm)
{
    taper_tensor *self, *a, *b, *sum = NULL;
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    TAPER_TRY(batch_factors(call, 1, &a, &b));
    TAPER_TRY(check_addend(call, self, a));
    TAPER_TRY(check_expands(call, self, 2, (const int64_t[]){a->sizes[1], b->sizes[2]}));
    // The sum over the batch is a single product with a long sum: [b, m, k] as [m, b k] and [b, k, n] as [b k, n].
    taper_run *run = call->run;
    const taper_dtype work = taper_work_dtype((taper_dtype)a->dtype);
    taper_tensor *left = NULL, *right = NULL;
    taper_status status = taper_tensor_cast(run, a, work, &left);
    if (status == TAPER_OK) {
        status = taper_tensor_cast(run, b, work, &right);
    }
    if (status == TAPER_OK) {
        status = taper_run_zeros(run, work, 2, (const int64_t[]){a->sizes[1], b->sizes[2]}, &sum);
    }
    for (int64_t i = 0; status == TAPER_OK && i < a->sizes[0]; i++) {
        const int64_t item = (int64_t)taper_tensor_item(sum);
        const taper_gemm gemm = {.dtype = work,
                                 .m = a->sizes[1],
                                 .n = b->sizes[2],
                                 .k = a->sizes[2],
                                 .a = (const char *)taper_tensor_data(left) + i * taper_tensor_step(left, 0) * item,
                                 .a_row = left->strides[1],
                                 .a_column = left->strides[2],
                                 .b = (const char *)taper_tensor_data(right) + i * taper_tensor_step(right, 0) * item,
                                 .b_row = right->strides[1],
                                 .b_column = right->strides[2],
                                 .c = taper_tensor_mutable(sum),
                                 .c_row = sum->strides[0],
                                 .c_column = sum->strides[1],
                                 .add = true};
        status = taper_gemm_run(run, &gemm);
    }
    taper_tensor_drop(left);
    taper_tensor_drop(right);
    if (status != TAPER_OK) {
        taper_tensor_drop(sum);
        return status;
    }
    return ret_combined(call, sum, self, 3);
}

static taper_status outer_new(taper_call *call, size_t at, taper_dtype dtype, const taper_tensor *a, taper_tensor *b,
                              taper_tensor **product)
{
    if (a->rank != 1 || b->rank != 1) {
        const bool first = a->rank != 1;
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "outer: Expected 1-D argument %s, but got %u-D",
                   taper_arg_name(call, first ? at : at + 1), first ? a->rank : b->rank);
    }
    if (taper_dtype_is_quantized((taper_dtype)a->dtype) || taper_dtype_is_quantized((taper_dtype)b->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "outer: not implemented for quantized tensors");
    }
    taper_tensor column =
        taper_tensor_twin(a, 2, (const int64_t[]){a->sizes[0], 1}, (const int64_t[]){a->strides[0], 0});
    taper_tensor row = taper_tensor_twin(b, 2, (const int64_t[]){1, b->sizes[0]}, (const int64_t[]){0, b->strides[0]});
    taper_ew ew = taper_ew_make(&taper_ew_mul);
    ew.common = (int)taper_work_dtype(dtype);
    ew.layout = TAPER_EW_CONTIGUOUS;
    taper_ew_input_tensor(&ew, &column);
    taper_ew_input_tensor(&ew, &row);
    return taper_ew_compute(call, &ew, product);
}

TAPER_KERNEL(taper_op_outer)
{
    taper_tensor *a, *b, *product = NULL;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    const taper_dtype dtype = taper_promote((taper_dtype)a->dtype, (taper_dtype)b->dtype);
    TAPER_TRY(outer_new(call, 0, dtype, a, b, &product));
    return taper_ret_cast(call, 0, product, dtype);
}

#include "ops/linalg/matmul_outer.h"

TAPER_KERNEL(taper_op_addr)
{
    taper_tensor *self, *a, *b, *product = NULL;
    taper_scalar beta, alpha;
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    TAPER_TRY(taper_arg_tensor(call, 1, &a));
    TAPER_TRY(taper_arg_tensor(call, 2, &b));
    TAPER_TRY(taper_arg_scalar(call, 3, &beta));
    TAPER_TRY(taper_arg_scalar(call, 4, &alpha));
    const taper_dtype dtype =
        taper_promote((taper_dtype)self->dtype, taper_promote((taper_dtype)a->dtype, (taper_dtype)b->dtype));
    if ((taper_dtype_is_integral(dtype) || dtype == TAPER_BOOL) &&
        (beta.kind >= TAPER_SCALAR_DOUBLE || alpha.kind >= TAPER_SCALAR_DOUBLE)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "For integral input tensors, argument %s must not be a floating point number.",
                   beta.kind >= TAPER_SCALAR_DOUBLE ? "beta" : "alpha");
    }
    taper_status status = addr_floats(call, self, a, b, beta, alpha, &product);
    if (status != TAPER_DECLINED) {
        return status == TAPER_OK ? taper_ret_cast(call, 0, product, dtype) : status;
    }
    TAPER_TRY(outer_new(call, 1, dtype, a, b, &product));
    status = check_expands(call, self, 2, product->sizes);
    if (status == TAPER_OK) {
        status = taper_product_combine(call->run, product, self, beta, alpha);
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(product);
        return status;
    }
    return taper_ret_cast(call, 0, product, dtype);
}

TAPER_KERNEL(taper_op_inner)
{
    taper_tensor *a, *b, *product = NULL;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    if (a->rank == 0 || b->rank == 0) { // a tensor without dimensions is a factor
        taper_ew ew = taper_ew_make(&taper_ew_mul);
        taper_ew_input_tensor(&ew, a);
        taper_ew_input_tensor(&ew, b);
        return taper_ew_run(call, &ew);
    }
    TAPER_TRY(same_dtype(call, a, b));
    TAPER_TRY(taper_check_product_dtype(call, a, "self"));
    taper_run *run = call->run;
    int64_t sizes[2 * TAPER_MAX_RANK];
    const size_t ra = a->rank, rb = b->rank;
    if (ra == 1 && rb == 1 && a->dtype == TAPER_BF16 && a->sizes[0] == b->sizes[0]) {
        return ret_dot_bf16(call, a, b);
    }
    if (a->sizes[ra - 1] != b->sizes[rb - 1]) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "inner() the last dimension must match on both input tensors but got shapes %s and %s",
                   TAPER_SHAPE(a), TAPER_SHAPE(b));
    }
    if (ra + rb - 2 > TAPER_MAX_RANK) {
        TAPER_FAIL(run->error, TAPER_ERROR_UNSUPPORTED,
                   "the result would have %zu dimensions, at most %d are supported", ra + rb - 2, TAPER_MAX_RANK);
    }
    const int64_t k = a->sizes[ra - 1];
    int64_t m = 1, n = 1;
    for (size_t i = 0; i + 1 < ra; i++) {
        m *= a->sizes[i];
        sizes[i] = a->sizes[i];
    }
    for (size_t i = 0; i + 1 < rb; i++) {
        n *= b->sizes[i];
        sizes[ra - 1 + i] = b->sizes[i];
    }
    TAPER_TRY(taper_tensor_check_sizes((taper_dtype)a->dtype, ra + rb - 2, sizes, run->error));
    taper_tensor *left = NULL, *right = NULL;
    taper_status status = taper_run_contiguous(run, a, &left);
    if (status == TAPER_OK) {
        status = taper_run_contiguous(run, b, &right);
    }
    if (status == TAPER_OK) {
        const taper_tensor x = taper_tensor_twin(left, 2, (const int64_t[]){m, k}, (const int64_t[]){k, 1});
        const taper_tensor y = taper_tensor_twin(right, 2, (const int64_t[]){k, n}, (const int64_t[]){1, k});
        status = taper_product_new(run, &x, &y, 2, (const int64_t[]){m, n}, &product);
    }
    taper_tensor_drop(left);
    taper_tensor_drop(right);
    TAPER_TRY(status);
    product->rank = (uint8_t)(ra + rb - 2);
    memcpy(product->sizes, sizes, product->rank * sizeof *sizes);
    taper_strides_contiguous(product->rank, product->sizes, product->strides);
    return taper_ret_cast(call, 0, product, (taper_dtype)a->dtype);
}
