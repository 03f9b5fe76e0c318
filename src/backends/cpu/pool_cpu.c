// SPDX-License-Identifier: BSD-2-Clause
// max_pool2d, avg_pool2d and adaptive_avg_pool2d of floats with contiguous channels. Rows of output pixels are divided
// among threads and computed with pointers to the pixels of each window. Windows that have the whole width, as in
// global pooling, are computed as sums of rows.
#include <math.h>

#include "backends/cpu/quantized_pool_cpu.h"
#include "ops/call/bands.h"
#include "ops/call/parallel.h"
#include "ops/kernels/kernel_select.h"
#include "ops/nn/pool.h"

enum { POINTERS = 1024, CHANNELS = 64 };

typedef struct pool_job {
    taper_call *call;
    const taper_vector_entry *vector;
    const taper_pooling *pooling;
    taper_volume x, y;
    const float *in;
    float *out;
    bool max, count_padding;
    bool sums;       // true if each window has the whole width of the input
    int64_t divisor; // divisor of sums, or 0 to divide by the size of the window
    double work;
} pool_job;

static double divisor_of(const pool_job *job, const taper_pool_window *h, const taper_pool_window *w)
{
    return job->divisor != 0    ? (double)job->divisor
           : job->count_padding ? (double)h->padded * (double)w->padded
                                : (double)(h->taps * w->taps);
}

// ---- pooling by pointers

// For averages, pointers to padding point here. Kernels never read through these pointers.
static const float no_pixel[1];

static void run_strip(const pool_job *job, const taper_ring *image, float *row, const taper_pool_window *h,
                      int64_t first, size_t count, size_t taps_w)
{
    const taper_volume *x = &job->x;
    const size_t taps = (size_t)h->taps * taps_w;
    const float *pointers[POINTERS];
    float divisors[POINTERS];
    for (size_t i = 0; i < count; i++) {
        const taper_pool_window w = taper_pool_window_at(&job->pooling->axis[2], first + (int64_t)i);
        const float **to = pointers + i;
        for (int64_t ty = 0; ty < h->taps; ty++) {
            const size_t y = ((size_t)(h->first + ty * h->step) - image->from) % image->ring;
            const float *pixel = (const float *)(const void *)image->at + (int64_t)y * x->stride[1];
            for (size_t tx = 0; tx < taps_w; tx++, to += count) {
                const bool inside = tx < (size_t)w.taps;
                const int64_t at = w.first + (inside ? (int64_t)tx : 0) * w.step;
                *to = inside || job->max ? pixel + at * x->stride[2] : no_pixel;
            }
        }
        divisors[i] = (float)divisor_of(job, h, &w);
    }
    float *y = row + first * job->y.stride[2];
    const size_t step = (size_t)job->y.stride[2], channels = (size_t)x->c;
    if (job->max) {
        job->vector->max_pool(count, channels, taps, pointers, count, 0, y, step);
    } else {
        job->vector->avg_pool(count, channels, taps, pointers, count, 0, no_pixel, divisors, y, step);
    }
}

// Computes row y of the result of an image.
static void run_row(const pool_job *job, const taper_ring *image, int64_t y, float *row)
{
    const int64_t out_w = job->pooling->axis[2].output;
    const taper_pool_window h = taper_pool_window_at(&job->pooling->axis[1], y);
    int64_t first = 0;
    while (first < out_w) {
        // Takes pixels until the table of pointers is full. `widest` is the width of the widest window of these pixels.
        size_t count = 0, widest = 1;
        while (first + (int64_t)count < out_w) {
            const taper_pool_window w = taper_pool_window_at(&job->pooling->axis[2], first + (int64_t)count);
            const size_t wider = taper_max_size(widest, (size_t)w.taps);
            if (count > 0 && (count + 1) * wider * (size_t)h.taps > POINTERS) {
                break;
            }
            widest = wider;
            count++;
        }
        run_strip(job, image, row, &h, first, count, widest);
        first += (int64_t)count;
    }
}

static void rows_range(void *argument, size_t begin, size_t end)
{
    const pool_job *job = argument;
    const int64_t out_h = job->pooling->axis[1].output;
    for (size_t r = begin; r < end; r++) {
        const int64_t n = (int64_t)r / out_h, y = (int64_t)r % out_h;
        const taper_ring image = {(char *)(uintptr_t)(job->in + n * job->x.stride_n), 0, SIZE_MAX};
        run_row(job, &image, y, job->out + n * job->y.stride_n + y * job->y.stride[1]);
    }
}

// ---- pooling by sums of rows

// Computes blocks of channels of output rows. Each window has the whole width of the input.
static void sums_range(void *argument, size_t begin, size_t end)
{
    const pool_job *job = argument;
    const taper_volume *x = &job->x, *y = &job->y;
    const size_t channels = (size_t)x->c, blocks = (channels + CHANNELS - 1) / CHANNELS;
    const int64_t out_h = job->pooling->axis[1].output;
    const taper_pool_window w = taper_pool_window_at(&job->pooling->axis[2], 0);
    for (size_t i = begin; i < end; i++) {
        const size_t first = i % blocks * CHANNELS;
        const int64_t row = (int64_t)(i / blocks), n = row / out_h;
        const taper_pool_window h = taper_pool_window_at(&job->pooling->axis[1], row % out_h);
        const float *from = job->in + n * x->stride_n + h.first * x->stride[1] + first;
        job->vector->sum_rows((size_t)(h.taps * w.taps), taper_min_size(CHANNELS, channels - first), from,
                              (size_t)x->stride[2], (float)(1.0 / divisor_of(job, &h, &w)),
                              job->out + n * y->stride_n + row % out_h * y->stride[1] + first);
    }
}

