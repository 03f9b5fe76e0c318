// SPDX-License-Identifier: BSD-2-Clause
// Singular values and vectors, and operators based on them: ranks and pseudo-inverses.
#include <stdio.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/linalg/linalg_lapack.h"

enum { U, S, VH, ATOL, RTOL, RESULT, SCRATCH }; // numbers of the slots for temporaries; SCRATCH is the first of four

static char *at_matrix(taper_tensor *tensor, int64_t index, int64_t elements)
{
    return tensor == NULL
               ? NULL
               : (char *)taper_tensor_mutable(tensor) + (size_t)(index * elements) * taper_tensor_item(tensor);
}

static taper_status fill_identity(const taper_linalg *w, size_t slot)
{
    TAPER_TRY(taper_linalg_zero(w, slot));
    taper_tensor *const tensor = w->t[slot];
    const int64_t n = taper_linalg_rows(tensor), rows = n == 0 ? 0 : taper_tensor_numel(tensor) / n;
    const taper_scalar one = taper_scalar_double(1.0);
    for (int64_t row = 0; row < rows; row++) {
        taper_scalar_store((taper_dtype)tensor->dtype, at_matrix(tensor, row * n + row % n, 1), &one);
    }
    return taper_run_spend(w->run, (uint64_t)rows * 20);
}

taper_status taper_linalg_svd(taper_linalg *w, const taper_tensor *a, char vectors, size_t u, size_t s, size_t vh,
                              size_t scratch)
{
    const taper_dtype dtype = (taper_dtype)a->dtype;
    const taper_linalg_batch batch = taper_linalg_batch_of(a);
    const int64_t m = taper_linalg_rows(a), n = taper_linalg_columns(a), k = taper_min_i64(m, n);
    const int64_t u_columns = vectors == 'A' ? m : k, v_rows = vectors == 'A' ? n : k;
    TAPER_TRY(taper_linalg_new_vectors(w, s, taper_dtype_to_real(dtype), &batch, k));
    if (vectors != 'N') {
        TAPER_TRY(taper_linalg_new(w, u, dtype, &batch, m, u_columns));
        TAPER_TRY(taper_linalg_new(w, vh, dtype, &batch, v_rows, n));
    }
    if (taper_tensor_numel(a) == 0) {
        if (vectors == 'A') {
            TAPER_TRY(fill_identity(w, u));
            TAPER_TRY(fill_identity(w, vh));
        }
        return TAPER_OK;
    }
    const int64_t count = taper_linalg_count(&batch), most = taper_max_i64(m, n);
    TAPER_TRY(taper_lapack_check_size(w, vectors == 'A' ? most : m, vectors == 'A' ? most : n));
    TAPER_TRY(taper_linalg_take(w, scratch, a, NULL, dtype));
    if (!taper_linalg_finite(w->t[scratch], 0, taper_tensor_numel(a))) {
        TAPER_FAIL(
            w->run->error, TAPER_ERROR_ARGUMENT,
            "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values.");
    }
    taper_lapack_job job;
    TAPER_TRY(taper_lapack_begin(w, scratch + 1, dtype, "gesdd", "gesdd", &job));
    for (int64_t i = -1; i < count; i++) { // the first call, with index -1, only allocates memory
        const int64_t at = taper_max_i64(i, 0);
        int32_t info = 0;
        double unused[2];
        void *const u_at = vectors == 'N' ? (void *)unused : at_matrix(w->t[u], at, m * u_columns),
                    *const v_at = vectors == 'N' ? (void *)unused : at_matrix(w->t[vh], at, v_rows * n);
        TAPER_TRY(taper_run_commit(w->run, i < 0 ? 0 : (vectors == 'N' ? 1.5 : 4) * (double)m * (double)n * (double)k));
        TAPER_TRY(taper_lapack_svd(&job, vectors, m, n, at_matrix(w->t[scratch], at, m * n), at_matrix(w->t[s], at, k),
                                   u_at, v_at, &info));
        if (info != 0) {
            char where[40] = "";
            if (batch.rank != 0) {
                (void)snprintf(where, sizeof where, ": (Batch element %lld)", (long long)at);
            }
            TAPER_FAIL(
                w->run->error, TAPER_ERROR_ARGUMENT,
                "linalg.svd%s: The algorithm failed to converge because the input matrix is ill-conditioned or has "
                "too many repeated singular values (error code: %d).",
                where, (int)info);
        }
        TAPER_TRY(taper_linalg_stopped(w));
    }
    return TAPER_OK;
}

