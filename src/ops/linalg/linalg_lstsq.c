// SPDX-License-Identifier: BSD-2-Clause
// linalg_lstsq: least squares by LAPACK's drivers.
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/linalg/linalg_lapack.h"

// Numbers of the slots for temporaries; SCRATCH is the first of three.
enum { A, X, RESIDUALS, RANK, SINGULAR, SCRATCH };

typedef struct lstsq {
    taper_lstsq_driver driver;
    double rcond;
    taper_linalg_batch batch, own; // batch of the solution; batch of the matrices
    int64_t m, n, right, rows; // sizes: a is m by n; b has `right` columns; X has `rows` rows, the larger of m and n
    taper_dtype dtype;
} lstsq;

static taper_status read_driver(taper_linalg *w, taper_lstsq_driver *driver)
{
    static const char *const names[] = {"gels", "gelsy", "gelsd", "gelss"};
    const taper_string *text;
    *driver = TAPER_GELSY;
    if (taper_arg_is_none(w->call, 3)) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_arg_string(w->call, 3, &text));
    for (int i = 0; i < 4; i++) {
        if (strcmp(text->data, names[i]) == 0) {
            *driver = (taper_lstsq_driver)i;
            return TAPER_OK;
        }
    }
    return taper_linalg_fail(w, "parameter `driver` should be one of (gels, gelsy, gelsd, gelss)");
}

static char *at_matrix(taper_tensor *tensor, int64_t index, int64_t elements)
{
    return (char *)taper_tensor_mutable(tensor) + (size_t)(index * elements) * taper_tensor_item(tensor);
}

static bool has_rank(const lstsq *l)
{
    return l->driver != TAPER_GELS;
}

static bool has_singular(const lstsq *l)
{
    return l->driver == TAPER_GELSD || l->driver == TAPER_GELSS;
}

// Sets a solution to NaN. This is the result for right sides that are not finite, and for matrices that are not finite
// if the driver accepts them.
static void fill_nan(taper_tensor *x, int64_t index, int64_t count)
{
    const taper_scalar nan = {.kind = TAPER_SCALAR_COMPLEX, .f = (double)NAN, .im = 0.0};
    const taper_scalar real = taper_scalar_double((double)NAN);
    for (int64_t i = 0; i < count; i++) {
        taper_scalar_store((taper_dtype)x->dtype, at_matrix(x, index + i, 1),
                           taper_dtype_is_complex((taper_dtype)x->dtype) ? &nan : &real);
    }
}

static taper_status solve_all(taper_linalg *w, const lstsq *l)
{
    static const char *const routines[] = {"gels", "gelsy", "gelsd", "gelss"};
    const int64_t size = l->m * l->n, part = l->rows * l->right, k = taper_min_i64(l->m, l->n);
    const int64_t count = size == 0 || part == 0 ? 0 : taper_linalg_count(&l->batch);
    if (count == 0) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_lapack_check_size(w, l->rows, taper_max_i64(l->n, l->right)));
    taper_lapack_job job;
    TAPER_TRY(taper_lapack_begin(w, SCRATCH, l->dtype, routines[l->driver], routines[l->driver], &job));
    for (int64_t i = -1; i < count; i++) { // the first call, with index -1, only allocates memory
        const int64_t at = taper_max_i64(i, 0), from = taper_linalg_index(&l->batch, at, &l->own);
        int32_t info = 0, rank = 0;
        const bool wrong = !taper_linalg_finite(w->t[A], at * size, size),
                   lost = !taper_linalg_finite(w->t[X], at * part, part);
        if (wrong && has_singular(l)) {
            return taper_linalg_fail(w, "The least squares solution could not be computed because the input matrix "
                                        "contained non-finite values.");
        }
        if (i >= 0 && lost) {
            memset(at_matrix(w->t[X], at, part), 0, (size_t)part * taper_tensor_item(w->t[X]));
        }
        if (i < 0 || !wrong) {
            const double least = (double)taper_min_i64(l->m, l->n), most = (double)taper_max_i64(l->m, l->n);
            TAPER_TRY(taper_run_commit(w->run, i < 0 ? 0 : least * (4 * most * least + 8 * most * (double)l->right)));
            TAPER_TRY(taper_lapack_lstsq(&job, l->driver, l->m, l->n, l->right, l->rcond, at_matrix(w->t[A], at, size),
                                         at_matrix(w->t[X], at, part),
                                         has_singular(l) ? at_matrix(w->t[SINGULAR], from, k) : NULL, &rank, &info));
        }
        if (info != 0) {
            TAPER_FAIL(
                w->run->error, TAPER_ERROR_ARGUMENT,
                "torch.linalg.lstsq: (Batch element %lld): The least squares solution could not be computed because "
                "the input matrix does not have full rank (error code: %d).",
                (long long)at, (int)info);
        }
        if (i >= 0 && (wrong || lost)) {
            fill_nan(w->t[X], at * part, part);
        }
        if (i >= 0 && has_rank(l)) {
            ((int64_t *)taper_tensor_mutable(w->t[RANK]))[from] = rank;
        }
        TAPER_TRY(taper_linalg_stopped(w));
    }
    return TAPER_OK;
}

