// SPDX-License-Identifier: BSD-2-Clause
// Determinants. PyTorch's operators return them as a number, or as sign and logarithm. Some also return the factors.
#include "ops/call/call.h"
#include "ops/linalg/linalg.h"

enum { LU, PIVOTS, INFOS, FIRST, SECOND }; // numbers of the slots for temporaries

// Stores determinants in slot FIRST. If `logarithm` is set, it stores signs in FIRST and logarithms of moduli in
// SECOND.
static taper_status determinants(taper_linalg *w, bool logarithm, taper_tensor **a)
{
    TAPER_TRY(taper_linalg_arg_square(w, 0, a));
    const taper_dtype wide = taper_linalg_wide((taper_dtype)(*a)->dtype);
    const bool complex = wide == TAPER_C128;
    const taper_linalg_batch batch = taper_linalg_batch_of(*a);
    const int64_t n = taper_linalg_rows(*a), count = taper_linalg_count(&batch);
    TAPER_TRY(taper_linalg_factor(w, *a, !complex && taper_tensor_is_contiguous(*a), LU, PIVOTS, INFOS));
    TAPER_TRY(taper_linalg_new_vectors(w, FIRST, wide, &batch, -1));
    TAPER_TRY(taper_linalg_new_vectors(w, SECOND, TAPER_F64, &batch, -1));
    for (int64_t i = 0; i < count; i++) {
        const taper_dense matrix = taper_linalg_matrix(w, w->t[LU], i);
        const int32_t *const pivots = taper_linalg_ints(w->t[PIVOTS]) + i * n;
        taper_c128 product = taper_c(1.0, 0.0);
        double sum = 0.0;
        for (int64_t k = 0; k < n; k++) {
            const taper_c128 d = taper_dense_get(&matrix, k, k);
            product = complex ? taper_c_mul(product, logarithm ? taper_c_sgn(d) : d)
                              : taper_c(product.re * (!logarithm   ? d.re
                                                      : d.re > 0.0 ? 1.0
                                                      : d.re < 0.0 ? -1.0
                                                                   : d.re),
                                        0.0);
            sum += log(complex ? taper_c_abs(d) : fabs(d.re));
            if (pivots[k] != k + 1) {
                product = taper_c_neg(product);
            }
        }
        double *const first = taper_linalg_doubles(w->t[FIRST]) + i * (complex ? 2 : 1);
        first[0] = product.re;
        if (complex) {
            first[1] = product.im;
        }
        taper_linalg_doubles(w->t[SECOND])[i] = sum;
    }
    return TAPER_OK;
}

static taper_status ret_factors(taper_linalg *w, size_t at, taper_dtype dtype)
{
    TAPER_TRY(taper_linalg_ret(w, at, LU, dtype, TAPER_BY_COLUMNS));
    return taper_linalg_ret(w, at + 1, PIVOTS, TAPER_I32, TAPER_BY_ROWS);
}

static taper_status det(taper_linalg *w)
{
    taper_tensor *a;
    TAPER_TRY(determinants(w, false, &a));
    TAPER_TRY(taper_linalg_ret(w, 0, FIRST, (taper_dtype)a->dtype, TAPER_BY_ROWS));
    return w->call->ret_count == 3 ? ret_factors(w, 1, (taper_dtype)a->dtype) : TAPER_OK;
}

TAPER_KERNEL(taper_op_det)
{
    return taper_linalg_run(call, "linalg.det", det);
}

static taper_status slogdet(taper_linalg *w)
{
    taper_tensor *a;
    TAPER_TRY(determinants(w, true, &a));
    const taper_dtype dtype = (taper_dtype)a->dtype;
    TAPER_TRY(taper_linalg_ret(w, 0, FIRST, dtype, TAPER_BY_ROWS));
    TAPER_TRY(taper_linalg_ret(w, 1, SECOND, taper_dtype_to_real(dtype), TAPER_BY_ROWS));
    return w->call->ret_count == 4 ? ret_factors(w, 2, dtype) : TAPER_OK;
}

TAPER_KERNEL(taper_op_slogdet)
{
    return taper_linalg_run(call, "linalg.slogdet", slogdet);
}

static taper_status logdet(taper_linalg *w)
{
    taper_tensor *a;
    TAPER_TRY(determinants(w, true, &a));
    const int64_t count = taper_tensor_numel(w->t[SECOND]);
    const double *const logs = taper_linalg_doubles(w->t[SECOND]);
    double *const first = taper_linalg_doubles(w->t[FIRST]);
    for (int64_t i = 0; i < count; i++) {
        if (w->t[FIRST]->dtype == TAPER_C128) {
            const taper_c128 sign = taper_c_log(taper_c(first[2 * i], first[2 * i + 1]));
            first[2 * i] = sign.re + logs[i];
            first[2 * i + 1] = sign.im;
        } else {
            first[i] = first[i] == -1.0 ? (double)NAN : logs[i];
        }
    }
    return taper_linalg_ret(w, 0, FIRST, (taper_dtype)a->dtype, TAPER_BY_ROWS);
}

TAPER_KERNEL(taper_op_logdet)
{
    return taper_linalg_run(call, "logdet", logdet);
}
