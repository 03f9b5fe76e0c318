// SPDX-License-Identifier: BSD-2-Clause
// LU with partial pivoting: computing the factors, unpacking them, and solving with given factors.
#include "ops/call/call.h"
#include "ops/linalg/linalg.h"

enum { LU, PIVOTS, INFOS, P, L, U, X }; // numbers of the slots for temporaries

taper_status taper_linalg_factor(taper_linalg *w, const taper_tensor *a, bool transposed, size_t lu, size_t pivots,
                                 size_t infos)
{
    const taper_tensor source = transposed ? taper_tensor_twin_t(a) : *a;
    const taper_linalg_batch batch = taper_linalg_batch_of(a);
    const int64_t rows = taper_linalg_rows(&source), columns = taper_linalg_columns(&source);
    const int64_t k = taper_min_i64(rows, columns), count = taper_linalg_count(&batch);
    TAPER_TRY(taper_linalg_take(w, lu, &source, NULL, taper_linalg_wide((taper_dtype)a->dtype)));
    TAPER_TRY(taper_linalg_new_vectors(w, pivots, TAPER_I32, &batch, k));
    TAPER_TRY(taper_linalg_new_vectors(w, infos, TAPER_I32, &batch, -1));
    TAPER_TRY(taper_linalg_zero(w, infos));
    for (int64_t i = 0; i < count && k != 0; i++) {
        taper_dense matrix = taper_linalg_matrix(w, w->t[lu], i);
        matrix.single = a->dtype == TAPER_F32 || a->dtype == TAPER_C64;
        taper_linalg_ints(w->t[infos])[i] = (int32_t)taper_dense_lu(&matrix, taper_linalg_ints(w->t[pivots]) + i * k);
        TAPER_TRY(taper_linalg_stopped(w));
    }
    return TAPER_OK;
}

taper_status taper_linalg_lu_solve(taper_linalg *w, size_t lu, const taper_tensor *pivots, taper_transpose transpose,
                                   bool left, size_t x)
{
    const taper_linalg_batch batch = taper_linalg_batch_of(w->t[x]), own = taper_linalg_batch_of(w->t[lu]);
    const int64_t count = taper_linalg_count(&batch), n = taper_linalg_rows(w->t[lu]);
    for (int64_t i = 0; i < count && taper_tensor_numel(w->t[x]) != 0; i++) {
        const int64_t from = taper_linalg_index(&batch, i, &own);
        const taper_dense factors = taper_linalg_matrix(w, w->t[lu], from), b = taper_linalg_matrix(w, w->t[x], i);
        const int32_t *const exchanges = (const int32_t *)taper_tensor_data(pivots) + from * n;
        if (left) {
            taper_dense_lu_solve(&factors, exchanges, transpose, &b);
        } else { // solves x op(a) = b as op(a)' x' = b'
            const taper_dense turned = taper_dense_turned(&b);
            if (transpose == TAPER_ADJOINT) {
                taper_dense_conjugate(&b);
            }
            taper_dense_lu_solve(&factors, exchanges, transpose == TAPER_PLAIN ? TAPER_TRANSPOSED : TAPER_PLAIN,
                                 &turned);
            if (transpose == TAPER_ADJOINT) {
                taper_dense_conjugate(&b);
            }
        }
        TAPER_TRY(taper_linalg_stopped(w));
    }
    return TAPER_OK;
}

// ---- computing the factors

// Factors argument 0. Argument 1 is the argument `pivot`.
static taper_status factor_argument(taper_linalg *w, taper_tensor **a)
{
    bool pivot;
    TAPER_TRY(taper_linalg_arg_matrix(w, 0, a));
    TAPER_TRY(taper_arg_bool(w->call, 1, &pivot));
    if (!pivot) {
        return taper_linalg_fail(w, "LU without pivoting is not implemented on the CPU");
    }
    return taper_linalg_factor(w, *a, false, LU, PIVOTS, INFOS);
}

static taper_status ret_factors(taper_linalg *w, const taper_tensor *a, bool infos)
{
    TAPER_TRY(taper_linalg_ret(w, 0, LU, (taper_dtype)a->dtype, TAPER_BY_COLUMNS));
    TAPER_TRY(taper_linalg_ret(w, 1, PIVOTS, TAPER_I32, TAPER_BY_ROWS));
    return infos ? taper_linalg_ret(w, 2, INFOS, TAPER_I32, TAPER_BY_ROWS) : TAPER_OK;
}

static taper_status lu_factor(taper_linalg *w)
{
    taper_tensor *a;
    TAPER_TRY(factor_argument(w, &a));
    TAPER_TRY(taper_linalg_check_infos(w->run, "torch.linalg.lu_factor", w->t[INFOS], a->rank == 2));
    return ret_factors(w, a, false);
}

TAPER_KERNEL(taper_op_linalg_lu_factor)
{
    return taper_linalg_run(call, "linalg.lu_factor", lu_factor);
}

