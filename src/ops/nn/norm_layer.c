// SPDX-License-Identifier: BSD-2-Clause
// layer_norm normalizes each row of the trailing dimensions by its own mean and variance, rms_norm by its mean square.
// The result is contiguous. Rows that are not contiguous in the input are gathered a few at a time, so that a permuted
// image is read line by line.
#include <float.h>
#include <math.h>

#include "ops/call/call.h"
#include "ops/engine/doubles.h"
#include "ops/engine/view_move.h"
#include "ops/nn/norm.h"
#include "ops/nn/pool.h"

enum { ROWS = 16 }; // number of rows that are gathered at a time

typedef struct layer_work {
    taper_run *run;
    taper_dtype dtype;
    int64_t rows, width;
    double eps;
    taper_tensor *weight, *bias; // contiguous tensors, or NULL; retained
    taper_tensor *mean, *inverse;
    bool square; // true for rms_norm, which does not subtract the mean
} layer_work;

static void row_f32(const layer_work *work, const float *restrict x, float *restrict y, double *mean, double *inverse)
{
    const int64_t n = work->width;
    const float *restrict weight = work->weight != NULL ? taper_tensor_data(work->weight) : NULL;
    const float *restrict bias = work->bias != NULL ? taper_tensor_data(work->bias) : NULL;
    *mean = work->square ? 0.0 : taper_sum_f32(work->run, x, n) / (double)n;
    const float center = (float)*mean;
    const double off = *mean - (double)center;
    const double variance = taper_sum_squares_f32(work->run, x, n, center) / (double)n - off * off;
    *inverse = 1.0 / sqrt((variance > 0.0 || variance != variance ? variance : 0.0) + work->eps);
    // PyTorch fuses x * scale - mean * scale. In a row of one element, x is the mean, so only the rounding error
    // remains.
    if (n == 1 && !work->square) {
        const float single = 1.0f / sqrtf((float)variance + (float)work->eps);
        const float v = fmaf(x[0], single, -(center * single));
        *inverse = (double)single;
        y[0] = (weight != NULL ? v * weight[0] : v) + (bias != NULL ? bias[0] : 0.0f);
        return;
    }
    const float scale = (float)*inverse;
    if (weight != NULL && bias != NULL) {
        for (int64_t i = 0; i < n; i++) {
            y[i] = (x[i] - center) * scale * weight[i] + bias[i];
        }
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        y[i] = (x[i] - center) * scale;
    }
    for (int64_t i = 0; weight != NULL && i < n; i++) {
        y[i] *= weight[i];
    }
    for (int64_t i = 0; bias != NULL && i < n; i++) {
        y[i] += bias[i];
    }
}

static double param_at(const taper_tensor *param, int64_t i, double otherwise)
{
    return param != NULL ? taper_number_load((taper_dtype)param->dtype, taper_tensor_data(param), i) : otherwise;
}

static void row_any(const layer_work *work, const void *x, void *y, double *mean, double *inverse)
{
    const int64_t n = work->width;
    double sum = 0.0, squares = 0.0;
    for (int64_t i = 0; i < n; i++) {
        sum += taper_number_load(work->dtype, x, i);
    }
    *mean = work->square ? 0.0 : sum / (double)n;
    for (int64_t i = 0; i < n; i++) {
        const double d = taper_number_load(work->dtype, x, i) - *mean;
        squares += d * d;
    }
    *inverse = 1.0 / sqrt(squares / (double)n + work->eps);
    for (int64_t i = 0; i < n; i++) {
        const double v = (taper_number_load(work->dtype, x, i) - *mean) * *inverse;
        taper_number_store(work->dtype, y, i, v * param_at(work->weight, i, 1.0) + param_at(work->bias, i, 0.0));
    }
}

// Computes a row of doubles with parameters of doubles, by kernels.
static void row_f64(const layer_work *work, const double *x, double *y, double *mean, double *inverse)
{
    const taper_run *run = work->run;
    const size_t n = (size_t)work->width;
    *mean = work->square ? 0.0 : taper_doubles_sum(run, n, x) / (double)n;
    *inverse = 1.0 / sqrt(taper_doubles_deviations(run, n, x, *mean) / (double)n + work->eps);
    const taper_native_numbers numbers = {{*mean, *inverse, 0}, {0}};
    const double *weight = work->weight != NULL ? taper_tensor_data(work->weight) : NULL;
    const double *bias = work->bias != NULL ? taper_tensor_data(work->bias) : NULL;
    if (weight != NULL && bias != NULL) {
        taper_doubles_apply(run, TAPER_NATIVE_NORMALIZE, n, x, weight, bias, y, &numbers);
        return;
    }
    taper_doubles_apply(run, TAPER_NATIVE_AFFINE, n, x, x, x, y, &numbers);
    if (weight != NULL) {
        taper_doubles_apply(run, TAPER_NATIVE_MUL, n, y, weight, y, y, &numbers);
    }
    if (bias != NULL) {
        taper_doubles_apply(run, TAPER_NATIVE_ADD, n, y, bias, y, y, &numbers);
    }
}