// ---- svd and svdvals

static taper_status check_driver(taper_linalg *w, size_t at)
{
    return taper_arg_is_none(w->call, at)
               ? TAPER_OK
               : taper_linalg_fail(
                     w, "keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
}

static taper_status ret_svd(taper_linalg *w, char vectors)
{
    taper_tensor *a;
    TAPER_TRY(taper_linalg_arg_matrix(w, 0, &a));
    TAPER_TRY(taper_linalg_svd(w, a, vectors, U, S, VH, SCRATCH));
    const taper_dtype dtype = (taper_dtype)a->dtype;
    if (vectors == 'N') {
        TAPER_TRY(taper_linalg_new_empty(w, U, dtype));
        TAPER_TRY(taper_linalg_new_empty(w, VH, dtype));
    }
    const taper_linalg_order order = vectors == 'N' ? TAPER_BY_ROWS : TAPER_BY_COLUMNS;
    TAPER_TRY(taper_linalg_ret(w, 0, U, dtype, order));
    TAPER_TRY(taper_linalg_ret(w, 1, S, taper_dtype_to_real(dtype), TAPER_BY_ROWS));
    return taper_linalg_ret(w, 2, VH, dtype, order);
}

static taper_status linalg_svd(taper_linalg *w)
{
    bool full;
    TAPER_TRY(taper_arg_bool(w->call, 1, &full));
    TAPER_TRY(check_driver(w, 2));
    return ret_svd(w, full ? 'A' : 'S');
}

TAPER_KERNEL(taper_op_linalg_svd)
{
    return taper_linalg_run(call, "linalg.svd", linalg_svd);
}

static taper_status inner_svd(taper_linalg *w)
{
    bool full, vectors;
    TAPER_TRY(taper_arg_bool(w->call, 1, &full));
    TAPER_TRY(taper_arg_bool(w->call, 2, &vectors));
    TAPER_TRY(check_driver(w, 3));
    return ret_svd(w, !vectors ? 'N' : full ? 'A' : 'S');
}

TAPER_KERNEL(taper_op__linalg_svd)
{
    return taper_linalg_run(call, "linalg.svd", inner_svd);
}

static taper_status svdvals(taper_linalg *w)
{
    taper_tensor *a;
    TAPER_TRY(taper_linalg_arg_matrix(w, 0, &a));
    TAPER_TRY(check_driver(w, 1));
    TAPER_TRY(taper_linalg_svd(w, a, 'N', U, S, VH, SCRATCH));
    return taper_linalg_ret(w, 0, S, taper_dtype_to_real((taper_dtype)a->dtype), TAPER_BY_ROWS);
}

TAPER_KERNEL(taper_op_linalg_svdvals)
{
    return taper_linalg_run(call, "linalg.svd", svdvals);
}

taper_status taper_linalg_adjoint(taper_linalg *w, size_t from, size_t to)
{
    const taper_tensor turned = taper_tensor_twin_t(w->t[from]);
    TAPER_TRY(taper_linalg_take(w, to, &turned, NULL, taper_linalg_wide((taper_dtype)turned.dtype)));
    const bool complex = w->t[to]->dtype == TAPER_C128;
    taper_vector_conjugate(complex, taper_tensor_numel(w->t[to]), taper_linalg_doubles(w->t[to]), 1);
    return TAPER_OK;
}

// Computes torch.svd, which returns V without a transposition.
static taper_status old_svd(taper_linalg *w)
{
    taper_tensor *a;
    bool some, vectors;
    TAPER_TRY(taper_linalg_arg_matrix(w, 0, &a));
    TAPER_TRY(taper_arg_bool(w->call, 1, &some));
    TAPER_TRY(taper_arg_bool(w->call, 2, &vectors));
    const taper_dtype dtype = (taper_dtype)a->dtype;
    const taper_linalg_batch batch = taper_linalg_batch_of(a);
    TAPER_TRY(taper_linalg_svd(w, a, !vectors ? 'N' : some ? 'S' : 'A', U, S, VH, SCRATCH));
    if (vectors) {
        TAPER_TRY(taper_linalg_adjoint(w, VH, RESULT));
    } else {
        TAPER_TRY(taper_linalg_new(w, U, dtype, &batch, taper_linalg_rows(a), taper_linalg_rows(a)));
        TAPER_TRY(taper_linalg_new(w, RESULT, dtype, &batch, taper_linalg_columns(a), taper_linalg_columns(a)));
        TAPER_TRY(taper_linalg_zero(w, U));
        TAPER_TRY(taper_linalg_zero(w, RESULT));
    }
    TAPER_TRY(taper_linalg_ret(w, 0, U, dtype, vectors ? TAPER_BY_COLUMNS : TAPER_BY_ROWS));
    TAPER_TRY(taper_linalg_ret(w, 1, S, taper_dtype_to_real(dtype), TAPER_BY_ROWS));
    return taper_linalg_ret(w, 2, RESULT, dtype, vectors ? TAPER_BY_ROWS : TAPER_BY_COLUMNS);
}

TAPER_KERNEL(taper_op_svd)
{
    return taper_linalg_run(call, "linalg.svd", old_svd);
}

// ---- ranks and pseudo-inverses: the values that count as zero

// Positions of the arguments; 0 if an argument does not exist. A tolerance is a float or a tensor.
typedef struct tolerances {
    size_t atol, rtol, hermitian;
    bool single; // true if one tolerance is given, in either position
} tolerances;

static taper_status read_tolerance(taper_linalg *w, size_t at, size_t slot, double otherwise)
{
    const taper_linalg_batch none = {.rank = 0};
    taper_tensor *tensor;
    if (at != 0 && at < w->call->arg_count && w->call->args[at].tag == TAPER_TENSOR) {
        TAPER_TRY(taper_arg_tensor(w->call, at, &tensor));
        if (taper_dtype_is_complex((taper_dtype)tensor->dtype)) {
            return taper_linalg_fail(w, "a tolerance of complex type is not supported");
        }
        TAPER_TRY(
            taper_tensor_new(w->run->heap, TAPER_F64, tensor->rank, tensor->sizes, NULL, &w->t[slot], w->run->error));
        return taper_run_copy(w->run, w->t[slot], tensor);
    }
    if (at != 0) {
        TAPER_TRY(taper_arg_double_or(w->call, at, otherwise, &otherwise));
    }
    TAPER_TRY(taper_linalg_new_vectors(w, slot, TAPER_F64, &none, -1));
    *taper_linalg_doubles(w->t[slot]) = otherwise;
    return TAPER_OK;
}

static taper_linalg_batch whole(const taper_tensor *tensor) // returns all dimensions of the tensor as a batch
{
    taper_linalg_batch batch = {.rank = tensor->rank};
    memcpy(batch.sizes, tensor->sizes, tensor->rank * sizeof *batch.sizes);
    return batch;
}

// Stores tolerances as doubles in slots ATOL and RTOL and singular values in slot S, and computes the common batch. A
// negative relative tolerance means the default.
static taper_status prepare(taper_linalg *w, const taper_tensor *a, const tolerances *t, taper_linalg_batch *batch)
{
    TAPER_TRY(read_tolerance(w, t->atol, ATOL, 0.0));
    TAPER_TRY(read_tolerance(w, t->rtol, RTOL, t->single ? 0.0 : -1.0));
    *batch = taper_linalg_batch_of(a);
    for (size_t slot = ATOL; slot <= RTOL; slot++) {
        const taper_linalg_batch own = *batch;
        if (!taper_broadcast_shapes(own.rank, own.sizes, w->t[slot]->rank, w->t[slot]->sizes, &batch->rank,
                                    batch->sizes)) {
            return taper_linalg_fail(w, "the tolerances do not broadcast with the input");
        }
    }
    return TAPER_OK;
}

// Returns the limit up to which values of matrix `index` count as zero. The argument `largest` is the matrix's largest
// value.
static double threshold(taper_linalg *w, const taper_tensor *a, const tolerances *t, const taper_linalg_batch *batch,
                        int64_t index, double largest)
{
    const taper_linalg_batch atols = whole(w->t[ATOL]), rtols = whole(w->t[RTOL]);
    const double atol = taper_linalg_doubles(w->t[ATOL])[taper_linalg_index(batch, index, &atols)];
    double rtol = taper_linalg_doubles(w->t[RTOL])[taper_linalg_index(batch, index, &rtols)];
    if (!t->single && (t->rtol == 0 || taper_arg_is_none(w->call, t->rtol))) {
        const bool fine = a->dtype == TAPER_F64 || a->dtype == TAPER_C128;
        const double step = fine ? 0x1p-52 : 0x1p-23;
        rtol = atol > 0.0 ? 0.0 : step * (double)taper_max_i64(taper_linalg_rows(a), taper_linalg_columns(a));
    }
    return fmax(atol, rtol * largest);
}

static taper_status read_hermitian(const taper_linalg *w, const tolerances *t, bool *hermitian)
{
    *hermitian = false;
    return t->hermitian == 0 ? TAPER_OK : taper_arg_bool(w->call, t->hermitian, hermitian);
}

// Returns the largest modulus among the k values of matrix `from`.
static double load_largest(const taper_tensor *s, int64_t from, int64_t k)
{
    double largest = 0.0;
    for (int64_t i = 0; i < k; i++) {
        largest = fmax(largest, fabs(taper_load_double((taper_dtype)s->dtype, taper_tensor_data(s), from * k + i)));
    }
    return largest;
}

static taper_status run_rank(taper_linalg *w, const tolerances *t)
{
    taper_tensor *a;
    bool hermitian;
    taper_linalg_batch batch;
    TAPER_TRY(taper_linalg_arg_matrix(w, 0, &a));
    TAPER_TRY(read_hermitian(w, t, &hermitian));
    TAPER_TRY(prepare(w, a, t, &batch));
    if (hermitian) {
        TAPER_TRY(taper_linalg_check_square(w, a));
        TAPER_TRY(taper_linalg_eigh(w, a, true, 'N', 'L', S, U, SCRATCH));
    } else {
        TAPER_TRY(taper_linalg_svd(w, a, 'N', U, S, VH, SCRATCH));
    }
    TAPER_TRY(taper_linalg_new_vectors(w, RESULT, TAPER_I64, &batch, -1));
    TAPER_TRY(taper_linalg_zero(w, RESULT));
    const taper_linalg_batch own = taper_linalg_batch_of(a);
    const int64_t k = taper_min_i64(taper_linalg_rows(a), taper_linalg_columns(a));
    const int64_t count = k == 0 ? 0 : taper_linalg_count(&batch);
    int64_t *const ranks = taper_tensor_mutable(w->t[RESULT]);
    for (int64_t i = 0; i < count; i++) {
        const int64_t from = taper_linalg_index(&batch, i, &own);
        const double limit = threshold(w, a, t, &batch, i, load_largest(w->t[S], from, k));
        for (int64_t j = 0; j < k; j++) {
            ranks[i] +=
                fabs(taper_load_double((taper_dtype)w->t[S]->dtype, taper_tensor_data(w->t[S]), from * k + j)) > limit;
        }
    }
    return taper_linalg_ret(w, 0, RESULT, TAPER_I64, TAPER_BY_ROWS);
}

// Computes linalg_matrix_rank(self, tol, hermitian).
static taper_status rank_tol(taper_linalg *w)
{
    return run_rank(w, &(tolerances){.atol = 1, .hermitian = 2, .single = true});
}

TAPER_KERNEL(taper_op_linalg_matrix_rank)
{
    return taper_linalg_run(call, "torch.linalg.matrix_rank", rank_tol);
}

// Computes linalg_matrix_rank(self, *, atol, rtol, hermitian).
static taper_status rank_both(taper_linalg *w)
{
    return run_rank(w, &(tolerances){.atol = 1, .rtol = 2, .hermitian = 3});
}

TAPER_KERNEL(taper_op_linalg_matrix_rank_atol_rtol)
{
    return taper_linalg_run(call, "torch.linalg.matrix_rank", rank_both);
}

// Computes the pseudo-inverse V diag(1 / s) U^H of matrix `from` into x. The slots of V and U have double precision.
static taper_status invert_one(taper_linalg *w, size_t v, int64_t from, double limit, const taper_dense *x)
{
    const taper_tensor *const s = w->t[S];
    const taper_dense left = taper_linalg_matrix(w, w->t[v], from), right = taper_linalg_matrix(w, w->t[U], from);
    const int64_t k = left.columns;
    for (int64_t j = 0; j < k; j++) {
        const double value = taper_load_double((taper_dtype)s->dtype, taper_tensor_data(s), from * k + j);
        if (!(fabs(value) > limit)) {
            continue;
        }
        for (int64_t c = 0; c < x->columns && taper_dense_goes_on(x, x->rows); c++) {
            taper_c128 factor = taper_c_conj(taper_dense_get(&right, c, j));
            factor = taper_c(factor.re / value, factor.im / value);
            taper_vector_add(x->complex, x->rows, factor, taper_dense_at(&left, 0, j), left.down,
                             taper_dense_at(x, 0, c), x->down);
        }
        TAPER_TRY(taper_linalg_stopped(w));
    }
    return TAPER_OK;
}

static taper_status run_pinv(taper_linalg *w, const tolerances *t)
{
    taper_tensor *a;
    bool hermitian;
    taper_linalg_batch batch;
    TAPER_TRY(taper_linalg_arg_matrix(w, 0, &a));
    TAPER_TRY(read_hermitian(w, t, &hermitian));
    const taper_dtype dtype = (taper_dtype)a->dtype, wide = taper_linalg_wide(dtype);
    const int64_t rows = taper_linalg_rows(a), columns = taper_linalg_columns(a), k = taper_min_i64(rows, columns);
    const taper_linalg_batch own = taper_linalg_batch_of(a);
    if (taper_tensor_numel(a) == 0) {
        TAPER_TRY(taper_linalg_new(w, RESULT, dtype, &own, columns, rows));
        return taper_linalg_ret(w, 0, RESULT, dtype, TAPER_BY_ROWS);
    }
    TAPER_TRY(prepare(w, a, t, &batch));
    enum { WIDE_V = SCRATCH };
    if (hermitian) {
        TAPER_TRY(taper_linalg_check_square(w, a));
        TAPER_TRY(taper_linalg_eigh(w, a, true, 'V', 'L', S, VH, SCRATCH));
        TAPER_TRY(taper_linalg_take(w, U, w->t[VH], NULL, wide));
        TAPER_TRY(taper_linalg_take(w, WIDE_V, w->t[VH], NULL, wide));
    } else {
        TAPER_TRY(taper_linalg_svd(w, a, 'S', U, S, VH, SCRATCH));
        TAPER_TRY(taper_linalg_adjoint(w, VH, WIDE_V));
        const taper_tensor u = taper_tensor_local(w->t[U]);
        TAPER_TRY(taper_linalg_take(w, VH, &u, NULL, wide));
        taper_tensor *const swapped = w->t[U];
        w->t[U] = w->t[VH];
        w->t[VH] = swapped;
    }
    TAPER_TRY(taper_linalg_new(w, RESULT, wide, &batch, columns, rows));
    TAPER_TRY(taper_linalg_zero(w, RESULT));
    const int64_t count = taper_linalg_count(&batch);
    for (int64_t i = 0; i < count; i++) {
        const int64_t from = taper_linalg_index(&batch, i, &own);
        const taper_dense x = taper_linalg_matrix(w, w->t[RESULT], i);
        TAPER_TRY(invert_one(w, WIDE_V, from, threshold(w, a, t, &batch, i, load_largest(w->t[S], from, k)), &x));
    }
    return taper_linalg_ret(w, 0, RESULT, dtype, TAPER_BY_ROWS);
}

// Computes linalg_pinv(self, rcond, hermitian).
static taper_status pinv_rcond(taper_linalg *w)
{
    return run_pinv(w, &(tolerances){.rtol = 1, .hermitian = 2, .single = true});
}

TAPER_KERNEL(taper_op_linalg_pinv)
{
    return taper_linalg_run(call, "torch.linalg.pinv", pinv_rcond);
}

// Computes linalg_pinv(self, *, atol, rtol, hermitian).
static taper_status pinv_both(taper_linalg *w)
{
    return run_pinv(w, &(tolerances){.atol = 1, .rtol = 2, .hermitian = 3});
}

TAPER_KERNEL(taper_op_linalg_pinv_atol_rtol)
{
    return taper_linalg_run(call, "torch.linalg.pinv", pinv_both);
}

static taper_status pinverse(taper_linalg *w)
{
    return run_pinv(w, &(tolerances){.rtol = 1, .single = true});
}

TAPER_KERNEL(taper_op_pinverse)
{
    return taper_linalg_run(call, "torch.linalg.pinv", pinverse);
}
