// SPDX-License-Identifier: BSD-2-Clause
// Gradients of eigenvalues, singular values, pseudoinverses, powers and exponentials of matrices, and of norms.
#include <math.h>

#include "ops/gradient/steps_math.h"

static int64_t rows_of(const taper_tensor *t)
{
    return t != NULL && t->rank >= 2 ? t->sizes[t->rank - 2] : 0;
}

static int64_t columns_of(const taper_tensor *t)
{
    return t != NULL && t->rank >= 1 ? t->sizes[t->rank - 1] : 0;
}

// Returns 1 / (v_j - v_i), and 0 for equal values: a gradient that needs their difference is not defined.
static taper_step_value gaps(taper_steps *s, taper_step_value values)
{
    const taper_step_value gap =
        taper_step_sub(s, taper_step_unsqueeze(s, values, -2), taper_step_unsqueeze(s, values, -1));
    const taper_step_value none = TAPER_STEP(s, aten_eq_Scalar, gap, TAPER_STEP_INT(0));
    const taper_step_value safe = TAPER_STEP(s, aten_masked_fill_Scalar, gap, none, TAPER_STEP_INT(1));
    return TAPER_STEP(s, aten_masked_fill_Scalar, TAPER_STEP(s, aten_reciprocal, safe), none, TAPER_STEP_INT(0));
}

static taper_step_value diagonal(taper_steps *s, taper_step_value values)
{
    return TAPER_STEP(s, aten_diag_embed, values);
}

TAPER_STEPS_KERNEL(taper_op_eigh_gradient)
{
    const taper_step_value v = &s->args[3];
    const taper_step_value adjoint = taper_step_adjoint(s, v);
    const taper_step_value turned = taper_step_matmul(s, adjoint, &s->args[1]);
    const taper_step_value skew = taper_step_scale(s, taper_step_sub(s, turned, taper_step_adjoint(s, turned)), 0.5);
    taper_step_value inner = taper_step_mul(s, skew, gaps(s, &s->args[2]));
    inner = taper_step_add(s, inner, diagonal(s, &s->args[0]));
    return taper_steps_ret(s, 0, taper_step_matmul(s, v, taper_step_matmul(s, inner, adjoint)));
}

// Solves a x + x a = m for x. `a` is Hermitian. If two eigenvalues of `a` add up to 0, x has infinities or NaN, as in
// PyTorch.
TAPER_STEPS_KERNEL(taper_op_lyapunov)
{
    taper_step_value found[2];
    TAPER_STEP_ALL(s, aten_linalg_eigh, found, 2, &s->args[0]);
    const taper_step_value adjoint = taper_step_adjoint(s, found[1]);
    const taper_step_value sums =
        taper_step_add(s, taper_step_unsqueeze(s, found[0], -2), taper_step_unsqueeze(s, found[0], -1));
    taper_step_value x = taper_step_matmul(s, adjoint, taper_step_matmul(s, &s->args[1], found[1]));
    x = taper_step_matmul(s, found[1], taper_step_matmul(s, taper_step_div(s, x, sums), adjoint));
    return taper_steps_ret(s, 0, x);
}

TAPER_STEPS_KERNEL(taper_op_symeig_steps)
{
    const bool vectors = taper_steps_bool(s, 1);
    const bool upper = taper_steps_bool(s, 2);
    taper_step_value found[2];
    const taper_step_value side = taper_steps_string(s, upper ? "U" : "L");
    TAPER_STEP_ALL(s, aten_linalg_eigh, found, 2, &s->args[0], side);
    if (!vectors) {
        found[1] =
            TAPER_STEP(s, aten_new_empty, taper_step_detach(s, &s->args[0]), taper_steps_ints(s, (int64_t[]){0}, 1));
    }
    taper_steps_ret(s, 0, found[0]);
    return taper_steps_ret(s, 1, found[1]);
}

// Returns the part of the gradient outside of the space of the columns of u, divided by the singular values.
static taper_step_value outside(taper_steps *s, taper_step_value grad, taper_step_value u, taper_step_value values)
{
    const taper_step_value scaled = taper_step_div(s, grad, taper_step_unsqueeze(s, values, -2));
    return taper_step_sub(s, scaled, taper_step_matmul(s, u, taper_step_matmul(s, taper_step_adjoint(s, u), scaled)));
}

