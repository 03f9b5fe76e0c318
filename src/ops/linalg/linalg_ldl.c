// SPDX-License-Identifier: BSD-2-Clause
// Factors symmetric matrices as L D L' and Hermitian matrices as L D L^H, from their lower triangles, with the diagonal
// pivoting of Bunch and Kaufman. D has blocks of one or two rows. Pivots are stored as in LAPACK's sytrf: a pivot is
// the number (from 1) of the row that was exchanged. The pivot of a block of two rows is negative and stored twice.
#include "ops/call/call.h"
#include "ops/linalg/linalg.h"

enum { LD, PIVOTS, INFOS, X }; // numbers of the slots for temporaries

// Returns the element across the diagonal from x: x, or its conjugate if the matrix is Hermitian.
static taper_c128 mirrored(bool hermitian, taper_c128 x)
{
    return hermitian ? taper_c_conj(x) : x;
}

static taper_c128 diagonal(const taper_dense *a, bool hermitian, int64_t k)
{
    const taper_c128 d = taper_dense_get(a, k, k);
    return hermitian ? taper_c(d.re, 0.0) : d;
}

static double largest(const taper_dense *a, int64_t row, int64_t column, int64_t count, bool along, int64_t *where)
{
    double most = 0.0;
    for (int64_t i = 0; i < count; i++) {
        const double modulus =
            taper_dense_modulus(along ? taper_dense_get(a, row, column + i) : taper_dense_get(a, row + i, column));
        if (i == 0 || modulus > most) {
            most = modulus;
            *where = (along ? column : row) + i;
        }
    }
    return most;
}

// Chooses the block at k. Returns its size, and sets *pivot to the row to exchange with the block's last row. Returns 0
// if the column is zero.
static int64_t choose(const taper_dense *a, bool hermitian, int64_t k, int64_t *pivot)
{
    const double alpha = (1.0 + sqrt(17.0)) / 8.0;
    const int64_t n = a->rows;
    int64_t row = k, ignored = 0;
    const double here = taper_dense_modulus(diagonal(a, hermitian, k));
    const double below = k + 1 < n ? largest(a, k + 1, k, n - k - 1, false, &row) : 0.0;
    *pivot = k;
    if (fmax(here, below) == 0.0 || here != here) {
        return 0;
    }
    if (here >= alpha * below) {
        return 1;
    }
    double most = largest(a, row, k, row - k, true, &ignored);
    if (row + 1 < n) {
        most = fmax(most, largest(a, row + 1, row, n - row - 1, false, &ignored));
    }
    if (here >= alpha * below * (below / most)) {
        return 1;
    }
    *pivot = row;
    return taper_dense_modulus(diagonal(a, hermitian, row)) >= alpha * most ? 1 : 2;
}

// Exchanges rows and columns p and q > p of the remaining matrix, whose lower triangle starts at column k.
static void exchange(const taper_dense *a, bool hermitian, int64_t k, int64_t p, int64_t q)
{
    const int64_t n = a->rows;
    if (q + 1 < n) {
        taper_vector_swap(a->complex, n - q - 1, taper_dense_at(a, q + 1, p), a->down, taper_dense_at(a, q + 1, q),
                          a->down);
    }
    for (int64_t j = p + 1; j < q; j++) {
        const taper_c128 t = taper_dense_get(a, j, p);
        taper_dense_set(a, j, p, mirrored(hermitian, taper_dense_get(a, q, j)));
        taper_dense_set(a, q, j, mirrored(hermitian, t));
    }
    taper_dense_set(a, q, p, mirrored(hermitian, taper_dense_get(a, q, p)));
    const taper_c128 d = diagonal(a, hermitian, p);
    taper_dense_set(a, p, p, diagonal(a, hermitian, q));
    taper_dense_set(a, q, q, d);
    if (p != k) { // also exchanges the elements in the first column of a block of two
        const taper_c128 t = taper_dense_get(a, p, k);
        taper_dense_set(a, p, k, taper_dense_get(a, q, k));
        taper_dense_set(a, q, k, t);
    }
}

