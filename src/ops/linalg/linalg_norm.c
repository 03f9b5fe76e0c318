// SPDX-License-Identifier: BSD-2-Clause
// Norms of matrices and condition numbers.
#include "ir/tensor.h"
#include "ops/engine/reduce.h"
#include "ops/linalg/linalg.h"
#include "ops/list/shared_kernels.h"

// Numbers of the slots for temporaries; SCRATCH is the first of four.
enum { U, S, VH, RESULT, INVERSE, LU, PIVOTS, INFOS, SCRATCH };

// The kinds of norms. The argument gives FROBENIUS and NUCLEAR as strings.
typedef enum norm_kind { NORM_ONE, NORM_TWO, NORM_INFINITE, NORM_FROBENIUS, NORM_NUCLEAR } norm_kind;
typedef struct norm {
    norm_kind kind;
    bool least; // true if the order is negative, so that the norm is the smallest value instead of the largest
} norm;

static taper_status read_norm(const taper_linalg *w, size_t at, norm *order)
{
    *order = (norm){.kind = NORM_TWO};
    if (at < w->call->arg_count && w->call->args[at].tag == TAPER_STRING) {
        const char *const text = w->call->args[at].as.string->data;
        order->kind = strcmp(text, "fro") == 0 ? NORM_FROBENIUS : NORM_NUCLEAR;
        if (order->kind == NORM_NUCLEAR && strcmp(text, "nuc") != 0) {
            TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT, "%s: Order %.40s not supported.", w->name, text);
        }
        return TAPER_OK;
    }
    taper_scalar scalar;
    TAPER_TRY(taper_arg_scalar(w->call, at, &scalar));
    const double size = fabs(scalar.f);
    order->least = scalar.f < 0.0;
    order->kind = size == 1.0 ? NORM_ONE : size == 2.0 ? NORM_TWO : NORM_INFINITE;
    if (size != 1.0 && size != 2.0 && !isinf(size)) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT, "%s: Order %g not supported.", w->name, scalar.f);
    }
    return TAPER_OK;
}

// Returns the larger of a and b, or the smaller one if order.least is set. A NaN is kept. If `first` is set, returns b.
static double better(norm order, bool first, double a, double b)
{
    return first || b != b ? b : a != a ? a : order.least == (b < a) ? b : a;
}

static double sum_of(const taper_dense *m, norm_kind kind, int64_t i)
{
    double sum = 0.0;
    const int64_t count = kind == NORM_INFINITE ? m->columns : m->rows;
    for (int64_t j = 0; j < count; j++) {
        const taper_c128 x = kind == NORM_INFINITE ? taper_dense_get(m, i, j) : taper_dense_get(m, j, i);
        sum += kind == NORM_FROBENIUS ? x.re * x.re + x.im * x.im : m->complex ? taper_c_abs(x) : fabs(x.re);
    }
    return sum;
}

// Computes a norm that needs no singular values.
static double simple_norm(const taper_dense *m, norm order)
{
    const int64_t count = order.kind == NORM_INFINITE ? m->rows : m->columns;
    double result = 0.0;
    for (int64_t i = 0; i < count; i++) {
        const double sum = sum_of(m, order.kind, i);
        result = order.kind == NORM_FROBENIUS ? result + sum : better(order, i == 0, result, sum);
    }
    return order.kind == NORM_FROBENIUS ? sqrt(result) : result;
}

static double norm_of_values(const taper_tensor *s, int64_t matrix, int64_t k, norm order)
{
    double result = 0.0;
    for (int64_t i = 0; i < k; i++) {
        const double value = taper_load_double((taper_dtype)s->dtype, taper_tensor_data(s), matrix * k + i);
        result = order.kind == NORM_NUCLEAR ? result + value : better(order, i == 0, result, value);
    }
    return result;
}

