// SPDX-License-Identifier: BSD-2-Clause
// Gradients of triangular and general systems, and of the factors of Cholesky, LU and QR decompositions. The formulas
// follow from the differential of the product of the factors, where each factor keeps its triangle.
#include "ops/gradient/steps_math.h"

static taper_step_value flag(bool value)
{
    return taper_step_bool(value);
}

// Solves A x = b, or x A = b, with a triangular A.
static taper_step_value solved(taper_steps *s, taper_step_value a, taper_step_value b, bool upper, bool left, bool unit)
{
    return TAPER_STEP(s, aten_linalg_solve_triangular, a, b, flag(upper), flag(left), flag(unit));
}

static taper_step_value lower(taper_steps *s, taper_step_value a, int64_t diagonal)
{
    return TAPER_STEP(s, aten_tril, a, taper_step_int(s, diagonal));
}

static taper_step_value upper(taper_steps *s, taper_step_value a, int64_t diagonal)
{
    return TAPER_STEP(s, aten_triu, a, taper_step_int(s, diagonal));
}

static taper_step_value sum_to(taper_steps *s, taper_step_value a, taper_step_value like)
{
    return TAPER_STEP(s, taper_sum_to, a, like);
}

// ---- Cholesky

TAPER_STEPS_KERNEL(taper_op_cholesky_gradient)
{
    const bool is_upper = taper_steps_bool(s, 2);
    const taper_step_value factor = is_upper ? taper_step_adjoint(s, &s->args[1]) : &s->args[1];
    const taper_step_value grad = is_upper ? taper_step_adjoint(s, &s->args[0]) : &s->args[0];
    const taper_step_value adjoint = taper_step_adjoint(s, factor);
    const taper_step_value product = taper_step_matmul(s, adjoint, grad);
    taper_step_value value = taper_step_add(s, lower(s, product, 0), taper_step_adjoint(s, lower(s, product, -1)));
    value = solved(s, adjoint, value, true, true, false);
    value = solved(s, factor, value, false, false, false);
    return taper_steps_ret(s, 0, taper_step_scale(s, value, 0.5));
}

// Returns the product of a factor with its adjoint. Only one triangle of the factor is used, but both triangles get a
// gradient, as in PyTorch.
static taper_step_value factored(taper_steps *s, taper_step_value factor, bool is_upper)
{
    const taper_step_value fixed = taper_step_detach(s, factor);
    const taper_step_value part = is_upper ? upper(s, fixed, 0) : lower(s, fixed, 0);
    const taper_step_value used = taper_step_add(s, part, taper_step_sub(s, factor, fixed));
    const taper_step_value adjoint = taper_step_adjoint(s, used);
    return is_upper ? taper_step_matmul(s, adjoint, used) : taper_step_matmul(s, used, adjoint);
}

TAPER_STEPS_KERNEL(taper_op_cholesky_inverse_steps)
{
    const bool is_upper = taper_steps_bool(s, 1);
    return taper_steps_ret(s, 0, TAPER_STEP(s, aten_linalg_inv, factored(s, &s->args[0], is_upper)));
}

TAPER_STEPS_KERNEL(taper_op_cholesky_solve_steps)
{
    const bool is_upper = taper_steps_bool(s, 2);
    return taper_steps_ret(s, 0, TAPER_STEP(s, aten_linalg_solve, factored(s, &s->args[1], is_upper), &s->args[0]));
}

// ---- triangular and general systems

