// SPDX-License-Identifier: BSD-2-Clause
// Powers and exponentials of matrices.
#include "ops/call/call.h"
#include "ops/linalg/linalg.h"

enum { BASE, LU, PIVOTS, INFOS, EXTRA, RESULT, ROOM }; // numbers of the slots for temporaries

// ---- powers of matrices

static taper_status multiply_into(taper_run *run, taper_tensor **x, taper_tensor *y)
{
    taper_tensor *product = NULL;
    TAPER_TRY(taper_matmul_new(run, *x, y, &product));
    taper_tensor_drop(*x);
    *x = product;
    return TAPER_OK;
}

// Computes the power of the tensor in slot BASE into slot RESULT.
static taper_status raise(taper_linalg *w, uint64_t exponent)
{
    taper_tensor **const power = &w->t[BASE], **const result = &w->t[RESULT];
    while (exponent != 0) {
        if ((exponent & 1) != 0) {
            if (*result == NULL) {
                *result = taper_tensor_keep(*power);
            } else {
                TAPER_TRY(multiply_into(w->run, result, *power));
            }
        }
        exponent >>= 1;
        if (exponent != 0) {
            TAPER_TRY(multiply_into(w->run, power, *power));
        }
        TAPER_TRY(taper_linalg_stopped(w));
    }
    return TAPER_OK;
}

static taper_status identity(taper_linalg *w, const taper_tensor *like)
{
    const taper_linalg_batch batch = taper_linalg_batch_of(like);
    const int64_t n = taper_linalg_rows(like), count = n == 0 ? 0 : taper_linalg_count(&batch);
    TAPER_TRY(taper_linalg_new(w, RESULT, TAPER_F64, &batch, n, n));
    for (int64_t i = 0; i < count; i++) {
        const taper_dense matrix = taper_linalg_matrix(w, w->t[RESULT], i);
        taper_dense_identity(&matrix);
    }
    return TAPER_OK;
}

static taper_status matrix_power(taper_linalg *w)
{
    taper_tensor *tensor;
    int64_t exponent;
    TAPER_TRY(taper_arg_tensor(w->call, 0, &tensor));
    TAPER_TRY(taper_arg_int(w->call, 1, &exponent));
    const taper_dtype dtype = (taper_dtype)tensor->dtype;
    if (tensor->rank < 2 || taper_linalg_rows(tensor) != taper_linalg_columns(tensor)) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT,
                   "linalg.matrix_power: A must be batches of square matrices, its sizes are %s", TAPER_SHAPE(tensor));
    }
    TAPER_TRY(taper_check_product_dtype(w->call, tensor, "self"));
    if (exponent == 0) {
        TAPER_TRY(identity(w, tensor));
        return taper_linalg_ret(w, 0, RESULT, dtype, TAPER_BY_ROWS);
    }
    if (exponent < 0) {
        taper_linalg_system system = {
            .x = BASE, .lu = LU, .pivots = PIVOTS, .infos = INFOS, .ones = EXTRA, .left = true};
        w->name = "linalg.inv";
        TAPER_TRY(taper_linalg_check_square(w, tensor));
        TAPER_TRY(taper_linalg_invert(w, tensor, &system));
        TAPER_TRY(taper_linalg_check_infos(w->run, w->name, w->t[INFOS], tensor->rank == 2));
    } else {
        TAPER_TRY(taper_tensor_cast(w->run, tensor, taper_work_dtype(dtype), &w->t[BASE]));
    }
    if (exponent == -1) {
        return taper_linalg_ret(w, 0, BASE, dtype, TAPER_BY_COLUMNS);
    }
    TAPER_TRY(raise(w, exponent < 0 ? 0 - (uint64_t)exponent : (uint64_t)exponent));
    taper_tensor *result; // a new tensor, never the argument itself
    TAPER_TRY(taper_ret_new(w->call, 0, dtype, tensor->rank, tensor->sizes, NULL, &result));
    return taper_run_copy(w->run, result, w->t[RESULT]);
}

TAPER_KERNEL(taper_op_matrix_power)
{
    return taper_linalg_run(call, "linalg.matrix_power", matrix_power);
}

// ---- exponentials: a matrix is divided by 2^n, its exponential is computed by the series, and the result is squared
// n times

enum { TERMS = 18 }; // number of terms of the series, which is enough for doubles if the norm is at most 1/2

static double largest_column_sum(const taper_dense *m)
{
    double largest = 0.0;
    for (int64_t c = 0; c < m->columns; c++) {
        double sum = 0.0;
        for (int64_t r = 0; r < m->rows; r++) {
            sum += taper_dense_modulus(taper_dense_get(m, r, c));
        }
        if (!(sum <= largest)) {
            largest = sum;
        }
    }
    return largest;
}