// Computes the norm of each matrix of `a` as a double, into slot RESULT.
static taper_status norms(taper_linalg *w, const taper_tensor *a, norm order)
{
    const taper_linalg_batch batch = taper_linalg_batch_of(a);
    const int64_t count = taper_linalg_count(&batch), rows = taper_linalg_rows(a), columns = taper_linalg_columns(a),
                  k = taper_min_i64(rows, columns);
    const bool singular = order.kind == NORM_TWO || order.kind == NORM_NUCLEAR;
    const int64_t outer = order.kind == NORM_TWO        ? k
                          : order.kind == NORM_ONE      ? columns
                          : order.kind == NORM_INFINITE ? rows
                                                        : 1;
    if (outer == 0 && count != 0) {
        return taper_linalg_fail(w, "Expected reduction dim to have non-zero size.");
    }
    TAPER_TRY(taper_linalg_new_vectors(w, RESULT, TAPER_F64, &batch, -1));
    if (singular) {
        TAPER_TRY(taper_linalg_svd(w, a, 'N', U, S, VH, SCRATCH));
    } else {
        TAPER_TRY(taper_linalg_take(w, S, a, NULL, taper_linalg_wide((taper_dtype)a->dtype)));
    }
    for (int64_t i = 0; i < count; i++) {
        double *const result = taper_linalg_doubles(w->t[RESULT]) + i;
        if (singular) {
            *result = norm_of_values(w->t[S], i, k, order);
        } else {
            const taper_dense matrix = taper_linalg_matrix(w, w->t[S], i);
            *result = rows == 0 || columns == 0 ? 0.0 : simple_norm(&matrix, order);
        }
        TAPER_TRY(taper_linalg_stopped(w));
    }
    return TAPER_OK;
}

// Reads argument `at`, a dtype to which a's dtype must convert without loss. The default is a's dtype.
static taper_status wanted_dtype(taper_linalg *w, size_t at, const taper_tensor *a, taper_dtype *dtype)
{
    const taper_dtype own = (taper_dtype)a->dtype;
    TAPER_TRY(taper_arg_dtype_or(w->call, at, own, dtype));
    const bool fits = taper_dtype_is_complex(own) == taper_dtype_is_complex(*dtype) &&
                      (taper_dtype_is_float(*dtype) || taper_dtype_is_complex(*dtype)) &&
                      taper_promote(own, *dtype) == *dtype;
    if (!fits) {
        TAPER_FAIL(
            w->run->error, TAPER_ERROR_ARGUMENT,
            "%s: the dtype of the input (%s) should be convertible without narrowing to the specified dtype (%s)",
            w->name, taper_dtype_torch_name(own), taper_dtype_torch_name(*dtype));
    }
    return TAPER_OK;
}

// Makes a view of argument 0. Its last two dimensions are dims; the other dimensions keep their order.
static taper_status matrices(const taper_linalg *w, const taper_tensor *a, const int64_t *dims, taper_tensor *twin,
                             bool *over)
{
    size_t first, second, kept = 0;
    int64_t sizes[TAPER_MAX_RANK], strides[TAPER_MAX_RANK];
    if (a->rank < 2) {
        return taper_linalg_fail(w, "The input tensor A must have at least 2 dimensions.");
    }
    TAPER_TRY(taper_wrap_dim_or_fail(dims[0], a->rank, &first, w->run->error));
    TAPER_TRY(taper_wrap_dim_or_fail(dims[1], a->rank, &second, w->run->error));
    if (first == second) {
        return taper_linalg_fail(w, "dims must be different.");
    }
    for (size_t i = 0; i < a->rank; i++) {
        over[i] = i == first || i == second;
        if (!over[i]) {
            sizes[kept] = a->sizes[i];
            strides[kept++] = a->strides[i];
        }
    }
    for (size_t i = 0; i < 2; i++) {
        sizes[kept] = a->sizes[i == 0 ? first : second];
        strides[kept++] = a->strides[i == 0 ? first : second];
    }
    *twin = taper_tensor_twin(a, kept, sizes, strides);
    return TAPER_OK;
}

// Norms that PyTorch computes from singular values have stride 1 in the kept dimensions of size 1, wherever these
// dimensions are.
static taper_status ret_last(taper_linalg *w, const bool *over, taper_dtype dtype)
{
    taper_tensor *const value = w->t[RESULT], *result;
    int64_t strides[TAPER_MAX_RANK], step = 1;
    for (size_t i = value->rank; i-- > 0;) {
        strides[i] = over[i] ? 1 : step;
        step *= over[i] ? 1 : taper_max_i64(value->sizes[i], 1);
    }
    TAPER_TRY(taper_ret_new(w->call, 0, dtype, value->rank, value->sizes, strides, &result));
    return taper_run_copy(w->run, result, value);
}

