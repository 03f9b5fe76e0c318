// SPDX-License-Identifier: BSD-2-Clause
// Operators of gradients of products: of matrices, linear layers, einsum and prod.
#include "ops/gradient/steps_math.h"

static taper_val shaped_like(taper_steps *s, taper_val value, const taper_tensor *like)
{
    const taper_tensor *const tensor = taper_steps_tensor(s, value);
    return tensor == NULL || tensor->rank == like->rank
               ? value
               : TAPER_STEP(s, aten_reshape, value, taper_steps_ints(s, like->sizes, like->rank));
}

static taper_val summed_to(taper_steps *s, taper_val value, taper_val like)
{
    return TAPER_STEP(s, taper_sum_to, value, like);
}

// Returns a matrix that contains all rows of a tensor with more dimensions.
static taper_val rows_of(taper_steps *s, taper_val value)
{
    const taper_tensor *const tensor = taper_steps_tensor(s, value);
    if (tensor == NULL || tensor->rank == 2) {
        return value;
    }
    const int64_t columns = tensor->rank != 0 ? tensor->sizes[tensor->rank - 1] : 1;
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < tensor->rank; i++) {
        rows = taper_wrap_mul(rows, tensor->sizes[i]);
    }
    return TAPER_STEP(s, aten_reshape, value, taper_steps_ints(s, (int64_t[]){rows, columns}, 2));
}

// The gradients of matmul. Vectors become matrices of one row or column.
TAPER_STEPS_KERNEL(taper_op_matmul_gradients)
{
    taper_steps s;
    const taper_tensor *const self = call->args[1].as.tensor, *const other = call->args[2].as.tensor;
    taper_steps_begin(&s, call->run);
    taper_val a = call->args[1], b = call->args[2], g = call->args[0];
    if (self->rank == 1) {
        a = TAPER_STEP(&s, aten_unsqueeze, a, taper_val_int(0));
        g = TAPER_STEP(&s, aten_unsqueeze, g, taper_val_int(other->rank == 1 ? -1 : -2));
    }
    if (other->rank == 1) {
        b = TAPER_STEP(&s, aten_unsqueeze, b, taper_val_int(-1));
        g = TAPER_STEP(&s, aten_unsqueeze, g, taper_val_int(-1));
    }
    if (taper_step_mask(call, 3, 0)) {
        const taper_val product = TAPER_STEP(&s, aten_matmul, g, taper_step_adjoint(&s, b));
        taper_steps_ret(&s, call, 0, shaped_like(&s, summed_to(&s, product, a), self));
    }
    if (taper_step_mask(call, 3, 1)) {
        const bool rows = other->rank <= 2; // all products share one matrix, so the batch dimensions become rows of one
                                            // product
        const taper_val left = rows ? rows_of(&s, a) : a, right = rows ? rows_of(&s, g) : g;
        const taper_val product = TAPER_STEP(&s, aten_matmul, taper_step_adjoint(&s, left), right);
        taper_steps_ret(&s, call, 1, shaped_like(&s, summed_to(&s, product, b), other));
    }
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_linear_gradients)
{
    taper_steps s;
    const taper_tensor *const input = call->args[1].as.tensor, *const weight = call->args[2].as.tensor;
    taper_steps_begin(&s, call->run);
    taper_val w = call->args[2], g = call->args[0];
    if (weight->rank == 1) {
        w = TAPER_STEP(&s, aten_unsqueeze, w, taper_val_int(0));
        g = TAPER_STEP(&s, aten_unsqueeze, g, taper_val_int(-1));
    }
    const taper_val rows = rows_of(&s, g);
    if (taper_step_mask(call, 3, 0)) {
        const taper_val product = TAPER_STEP(&s, aten_matmul, rows, taper_step_conj(&s, w));
        taper_steps_ret(&s, call, 0,
                        TAPER_STEP(&s, aten_reshape, product, taper_steps_ints(&s, input->sizes, input->rank)));
    }
    if (taper_step_mask(call, 3, 1)) {
        const taper_val product =
            TAPER_STEP(&s, aten_matmul, TAPER_STEP(&s, aten_t, rows), taper_step_conj(&s, rows_of(&s, call->args[1])));
        taper_steps_ret(&s, call, 1, shaped_like(&s, product, weight));
    }
    if (taper_step_mask(call, 3, 2)) {
        const taper_val sum = TAPER_STEP(&s, aten_sum_dim_IntList, rows, taper_steps_ints(&s, (int64_t[]){0}, 1));
        taper_steps_ret(&s, call, 2, weight->rank == 1 ? TAPER_STEP(&s, aten_sum, sum) : sum);
    }
    return taper_steps_end(&s);
}