static taper_status run_job(const pool_job *job)
{
    const size_t rows = (size_t)(job->x.n * job->pooling->axis[1].output), channels = (size_t)job->x.c;
    const size_t count = job->sums ? rows * ((channels + CHANNELS - 1) / CHANNELS) : rows;
    return taper_run_floats(job->call->run, job->sums ? sums_range : rows_range, (void *)(uintptr_t)job, count,
                            job->work / (double)count);
}

#include "backends/cpu/pool_kept.h"

// ---- supported calls

// Returns the size of the largest window along an axis, or 0 if a window is empty.
static int64_t largest_window(const taper_pool_axis *axis)
{
    int64_t most = 0;
    for (int64_t o = 0; o < axis->output; o++) {
        const taper_pool_window w = taper_pool_window_at(axis, o);
        if (w.taps <= 0 || w.padded <= 0) {
            return 0;
        }
        most = taper_max_i64(most, w.taps);
    }
    return most;
}

static taper_status pool(taper_call *call, const taper_tensor *x, pool_job *job)
{
    const taper_pool_axis *axis = job->pooling->axis;
    // QNNPACK always divides by the size of the window. Builds for models without quantized tensors omit this case.
    if (x->dtype == TAPER_QU8 && job->divisor == 0) {
        TAPER_OP_IF(aten_quantize_per_tensor, return taper_cpu_pool_u8(call, x, job->pooling, job->max);)
    }
    if (x->dtype != TAPER_F32 || x->rank != 4 || taper_ret_target(call, 0) != NULL || x->sizes[0] == 0 ||
        axis[1].output <= 0 || axis[2].output <= 0) {
        return TAPER_DECLINED;
    }
    job->x = taper_volume_of(x, 2);
    // The result has the memory order of the input, so both have contiguous channels.
    if (!taper_volume_channels_inner(&job->x) || !(x->hidden_nhwc || taper_tensor_suggests_channels_last(x))) {
        return TAPER_DECLINED;
    }
    const int64_t most_h = largest_window(&axis[1]), most_w = largest_window(&axis[2]);
    job->sums = !job->max && axis[2].output == 1 && most_w == axis[2].input && most_w * most_h > 4 &&
                (job->x.stride[1] == job->x.size[2] * job->x.stride[2] || most_h == 1);
    if (most_h == 0 || most_w == 0 || (!job->sums && (most_h > POINTERS || most_w > POINTERS / most_h))) {
        return TAPER_DECLINED;
    }
    taper_tensor *y;
    TAPER_TRY(taper_volume_result(call, 0, x, TAPER_F32, 2, job->pooling->size, true, &y));
    job->y = taper_volume_of(y, 2);
    job->in = taper_tensor_data(x);
    job->out = taper_tensor_mutable(y);
    job->vector = taper_vector_f32_select(call->run->cpu);
    job->call = call;
    job->work = (double)job->x.n * (double)axis[1].output * (double)axis[2].output * (double)job->x.c *
                (double)(most_h * most_w);
    TAPER_TRY(run_job(job));
    keep(job);
    return TAPER_OK;
}

taper_status taper_cpu_max_pool2d(taper_call *call);
taper_status taper_cpu_max_pool2d(taper_call *call)
{
    taper_tensor *x;
    taper_pooling pooling;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_pooling_read(call, 1, true, x, 2, &pooling));
    pool_job job = {.pooling = &pooling, .max = true};
    return pool(call, x, &job);
}

taper_status taper_cpu_avg_pool2d(taper_call *call);
taper_status taper_cpu_avg_pool2d(taper_call *call)
{
    taper_tensor *x;
    taper_pooling pooling;
    pool_job job = {.pooling = &pooling};
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_pooling_read(call, 1, false, x, 2, &pooling));
    TAPER_TRY(taper_arg_bool(call, 5, &job.count_padding));
    if (!taper_arg_is_none(call, 6)) {
        TAPER_TRY(taper_arg_int(call, 6, &job.divisor));
        if (job.divisor == 0) {
            return TAPER_DECLINED;
        }
    }
    return pool(call, x, &job);
}

taper_status taper_cpu_adaptive_avg_pool2d(taper_call *call);
taper_status taper_cpu_adaptive_avg_pool2d(taper_call *call)
{
    taper_tensor *x;
    taper_pooling pooling;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    if (x->rank != 3 && x->rank != 4) {
        return TAPER_DECLINED;
    }
    TAPER_TRY(taper_pooling_read_adaptive(call, 1, x, 2, &pooling));
    pool_job job = {.pooling = &pooling};
    return pool(call, x, &job);
}
