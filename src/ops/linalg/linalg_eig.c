// SPDX-License-Identifier: BSD-2-Clause
// Eigenvalues and eigenvectors of symmetric (Hermitian) matrices, and of general matrices.
#include <math.h>
#include <stdio.h>

#include "ops/call/call.h"
#include "ops/linalg/linalg_lapack.h"

// Numbers of the slots for temporaries; SCRATCH is the first of four.
enum { VALUES, VECTORS, IMAGINARY, RIGHT, INFOS, SCRATCH };

static char *at_matrix(taper_tensor *tensor, int64_t index, int64_t elements)
{
    return (char *)taper_tensor_mutable(tensor) + (size_t)(index * elements) * taper_tensor_item(tensor);
}

static taper_status failed(const taper_linalg *w, const taper_tensor *a, int64_t at, int32_t info)
{
    char where[40] = "";
    if (a->rank > 2) {
        (void)snprintf(where, sizeof where, ": (Batch element %lld)", (long long)at);
    }
    TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT,
               "%s%s: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
               "repeated eigenvalues (error code: %d).",
               w->name, where, (int)info);
}

// ---- eigenvalues of symmetric matrices

taper_status taper_linalg_eigh(taper_linalg *w, const taper_tensor *a, bool divide, char vectors, char triangle,
                               size_t values, size_t to, size_t scratch)
{
    const taper_dtype dtype = (taper_dtype)a->dtype;
    const taper_linalg_batch batch = taper_linalg_batch_of(a);
    const int64_t n = taper_linalg_rows(a), count = n == 0 ? 0 : taper_linalg_count(&batch);
    TAPER_TRY(taper_linalg_new_vectors(w, values, taper_dtype_to_real(dtype), &batch, n));
    TAPER_TRY(taper_linalg_take(w, to, a, NULL, dtype));
    if (count == 0) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_lapack_check_size(w, n, n));
    if (!taper_linalg_finite(w->t[to], 0, taper_tensor_numel(a))) {
        return taper_linalg_fail(
            w, "The algorithm failed to converge because the input matrix contained non-finite values.");
    }
    taper_lapack_job job;
    TAPER_TRY(taper_lapack_begin(w, scratch, dtype, divide ? "syevd" : "syev", divide ? "heevd" : "heev", &job));
    for (int64_t i = -1; i < count; i++) { // the first call, with index -1, only allocates memory
        const int64_t at = taper_max_i64(i, 0);
        int32_t info = 0;
        TAPER_TRY(taper_run_commit(w->run, i < 0 ? 0 : (vectors == 'N' ? 1 : 2) * pow((double)n, 3)));
        TAPER_TRY(taper_lapack_eigh(&job, divide, vectors, triangle, n, at_matrix(w->t[to], at, n * n),
                                    at_matrix(w->t[values], at, n), &info));
        if (info != 0) {
            return failed(w, a, at, info);
        }
        TAPER_TRY(taper_linalg_stopped(w));
    }
    return TAPER_OK;
}

static taper_status triangle_argument(const taper_linalg *w, char *triangle)
{
    const taper_string *text;
    TAPER_TRY(taper_arg_string(w->call, 1, &text));
    *triangle = (char)(text->data[0] & ~0x20);
    if (text->length != 1 || (*triangle != 'L' && *triangle != 'U')) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT, "Expected UPLO argument to be 'L' or 'U', but got %.40s",
                   text->data);
    }
    return TAPER_OK;
}

