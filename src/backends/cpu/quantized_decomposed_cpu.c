// SPDX-License-Identifier: BSD-2-Clause
// quantized_decomposed:: operators on dense tensors of floats and bytes, by the vector kernels. A tensor consists of
// runs of elements, each with one scale and zero point. A run is the whole tensor, a channel, a token or a group. The
// results equal the reference's to the last bit: products and sums are the same, in the same order. Values are clamped
// before rounding instead of after it, which is equivalent for integer bounds.
#include <math.h>

#include "ops/call/call.h"
#include "ops/call/parallel.h"
#include "ops/kernels/kernel_select.h"
#include "ops/quantized/quantized.h"

// BLOCK: largest number of elements that are computed together. SHORTEST: shortest run for which the vector kernels are
// used. EXACT: below twice this number, floats can represent x.5.
enum { BLOCK = 1024, SHORTEST = 16, EXACT = 1 << 21 };

typedef struct runs_job {
    const taper_vector_entry *floats;
    const taper_vector_u8_entry *bytes;
    const void *x;
    void *y;
    size_t inner, channels; // inner: length of a run, whose elements have one scale; channels: number of scales
    bool has_signs, behind; // has_signs: elements are int8, not uint8; behind: the zero point is added before rounding
    float low, high;
    // Scales and zero points by channel: run r has the numbers of channel r % channels. If a tensor is NULL, the
    // members below apply to all runs.
    const taper_tensor *scales, *points;
    double scale, inverse;
    int64_t point;
} runs_job;

static void numbers_of(const runs_job *job, size_t run, double *scale, double *inverse, int64_t *point)
{
    const int64_t at = (int64_t)(run % job->channels);
    *scale = job->scale;
    *inverse = job->inverse;
    *point = job->point;
    if (job->scales != NULL) {
        const taper_dtype dtype = (taper_dtype)job->scales->dtype;
        *scale = taper_load_double(dtype, taper_tensor_data(job->scales), at);
        *inverse = dtype == TAPER_F32 ? (double)(1.0f / (float)*scale) : 1.0 / *scale;
    }
    if (job->points != NULL) {
        *point = taper_load_int((taper_dtype)job->points->dtype, taper_tensor_data(job->points), at);
    }
}

// ---- quantizing

static void quantize_block(const runs_job *job, size_t n, const float *x, float inverse, int64_t point, uint8_t *y)
{
    taper_binary_f32_function *const multiply = job->floats->binary[TAPER_BINARY_MUL][TAPER_OPERANDS_VS];
    float t[BLOCK];
    const float shift = (float)point;
    if (job->behind) {
        multiply(n, x, &inverse, t, -INFINITY, INFINITY);
        job->floats->binary[TAPER_BINARY_ADD][TAPER_OPERANDS_VS](n, t, &shift, t, job->low, job->high);
        point = 0;
    } else {
        multiply(n, x, &inverse, t, job->low - shift, job->high - shift);
    }
    job->bytes->quantize(n, t, 1.0f, (int32_t)point + (job->has_signs ? 128 : 0), y);
    if (job->has_signs) { // a NaN becomes 0, as it does for unsigned integers
        int32_t odd = 0;
        for (size_t i = 0; i < n; i++) {
            y[i] ^= 0x80;
        }
        for (size_t i = 0; i < n; i++) {
            odd += t[i] != t[i];
        }
        for (size_t i = 0; odd != 0 && i < n; i++) {
            y[i] = t[i] != t[i] ? 0 : y[i];
        }
    }
}

// Quantizes with double scales. The zero point is always added before rounding.
static void quantize_fine(const runs_job *job, size_t n, const float *x, double inverse, double point, uint8_t *y)
{
    // `whole` is 1.5 * 2^52. A double that is added to it is rounded to an integer.
    const double low = (double)job->low, high = (double)job->high, whole = 6755399441055744.0;
    for (size_t i = 0; i < n; i++) {
        double v = (double)x[i] * inverse + point;
        v = v < low ? low : v > high ? high : v;
        v = (v + whole) - whole;
        y[i] = (uint8_t)(int32_t)(v == v ? v : 0.0);
    }
}