TAPER_STEPS_KERNEL(taper_op_solve_triangular_gradients)
{
    const bool is_upper = taper_steps_bool(s, 4);
    const bool left = taper_steps_bool(s, 5);
    const bool unit = taper_steps_bool(s, 6);
    const taper_step_value of_b = solved(s, taper_step_adjoint(s, &s->args[1]), &s->args[0], !is_upper, left, unit);
    if (taper_step_mask(s, 7, 0)) {
        const taper_step_value x = taper_step_adjoint(s, &s->args[3]);
        const taper_step_value product =
            taper_step_neg(s, left ? taper_step_matmul(s, of_b, x) : taper_step_matmul(s, x, of_b));
        const taper_step_value part = is_upper ? upper(s, product, unit ? 1 : 0) : lower(s, product, unit ? -1 : 0);
        taper_steps_ret(s, 0, sum_to(s, part, &s->args[1]));
    }
    if (taper_step_mask(s, 7, 1)) {
        taper_steps_ret(s, 1, sum_to(s, of_b, &s->args[2]));
    }
    return s->status;
}

TAPER_STEPS_KERNEL(taper_op_triangular_solve_steps)
{
    const bool is_upper = taper_steps_bool(s, 2);
    const bool transposes = taper_steps_bool(s, 3);
    const bool unit = taper_steps_bool(s, 4);
    const taper_step_value a = transposes ? taper_step_transpose(s, &s->args[1], -2, -1) : &s->args[1];
    return taper_steps_ret(s, 0, solved(s, a, &s->args[0], is_upper != transposes, true, unit));
}

// Returns true if linalg.solve treats B as a batch of vectors.
static bool is_vector(const taper_tensor *a, const taper_tensor *b)
{
    bool same = b->rank + 1u == a->rank;
    for (size_t i = 0; same && i < b->rank && b->rank != 1; i++) {
        same = a->sizes[i] == b->sizes[i];
    }
    return b->rank == 1 || same;
}

TAPER_STEPS_KERNEL(taper_op_solve_gradients)
{
    const bool left = taper_steps_bool(s, 4);
    const bool vector = is_vector(s->args[1].as.tensor, s->args[2].as.tensor);
    const taper_step_value of_b =
        TAPER_STEP(s, aten_linalg_solve, taper_step_adjoint(s, &s->args[1]), &s->args[0], flag(left));
    if (taper_step_mask(s, 5, 0)) {
        const taper_step_value rows = vector ? taper_step_unsqueeze(s, of_b, -1) : of_b;
        const taper_step_value x =
            taper_step_adjoint(s, vector ? taper_step_unsqueeze(s, &s->args[3], -1) : &s->args[3]);
        const taper_step_value product = left || vector ? taper_step_matmul(s, rows, x) : taper_step_matmul(s, x, rows);
        taper_steps_ret(s, 0, sum_to(s, taper_step_neg(s, product), &s->args[1]));
    }
    if (taper_step_mask(s, 5, 1)) {
        taper_steps_ret(s, 1, sum_to(s, of_b, &s->args[2]));
    }
    return s->status;
}

// ---- LU

static int64_t rows_of(const taper_tensor *t)
{
    return t != NULL && t->rank >= 2 ? t->sizes[t->rank - 2] : 0;
}

static int64_t columns_of(const taper_tensor *t)
{
    return t != NULL && t->rank >= 1 ? t->sizes[t->rank - 1] : 0;
}

// Returns the gradient of P^T A for a square A = P L U.
static taper_step_value square_lu(taper_steps *s, taper_step_value grad_l, taper_step_value grad_u, taper_step_value l,
                                  taper_step_value u)
{
    const taper_step_value of_l = lower(s, taper_step_matmul(s, taper_step_adjoint(s, l), grad_l), -1);
    const taper_step_value of_u = upper(s, taper_step_matmul(s, grad_u, taper_step_adjoint(s, u)), 0);
    const taper_step_value value =
        solved(s, taper_step_adjoint(s, u), taper_step_add(s, of_l, of_u), false, false, false);
    return solved(s, taper_step_adjoint(s, l), value, true, true, true);
}

