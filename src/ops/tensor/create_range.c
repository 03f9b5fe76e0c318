// SPDX-License-Identifier: BSD-2-Clause
// Sequences: arange, range, linspace, logspace, the window functions, fftfreq, tril_indices and triu_indices.
#include <float.h>
#include <math.h>

#include "ops/call/call.h"
#include "ops/call/promote.h"
#include "ops/tensor/create.h"

static const double PI = 3.14159265358979323846;

// ---- arange, range

static taper_status check_range_dtype(taper_error *error, taper_dtype dtype)
{
    if (!taper_dtype_is_integral(dtype) && !taper_dtype_is_float(dtype)) {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED, "dtype: not implemented for %s", taper_dtype_name(dtype));
    }
    return TAPER_OK;
}

static int64_t as_int(const taper_scalar *s)
{
    // The caller has checked that the number fits into int64.
    return s->kind == TAPER_SCALAR_INT || s->kind == TAPER_SCALAR_BOOL ? s->i : (int64_t)s->f;
}

static taper_status range_count(taper_error *error, taper_dtype dtype, const taper_scalar *start,
                                const taper_scalar *end, const taper_scalar *step, bool inclusive, int64_t *count)
{
    double n;
    TAPER_TRY(check_range_dtype(error, dtype));
    if (!isfinite(start->f) || !isfinite(end->f)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "unsupported range: %g -> %g", start->f, end->f);
    }
    if (taper_dtype_is_integral(dtype)) {
        TAPER_TRY(taper_scalar_check(TAPER_I64, start, error));
        TAPER_TRY(taper_scalar_check(TAPER_I64, end, error));
        TAPER_TRY(taper_scalar_check(TAPER_I64, step, error));
    }
    const bool whole = dtype == TAPER_I64; // PyTorch counts other integer dtypes in double
    const double from = whole ? (double)as_int(start) : start->f, to = whole ? (double)as_int(end) : end->f;
    const double by = whole ? (double)as_int(step) : step->f;
    if (!(by > 0 || by < 0) || (taper_dtype_is_integral(dtype) && as_int(step) == 0)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "step must be nonzero");
    }
    if ((by > 0 && from > to) || (by < 0 && from < to)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "upper bound and larger bound inconsistent with step sign");
    }
    if (inclusive) {
        n = floor((to - from) / by) + 1;
    } else if (dtype == TAPER_I64) {
        // Beyond 2^53 this computes the count exactly. start and end are in the step's order, so their distance fits
        // into an unsigned integer.
        const int64_t s = as_int(step);
        const uint64_t gap =
            s > 0 ? (uint64_t)as_int(end) - (uint64_t)as_int(start) : (uint64_t)as_int(start) - (uint64_t)as_int(end);
        const uint64_t stride = s > 0 ? (uint64_t)s : 0 - (uint64_t)s;
        const uint64_t whole_steps = gap / stride + (gap % stride != 0);
        n = (double)whole_steps;
    } else {
        n = ceil((to - from) / by);
    }
    if (!(n >= 0 && n <= (double)TAPER_LIMIT_TENSOR_BYTES)) {
        return taper_fail(error, TAPER_ERROR_RESOURCE, "invalid size, possible overflow? %g elements", n);
    }
    *count = (int64_t)n;
    return TAPER_OK;
}

enum { SEQUENCE_BLOCK = 1024 };

// Computes the elements start + i * step of arange, in blocks, which the compiler vectorizes.
static void real_sequence(taper_run *run, taper_dtype dtype, void *data, int64_t count, double start, double step)
{
    for (int64_t at = 0; at < count && taper_run_goes_on(run, SEQUENCE_BLOCK); at += SEQUENCE_BLOCK) {
        const int n = (int)taper_min_i64(SEQUENCE_BLOCK, count - at);
        const double first = (double)at; // `at` is an integer below 2^53, so the sum is exact
        float *narrow = (float *)data + at;
        double *wide = (double *)data + at;
        for (int i = 0; i < n && dtype == TAPER_F32; i++) {
            narrow[i] = (float)(start + step * (first + (double)i));
        }
        for (int i = 0; i < n && dtype != TAPER_F32; i++) {
            wide[i] = start + step * (first + (double)i);
        }
    }
}

