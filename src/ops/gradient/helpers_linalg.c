// SPDX-License-Identifier: BSD-2-Clause
// Gradients of triangular and general systems, and of the factors of Cholesky, LU and QR decompositions. The formulas
// follow from the differential of the product of the factors, where each factor keeps its triangle.
#include "ops/gradient/steps_math.h"

static taper_val flag(bool value)
{
    return taper_val_bool(value);
}

// Solves A x = b, or x A = b, with a triangular A.
static taper_val solved(taper_steps *s, taper_val a, taper_val b, bool upper, bool left, bool unit)
{
    return TAPER_STEP(s, aten_linalg_solve_triangular, a, b, flag(upper), flag(left), flag(unit));
}

static taper_val lower(taper_steps *s, taper_val a, int64_t diagonal)
{
    return TAPER_STEP(s, aten_tril, a, taper_val_int(diagonal));
}

static taper_val upper(taper_steps *s, taper_val a, int64_t diagonal)
{
    return TAPER_STEP(s, aten_triu, a, taper_val_int(diagonal));
}

static taper_val sum_to(taper_steps *s, taper_val a, taper_val like)
{
    return TAPER_STEP(s, taper_sum_to, a, like);
}

// ---- Cholesky

TAPER_STEPS_KERNEL(taper_op_cholesky_gradient)
{
    taper_steps s;
    bool is_upper;
    TAPER_TRY(taper_arg_bool(call, 2, &is_upper));
    taper_steps_begin(&s, call->run);
    const taper_val factor = is_upper ? taper_step_adjoint(&s, call->args[1]) : call->args[1];
    const taper_val grad = is_upper ? taper_step_adjoint(&s, call->args[0]) : call->args[0];
    const taper_val adjoint = taper_step_adjoint(&s, factor);
    const taper_val product = taper_step_matmul(&s, adjoint, grad);
    taper_val value = taper_step_add(&s, lower(&s, product, 0), taper_step_adjoint(&s, lower(&s, product, -1)));
    value = solved(&s, adjoint, value, true, true, false);
    value = solved(&s, factor, value, false, false, false);
    taper_steps_ret(&s, call, 0, taper_step_scale(&s, value, 0.5));
    return taper_steps_end(&s);
}

// Returns the product of a factor with its adjoint. Only one triangle of the factor is used, but both triangles get a
// gradient, as in PyTorch.
static taper_val factored(taper_steps *s, taper_val factor, bool is_upper)
{
    const taper_val fixed = taper_step_detach(s, factor);
    const taper_val part = is_upper ? upper(s, fixed, 0) : lower(s, fixed, 0);
    const taper_val used = taper_step_add(s, part, taper_step_sub(s, factor, fixed));
    const taper_val adjoint = taper_step_adjoint(s, used);
    return is_upper ? taper_step_matmul(s, adjoint, used) : taper_step_matmul(s, used, adjoint);
}

TAPER_STEPS_KERNEL(taper_op_cholesky_inverse_steps)
{
    taper_steps s;
    bool is_upper;
    TAPER_TRY(taper_arg_bool(call, 1, &is_upper));
    taper_steps_begin(&s, call->run);
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_linalg_inv, factored(&s, call->args[0], is_upper)));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_cholesky_solve_steps)
{
    taper_steps s;
    bool is_upper;
    TAPER_TRY(taper_arg_bool(call, 2, &is_upper));
    taper_steps_begin(&s, call->run);
    taper_steps_ret(&s, call, 0,
                    TAPER_STEP(&s, aten_linalg_solve, factored(&s, call->args[1], is_upper), call->args[0]));
    return taper_steps_end(&s);
}

// ---- systems