// Subtracts the contribution of column k from the remaining matrix, and turns the column into a column of L.
static void eliminate_one(const taper_dense *a, bool hermitian, int64_t k)
{
    const int64_t n = a->rows;
    const taper_c128 inverse = taper_c_div(taper_c(1.0, 0.0), diagonal(a, hermitian, k));
    for (int64_t j = k + 1; j < n && taper_dense_goes_on(a, n - j); j++) {
        const taper_c128 share = taper_c_mul(inverse, mirrored(hermitian, taper_dense_get(a, j, k)));
        taper_vector_add(a->complex, n - j, taper_c_neg(share), taper_dense_at(a, j, k), a->down,
                         taper_dense_at(a, j, j), a->down);
    }
    if (k + 1 < n) {
        taper_vector_scale(a->complex, n - k - 1, inverse, taper_dense_at(a, k + 1, k), a->down);
    }
    taper_dense_set(a, k, k, diagonal(a, hermitian, k));
}

// Does what eliminate_one does, for a block of two: w = x D^-1 for the columns x below the block, then a -= w x'.
static void eliminate_two(const taper_dense *a, bool hermitian, int64_t k)
{
    const taper_c128 one = diagonal(a, hermitian, k), two = diagonal(a, hermitian, k + 1);
    const taper_c128 low = taper_dense_get(a, k + 1, k), high = mirrored(hermitian, low);
    // Divides by the largest element of the block first, because the determinant might overflow.
    const taper_c128 d1 = taper_c_div(one, low), d2 = taper_c_div(two, high);
    const taper_c128 det = taper_c_sub(taper_c_mul(d1, d2), taper_c(1.0, 0.0));
    for (int64_t j = k + 2; j < a->rows && taper_dense_goes_on(a, 2 * (a->rows - j)); j++) {
        const taper_c128 x = taper_dense_get(a, j, k), y = taper_dense_get(a, j, k + 1);
        // The inverse is D^-1 = [[d2 / low, -1 / low], [-1 / high, d1 / high]] / det.
        const taper_c128 first = taper_c_div(taper_c_sub(taper_c_div(taper_c_mul(x, taper_c_mul(d2, high)), low), y),
                                             taper_c_mul(det, high));
        const taper_c128 second =
            taper_c_div(taper_c_sub(taper_c_div(taper_c_mul(y, taper_c_mul(d1, low)), high), x), taper_c_mul(det, low));
        const int64_t rest = a->rows - j;
        taper_vector_add(a->complex, rest, taper_c_neg(mirrored(hermitian, first)), taper_dense_at(a, j, k), a->down,
                         taper_dense_at(a, j, j), a->down);
        taper_vector_add(a->complex, rest, taper_c_neg(mirrored(hermitian, second)), taper_dense_at(a, j, k + 1),
                         a->down, taper_dense_at(a, j, j), a->down);
        taper_dense_set(a, j, j, diagonal(a, hermitian, j));
        taper_dense_set(a, j, k, first);
        taper_dense_set(a, j, k + 1, second);
    }
    taper_dense_set(a, k, k, one);
    taper_dense_set(a, k + 1, k + 1, two);
}

// Factors the matrix `a`. Returns 0, or the position (from 1) of the first block of D that is zero.
static int64_t factor(const taper_dense *a, bool hermitian, int32_t *pivots)
{
    int64_t singular = 0;
    for (int64_t k = 0; k < a->rows && taper_dense_goes_on(a, 2 * a->rows);) {
        int64_t pivot;
        const int64_t size = choose(a, hermitian, k, &pivot), last = size == 2 ? k + 1 : k;
        pivots[k] = (int32_t)(pivot + 1);
        if (size == 0) {
            singular = singular == 0 ? k + 1 : singular;
            taper_dense_set(a, k, k, diagonal(a, hermitian, k));
            k++;
            continue;
        }
        if (pivot != last) {
            exchange(a, hermitian, k, last, pivot);
        }
        if (size == 1) {
            eliminate_one(a, hermitian, k);
        } else {
            eliminate_two(a, hermitian, k);
            pivots[k] = pivots[k + 1] = -(int32_t)(pivot + 1);
        }
        k += size;
    }
    return singular;
}

static taper_status factor_argument(taper_linalg *w, taper_tensor **a)
{
    bool hermitian;
    TAPER_TRY(taper_linalg_arg_square(w, 0, a));
    TAPER_TRY(taper_arg_bool(w->call, 1, &hermitian));
    const taper_linalg_batch batch = taper_linalg_batch_of(*a);
    const int64_t n = taper_linalg_rows(*a), count = n == 0 ? 0 : taper_linalg_count(&batch);
    TAPER_TRY(taper_linalg_take(w, LD, *a, NULL, taper_linalg_wide((taper_dtype)(*a)->dtype)));
    TAPER_TRY(taper_linalg_new_vectors(w, PIVOTS, TAPER_I32, &batch, n));
    TAPER_TRY(taper_linalg_new_vectors(w, INFOS, TAPER_I32, &batch, -1));
    TAPER_TRY(taper_linalg_zero(w, INFOS));
    for (int64_t i = 0; i < count; i++) {
        const taper_dense matrix = taper_linalg_matrix(w, w->t[LD], i);
        taper_dense_clear(&matrix, true);
        taper_linalg_ints(w->t[INFOS])[i] =
            (int32_t)factor(&matrix, hermitian && matrix.complex, taper_linalg_ints(w->t[PIVOTS]) + i * n);
        TAPER_TRY(taper_linalg_stopped(w));
    }
    return TAPER_OK;
}