static taper_status lu_factor_ex(taper_linalg *w)
{
    taper_tensor *a;
    bool check;
    TAPER_TRY(taper_arg_bool(w->call, 2, &check));
    TAPER_TRY(factor_argument(w, &a));
    if (check) {
        TAPER_TRY(taper_linalg_check_infos(w->run, "torch.linalg.lu_factor_ex", w->t[INFOS], a->rank == 2));
    }
    return ret_factors(w, a, true);
}

TAPER_KERNEL(taper_op_linalg_lu_factor_ex)
{
    return taper_linalg_run(call, "linalg.lu_factor", lu_factor_ex);
}

// ---- P, L and U

// Computes the order of rows: row i of P L U is row order[i] of L U. Returns false if a pivot is out of range.
static bool order_of(const int32_t *pivots, int64_t count, int64_t rows, int32_t *order)
{
    for (int64_t i = 0; i < rows; i++) {
        order[i] = (int32_t)i;
    }
    for (int64_t i = 0; i < count; i++) {
        if (pivots[i] < 1 || pivots[i] > rows) {
            return false;
        }
        const int32_t t = order[i];
        order[i] = order[pivots[i] - 1];
        order[pivots[i] - 1] = t;
    }
    return true;
}

static taper_status permutations(taper_linalg *w, const taper_tensor *pivots, const taper_linalg_batch *batch,
                                 int64_t rows, int64_t k)
{
    void *order;
    TAPER_TRY(taper_linalg_new(w, P, TAPER_F64, batch, rows, rows));
    TAPER_TRY(taper_linalg_room(w, X, rows, sizeof(int32_t), &order));
    TAPER_TRY(taper_linalg_zero(w, P));
    const int64_t count = rows == 0 ? 0 : taper_linalg_count(batch);
    for (int64_t i = 0; i < count; i++) {
        const taper_dense p = taper_linalg_matrix(w, w->t[P], i);
        if (!order_of((const int32_t *)taper_tensor_data(pivots) + i * k, k, rows, order)) {
            return taper_linalg_fail(w, "LU_pivots must be between 1 and LU.size(-2) inclusive");
        }
        for (int64_t r = 0; r < rows; r++) {
            *taper_dense_at(&p, ((const int32_t *)order)[r], r) = 1.0;
        }
    }
    return TAPER_OK;
}

// Copies from slot LU the lower trapezoid, with a diagonal of ones, to slot L, and the upper trapezoid to slot U.
static taper_status triangles(taper_linalg *w, const taper_linalg_batch *batch, int64_t rows, int64_t columns)
{
    const int64_t k = taper_min_i64(rows, columns), count = k == 0 ? 0 : taper_linalg_count(batch);
    const taper_dtype dtype = (taper_dtype)w->t[LU]->dtype;
    TAPER_TRY(taper_linalg_new(w, L, dtype, batch, rows, k));
    TAPER_TRY(taper_linalg_new(w, U, dtype, batch, k, columns));
    for (int64_t i = 0; i < count; i++) {
        const taper_dense lu = taper_linalg_matrix(w, w->t[LU], i), l = taper_linalg_matrix(w, w->t[L], i),
                          u = taper_linalg_matrix(w, w->t[U], i);
        for (int64_t c = 0; c < columns; c++) {
            for (int64_t r = 0; r < rows; r++) {
                const taper_c128 value = taper_dense_get(&lu, r, c), none = taper_c(0.0, 0.0);
                if (c < k) {
                    taper_dense_set(&l, r, c, r > c ? value : r == c ? taper_c(1.0, 0.0) : none);
                }
                if (r < k) {
                    taper_dense_set(&u, r, c, r > c ? none : value);
                }
            }
        }
    }
    return TAPER_OK;
}

static taper_status ret_unpacked(taper_linalg *w, taper_dtype dtype)
{
    TAPER_TRY(taper_linalg_ret(w, 0, P, dtype, TAPER_BY_ROWS));
    TAPER_TRY(taper_linalg_ret(w, 1, L, dtype, TAPER_BY_ROWS));
    return taper_linalg_ret(w, 2, U, dtype, TAPER_BY_ROWS);
}

static taper_status whole_lu(taper_linalg *w)
{
    taper_tensor *a;
    TAPER_TRY(factor_argument(w, &a));
    const taper_linalg_batch batch = taper_linalg_batch_of(a);
    const int64_t rows = taper_linalg_rows(a), columns = taper_linalg_columns(a);
    TAPER_TRY(permutations(w, w->t[PIVOTS], &batch, rows, taper_min_i64(rows, columns)));
    TAPER_TRY(triangles(w, &batch, rows, columns));
    return ret_unpacked(w, (taper_dtype)a->dtype);
}

TAPER_KERNEL(taper_op_linalg_lu)
{
    return taper_linalg_run(call, "linalg.lu_factor", whole_lu);
}