// Sets result 0 to the eigenvalues and result 1 to the vectors. If `vectors` is not set, result 1 is an empty tensor.
static taper_status ret_eigh(taper_linalg *w, bool divide, bool vectors, char triangle)
{
    taper_tensor *a;
    TAPER_TRY(taper_linalg_arg_square(w, 0, &a));
    const taper_dtype dtype = (taper_dtype)a->dtype;
    TAPER_TRY(taper_linalg_eigh(w, a, divide, vectors ? 'V' : 'N', triangle, VALUES, VECTORS, SCRATCH));
    // symeig, which does not set divide, returns an empty argument unchanged.
    const bool same = !divide && taper_tensor_numel(a) == 0, turned = vectors && !same;
    TAPER_TRY(taper_linalg_ret(w, 0, VALUES, taper_dtype_to_real(dtype), TAPER_BY_ROWS));
    if (w->call->ret_count == 1) {
        return TAPER_OK;
    }
    if (!vectors && !same) {
        TAPER_TRY(taper_linalg_new_empty(w, VECTORS, dtype));
    }
    return taper_linalg_ret(w, 1, VECTORS, dtype, turned ? TAPER_BY_COLUMNS : TAPER_BY_ROWS);
}

static taper_status eigh(taper_linalg *w)
{
    char triangle;
    TAPER_TRY(triangle_argument(w, &triangle));
    return ret_eigh(w, true, true, triangle);
}

TAPER_KERNEL(taper_op_linalg_eigh)
{
    return taper_linalg_run(call, "linalg.eigh", eigh);
}

static taper_status eigvalsh(taper_linalg *w)
{
    char triangle;
    TAPER_TRY(triangle_argument(w, &triangle));
    return ret_eigh(w, true, false, triangle);
}

TAPER_KERNEL(taper_op_linalg_eigvalsh)
{
    return taper_linalg_run(call, "linalg.eigh", eigvalsh);
}

static taper_status inner_eigh(taper_linalg *w)
{
    char triangle;
    bool vectors;
    TAPER_TRY(triangle_argument(w, &triangle));
    TAPER_TRY(taper_arg_bool(w->call, 2, &vectors));
    return ret_eigh(w, true, vectors, triangle);
}

TAPER_KERNEL(taper_op__linalg_eigh)
{
    return taper_linalg_run(call, "linalg.eigh", inner_eigh);
}

static taper_status symeig(taper_linalg *w)
{
    bool vectors, upper;
    TAPER_TRY(taper_arg_bool(w->call, 1, &vectors));
    TAPER_TRY(taper_arg_bool(w->call, 2, &upper));
    return ret_eigh(w, false, vectors, upper ? 'U' : 'L');
}

TAPER_KERNEL(taper_op_symeig)
{
    return taper_linalg_run(call, "symeig", symeig);
}

// ---- eigenvalues of general matrices

// Stores one complex number whose real and imaginary parts are given as doubles.
static void store_complex(taper_tensor *to, int64_t at, double re, double im)
{
    const taper_scalar number = {.kind = TAPER_SCALAR_COMPLEX, .f = re, .im = im};
    taper_scalar_store((taper_dtype)to->dtype, (char *)taper_tensor_mutable(to) + (size_t)at * taper_tensor_item(to),
                       &number);
}

static double part(const taper_tensor *from, int64_t at)
{
    return taper_load_double((taper_dtype)from->dtype, taper_tensor_data(from), at);
}

// Unpacks the eigenvectors of a real matrix. For a pair of conjugate eigenvalues geev stores the vector of the first
// eigenvalue in two columns: its real part and its imaginary part.
static void unpack_vectors(taper_run *run, taper_tensor *to, const taper_tensor *right, const taper_tensor *imaginary,
                           int64_t n, int64_t matrices)
{
    for (int64_t column = 0; column < n * matrices && taper_run_goes_on(run, (uint64_t)n * 100); column++) {
        const bool pair = part(imaginary, column) != 0.0 && column % n + 1 < n;
        for (int64_t i = 0; i < n; i++) {
            const int64_t at = column * n + i;
            if (pair) {
                store_complex(to, at, part(right, at), part(right, at + n));
                store_complex(to, at + n, part(right, at), -part(right, at + n));
            } else {
                store_complex(to, at, part(right, at), 0.0);
            }
        }
        column += pair;
    }
}