// ---- products of elements

// Returns for each element the product of all elements before it along a dimension.
static taper_val products_before(taper_steps *s, taper_val self, int64_t dim)
{
    const taper_tensor *const tensor = taper_steps_tensor(s, self);
    const int64_t count = tensor != NULL ? tensor->sizes[dim] : 0;
    const taper_val d = taper_val_int(dim), zero = taper_val_int(0);
    const taper_val ones =
        TAPER_STEP(s, aten_ones_like, TAPER_STEP(s, aten_narrow, self, d, zero, taper_val_int(count != 0 ? 1 : 0)));
    const taper_val rest = TAPER_STEP(s, aten_narrow, self, d, zero, taper_val_int(count != 0 ? count - 1 : 0));
    const taper_val shifted = TAPER_STEP(s, aten_cat, taper_steps_list(s, (taper_val[]){ones, rest}, 2), d);
    return TAPER_STEP(s, aten_cumprod, shifted, d);
}

// The gradient of prod: for each element the product of the others, which stays right if elements are zero.
TAPER_STEPS_KERNEL(taper_op_prod_gradient)
{
    taper_steps s;
    bool keep;
    int64_t dim = 0;
    const taper_tensor *const like = call->args[1].as.tensor;
    const bool all = taper_arg_is_none(call, 3);
    TAPER_TRY(taper_arg_bool(call, 4, &keep));
    TAPER_TRY(all ? TAPER_OK : taper_arg_int(call, 3, &dim));
    taper_steps_begin(&s, call->run);
    taper_val self = call->args[1], grad = call->args[0];
    if (all || like->rank == 0) {
        self = TAPER_STEP(&s, aten_reshape, self, taper_steps_ints(&s, (int64_t[]){-1}, 1));
        grad = TAPER_STEP(&s, aten_reshape, grad, taper_steps_ints(&s, (int64_t[]){1}, 1));
        dim = 0;
    } else {
        taper_steps_fail(&s, taper_step_dim(call, &dim, like->rank));
        dim = s.status == TAPER_OK ? dim : 0;
        grad = keep ? grad : TAPER_STEP(&s, aten_unsqueeze, grad, taper_val_int(dim));
    }
    const taper_val dims = taper_steps_ints(&s, &dim, 1);
    const taper_val before = products_before(&s, self, dim);
    const taper_val after =
        TAPER_STEP(&s, aten_flip, products_before(&s, TAPER_STEP(&s, aten_flip, self, dims), dim), dims);
    const taper_val others = taper_step_conj(&s, TAPER_STEP(&s, aten_mul_Tensor, before, after));
    taper_val value = TAPER_STEP(&s, aten_mul_Tensor, grad, others);
    value = TAPER_STEP(&s, aten_reshape, value, taper_steps_ints(&s, like->sizes, like->rank));
    taper_steps_ret(&s, call, 0, summed_to(&s, value, call->args[1]));
    return taper_steps_end(&s);
}

// ---- powers and norms

