// SPDX-License-Identifier: BSD-2-Clause
// Depthwise convolution: one filter per channel. The work is divided into bands of output rows. Within a band, channels
// are processed in chunks whose input rows fit in the L1 cache. Shapes without a row kernel gather a pointer per pixel
// and tap.
#include <stdint.h>

#include "backends/cpu/conv_cpu.h"
#include "platform/platform.h"

enum { MOST_ROWS = 512, TAPS_POINTERS = 2048 };

typedef struct depthwise_plan {
    taper_conv2d_plan head;
    const taper_dwconv_entry *rows; // row kernel, or NULL if pointers are gathered
    const taper_dwconv_taps_entry *taps_entry;
    bool dilated; // true if a row kernel runs once for each phase of the dilation (conv_dilated.h)
    size_t taps, block, chunk;
    // Number of pairs of output rows of an image, or of one phase of the dilation (conv_dilated.h); largest number of
    // pairs in a band.
    size_t pairs, most_pairs;
} depthwise_plan;

static void finish(const taper_conv2d *job, size_t count, float *y)
{
    taper_epilogue_finish(&job->epilogue, 1, count * job->out_w * job->out_c, y, 0);
}

// Computes `count` rows, beginning with row `first`, into `out`.
static void run_rows(const depthwise_plan *plan, const taper_ring *x, size_t first, size_t count, float *out)
{
    const taper_conv2d *job = plan->head.job;
    const float *rows[MOST_ROWS];
    const size_t in_rows = (count - 1) * job->stride_h + job->kernel_h;
    const int64_t top = (int64_t)(first * job->stride_h) - job->pad_top;
    for (size_t i = 0; i < in_rows; i++) {
        const int64_t y = top + (int64_t)i;
        const bool inside = y >= 0 && y < (int64_t)job->in_h;
        rows[i] = inside ? (const float *)(const void *)x->at + ((size_t)y - x->from) % x->ring * job->in_w * job->in_c
                         : NULL;
    }
    for (size_t c = 0; c < job->out_c; c += plan->chunk) {
        const taper_dwconv_rows work = {.rows = rows,
                                        .channel_offset = c,
                                        .channels = taper_min_size(plan->chunk, job->out_c - c),
                                        .in_width = job->in_w,
                                        .in_stride = job->in_c,
                                        .pad_left = (size_t)job->pad_left,
                                        .out_rows = count,
                                        .out_width = job->out_w,
                                        .out_stride = job->out_c,
                                        .out_row_stride = job->out_w * job->out_c,
                                        .w = plan->head.packed + c * (plan->taps + 1),
                                        .out = out + c,
                                        .min = job->epilogue.min,
                                        .max = job->epilogue.max};
        plan->rows->run(&work);
    }
}

#include "backends/cpu/conv_dilated.h"

// Fills pointers[tap * count + i] with the input address for pixel first + i of an image.
static void gather_taps(const depthwise_plan *plan, size_t image, size_t first, size_t count, const float **pointers)
{
    const taper_conv2d *job = plan->head.job;
    const float *x = job->x + image * job->in_h * job->in_w * job->in_c;
    size_t oy = first / job->out_w, ox = first % job->out_w;
    for (size_t i = 0; i < count; i++) {
        const int64_t y0 = (int64_t)(oy * job->stride_h) - job->pad_top;
        const int64_t x0 = (int64_t)(ox * job->stride_w) - job->pad_left;
        const float **to = pointers + i;
        for (size_t ky = 0; ky < job->kernel_h; ky++) {
            const int64_t y = y0 + (int64_t)(ky * job->dilation_h);
            const bool row = y >= 0 && y < (int64_t)job->in_h;
            const float *line = x + (row ? (size_t)y * job->in_w * job->in_c : 0);
            int64_t at = x0;
            for (size_t kx = 0; kx < job->kernel_w; kx++, at += (int64_t)job->dilation_w, to += count) {
                *to = row && at >= 0 && at < (int64_t)job->in_w ? line + (size_t)at * job->in_c : plan->head.job->zero;
            }
        }
        if (++ox == job->out_w) {
            ox = 0;
            oy++;
        }
    }
}

static void run_taps(const depthwise_plan *plan, size_t image, size_t first, size_t count, float *out)
{
    const taper_conv2d *job = plan->head.job;
    const float *pointers[TAPS_POINTERS];
    const size_t strip = TAPS_POINTERS / plan->taps;
    const size_t pixels = count * job->out_w;
    for (size_t begin = 0; begin < pixels; begin += strip) {
        const size_t m = taper_min_size(strip, pixels - begin);
        gather_taps(plan, image, first * job->out_w + begin, m, pointers);
        plan->taps_entry->run(m, job->out_c, plan->taps, pointers, m, 0, plan->head.job->zero, plan->head.packed,
                              out + begin * job->out_c, job->out_c, job->epilogue.min, job->epilogue.max);
    }
}

