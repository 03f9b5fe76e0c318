// SPDX-License-Identifier: BSD-2-Clause
// Checks depthwise convolution: rows with all borders and widths, taps with padding, tails of channels.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "check.h"
#include "ops/kernels/kernel_select.h"

typedef struct problem {
    size_t kernel, stride, channels, h, w, pad, out_h, out_w;
    const float *in, *weights, *bias, *scale;
    size_t in_stride; // elements between two pixels of the input
    float min, max;
} problem;

static double expected(const problem *p, size_t y, size_t x, size_t c, double *magnitude)
{
    double sum = p->bias != NULL ? (double)p->bias[c] : 0;
    *magnitude = fabs(sum);
    for (size_t ky = 0; ky < p->kernel; ky++) {
        for (size_t kx = 0; kx < p->kernel; kx++) {
            const size_t iy = y * p->stride + ky - p->pad, ix = x * p->stride + kx - p->pad;
            if (iy >= p->h || ix >= p->w)
                continue;
            const float w = p->weights[(c * p->kernel + ky) * p->kernel + kx] * (p->scale != NULL ? p->scale[c] : 1.0f);
            const double v = (double)p->in[(iy * p->w + ix) * p->in_stride + c] * (double)w;
            sum += v;
            *magnitude += fabs(v);
        }
    }
    if (sum < (double)p->min)
        sum = (double)p->min;
    if (sum > (double)p->max)
        sum = (double)p->max;
    return sum;
}

static void compare(const problem *p, const float *out, size_t out_stride, size_t out_row, size_t first, size_t count,
                    size_t channels_before, size_t channels_end, size_t total)
{
    for (size_t y = 0; y < count && !check_failed(); y++) {
        for (size_t x = 0; x < p->out_w; x++) {
            for (size_t c = 0; c < out_stride; c++) {
                const size_t at = y * out_row + x * out_stride + c;
                if (at >= total)
                    break;
                if (c < channels_before || c >= channels_end) {
                    if (out[at] != 12345.0f)
                        check_that(false, "wrote at channel %zu of %zu..%zu", c, channels_before, channels_end);
                    continue;
                }
                double magnitude;
                const double want = expected(p, first + y, x, c, &magnitude);
                const float bound = (float)((double)(p->kernel * p->kernel + 2) * 0x1p-24 * magnitude);
                check_that(check_close(out[at], (float)want, bound),
                           "k %zu s %zu c %zu %zux%zu pad %zu: (%zu, %zu, %zu) is %g, not %g", p->kernel, p->stride,
                           p->channels, p->h, p->w, p->pad, first + y, x, c, (double)out[at], want);
            }
        }
    }
}

// Makes the inputs of one problem and the memory of its output.
static problem make(size_t kernel, size_t stride, size_t channels, size_t h, size_t w, size_t pad, check_place place,
                    size_t slack, bool special)
{
    problem p = {.kernel = kernel, .stride = stride, .channels = channels, .h = h, .w = w, .pad = pad};
    p.out_h = (h + 2 * pad - kernel) / stride + 1;
    p.out_w = (w + 2 * pad - kernel) / stride + 1;
    p.in_stride = channels + (check_below(2) ? check_below(9) : 0);
    const size_t in_count = (h * w - 1) * p.in_stride + channels;
    float *in = check_floats(in_count, place, slack),
          *weights = check_floats(channels * kernel * kernel, CHECK_TAIL, 0);
    check_fill(in, in_count, -1, 1);
    check_fill(weights, channels * kernel * kernel, -1, 1);
    if (special)
        check_fill_special(in, in_count, 20, true);
    p.in = in;
    p.weights = weights;
    if (check_below(3)) {
        float *bias = check_floats(channels, CHECK_TAIL, 0);
        check_fill(bias, channels, -1, 1);
        p.bias = bias;
    }
    if (check_below(3) == 0) {
        float *scale = check_floats(channels, CHECK_TAIL, 0);
        check_fill(scale, channels, 0.5f, 2);
        p.scale = scale;
    }
    p.min = -INFINITY, p.max = INFINITY;
    if (check_below(2))
        p.min = 0, p.max = check_below(2) ? 6.0f : INFINITY;
    return p;
}