static void quantize_range(void *argument, size_t begin, size_t end)
{
    const runs_job *job = argument;
    const bool fine = job->scales != NULL && job->scales->dtype == TAPER_F64;
    while (begin < end) {
        const size_t left = job->inner - begin % job->inner;
        const size_t n = taper_min_size(taper_min_size(end - begin, left), BLOCK);
        const float *x = (const float *)job->x + begin;
        uint8_t *y = (uint8_t *)job->y + begin;
        double scale, inverse;
        int64_t point;
        numbers_of(job, begin / job->inner, &scale, &inverse, &point);
        if (fine) {
            quantize_fine(job, n, x, inverse, (double)point, y);
        } else {
            quantize_block(job, n, x, (float)inverse, point, y);
        }
        begin += n;
    }
}

// ---- dequantizing

static void dequantize_range(void *argument, size_t begin, size_t end)
{
    const runs_job *job = argument;
    const bool fine = job->scales != NULL && job->scales->dtype == TAPER_F64;
    while (begin < end) {
        const size_t left = job->inner - begin % job->inner;
        const size_t n = taper_min_size(taper_min_size(end - begin, left), BLOCK);
        const uint8_t *x = (const uint8_t *)job->x + begin;
        float *y = (float *)job->y + begin;
        double scale, inverse;
        int64_t point;
        uint8_t unsigned_x[BLOCK];
        numbers_of(job, begin / job->inner, &scale, &inverse, &point);
        if (job->has_signs) {
            for (size_t i = 0; i < n; i++) {
                unsigned_x[i] = x[i] ^ 0x80;
            }
            x = unsigned_x;
            point += 128;
        }
        if (fine) {
            const int32_t shift = (int32_t)point;
            for (size_t i = 0; i < n; i++) {
                y[i] = (float)((double)((int32_t)x[i] - shift) * scale);
            }
        } else {
            job->bytes->dequantize(n, x, (float)scale, (int32_t)point, y);
        }
        begin += n;
    }
}

// ---- reading and running calls

// Returns the argument if it is a contiguous tensor that is not empty, otherwise NULL.
static const taper_tensor *dense(const taper_call *call, size_t at)
{
    const taper_val value = call->args[at];
    const bool lies = value.tag == TAPER_TENSOR && !value.as.tensor->hidden_nhwc &&
                      taper_tensor_is_contiguous(value.as.tensor) && taper_tensor_numel(value.as.tensor) > 0;
    return lies ? value.as.tensor : NULL;
}

static bool small_points(const taper_tensor *points)
{
    bool fits = true;
    for (int64_t i = 0; fits && i < taper_tensor_numel(points); i++) {
        const int64_t point = taper_load_int((taper_dtype)points->dtype, taper_tensor_data(points), i);
        fits = point > -EXACT && point < EXACT;
    }
    return fits;
}

// Reads scales and zero points from arguments 1 and 2, `count` numbers each.
static bool read_numbers(const taper_call *call, runs_job *job, int64_t count)
{
    job->scales = dense(call, 1);
    job->points = dense(call, 2);
    return job->scales != NULL && (job->scales->dtype == TAPER_F32 || job->scales->dtype == TAPER_F64) &&
           taper_tensor_numel(job->scales) == count &&
           (job->points != NULL ? taper_dtype_is_integral((taper_dtype)job->points->dtype) &&
                                      taper_tensor_numel(job->points) == count && small_points(job->points)
                                : taper_arg_is_none(call, 2));
}

static bool read_uniform(const taper_call *call, runs_job *job)
{
    taper_scalar scale, point;
    if (taper_arg_scalar(call, 1, &scale) != TAPER_OK || taper_arg_scalar(call, 2, &point) != TAPER_OK) {
        return false;
    }
    job->scale = scale.f;
    job->inverse = 1.0 / scale.f;
    job->point = point.i;
    return scale.f != 0 && point.i > -EXACT && point.i < EXACT;
}

typedef enum runs_kind { UNIFORM, CHANNELS, TOKENS, GROUPS } runs_kind;

