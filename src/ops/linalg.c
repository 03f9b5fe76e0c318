// SPDX-License-Identifier: BSD-2-Clause
// Factorizations and what follows from them directly: inverse, determinant, Cholesky, solving, powers of matrices.
#include "ops/linalg.h"

#include <math.h>

#include "ops/kernels.h"
#include "ops/matmul.h"

int64_t taper_lu(double *a, int64_t n, int64_t *swaps, int *sign)
{
    int64_t singular = 0;
    *sign = 1;
    for (int64_t c = 0; c < n; c++) {
        int64_t pivot = c;
        for (int64_t r = c + 1; r < n; r++) {
            if (fabs(a[r * n + c]) > fabs(a[pivot * n + c])) {
                pivot = r;
            }
        }
        swaps[c] = pivot;
        if (pivot != c) {
            *sign = -*sign;
            for (int64_t i = 0; i < n; i++) {
                const double t = a[c * n + i];
                a[c * n + i] = a[pivot * n + i];
                a[pivot * n + i] = t;
            }
        }
        const double d = a[c * n + c];
        if (d == 0.0) {
            singular = singular == 0 ? c + 1 : singular;
            continue;
        }
        for (int64_t r = c + 1; r < n; r++) {
            const double factor = a[r * n + c] / d;
            a[r * n + c] = factor;
            for (int64_t i = c + 1; factor != 0.0 && i < n; i++) {
                a[r * n + i] -= factor * a[c * n + i];
            }
        }
    }
    return singular;
}

void taper_triangular(const double *a, int64_t n, bool upper, bool transposed, bool unit, double *b, int64_t m)
{
    const int64_t row = transposed ? 1 : n, column = transposed ? n : 1;
    const bool backwards = upper != transposed;
    for (int64_t step = 0; step < n; step++) {
        const int64_t i = backwards ? n - 1 - step : step;
        for (int64_t j = 0; j < step; j++) {
            const int64_t k = backwards ? n - 1 - j : j;
            const double factor = a[i * row + k * column];
            for (int64_t c = 0; c < m; c++) {
                b[i * m + c] -= factor * b[k * m + c];
            }
        }
        for (int64_t c = 0; c < m && !unit; c++) {
            b[i * m + c] /= a[i * n + i];
        }
    }
}

void taper_lu_solve(const double *a, int64_t n, const int64_t *swaps, double *b, int64_t m)
{
    for (int64_t i = 0; i < n; i++) {
        for (int64_t c = 0; c < m && swaps[i] != i; c++) {
            const double t = b[i * m + c];
            b[i * m + c] = b[swaps[i] * m + c];
            b[swaps[i] * m + c] = t;
        }
    }
    taper_triangular(a, n, false, false, true, b, m);
    taper_triangular(a, n, true, false, false, b, m);
}

int64_t taper_cholesky_lower(double *a, int64_t n)
{
    for (int64_t c = 0; c < n; c++) {
        double d = a[c * n + c];
        for (int64_t k = 0; k < c; k++) {
            d -= a[c * n + k] * a[c * n + k];
        }
        if (!(d > 0.0)) {
            return c + 1;
        }
        d = sqrt(d);
        a[c * n + c] = d;
        for (int64_t r = c + 1; r < n; r++) {
            double sum = a[r * n + c];
            for (int64_t k = 0; k < c; k++) {
                sum -= a[r * n + k] * a[c * n + k];
            }
            a[r * n + c] = sum / d;
            a[c * n + r] = 0.0;
        }
    }
    return 0;
}