TAPER_STEPS_KERNEL(taper_op_lu_gradient)
{
    taper_step_value grad_l = &s->args[0], grad_u = &s->args[1];
    const taper_step_value p = &s->args[2], l = &s->args[3], u = &s->args[4];
    const int64_t m = rows_of(l->as.tensor), k = columns_of(l->as.tensor), n = columns_of(u->as.tensor);
    const bool pivots = columns_of(p->as.tensor) == m && taper_tensor_numel(p->as.tensor) != 0;
    taper_step_value value;
    if (n > k) { // the remaining columns of A follow from L
        const taper_step_value rest = taper_step_narrow(s, grad_u, -1, k, n - k),
                               u2 = taper_step_narrow(s, u, -1, k, n - k);
        const taper_step_value of_rest = solved(s, taper_step_adjoint(s, l), rest, true, true, true);
        grad_l = taper_step_sub(s, grad_l, taper_step_matmul(s, of_rest, taper_step_adjoint(s, u2)));
        value = square_lu(s, grad_l, taper_step_narrow(s, grad_u, -1, 0, k), l, taper_step_narrow(s, u, -1, 0, k));
        value =
            TAPER_STEP(s, aten_cat, taper_steps_list(s, (taper_step_value[]){value, of_rest}, 2), TAPER_STEP_INT(-1));
    } else if (m > k) { // the remaining rows of A follow from U
        const taper_step_value rest = taper_step_narrow(s, grad_l, -2, k, m - k),
                               l2 = taper_step_narrow(s, l, -2, k, m - k);
        const taper_step_value of_rest = solved(s, taper_step_adjoint(s, u), rest, false, false, false);
        grad_u = taper_step_sub(s, grad_u, taper_step_matmul(s, taper_step_adjoint(s, l2), of_rest));
        value = square_lu(s, taper_step_narrow(s, grad_l, -2, 0, k), grad_u, taper_step_narrow(s, l, -2, 0, k), u);
        value =
            TAPER_STEP(s, aten_cat, taper_steps_list(s, (taper_step_value[]){value, of_rest}, 2), TAPER_STEP_INT(-2));
    } else {
        value = square_lu(s, grad_l, grad_u, l, u);
    }
    return taper_steps_ret(s, 0, pivots ? taper_step_matmul(s, p, value) : value);
}

// Computes the gradient of A from the gradient of the matrix that contains both factors.
TAPER_STEPS_KERNEL(taper_op_lu_factor_gradient)
{
    const taper_tensor *const t = s->args[1].as.tensor;
    const int64_t m = rows_of(t), n = columns_of(t), k = taper_min_i64(m, n);
    taper_step_value parts[3];
    TAPER_STEP_ALL(s, aten_lu_unpack, parts, 3, &s->args[1], &s->args[2], flag(true), flag(true));
    const taper_step_value grad_l = taper_step_narrow(s, lower(s, &s->args[0], -1), -1, 0, k);
    const taper_step_value grad_u = taper_step_narrow(s, upper(s, &s->args[0], 0), -2, 0, k);
    return taper_steps_ret(s, 0, TAPER_STEP(s, taper_lu_gradient, grad_l, grad_u, parts[0], parts[1], parts[2]));
}

TAPER_STEPS_KERNEL(taper_op_lu_unpack_gradient)
{
    const taper_tensor *const t = s->args[2].as.tensor;
    const int64_t m = rows_of(t), n = columns_of(t), k = taper_min_i64(m, n);
    const int64_t wide[2] = {0, n - k}, tall[4] = {0, 0, 0, m - k};
    if (t->rank < 2) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_ARGUMENT, "lu_unpack expects matrices");
    }
    taper_step_value l = &s->args[0], u = &s->args[1];
    const bool empty = taper_tensor_numel(l->as.tensor) == 0 && taper_tensor_numel(t) != 0; // unpack_data was false
    if (empty) {
        return taper_steps_ret(s, 0, TAPER_STEP(s, aten_zeros_like, &s->args[2]));
    }
    l = TAPER_STEP(s, aten_constant_pad_nd, lower(s, l, -1), taper_steps_ints(s, wide, 2));
    u = TAPER_STEP(s, aten_constant_pad_nd, upper(s, u, 0), taper_steps_ints(s, tall, 4));
    return taper_steps_ret(s, 0, taper_step_add(s, l, u));
}