static void whole_sequence(taper_run *run, taper_dtype dtype, void *data, int64_t count, uint64_t start, uint64_t step)
{
    const size_t item = taper_dtype_size(dtype);
    for (int64_t at = 0; at < count && taper_run_goes_on(run, SEQUENCE_BLOCK); at += SEQUENCE_BLOCK) {
        const int64_t n = taper_min_i64(SEQUENCE_BLOCK, count - at);
        const uint64_t first = start + step * (uint64_t)at;
        uint64_t *wide = (uint64_t *)data + at, next = first;
        uint32_t *narrow = (uint32_t *)data + at;
        for (int64_t i = 0; i < n && dtype == TAPER_I64; i++, next += step) {
            wide[i] = next;
        }
        const uint32_t low = (uint32_t)(first & UINT32_MAX), by = (uint32_t)(step & UINT32_MAX);
        for (uint32_t i = 0; i < (uint32_t)n && dtype == TAPER_I32; i++) {
            narrow[i] = low + by * i;
        }
        for (int64_t i = 0; i < n && dtype != TAPER_I64 && dtype != TAPER_I32; i++, next += step) {
            const taper_scalar scalar = taper_scalar_int((int64_t)next);
            taper_scalar_store(dtype, (char *)data + (size_t)(at + i) * item, &scalar);
        }
    }
}

static taper_status ret_range(taper_call *call, size_t dtype_at, taper_dtype otherwise, const taper_scalar *start,
                              const taper_scalar *end, const taper_scalar *step, bool inclusive)
{
    taper_error *error = call->run->error;
    taper_dtype dtype;
    int64_t count;
    taper_tensor *result;
    TAPER_TRY(taper_create_options(call, dtype_at, otherwise, &dtype));
    TAPER_TRY(range_count(error, dtype, start, end, step, inclusive, &count));
    const taper_tensor *target = taper_ret_target(call, 0);
    if (target != NULL && taper_tensor_numel(target) == count) {
        // An out argument with the right number of elements keeps its shape.
        TAPER_TRY(taper_create_new(call, dtype, target->rank, target->sizes, &result));
    } else {
        TAPER_TRY(taper_create_new(call, dtype, 1, &count, &result));
    }
    void *data = taper_tensor_mutable(result);
    if (dtype == TAPER_F32 || dtype == TAPER_F64) {
        real_sequence(call->run, dtype, data, count, start->f, step->f);
    } else if (taper_dtype_is_float(dtype)) {
        // Half precision is computed in float.
        for (int64_t i = 0; i < count && taper_run_step(call->run, i, 20); i++) {
            taper_put_double(dtype, data, i, (double)((float)start->f + (float)step->f * (float)i));
        }
    } else {
        whole_sequence(call->run, dtype, data, count, (uint64_t)as_int(start), (uint64_t)as_int(step));
    }
    return taper_ret_tensor(call, 0, result);
}

static taper_status arange(taper_call *call, size_t numbers)
{
    taper_scalar n[3] = {taper_scalar_int(0), taper_scalar_int(0), taper_scalar_int(1)};
    if (numbers == 1) {
        TAPER_TRY(taper_arg_scalar(call, 0, &n[1]));
    } else {
        for (size_t i = 0; i < numbers; i++) {
            TAPER_TRY(taper_arg_scalar(call, i, &n[i]));
        }
    }
    bool whole = true;
    for (size_t i = 0; i < 3; i++) {
        whole = whole && (n[i].kind == TAPER_SCALAR_INT || n[i].kind == TAPER_SCALAR_BOOL);
    }
    return ret_range(call, numbers, whole ? TAPER_I64 : TAPER_F32, &n[0], &n[1], &n[2], false);
}

TAPER_KERNEL(taper_op_arange)
{
    return arange(call, 1);
}
TAPER_KERNEL(taper_op_arange_start)
{
    return arange(call, 2);
}
TAPER_KERNEL(taper_op_arange_step)
{
    return arange(call, 3);
}

static taper_status range(taper_call *call, size_t numbers)
{
    taper_scalar n[3] = {taper_scalar_int(0), taper_scalar_int(0), taper_scalar_int(1)};
    for (size_t i = 0; i < numbers; i++) {
        TAPER_TRY(taper_arg_scalar(call, i, &n[i]));
    }
    return ret_range(call, numbers, TAPER_F32, &n[0], &n[1], &n[2], true);
}

TAPER_KERNEL(taper_op_range)
{
    return range(call, 2);
}
TAPER_KERNEL(taper_op_range_step)
{
    return range(call, 3);
}