taper_status taper_linalg_take(taper_run *run, const char *name, const taper_tensor *tensor, bool square,
                               taper_tensor **matrices)
{
    if (tensor->rank < 2) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "%s: The input tensor must have at least 2 dimensions, its sizes are %s", name, TAPER_SHAPE(tensor));
    }
    if (square && tensor->sizes[tensor->rank - 1u] != tensor->sizes[tensor->rank - 2u]) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "%s: A must be batches of square matrices, but they are %lld by %lld matrices", name,
                   (long long)tensor->sizes[tensor->rank - 2u], (long long)tensor->sizes[tensor->rank - 1u]);
    }
    if (tensor->dtype != TAPER_F32 && tensor->dtype != TAPER_F64) {
        TAPER_FAIL(run->error,
                   taper_dtype_is_complex((taper_dtype)tensor->dtype) ? TAPER_ERROR_UNSUPPORTED : TAPER_ERROR_ARGUMENT,
                   "%s: expected a real floating-point tensor as input, got %s", name,
                   taper_dtype_torch_name((taper_dtype)tensor->dtype));
    }
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_F64, tensor->rank, tensor->sizes, NULL, matrices, run->error));
    return taper_tensor_copy(*matrices, tensor, run->error);
}

static int64_t batch_of(const taper_tensor *tensor)
{
    int64_t count = 1;
    for (size_t i = 0; i + 2 < tensor->rank; i++) {
        count *= tensor->sizes[i];
    }
    return count;
}

// Room for the row exchanges of one matrix; NULL for none.
static taper_status new_swaps(taper_run *run, int64_t n, int64_t **swaps, size_t *bytes)
{
    *swaps = NULL;
    if (!taper_mul_size((size_t)n, sizeof **swaps, bytes)) {
        return taper_fail_memory(run->error);
    }
    if (*bytes != 0) {
        *swaps = taper_heap_alloc(run->heap, *bytes);
    }
    return *swaps == NULL && *bytes != 0 ? taper_fail_memory(run->error) : TAPER_OK;
}

static taper_status singular(taper_run *run, const char *name, int64_t info, int64_t which, bool batched)
{
    if (batched) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "%s: (Batch element %lld): The diagonal element %lld is zero, the inversion could not be completed "
                   "because the input "
                   "matrix is singular.",
                   name, (long long)which, (long long)info);
    }
    TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
               "%s: The diagonal element %lld is zero, the inversion could not be completed because the input matrix "
               "is singular.",
               name, (long long)info);
}

// Solves a x = b in place of b, [.., n, m] each.
static taper_status solve_all(taper_run *run, const char *name, taper_tensor *a, taper_tensor *b)
{
    const int64_t n = a->sizes[a->rank - 1u], m = b->sizes[b->rank - 1u], batch = batch_of(a);
    int64_t *swaps;
    size_t bytes;
    int sign;
    taper_status status = new_swaps(run, n, &swaps, &bytes);
    for (int64_t i = 0; i < batch && status == TAPER_OK && n != 0; i++) {
        double *matrix = (double *)taper_tensor_mutable(a) + i * n * n;
        const int64_t info = taper_lu(matrix, n, swaps, &sign);
        if (info != 0) {
            status = singular(run, name, info, i, a->rank > 2);
            break;
        }
        taper_lu_solve(matrix, n, swaps, (double *)taper_tensor_mutable(b) + i * n * m, m);
    }
    if (swaps != NULL) {
        taper_heap_free(run->heap, swaps, bytes);
    }
    return status;
}

static taper_status identity(taper_run *run, const taper_tensor *like, taper_tensor **result)
{
    TAPER_TRY(taper_tensor_zeros(run->heap, TAPER_F64, like->rank, like->sizes, result, run->error));
    const int64_t n = like->sizes[like->rank - 1u], batch = batch_of(like);
    double *x = taper_tensor_mutable(*result);
    for (int64_t i = 0; i < batch * n; i++) {
        x[i * n + i % n] = 1.0;
    }
    return TAPER_OK;
}

// The inverse as a new tensor of doubles.
static taper_status inverse(taper_run *run, const char *name, const taper_tensor *tensor, taper_tensor **result)
{
    taper_tensor *a = NULL, *x = NULL;
    taper_status status = taper_linalg_take(run, name, tensor, true, &a);
    if (status == TAPER_OK) {
        status = identity(run, a, &x);
    }
    if (status == TAPER_OK) {
        status = solve_all(run, name, a, x);
    }
    taper_tensor_drop(a);
    if (status != TAPER_OK) {
        taper_tensor_drop(x);
        return status;
    }
    *result = x;
    return TAPER_OK;
}