TAPER_STEPS_KERNEL(taper_op_solve_triangular_gradients)
{
    taper_steps s;
    bool is_upper, left, unit;
    TAPER_TRY(taper_arg_bool(call, 4, &is_upper));
    TAPER_TRY(taper_arg_bool(call, 5, &left));
    TAPER_TRY(taper_arg_bool(call, 6, &unit));
    taper_steps_begin(&s, call->run);
    const taper_val of_b = solved(&s, taper_step_adjoint(&s, call->args[1]), call->args[0], !is_upper, left, unit);
    if (taper_step_mask(call, 7, 0)) {
        const taper_val x = taper_step_adjoint(&s, call->args[3]);
        const taper_val product =
            taper_step_neg(&s, left ? taper_step_matmul(&s, of_b, x) : taper_step_matmul(&s, x, of_b));
        const taper_val part = is_upper ? upper(&s, product, unit ? 1 : 0) : lower(&s, product, unit ? -1 : 0);
        taper_steps_ret(&s, call, 0, sum_to(&s, part, call->args[1]));
    }
    if (taper_step_mask(call, 7, 1)) {
        taper_steps_ret(&s, call, 1, sum_to(&s, of_b, call->args[2]));
    }
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_triangular_solve_steps)
{
    taper_steps s;
    bool is_upper, transposes, unit;
    TAPER_TRY(taper_arg_bool(call, 2, &is_upper));
    TAPER_TRY(taper_arg_bool(call, 3, &transposes));
    TAPER_TRY(taper_arg_bool(call, 4, &unit));
    taper_steps_begin(&s, call->run);
    const taper_val a = transposes ? taper_step_transpose(&s, call->args[1], -2, -1) : call->args[1];
    taper_steps_ret(&s, call, 0, solved(&s, a, call->args[0], is_upper != transposes, true, unit));
    return taper_steps_end(&s);
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
    taper_steps s;
    bool left;
    TAPER_TRY(taper_arg_bool(call, 4, &left));
    const bool vector = is_vector(call->args[1].as.tensor, call->args[2].as.tensor);
    taper_steps_begin(&s, call->run);
    const taper_val of_b =
        TAPER_STEP(&s, aten_linalg_solve, taper_step_adjoint(&s, call->args[1]), call->args[0], flag(left));
    if (taper_step_mask(call, 5, 0)) {
        const taper_val rows = vector ? taper_step_unsqueeze(&s, of_b, -1) : of_b;
        const taper_val x =
            taper_step_adjoint(&s, vector ? taper_step_unsqueeze(&s, call->args[3], -1) : call->args[3]);
        const taper_val product = left || vector ? taper_step_matmul(&s, rows, x) : taper_step_matmul(&s, x, rows);
        taper_steps_ret(&s, call, 0, sum_to(&s, taper_step_neg(&s, product), call->args[1]));
    }
    if (taper_step_mask(call, 5, 1)) {
        taper_steps_ret(&s, call, 1, sum_to(&s, of_b, call->args[2]));
    }
    return taper_steps_end(&s);
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

// The gradient of P^T A for a square A = P L U.
static taper_val square_lu(taper_steps *s, taper_val grad_l, taper_val grad_u, taper_val l, taper_val u)
{
    const taper_val of_l = lower(s, taper_step_matmul(s, taper_step_adjoint(s, l), grad_l), -1);
    const taper_val of_u = upper(s, taper_step_matmul(s, grad_u, taper_step_adjoint(s, u)), 0);
    const taper_val value = solved(s, taper_step_adjoint(s, u), taper_step_add(s, of_l, of_u), false, false, false);
    return solved(s, taper_step_adjoint(s, l), value, true, true, true);
}

TAPER_STEPS_KERNEL(taper_op_lu_gradient)
{
    taper_steps s;
    taper_val grad_l = call->args[0], grad_u = call->args[1];
    const taper_val p = call->args[2], l = call->args[3], u = call->args[4];
    const int64_t m = rows_of(l.as.tensor), k = columns_of(l.as.tensor), n = columns_of(u.as.tensor);
    const bool pivots = columns_of(p.as.tensor) == m && taper_tensor_numel(p.as.tensor) != 0;
    taper_steps_begin(&s, call->run);
    taper_val value;
    if (n > k) { // the columns after the square follow from L
        const taper_val rest = taper_step_narrow(&s, grad_u, -1, k, n - k), u2 = taper_step_narrow(&s, u, -1, k, n - k);
        const taper_val of_rest = solved(&s, taper_step_adjoint(&s, l), rest, true, true, true);
        grad_l = taper_step_sub(&s, grad_l, taper_step_matmul(&s, of_rest, taper_step_adjoint(&s, u2)));
        value = square_lu(&s, grad_l, taper_step_narrow(&s, grad_u, -1, 0, k), l, taper_step_narrow(&s, u, -1, 0, k));
        value = TAPER_STEP(&s, aten_cat, taper_steps_list(&s, (taper_val[]){value, of_rest}, 2), taper_val_int(-1));
    } else if (m > k) { // the rows below the square follow from U
        const taper_val rest = taper_step_narrow(&s, grad_l, -2, k, m - k), l2 = taper_step_narrow(&s, l, -2, k, m - k);
        const taper_val of_rest = solved(&s, taper_step_adjoint(&s, u), rest, false, false, false);
        grad_u = taper_step_sub(&s, grad_u, taper_step_matmul(&s, taper_step_adjoint(&s, l2), of_rest));
        value = square_lu(&s, taper_step_narrow(&s, grad_l, -2, 0, k), grad_u, taper_step_narrow(&s, l, -2, 0, k), u);
        value = TAPER_STEP(&s, aten_cat, taper_steps_list(&s, (taper_val[]){value, of_rest}, 2), taper_val_int(-2));
    } else {
        value = square_lu(&s, grad_l, grad_u, l, u);
    }
    taper_steps_ret(&s, call, 0, pivots ? taper_step_matmul(&s, p, value) : value);
    return taper_steps_end(&s);
}

// Computes the gradient of A from the gradient of the matrix that contains both factors.
TAPER_STEPS_KERNEL(taper_op_lu_factor_gradient)
{
    taper_steps s;
    const taper_tensor *const t = call->args[1].as.tensor;
    const int64_t m = rows_of(t), n = columns_of(t), k = taper_min_i64(m, n);
    taper_steps_begin(&s, call->run);
    taper_val parts[3];
    taper_steps_call_all(&s, TAPER_OP(aten_lu_unpack), 4,
                         (taper_val[]){call->args[1], call->args[2], flag(true), flag(true)}, parts, 3);
    const taper_val grad_l = taper_step_narrow(&s, lower(&s, call->args[0], -1), -1, 0, k);
    const taper_val grad_u = taper_step_narrow(&s, upper(&s, call->args[0], 0), -2, 0, k);
    taper_steps_ret(&s, call, 0, TAPER_STEP(&s, taper_lu_gradient, grad_l, grad_u, parts[0], parts[1], parts[2]));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_lu_unpack_gradient)
{
    taper_steps s;
    const taper_tensor *const t = call->args[2].as.tensor;
    const int64_t m = rows_of(t), n = columns_of(t), k = taper_min_i64(m, n);
    const int64_t wide[2] = {0, n - k}, tall[4] = {0, 0, 0, m - k};
    taper_steps_begin(&s, call->run);
    if (t->rank < 2) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "lu_unpack expects matrices");
    }
    taper_val l = call->args[0], u = call->args[1];
    // True if unpack_data was false
    const bool empty = taper_tensor_numel(l.as.tensor) == 0 && taper_tensor_numel(t) != 0;
    if (empty) {
        taper_steps_ret(&s, call, 0, TAPER_STEP(&s, aten_zeros_like, call->args[2]));
        return taper_steps_end(&s);
    }
    l = TAPER_STEP(&s, aten_constant_pad_nd, lower(&s, l, -1), taper_steps_ints(&s, wide, 2));
    u = TAPER_STEP(&s, aten_constant_pad_nd, upper(&s, u, 0), taper_steps_ints(&s, tall, 4));
    taper_steps_ret(&s, call, 0, taper_step_add(&s, l, u));
    return taper_steps_end(&s);
}