// ---- linspace, logspace

// Rounds a number to the precision of the dtype.
static double held(taper_dtype dtype, double value)
{
    uint64_t cell;
    if (dtype == TAPER_F64) {
        return value;
    }
    taper_put_double(dtype, &cell, 0, value);
    return taper_load_double(dtype, &cell, 0);
}

// Returns element i, computed from the nearer end, so that the last element is exact. Floats are rounded after each
// operation. For integers `wide` is the floating dtype of the step.
static double between(taper_dtype dtype, taper_dtype wide, double start, double end, int64_t i, int64_t steps)
{
    const taper_dtype d = taper_dtype_is_float(dtype) ? dtype : wide;
    const double step = held(d, held(d, end - start) / held(d, (double)(steps - 1)));
    return i < steps / 2 ? held(d, start + held(d, step * held(d, (double)i)))
                         : held(d, end - held(d, step * held(d, (double)(steps - i - 1))));
}

// Returns element i as between() does, but with one rounding for the multiplication and the addition.
static double between_fused(taper_dtype dtype, double start, double end, int64_t i, int64_t steps)
{
    const bool low = i < steps / 2;
    const double count = (double)(low ? i : steps - i - 1);
    if (dtype == TAPER_F32) {
        const float step = ((float)end - (float)start) / (float)(steps - 1);
        return (double)fmaf(low ? step : -step, (float)count, (float)(low ? start : end));
    }
    const double step = (end - start) / (double)(steps - 1);
    return fma(low ? step : -step, count, low ? start : end);
}

// Computes element i of linspace as PyTorch does. PyTorch computes two vectors at a time while two are left, and the
// other elements one by one. A vector is its first element plus multiples of the step. For integers this is visible:
// the first element is truncated before the steps are added.
static double between_vectors(taper_dtype dtype, double start, double end, int64_t i, int64_t steps)
{
    const int64_t lanes = 32 / (int64_t)taper_dtype_size(dtype), first = i / lanes * lanes;
    const bool fused = dtype == TAPER_F32 || dtype == TAPER_F64;
    const bool alone = i >= steps / (2 * lanes) * (2 * lanes);
    if (fused && (alone || i == first)) {
        return between_fused(dtype, start, end, i, steps);
    }
    if (alone || (!fused && taper_dtype_is_float(dtype))) {
        return between(dtype, TAPER_F64, start, end, i, steps);
    }
    const double steps_behind = (double)(i - first), span = (end - start) / (double)(steps - 1);
    if (!fused) {
        return trunc(between(dtype, TAPER_F64, start, end, first, steps)) + span * steps_behind;
    }
    const double step = held(dtype, held(dtype, end - start) / held(dtype, (double)(steps - 1)));
    return held(dtype, between_fused(dtype, start, end, first, steps) + held(dtype, step * steps_behind));
}

// Computes between_vectors() for all floats, with everything that does not depend on the element computed once.
static void between_floats(taper_run *run, float *data, double start, double end, int64_t steps)
{
    enum { LANES = 8 };
    const float step = ((float)end - (float)start) / (float)(steps - 1);
    const int64_t together = steps / (2 * LANES) * (2 * LANES);
    for (int64_t i = 0; i < steps && taper_run_step(run, i / LANES, LANES * 20);) {
        const float first = (float)between_fused(TAPER_F32, start, end, i, steps);
        data[i++] = first;
        for (int64_t k = 1; k < LANES && i < together; k++, i++) {
            data[i] = first + step * (float)k;
        }
    }
}

// Computes powers of base with the exponents of between() for floats. base is positive and not 1, so a logarithm
// exists.
static void powers_of_floats(taper_run *run, float *data, double base, double start, double end, int64_t steps)
{
    const float step = ((float)end - (float)start) / (float)(steps - 1);
    const double exponent = log2(base);
    for (int64_t i = 0; i < steps && taper_run_step(run, i, 60); i++) {
        const float at = i < steps / 2 ? (float)start + step * (float)i : (float)end - step * (float)(steps - i - 1);
        data[i] = (float)exp2((double)at * exponent);
    }
}

