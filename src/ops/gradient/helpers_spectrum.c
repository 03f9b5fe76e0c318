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
static taper_val gaps(taper_steps *s, taper_val values)
{
    const taper_val gap = taper_step_sub(s, taper_step_unsqueeze(s, values, -2), taper_step_unsqueeze(s, values, -1));
    const taper_val none = TAPER_STEP(s, aten_eq_Scalar, gap, taper_val_int(0));
    const taper_val safe = TAPER_STEP(s, aten_masked_fill_Scalar, gap, none, taper_val_int(1));
    return TAPER_STEP(s, aten_masked_fill_Scalar, TAPER_STEP(s, aten_reciprocal, safe), none, taper_val_int(0));
}

static taper_val diagonal(taper_steps *s, taper_val values)
{
    return TAPER_STEP(s, aten_diag_embed, values);
}

TAPER_STEPS_KERNEL(taper_op_eigh_gradient)
{
    taper_steps s;
    const taper_val v = call->args[3];
    taper_steps_begin(&s, call->run);
    const taper_val adjoint = taper_step_adjoint(&s, v);
    const taper_val turned = taper_step_matmul(&s, adjoint, call->args[1]);
    const taper_val skew = taper_step_scale(&s, taper_step_sub(&s, turned, taper_step_adjoint(&s, turned)), 0.5);
    taper_val inner = taper_step_mul(&s, skew, gaps(&s, call->args[2]));
    inner = taper_step_add(&s, inner, diagonal(&s, call->args[0]));
    taper_steps_ret(&s, call, 0, taper_step_matmul(&s, v, taper_step_matmul(&s, inner, adjoint)));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_symeig_steps)
{
    taper_steps s;
    bool vectors, upper;
    TAPER_TRY(taper_arg_bool(call, 1, &vectors));
    TAPER_TRY(taper_arg_bool(call, 2, &upper));
    taper_steps_begin(&s, call->run);
    taper_val found[2];
    const taper_val side = taper_steps_string(&s, upper ? "U" : "L");
    taper_steps_call_all(&s, TAPER_OP(aten_linalg_eigh), 2, (taper_val[]){call->args[0], side}, found, 2);
    if (!vectors) {
        found[1] = TAPER_STEP(&s, aten_new_empty, taper_step_detach(&s, call->args[0]),
                              taper_steps_ints(&s, (int64_t[]){0}, 1));
    }
    taper_steps_ret(&s, call, 0, found[0]);
    taper_steps_ret(&s, call, 1, found[1]);
    return taper_steps_end(&s);
}

// Returns the part of the gradient that is orthogonal to the columns of u, divided by the singular values.
static taper_val outside(taper_steps *s, taper_val grad, taper_val u, taper_val values)
{
    const taper_val scaled = taper_step_div(s, grad, taper_step_unsqueeze(s, values, -2));
    return taper_step_sub(s, scaled, taper_step_matmul(s, u, taper_step_matmul(s, taper_step_adjoint(s, u), scaled)));
}

