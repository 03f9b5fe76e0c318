// SPDX-License-Identifier: BSD-2-Clause
// QR by Householder reflectors. A reflector is I - tau v v^H with v = (1, elements stored below the diagonal). The
// signs are LAPACK's: an element of R's diagonal has the opposite sign of the element it replaces.
#include "ops/call/call.h"
#include "ops/linalg/linalg.h"

enum { Q, R, TAU, OTHER }; // numbers of the slots for temporaries

static taper_c128 *tau_of(taper_tensor *taus, int64_t index)
{
    // The factors tau of the reflectors are complex pairs for real matrices too.
    return (taper_c128 *)taper_tensor_mutable(taus) + index;
}

// Makes the reflector that maps column 0 of m to a multiple of the first unit vector. The first element of the column
// becomes the multiple, and the elements below it become the elements of v. Returns tau.
static taper_c128 reflector(const taper_dense *m)
{
    const taper_c128 alpha = taper_dense_get(m, 0, 0);
    const int64_t below = m->rows - 1;
    double *const x = below > 0 ? taper_dense_at(m, 1, 0) : NULL;
    const double length = below > 0 ? taper_vector_length(m->complex, below, x, m->down) : 0.0;
    if (length == 0.0 && alpha.im == 0.0) {
        return taper_c(0.0, 0.0);
    }
    const double beta = -copysign(hypot(taper_c_abs(alpha), length), alpha.re);
    const taper_c128 scale = taper_c_div(taper_c(1.0, 0.0), taper_c(alpha.re - beta, alpha.im));
    if (below > 0) {
        taper_vector_scale(m->complex, below, scale, x, m->down);
    }
    taper_dense_set(m, 0, 0, taper_c(beta, 0.0));
    return taper_c((beta - alpha.re) / beta, -alpha.im / beta);
}

// Computes c = (I - tau v v^H) c. v is 1, followed by column 0 of m below the first row.
static void reflect(const taper_dense *m, taper_c128 tau, const taper_dense *c)
{
    const int64_t below = m->rows - 1;
    const double *const v = below > 0 ? taper_dense_at(m, 1, 0) : m->data;
    for (int64_t j = 0; taper_c_true(tau) && j < c->columns && taper_dense_goes_on(m, 2 * below); j++) {
        double *const rest = below > 0 ? taper_dense_at(c, 1, j) : c->data;
        const taper_c128 top = taper_dense_get(c, 0, j);
        const taper_c128 dot = taper_vector_dot(m->complex, true, below, v, m->down, rest, c->down);
        const taper_c128 factor = taper_c_neg(taper_c_mul(tau, taper_c_add(top, dot)));
        taper_dense_set(c, 0, j, taper_c_add(top, factor));
        taper_vector_add(m->complex, below, factor, v, m->down, rest, c->down);
    }
}

static void factor(const taper_dense *a, taper_c128 *taus)
{
    const int64_t k = taper_min_i64(a->rows, a->columns);
    for (int64_t i = 0; i < k && taper_dense_goes_on(a, a->rows); i++) {
        const taper_dense rest = taper_dense_from(a, i, i);
        taus[i] = reflector(&rest);
        if (i + 1 < a->columns) {
            const taper_dense beside = taper_dense_from(a, i, i + 1);
            reflect(&rest, taper_c_conj(taus[i]), &beside);
        }
    }
}

// Computes c = Q c, or Q^H c. Q is the product of the k reflectors that are stored in `a`.
static void apply(const taper_dense *a, const taper_c128 *taus, int64_t k, bool adjoint, const taper_dense *c)
{
    for (int64_t at = 0; at < k && c->columns > 0; at++) {
        const int64_t i = adjoint ? at : k - 1 - at;
        const taper_dense v = taper_dense_from(a, i, i), rest = taper_dense_from(c, i, 0);
        reflect(&v, adjoint ? taper_c_conj(taus[i]) : taus[i], &rest);
    }
}

// Makes a C128 tensor of zeros, with k numbers for each matrix.
static taper_status new_taus(taper_linalg *w, const taper_linalg_batch *batch, int64_t k)
{
    TAPER_TRY(taper_linalg_new_vectors(w, TAU, TAPER_C128, batch, k));
    TAPER_TRY(taper_linalg_zero(w, TAU));
    return TAPER_OK;
}

// Factors argument 0 into slots R and TAU.
static taper_status factor_argument(taper_linalg *w, taper_tensor **a)
{
    TAPER_TRY(taper_linalg_arg_matrix(w, 0, a));
    const taper_linalg_batch batch = taper_linalg_batch_of(*a);
    const int64_t k = taper_min_i64(taper_linalg_rows(*a), taper_linalg_columns(*a));
    const int64_t count = k == 0 ? 0 : taper_linalg_count(&batch);
    TAPER_TRY(taper_linalg_take(w, R, *a, NULL, taper_linalg_wide((taper_dtype)(*a)->dtype)));
    TAPER_TRY(new_taus(w, &batch, k));
    for (int64_t i = 0; i < count; i++) {
        const taper_dense matrix = taper_linalg_matrix(w, w->t[R], i);
        factor(&matrix, tau_of(w->t[TAU], i * k));
        TAPER_TRY(taper_linalg_stopped(w));
    }
    return TAPER_OK;
}