static float *packed(const problem *p, size_t block, check_place place, size_t slack)
{
    float *w = check_floats(taper_dwconv_f32_packed_count(block, p->channels, p->kernel * p->kernel), place, slack);
    taper_dwconv_f32_pack(block, p->channels, p->kernel * p->kernel, p->weights, p->scale, p->bias, w);
    return w;
}

static void one_rows(const taper_dwconv_entry *e, size_t channels, size_t h, size_t w, size_t pad)
{
    if (h + 2 * pad < e->kernel || w + 2 * pad < e->kernel)
        return;
    const check_place place = check_below(4) == 0 ? CHECK_HEAD : CHECK_TAIL;
    const problem p = make(e->kernel, e->stride, channels, h, w, pad, place, e->over_read, check_below(4) == 0);
    const float *weights = packed(&p, e->block, place, 0);
    const size_t first = check_below(p.out_h), count = 1 + check_below(p.out_h - first);
    const size_t row_count = (count - 1) * p.stride + p.kernel;
    const float **rows = check_bytes(row_count * sizeof(float *), CHECK_TAIL, 0);
    for (size_t i = 0; i < row_count; i++) {
        const size_t y = first * p.stride + i - p.pad;
        rows[i] = y < p.h ? p.in + y * p.w * p.in_stride : NULL;
    }
    const size_t out_stride = channels + check_below(3), out_row = p.out_w * out_stride + check_below(2) * out_stride;
    const size_t total = (count - 1) * out_row + (p.out_w - 1) * out_stride + channels;
    // Computes only some of the channels.
    const size_t blocks = (channels + e->block - 1) / e->block;
    const size_t c0 = check_below(blocks) * e->block,
                 c1 = check_below(2) || c0 + 2 * e->block > channels ? channels : c0 + e->block;
    float *out = check_floats(total, place, 0);
    for (size_t i = 0; i < total; i++)
        out[i] = 12345.0f;
    const taper_dwconv_rows job = {.rows = rows,
                                   .channel_offset = c0,
                                   .channels = c1 - c0,
                                   .in_width = w,
                                   .in_stride = p.in_stride,
                                   .pad_left = pad,
                                   .out_rows = count,
                                   .out_width = p.out_w,
                                   .out_stride = out_stride,
                                   .out_row_stride = out_row,
                                   .w = weights + c0 * (p.kernel * p.kernel + 1),
                                   .out = out + c0,
                                   .min = p.min,
                                   .max = p.max};
    e->run(&job);
    compare(&p, out, out_stride, out_row, first, count, c0, c1, total);
    check_memory_reset();
}

static void one_taps(const taper_dwconv_taps_entry *e, size_t kernel, size_t stride, size_t channels, size_t h,
                     size_t w, size_t pad)
{
    if (h + 2 * pad < kernel || w + 2 * pad < kernel)
        return;
    const check_place place = check_below(4) == 0 ? CHECK_HEAD : CHECK_TAIL;
    const problem p = make(kernel, stride, channels, h, w, pad, place, e->over_read, check_below(4) == 0);
    const float *weights = packed(&p, e->block, place, 0);
    float *zero = check_floats(channels, CHECK_TAIL, e->over_read);
    memset(zero, 0, channels * sizeof(float));
    const size_t m = p.out_h * p.out_w, tap_stride = m + check_below(3), taps = kernel * kernel;
    const size_t back = check_below(2) ? 3 : 0; // all pointers are too low by `back`, which a_offset corrects
    const float **pointers = check_bytes(((taps - 1) * tap_stride + m) * sizeof(float *), CHECK_TAIL, 0);
    for (size_t t = 0; t < taps; t++) {
        for (size_t i = 0; i < m; i++) {
            const size_t y = i / p.out_w * stride + t / kernel - pad, x = i % p.out_w * stride + t % kernel - pad;
            pointers[t * tap_stride + i] = y < h && x < w ? p.in + (y * w + x) * p.in_stride - back : zero;
        }
    }
    const size_t out_stride = channels + check_below(3), total = (m - 1) * out_stride + channels;
    float *out = check_floats(total, place, 0);
    for (size_t i = 0; i < total; i++)
        out[i] = 12345.0f;
    e->run(m, channels, taps, pointers, tap_stride, back * sizeof(float), zero, weights, out, out_stride, p.min, p.max);
    compare(&p, out, out_stride, p.out_w * out_stride, 0, p.out_h, 0, channels, total);
    check_memory_reset();
}