static bool is_of(const taper_tensor *param, taper_dtype dtype)
{
    return param == NULL || param->dtype == dtype;
}

static void run_row(const layer_work *work, int64_t row, const void *x, void *y)
{
    double mean, inverse;
    const bool plain = is_of(work->weight, work->dtype) && is_of(work->bias, work->dtype);
    const bool floats = work->dtype == TAPER_F32 && plain;
    const bool doubles = work->dtype == TAPER_F64 && plain && taper_doubles_are_fast(work->run);
    const bool fast = floats || doubles;
    if (!taper_run_goes_on(work->run, (uint64_t)work->width * (fast ? 4 : 40) + 50)) {
        return;
    }
    if (floats) {
        row_f32(work, x, y, &mean, &inverse);
    } else if (doubles) {
        row_f64(work, x, y, &mean, &inverse);
    } else {
        row_any(work, x, y, &mean, &inverse);
    }
    if (work->mean != NULL) { // the statistics are contiguous tensors
        taper_number_store((taper_dtype)work->mean->dtype, taper_tensor_mutable(work->mean), row, mean);
    }
    if (work->inverse != NULL) {
        taper_number_store((taper_dtype)work->inverse->dtype, taper_tensor_mutable(work->inverse), row, inverse);
    }
}

// Computes rows whose elements are gathered, several rows along the innermost outer dimension at a time.
static taper_status run_gathered(taper_call *call, const layer_work *work, const taper_tensor *x, size_t outer,
                                 char *out)
{
    const size_t item = taper_tensor_item(x), rank = x->rank;
    const size_t row_bytes = (size_t)work->width * item;
    size_t bytes;
    if (!taper_mul_size(row_bytes, ROWS, &bytes)) {
        return taper_fail_memory(call->run->error);
    }
    char *scratch = taper_heap_alloc(call->run->heap, bytes);
    if (scratch == NULL) {
        return taper_fail_memory(call->run->error);
    }
    // The shape of one run of rows: [rows of the run][normalized dimensions].
    int64_t sizes[TAPER_MAX_RANK + 1], from[TAPER_MAX_RANK + 1], to[TAPER_MAX_RANK + 1];
    int64_t next = 1;
    for (size_t i = rank; i-- > outer;) {
        sizes[i - outer + 1] = x->sizes[i];
        from[i - outer + 1] = x->strides[i];
        to[i - outer + 1] = next;
        next *= x->sizes[i];
    }
    const int64_t line = outer > 0 ? x->sizes[outer - 1] : 1;
    from[0] = outer > 0 ? x->strides[outer - 1] : 0;
    to[0] = work->width;
    const char *in = taper_tensor_data(x);
    for (int64_t first = 0; first < work->rows; first += line) {
        int64_t left = first / line, base = 0;
        for (size_t i = outer > 0 ? outer - 1 : 0; i-- > 0;) {
            base += left % x->sizes[i] * x->strides[i];
            left /= x->sizes[i];
        }
        for (int64_t at = 0; at < line; at += ROWS) {
            sizes[0] = taper_min_i64(ROWS, line - at);
            taper_move(call->run, item, rank - outer + 1, sizes, scratch, to,
                       in + (base + at * from[0]) * (int64_t)item, from);
            for (int64_t i = 0; i < sizes[0]; i++) {
                run_row(work, first + at + i, scratch + (size_t)i * row_bytes,
                        out + (size_t)(first + at + i) * row_bytes);
            }
        }
    }
    taper_heap_free(call->run->heap, scratch, bytes);
    return TAPER_OK;
}

// Returns true if the dimensions from `outer` on are contiguous in memory.
static bool rows_contiguous(const taper_tensor *x, size_t outer)
{
    int64_t expected = 1;
    for (size_t i = x->rank; i-- > outer;) {
        if (x->sizes[i] != 1 && x->strides[i] != expected) {
            return false;
        }
        expected *= x->sizes[i];
    }
    return true;
}