static taper_status run(taper_call *call, runs_kind kind, bool quantizes)
{
    // Positions of the argument quant_min, and of the argument with the result's dtype.
    static const uint8_t low_at[] = {3, 4, 3, 3}, out_at[] = {6, 7, 6, 7};
    const taper_tensor *x = dense(call, 0);
    taper_scalar low, high;
    taper_dtype bytes, floats = TAPER_F32;
    taper_tensor *y;
    TAPER_TRY(taper_arg_scalar(call, low_at[kind], &low));
    TAPER_TRY(taper_arg_scalar(call, low_at[kind] + 1u, &high));
    TAPER_TRY(taper_arg_dtype_or(call, low_at[kind] + 2u, TAPER_I8, &bytes));
    if (!quantizes) {
        TAPER_TRY(taper_arg_dtype_or(call, out_at[kind], TAPER_F32, &floats));
    }
    const taper_q_range range = taper_q_range_of(bytes == TAPER_U8 ? TAPER_QU8 : TAPER_QI8);
    if (x == NULL || (bytes != TAPER_U8 && bytes != TAPER_I8) || floats != TAPER_F32 ||
        x->dtype != (quantizes ? TAPER_F32 : bytes) || low.i < range.low || high.i > range.high || low.i > high.i) {
        return TAPER_DECLINED;
    }
    runs_job job = {.x = taper_tensor_data(x),
                    .inner = (size_t)taper_tensor_numel(x),
                    .channels = 1,
                    .has_signs = bytes == TAPER_I8,
                    .behind = kind == TOKENS || kind == GROUPS,
                    .low = (float)low.i,
                    .high = (float)high.i};
    if (kind == CHANNELS) {
        int64_t axis;
        TAPER_TRY(taper_arg_int(call, 3, &axis));
        if (axis < 0 || axis >= x->rank) {
            return TAPER_DECLINED;
        }
        job.channels = (size_t)x->sizes[axis];
        job.inner = 1;
        for (size_t d = (size_t)axis + 1; d < x->rank; d++) {
            job.inner *= (size_t)x->sizes[d];
        }
    } else if (kind != UNIFORM) {
        int64_t length = x->rank != 0 ? x->sizes[x->rank - 1u] : 0;
        if (kind == GROUPS) {
            const int64_t row = length;
            TAPER_TRY(taper_arg_int(call, 6, &length));
            if (x->rank != 2 || length < 1 || row % length != 0) {
                return TAPER_DECLINED;
            }
        } else if (x->rank == 0 || dense(call, 1) == NULL || dense(call, 1)->rank != x->rank ||
                   dense(call, 1)->sizes[x->rank - 1u] != 1 || dense(call, 2) == NULL ||
                   dense(call, 2)->rank != x->rank || dense(call, 2)->sizes[x->rank - 1u] != 1) {
            return TAPER_DECLINED;
        }
        job.inner = (size_t)length;
        job.channels = (size_t)(taper_tensor_numel(x) / length);
    }
    const bool fits = kind == UNIFORM ? read_uniform(call, &job) : read_numbers(call, &job, (int64_t)job.channels);
    const bool fine = fits && job.scales != NULL && job.scales->dtype == TAPER_F64;
    // The operator that quantizes groups fails for a NaN. Only the reference checks for NaN.
    if (!fits || job.inner < SHORTEST || (quantizes && (kind == GROUPS || (fine && kind == CHANNELS)))) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_ret_new(call, 0, quantizes ? bytes : TAPER_F32, x->rank, x->sizes, NULL, &y));
    job.y = taper_tensor_mutable(y);
    job.floats = taper_vector_f32_select(call->run->cpu);
    job.bytes = taper_vector_u8_select(call->run->cpu);
    call->run->kernel = job.bytes->name;
    return taper_run_floats(call->run, quantizes ? quantize_range : dequantize_range, &job,
                            (size_t)taper_tensor_numel(x), fine ? 4 : 1);
}

#define KERNEL(name, kind, quantizes)                                                                                  \
    TAPER_KERNEL(taper_cpu_decomposed_##name)                                                                          \
    {                                                                                                                  \
        return run(call, kind, quantizes);                                                                             \
    }
KERNEL(quantize, UNIFORM, true)
KERNEL(dequantize, UNIFORM, false)
KERNEL(quantize_channel, CHANNELS, true)
KERNEL(dequantize_channel, CHANNELS, false)
KERNEL(quantize_token, TOKENS, true)
KERNEL(dequantize_token, TOKENS, false)
KERNEL(dequantize_group, GROUPS, false)