// Solves A X = B, A^H X = B or X A = B with the factors of A.
TAPER_STEPS_KERNEL(taper_op_lu_solve_steps)
{
    taper_steps s;
    bool left, adjoint;
    TAPER_TRY(taper_arg_bool(call, 3, &left));
    TAPER_TRY(taper_arg_bool(call, 4, &adjoint));
    taper_steps_begin(&s, call->run);
    taper_val parts[3];
    taper_steps_call_all(&s, TAPER_OP(aten_lu_unpack), 4,
                         (taper_val[]){call->args[0], call->args[1], flag(true), flag(true)}, parts, 3);
    const taper_val p = parts[0], l = parts[1], u = parts[2];
    taper_val x = left ? call->args[2] : taper_step_adjoint(&s, call->args[2]);
    if (adjoint == left) { // solves with A^H
        x = solved(&s, taper_step_adjoint(&s, u), x, false, true, false);
        x = solved(&s, taper_step_adjoint(&s, l), x, true, true, true);
        x = taper_step_matmul(&s, p, x);
    } else {
        x = taper_step_matmul(&s, taper_step_transpose(&s, p, -2, -1), x);
        x = solved(&s, l, x, false, true, true);
        x = solved(&s, u, x, true, true, false);
    }
    taper_steps_ret(&s, call, 0, left ? x : taper_step_adjoint(&s, x));
    return taper_steps_end(&s);
}