TAPER_STEPS_KERNEL(taper_op_svd_gradient)
{
    const taper_step_value values = &s->args[4];
    const int64_t k = columns_of(values->as.tensor);
    const int64_t m = rows_of(s->args[3].as.tensor), n = columns_of(s->args[5].as.tensor);
    const taper_step_value u = taper_step_narrow(s, &s->args[3], -1, 0, k),
                           grad_u = taper_step_narrow(s, &s->args[0], -1, 0, k);
    const taper_step_value vh = taper_step_narrow(s, &s->args[5], -2, 0, k),
                           grad_vh = taper_step_narrow(s, &s->args[2], -2, 0, k);
    const taper_step_value v = taper_step_adjoint(s, vh), grad_v = taper_step_adjoint(s, grad_vh);
    const taper_step_value inverse = gaps(s, taper_step_mul(s, values, values));
    const taper_step_value by_u = taper_step_matmul(s, taper_step_adjoint(s, u), grad_u),
                           by_v = taper_step_matmul(s, vh, grad_v);
    const taper_step_value of_u = taper_step_mul(s, taper_step_sub(s, by_u, taper_step_adjoint(s, by_u)), inverse);
    const taper_step_value of_v = taper_step_mul(s, taper_step_sub(s, by_v, taper_step_adjoint(s, by_v)), inverse);
    taper_step_value inner = taper_step_add(s, taper_step_mul(s, of_u, taper_step_unsqueeze(s, values, -2)),
                                            taper_step_mul(s, taper_step_unsqueeze(s, values, -1), of_v));
    inner = taper_step_add(s, inner, diagonal(s, &s->args[1]));
    taper_step_value value = taper_step_matmul(s, u, taper_step_matmul(s, inner, vh));
    if (m > k) {
        value = taper_step_add(s, value, taper_step_matmul(s, outside(s, grad_u, u, values), vh));
    }
    if (n > k) {
        value = taper_step_add(s, value, taper_step_matmul(s, u, taper_step_adjoint(s, outside(s, grad_v, v, values))));
    }
    return taper_steps_ret(s, 0, value);
}

TAPER_STEPS_KERNEL(taper_op_old_svd_steps)
{
    const bool some = taper_steps_bool(s, 1);
    const bool vectors = taper_steps_bool(s, 2);
    taper_step_value found[3];
    TAPER_STEP_ALL(s, aten_linalg_svd, found, 3, &s->args[0], taper_step_bool(!some || !vectors));
    taper_step_value v = taper_step_adjoint(s, found[2]);
    if (!vectors) {
        found[0] = TAPER_STEP(s, aten_zeros_like, taper_step_detach(s, found[0]));
        v = TAPER_STEP(s, aten_zeros_like, taper_step_detach(s, v));
    }
    taper_steps_ret(s, 0, found[0]);
    taper_steps_ret(s, 1, found[1]);
    return taper_steps_ret(s, 2, v);
}

// ---- functions of matrices

// Computes the gradient of the matrix exponential: the upper right block of the exponential of [[A^H, G], [0, A^H]],
// where G is the given gradient.
TAPER_STEPS_KERNEL(taper_op_matrix_exp_gradient)
{
    const int64_t n = columns_of(s->args[1].as.tensor);
    const taper_step_value a = taper_step_adjoint(s, &s->args[1]), last = TAPER_STEP_INT(-1), rows = TAPER_STEP_INT(-2);
    const taper_step_value zeros = TAPER_STEP(s, aten_zeros_like, taper_step_detach(s, a));
    const taper_step_value top =
        TAPER_STEP(s, aten_cat, taper_steps_list(s, (taper_step_value[]){a, &s->args[0]}, 2), last);
    const taper_step_value bottom =
        TAPER_STEP(s, aten_cat, taper_steps_list(s, (taper_step_value[]){zeros, a}, 2), last);
    taper_step_value all = TAPER_STEP(s, aten_cat, taper_steps_list(s, (taper_step_value[]){top, bottom}, 2), rows);
    all = TAPER_STEP(s, aten_linalg_matrix_exp, all);
    return taper_steps_ret(s, 0, taper_step_narrow(s, taper_step_narrow(s, all, -2, 0, n), -1, n, n));
}