// Results are column-major, as LAPACK leaves them.
static taper_status ret_columns(taper_call *call, size_t at, taper_tensor *value, taper_dtype dtype)
{
    taper_run *run = call->run;
    const size_t rank = value->rank;
    int64_t strides[TAPER_MAX_RANK];
    if (rank < 2) {
        return taper_ret_cast(call, at, value, dtype);
    }
    taper_strides_contiguous(rank, value->sizes, strides);
    strides[rank - 2] = 1;
    strides[rank - 1] = taper_max_i64(value->sizes[rank - 2], 1);
    taper_tensor *turned = NULL;
    taper_status status = taper_tensor_new(run->heap, dtype, rank, value->sizes, strides, &turned, run->error);
    if (status == TAPER_OK) {
        status = taper_tensor_copy(turned, value, run->error);
    }
    taper_tensor_drop(value);
    if (status != TAPER_OK) {
        taper_tensor_drop(turned);
        return status;
    }
    return taper_ret_tensor(call, at, turned);
}

taper_status taper_op_inverse(taper_call *call)
{
    taper_tensor *a, *x = NULL;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(inverse(call->run, "linalg.inv", a, &x));
    return ret_columns(call, 0, x, (taper_dtype)a->dtype);
}

// ---- determinants: PyTorch's kinds differ only in what is made of the factors

typedef enum determinant { DETERMINANT, SIGN_AND_LOG, LOG_ONLY } determinant;

static taper_status new_batch(taper_run *run, const taper_tensor *like, taper_tensor **result)
{
    return taper_tensor_new(run->heap, TAPER_F64, like->rank - 2u, like->sizes, NULL, result, run->error);
}

static taper_status run_determinant(taper_call *call, determinant kind)
{
    static const char *const names[] = {"linalg.det", "linalg.slogdet", "logdet"};
    taper_tensor *tensor, *a = NULL, *first = NULL, *second = NULL;
    taper_run *run = call->run;
    int64_t *swaps = NULL;
    size_t bytes = 0;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    taper_status status = taper_linalg_take(run, names[kind], tensor, true, &a);
    if (status == TAPER_OK) {
        status = new_batch(run, a, &first);
    }
    if (status == TAPER_OK) {
        status = new_batch(run, a, &second);
    }
    if (status == TAPER_OK) {
        status = new_swaps(run, a->sizes[a->rank - 1u], &swaps, &bytes);
    }
    if (status == TAPER_OK) {
        const int64_t n = a->sizes[a->rank - 1u], batch = batch_of(a);
        for (int64_t i = 0; i < batch; i++) {
            double *matrix = (double *)taper_tensor_mutable(a) + i * n * n, product = 1.0, log_sum = 0.0;
            int sign = 1;
            (void)taper_lu(matrix, n, swaps, &sign);
            double signs = (double)sign;
            for (int64_t j = 0; j < n; j++) {
                const double d = matrix[j * n + j];
                product *= d;
                log_sum += log(fabs(d));
                signs *= d > 0.0 ? 1.0 : d < 0.0 ? -1.0 : d;
            }
            ((double *)taper_tensor_mutable(first))[i] = kind == DETERMINANT ? product * (double)sign : signs;
            ((double *)taper_tensor_mutable(second))[i] = kind == LOG_ONLY && signs < 0.0 ? (double)NAN : log_sum;
        }
    }
    if (swaps != NULL) {
        taper_heap_free(run->heap, swaps, bytes);
    }
    taper_tensor_drop(a);
    const taper_dtype dtype = (taper_dtype)tensor->dtype;
    if (status == TAPER_OK && kind == LOG_ONLY) {
        taper_tensor *const t = first;
        first = second;
        second = t;
    }
    if (status == TAPER_OK) {
        status = taper_ret_cast(call, 0, first, dtype);
        first = NULL;
    }
    if (status == TAPER_OK && kind == SIGN_AND_LOG) {
        status = taper_ret_cast(call, 1, second, dtype);
        second = NULL;
    }
    taper_tensor_drop(first);
    taper_tensor_drop(second);
    return status;
}