// ---- QR

// For A with at least as many rows as columns: [gQ + Q sym(triu(gR R^H - Q^H gQ))] R^-H, where sym completes a triangle
// to a Hermitian matrix.
static taper_val tall_qr(taper_steps *s, taper_val grad_q, taper_val grad_r, taper_val q, taper_val r)
{
    const taper_val adjoint = taper_step_adjoint(s, r);
    taper_val inner = taper_step_sub(s, taper_step_matmul(s, grad_r, adjoint),
                                     taper_step_matmul(s, taper_step_adjoint(s, q), grad_q));
    inner = taper_step_add(s, upper(s, inner, 0), taper_step_adjoint(s, upper(s, inner, 1)));
    return solved(s, adjoint, taper_step_add(s, grad_q, taper_step_matmul(s, q, inner)), false, false, false);
}

TAPER_STEPS_KERNEL(taper_op_qr_gradient)
{
    taper_steps s;
    const taper_tensor *const a = call->args[4].as.tensor, *const q_shape = call->args[2].as.tensor;
    const int64_t m = rows_of(a), n = columns_of(a);
    taper_val grad_q = call->args[0], grad_r = call->args[1];
    const taper_val q = call->args[2], r = call->args[3];
    if (columns_of(q_shape) != taper_min_i64(m, n)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED,
                   "The QR decomposition is not differentiable when mode='complete' and nrows > ncols, or mode='r'");
    }
    taper_steps_begin(&s, call->run);
    if (m >= n) {
        taper_steps_ret(&s, call, 0, tall_qr(&s, grad_q, grad_r, q, r));
        return taper_steps_end(&s);
    }
    // A = [X | Y], with X = Q R1 and R2 = Q^H Y.
    const taper_val y = taper_step_narrow(&s, call->args[4], -1, m, n - m),
                    grad_2 = taper_step_narrow(&s, grad_r, -1, m, n - m);
    grad_q = taper_step_add(&s, grad_q, taper_step_matmul(&s, y, taper_step_adjoint(&s, grad_2)));
    const taper_val of_x =
        tall_qr(&s, grad_q, taper_step_narrow(&s, grad_r, -1, 0, m), q, taper_step_narrow(&s, r, -1, 0, m));
    const taper_val of_y = taper_step_matmul(&s, q, grad_2);
    taper_steps_ret(&s, call, 0,
                    TAPER_STEP(&s, aten_cat, taper_steps_list(&s, (taper_val[]){of_x, of_y}, 2), taper_val_int(-1)));
    return taper_steps_end(&s);
}

TAPER_STEPS_KERNEL(taper_op_old_qr_steps)
{
    taper_steps s;
    bool some;
    TAPER_TRY(taper_arg_bool(call, 1, &some));
    taper_steps_begin(&s, call->run);
    taper_val found[2];
    const taper_val mode = taper_steps_string(&s, some ? "reduced" : "complete");
    taper_steps_call_all(&s, TAPER_OP(aten_linalg_qr), 2, (taper_val[]){call->args[0], mode}, found, 2);
    taper_steps_ret(&s, call, 0, found[0]);
    taper_steps_ret(&s, call, 1, found[1]);
    return taper_steps_end(&s);
}

