// SPDX-License-Identifier: BSD-2-Clause
// Makes the table of an axis. The arithmetic decides which input position an output position reads, so it follows
// PyTorch's exactly, including the steps in single precision.
#include <math.h>

#include "base/single.h"
#include "ops/nn/resize.h"

// Returns the ratio of input to output positions.
static double ratio_of(const taper_resize *resize, int64_t input, int64_t output, double scale, bool single)
{
    if (resize->align_corners) {
        if (output <= 1) {
            return 0.0;
        }
        return single ? (double)((float)(input - 1) / (float)(output - 1)) : (double)(input - 1) / (double)(output - 1);
    }
    if (scale > 0.0) {
        return taper_step(single, 1.0 / scale);
    }
    return single ? (double)((float)input / (float)output) : (double)input / (double)output;
}

static int64_t clamp_index(double position, int64_t input)
{
    return position >= 0.0 ? (position < (double)input ? (int64_t)position : input - 1) : 0;
}

static void fill_nearest(taper_run *run, taper_resize_axis *table, float ratio, bool exact, bool whole)
{
    const int64_t input = table->input, output = table->output;
    for (int64_t o = 0; o < output && taper_run_step(run, o, 10); o++) {
        if (whole && !exact && output == input) {
            table->index[o] = o;
        } else if (whole && !exact && output == 2 * input) {
            table->index[o] = o >> 1;
        } else {
            const float position = exact ? ((float)o + 0.5f) * ratio : (float)o * ratio;
            table->index[o] = clamp_index((double)floorf(position), input);
        }
    }
}

// Positions are computed in doubles, even for float32 tensors, but in floats for quantized tensors.
static void fill_linear(taper_run *run, taper_resize_axis *table, double ratio, const taper_resize *resize, bool single,
                        bool quantized)
{
    const bool align_corners = resize->align_corners;
    const int64_t input = table->input, output = table->output;
    for (int64_t o = 0; o < output && taper_run_step(run, o, 10); o++) {
        int64_t *index = table->index + 2 * o;
        double *weight = table->weight + 2 * o;
        if (output == input && !resize->scales) {
            index[0] = index[1] = o;
            weight[0] = 1.0;
            weight[1] = 0.0;
            continue;
        }
        double position = align_corners ? ratio * (double)o : ratio * ((double)o + 0.5) - 0.5;
        if (quantized) {
            const float middle = (float)o + 0.5f;
            position = (double)(align_corners   ? (float)ratio * (float)o
                                : resize->fused ? fmaf((float)ratio, middle, -0.5f)
                                                : (float)ratio * middle - 0.5f);
        }
        position = position >= 0.0 ? position : 0.0;
        index[0] = clamp_index(position, input);
        index[1] = index[0] < input - 1 ? index[0] + 1 : index[0];
        const double lambda = position - (double)index[0];
        weight[1] = taper_step(single, lambda);
        weight[0] = taper_step(single, 1.0 - weight[1]);
    }
}

// These functions compute the cubic convolution kernel: near_f32 for |x| <= 1, far_f32 for 1 < |x| < 2.
static float near_f32(float x, float a)
{
    return ((a + 2.0f) * x - (a + 3.0f)) * x * x + 1.0f;
}
static float far_f32(float x, float a)
{
    return ((a * x - 5.0f * a) * x + 8.0f * a) * x - 4.0f * a;
}
static double near_f64(double x, double a)
{
    return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
}
static double far_f64(double x, double a)
{
    return ((a * x - 5.0 * a) * x + 8.0 * a) * x - 4.0 * a;
}

