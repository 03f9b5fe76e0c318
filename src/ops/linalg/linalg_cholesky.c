// SPDX-License-Identifier: BSD-2-Clause
// Cholesky factors, and the inverses and solutions computed from them.
#include "ops/call/call.h"
#include "ops/linalg/linalg.h"

enum { L, INFOS, X }; // numbers of the slots for temporaries

// Factors argument 0 into slot L, from its upper or lower triangle.
static taper_status factor(taper_linalg *w, bool upper, taper_tensor **a)
{
    TAPER_TRY(taper_linalg_arg_square(w, 0, a));
    const taper_linalg_batch batch = taper_linalg_batch_of(*a);
    const int64_t count = taper_linalg_rows(*a) == 0 ? 0 : taper_linalg_count(&batch);
    TAPER_TRY(taper_linalg_take(w, L, *a, NULL, taper_linalg_wide((taper_dtype)(*a)->dtype)));
    TAPER_TRY(taper_linalg_new_vectors(w, INFOS, TAPER_I32, &batch, -1));
    TAPER_TRY(taper_linalg_zero(w, INFOS));
    for (int64_t i = 0; i < count; i++) {
        const taper_dense matrix = taper_linalg_matrix(w, w->t[L], i), turned = taper_dense_turned(&matrix);
        taper_linalg_ints(w->t[INFOS])[i] = (int32_t)taper_dense_cholesky(upper ? &turned : &matrix);
        taper_dense_clear(&matrix, !upper);
        TAPER_TRY(taper_linalg_stopped(w));
    }
    return TAPER_OK;
}

static taper_status cholesky(taper_linalg *w)
{
    taper_tensor *a;
    bool upper;
    TAPER_TRY(taper_arg_bool(w->call, 1, &upper));
    TAPER_TRY(factor(w, upper, &a));
    TAPER_TRY(taper_linalg_check_infos(w->run, "linalg.cholesky", w->t[INFOS], a->rank == 2));
    // aten::cholesky returns an empty tensor without transposing it; linalg_cholesky transposes it.
    const bool plain = w->name[0] == 'c' && taper_tensor_numel(a) == 0;
    return taper_linalg_ret(w, 0, L, (taper_dtype)a->dtype, plain ? TAPER_BY_ROWS : TAPER_BY_COLUMNS);
}

TAPER_KERNEL(taper_op_cholesky)
{
    return taper_linalg_run(call, "cholesky", cholesky);
}

TAPER_KERNEL(taper_op_linalg_cholesky)
{
    return taper_linalg_run(call, "linalg.cholesky", cholesky);
}

static taper_status cholesky_ex(taper_linalg *w)
{
    taper_tensor *a;
    bool upper, check;
    TAPER_TRY(taper_arg_bool(w->call, 1, &upper));
    TAPER_TRY(taper_arg_bool(w->call, 2, &check));
    TAPER_TRY(factor(w, upper, &a));
    if (check) {
        TAPER_TRY(taper_linalg_check_infos(w->run, "linalg.cholesky_ex", w->t[INFOS], a->rank == 2));
    }
    TAPER_TRY(taper_linalg_ret(w, 0, L, (taper_dtype)a->dtype, TAPER_BY_COLUMNS));
    return taper_linalg_ret(w, 1, INFOS, TAPER_I32, TAPER_BY_ROWS);
}

TAPER_KERNEL(taper_op_linalg_cholesky_ex)
{
    return taper_linalg_run(call, "linalg.cholesky_ex", cholesky_ex);
}

// Solves (L L^H) x = b, or (U^H U) x = b, for the given triangle. x is b at first and the solution afterwards.
static void solve_factored(const taper_dense *triangle, bool upper, const taper_dense *x)
{
    for (int step = 0; step < 2; step++) {
        const bool adjoint = upper == (step == 0); // true for the step that uses the adjoint of the given triangle
        if (adjoint) {
            taper_dense_conjugate(x);
        }
        taper_dense_triangular(triangle, upper, adjoint, false, x);
        if (adjoint) {
            taper_dense_conjugate(x);
        }
    }
}