// Solves A X = B, A^H X = B or X A = B with the factors of A.
TAPER_STEPS_KERNEL(taper_op_lu_solve_steps)
{
    const bool left = taper_steps_bool(s, 3);
    const bool adjoint = taper_steps_bool(s, 4);
    taper_step_value parts[3];
    TAPER_STEP_ALL(s, aten_lu_unpack, parts, 3, &s->args[0], &s->args[1], flag(true), flag(true));
    const taper_step_value p = parts[0], l = parts[1], u = parts[2];
    taper_step_value x = left ? &s->args[2] : taper_step_adjoint(s, &s->args[2]);
    if (adjoint == left) { // the matrix of the system is A^H
        x = solved(s, taper_step_adjoint(s, u), x, false, true, false);
        x = solved(s, taper_step_adjoint(s, l), x, true, true, true);
        x = taper_step_matmul(s, p, x);
    } else {
        x = taper_step_matmul(s, taper_step_transpose(s, p, -2, -1), x);
        x = solved(s, l, x, false, true, true);
        x = solved(s, u, x, true, true, false);
    }
    return taper_steps_ret(s, 0, left ? x : taper_step_adjoint(s, x));
}

// ---- QR

// Returns the gradient of an A with at least as many rows as columns: [gQ + Q sym(triu(gR R^H - Q^H gQ))] R^-H, where
// sym completes a triangle to a Hermitian matrix.
static taper_step_value tall_qr(taper_steps *s, taper_step_value grad_q, taper_step_value grad_r, taper_step_value q,
                                taper_step_value r)
{
    const taper_step_value adjoint = taper_step_adjoint(s, r);
    taper_step_value inner = taper_step_sub(s, taper_step_matmul(s, grad_r, adjoint),
                                            taper_step_matmul(s, taper_step_adjoint(s, q), grad_q));
    inner = taper_step_add(s, upper(s, inner, 0), taper_step_adjoint(s, upper(s, inner, 1)));
    return solved(s, adjoint, taper_step_add(s, grad_q, taper_step_matmul(s, q, inner)), false, false, false);
}

TAPER_STEPS_KERNEL(taper_op_qr_gradient)
{
    const taper_tensor *const a = s->args[4].as.tensor, *const q_shape = s->args[2].as.tensor;
    const int64_t m = rows_of(a), n = columns_of(a);
    taper_step_value grad_q = &s->args[0], grad_r = &s->args[1];
    const taper_step_value q = &s->args[2], r = &s->args[3];
    if (columns_of(q_shape) != taper_min_i64(m, n)) {
        TAPER_FAIL(s->call->run->error, TAPER_ERROR_UNSUPPORTED,
                   "The QR decomposition is not differentiable when mode='complete' and nrows > ncols, or mode='r'");
    }
    if (m >= n) {
        return taper_steps_ret(s, 0, tall_qr(s, grad_q, grad_r, q, r));
    }
    // A = [X | Y], with X = Q R1 and R2 = Q^H Y.
    const taper_step_value y = taper_step_narrow(s, &s->args[4], -1, m, n - m),
                           grad_2 = taper_step_narrow(s, grad_r, -1, m, n - m);
    grad_q = taper_step_add(s, grad_q, taper_step_matmul(s, y, taper_step_adjoint(s, grad_2)));
    const taper_step_value of_x =
        tall_qr(s, grad_q, taper_step_narrow(s, grad_r, -1, 0, m), q, taper_step_narrow(s, r, -1, 0, m));
    const taper_step_value of_y = taper_step_matmul(s, q, grad_2);
    return taper_steps_ret(
        s, 0, TAPER_STEP(s, aten_cat, taper_steps_list(s, (taper_step_value[]){of_x, of_y}, 2), TAPER_STEP_INT(-1)));
}