taper_status taper_op_det(taper_call *call)
{
    return run_determinant(call, DETERMINANT);
}

taper_status taper_op_slogdet(taper_call *call)
{
    return run_determinant(call, SIGN_AND_LOG);
}

taper_status taper_op_logdet(taper_call *call)
{
    return run_determinant(call, LOG_ONLY);
}

// ---- Cholesky

taper_status taper_op_cholesky(taper_call *call)
{
    taper_tensor *tensor, *a = NULL;
    bool upper;
    taper_run *run = call->run;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    TAPER_TRY(taper_arg_bool(call, 1, &upper));
    taper_status status = taper_linalg_take(run, "linalg.cholesky", tensor, true, &a);
    const int64_t n = status == TAPER_OK ? a->sizes[a->rank - 1u] : 0, batch = status == TAPER_OK ? batch_of(a) : 0;
    for (int64_t i = 0; i < batch && status == TAPER_OK; i++) {
        double *matrix = (double *)taper_tensor_mutable(a) + i * n * n;
        for (int64_t r = 0; upper && r < n; r++) { // the upper triangle is the one to read
            for (int64_t c = 0; c < r; c++) {
                matrix[r * n + c] = matrix[c * n + r];
            }
        }
        const int64_t info = taper_cholesky_lower(matrix, n);
        if (info != 0) {
            status = taper_fail(
                run->error, TAPER_ERROR_ARGUMENT,
                "linalg.cholesky: The factorization could not be completed because the input is not positive-definite "
                "(the leading minor of order %lld is not positive-definite).",
                (long long)info);
        }
        for (int64_t r = 0; upper && r < n; r++) {
            for (int64_t c = 0; c < r; c++) {
                matrix[c * n + r] = matrix[r * n + c];
                matrix[r * n + c] = 0.0;
            }
        }
    }
    if (status != TAPER_OK) {
        taper_tensor_drop(a);
        return status;
    }
    return ret_columns(call, 0, a, (taper_dtype)tensor->dtype);
}

// ---- powers of matrices

static taper_status multiply_into(taper_run *run, taper_tensor **x, taper_tensor *y)
{
    taper_tensor *product = NULL;
    TAPER_TRY(taper_matmul_new(run, *x, y, &product));
    taper_tensor_drop(*x);
    *x = product;
    return TAPER_OK;
}

static taper_status raise(taper_run *run, taper_tensor *base, uint64_t exponent, taper_tensor **result)
{
    taper_tensor *power = taper_tensor_keep(base);
    taper_status status = TAPER_OK;
    while (status == TAPER_OK && exponent != 0) {
        if ((exponent & 1) != 0) {
            if (*result == NULL) {
                *result = taper_tensor_keep(power);
            } else {
                status = multiply_into(run, result, power);
            }
        }
        exponent >>= 1;
        if (exponent != 0 && status == TAPER_OK) {
            status = multiply_into(run, &power, power);
        }
    }
    taper_tensor_drop(power);
    return status;
}