static void fill_cubic(taper_run *run, taper_resize_axis *table, double ratio, bool align_corners, bool single)
{
    for (int64_t o = 0; o < table->output && taper_run_step(run, o, 30); o++) {
        int64_t *index = table->index + 4 * o;
        double *weight = table->weight + 4 * o;
        double base;
        if (single) {
            const float r = (float)ratio;
            const float position = align_corners ? r * (float)o : r * ((float)o + 0.5f) - 0.5f;
            const float t = position - floorf(position), s = 1.0f - t;
            base = (double)floorf(position);
            weight[0] = (double)far_f32(t + 1.0f, -0.75f);
            weight[1] = (double)near_f32(t, -0.75f);
            weight[2] = (double)near_f32(s, -0.75f);
            weight[3] = (double)far_f32(s + 1.0f, -0.75f);
        } else {
            const double position = align_corners ? ratio * (double)o : ratio * ((double)o + 0.5) - 0.5;
            const double t = position - floor(position), s = 1.0 - t;
            base = floor(position);
            weight[0] = far_f64(t + 1.0, -0.75);
            weight[1] = near_f64(t, -0.75);
            weight[2] = near_f64(s, -0.75);
            weight[3] = far_f64(s + 1.0, -0.75);
        }
        for (int i = 0; i < 4; i++) {
            index[i] = clamp_index(base + (double)(i - 1), table->input);
        }
    }
}

// Returns sin(πx) / πx.
static double sinc(double x)
{
    const double pi = 3.14159265358979323846;
    return x == 0.0 ? 1.0 : sin(x * pi) / (x * pi);
}

static double filter(double x, taper_resize_mode mode, bool single)
{
    x = fabs(x);
    if (mode == TAPER_RESIZE_LANCZOS_AA) {
        return x < 3.0 ? sinc(x) * sinc(x / 3.0) : 0.0;
    }
    if (mode == TAPER_RESIZE_LINEAR_AA) {
        return x < 1.0 ? (single ? (double)(1.0f - (float)x) : 1.0 - x) : 0.0;
    }
    if (x < 1.0) {
        return single ? (double)near_f32((float)x, -0.5f) : near_f64(x, -0.5);
    }
    if (x < 2.0) {
        return single ? (double)far_f32((float)x, -0.5f) : far_f64(x, -0.5);
    }
    return 0.0;
}

// Returns half the width of the filter, in input positions.
static double support_of(double ratio, taper_resize_mode mode)
{
    const double half = mode == TAPER_RESIZE_LINEAR_AA ? 1.0 : mode == TAPER_RESIZE_CUBIC_AA ? 2.0 : 3.0;
    return ratio >= 1.0 ? half * ratio : half;
}

// Fills the table of an antialiased mode. In these modes, align_corners affects only the ratio.
static void fill_antialiased(taper_run *run, taper_resize_axis *table, double ratio, taper_resize_mode mode,
                             bool single)
{
    const double support = support_of(ratio, mode);
    const double inverse = ratio >= 1.0 ? (single ? (double)(1.0f / (float)ratio) : 1.0 / ratio) : 1.0;
    for (int64_t o = 0; o < table->output && taper_run_goes_on(run, (uint64_t)table->taps * 10 + 50); o++) {
        int64_t *index = table->index + table->taps * o;
        double *weight = table->weight + table->taps * o;
        const double place = (double)o + 0.5;
        double center = ratio * place, low, high;
        if (single) {
            center = (double)((float)ratio * (float)place);
            low = (double)((float)center - (float)support + 0.5f);
            high = (double)((float)center + (float)support + 0.5f);
        } else {
            low = center - support + 0.5;
            high = center + support + 0.5;
        }
        const int64_t first = clamp_index(low, table->input);
        const int64_t last = high < (double)table->input ? (high > 0.0 ? (int64_t)high : 0) : table->input;
        int64_t count = taper_min_i64(last - first, table->taps);
        double total = 0.0;
        for (int64_t i = 0; i < count; i++) {
            double at = (double)(i + first) - center + 0.5;
            if (single) {
                at = (double)(((float)(i + first) - (float)center + 0.5f) * (float)inverse);
            } else {
                at *= inverse;
            }
            index[i] = first + i;
            weight[i] = filter(at, mode, single);
            total = single ? (double)((float)total + (float)weight[i]) : total + weight[i];
        }
        for (int64_t i = 0; i < count && total != 0.0; i++) {
            weight[i] = single ? (double)((float)weight[i] / (float)total) : weight[i] / total;
        }
        if (count <= 0) { // cannot happen, because the position is inside the input
            count = 1;
            index[0] = first;
            weight[0] = 0.0;
        }
        table->count[o] = count;
    }
}