TAPER_STEPS_KERNEL(taper_op_old_qr_steps)
{
    const bool some = taper_steps_bool(s, 1);
    taper_step_value found[2];
    const taper_step_value mode = taper_steps_string(s, some ? "reduced" : "complete");
    TAPER_STEP_ALL(s, aten_linalg_qr, found, 2, &s->args[0], mode);
    taper_steps_ret(s, 0, found[0]);
    return taper_steps_ret(s, 1, found[1]);
}

// ---- products of reflections

// Multiplies by the reflections I - tau v v^H, from the last to the first or in reverse order. Column i of `vectors`
// has the elements of v below its 1.
static taper_step_value reflected(taper_steps *s, taper_step_value vectors, taper_step_value taus,
                                  taper_step_value value, bool adjoint)
{
    const taper_tensor *const tau = taus->as.tensor;
    const int64_t count = columns_of(tau), m = rows_of(vectors->as.tensor);
    const size_t kept = s->count;
    for (int64_t i = 0; i < count && s->status == TAPER_OK; i++) {
        const int64_t at = adjoint ? i : count - 1 - i;
        taper_step_value v = taper_step_narrow(s, lower(s, vectors, -1), -1, at, 1);
        taper_step_value unit =
            TAPER_STEP(s, aten_zeros_like, taper_step_detach(s, taper_step_narrow(s, vectors, -1, at, 1)));
        unit = TAPER_STEP(s, aten_select_scatter, unit,
                          TAPER_STEP(s, aten_ones_like,
                                     TAPER_STEP(s, aten_select_int, unit, TAPER_STEP_INT(-2),
                                                taper_step_int(s, taper_min_i64(at, m - 1)))),
                          TAPER_STEP_INT(-2), taper_step_int(s, taper_min_i64(at, m - 1)));
        v = taper_step_add(s, v, unit);
        taper_step_value factor = taper_step_unsqueeze(s, taper_step_narrow(s, taus, -1, at, 1), -1);
        factor = adjoint ? taper_step_conj(s, factor) : factor;
        const taper_step_value along = taper_step_matmul(s, taper_step_adjoint(s, v), value);
        value = taper_step_sub(s, value, taper_step_mul(s, factor, taper_step_matmul(s, v, along)));
        taper_steps_carry(s, kept, &value, 1);
    }
    return value;
}

TAPER_STEPS_KERNEL(taper_op_householder_steps)
{
    const taper_tensor *const a = s->args[0].as.tensor;
    taper_step_value unit = TAPER_STEP(s, aten_eye_m, taper_step_int(s, rows_of(a)), taper_step_int(s, columns_of(a)),
                                       taper_step_int(s, a->dtype));
    unit = TAPER_STEP(s, aten_expand, unit, taper_steps_ints(s, a->sizes, a->rank));
    if (taper_tensor_numel(s->args[1].as.tensor) == 0) { // no reflection: the gradient is 0
        unit = taper_step_add(s, unit, taper_step_scale(s, TAPER_STEP(s, aten_sum, &s->args[1]), 0));
    }
    return taper_steps_ret(s, 0, reflected(s, &s->args[0], &s->args[1], unit, false));
}

TAPER_STEPS_KERNEL(taper_op_ormqr_steps)
{
    const bool left = taper_steps_bool(s, 3);
    const bool adjoint = taper_steps_bool(s, 4);
    taper_step_value value = left ? &s->args[2] : taper_step_adjoint(s, &s->args[2]);
    value = reflected(s, &s->args[0], &s->args[1], value, adjoint == left);
    return taper_steps_ret(s, 0, left ? value : taper_step_adjoint(s, value));
}

// ---- determinants

enum { MOST_SINGULAR = 16 }; // rows of a singular matrix for which the adjugate is computed