taper_status taper_op_matrix_power(taper_call *call)
{
    taper_tensor *tensor, *base = NULL, *result = NULL, *own = NULL;
    int64_t exponent;
    taper_run *run = call->run;
    TAPER_TRY(taper_arg_tensor(call, 0, &tensor));
    TAPER_TRY(taper_arg_int(call, 1, &exponent));
    const taper_dtype dtype = (taper_dtype)tensor->dtype;
    if (tensor->rank < 2 || tensor->sizes[tensor->rank - 1u] != tensor->sizes[tensor->rank - 2u]) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "linalg.matrix_power: A must be batches of square matrices, its sizes are %s", TAPER_SHAPE(tensor));
    }
    TAPER_TRY(taper_check_product_dtype(call, tensor, "self"));
    taper_status status;
    if (exponent == 0) {
        status = identity(run, tensor, &result);
    } else {
        status = exponent < 0 ? inverse(run, "linalg.inv", tensor, &base)
                              : taper_tensor_cast(run, tensor, taper_work_dtype(dtype), &base);
        if (status == TAPER_OK) {
            status = raise(run, base, exponent < 0 ? 0 - (uint64_t)exponent : (uint64_t)exponent, &result);
        }
    }
    taper_tensor_drop(base);
    if (status == TAPER_OK && exponent == -1) {
        return ret_columns(call, 0, result, dtype);
    }
    if (status == TAPER_OK) { // never the argument itself, always contiguous
        status = taper_tensor_new(run->heap, dtype, tensor->rank, tensor->sizes, NULL, &own, run->error);
    }
    if (status == TAPER_OK) {
        status = taper_tensor_copy(own, result, run->error);
    }
    taper_tensor_drop(result);
    if (status != TAPER_OK) {
        taper_tensor_drop(own);
        return status;
    }
    return taper_ret_tensor(call, 0, own);
}

// ---- solving

// b broadcast to the batch of both, [.., n, m], as contiguous doubles.
static taper_status take_broadcast(taper_run *run, const taper_tensor *tensor, size_t batch, const int64_t *sizes,
                                   size_t inner, taper_tensor **result)
{
    int64_t full[TAPER_MAX_RANK] = {0}, strides[TAPER_MAX_RANK] = {0};
    memcpy(full, sizes, batch * sizeof *full);
    memcpy(full + batch, tensor->sizes + tensor->rank - inner, inner * sizeof *full);
    (void)taper_broadcast_strides(tensor, batch + inner, full, strides);
    const taper_tensor twin = taper_tensor_twin(tensor, batch + inner, full, strides);
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_F64, batch + inner, full, NULL, result, run->error));
    return taper_tensor_copy(*result, &twin, run->error);
}

static taper_status check_system(taper_run *run, const char *name, const taper_tensor *a, const taper_tensor *b,
                                 size_t *batch, int64_t *sizes)
{
    const bool real = (a->dtype == TAPER_F32 || a->dtype == TAPER_F64) && a->dtype == b->dtype;
    if (!real || a->rank < 2 || b->rank < 2 || a->sizes[a->rank - 1u] != a->sizes[a->rank - 2u] ||
        b->sizes[b->rank - 2u] != a->sizes[a->rank - 1u] ||
        !taper_broadcast_shapes(a->rank - 2u, a->sizes, b->rank - 2u, b->sizes, batch, sizes)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT, "%s: a system of %s %s and right sides of %s %s cannot be solved",
                   name, taper_dtype_torch_name((taper_dtype)a->dtype), TAPER_SHAPE(a),
                   taper_dtype_torch_name((taper_dtype)b->dtype), TAPER_SHAPE(b));
    }
    return TAPER_OK;
}