TAPER_STEPS_KERNEL(taper_op_matrix_power_steps)
{
    const int64_t n = taper_steps_int(s, 1);
    taper_step_value power = n < 0 ? TAPER_STEP(s, aten_linalg_inv, &s->args[0]) : &s->args[0],
                     result = taper_step_none;
    if (n == 0) {
        const taper_tensor *const a = s->args[0].as.tensor;
        const taper_step_value unit =
            TAPER_STEP(s, aten_eye, taper_step_int(s, columns_of(a)), taper_step_int(s, a->dtype));
        // The result does not depend on the argument, so the gradient is 0.
        result = taper_step_add(s, unit, taper_step_scale(s, &s->args[0], 0));
    }
    for (uint64_t bits = n < 0 ? 0 - (uint64_t)n : (uint64_t)n; bits != 0; bits >>= 1) {
        if ((bits & 1) != 0) {
            result = taper_step_is_tensor(result) ? taper_step_matmul(s, result, power) : power;
        }
        power = bits > 1 ? taper_step_matmul(s, power, power) : power;
    }
    return taper_steps_ret(s, 0, n == 1 ? TAPER_STEP(s, aten_clone, result) : result);
}

// Computes the gradient of pinv. With P the pseudoinverse and G the adjoint of its gradient, it is -(P G P)^H + (I - A
// P) G P P^H + P^H P G (I - P A), with the products in an order that suits the shape of A.
TAPER_STEPS_KERNEL(taper_op_pinv_gradient)
{
    const taper_step_value p = &s->args[1], a = &s->args[2];
    const taper_step_value grad = taper_step_adjoint(s, &s->args[0]), adjoint = taper_step_adjoint(s, p);
    taper_step_value value =
        taper_step_neg(s, taper_step_adjoint(s, taper_step_matmul(s, taper_step_matmul(s, p, grad), p)));
    const taper_step_value right = taper_step_matmul(s, taper_step_matmul(s, grad, p), adjoint);
    value = taper_step_add(s, value, taper_step_sub(s, right, taper_step_matmul(s, taper_step_matmul(s, a, p), right)));
    const taper_step_value left = taper_step_matmul(s, adjoint, taper_step_matmul(s, p, grad));
    value = taper_step_add(s, value, taper_step_sub(s, left, taper_step_matmul(s, taper_step_matmul(s, left, p), a)));
    return taper_steps_ret(s, 0, value);
}

TAPER_STEPS_KERNEL(taper_op_lstsq_steps)
{
    const taper_tensor *const a = s->args[0].as.tensor, *const b = s->args[1].as.tensor;
    const bool vector = b->rank + 1u == a->rank;
    taper_step_value results[4];
    TAPER_STEP_ALL(s, aten_linalg_lstsq, results, 4, taper_step_detach(s, &s->args[0]),
                   taper_step_detach(s, &s->args[1]), &s->args[2]);
    const taper_step_value inverse = TAPER_STEP(s, aten_linalg_pinv_atol_rtol_float, &s->args[0]);
    taper_step_value x = taper_step_matmul(s, inverse, vector ? taper_step_unsqueeze(s, &s->args[1], -1) : &s->args[1]);
    results[0] = vector ? TAPER_STEP(s, aten_squeeze_dim, x, TAPER_STEP_INT(-1)) : x;
    for (size_t i = 0; i < 4; i++) {
        taper_steps_ret(s, i, results[i]);
    }
    return s->status;
}

// ---- norms of vectors and matrices

enum { NUCLEAR = 'n', FROBENIUS = 'f', OF_NUMBER = 0 };