// Computes linspace, or logspace if base is not 0, for complex numbers. The real and the imaginary part are computed
// separately, each with a real step.
static void complex_spaced(taper_run *run, taper_dtype dtype, void *data, const taper_scalar *start,
                           const taper_scalar *end, int64_t steps, double base)
{
    const taper_dtype part = taper_dtype_to_real(dtype);
    const double a[2] = {held(part, start->f), held(part, start->im)}, b[2] = {held(part, end->f), held(part, end->im)};
    for (int64_t i = 0; i < steps && taper_run_step(run, i, 200); i++) {
        taper_scalar value = {.kind = TAPER_SCALAR_COMPLEX};
        value.f = steps == 1 ? a[0] : between(part, part, a[0], b[0], i, steps);
        value.im = steps == 1 ? a[1] : between(part, part, a[1], b[1], i, steps);
        if (base != 0) { // computes base to the power of the value
            const double length = pow(base, value.f), angle = value.im * log(base);
            value.f = length * cos(angle);
            value.im = length * sin(angle);
        }
        taper_scalar_store(dtype, (char *)data + (size_t)i * taper_dtype_size(dtype), &value);
    }
}

static taper_status spaced(taper_call *call, bool logarithmic)
{
    taper_error *error = call->run->error;
    taper_scalar start, end;
    int64_t steps;
    double base = 10;
    taper_dtype dtype;
    taper_tensor *result;
    TAPER_TRY(taper_arg_scalar(call, 0, &start));
    TAPER_TRY(taper_arg_scalar(call, 1, &end));
    TAPER_TRY(taper_arg_int_or(call, 2, 100, &steps));
    if (logarithmic) {
        TAPER_TRY(taper_arg_double(call, 3, &base));
    }
    const bool complex_ends = start.kind == TAPER_SCALAR_COMPLEX || end.kind == TAPER_SCALAR_COMPLEX;
    TAPER_TRY(taper_create_options(call, logarithmic ? 4 : 3, complex_ends ? TAPER_C64 : TAPER_F32, &dtype));
    if (steps < 0) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "number of steps must be non-negative");
    }
    if (dtype == TAPER_C64 || dtype == TAPER_C128) {
        TAPER_TRY(taper_create_count(error, "steps", steps));
        TAPER_TRY(taper_create_new(call, dtype, 1, &steps, &result));
        complex_spaced(call->run, dtype, taper_tensor_mutable(result), &start, &end, steps, logarithmic ? base : 0);
        return taper_ret_tensor(call, 0, result);
    }
    TAPER_TRY(check_range_dtype(error, dtype));
    if (complex_ends) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "start and end are complex, but the result's dtype is %s",
                          taper_dtype_torch_name(dtype));
    }
    TAPER_TRY(taper_scalar_check(dtype, &start, error));
    TAPER_TRY(taper_scalar_check(dtype, &end, error));
    if (taper_dtype_is_integral(dtype)) {
        start.f = trunc(start.f);
        end.f = trunc(end.f);
    } else {
        start.f = held(dtype, start.f);
        end.f = held(dtype, end.f);
    }
    TAPER_TRY(taper_create_count(error, "steps", steps));
    TAPER_TRY(taper_create_new(call, dtype, 1, &steps, &result));
    void *data = taper_tensor_mutable(result);
    if (dtype == TAPER_F32 && !logarithmic && steps > 1) {
        between_floats(call->run, data, start.f, end.f, steps);
        return taper_ret_tensor(call, 0, result);
    }
    if (dtype == TAPER_F32 && steps > 1 && (float)base > 0 && (float)base <= FLT_MAX && (float)base != 1) {
        powers_of_floats(call->run, data, held(dtype, base), start.f, end.f, steps);
        return taper_ret_tensor(call, 0, result);
    }
    for (int64_t i = 0; i < steps && taper_run_step(call->run, i, 100); i++) {
        double value = steps == 1    ? start.f
                       : logarithmic ? between(dtype, TAPER_F32, start.f, end.f, i, steps)
                                     : between_vectors(dtype, start.f, end.f, i, steps);
        if (logarithmic) {
            value = pow(held(taper_dtype_is_float(dtype) ? dtype : TAPER_F32, base), value);
        }
        taper_put_double(dtype, data, i, value);
    }
    return taper_ret_tensor(call, 0, result);
}

TAPER_KERNEL(taper_op_linspace)
{
    return spaced(call, false);
}
TAPER_KERNEL(taper_op_logspace)
{
    return spaced(call, true);
}

// ---- window functions

typedef enum window_kind { HANN, HAMMING, BARTLETT, BLACKMAN, KAISER } window_kind;