typedef struct bench_job {
    const taper_dwconv_entry *entry;
    taper_dwconv_rows rows;
} bench_job;

static void bench_run(void *argument)
{
    const bench_job *j = argument;
    j->entry->run(&j->rows);
}

static void bench(const taper_dwconv_entry *e)
{
    const size_t channels = 64, width = 14, pad = e->kernel / 2, out = (width - 1) / e->stride + 1;
    float *in = bench_floats(width * width * channels), *result = bench_floats(out * out * channels);
    float *w = bench_floats(taper_dwconv_f32_packed_count(e->block, channels, e->kernel * e->kernel));
    const float *rows[32];
    for (size_t i = 0; i < (out - 1) * e->stride + e->kernel; i++)
        rows[i] = i - pad < width ? in + (i - pad) * width * channels : NULL;
    bench_job j = {e, {rows, 0, channels, width, channels, pad, out, out, channels, out * channels, w, result, 0, 6}};
    const double t = bench_best(bench_run, &j, 20, 0.0005);
    printf("dwconv_f32 %-16s 14x14x64 %8.1f GFLOP/s of %.1f\n", e->name,
           2e-9 * (double)(out * out * channels * e->kernel * e->kernel) / t, bench_peak(e->cpu));
    bench_free(in), bench_free(result), bench_free(w);
}

void check_dwconv_f32(bool benchmark)
{
    for (size_t x = 0; taper_dwconv_f32_entry(x) != NULL; x++) {
        const taper_dwconv_entry *e = taper_dwconv_f32_entry(x);
        if ((e->cpu & check_cpu()) != e->cpu)
            continue;
        check_begin("dwconv_f32", e->name);
        if (benchmark) {
            bench(e);
            continue;
        }
        for (size_t w = 1; w < 22; w++)
            one_rows(e, 1 + check_below(3 * e->block), 1 + check_below(8), w, check_below(e->kernel));
        for (size_t i = 0; i < 12; i++) // more columns than any kernel computes at once
            one_rows(e, 1 + check_below(2 * e->block), 1 + check_below(4), 22 + check_below(150),
                     check_below(e->kernel));
        for (size_t c = 1; c <= 3 * e->block + 1; c++) {
            for (int i = 0; i < 4; i++)
                one_rows(e, c, 1 + check_below(9), 1 + check_below(20), check_below(e->kernel));
        }
    }
    for (size_t x = 0; taper_dwconv_taps_f32_entry(x) != NULL && !benchmark; x++) {
        const taper_dwconv_taps_entry *e = taper_dwconv_taps_f32_entry(x);
        if ((e->cpu & check_cpu()) != e->cpu)
            continue;
        check_begin("dwconv_taps_f32", e->name);
        for (size_t c = 1; c <= 4 * e->block + 1; c++) {
            for (int i = 0; i < 3; i++) {
                const size_t kernel = 1 + check_below(5);
                one_taps(e, kernel, 1 + check_below(3), c, 1 + check_below(6), 1 + check_below(6), check_below(kernel));
            }
        }
    }
}
