// SPDX-License-Identifier: BSD-2-Clause
// Operators of gradients of products: of matrices, linear layers, einsum and prod.
#include "ops/gradient/steps_math.h"

static taper_step_value shaped_like(taper_steps *s, taper_step_value value, const taper_tensor *like)
{
    const taper_tensor *const tensor = taper_steps_tensor(s, value);
    return tensor == NULL || tensor->rank == like->rank
               ? value
               : TAPER_STEP(s, aten_reshape, value, taper_steps_ints(s, like->sizes, like->rank));
}

static taper_step_value summed_to(taper_steps *s, taper_step_value value, taper_step_value like)
{
    return TAPER_STEP(s, taper_sum_to, value, like);
}

// Makes a matrix of all rows of a tensor of more dimensions.
static taper_step_value rows_of(taper_steps *s, taper_step_value value)
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

// Computes the gradients of matmul. Vectors become matrices of one row or column.
TAPER_STEPS_KERNEL(taper_op_matmul_gradients)
{
    const taper_tensor *const self = s->args[1].as.tensor, *const other = s->args[2].as.tensor;
    taper_step_value a = &s->args[1], b = &s->args[2], g = &s->args[0];
    if (self->rank == 1) {
        a = taper_step_unsqueeze(s, a, 0);
        g = taper_step_unsqueeze(s, g, other->rank == 1 ? -1 : -2);
    }
    if (other->rank == 1) {
        b = taper_step_unsqueeze(s, b, -1);
        g = taper_step_unsqueeze(s, g, -1);
    }
    if (taper_step_mask(s, 3, 0)) {
        const taper_step_value product = TAPER_STEP(s, aten_matmul, g, taper_step_adjoint(s, b));
        taper_steps_ret(s, 0, shaped_like(s, summed_to(s, product, a), self));
    }
    if (taper_step_mask(s, 3, 1)) {
        // If all products share one matrix, the batch becomes rows of a single product.
        const bool rows = other->rank <= 2;
        const taper_step_value left = rows ? rows_of(s, a) : a, right = rows ? rows_of(s, g) : g;
        const taper_step_value product = TAPER_STEP(s, aten_matmul, taper_step_adjoint(s, left), right);
        taper_steps_ret(s, 1, shaped_like(s, summed_to(s, product, b), other));
    }
    return s->status;
}

TAPER_STEPS_KERNEL(taper_op_linear_gradients)
{
    const taper_tensor *const input = s->args[1].as.tensor, *const weight = s->args[2].as.tensor;
    taper_step_value w = &s->args[2], g = &s->args[0];
    if (weight->rank == 1) {
        w = taper_step_unsqueeze(s, w, 0);
        g = taper_step_unsqueeze(s, g, -1);
    }
    const taper_step_value rows = rows_of(s, g);
    if (taper_step_mask(s, 3, 0)) {
        const taper_step_value product = TAPER_STEP(s, aten_matmul, rows, taper_step_conj(s, w));
        taper_steps_ret(s, 0, TAPER_STEP(s, aten_reshape, product, taper_steps_ints(s, input->sizes, input->rank)));
    }
    if (taper_step_mask(s, 3, 1)) {
        const taper_step_value product =
            TAPER_STEP(s, aten_matmul, TAPER_STEP(s, aten_t, rows), taper_step_conj(s, rows_of(s, &s->args[1])));
        taper_steps_ret(s, 1, shaped_like(s, product, weight));
    }
    if (taper_step_mask(s, 3, 2)) {
        const taper_step_value sum = TAPER_STEP(s, aten_sum_dim_IntList, rows, taper_steps_ints(s, (int64_t[]){0}, 1));
        taper_steps_ret(s, 2, weight->rank == 1 ? TAPER_STEP(s, aten_sum, sum) : sum);
    }
    return s->status;
}

// ---- products of elements

// Returns for each element the product of all elements before it along a dimension.
static taper_step_value products_before(taper_steps *s, taper_step_value self, int64_t dim)
{
    const taper_tensor *const tensor = taper_steps_tensor(s, self);
    const int64_t count = tensor != NULL ? tensor->sizes[dim] : 0;
    const taper_step_value d = taper_step_int(s, dim), zero = TAPER_STEP_INT(0);
    const taper_step_value ones =
        TAPER_STEP(s, aten_ones_like, TAPER_STEP(s, aten_narrow, self, d, zero, taper_step_int(s, count != 0 ? 1 : 0)));
    const taper_step_value rest =
        TAPER_STEP(s, aten_narrow, self, d, zero, taper_step_int(s, count != 0 ? count - 1 : 0));
    const taper_step_value shifted =
        TAPER_STEP(s, aten_cat, taper_steps_list(s, (taper_step_value[]){ones, rest}, 2), d);
    return TAPER_STEP(s, aten_cumprod, shifted, d);
}