TAPER_STEPS_KERNEL(taper_op_svd_gradient)
{
    taper_steps s;
    const taper_val values = call->args[4];
    const int64_t k = columns_of(values.as.tensor);
    taper_steps_begin(&s, call->run);
    const int64_t m = rows_of(call->args[3].as.tensor), n = columns_of(call->args[5].as.tensor);
    const taper_val u = taper_step_narrow(&s, call->args[3], -1, 0, k),
                    grad_u = taper_step_narrow(&s, call->args[0], -1, 0, k);
    const taper_val vh = taper_step_narrow(&s, call->args[5], -2, 0, k),
                    grad_vh = taper_step_narrow(&s, call->args[2], -2, 0, k);
    const taper_val v = taper_step_adjoint(&s, vh), grad_v = taper_step_adjoint(&s, grad_vh);
    const taper_val inverse = gaps(&s, taper_step_mul(&s, values, values));
    const taper_val by_u = taper_step_matmul(&s, taper_step_adjoint(&s, u), grad_u),
                    by_v = taper_step_matmul(&s, vh, grad_v);
    const taper_val of_u = taper_step_mul(&s, taper_step_sub(&s, by_u, taper_step_adjoint(&s, by_u)), inverse);
    const taper_val of_v = taper_step_mul(&s, taper_step_sub(&s, by_v, taper_step_adjoint(&s, by_v)), inverse);
    taper_val inner = taper_step_add(&s, taper_step_mul(&s, of_u, taper_step_unsqueeze(&s, values, -2)),
                                     taper_step_mul(&s, taper_step_unsqueeze(&s, values, -1), of_v));
    inner = taper_step_add(&s, inner, diagonal(&s, call->args[1]));
    taper_val value = taper_step_matmul(&s, u, taper_step_matmul(&s, inner, vh));
    if (m > k) {
        value = taper_step_add(&s, value, taper_step_matmul(&s, outside(&s, grad_u, u, values), vh));
    }
    if (n > k) {
        value =
            taper_step_add(&s, value, taper_step_matmul(&s, u, taper_step_adjoint(&s, outside(&s, grad_v, v, values))));
    }
    taper_steps_ret(&s, call, 0, value);
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_old_svd_steps)
{
    taper_steps s;
    bool some, vectors;
    TAPER_TRY(taper_arg_bool(call, 1, &some));
    TAPER_TRY(taper_arg_bool(call, 2, &vectors));
    taper_steps_begin(&s, call->run);
    taper_val found[3];
    taper_steps_call_all(&s, TAPER_OP(aten_linalg_svd), 2,
                         (taper_val[]){call->args[0], taper_val_bool(!some || !vectors)}, found, 3);
    taper_val v = taper_step_adjoint(&s, found[2]);
    if (!vectors) {
        found[0] = TAPER_STEP(&s, aten_zeros_like, taper_step_detach(&s, found[0]));
        v = TAPER_STEP(&s, aten_zeros_like, taper_step_detach(&s, v));
    }
    taper_steps_ret(&s, call, 0, found[0]);
    taper_steps_ret(&s, call, 1, found[1]);
    taper_steps_ret(&s, call, 2, v);
    return taper_steps_end(&s);
}

// ---- functions of matrices

// The exponential of [[A^H, G], [0, A^H]] has the gradient as its upper right block.
TAPER_STEPS_KERNEL(taper_op_matrix_exp_gradient)
{
    taper_steps s;
    const int64_t n = columns_of(call->args[1].as.tensor);
    taper_steps_begin(&s, call->run);
    const taper_val a = taper_step_adjoint(&s, call->args[1]), last = taper_val_int(-1), rows = taper_val_int(-2);
    const taper_val zeros = TAPER_STEP(&s, aten_zeros_like, taper_step_detach(&s, a));
    const taper_val top = TAPER_STEP(&s, aten_cat, taper_steps_list(&s, (taper_val[]){a, call->args[0]}, 2), last);
    const taper_val bottom = TAPER_STEP(&s, aten_cat, taper_steps_list(&s, (taper_val[]){zeros, a}, 2), last);
    taper_val all = TAPER_STEP(&s, aten_cat, taper_steps_list(&s, (taper_val[]){top, bottom}, 2), rows);
    all = TAPER_STEP(&s, aten_linalg_matrix_exp, all);
    taper_steps_ret(&s, call, 0, taper_step_narrow(&s, taper_step_narrow(&s, all, -2, 0, n), -1, n, n));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_matrix_power_steps)
{
    taper_steps s;
    int64_t n;
    TAPER_TRY(taper_arg_int(call, 1, &n));
    taper_steps_begin(&s, call->run);
    taper_val power = n < 0 ? TAPER_STEP(&s, aten_linalg_inv, call->args[0]) : call->args[0], result = taper_val_none();
    if (n == 0) {
        const taper_tensor *const a = call->args[0].as.tensor;
        const taper_val unit = TAPER_STEP(&s, aten_eye, taper_val_int(columns_of(a)), taper_val_int(a->dtype));
        // Adds 0 * A, so that A has the gradient 0
        result = taper_step_add(&s, unit, taper_step_scale(&s, call->args[0], 0));
    }
    for (uint64_t bits = n < 0 ? 0 - (uint64_t)n : (uint64_t)n; bits != 0; bits >>= 1) {
        if ((bits & 1) != 0) {
            result = taper_step_is_tensor(result) ? taper_step_matmul(&s, result, power) : power;
        }
        power = bits > 1 ? taper_step_matmul(&s, power, power) : power;
    }
    taper_steps_ret(&s, call, 0, n == 1 ? TAPER_STEP(&s, aten_clone, result) : result);
    return taper_steps_end(&s);
}