// Computes pairs of rows [begin, end). Bands have an even number of rows, because the kernels compute two rows
// together.
static void run_pairs(void *argument, size_t begin, size_t end)
{
    const depthwise_plan *plan = argument;
    const taper_conv2d *job = plan->head.job;
    while (begin < end) {
        const size_t image = begin / plan->pairs, pair = begin % plan->pairs;
        const size_t pairs = taper_min_size(taper_min_size(end - begin, plan->pairs - pair), plan->most_pairs);
        const size_t first = 2 * pair, count = taper_min_size(2 * pairs, job->out_h - first);
        float *out = job->y + (image * job->out_h + first) * job->out_w * job->out_c;
        if (plan->rows != NULL) {
            const taper_ring x = {(char *)(uintptr_t)(job->x + image * job->in_h * job->in_w * job->in_c), 0, SIZE_MAX};
            run_rows(plan, &x, first, count, out);
        } else {
            run_taps(plan, image, first, count, out);
        }
        finish(job, count, out);
        begin += pairs;
    }
}

static void run_band(const taper_conv2d_plan *head, const taper_band *band)
{
    const depthwise_plan *plan = (const depthwise_plan *)(const void *)head;
    const taper_conv2d *job = head->job;
    const size_t row = job->out_w * job->out_c;
    float *out = (float *)(void *)band->y.at + (band->begin - band->y.from) % band->y.ring * row;
    for (size_t first = band->begin, count; first < band->end; first += count, out += count * row) {
        count = taper_min_size(2 * plan->most_pairs, band->end - first);
        run_rows(plan, &band->x, first, count, out);
        finish(job, count, out);
    }
}

static void fill_weights(const taper_pack_request *request, void *data)
{
    const taper_conv2d *job = request->user;
    const taper_dwconv_taps_entry *entry = request->kind;
    taper_conv2d_fold(job);
    const float *bias = taper_conv2d_bias(job);
    taper_dwconv_f32_pack(entry->block, job->out_c, job->kernel_h * job->kernel_w, taper_tensor_data(job->args.weight),
                          job->scale, bias, data);
}

static taper_status run_plan(const taper_conv2d_plan *head)
{
    const depthwise_plan *plan = (const depthwise_plan *)(const void *)head;
    if (plan->dilated) {
        return taper_run_range(head->job->call->run, run_phases, (void *)(uintptr_t)plan,
                               plan->pairs * head->job->dilation_h * head->job->batch, 1, head->work);
    }
    return taper_run_range(head->job->call->run, run_pairs, (void *)(uintptr_t)plan, plan->pairs * head->job->batch, 1,
                           head->work);
}

taper_status taper_conv2d_depthwise(taper_conv2d *job)
{
    const taper_run *run = job->call->run;
    depthwise_plan plan = {.head = {.job = job, .run = run_plan, .bytes = sizeof plan},
                           .taps = job->kernel_h * job->kernel_w,
                           .taps_entry = taper_dwconv_taps_f32_select(run->cpu)};
    const bool dilated = is_dilated(job);
    const bool square = job->kernel_h == job->kernel_w && job->stride_h == job->stride_w &&
                        (dilated || (job->dilation_h == 1 && job->dilation_w == 1)) && job->pad_left >= 0 &&
                        job->pad_left <= (int64_t)((job->kernel_w - 1) * job->dilation_w);
    plan.rows = square ? taper_dwconv_f32_select(run->cpu, job->kernel_h, job->stride_h) : NULL;
    plan.block = plan.taps_entry->block;
    plan.head.name = plan.rows != NULL ? plan.rows->name : plan.taps_entry->name;
    plan.head.flops = 2.0 * (double)(job->batch * job->out_h * job->out_w) * (double)(job->out_c * plan.taps);
    plan.head.work = plan.head.flops / (4.0 * (double)plan.block);
    plan.chunk = plan.rows != NULL
                     ? taper_dwconv_f32_chunk(plan.rows, job->out_c, job->in_w, taper_pool_caches(run->pool).l1)
                     : job->out_c;
    plan.dilated = dilated && plan.rows != NULL;
    plan.pairs = ((plan.dilated ? (job->out_h - 1) / job->dilation_h + 1 : job->out_h) + 1) / 2;
    const size_t count = taper_dwconv_f32_packed_count(plan.block, job->out_c, plan.taps);
    // Depthwise kernels cannot add the other tensor of a fused sum (summand).
    if (job->epilogue.add != NULL || !taper_tensor_is_contiguous(job->args.weight) || count == 0 ||
        plan.taps > TAPS_POINTERS || job->kernel_h >= MOST_ROWS / 2 || job->stride_h >= MOST_ROWS / 2) {
        return TAPER_DECLINED;
    }
    plan.most_pairs = ((MOST_ROWS - job->kernel_h) / job->stride_h + 1) / 2;
    plan.head.rows = plan.rows != NULL && !plan.dilated ? run_band : NULL;
    taper_pack_request request;
    taper_conv2d_pack_key(job, plan.taps_entry, &request);
    request.layout = "depthwise";
    request.kernel = plan.taps_entry->name;
    request.bytes = count * sizeof(float);
    request.fill = fill_weights;
    return taper_conv2d_do(&plan.head, &request);
}