// Computes eigenvalues into slot VALUES and, if `vectors` is set, the vectors into slot VECTORS. Both are complex.
static taper_status general(taper_linalg *w, const taper_tensor *a, bool vectors)
{
    enum { COPY = SCRATCH, WORK };
    const taper_dtype dtype = (taper_dtype)a->dtype, complex = taper_dtype_to_complex(dtype);
    const bool real = dtype != complex;
    const taper_linalg_batch batch = taper_linalg_batch_of(a);
    const int64_t n = taper_linalg_rows(a), count = n == 0 ? 0 : taper_linalg_count(&batch);
    TAPER_TRY(taper_linalg_new_vectors(w, VALUES, complex, &batch, n));
    TAPER_TRY(taper_linalg_new(w, VECTORS, complex, &batch, n, n));
    if (count == 0) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_lapack_check_size(w, n, n));
    TAPER_TRY(taper_linalg_take(w, COPY, a, NULL, dtype));
    if (!taper_linalg_finite(w->t[COPY], 0, taper_tensor_numel(a))) {
        return taper_linalg_fail(w, "input tensor should not contain infs or NaNs.");
    }
    if (real) { // real and imaginary parts are separate; slot INFOS contains the real parts
        TAPER_TRY(taper_linalg_new_vectors(w, INFOS, dtype, &batch, n));
        TAPER_TRY(taper_linalg_new_vectors(w, IMAGINARY, dtype, &batch, n));
        TAPER_TRY(taper_linalg_new(w, RIGHT, dtype, &batch, n, n));
    }
    taper_tensor *const values = w->t[real ? INFOS : VALUES], *const right = w->t[real ? RIGHT : VECTORS];
    taper_lapack_job job;
    TAPER_TRY(taper_lapack_begin(w, WORK, dtype, "geev", "geev", &job));
    for (int64_t i = -1; i < count; i++) { // the first call, with index -1, only allocates memory
        const int64_t at = taper_max_i64(i, 0);
        int32_t info = 0;
        TAPER_TRY(taper_run_commit(w->run, i < 0 ? 0 : (vectors ? 6 : 4) * pow((double)n, 3)));
        TAPER_TRY(taper_lapack_eig(&job, vectors ? 'V' : 'N', n, at_matrix(w->t[COPY], at, n * n),
                                   at_matrix(values, at, n), real ? at_matrix(w->t[IMAGINARY], at, n) : NULL,
                                   at_matrix(right, at, n * n), &info));
        if (info != 0) {
            return failed(w, a, at, info);
        }
        TAPER_TRY(taper_linalg_stopped(w));
    }
    if (!real) {
        return TAPER_OK;
    }
    for (int64_t i = 0; i < n * count && taper_run_goes_on(w->run, 50); i++) {
        store_complex(w->t[VALUES], i, part(values, i), part(w->t[IMAGINARY], i));
    }
    if (vectors) {
        unpack_vectors(w->run, w->t[VECTORS], right, w->t[IMAGINARY], n, count);
    }
    return TAPER_OK;
}

static taper_status eig(taper_linalg *w)
{
    taper_tensor *a;
    TAPER_TRY(taper_linalg_arg_square(w, 0, &a));
    TAPER_TRY(general(w, a, true));
    const taper_dtype dtype = taper_dtype_to_complex((taper_dtype)a->dtype);
    TAPER_TRY(taper_linalg_ret(w, 0, VALUES, dtype, TAPER_BY_ROWS));
    return taper_linalg_ret(w, 1, VECTORS, dtype, TAPER_BY_COLUMNS);
}

TAPER_KERNEL(taper_op_linalg_eig)
{
    return taper_linalg_run(call, "torch.linalg.eig", eig);
}

static taper_status eigvals(taper_linalg *w)
{
    taper_tensor *a;
    TAPER_TRY(taper_linalg_arg_square(w, 0, &a));
    TAPER_TRY(general(w, a, false));
    return taper_linalg_ret(w, 0, VALUES, taper_dtype_to_complex((taper_dtype)a->dtype), TAPER_BY_ROWS);
}

TAPER_KERNEL(taper_op_linalg_eigvals)
{
    return taper_linalg_run(call, "torch.linalg.eigvals", eigvals);
}