// Returns exponent * self^(exponent - 1), which is 0 everywhere if the exponent is 0.
TAPER_STEPS_KERNEL(taper_op_pow_slope)
{
    taper_steps s;
    taper_scalar exponent;
    TAPER_TRY(taper_arg_scalar(call, 1, &exponent));
    taper_steps_begin(&s, call->run);
    taper_val value = call->args[0];
    if (exponent.f == 0) {
        value = TAPER_STEP(&s, aten_zeros_like, value);
    } else if (exponent.f == 2 && exponent.kind != TAPER_SCALAR_COMPLEX) {
        value = TAPER_STEP(&s, aten_mul_Scalar, value, taper_val_int(2));
    } else {
        const bool whole = exponent.kind == TAPER_SCALAR_INT;
        const taper_val less = whole ? taper_val_int(taper_wrap_sub(exponent.i, 1)) : taper_val_double(exponent.f - 1);
        value = TAPER_STEP(&s, aten_pow_Tensor_Scalar, value, less);
        value = TAPER_STEP(&s, aten_mul_Scalar, value, call->args[1]);
    }
    taper_steps_ret(&s, call, 0, value);
    return taper_steps_end(&s);
}

static taper_val zero_where_zero(taper_steps *s, taper_val value, taper_val norm)
{
    const taper_val zero = TAPER_STEP(s, aten_eq_Scalar, norm, taper_val_int(0));
    return TAPER_STEP(s, aten_masked_fill_Scalar, value, zero, taper_val_int(0));
}

// The gradient of a p-norm, 0 where the norm is 0. Formulas: norm_backward of PyTorch's FunctionsManual.cpp.
TAPER_STEPS_KERNEL(taper_op_norm_gradient)
{
    taper_steps s;
    bool keep;
    double p;
    const taper_val self = call->args[1];
    TAPER_TRY(taper_arg_double_or(call, 2, 2.0, &p));
    TAPER_TRY(taper_arg_bool(call, 5, &keep));
    taper_steps_begin(&s, call->run);
    const taper_val flat = taper_steps_keep(&s, taper_val_retain(call->args[4]));
    const taper_val grad = keep ? call->args[0] : TAPER_STEP(&s, taper_unsqueeze_like, call->args[0], self, flat);
    const taper_val norm = keep ? call->args[3] : TAPER_STEP(&s, taper_unsqueeze_like, call->args[3], self, flat);
    taper_val value;
    if (p == 0) {
        value = TAPER_STEP(&s, aten_zeros_like, self);
    } else if (p == 1) {
        value = TAPER_STEP(&s, aten_mul_Tensor, TAPER_STEP(&s, aten_sgn, self), grad);
    } else if (p == 2) {
        const taper_val scale = zero_where_zero(&s, TAPER_STEP(&s, aten_div_Tensor, grad, norm), norm);
        value = TAPER_STEP(&s, aten_mul_Tensor, self, scale);
    } else if (p > 1e300 || p < -1e300) {
        const taper_val size = TAPER_STEP(&s, aten_abs, self);
        value = TAPER_STEP(&s, taper_share_ties, grad, size, norm, flat, taper_val_bool(true));
        value = TAPER_STEP(&s, aten_mul_Tensor, value, TAPER_STEP(&s, aten_sgn, self));
    } else {
        const taper_val size = TAPER_STEP(&s, aten_abs, self);
        taper_val factor = TAPER_STEP(&s, aten_pow_Tensor_Scalar, size, taper_val_double(p - 1));
        factor = p < 1 ? zero_where_zero(&s, factor, self) : factor;
        factor = TAPER_STEP(&s, aten_mul_Tensor, factor, TAPER_STEP(&s, aten_sgn, self));
        taper_val scale = TAPER_STEP(&s, aten_pow_Tensor_Scalar, norm, taper_val_double(p - 1));
        scale = zero_where_zero(&s, TAPER_STEP(&s, aten_div_Tensor, grad, scale), norm);
        value = TAPER_STEP(&s, aten_mul_Tensor, factor, scale);
    }
    taper_steps_ret(&s, call, 0, value);
    return taper_steps_end(&s);
}