// Returns a tensor of bools: true for each matrix that is singular, or so nearly singular that its inverse is useless.
// *any is true if there is such a matrix. The determinant is compared with the product of the rows' lengths, which is
// its largest possible magnitude (Hadamard).
static taper_step_value singular(taper_steps *s, taper_step_value a, taper_step_value det, bool *any)
{
    const taper_tensor *const matrix = a->as.tensor;
    const bool is_double = matrix->dtype == TAPER_F64 || matrix->dtype == TAPER_C128;
    const taper_step_value last = TAPER_STEP_INT(-1), fixed = taper_step_detach(s, a);
    taper_step_value lengths =
        TAPER_STEP(s, aten_linalg_vector_norm, fixed, TAPER_STEP_INT(2), taper_steps_ints(s, (int64_t[]){-1}, 1));
    lengths = taper_step_scale(s, TAPER_STEP(s, aten_prod_dim_int, lengths, last), is_double ? 1e-13 : 1e-5);
    const taper_step_value size = TAPER_STEP(s, aten_abs, taper_step_detach(s, det)),
                           found = TAPER_STEP(s, aten_le_Tensor, size, lengths);
    const taper_tensor *const flags = taper_steps_tensor(s, TAPER_STEP(s, aten_any, found));
    *any = flags != NULL && *(const bool *)taper_tensor_data(flags);
    return taper_step_unsqueeze(s, taper_step_unsqueeze(s, found, -1), -1);
}

// Returns the adjugate of n × n matrices by the method of Faddeev and LeVerrier: sums of products, which have
// derivatives of all orders, also for singular matrices.
static taper_step_value adjugate(taper_steps *s, taper_step_value a, taper_step_value unit, int64_t n)
{
    taper_step_value m = unit;
    const size_t kept = s->count;
    for (int64_t k = 1; k < n; k++) {
        const taper_step_value product = taper_step_matmul(s, a, m);
        const taper_step_value diagonal =
            TAPER_STEP(s, aten_diagonal, product, TAPER_STEP_INT(0), TAPER_STEP_INT(-2), TAPER_STEP_INT(-1));
        const taper_step_value trace = taper_step_unsqueeze(s, taper_step_sum(s, diagonal, -1, true), -1);
        m = taper_step_sub(s, product, taper_step_mul(s, taper_step_scale(s, trace, 1.0 / (double)k), unit));
        taper_steps_carry(s, kept, &m, 1);
    }
    return n % 2 == 0 ? taper_step_neg(s, m) : m;
}

// Computes the gradient of a determinant. It is the adjoint of the adjugate: det(A) inv(A), unless A is singular.
TAPER_STEPS_KERNEL(taper_op_det_gradient)
{
    const taper_tensor *const matrix = s->args[1].as.tensor;
    const int64_t n = matrix->rank >= 2 ? matrix->sizes[matrix->rank - 1] : 0;
    taper_step_value a = &s->args[1], where_singular = taper_step_none, other = taper_step_none;
    bool any = false;
    if (n > 0 && n <= MOST_SINGULAR) {
        where_singular = singular(s, a, &s->args[2], &any);
    }
    if (any) {
        const taper_step_value unit = TAPER_STEP(s, aten_eye, taper_step_int(s, n), taper_step_int(s, matrix->dtype));
        other = adjugate(s, a, unit, n);
        a = taper_step_where(s, where_singular, unit, a);
    }
    const taper_step_value det = taper_step_unsqueeze(s, taper_step_unsqueeze(s, &s->args[2], -1), -1);
    taper_step_value value = taper_step_mul(s, det, TAPER_STEP(s, aten_linalg_inv, a));
    value = any ? taper_step_where(s, where_singular, other, value) : value;
    const taper_step_value grad = taper_step_unsqueeze(s, taper_step_unsqueeze(s, &s->args[0], -1), -1);
    return taper_steps_ret(s, 0, taper_step_mul(s, grad, taper_step_adjoint(s, value)));
}