static taper_status ret_tau(taper_linalg *w, size_t at, taper_dtype dtype)
{
    return taper_linalg_ret(w, at, TAU, dtype, TAPER_BY_ROWS);
}

static taper_status geqrf(taper_linalg *w)
{
    taper_tensor *a;
    TAPER_TRY(factor_argument(w, &a));
    TAPER_TRY(taper_linalg_ret(w, 0, R, (taper_dtype)a->dtype, TAPER_BY_COLUMNS));
    return ret_tau(w, 1, (taper_dtype)a->dtype);
}

TAPER_KERNEL(taper_op_geqrf)
{
    return taper_linalg_run(call, "torch.geqrf", geqrf);
}

// Computes Q with this number of columns into slot Q, from the k reflectors of each matrix in slot R.
static taper_status form(taper_linalg *w, int64_t columns, int64_t k)
{
    const taper_linalg_batch batch = taper_linalg_batch_of(w->t[R]);
    const int64_t rows = taper_linalg_rows(w->t[R]), count = rows == 0 || columns == 0 ? 0 : taper_linalg_count(&batch);
    TAPER_TRY(taper_linalg_new(w, Q, (taper_dtype)w->t[R]->dtype, &batch, rows, columns));
    for (int64_t i = 0; i < count; i++) {
        const taper_dense a = taper_linalg_matrix(w, w->t[R], i), q = taper_linalg_matrix(w, w->t[Q], i);
        taper_dense_identity(&q);
        apply(&a, tau_of(w->t[TAU], i * k), k, false, &q);
        TAPER_TRY(taper_linalg_stopped(w));
    }
    return TAPER_OK;
}

// Copies the upper trapezoid of the first rows of slot R to slot OTHER.
static taper_status upper(taper_linalg *w, int64_t rows)
{
    const taper_linalg_batch batch = taper_linalg_batch_of(w->t[R]);
    const int64_t columns = taper_linalg_columns(w->t[R]);
    const int64_t count = rows == 0 || columns == 0 ? 0 : taper_linalg_count(&batch);
    TAPER_TRY(taper_linalg_new(w, OTHER, (taper_dtype)w->t[R]->dtype, &batch, rows, columns));
    TAPER_TRY(taper_linalg_zero(w, OTHER));
    for (int64_t i = 0; i < count; i++) {
        const taper_dense a = taper_linalg_matrix(w, w->t[R], i), r = taper_linalg_matrix(w, w->t[OTHER], i);
        for (int64_t c = 0; c < columns; c++) {
            for (int64_t row = 0; row <= c && row < rows; row++) {
                taper_dense_set(&r, row, c, taper_dense_get(&a, row, c));
            }
        }
    }
    return TAPER_OK;
}

typedef enum qr_mode { REDUCED, COMPLETE, R_ONLY } qr_mode;

static taper_status run_qr(taper_linalg *w, qr_mode mode)
{
    taper_tensor *a;
    TAPER_TRY(factor_argument(w, &a));
    const int64_t rows = taper_linalg_rows(a), k = taper_min_i64(rows, taper_linalg_columns(a));
    const int64_t inner = mode == COMPLETE ? rows : k;
    const taper_dtype dtype = (taper_dtype)a->dtype;
    TAPER_TRY(upper(w, inner));
    if (mode == R_ONLY) {
        TAPER_TRY(taper_linalg_new_empty(w, Q, dtype));
        TAPER_TRY(taper_linalg_ret(w, 0, Q, dtype, TAPER_BY_ROWS));
    } else {
        TAPER_TRY(form(w, inner, k));
        TAPER_TRY(taper_linalg_ret(w, 0, Q, dtype, TAPER_BY_COLUMNS));
    }
    return taper_linalg_ret(w, 1, OTHER, dtype, TAPER_BY_COLUMNS);
}

static taper_status linalg_qr(taper_linalg *w)
{
    const taper_string *mode;
    TAPER_TRY(taper_arg_string(w->call, 1, &mode));
    if (strcmp(mode->data, "reduced") == 0) {
        return run_qr(w, REDUCED);
    }
    if (strcmp(mode->data, "complete") == 0) {
        return run_qr(w, COMPLETE);
    }
    if (strcmp(mode->data, "r") == 0) {
        return run_qr(w, R_ONLY);
    }
    TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT,
               "qr received unrecognized mode '%.40s' but expected one of 'reduced' (default), 'r', or 'complete'",
               mode->data);
}

TAPER_KERNEL(taper_op_linalg_qr)
{
    return taper_linalg_run(call, "linalg.qr", linalg_qr);
}