// Returns the norm of the matrices in two dimensions. The norm is given by a number (`order`) or by a name.
static taper_step_value matrix_norm(taper_steps *s, taper_step_value x, int name, double order, const int64_t *given,
                                    bool keep)
{
    const taper_tensor *const t = taper_steps_tensor(s, x);
    if (t == NULL) {
        return x;
    }
    const int64_t rank = t->rank;
    if (given[0] < -rank || given[0] >= rank || given[1] < -rank || given[1] >= rank ||
        (given[0] - given[1]) % rank == 0) {
        taper_steps_fail(s, taper_fail(s->call->run->error, TAPER_ERROR_ARGUMENT,
                                       "a norm of matrices needs two different dimensions of its tensor"));
        return x;
    }
    const int64_t dims[2] = {given[0] < 0 ? given[0] + rank : given[0], given[1] < 0 ? given[1] + rank : given[1]};
    const taper_step_value both = taper_steps_ints(s, dims, 2), kept = taper_step_bool(keep);
    if (name == FROBENIUS) {
        return TAPER_STEP(s, aten_linalg_vector_norm, x, TAPER_STEP_INT(2), both, kept);
    }
    const bool largest = order > 0;
    if (name == NUCLEAR || fabs(order) == 2) {
        const taper_step_value last = taper_steps_ints(s, (int64_t[]){-2, -1}, 2);
        taper_step_value values = TAPER_STEP(s, aten_movedim_intlist, x, both, last);
        values = TAPER_STEP(s, aten_linalg_svdvals, values);
        const taper_step_value end = taper_steps_ints(s, (int64_t[]){-1}, 1), no = taper_step_bool(false);
        taper_step_value found = name == NUCLEAR ? taper_step_sum(s, values, -1, false)
                                 : largest       ? TAPER_STEP(s, aten_amax, values, end, no)
                                                 : TAPER_STEP(s, aten_amin, values, end, no);
        if (keep) {
            found = taper_step_unsqueeze(s, found, taper_min_i64(dims[0], dims[1]));
            found = taper_step_unsqueeze(s, found, taper_max_i64(dims[0], dims[1]));
        }
        return found;
    }
    const bool rows = isinf(order); // true: sums of the rows; false: sums of the columns
    const int64_t summed = rows ? dims[1] : dims[0];
    int64_t rest = rows ? dims[0] : dims[1];
    rest -= !keep && rest > summed ? 1 : 0;
    const taper_step_value sums = taper_step_sum(s, TAPER_STEP(s, aten_abs, x), summed, keep),
                           left = taper_steps_ints(s, &rest, 1);
    return largest ? TAPER_STEP(s, aten_amax, sums, left, kept) : TAPER_STEP(s, aten_amin, sums, left, kept);
}

static taper_status read_dims(taper_steps *s, size_t at, int64_t *dims)
{
    size_t count;
    TAPER_TRY(taper_arg_ints(s->call, at, 0, 2, dims, &count));
    if (count != 2) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "a norm of matrices needs two dimensions");
    }
    return TAPER_OK;
}

static int name_of(const taper_string *name)
{
    return name->length != 0 && name->data[0] == NUCLEAR ? NUCLEAR : FROBENIUS;
}

TAPER_STEPS_KERNEL(taper_op_matrix_norm_steps)
{
    int64_t dims[2];
    const double order = taper_steps_double(s, 1);
    TAPER_TRY(read_dims(s, 2, dims));
    const bool keep = taper_steps_bool(s, 3);
    return taper_steps_ret(s, 0, matrix_norm(s, &s->args[0], OF_NUMBER, order, dims, keep));
}

TAPER_STEPS_KERNEL(taper_op_matrix_norm_named)
{
    int64_t dims[2];
    const taper_string *const name = s->args[1].as.string;
    TAPER_TRY(read_dims(s, 2, dims));
    const bool keep = taper_steps_bool(s, 3);
    return taper_steps_ret(s, 0, matrix_norm(s, &s->args[0], name_of(name), 0, dims, keep));
}

// Computes a norm of vectors, or of matrices if two dimensions and an order are given.
static taper_status any_norm(taper_steps *s, int name, bool has_order, double order)
{
    const taper_tensor *const self = s->args[0].as.tensor;
    int64_t dims[TAPER_MAX_RANK] = {-2, -1};
    size_t count = self->rank;
    const bool keep = taper_steps_bool(s, 3);
    if (!taper_steps_is_none(s, 2)) {
        TAPER_TRY(taper_arg_ints(s->call, 2, 0, TAPER_MAX_RANK, dims, &count));
    }
    taper_step_value x = &s->args[0];
    x = taper_steps_is_none(s, 4) ? x : TAPER_STEP(s, aten_to_dtype, x, &s->args[4]);
    const taper_step_value found =
        count == 2 && (has_order || name != OF_NUMBER)
            ? matrix_norm(s, x, name, order, dims, keep)
            : TAPER_STEP(s, aten_linalg_vector_norm, x, taper_step_double(s, has_order ? order : 2), &s->args[2],
                         &s->args[3]);
    return taper_steps_ret(s, 0, found);
}

TAPER_STEPS_KERNEL(taper_op_any_norm_steps)
{
    const double order = taper_steps_double_or(s, 1, 2);
    return any_norm(s, OF_NUMBER, !taper_steps_is_none(s, 1), order);
}