// Solves with the factors in slot L. The solution replaces slot X.
static taper_status solve_all(taper_linalg *w, bool upper)
{
    const taper_linalg_batch batch = taper_linalg_batch_of(w->t[X]), own = taper_linalg_batch_of(w->t[L]);
    const int64_t count = taper_tensor_numel(w->t[X]) == 0 ? 0 : taper_linalg_count(&batch);
    for (int64_t i = 0; i < count; i++) {
        const taper_dense triangle = taper_linalg_matrix(w, w->t[L], taper_linalg_index(&batch, i, &own)),
                          x = taper_linalg_matrix(w, w->t[X], i);
        solve_factored(&triangle, upper, &x);
        TAPER_TRY(taper_linalg_stopped(w));
    }
    return TAPER_OK;
}

static taper_status cholesky_inverse(taper_linalg *w)
{
    taper_tensor *a;
    bool upper;
    TAPER_TRY(taper_linalg_arg_square(w, 0, &a));
    TAPER_TRY(taper_arg_bool(w->call, 1, &upper));
    const taper_linalg_batch batch = taper_linalg_batch_of(a);
    const taper_dtype wide = taper_linalg_wide((taper_dtype)a->dtype);
    const int64_t n = taper_linalg_rows(a), count = n == 0 ? 0 : taper_linalg_count(&batch);
    TAPER_TRY(taper_linalg_take(w, L, a, NULL, wide));
    TAPER_TRY(taper_linalg_new(w, X, wide, &batch, n, n));
    TAPER_TRY(taper_linalg_new_vectors(w, INFOS, TAPER_I32, &batch, -1));
    TAPER_TRY(taper_linalg_zero(w, INFOS));
    for (int64_t i = 0; i < count; i++) {
        const taper_dense triangle = taper_linalg_matrix(w, w->t[L], i), x = taper_linalg_matrix(w, w->t[X], i);
        taper_dense_identity(&x);
        for (int64_t k = n; k-- > 0;) {
            if (!taper_c_true(taper_dense_get(&triangle, k, k))) {
                taper_linalg_ints(w->t[INFOS])[i] = (int32_t)(k + 1);
            }
        }
    }
    TAPER_TRY(taper_linalg_check_infos(w->run, w->name, w->t[INFOS], a->rank == 2));
    TAPER_TRY(solve_all(w, upper));
    return taper_linalg_ret(w, 0, X, (taper_dtype)a->dtype, TAPER_BY_COLUMNS);
}

TAPER_KERNEL(taper_op_cholesky_inverse)
{
    return taper_linalg_run(call, "cholesky_inverse", cholesky_inverse);
}

static taper_status cholesky_solve(taper_linalg *w)
{
    taper_tensor *b, *a;
    bool upper;
    taper_linalg_batch batch;
    TAPER_TRY(taper_linalg_arg_matrix(w, 0, &b));
    TAPER_TRY(taper_linalg_arg_square(w, 1, &a));
    TAPER_TRY(taper_arg_bool(w->call, 2, &upper));
    TAPER_TRY(taper_linalg_check_same_dtype(w, a, b));
    if (taper_linalg_rows(b) != taper_linalg_rows(a)) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT, "%s: Incompatible matrix sizes for A and b: %s and %s", w->name,
                   TAPER_SHAPE(a), TAPER_SHAPE(b));
    }
    TAPER_TRY(taper_linalg_broadcast(w, a, b, &batch));
    const taper_dtype dtype = (taper_dtype)b->dtype;
    TAPER_TRY(taper_linalg_take(w, L, a, NULL, taper_linalg_wide(dtype)));
    TAPER_TRY(taper_linalg_take(w, X, b, &batch, taper_linalg_wide(dtype)));
    TAPER_TRY(solve_all(w, upper));
    return taper_linalg_ret(w, 0, X, dtype, TAPER_BY_COLUMNS);
}

TAPER_KERNEL(taper_op_cholesky_solve)
{
    return taper_linalg_run(call, "cholesky_solve", cholesky_solve);
}