// Reads factors and pivots from the arguments and checks them. Slot PIVOTS receives the contiguous pivots.
static taper_status given_factors(taper_linalg *w, size_t lu_at, size_t pivots_at, taper_tensor **lu)
{
    taper_tensor *pivots;
    TAPER_TRY(taper_linalg_arg_matrix(w, lu_at, lu));
    TAPER_TRY(taper_arg_tensor(w->call, pivots_at, &pivots));
    if (pivots->dtype != TAPER_I32) {
        return taper_linalg_fail(w, "LU_pivots is expected to be a contiguous tensor of torch.int32 dtype");
    }
    const size_t rank = (*lu)->rank;
    const int64_t k = taper_min_i64(taper_linalg_rows(*lu), taper_linalg_columns(*lu));
    if (pivots->rank + 1u != rank || pivots->sizes[rank - 2] != k ||
        memcmp(pivots->sizes, (*lu)->sizes, (rank - 2) * sizeof *pivots->sizes) != 0) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT, "%s: the pivots' sizes %s do not belong to factors of sizes %s",
                   w->name, TAPER_SHAPE(pivots), TAPER_SHAPE(*lu));
    }
    return taper_run_contiguous(w->run, pivots, &w->t[PIVOTS]);
}

static taper_status lu_unpack(taper_linalg *w)
{
    taper_tensor *lu;
    bool data, pivots;
    TAPER_TRY(taper_arg_bool(w->call, 2, &data));
    TAPER_TRY(taper_arg_bool(w->call, 3, &pivots));
    TAPER_TRY(given_factors(w, 0, 1, &lu));
    const taper_linalg_batch batch = taper_linalg_batch_of(lu);
    const int64_t rows = taper_linalg_rows(lu), columns = taper_linalg_columns(lu);
    const taper_dtype dtype = (taper_dtype)lu->dtype;
    if (pivots) {
        TAPER_TRY(permutations(w, w->t[PIVOTS], &batch, rows, taper_min_i64(rows, columns)));
    } else {
        TAPER_TRY(taper_linalg_new_empty(w, P, dtype));
    }
    if (data) {
        TAPER_TRY(taper_linalg_take(w, LU, lu, NULL, taper_linalg_wide(dtype)));
        TAPER_TRY(triangles(w, &batch, rows, columns));
    } else {
        TAPER_TRY(taper_linalg_new_empty(w, L, dtype));
        TAPER_TRY(taper_linalg_new_empty(w, U, dtype));
    }
    return ret_unpacked(w, dtype);
}

TAPER_KERNEL(taper_op_lu_unpack)
{
    return taper_linalg_run(call, "torch.lu_unpack", lu_unpack);
}

// ---- solving with given factors

static taper_status solve_given(taper_linalg *w, size_t b_at, size_t lu_at, bool left, bool adjoint)
{
    taper_tensor *lu, *b;
    taper_linalg_batch batch;
    TAPER_TRY(given_factors(w, lu_at, lu_at + 1, &lu));
    TAPER_TRY(taper_linalg_check_square(w, lu));
    TAPER_TRY(taper_linalg_arg_matrix(w, b_at, &b));
    TAPER_TRY(taper_linalg_check_same_dtype(w, lu, b));
    const int64_t n = taper_linalg_rows(lu);
    if ((left ? taper_linalg_rows(b) : taper_linalg_columns(b)) != n) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT,
                   "%s: Incompatible shapes of A and B for the equation %s: %s and %s", w->name,
                   left ? "AX = B" : "XA = B", TAPER_SHAPE(lu), TAPER_SHAPE(b));
    }
    TAPER_TRY(taper_linalg_broadcast(w, lu, b, &batch));
    const int32_t *const pivots = taper_tensor_data(w->t[PIVOTS]);
    for (int64_t i = 0; i < taper_tensor_numel(w->t[PIVOTS]); i++) {
        if (pivots[i] < 1 || pivots[i] > n) {
            return taper_linalg_fail(w, "pivots must be between 1 and LU.size(-2) inclusive");
        }
    }
    const taper_dtype dtype = (taper_dtype)b->dtype;
    TAPER_TRY(taper_linalg_take(w, LU, lu, NULL, taper_linalg_wide(dtype)));
    TAPER_TRY(taper_linalg_take(w, X, b, &batch, taper_linalg_wide(dtype)));
    TAPER_TRY(taper_linalg_lu_solve(w, LU, w->t[PIVOTS], adjoint ? TAPER_ADJOINT : TAPER_PLAIN, left, X));
    return taper_linalg_ret(w, 0, X, dtype, left ? TAPER_BY_COLUMNS : TAPER_BY_ROWS);
}

static taper_status linalg_lu_solve(taper_linalg *w)
{
    bool left, adjoint;
    TAPER_TRY(taper_arg_bool(w->call, 3, &left));
    TAPER_TRY(taper_arg_bool(w->call, 4, &adjoint));
    return solve_given(w, 2, 0, left, adjoint);
}

TAPER_KERNEL(taper_op_linalg_lu_solve)
{
    return taper_linalg_run(call, "linalg.lu_solve", linalg_lu_solve);
}

static taper_status old_lu_solve(taper_linalg *w)
{
    return solve_given(w, 0, 1, true, false);
}

TAPER_KERNEL(taper_op_lu_solve)
{
    return taper_linalg_run(call, "linalg.lu_solve", old_lu_solve);
}