static taper_status ret_factors(taper_linalg *w, const taper_tensor *a)
{
    TAPER_TRY(taper_linalg_ret(w, 0, LD, (taper_dtype)a->dtype, TAPER_BY_COLUMNS));
    return taper_linalg_ret(w, 1, PIVOTS, TAPER_I32, TAPER_BY_ROWS);
}

static taper_status ldl_factor(taper_linalg *w)
{
    taper_tensor *a;
    TAPER_TRY(factor_argument(w, &a));
    TAPER_TRY(taper_linalg_check_infos(w->run, w->name, w->t[INFOS], a->rank == 2));
    return ret_factors(w, a);
}

TAPER_KERNEL(taper_op_linalg_ldl_factor)
{
    return taper_linalg_run(call, "torch.linalg.ldl_factor", ldl_factor);
}

static taper_status ldl_factor_ex(taper_linalg *w)
{
    taper_tensor *a;
    bool check;
    TAPER_TRY(taper_arg_bool(w->call, 2, &check));
    TAPER_TRY(factor_argument(w, &a));
    if (check) {
        TAPER_TRY(taper_linalg_check_infos(w->run, w->name, w->t[INFOS], a->rank == 2));
    }
    TAPER_TRY(ret_factors(w, a));
    return taper_linalg_ret(w, 2, INFOS, TAPER_I32, TAPER_BY_ROWS);
}

TAPER_KERNEL(taper_op_linalg_ldl_factor_ex)
{
    return taper_linalg_run(call, "torch.linalg.ldl_factor_ex", ldl_factor_ex);
}

// ---- solving systems with the factors

static bool valid_pivots(const int32_t *pivots, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        const int64_t row = pivots[k] < 0 ? -(int64_t)pivots[k] : pivots[k];
        if (row < k + 1 || row > n || (pivots[k] < 0 && (k + 1 == n || pivots[k + 1] != pivots[k]))) {
            return false;
        }
        k += pivots[k] < 0;
    }
    return true;
}

static void swap_rows(const taper_dense *b, int64_t p, int64_t q)
{
    if (p != q) {
        taper_vector_swap(b->complex, b->columns, taper_dense_at(b, p, 0), b->right, taper_dense_at(b, q, 0), b->right);
    }
}

// Subtracts column k of L times row k of b from the rows below row `from`.
static void sweep_down(const taper_dense *a, int64_t k, int64_t from, const taper_dense *b)
{
    for (int64_t c = 0; from < a->rows && c < b->columns && taper_dense_goes_on(a, a->rows - from); c++) {
        taper_vector_add(a->complex, a->rows - from, taper_c_neg(taper_dense_get(b, k, c)), taper_dense_at(a, from, k),
                         a->down, taper_dense_at(b, from, c), b->down);
    }
}

static void sweep_up(const taper_dense *a, bool hermitian, int64_t k, int64_t from, const taper_dense *b)
{
    for (int64_t c = 0; from < a->rows && c < b->columns && taper_dense_goes_on(a, a->rows - from); c++) {
        const taper_c128 dot = taper_vector_dot(a->complex, hermitian, a->rows - from, taper_dense_at(a, from, k),
                                                a->down, taper_dense_at(b, from, c), b->down);
        taper_dense_set(b, k, c, taper_c_sub(taper_dense_get(b, k, c), dot));
    }
}

