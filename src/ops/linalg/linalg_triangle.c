// SPDX-License-Identifier: BSD-2-Clause
// Systems with triangular matrices.
#include "ops/call/call.h"
#include "ops/linalg/linalg.h"

enum { A, X }; // numbers of the slots for temporaries

typedef struct triangle {
    bool upper, transposed, unit, left;
    // True if the matrix is stored by rows. The system is then solved by rows, as in PyTorch. This is visible if the
    // diagonal has zeros.
    bool by_rows;
} triangle;

// Copies `a` to slot A and computes the solutions in slot X. `a` and `b` are broadcast.
static taper_status solve(taper_linalg *w, const taper_tensor *a, const taper_tensor *b, triangle t)
{
    taper_linalg_batch batch;
    TAPER_TRY(taper_linalg_check_square(w, a));
    TAPER_TRY(taper_linalg_check_matrix(w, b));
    TAPER_TRY(taper_linalg_check_same_dtype(w, a, b));
    if ((t.left ? taper_linalg_rows(b) : taper_linalg_columns(b)) != taper_linalg_rows(a)) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT,
                   "%s: Incompatible shapes of A and B for the equation %s: %s and %s", w->name,
                   t.left ? "AX = B" : "XA = B", TAPER_SHAPE(a), TAPER_SHAPE(b));
    }
    TAPER_TRY(taper_linalg_broadcast(w, a, b, &batch));
    const taper_dtype wide = taper_linalg_wide((taper_dtype)a->dtype);
    TAPER_TRY(taper_linalg_take(w, A, a, &batch, wide));
    TAPER_TRY(taper_linalg_take(w, X, b, &batch, wide));
    const int64_t count = taper_tensor_numel(w->t[X]) == 0 ? 0 : taper_linalg_count(&batch);
    for (int64_t i = 0; i < count; i++) {
        const taper_dense matrix = taper_linalg_matrix(w, w->t[A], i), x = taper_linalg_matrix(w, w->t[X], i);
        if (t.left && t.by_rows && taper_tensor_is_contiguous(a)) {
            const taper_dense across = taper_dense_turned(&matrix);
            taper_dense_triangular(&across, !t.upper, !t.transposed, t.unit, &x);
        } else if (t.left) {
            taper_dense_triangular(&matrix, t.upper, t.transposed, t.unit, &x);
        } else { // solves x a = b as a' x' = b'
            const taper_dense turned = taper_dense_turned(&x);
            taper_dense_triangular(&matrix, t.upper, !t.transposed, t.unit, &turned);
        }
        TAPER_TRY(taper_linalg_stopped(w));
    }
    return TAPER_OK;
}

static taper_status triangular_solve(taper_linalg *w)
{
    taper_tensor *b, *a;
    triangle t = {.left = true};
    TAPER_TRY(taper_arg_tensor(w->call, 0, &b));
    TAPER_TRY(taper_arg_tensor(w->call, 1, &a));
    TAPER_TRY(taper_arg_bool(w->call, 2, &t.upper));
    TAPER_TRY(taper_arg_bool(w->call, 3, &t.transposed));
    TAPER_TRY(taper_arg_bool(w->call, 4, &t.unit));
    TAPER_TRY(solve(w, a, b, t));
    TAPER_TRY(taper_linalg_ret(w, 0, X, (taper_dtype)b->dtype, TAPER_BY_COLUMNS));
    return taper_linalg_ret(w, 1, A, (taper_dtype)a->dtype, TAPER_BY_COLUMNS);
}

TAPER_KERNEL(taper_op_triangular_solve)
{
    return taper_linalg_run(call, "triangular_solve", triangular_solve);
}

static taper_status solve_triangular(taper_linalg *w)
{
    taper_tensor *a, *b;
    triangle t = {.by_rows = true};
    TAPER_TRY(taper_arg_tensor(w->call, 0, &a));
    TAPER_TRY(taper_arg_tensor(w->call, 1, &b));
    TAPER_TRY(taper_arg_bool(w->call, 2, &t.upper));
    TAPER_TRY(taper_arg_bool(w->call, 3, &t.left));
    TAPER_TRY(taper_arg_bool(w->call, 4, &t.unit));
    TAPER_TRY(solve(w, a, b, t));
    return taper_linalg_ret(w, 0, X, (taper_dtype)b->dtype, TAPER_BY_COLUMNS);
}

TAPER_KERNEL(taper_op_solve_triangular)
{
    return taper_linalg_run(call, "linalg.solve_triangular", solve_triangular);
}