static taper_status old_qr(taper_linalg *w)
{
    bool some;
    TAPER_TRY(taper_arg_bool(w->call, 1, &some));
    return run_qr(w, some ? REDUCED : COMPLETE);
}

TAPER_KERNEL(taper_op_qr)
{
    return taper_linalg_run(call, "linalg.qr", old_qr);
}

// ---- operators on given reflectors

// Reads argument 0, reflectors, into slot R, and argument 1, their factors, into slot TAU. *k is the number of
// reflectors.
static taper_status given_reflectors(taper_linalg *w, taper_tensor **a, int64_t *k)
{
    taper_tensor *tau;
    TAPER_TRY(taper_linalg_arg_matrix(w, 0, a));
    TAPER_TRY(taper_arg_tensor(w->call, 1, &tau));
    if (tau->dtype != (*a)->dtype || tau->rank + 1u != (*a)->rank ||
        memcmp(tau->sizes, (*a)->sizes, (tau->rank - 1u) * sizeof *tau->sizes) != 0) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT, "%s: tau of %s %s does not belong to an input of %s %s",
                   w->name, taper_dtype_torch_name((taper_dtype)tau->dtype), TAPER_SHAPE(tau),
                   taper_dtype_torch_name((taper_dtype)(*a)->dtype), TAPER_SHAPE(*a));
    }
    *k = tau->sizes[tau->rank - 1u];
    if (*k > taper_linalg_columns(*a) || *k > taper_linalg_rows(*a)) {
        return taper_linalg_fail(w, "input.shape[-1] must be greater than or equal to tau.shape[-1]");
    }
    const taper_linalg_batch batch = taper_linalg_batch_of(*a);
    TAPER_TRY(taper_linalg_take(w, R, *a, NULL, taper_linalg_wide((taper_dtype)(*a)->dtype)));
    TAPER_TRY(new_taus(w, &batch, *k));
    return taper_run_copy(w->run, w->t[TAU], tau);
}

static taper_status householder_product(taper_linalg *w)
{
    taper_tensor *a;
    int64_t k;
    TAPER_TRY(given_reflectors(w, &a, &k));
    if (taper_linalg_rows(a) < taper_linalg_columns(a)) {
        return taper_linalg_fail(w, "input.shape[-2] must be greater than or equal to input.shape[-1]");
    }
    TAPER_TRY(form(w, taper_linalg_columns(a), k));
    return taper_linalg_ret(w, 0, Q, (taper_dtype)a->dtype, TAPER_BY_COLUMNS);
}

TAPER_KERNEL(taper_op_linalg_householder_product)
{
    return taper_linalg_run(call, "torch.linalg.householder_product", householder_product);
}

static taper_status ormqr(taper_linalg *w)
{
    taper_tensor *a, *other;
    int64_t k;
    bool left, transpose;
    TAPER_TRY(given_reflectors(w, &a, &k));
    TAPER_TRY(taper_linalg_arg_matrix(w, 2, &other));
    TAPER_TRY(taper_arg_bool(w->call, 3, &left));
    TAPER_TRY(taper_arg_bool(w->call, 4, &transpose));
    const taper_dtype dtype = (taper_dtype)other->dtype;
    if (other->dtype != a->dtype || other->rank != a->rank ||
        memcmp(other->sizes, a->sizes, (a->rank - 2u) * sizeof *a->sizes) != 0 ||
        (left ? taper_linalg_rows(other) : taper_linalg_columns(other)) != taper_linalg_rows(a)) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT, "%s: other of %s %s does not belong to an input of %s %s",
                   w->name, taper_dtype_torch_name(dtype), TAPER_SHAPE(other),
                   taper_dtype_torch_name((taper_dtype)a->dtype), TAPER_SHAPE(a));
    }
    TAPER_TRY(taper_linalg_take(w, OTHER, other, NULL, taper_linalg_wide(dtype)));
    const taper_linalg_batch batch = taper_linalg_batch_of(a);
    const int64_t count = taper_tensor_numel(other) == 0 ? 0 : taper_linalg_count(&batch);
    for (int64_t i = 0; i < count; i++) {
        const taper_dense v = taper_linalg_matrix(w, w->t[R], i), c = taper_linalg_matrix(w, w->t[OTHER], i);
        if (left) {
            apply(&v, tau_of(w->t[TAU], i * k), k, transpose, &c);
        } else { // computes c Q as (Q^H c^H)^H
            const taper_dense turned = taper_dense_turned(&c);
            taper_dense_conjugate(&c);
            apply(&v, tau_of(w->t[TAU], i * k), k, !transpose, &turned);
            taper_dense_conjugate(&c);
        }
        TAPER_TRY(taper_linalg_stopped(w));
    }
    return taper_linalg_ret(w, 0, OTHER, dtype, TAPER_BY_COLUMNS);
}

TAPER_KERNEL(taper_op_ormqr)
{
    return taper_linalg_run(call, "torch.ormqr", ormqr);
}