taper_status taper_op_solve(taper_call *call)
{
    taper_tensor *a, *b, *wide = NULL, *x = NULL;
    bool left;
    size_t batch = 0;
    int64_t sizes[TAPER_MAX_RANK];
    taper_run *run = call->run;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    TAPER_TRY(taper_arg_bool(call, 2, &left));
    if (!left) {
        TAPER_FAIL(run->error, TAPER_ERROR_UNSUPPORTED, "linalg.solve: left=False is not supported");
    }
    // A vector, or a batch of them, on the right side counts as one column.
    const bool vector =
        b->rank == 1 || (b->rank + 1 == a->rank && memcmp(b->sizes, a->sizes, b->rank * sizeof *b->sizes) == 0);
    taper_tensor right = *b;
    if (vector) {
        int64_t shape[TAPER_MAX_RANK + 1], strides[TAPER_MAX_RANK + 1];
        memcpy(shape, b->sizes, b->rank * sizeof *shape);
        memcpy(strides, b->strides, b->rank * sizeof *strides);
        shape[b->rank] = 1;
        strides[b->rank] = 1;
        right = taper_tensor_twin(b, taper_min_size(b->rank + 1u, TAPER_MAX_RANK), shape, strides);
    }
    TAPER_TRY(check_system(run, "linalg.solve", a, &right, &batch, sizes));
    taper_status status = take_broadcast(run, a, batch, sizes, 2, &wide);
    if (status == TAPER_OK) {
        status = take_broadcast(run, &right, batch, sizes, 2, &x);
    }
    if (status == TAPER_OK) {
        status = solve_all(run, "linalg.solve", wide, x);
    }
    taper_tensor_drop(wide);
    if (status != TAPER_OK) {
        taper_tensor_drop(x);
        return status;
    }
    if (vector) {
        x->rank--;
        taper_strides_contiguous(x->rank, x->sizes, x->strides);
    }
    return ret_columns(call, 0, x, (taper_dtype)a->dtype);
}

// b solved against triangular a, both broadcast.
static taper_status triangular(taper_run *run, const taper_tensor *a, const taper_tensor *b, bool upper,
                               bool transposed, bool unit, taper_tensor **solved, taper_tensor **matrices)
{
    size_t batch = 0;
    int64_t sizes[TAPER_MAX_RANK];
    TAPER_TRY(check_system(run, "triangular_solve", a, b, &batch, sizes));
    TAPER_TRY(take_broadcast(run, a, batch, sizes, 2, matrices));
    TAPER_TRY(take_broadcast(run, b, batch, sizes, 2, solved));
    const int64_t n = a->sizes[a->rank - 1u], m = b->sizes[b->rank - 1u], count = batch_of(*matrices);
    for (int64_t i = 0; i < count; i++) {
        taper_triangular((const double *)taper_tensor_data(*matrices) + i * n * n, n, upper, transposed, unit,
                         (double *)taper_tensor_mutable(*solved) + i * n * m, m);
    }
    return TAPER_OK;
}

taper_status taper_op_triangular_solve(taper_call *call)
{
    taper_tensor *b, *a, *x = NULL, *matrices = NULL;
    bool upper, transposed, unit;
    TAPER_TRY(taper_arg_tensor(call, 0, &b));
    TAPER_TRY(taper_arg_tensor(call, 1, &a));
    TAPER_TRY(taper_arg_bool(call, 2, &upper));
    TAPER_TRY(taper_arg_bool(call, 3, &transposed));
    TAPER_TRY(taper_arg_bool(call, 4, &unit));
    taper_status status = triangular(call->run, a, b, upper, transposed, unit, &x, &matrices);
    if (status == TAPER_OK) {
        status = ret_columns(call, 0, x, (taper_dtype)b->dtype);
        x = NULL;
    }
    if (status == TAPER_OK) {
        status = ret_columns(call, 1, matrices, (taper_dtype)a->dtype);
        matrices = NULL;
    }
    taper_tensor_drop(x);
    taper_tensor_drop(matrices);
    return status;
}

taper_status taper_op_solve_triangular(taper_call *call)
{
    taper_tensor *a, *b, *x = NULL, *matrices = NULL;
    bool upper, left, unit;
    TAPER_TRY(taper_arg_tensor(call, 0, &a));
    TAPER_TRY(taper_arg_tensor(call, 1, &b));
    TAPER_TRY(taper_arg_bool(call, 2, &upper));
    TAPER_TRY(taper_arg_bool(call, 3, &left));
    TAPER_TRY(taper_arg_bool(call, 4, &unit));
    if (!left) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED, "linalg.solve_triangular: left=False is not supported");
    }
    taper_status status = triangular(call->run, a, b, upper, false, unit, &x, &matrices);
    taper_tensor_drop(matrices);
    if (status != TAPER_OK) {
        taper_tensor_drop(x);
        return status;
    }
    return ret_columns(call, 0, x, (taper_dtype)b->dtype);
}