// Computes the gradient of prod: for each element the product of the other elements, which stays correct if elements
// are zero.
TAPER_STEPS_KERNEL(taper_op_prod_gradient)
{
    int64_t dim = taper_steps_int_or(s, 3, 0);
    const taper_tensor *const like = s->args[1].as.tensor;
    const bool all = taper_steps_is_none(s, 3);
    const bool keep = taper_steps_bool(s, 4);
    taper_step_value self = &s->args[1], grad = &s->args[0];
    if (all || like->rank == 0) {
        self = TAPER_STEP(s, aten_reshape, self, taper_steps_ints(s, (int64_t[]){-1}, 1));
        grad = TAPER_STEP(s, aten_reshape, grad, taper_steps_ints(s, (int64_t[]){1}, 1));
        dim = 0;
    } else {
        taper_steps_fail(s, taper_step_dim(s, &dim, like->rank));
        dim = s->status == TAPER_OK ? dim : 0;
        grad = keep ? grad : taper_step_unsqueeze(s, grad, dim);
    }
    const taper_step_value dims = taper_steps_ints(s, &dim, 1);
    const taper_step_value before = products_before(s, self, dim);
    const taper_step_value after =
        TAPER_STEP(s, aten_flip, products_before(s, TAPER_STEP(s, aten_flip, self, dims), dim), dims);
    const taper_step_value others = taper_step_conj(s, TAPER_STEP(s, aten_mul_Tensor, before, after));
    taper_step_value value = TAPER_STEP(s, aten_mul_Tensor, grad, others);
    value = TAPER_STEP(s, aten_reshape, value, taper_steps_ints(s, like->sizes, like->rank));
    return taper_steps_ret(s, 0, summed_to(s, value, &s->args[1]));
}

// ---- powers and norms

// Returns exponent * self^(exponent - 1), which is 0 everywhere if the exponent is 0.
TAPER_STEPS_KERNEL(taper_op_pow_slope)
{
    taper_scalar exponent;
    TAPER_TRY(taper_arg_scalar(s->call, 1, &exponent));
    taper_step_value value = &s->args[0];
    if (exponent.f == 0) {
        value = TAPER_STEP(s, aten_zeros_like, value);
    } else if (exponent.f == 2 && exponent.kind != TAPER_SCALAR_COMPLEX) {
        value = TAPER_STEP(s, aten_mul_Scalar, value, TAPER_STEP_INT(2));
    } else {
        const bool whole = exponent.kind == TAPER_SCALAR_INT;
        const taper_step_value less =
            whole ? taper_step_int(s, taper_wrap_sub(exponent.i, 1)) : taper_step_double(s, exponent.f - 1);
        value = TAPER_STEP(s, aten_pow_Tensor_Scalar, value, less);
        value = TAPER_STEP(s, aten_mul_Scalar, value, &s->args[1]);
    }
    return taper_steps_ret(s, 0, value);
}

static taper_step_value zero_where_zero(taper_steps *s, taper_step_value value, taper_step_value norm)
{
    const taper_step_value zero = TAPER_STEP(s, aten_eq_Scalar, norm, TAPER_STEP_INT(0));
    return TAPER_STEP(s, aten_masked_fill_Scalar, value, zero, TAPER_STEP_INT(0));
}

// Computes the gradient of a p-norm, which is 0 where the norm is 0. Formulas: norm_backward of PyTorch's
// FunctionsManual.cpp.
TAPER_STEPS_KERNEL(taper_op_norm_gradient)
{
    const taper_step_value self = &s->args[1];
    const double p = taper_steps_double_or(s, 2, 2.0);
    const bool keep = taper_steps_bool(s, 5);
    const taper_step_value flat = taper_steps_keep(s, taper_val_retain(s->args[4]));
    const taper_step_value grad = keep ? &s->args[0] : TAPER_STEP(s, taper_unsqueeze_like, &s->args[0], self, flat);
    const taper_step_value norm = keep ? &s->args[3] : TAPER_STEP(s, taper_unsqueeze_like, &s->args[3], self, flat);
    taper_step_value value;
    if (p == 0) {
        value = TAPER_STEP(s, aten_zeros_like, self);
    } else if (p == 1) {
        value = TAPER_STEP(s, aten_mul_Tensor, TAPER_STEP(s, aten_sgn, self), grad);
    } else if (p == 2) {
        const taper_step_value scale = zero_where_zero(s, TAPER_STEP(s, aten_div_Tensor, grad, norm), norm);
        value = TAPER_STEP(s, aten_mul_Tensor, self, scale);
    } else if (p > 1e300 || p < -1e300) {
        const taper_step_value size = TAPER_STEP(s, aten_abs, self);
        value = TAPER_STEP(s, taper_share_ties, grad, size, norm, flat, taper_step_bool(true));
        value = TAPER_STEP(s, aten_mul_Tensor, value, TAPER_STEP(s, aten_sgn, self));
    } else {
        const taper_step_value size = TAPER_STEP(s, aten_abs, self);
        taper_step_value factor = TAPER_STEP(s, aten_pow_Tensor_Scalar, size, taper_step_double(s, p - 1));
        factor = p < 1 ? zero_where_zero(s, factor, self) : factor;
        factor = TAPER_STEP(s, aten_mul_Tensor, factor, TAPER_STEP(s, aten_sgn, self));
        taper_step_value scale = TAPER_STEP(s, aten_pow_Tensor_Scalar, norm, taper_step_double(s, p - 1));
        scale = zero_where_zero(s, TAPER_STEP(s, aten_div_Tensor, grad, scale), norm);
        value = TAPER_STEP(s, aten_mul_Tensor, factor, scale);
    }
    return taper_steps_ret(s, 0, value);
}