// Computes the modified Bessel function of order 0, by its series. x is small, at most a window's beta.
static double bessel_i0(double x)
{
    double sum = 1, term = 1;
    for (int k = 1; k < 500 && term > sum * 1e-17; k++) {
        term *= (x / (2 * k)) * (x / (2 * k));
        sum += term;
    }
    return sum;
}

static double window_at(window_kind kind, double i, double n, double a, double b)
{
    switch (kind) {
    case BARTLETT: {
        const double x = i * 2 / (n - 1);
        return i < (double)(((int64_t)n - 1) / 2 + 1) ? x : 2 - x;
    }
    case BLACKMAN: {
        const double x = i * (PI / (n - 1));
        return cos(4 * x) * 0.08 - cos(2 * x) * 0.5 + 0.42;
    }
    case KAISER: {
        const double x = 2 * i / (n - 1) - 1;
        return bessel_i0(a * sqrt(fmax(0, 1 - x * x))) / bessel_i0(a);
    }
    default:
        return a - b * cos(i * (PI * 2 / (n - 1)));
    }
}

// Reads window_length, then the arguments periodic, alpha and beta (for kaiser_window only beta) if the overload has
// them, and makes the window.
static taper_status window(taper_call *call, window_kind kind, size_t given)
{
    taper_error *error = call->run->error;
    int64_t length;
    bool periodic = true;
    double a = kind == HANN ? 0.5 : kind == KAISER ? 12.0 : 0.54, b = kind == HANN ? 0.5 : 0.46;
    taper_dtype dtype;
    taper_tensor *result;
    TAPER_TRY(taper_arg_int(call, 0, &length));
    if (given > 1) {
        TAPER_TRY(taper_arg_bool(call, 1, &periodic));
    }
    if (given > 2) {
        TAPER_TRY(taper_arg_double(call, 2, &a));
    }
    if (given > 3) {
        TAPER_TRY(taper_arg_double(call, 3, &b));
    }
    TAPER_TRY(taper_create_options(call, given, TAPER_F32, &dtype));
    if (!taper_dtype_is_float(dtype)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "window functions expect floating point dtypes, got: %s",
                          taper_dtype_name(dtype));
    }
    TAPER_TRY(taper_create_count(error, "window_length", length));
    TAPER_TRY(taper_create_new(call, dtype, 1, &length, &result));
    const double n = (double)length + (periodic ? 1 : 0);
    for (int64_t i = 0; i < length && taper_run_step(call->run, i, kind == KAISER ? 1000 : 60); i++) {
        taper_put_double(dtype, taper_tensor_mutable(result), i, length == 1 ? 1 : window_at(kind, (double)i, n, a, b));
    }
    return taper_ret_tensor(call, 0, result);
}

#define WINDOW(name, kind, given)                                                                                      \
    TAPER_KERNEL(name)                                                                                                 \
    {                                                                                                                  \
        return window(call, kind, given);                                                                              \
    }
WINDOW(taper_op_hann_window, HANN, 1)
WINDOW(taper_op_hann_window_periodic, HANN, 2)
WINDOW(taper_op_hamming_window, HAMMING, 1)
WINDOW(taper_op_hamming_window_periodic, HAMMING, 2)
WINDOW(taper_op_hamming_window_alpha, HAMMING, 3)
WINDOW(taper_op_hamming_window_alpha_beta, HAMMING, 4)
WINDOW(taper_op_bartlett_window, BARTLETT, 1)
WINDOW(taper_op_bartlett_window_periodic, BARTLETT, 2)
WINDOW(taper_op_blackman_window, BLACKMAN, 1)
WINDOW(taper_op_blackman_window_periodic, BLACKMAN, 2)
WINDOW(taper_op_kaiser_window, KAISER, 1)
WINDOW(taper_op_kaiser_window_periodic, KAISER, 2)
WINDOW(taper_op_kaiser_window_beta, KAISER, 3)