// Computes the norms of argument 0's matrices in these dimensions. keepdim and dtype are arguments 3 and 4.
static taper_status ret_norms(taper_linalg *w, norm order, const int64_t *dims)
{
    enum { CONVERTED = LU };
    taper_tensor *a, twin;
    bool keep, over[TAPER_MAX_RANK] = {false};
    taper_dtype dtype;
    int64_t sizes[TAPER_MAX_RANK];
    TAPER_TRY(taper_arg_tensor(w->call, 0, &a));
    TAPER_TRY(taper_arg_bool(w->call, 3, &keep));
    if (!taper_dtype_is_float((taper_dtype)a->dtype) && !taper_dtype_is_complex((taper_dtype)a->dtype)) {
        TAPER_FAIL(w->run->error, TAPER_ERROR_ARGUMENT,
                   "%s: Expected a floating point or complex tensor as input. Got %s", w->name,
                   taper_dtype_torch_name((taper_dtype)a->dtype));
    }
    if (order.kind == NORM_TWO || order.kind == NORM_NUCLEAR) {
        TAPER_TRY(taper_linalg_check_dtype(w, a));
    }
    TAPER_TRY(wanted_dtype(w, 4, a, &dtype));
    TAPER_TRY(matrices(w, a, dims, &twin, over));
    if (order.kind == NORM_FROBENIUS && dtype == (taper_dtype)a->dtype && dtype != TAPER_F16) {
        // The Frobenius norm is the 2-norm of the elements as a vector, for whose reduction there are kernels.
        taper_reduce r = taper_reduce_make(a, &taper_reduce_square_sum, dtype);
        memcpy(r.over, over, sizeof over);
        r.keep = keep;
        r.real = true;
        r.finish = TAPER_FINISH_SQRT;
        r.dtype = taper_dtype_to_real(dtype);
        return taper_reduce_run(w->call, &r);
    }
    if (dtype != (taper_dtype)a->dtype) {
        TAPER_TRY(taper_linalg_take(w, CONVERTED, &twin, NULL, dtype));
        twin = *w->t[CONVERTED];
    }
    TAPER_TRY(norms(w, &twin, order));
    taper_tensor *const result = w->t[RESULT];
    result->rank = (uint8_t)taper_reduce_sizes(a, over, keep, sizes);
    memcpy(result->sizes, sizes, result->rank * sizeof *sizes);
    taper_strides_contiguous(result->rank, result->sizes, result->strides);
    if (keep && (order.kind == NORM_TWO || order.kind == NORM_NUCLEAR) && taper_ret_target(w->call, 0) == NULL) {
        return ret_last(w, over, taper_dtype_to_real(dtype));
    }
    return taper_linalg_ret(w, 0, RESULT, taper_dtype_to_real(dtype), TAPER_BY_ROWS);
}

static taper_status matrix_norm(taper_linalg *w)
{
    norm order;
    int64_t dims[TAPER_MAX_RANK];
    size_t count;
    TAPER_TRY(read_norm(w, 1, &order));
    TAPER_TRY(taper_arg_ints(w->call, 2, 0, TAPER_MAX_RANK, dims, &count));
    if (count != 2) {
        return taper_linalg_fail(w, "dim must be a 2-tuple.");
    }
    return ret_norms(w, order, dims);
}

TAPER_KERNEL(taper_op_linalg_matrix_norm)
{
    return taper_linalg_run(call, "linalg.matrix_norm", matrix_norm);
}

// Computes linalg_norm: a norm of vectors or of matrices, depending on order and dimensions.
static taper_status any_norm(taper_linalg *w)
{
    static const int64_t last_two[] = {-2, -1};
    taper_tensor *a;
    norm order;
    int64_t dims[TAPER_MAX_RANK];
    size_t count = 0;
    TAPER_TRY(taper_arg_tensor(w->call, 0, &a));
    const bool ordered = !taper_arg_is_none(w->call, 1), named = ordered && w->call->args[1].tag == TAPER_STRING;
    const bool placed = !taper_arg_is_none(w->call, 2);
    if (placed) {
        TAPER_TRY(taper_arg_ints(w->call, 2, 0, TAPER_MAX_RANK, dims, &count));
        if (count != 1 && count != 2) {
            return taper_linalg_fail(w, "If dim is specified, it must be of length 1 or 2.");
        }
    } else if (ordered && a->rank != 1 && a->rank != 2) {
        return taper_linalg_fail(w, "If dim is not specified but ord is, the input must be 1D or 2D.");
    }
    if (named || (ordered && (placed ? count == 2 : a->rank == 2))) {
        w->name = "linalg.matrix_norm";
        TAPER_TRY(read_norm(w, 1, &order));
        if (placed && count != 2) {
            return taper_linalg_fail(w, "dim must be a 2-tuple.");
        }
        return ret_norms(w, order, placed ? dims : last_two);
    }
    return taper_op_vector_norm(w->call);
}

TAPER_KERNEL(taper_op_linalg_norm)
{
    return taper_linalg_run(call, "linalg.norm", any_norm);
}

// ---- condition numbers