static void solve_block(const taper_dense *a, bool hermitian, int64_t k, const taper_dense *b)
{
    const taper_c128 low = taper_dense_get(a, k + 1, k), high = mirrored(hermitian, low);
    const taper_c128 d1 = taper_c_div(taper_dense_get(a, k, k), high),
                     d2 = taper_c_div(taper_dense_get(a, k + 1, k + 1), low);
    const taper_c128 det = taper_c_sub(taper_c_mul(d1, d2), taper_c(1.0, 0.0));
    for (int64_t c = 0; c < b->columns; c++) {
        const taper_c128 x = taper_c_div(taper_dense_get(b, k, c), high),
                         y = taper_c_div(taper_dense_get(b, k + 1, c), low);
        taper_dense_set(b, k, c, taper_c_div(taper_c_sub(taper_c_mul(d2, x), y), det));
        taper_dense_set(b, k + 1, c, taper_c_div(taper_c_sub(taper_c_mul(d1, y), x), det));
    }
}

static void solve(const taper_dense *a, bool hermitian, const int32_t *pivots, const taper_dense *b)
{
    int64_t k = 0;
    while (k < a->rows) {
        if (pivots[k] > 0) {
            swap_rows(b, k, pivots[k] - 1);
            sweep_down(a, k, k + 1, b);
            for (int64_t c = 0; c < b->columns; c++) {
                taper_dense_set(b, k, c, taper_c_div(taper_dense_get(b, k, c), diagonal(a, hermitian, k)));
            }
            k++;
        } else {
            swap_rows(b, k + 1, -(int64_t)pivots[k] - 1);
            sweep_down(a, k, k + 2, b);
            sweep_down(a, k + 1, k + 2, b);
            solve_block(a, hermitian, k, b);
            k += 2;
        }
    }
    while (k > 0) {
        k--;
        sweep_up(a, hermitian, k, k + 1, b);
        if (pivots[k] > 0) {
            swap_rows(b, k, pivots[k] - 1);
        } else {
            sweep_up(a, hermitian, k - 1, k + 1, b);
            swap_rows(b, k, -(int64_t)pivots[k] - 1);
            k--;
        }
    }
}

static taper_status ldl_solve(taper_linalg *w)
{
    taper_tensor *a, *given, *b;
    bool hermitian;
    taper_linalg_batch batch;
    TAPER_TRY(taper_linalg_arg_square(w, 0, &a));
    TAPER_TRY(taper_arg_tensor(w->call, 1, &given));
    TAPER_TRY(taper_linalg_arg_matrix(w, 2, &b));
    TAPER_TRY(taper_arg_bool(w->call, 3, &hermitian));
    TAPER_TRY(taper_linalg_check_same_dtype(w, a, b));
    const int64_t n = taper_linalg_rows(a);
    if (given->dtype != TAPER_I32 || given->rank + 1u != a->rank ||
        memcmp(given->sizes, a->sizes, given->rank * sizeof *given->sizes) != 0) {
        return taper_linalg_fail(w, "Expected pivots to be int32 and of the shape of LD without its last dimension");
    }
    if (taper_linalg_rows(b) != n) {
        return taper_linalg_fail(w, "Expected B to have as many rows as LD");
    }
    TAPER_TRY(taper_linalg_broadcast(w, a, b, &batch));
    TAPER_TRY(taper_run_contiguous(w->run, given, &w->t[PIVOTS]));
    const taper_linalg_batch own = taper_linalg_batch_of(a);
    const int32_t *const pivots = taper_tensor_data(w->t[PIVOTS]);
    const int64_t matrices = n == 0 ? 0 : taper_linalg_count(&own);
    for (int64_t i = 0; i < matrices; i++) {
        if (!valid_pivots(pivots + i * n, n)) {
            return taper_linalg_fail(w, "the pivots are not those of a factorization");
        }
    }
    const taper_dtype dtype = (taper_dtype)b->dtype;
    TAPER_TRY(taper_linalg_take(w, LD, a, NULL, taper_linalg_wide(dtype)));
    TAPER_TRY(taper_linalg_take(w, X, b, &batch, taper_linalg_wide(dtype)));
    const int64_t count = taper_tensor_numel(w->t[X]) == 0 ? 0 : taper_linalg_count(&batch);
    for (int64_t i = 0; i < count; i++) {
        const int64_t from = taper_linalg_index(&batch, i, &own);
        const taper_dense matrix = taper_linalg_matrix(w, w->t[LD], from), x = taper_linalg_matrix(w, w->t[X], i);
        solve(&matrix, hermitian && matrix.complex, pivots + from * n, &x);
        TAPER_TRY(taper_linalg_stopped(w));
    }
    return taper_linalg_ret(w, 0, X, dtype, TAPER_BY_COLUMNS);
}

TAPER_KERNEL(taper_op_linalg_ldl_solve)
{
    return taper_linalg_run(call, "torch.linalg.ldl_solve", ldl_solve);
}