// With P the pseudoinverse and G the adjoint of its gradient: -(P G P)^H + (I - A P) G P P^H + P^H P G (I - P A), with
// the products in an order that suits the shape of A.
TAPER_STEPS_KERNEL(taper_op_pinv_gradient)
{
    taper_steps s;
    const taper_val p = call->args[1], a = call->args[2];
    taper_steps_begin(&s, call->run);
    const taper_val grad = taper_step_adjoint(&s, call->args[0]), adjoint = taper_step_adjoint(&s, p);
    taper_val value =
        taper_step_neg(&s, taper_step_adjoint(&s, taper_step_matmul(&s, taper_step_matmul(&s, p, grad), p)));
    const taper_val right = taper_step_matmul(&s, taper_step_matmul(&s, grad, p), adjoint);
    value =
        taper_step_add(&s, value, taper_step_sub(&s, right, taper_step_matmul(&s, taper_step_matmul(&s, a, p), right)));
    const taper_val left = taper_step_matmul(&s, adjoint, taper_step_matmul(&s, p, grad));
    value =
        taper_step_add(&s, value, taper_step_sub(&s, left, taper_step_matmul(&s, taper_step_matmul(&s, left, p), a)));
    taper_steps_ret(&s, call, 0, value);
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_lstsq_steps)
{
    taper_steps s;
    const taper_tensor *const a = call->args[0].as.tensor, *const b = call->args[1].as.tensor;
    const bool vector = b->rank + 1u == a->rank;
    taper_steps_begin(&s, call->run);
    taper_val results[4];
    taper_steps_call_all(
        &s, TAPER_OP(aten_linalg_lstsq), 3,
        (taper_val[]){taper_step_detach(&s, call->args[0]), taper_step_detach(&s, call->args[1]), call->args[2]},
        results, 4);
    const taper_val inverse = TAPER_STEP(&s, aten_linalg_pinv_atol_rtol_float, call->args[0]);
    taper_val x = taper_step_matmul(&s, inverse, vector ? taper_step_unsqueeze(&s, call->args[1], -1) : call->args[1]);
    results[0] = vector ? TAPER_STEP(&s, aten_squeeze_dim, x, taper_val_int(-1)) : x;
    for (size_t i = 0; i < 4; i++) {
        taper_steps_ret(&s, call, i, results[i]);
    }
    return taper_steps_end(&s);
}

// ---- norms

enum { NUCLEAR = 'n', FROBENIUS = 'f', OF_NUMBER = 0 };

// Returns the norm `order`, or the norm with this name, of the matrices in two dimensions.
static taper_val matrix_norm(taper_steps *s, taper_val x, int name, double order, const int64_t *given, bool keep)
{
    const taper_tensor *const t = taper_steps_tensor(s, x);
    if (t == NULL) {
        return x;
    }
    const int64_t rank = t->rank;
    if (given[0] < -rank || given[0] >= rank || given[1] < -rank || given[1] >= rank ||
        (given[0] - given[1]) % rank == 0) {
        taper_steps_fail(s, taper_fail(s->run->error, TAPER_ERROR_ARGUMENT,
                                       "a norm of matrices needs two different dimensions of its tensor"));
        return x;
    }
    const int64_t dims[2] = {given[0] < 0 ? given[0] + rank : given[0], given[1] < 0 ? given[1] + rank : given[1]};
    const taper_val both = taper_steps_ints(s, dims, 2), kept = taper_val_bool(keep);
    if (name == FROBENIUS) {
        return TAPER_STEP(s, aten_linalg_vector_norm, x, taper_val_int(2), both, kept);
    }
    const bool largest = order > 0;
    if (name == NUCLEAR || fabs(order) == 2) {
        const taper_val last = taper_steps_ints(s, (int64_t[]){-2, -1}, 2);
        taper_val values = TAPER_STEP(s, aten_movedim_intlist, x, both, last);
        values = TAPER_STEP(s, aten_linalg_svdvals, values);
        const taper_val end = taper_steps_ints(s, (int64_t[]){-1}, 1), no = taper_val_bool(false);
        taper_val found = name == NUCLEAR ? taper_step_sum(s, values, -1, false)
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
    const taper_val sums = taper_step_sum(s, TAPER_STEP(s, aten_abs, x), summed, keep),
                    left = taper_steps_ints(s, &rest, 1);
    return largest ? TAPER_STEP(s, aten_amax, sums, left, kept) : TAPER_STEP(s, aten_amin, sums, left, kept);
}

static taper_status read_dims(const taper_call *call, size_t at, int64_t *dims)
{
    size_t count;
    TAPER_TRY(taper_arg_ints(call, at, 0, 2, dims, &count));
    if (count != 2) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "a norm of matrices needs two dimensions");
    }
    return TAPER_OK;
}