void taper_resize_axis_free(const taper_call *call, taper_resize_axis *table)
{
    taper_heap *heap = call->run->heap;
    if (table->index != NULL) {
        taper_heap_free(heap, table->index, table->index_bytes);
    }
    if (table->weight != NULL) {
        taper_heap_free(heap, table->weight, table->weight_bytes);
    }
    if (table->count != NULL) {
        taper_heap_free(heap, table->count, table->count_bytes);
    }
    *table = (taper_resize_axis){.input = 0};
}

taper_status taper_resize_axis_make(const taper_call *call, const taper_resize *resize, size_t axis, int64_t input,
                                    taper_dtype dtype, taper_resize_axis *table)
{
    const int64_t output = resize->size[axis];
    const taper_resize_mode mode = resize->mode;
    const bool nearest = mode == TAPER_RESIZE_NEAREST || mode == TAPER_RESIZE_NEAREST_EXACT;
    const bool single = dtype != TAPER_F64 && (dtype != TAPER_U8 || nearest), present = axis >= 3 - resize->spatial;
    const bool antialiased = mode >= TAPER_RESIZE_LINEAR_AA, cubic = mode == TAPER_RESIZE_CUBIC;
    const double ratio = ratio_of(resize, input, output, resize->scale[axis], single || nearest);
    *table = (taper_resize_axis){.input = input, .output = output, .taps = 1};
    if (present && antialiased) {
        // The number of taps is at most twice the support, rounded up, plus 1, and at most the input's size.
        const double wide = ceil(support_of(ratio, mode)) * 2.0 + 1.0;
        table->taps = wide < (double)input ? (int64_t)wide : input;
    } else if (present && !nearest) {
        table->taps = cubic ? 4 : 2;
    }
    size_t cells;
    if (!taper_mul_size((size_t)output, (size_t)table->taps, &cells) ||
        !taper_mul_size(cells, sizeof(int64_t), &table->index_bytes)) {
        return taper_fail_memory(call->run->error);
    }
    table->weight_bytes = cells * sizeof(double);
    table->count_bytes = (size_t)output * sizeof(int64_t);
    taper_heap *heap = call->run->heap;
    table->index = taper_heap_alloc(heap, table->index_bytes);
    table->weight = nearest ? NULL : taper_heap_alloc(heap, table->weight_bytes);
    table->count = antialiased ? taper_heap_alloc(heap, table->count_bytes) : NULL;
    if (table->index == NULL || (!nearest && table->weight == NULL) || (antialiased && table->count == NULL)) {
        taper_resize_axis_free(call, table);
        return taper_fail_memory(call->run->error);
    }
    if (!present) {
        table->index[0] = 0;
        if (!nearest) {
            table->weight[0] = 1.0;
        }
        if (antialiased) {
            table->count[0] = 1;
        }
    } else if (nearest) {
        fill_nearest(call->run, table, (float)ratio, mode == TAPER_RESIZE_NEAREST_EXACT, resize->whole);
    } else if (antialiased) {
        fill_antialiased(call->run, table, ratio, mode, single);
    } else if (cubic) {
        fill_cubic(call->run, table, ratio, resize->align_corners, single);
    } else {
        fill_linear(call->run, table, ratio, resize, single, taper_dtype_is_quantized(dtype));
    }
    return taper_run_spend(call->run, 0); // fails if the run ended before the table was full
}