// ---- products of reflections

// Multiplies by the reflections I - tau v v^H, from the last to the first or in the reverse order. Column i of
// `vectors` has the elements of v below its 1.
static taper_status reflect(taper_call *call, taper_val vectors, taper_val taus, taper_val *value, bool adjoint)
{
    const taper_tensor *const tau = taus.as.tensor;
    const int64_t count = columns_of(tau), m = rows_of(vectors.as.tensor);
    for (int64_t i = 0; i < count; i++) {
        taper_steps s;
        const int64_t at = adjoint ? i : count - 1 - i;
        taper_steps_begin(&s, call->run);
        taper_val v = taper_step_narrow(&s, lower(&s, vectors, -1), -1, at, 1);
        taper_val unit =
            TAPER_STEP(&s, aten_zeros_like, taper_step_detach(&s, taper_step_narrow(&s, vectors, -1, at, 1)));
        unit = TAPER_STEP(&s, aten_select_scatter, unit,
                          TAPER_STEP(&s, aten_ones_like,
                                     TAPER_STEP(&s, aten_select_int, unit, taper_val_int(-2),
                                                taper_val_int(taper_min_i64(at, m - 1)))),
                          taper_val_int(-2), taper_val_int(taper_min_i64(at, m - 1)));
        v = taper_step_add(&s, v, unit);
        taper_val factor = taper_step_unsqueeze(&s, taper_step_narrow(&s, taus, -1, at, 1), -1);
        factor = adjoint ? taper_step_conj(&s, factor) : factor;
        const taper_val along = taper_step_matmul(&s, taper_step_adjoint(&s, v), *value);
        const taper_val next = taper_step_sub(&s, *value, taper_step_mul(&s, factor, taper_step_matmul(&s, v, along)));
        taper_val_replace(value, s.status == TAPER_OK ? taper_val_retain(next) : taper_val_none());
        TAPER_TRY(taper_steps_end(&s));
    }
    return TAPER_OK;
}

TAPER_STEPS_KERNEL(taper_op_householder_steps)
{
    taper_steps s;
    const taper_tensor *const a = call->args[0].as.tensor;
    taper_steps_begin(&s, call->run);
    taper_val unit =
        TAPER_STEP(&s, aten_eye_m, taper_val_int(rows_of(a)), taper_val_int(columns_of(a)), taper_val_int(a->dtype));
    unit = TAPER_STEP(&s, aten_expand, unit, taper_steps_ints(&s, a->sizes, a->rank));
    if (taper_tensor_numel(call->args[1].as.tensor) == 0) { // no reflection: the gradient is 0
        unit = taper_step_add(&s, unit, taper_step_scale(&s, TAPER_STEP(&s, aten_sum, call->args[1]), 0));
    }
    taper_val value = s.status == TAPER_OK ? taper_val_retain(unit) : taper_val_none();
    TAPER_TRY(taper_steps_end(&s));
    const taper_status status = reflect(call, call->args[0], call->args[1], &value, false);
    taper_ret(call, 0, value);
    return status;
}

TAPER_STEPS_KERNEL(taper_op_ormqr_steps)
{
    taper_steps s;
    bool left, adjoint;
    TAPER_TRY(taper_arg_bool(call, 3, &left));
    TAPER_TRY(taper_arg_bool(call, 4, &adjoint));
    taper_steps_begin(&s, call->run);
    const taper_val start = left ? call->args[2] : taper_step_adjoint(&s, call->args[2]);
    taper_val value = s.status == TAPER_OK ? taper_val_retain(start) : taper_val_none();
    TAPER_TRY(taper_steps_end(&s));
    taper_status status = reflect(call, call->args[0], call->args[1], &value, adjoint == left);
    taper_steps_begin(&s, call->run);
    taper_steps_fail(&s, status);
    taper_steps_keep(&s, value);
    taper_steps_ret(&s, call, 0, left ? value : taper_step_adjoint(&s, value));
    return taper_steps_end(&s);
}