static taper_status read_param(taper_call *call, size_t at, const taper_tensor *x, size_t outer, const char *name,
                               taper_tensor **param)
{
    taper_tensor *t;
    TAPER_TRY(taper_arg_tensor_or_none(call, at, &t));
    if (t == NULL) {
        return TAPER_OK;
    }
    if (t->rank != x->rank - outer || memcmp(t->sizes, x->sizes + outer, t->rank * sizeof *t->sizes) != 0 ||
        !taper_dtype_is_float((taper_dtype)t->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "%s must have the sizes of normalized_shape", name);
    }
    return taper_run_contiguous(call->run, t, param);
}

static taper_status layer_norm(taper_call *call, taper_tensor *x, size_t outer, layer_work *work)
{
    taper_tensor *y;
    const taper_dtype dtype = work->dtype;
    TAPER_TRY(read_param(call, 2, x, outer, "weight", &work->weight));
    if (work->square) {
        const bool fine = dtype == TAPER_F64;
        TAPER_TRY(taper_arg_double_or(call, 3, fine ? DBL_EPSILON : (double)FLT_EPSILON, &work->eps));
    } else {
        TAPER_TRY(read_param(call, 3, x, outer, "bias", &work->bias));
        TAPER_TRY(taper_arg_double(call, 4, &work->eps));
    }
    TAPER_TRY(taper_ret_new(call, 0, dtype, x->rank, x->sizes, NULL, &y));
    if (call->ret_count > 1) {
        int64_t sizes[TAPER_MAX_RANK];
        const taper_dtype stored = work->square           ? (dtype == TAPER_F64 ? TAPER_F64 : TAPER_F32)
                                   : work->weight != NULL ? (taper_dtype)work->weight->dtype
                                                          : dtype;
        for (size_t i = 0; i < x->rank; i++) {
            sizes[i] = i < outer ? x->sizes[i] : 1;
        }
        if (!work->square) {
            TAPER_TRY(taper_ret_new(call, 1, stored, x->rank, sizes, NULL, &work->mean));
        }
        TAPER_TRY(taper_ret_new(call, work->square ? 1 : 2, stored, x->rank, sizes, NULL, &work->inverse));
    }
    if (taper_tensor_numel(x) == 0) {
        return TAPER_OK;
    }
    work->width = 1;
    for (size_t i = outer; i < x->rank; i++) {
        work->width *= x->sizes[i];
    }
    work->rows = taper_tensor_numel(x) / work->width;
    char *out = taper_tensor_mutable(y);
    if (!rows_contiguous(x, outer)) {
        return run_gathered(call, work, x, outer, out);
    }
    const int64_t item = (int64_t)taper_tensor_item(x);
    const char *in = taper_tensor_data(x);
    if (taper_tensor_is_contiguous(x)) {
        for (int64_t row = 0; row < work->rows; row++) {
            run_row(work, row, in + row * work->width * item, out + row * work->width * item);
        }
        return TAPER_OK;
    }
    for (int64_t row = 0; row < work->rows; row++) {
        int64_t left = row, base = 0;
        for (size_t i = outer; i-- > 0;) {
            base += left % x->sizes[i] * x->strides[i];
            left /= x->sizes[i];
        }
        run_row(work, row, in + base * item, out + row * work->width * item);
    }
    return TAPER_OK;
}

static taper_status run_call(taper_call *call, bool square)
{
    taper_tensor *x;
    int64_t shape[TAPER_MAX_RANK];
    size_t count;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_ints(call, 1, 0, TAPER_MAX_RANK, shape, &count));
    if (count < 1 || count > x->rank || memcmp(shape, x->sizes + x->rank - count, count * sizeof *shape) != 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "normalized_shape does not match the last dimensions of the input");
    }
    if (!taper_dtype_is_float((taper_dtype)x->dtype)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the input must be a tensor of floating-point numbers");
    }
    layer_work work = {.run = call->run, .dtype = (taper_dtype)x->dtype, .square = square};
    const taper_status status = layer_norm(call, x, x->rank - count, &work);
    if (work.weight != NULL) {
        taper_obj_release(&work.weight->head);
    }
    if (work.bias != NULL) {
        taper_obj_release(&work.bias->head);
    }
    return status;
}

// These kernels compute layer norm and RMS norm. layer_norm and native_layer_norm begin with the same arguments, and so
// do rms_norm and _fused_rms_norm, which have no bias. native_layer_norm and _fused_rms_norm also return the
// statistics.
TAPER_KERNEL(taper_op_layer_norm)
{
    return run_call(call, false);
}

TAPER_KERNEL(taper_op_rms_norm)
{
    return run_call(call, true);
}