static taper_status frequencies(taper_call *call, bool real)
{
    taper_error *error = call->run->error;
    int64_t n;
    double spacing;
    taper_dtype dtype;
    taper_tensor *result;
    TAPER_TRY(taper_arg_int(call, 0, &n));
    TAPER_TRY(taper_arg_double(call, 1, &spacing));
    TAPER_TRY(taper_create_options(call, 2, TAPER_F32, &dtype));
    const int64_t count = real ? n / 2 + 1 : n; // for n = -1 there is one frequency, as in PyTorch
    TAPER_TRY(taper_create_count(error, "n", count));
    if (!taper_dtype_is_float(dtype)) {
        return taper_fail(error, TAPER_ERROR_ARGUMENT, "dtype: expected a floating point dtype, got %s",
                          taper_dtype_name(dtype));
    }
    TAPER_TRY(taper_create_new(call, dtype, 1, &count, &result));
    for (int64_t i = 0; i < count && taper_run_step(call->run, i, 20); i++) {
        const int64_t bin = real || i < (n + 1) / 2 ? i : i - n;
        taper_put_double(dtype, taper_tensor_mutable(result), i, (double)bin * (1.0 / ((double)n * spacing)));
    }
    return taper_ret_tensor(call, 0, result);
}

TAPER_KERNEL(taper_op_fft_fftfreq)
{
    return frequencies(call, false);
}
TAPER_KERNEL(taper_op_fft_rfftfreq)
{
    return frequencies(call, true);
}

// ---- indices of triangles

static taper_status triangle_indices(taper_call *call, bool lower)
{
    taper_error *error = call->run->error;
    int64_t rows, columns, offset;
    taper_dtype dtype;
    taper_tensor *result;
    TAPER_TRY(taper_arg_int(call, 0, &rows));
    TAPER_TRY(taper_arg_int(call, 1, &columns));
    TAPER_TRY(taper_arg_int(call, 2, &offset));
    TAPER_TRY(taper_create_options(call, 3, TAPER_I64, &dtype));
    TAPER_TRY(taper_create_count(error, "row", rows));
    TAPER_TRY(taper_create_count(error, "col", columns));
    if (!taper_dtype_is_integral(dtype)) {
        return taper_fail(error, TAPER_ERROR_UNSUPPORTED, "dtype: not implemented for %s", taper_dtype_name(dtype));
    }
    offset = taper_min_i64(taper_max_i64(offset, -rows), columns);
    // Row i has columns [0, i + offset] in the lower triangle, and [i + offset, columns) in the upper triangle.
    const int64_t first = columns == 0 ? rows : lower ? taper_max_i64(0, -offset) : 0;
    const int64_t last = lower ? rows : taper_min_i64(rows, columns - offset);
    if (last - first > INT32_MAX) {
        return taper_fail(error, TAPER_ERROR_RESOURCE, "the result is too large");
    }
    int64_t count = 0;
    for (int64_t i = first; i < last && taper_run_step(call->run, i - first, 2); i++) {
        const int64_t split = taper_min_i64(taper_max_i64(i + offset + (lower ? 1 : 0), 0), columns);
        count += lower ? split : columns - split;
        if (count > TAPER_LIMIT_TENSOR_BYTES) {
            return taper_fail(error, TAPER_ERROR_RESOURCE, "the result is too large");
        }
    }
    const int64_t sizes[2] = {2, count};
    TAPER_TRY(taper_create_new(call, dtype, 2, sizes, &result));
    const size_t item = taper_tensor_item(result);
    char *p = taper_tensor_mutable(result);
    for (int64_t i = first; i < last && taper_run_step(call->run, i - first, 2); i++) {
        const int64_t split = taper_min_i64(taper_max_i64(i + offset + (lower ? 1 : 0), 0), columns);
        const int64_t begin = lower ? 0 : split, end = lower ? split : columns;
        const taper_scalar row = taper_scalar_int(i);
        if (dtype == TAPER_I64) {
            int64_t *const to = (int64_t *)(void *)p;
            for (int64_t j = begin; j < end && taper_run_step(call->run, j - begin, 4); j++) {
                to[j - begin] = i;
                to[count + j - begin] = j;
            }
            p += (size_t)(end - begin) * item;
            continue;
        }
        for (int64_t j = begin; j < end && taper_run_step(call->run, j, 20); j++, p += item) {
            const taper_scalar column = taper_scalar_int(j);
            taper_scalar_store(dtype, p, &row);
            taper_scalar_store(dtype, p + (size_t)count * item, &column);
        }
    }
    return taper_ret_tensor(call, 0, result);
}

TAPER_KERNEL(taper_op_tril_indices)
{
    return triangle_indices(call, true);
}
TAPER_KERNEL(taper_op_triu_indices)
{
    return triangle_indices(call, false);
}
