// SPDX-License-Identifier: BSD-2-Clause
// Functions that compose a matrix from singular values or eigenvalues: the polar decomposition, and roots of Hermitian
// matrices.
#include <inttypes.h>
#include <math.h>

#include "ir/tensor_def.h"
#include "ops/call/call.h"
#include "ops/linalg/linalg_lapack.h"

// Numbers of the slots for temporaries; SCRATCH is the first of four.
enum { LEFT, VALUES, RIGHT, OUT, FACTOR, SCRATCH };

// Computes x[slot, i]: the sum over j of weight(values[j]) * left's column j * the adjoint of right's column j. left
// and right have double precision.
typedef double weight_function(double value);

static double one(double value)
{
    (void)value;
    return 1;
}
static double itself(double value)
{
    return value;
}
static double root(double value) // a value that rounding made negative counts as 0; a NaN stays NaN
{
    return value < 0 ? 0 : sqrt(value);
}

static taper_status add_up(taper_linalg *w, size_t left, size_t right, weight_function *weight, size_t slot, int64_t i)
{
    const taper_tensor *const values = w->t[VALUES];
    const taper_dense a = taper_linalg_matrix(w, w->t[left], i), b = taper_linalg_matrix(w, w->t[right], i),
                      x = taper_linalg_matrix(w, w->t[slot], i);
    for (int64_t j = 0; j < a.columns; j++) {
        const double value =
            weight(taper_load_double((taper_dtype)values->dtype, taper_tensor_data(values), i * a.columns + j));
        for (int64_t c = 0; c < x.columns && taper_dense_goes_on(&x, x.rows); c++) {
            taper_c128 factor = taper_c_conj(taper_dense_get(&b, c, j));
            factor = taper_c(factor.re * value, factor.im * value);
            taper_vector_add(x.complex, x.rows, factor, taper_dense_at(&a, 0, j), a.down, taper_dense_at(&x, 0, c),
                             x.down);
        }
        TAPER_TRY(taper_linalg_stopped(w));
    }
    return TAPER_OK;
}

static taper_status new_zeros(taper_linalg *w, size_t slot, taper_dtype dtype, const taper_tensor *a, int64_t rows)
{
    const taper_linalg_batch batch = taper_linalg_batch_of(a);
    TAPER_TRY(taper_linalg_new(w, slot, dtype, &batch, rows, taper_linalg_columns(a)));
    return taper_linalg_zero(w, slot);
}

static taper_status matrix_sqrth(taper_linalg *w)
{
    taper_tensor *a;
    TAPER_TRY(taper_linalg_arg_square(w, 0, &a));
    const taper_dtype dtype = (taper_dtype)a->dtype, wide = taper_linalg_wide(dtype);
    TAPER_TRY(new_zeros(w, OUT, wide, a, taper_linalg_rows(a)));
    if (taper_tensor_numel(a) != 0) {
        TAPER_TRY(taper_linalg_eigh(w, a, true, 'V', 'L', VALUES, LEFT, SCRATCH));
        TAPER_TRY(taper_linalg_take(w, RIGHT, w->t[LEFT], NULL, wide));
        const taper_linalg_batch batch = taper_linalg_batch_of(a);
        const int64_t count = taper_linalg_count(&batch);
        for (int64_t i = 0; i < count; i++) {
            TAPER_TRY(add_up(w, RIGHT, RIGHT, root, OUT, i));
        }
    }
    return taper_linalg_ret(w, 0, OUT, dtype, TAPER_BY_ROWS);
}

TAPER_KERNEL(taper_op_linalg_matrix_sqrth)
{
    return taper_linalg_run(call, "linalg.matrix_sqrth", matrix_sqrth);
}

static taper_status polar(taper_linalg *w)
{
    taper_tensor *a;
    TAPER_TRY(taper_linalg_arg_matrix(w, 0, &a));
    const taper_dtype dtype = (taper_dtype)a->dtype, wide = taper_linalg_wide(dtype);
    const int64_t rows = taper_linalg_rows(a), columns = taper_linalg_columns(a);
    if (rows < columns) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT,
                   "linalg.polar: input must have at least as many rows as columns, but got %" PRId64 " by %" PRId64
                   " matrices",
                   rows, columns);
    }
    TAPER_TRY(new_zeros(w, OUT, wide, a, rows));
    TAPER_TRY(new_zeros(w, FACTOR, wide, a, columns));
    if (taper_tensor_numel(a) != 0) {
        enum { U = SCRATCH + 4, VH };
        TAPER_TRY(taper_linalg_svd(w, a, 'S', U, VALUES, VH, SCRATCH));
        TAPER_TRY(taper_linalg_take(w, LEFT, w->t[U], NULL, wide));
        TAPER_TRY(taper_linalg_adjoint(w, VH, RIGHT));
        const taper_linalg_batch batch = taper_linalg_batch_of(a);
        const int64_t count = taper_linalg_count(&batch);
        for (int64_t i = 0; i < count; i++) {
            TAPER_TRY(add_up(w, LEFT, RIGHT, one, OUT, i));
            TAPER_TRY(add_up(w, RIGHT, RIGHT, itself, FACTOR, i));
        }
    }
    TAPER_TRY(taper_linalg_ret(w, 0, OUT, dtype, TAPER_BY_ROWS));
    return taper_linalg_ret(w, 1, FACTOR, dtype, TAPER_BY_ROWS);
}

TAPER_KERNEL(taper_op_linalg_polar)
{
    return taper_linalg_run(call, "linalg.polar", polar);
}