// Computes the condition number from singular values: the largest divided by the least, or the least divided by the
// largest, or the sum of the values times the sum of their inverses.
static taper_status condition_by_values(taper_linalg *w, const taper_tensor *a, norm order)
{
    const taper_linalg_batch batch = taper_linalg_batch_of(a);
    const int64_t k = taper_min_i64(taper_linalg_rows(a), taper_linalg_columns(a)), count = taper_linalg_count(&batch);
    TAPER_TRY(taper_linalg_svd(w, a, 'N', U, S, VH, SCRATCH));
    TAPER_TRY(taper_linalg_new_vectors(w, RESULT, TAPER_F64, &batch, -1));
    const taper_dtype real = (taper_dtype)w->t[S]->dtype;
    for (int64_t i = 0; i < count; i++) {
        const double most = taper_load_double(real, taper_tensor_data(w->t[S]), i * k);
        const double least = taper_load_double(real, taper_tensor_data(w->t[S]), i * k + k - 1);
        double sum = 0.0, inverses = 0.0;
        for (int64_t j = 0; j < k; j++) {
            const double value = taper_load_double(real, taper_tensor_data(w->t[S]), i * k + j);
            sum += value;
            inverses += 1.0 / value;
        }
        taper_linalg_doubles(w->t[RESULT])[i] = order.kind == NORM_NUCLEAR ? sum * inverses
                                                : order.least              ? least / most
                                                                           : most / least;
    }
    return taper_linalg_ret(w, 0, RESULT, real, TAPER_BY_ROWS);
}

// Computes the condition number as the norm times the norm of the inverse. The inverse of a singular matrix has
// infinities.
static taper_status condition_by_inverse(taper_linalg *w, const taper_tensor *a, norm order)
{
    const taper_dtype dtype = (taper_dtype)a->dtype;
    taper_linalg_system system = {.x = INVERSE, .lu = LU, .pivots = PIVOTS, .infos = INFOS, .ones = S, .left = true};
    const int64_t n = taper_linalg_rows(a);
    TAPER_TRY(taper_linalg_invert(w, a, &system));
    const int64_t count = taper_tensor_numel(w->t[INFOS]);
    for (int64_t i = 0; i < count; i++) {
        if (taper_linalg_ints(w->t[INFOS])[i] == 0) {
            continue;
        }
        const taper_dense matrix = taper_linalg_matrix(w, w->t[INVERSE], i);
        for (int64_t k = 0; k < n * n; k++) {
            taper_dense_set(&matrix, k / n, k % n, taper_c((double)INFINITY, 0.0));
        }
    }
    TAPER_TRY(norms(w, a, order));
    taper_tensor_drop(w->t[LU]);
    w->t[LU] = w->t[RESULT];
    w->t[RESULT] = NULL;
    const taper_tensor inverse = taper_tensor_local(w->t[INVERSE]);
    TAPER_TRY(norms(w, &inverse, order));
    for (int64_t i = 0; i < count; i++) {
        double *const result = taper_linalg_doubles(w->t[RESULT]) + i;
        *result *= taper_linalg_doubles(w->t[LU])[i];
        // Replaces every NaN by infinity, for example the NaN of 0 times infinity.
        *result = *result != *result ? (double)INFINITY : *result;
    }
    return taper_linalg_ret(w, 0, RESULT, taper_dtype_to_real(dtype), TAPER_BY_ROWS);
}

static taper_status cond(taper_linalg *w)
{
    taper_tensor *a;
    norm order = {.kind = NORM_TWO};
    TAPER_TRY(taper_linalg_arg_matrix(w, 0, &a));
    if (!taper_arg_is_none(w->call, 1)) {
        TAPER_TRY(read_norm(w, 1, &order));
    }
    const bool empty = taper_tensor_numel(a) == 0;
    const bool named = order.kind == NORM_FROBENIUS || order.kind == NORM_NUCLEAR;
    if (named || (order.kind != NORM_TWO && !empty)) {
        TAPER_TRY(taper_linalg_check_square(w, a));
    }
    if (empty) { // an empty matrix has the condition number 0
        const taper_linalg_batch batch = taper_linalg_batch_of(a);
        TAPER_TRY(taper_linalg_new_vectors(w, RESULT, taper_dtype_to_real((taper_dtype)a->dtype), &batch, -1));
        TAPER_TRY(taper_linalg_zero(w, RESULT));
        return taper_linalg_ret(w, 0, RESULT, taper_dtype_to_real((taper_dtype)a->dtype), TAPER_BY_ROWS);
    }
    return order.kind == NORM_TWO || order.kind == NORM_NUCLEAR ? condition_by_values(w, a, order)
                                                                : condition_by_inverse(w, a, order);
}

TAPER_KERNEL(taper_op_linalg_cond)
{
    return taper_linalg_run(call, "linalg.cond", cond);
}