static taper_status multiply(taper_linalg *w, const taper_dense *a, const taper_dense *b, const taper_dense *c)
{
    const taper_gemm gemm = {.dtype = a->complex ? TAPER_C128 : TAPER_F64,
                             .m = a->rows,
                             .n = b->columns,
                             .k = a->columns,
                             .a = a->data,
                             .a_row = a->down,
                             .a_column = a->right,
                             .b = b->data,
                             .b_row = b->down,
                             .b_column = b->right,
                             .c = c->data,
                             .c_row = c->down,
                             .c_column = c->right};
    TAPER_TRY(taper_gemm_run(w->run, &gemm));
    return taper_linalg_stopped(w);
}

// Replaces x by its exponential. p and q are scratch matrices of the same size.
static taper_status exponential(taper_linalg *w, const taper_dense *x, taper_dense p, taper_dense q)
{
    const int64_t n = x->rows, items = n * n;
    TAPER_TRY(taper_run_spend(w->run, (uint64_t)items * 100)); // charges for the sums, and for the scaling in each step
    const double norm = largest_column_sum(x);
    int halvings = 0;
    if (!isfinite(norm)) {
        for (int64_t c = 0; c < n; c++) {
            taper_vector_scale(x->complex, n, taper_c((double)NAN, (double)NAN), taper_dense_at(x, 0, c), x->down);
        }
        return TAPER_OK;
    }
    (void)frexp(norm, &halvings); // the norm is less than 2^halvings
    halvings = norm == 0.0 || halvings + 1 < 0 ? 0 : halvings + 1;
    taper_vector_scale(x->complex, items, taper_c(ldexp(1.0, -halvings), 0.0), x->data, 1);
    taper_dense_identity(&p);
    for (int k = TERMS; k > 0; k--) { // computes p = 1 + x p / k
        TAPER_TRY(multiply(w, x, &p, &q));
        taper_vector_scale(x->complex, items, taper_c(1.0 / k, 0.0), q.data, 1);
        for (int64_t i = 0; i < n; i++) {
            taper_dense_set(&q, i, i, taper_c_add(taper_dense_get(&q, i, i), taper_c(1.0, 0.0)));
        }
        const taper_dense t = p;
        p = q;
        q = t;
    }
    for (int k = 0; k < halvings; k++) {
        TAPER_TRY(multiply(w, &p, &p, &q));
        const taper_dense t = p;
        p = q;
        q = t;
    }
    memcpy(x->data, p.data, (size_t)items * (x->complex ? 2 : 1) * sizeof(double));
    return TAPER_OK;
}

static taper_status matrix_exp(taper_linalg *w)
{
    taper_tensor *a, *result;
    int64_t strides[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_tensor(w->call, 0, &a));
    if (a->dtype != TAPER_BF16) { // bfloat16 is the only half type that PyTorch accepts here
        TAPER_TRY(taper_linalg_check_dtype(w, a));
    }
    if (a->rank < 2 || taper_linalg_rows(a) != taper_linalg_columns(a)) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT,
                   "linalg.matrix_exp: A must be batches of square matrices, its sizes are %s", TAPER_SHAPE(a));
    }
    const taper_linalg_batch batch = taper_linalg_batch_of(a);
    const taper_dtype wide = taper_linalg_wide((taper_dtype)a->dtype);
    const int64_t n = taper_linalg_rows(a), count = n == 0 ? 0 : taper_linalg_count(&batch);
    TAPER_TRY(taper_linalg_take(w, BASE, a, NULL, wide));
    if (count != 0) {
        TAPER_TRY(taper_linalg_new(w, ROOM, wide, &(taper_linalg_batch){.rank = 1, .sizes = {2}}, n, n));
    }
    for (int64_t i = 0; i < count; i++) {
        const taper_dense x = taper_linalg_matrix(w, w->t[BASE], i);
        TAPER_TRY(exponential(w, &x, taper_linalg_matrix(w, w->t[ROOM], 0), taper_linalg_matrix(w, w->t[ROOM], 1)));
    }
    TAPER_TRY(taper_like_strides(a, TAPER_FORMAT_PRESERVE, strides, w->run->error));
    TAPER_TRY(taper_ret_new(w->call, 0, (taper_dtype)a->dtype, a->rank, a->sizes, strides, &result));
    return taper_run_copy(w->run, result, w->t[BASE]);
}

TAPER_KERNEL(taper_op_matrix_exp)
{
    return taper_linalg_run(call, "linalg.matrix_exp", matrix_exp);
}