// Computes the sums of squares of the rows that LAPACK leaves below the solution, if these rows are defined.
static taper_status residuals(taper_linalg *w, const lstsq *l)
{
    const taper_dtype real = taper_dtype_to_real(l->dtype);
    bool wanted = l->m > l->n && l->driver != TAPER_GELSY;
    for (int64_t i = 0; has_rank(l) && i < taper_tensor_numel(w->t[RANK]); i++) {
        wanted = wanted && ((const int64_t *)taper_tensor_data(w->t[RANK]))[i] == l->n;
    }
    if (!wanted) {
        return taper_linalg_new_empty(w, RESIDUALS, real);
    }
    TAPER_TRY(taper_linalg_new_vectors(w, RESIDUALS, real, &l->batch, l->right));
    const int64_t columns = taper_tensor_numel(w->t[RESIDUALS]);
    for (int64_t c = 0; c < columns; c++) {
        double sum = 0.0;
        for (int64_t i = l->n; i < l->m; i++) {
            taper_scalar x;
            taper_scalar_load(l->dtype, at_matrix(w->t[X], c * l->rows + i, 1), &x);
            sum += x.f * x.f + (x.kind == TAPER_SCALAR_COMPLEX ? x.im * x.im : 0.0);
        }
        const taper_scalar result = taper_scalar_double(sum);
        taper_scalar_store(real, at_matrix(w->t[RESIDUALS], c, 1), &result);
    }
    return TAPER_OK;
}

// Sets the first n rows of X as the result. For a vector the result lacks the dimension of columns.
static taper_status ret_solution(taper_linalg *w, const lstsq *l, bool vector)
{
    taper_tensor *const x = w->t[X];
    if (l->m == 0) {
        TAPER_TRY(taper_linalg_zero(w, X));
    }
    x->sizes[x->rank - 2u] = l->n;
    if (vector) {
        x->rank--;
    }
    // The result keeps the strides of the matrix that includes the dropped rows, as in PyTorch.
    taper_tensor *const target = taper_ret_target(w->call, 0), *result;
    if (target != NULL) {
        TAPER_TRY(taper_check_cast(l->dtype, (taper_dtype)target->dtype, w->run->error));
        TAPER_TRY(taper_ret_new(w->call, 0, l->dtype, x->rank, x->sizes, x->strides, &result));
        return taper_run_copy(w->run, result, x);
    }
    w->t[X] = NULL;
    taper_ret(w->call, 0, TAPER_VAL(x));
    return TAPER_OK;
}

static taper_status run_lstsq(taper_linalg *w)
{
    taper_tensor *a, *given;
    lstsq l;
    TAPER_TRY(taper_linalg_arg_matrix(w, 0, &a));
    TAPER_TRY(taper_arg_tensor(w->call, 1, &given));
    TAPER_TRY(read_driver(w, &l.driver));
    TAPER_TRY(taper_linalg_check_same_dtype(w, a, given));
    if (given->rank == 0 || given->rank > a->rank || given->rank + 1u < a->rank) {
        return taper_linalg_fail(
            w, "input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1");
    }
    taper_tensor b = taper_tensor_local(given);
    const bool vector = given->rank == 1 || (given->rank + 1u == a->rank &&
                                             memcmp(given->sizes, a->sizes, given->rank * sizeof *given->sizes) == 0);
    if (vector) { // a vector has one dimension fewer than a matrix
        b.sizes[b.rank] = 1;
        b.strides[b.rank] = 1;
        b.rank++;
    }
    l.dtype = (taper_dtype)a->dtype;
    l.m = taper_linalg_rows(a);
    l.n = taper_linalg_columns(a);
    l.right = b.sizes[b.rank - 1u];
    l.rows = taper_max_i64(l.m, l.n);
    l.own = taper_linalg_batch_of(a);
    if (taper_linalg_rows(&b) != l.m) {
        return taper_linalg_fail(w, vector ? "input.size(-2) should match other.size(-1)"
                                           : "input.size(-2) should match other.size(-2)");
    }
    TAPER_TRY(taper_linalg_broadcast(w, a, &b, &l.batch));
    const double step = l.dtype == TAPER_F64 || l.dtype == TAPER_C128 ? 0x1p-52 : 0x1p-23;
    TAPER_TRY(taper_arg_double_or(w->call, 2, step * (double)l.rows, &l.rcond));
    TAPER_TRY(taper_linalg_take(w, A, a, &l.batch, l.dtype));
    TAPER_TRY(taper_linalg_new(w, X, l.dtype, &l.batch, l.rows, l.right));
    TAPER_TRY(taper_linalg_zero(w, X));
    taper_tensor *const x = w->t[X];
    taper_tensor top = taper_tensor_local(x);
    top.sizes[top.rank - 2u] = l.m;
    TAPER_TRY(taper_run_copy(w->run, &top, &b));
    TAPER_TRY(has_rank(&l) ? taper_linalg_new_vectors(w, RANK, TAPER_I64, &l.own, -1)
                           : taper_linalg_new_empty(w, RANK, TAPER_I64));
    const taper_dtype real = taper_dtype_to_real(l.dtype);
    TAPER_TRY(has_singular(&l) ? taper_linalg_new_vectors(w, SINGULAR, real, &l.own, taper_min_i64(l.m, l.n))
                               : taper_linalg_new_empty(w, SINGULAR, real));
    TAPER_TRY(taper_linalg_zero(w, RANK));
    TAPER_TRY(taper_linalg_zero(w, SINGULAR));
    TAPER_TRY(solve_all(w, &l));
    TAPER_TRY(residuals(w, &l));
    TAPER_TRY(ret_solution(w, &l, vector));
    TAPER_TRY(taper_linalg_ret(w, 1, RESIDUALS, real, TAPER_BY_ROWS));
    TAPER_TRY(taper_linalg_ret(w, 2, RANK, TAPER_I64, TAPER_BY_ROWS));
    return taper_linalg_ret(w, 3, SINGULAR, real, TAPER_BY_ROWS);
}

TAPER_KERNEL(taper_op_linalg_lstsq)
{
    return taper_linalg_run(call, "torch.linalg.lstsq", run_lstsq);
}