static int name_of(const taper_string *name)
{
    return name->length != 0 && name->data[0] == NUCLEAR ? NUCLEAR : FROBENIUS;
}

TAPER_STEPS_KERNEL(taper_op_matrix_norm_steps)
{
    taper_steps s;
    double order;
    bool keep;
    int64_t dims[2];
    TAPER_TRY(taper_arg_double(call, 1, &order));
    TAPER_TRY(read_dims(call, 2, dims));
    TAPER_TRY(taper_arg_bool(call, 3, &keep));
    taper_steps_begin(&s, call->run);
    taper_steps_ret(&s, call, 0, matrix_norm(&s, call->args[0], OF_NUMBER, order, dims, keep));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_matrix_norm_named)
{
    taper_steps s;
    const taper_string *name;
    bool keep;
    int64_t dims[2];
    TAPER_TRY(taper_arg_string(call, 1, &name));
    TAPER_TRY(read_dims(call, 2, dims));
    TAPER_TRY(taper_arg_bool(call, 3, &keep));
    taper_steps_begin(&s, call->run);
    taper_steps_ret(&s, call, 0, matrix_norm(&s, call->args[0], name_of(name), 0, dims, keep));
    return taper_steps_end(&s);
}

// Computes a norm of vectors or matrices, over the given dimensions.
static taper_status any_norm(taper_call *call, int name, bool has_order, double order)
{
    taper_steps s;
    const taper_tensor *const self = call->args[0].as.tensor;
    bool keep;
    int64_t dims[TAPER_MAX_RANK] = {-2, -1};
    size_t count = self->rank;
    TAPER_TRY(taper_arg_bool(call, 3, &keep));
    if (!taper_arg_is_none(call, 2)) {
        TAPER_TRY(taper_arg_ints(call, 2, 0, TAPER_MAX_RANK, dims, &count));
    }
    taper_steps_begin(&s, call->run);
    taper_val x = call->args[0];
    x = taper_arg_is_none(call, 4) ? x : TAPER_STEP(&s, aten_to_dtype, x, call->args[4]);
    const taper_val found = count == 2 && (has_order || name != OF_NUMBER)
                                ? matrix_norm(&s, x, name, order, dims, keep)
                                : TAPER_STEP(&s, aten_linalg_vector_norm, x, taper_val_double(has_order ? order : 2),
                                             call->args[2], call->args[3]);
    taper_steps_ret(&s, call, 0, found);
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_any_norm_steps)
{
    double order;
    TAPER_TRY(taper_arg_double_or(call, 1, 2, &order));
    return any_norm(call, OF_NUMBER, !taper_arg_is_none(call, 1), order);
}

TAPER_STEPS_KERNEL(taper_op_any_norm_named)
{
    const taper_string *name;
    TAPER_TRY(taper_arg_string(call, 1, &name));
    return any_norm(call, name_of(name), false, 0);
}