TAPER_STEPS_KERNEL(taper_op_any_norm_named)
{
    const taper_string *const name = s->args[1].as.string;
    return any_norm(s, name_of(name), false, 0);
}

static taper_status cond(taper_steps *s, int name, double order)
{
    const int64_t dims[2] = {-2, -1};
    taper_step_value found;
    if (name == OF_NUMBER && fabs(order) == 2) {
        const taper_step_value values = TAPER_STEP(s, aten_linalg_svdvals, &s->args[0]), last = TAPER_STEP_INT(-1);
        const taper_step_value most = TAPER_STEP(s, aten_select_int, values, last, TAPER_STEP_INT(0));
        const taper_step_value least = TAPER_STEP(s, aten_select_int, values, last, TAPER_STEP_INT(-1));
        found = order > 0 ? taper_step_div(s, most, least) : taper_step_div(s, least, most);
    } else {
        const taper_step_value inverse = TAPER_STEP(s, aten_linalg_inv, &s->args[0]);
        found = taper_step_mul(s, matrix_norm(s, &s->args[0], name, order, dims, false),
                               matrix_norm(s, inverse, name, order, dims, false));
    }
    return taper_steps_ret(s, 0, found);
}

TAPER_STEPS_KERNEL(taper_op_cond_steps)
{
    const double order = taper_steps_double_or(s, 1, 2);
    return cond(s, OF_NUMBER, order);
}

TAPER_STEPS_KERNEL(taper_op_cond_named)
{
    const taper_string *const name = s->args[1].as.string;
    return cond(s, name_of(name), 0);
}

// ---- tensors as matrices

TAPER_STEPS_KERNEL(taper_op_tensorsolve_steps)
{
    const taper_tensor *const other = s->args[1].as.tensor;
    taper_step_value a = &s->args[0];
    if (!taper_steps_is_none(s, 2)) { // the dimensions in argument 2 become the last dimensions
        int64_t dims[TAPER_MAX_RANK], last[TAPER_MAX_RANK];
        size_t count = 0;
        taper_steps_fail(s, taper_arg_ints(s->call, 2, 0, TAPER_MAX_RANK, dims, &count));
        for (size_t i = 0; i < count; i++) {
            last[i] = (int64_t)i - (int64_t)count;
        }
        a = TAPER_STEP(s, aten_movedim_intlist, a, taper_steps_ints(s, dims, count), taper_steps_ints(s, last, count));
    }
    const taper_tensor *const t = taper_steps_tensor(s, a);
    const int64_t all = taper_tensor_numel(other);
    taper_step_value x = TAPER_STEP(s, aten_linalg_solve, taper_step_reshape(s, a, (int64_t[]){all, all}, 2),
                                    taper_step_reshape(s, &s->args[1], &all, 1));
    if (t != NULL && t->rank >= other->rank) {
        x = taper_step_reshape(s, x, t->sizes + other->rank, t->rank - other->rank);
    }
    return taper_steps_ret(s, 0, x);
}

TAPER_STEPS_KERNEL(taper_op_tensorinv_steps)
{
    const taper_tensor *const self = s->args[0].as.tensor;
    int64_t first, sizes[TAPER_MAX_RANK], rows = 1;
    first = taper_steps_int(s, 1);
    if (first <= 0 || first >= self->rank) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "Expected a strictly positive integer for 'ind'");
    }
    for (int64_t i = 0; i < self->rank; i++) {
        rows = i < first ? taper_wrap_mul(rows, self->sizes[i]) : rows;
        sizes[i] = self->sizes[(i + first) % self->rank];
    }
    const int64_t columns = rows != 0 ? taper_tensor_numel(self) / rows : 0;
    const taper_step_value inverse =
        TAPER_STEP(s, aten_linalg_inv, taper_step_reshape(s, &s->args[0], (int64_t[]){rows, columns}, 2));
    return taper_steps_ret(s, 0, taper_step_reshape(s, inverse, sizes, self->rank));
}

TAPER_STEPS_KERNEL(taper_op_nuclear_steps)
{
    int64_t dims[2];
    TAPER_TRY(read_dims(s, 1, dims));
    const bool keep = taper_steps_bool(s, 2);
    return taper_steps_ret(s, 0, matrix_norm(s, &s->args[0], NUCLEAR, 0, dims, keep));
}