static taper_status cond(taper_call *call, int name, double order)
{
    taper_steps s;
    const int64_t dims[2] = {-2, -1};
    taper_steps_begin(&s, call->run);
    taper_val found;
    if (name == OF_NUMBER && fabs(order) == 2) {
        const taper_val values = TAPER_STEP(&s, aten_linalg_svdvals, call->args[0]), last = taper_val_int(-1);
        const taper_val most = TAPER_STEP(&s, aten_select_int, values, last, taper_val_int(0));
        const taper_val least = TAPER_STEP(&s, aten_select_int, values, last, taper_val_int(-1));
        found = order > 0 ? taper_step_div(&s, most, least) : taper_step_div(&s, least, most);
    } else {
        const taper_val inverse = TAPER_STEP(&s, aten_linalg_inv, call->args[0]);
        found = taper_step_mul(&s, matrix_norm(&s, call->args[0], name, order, dims, false),
                               matrix_norm(&s, inverse, name, order, dims, false));
    }
    taper_steps_ret(&s, call, 0, found);
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_cond_steps)
{
    double order;
    TAPER_TRY(taper_arg_double_or(call, 1, 2, &order));
    return cond(call, OF_NUMBER, order);
}

TAPER_STEPS_KERNEL(taper_op_cond_named)
{
    const taper_string *name;
    TAPER_TRY(taper_arg_string(call, 1, &name));
    return cond(call, name_of(name), 0);
}

// ---- tensors as matrices

TAPER_STEPS_KERNEL(taper_op_tensorsolve_steps)
{
    taper_steps s;
    const taper_tensor *const other = call->args[1].as.tensor;
    taper_steps_begin(&s, call->run);
    taper_val a = call->args[0];
    if (!taper_arg_is_none(call, 2)) { // these dimensions become the last ones
        int64_t dims[TAPER_MAX_RANK], last[TAPER_MAX_RANK];
        size_t count = 0;
        taper_steps_fail(&s, taper_arg_ints(call, 2, 0, TAPER_MAX_RANK, dims, &count));
        for (size_t i = 0; i < count; i++) {
            last[i] = (int64_t)i - (int64_t)count;
        }
        a = TAPER_STEP(&s, aten_movedim_intlist, a, taper_steps_ints(&s, dims, count),
                       taper_steps_ints(&s, last, count));
    }
    const taper_tensor *const t = taper_steps_tensor(&s, a);
    const int64_t all = taper_tensor_numel(other);
    taper_val x = TAPER_STEP(&s, aten_linalg_solve, taper_step_reshape(&s, a, (int64_t[]){all, all}, 2),
                             taper_step_reshape(&s, call->args[1], &all, 1));
    if (t != NULL && t->rank >= other->rank) {
        x = taper_step_reshape(&s, x, t->sizes + other->rank, t->rank - other->rank);
    }
    taper_steps_ret(&s, call, 0, x);
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_tensorinv_steps)
{
    taper_steps s;
    const taper_tensor *const self = call->args[0].as.tensor;
    int64_t first, sizes[TAPER_MAX_RANK], rows = 1;
    TAPER_TRY(taper_arg_int(call, 1, &first));
    if (first <= 0 || first >= self->rank) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "Expected a strictly positive integer for 'ind'");
    }
    for (int64_t i = 0; i < self->rank; i++) {
        rows = i < first ? taper_wrap_mul(rows, self->sizes[i]) : rows;
        sizes[i] = self->sizes[(i + first) % self->rank];
    }
    const int64_t columns = rows != 0 ? taper_tensor_numel(self) / rows : 0;
    taper_steps_begin(&s, call->run);
    const taper_val inverse =
        TAPER_STEP(&s, aten_linalg_inv, taper_step_reshape(&s, call->args[0], (int64_t[]){rows, columns}, 2));
    taper_steps_ret(&s, call, 0, taper_step_reshape(&s, inverse, sizes, self->rank));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_nuclear_steps)
{
    taper_steps s;
    bool keep;
    int64_t dims[2];
    TAPER_TRY(read_dims(call, 1, dims));
    TAPER_TRY(taper_arg_bool(call, 2, &keep));
    taper_steps_begin(&s, call->run);
    taper_steps_ret(&s, call, 0, matrix_norm(&s, call->args[0], NUCLEAR, 0, dims, keep));
    return taper_steps_end(&s);
}
