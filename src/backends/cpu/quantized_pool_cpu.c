// SPDX-License-Identifier: BSD-2-Clause
// Pooling of quint8 images with contiguous channels, called from pool_cpu.c. Maxima use pointers to the pixels of a
// window. Averages, whose windows have equal sizes, are depthwise convolutions with weights of one. The sum of (q -
// zero point) is multiplied by scale / (scale * size), as in QNNPACK; in floats this factor is not always 1 / size. The
// product is rounded to the nearest even integer, and the zero point is added again.
#include <math.h>

#include "backends/cpu/quantized_pool_cpu.h"
#include "ops/call/parallel.h"
#include "ops/kernels/kernel_select.h"
#include "ops/quantized/quantized.h"

enum { MOST_TAPS = 1024, MAX_ROW_BYTES = 8192 };

typedef struct pool_u8 {
    const taper_pooling *pooling;
    const taper_vector_u8_entry *vector;
    const taper_dwconv_i8_entry *entry; // kernel that computes averages
    const uint8_t *x;
    uint8_t *y;
    size_t channels, in_h, in_w, out_h, out_w;
    // For averages: the arguments of the kernel, for one chunk of channels.
    size_t taps;
    const int32_t *bias;
    const float *scale;
    const int8_t *ones;
    const uint8_t *padding;
    int32_t zero_point;
    float x_scale;
} pool_u8;

static const uint8_t *pixel(const pool_u8 *job, size_t image, int64_t y, int64_t x)
{
    return job->x + ((image * job->in_h + (size_t)y) * job->in_w + (size_t)x) * job->channels;
}

static void max_pixel(const pool_u8 *job, size_t image, size_t oy, size_t ox, uint8_t *out)
{
    const taper_pool_window h = taper_pool_window_at(&job->pooling->axis[1], (int64_t)oy);
    const taper_pool_window w = taper_pool_window_at(&job->pooling->axis[2], (int64_t)ox);
    const uint8_t *pointers[MOST_TAPS], **to = pointers;
    for (int64_t ky = 0; ky < h.taps; ky++) {
        for (int64_t kx = 0; kx < w.taps; kx++) {
            *to++ = pixel(job, image, h.first + ky * h.step, w.first + kx * w.step);
        }
    }
    job->vector->max_pool(1, job->channels, (size_t)(h.taps * w.taps), pointers, 1, out, 0);
}

// ---- rows of maxima: first over the rows of a window, then over its columns

typedef struct max_span {
    size_t begin, end; // outputs [begin, end) are computed together
    int64_t first;     // leftmost input that the outputs [begin, end) read
    size_t inputs, taps;
} max_span;

// Returns the longest span of outputs, beginning with output `begin`, that fits in the table of pointers. The span is
// empty if even one output does not fit.
static max_span max_span_at(const pool_u8 *job, size_t begin)
{
    const taper_pool_axis *axis = &job->pooling->axis[2];
    max_span span = {.begin = begin, .end = begin, .first = taper_pool_window_at(axis, (int64_t)begin).first};
    for (; span.end < job->out_w; span.end++) {
        const taper_pool_window w = taper_pool_window_at(axis, (int64_t)span.end);
        const size_t inputs = (size_t)(w.first + (w.taps - 1) * w.step + 1 - span.first);
        const size_t taps = taper_max_size(span.taps, (size_t)w.taps);
        if (inputs > MAX_ROW_BYTES / job->channels || (span.end + 1 - begin) * taps > MOST_TAPS) {
            break;
        }
        span.inputs = taper_max_size(span.inputs, inputs);
        span.taps = taps;
    }
    return span;
}

static void max_row(const pool_u8 *job, size_t image, size_t oy, const max_span *span, uint8_t *out)
{
    const taper_pool_window h = taper_pool_window_at(&job->pooling->axis[1], (int64_t)oy);
    const uint8_t *pointers[MOST_TAPS];
    uint8_t row[MAX_ROW_BYTES];
    const size_t outputs = span->end - span->begin;
    for (int64_t ky = 0; ky < h.taps; ky++) {
        pointers[ky] = pixel(job, image, h.first + ky * h.step, span->first);
    }
    job->vector->max_pool(1, span->inputs * job->channels, (size_t)h.taps, pointers, 1, row, 0);
    for (size_t i = 0; i < outputs; i++) {
        const taper_pool_window w = taper_pool_window_at(&job->pooling->axis[2], (int64_t)(span->begin + i));
        for (size_t t = 0; t < span->taps; t++) { // the taps of a shorter window are completed with its last tap
            const int64_t tap = taper_min_i64((int64_t)t, w.taps - 1);
            pointers[t * outputs + i] = row + (size_t)(w.first + tap * w.step - span->first) * job->channels;
        }
    }
    job->vector->max_pool(outputs, job->channels, span->taps, pointers, outputs, out, job->channels);
}

static void max_rows(void *argument, size_t begin, size_t end)
{
    const pool_u8 *job = argument;
    for (size_t ox = 0; ox < job->out_w;) {
        const max_span span = max_span_at(job, ox);
        const size_t last = taper_max_size(span.end, ox + 1);
        for (size_t i = begin; i < end; i++) {
            const size_t image = i / job->out_h, oy = i % job->out_h;
            uint8_t *out = job->y + (i * job->out_w + ox) * job->channels;
            if (span.end > ox) {
                max_row(job, image, oy, &span, out);
            } else {
                max_pixel(job, image, oy, ox, out);
            }
        }
        ox = last;
    }
}

// ---- averages

static void average_pixel(const pool_u8 *job, size_t image, size_t oy, size_t ox, uint8_t *out)
{
    const taper_pool_axis *h = &job->pooling->axis[1], *w = &job->pooling->axis[2];
    const uint8_t *pointers[MOST_TAPS];
    const int64_t rows = h->adaptive ? h->input / h->output : h->kernel;
    const int64_t columns = w->adaptive ? w->input / w->output : w->kernel;
    const int64_t y0 = h->adaptive ? (int64_t)oy * rows : (int64_t)oy * h->stride - h->padding;
    const int64_t x0 = w->adaptive ? (int64_t)ox * columns : (int64_t)ox * w->stride - w->padding;
    const size_t block = job->entry->block;
    for (size_t c = 0; c < job->channels; c += block) {
        const uint8_t **to = pointers;
        for (int64_t y = y0; y < y0 + rows; y++) {
            for (int64_t x = x0; x < x0 + columns; x++) {
                const bool inside = y >= 0 && y < h->input && x >= 0 && x < w->input;
                *to++ = inside ? pixel(job, image, y, x) + c : job->padding;
            }
        }
        const taper_dwconv_i8 call = {.pixels = 1,
                                      .channels = taper_min_size(block, job->channels - c),
                                      .taps = job->taps,
                                      .a = pointers,
                                      .w = job->ones,
                                      .c = out + c,
                                      .e = {.bias = job->bias, .scale = job->scale, .zero_point = job->zero_point}};
        job->entry->run(&call);
    }
}

static void average_pixels(void *argument, size_t begin, size_t end)
{
    const pool_u8 *job = argument;
    for (size_t i = begin; i < end; i++) {
        const size_t image = i / (job->out_h * job->out_w), rest = i % (job->out_h * job->out_w);
        average_pixel(job, image, rest / job->out_w, rest % job->out_w, job->y + i * job->channels);
    }
}

// ---- supported calls

// Returns the number of elements of the largest window, or 0 if a window is empty or exceeds the table of pointers.
static size_t max_taps(const taper_pooling *pooling)
{
    int64_t most[2] = {0, 0};
    for (size_t d = 0; d < 2; d++) {
        const taper_pool_axis *axis = &pooling->axis[1 + d];
        for (int64_t o = 0; o < axis->output; o++) {
            const taper_pool_window w = taper_pool_window_at(axis, o);
            if (w.taps <= 0 || w.taps > MOST_TAPS) {
                return 0;
            }
            most[d] = taper_max_i64(most[d], w.taps);
        }
    }
    return most[0] * most[1] <= MOST_TAPS ? (size_t)(most[0] * most[1]) : 0;
}

// Returns the size of the windows of averages. Returns 0 if their sizes differ, or if the size is 1 or exceeds the
// table of pointers.
static size_t average_taps(const taper_pooling *pooling)
{
    int64_t size[2];
    for (size_t d = 0; d < 2; d++) {
        const taper_pool_axis *axis = &pooling->axis[1 + d];
        if (axis->adaptive ? axis->input % axis->output != 0
                           : (axis->output - 1) * axis->stride - axis->padding + axis->kernel >
                                 axis->input + axis->padding) { // true for windows beyond the end, which ceil_mode adds
            return 0;
        }
        size[d] = axis->adaptive ? axis->input / axis->output : axis->kernel;
        if (size[d] > MOST_TAPS) {
            return 0;
        }
    }
    return size[0] * size[1] > 1 && size[0] * size[1] <= MOST_TAPS ? (size_t)(size[0] * size[1]) : 0;
}

static taper_status run_averages(taper_run *run, pool_u8 *job, size_t images)
{
    const size_t block = job->entry->block, weights = taper_dwconv_i8_packed_bytes(job->entry, block, job->taps);
    const size_t bytes = block * (sizeof(int32_t) + sizeof(float)) + weights + block + TAPER_OVERREAD;
    uint8_t *scratch = taper_heap_alloc(run->heap, bytes);
    if (scratch == NULL) {
        return taper_fail_memory(run->error);
    }
    int32_t *bias = (int32_t *)(void *)scratch;
    float *scale = (float *)(void *)(scratch + block * sizeof *bias);
    for (size_t i = 0; i < block; i++) {
        bias[i] = (int32_t)job->taps * ((int32_t)job->entry->shift - job->zero_point);
        scale[i] = job->x_scale / (job->x_scale * (float)job->taps);
    }
    job->bias = bias;
    job->scale = scale;
    taper_dwconv_i8_pack_ones(job->entry, block, job->taps, (int8_t *)scratch + block * 8);
    job->ones = (const int8_t *)scratch + block * 8;
    memset(scratch + block * 8 + weights, job->zero_point, block + TAPER_OVERREAD);
    job->padding = scratch + block * 8 + weights;
    const taper_status status = taper_run_floats(run, average_pixels, job, images * job->out_h * job->out_w,
                                                 (double)(job->channels * job->taps) / 2);
    taper_heap_free(run->heap, scratch, bytes);
    return status;
}

taper_status taper_cpu_pool_u8(taper_call *call, const taper_tensor *x, const taper_pooling *pooling, bool max)
{
    taper_run *run = call->run;
    const taper_pool_axis *axis = pooling->axis;
    const taper_quantizer *z = x->quantizer;
    if (x->dtype != TAPER_QU8 || z == NULL || z->scales != NULL || z->zero_point < 0 || z->zero_point > 255 ||
        !(z->scale > 0) || isinf(z->scale) || x->rank != 4 || x->hidden_nhwc || taper_ret_target(call, 0) != NULL ||
        taper_tensor_numel(x) == 0 || axis[1].output <= 0 || axis[2].output <= 0 || !taper_tensor_is_channels_last(x) ||
        taper_tensor_is_contiguous(x)) { // if the input has both orders, PyTorch's result may have either order
        return TAPER_DECLINED;
    }
    const uint8_t kind = x->storage->kind;
    pool_u8 job = {.pooling = pooling,
                   .vector = taper_vector_u8_select(run->cpu),
                   .entry = max ? NULL : taper_dwconv_i8_select(run->cpu),
                   .x = taper_tensor_data(x),
                   .channels = (size_t)x->sizes[1],
                   .in_h = (size_t)x->sizes[2],
                   .in_w = (size_t)x->sizes[3],
                   .out_h = (size_t)axis[1].output,
                   .out_w = (size_t)axis[2].output,
                   .taps = max ? max_taps(pooling) : average_taps(pooling),
                   .zero_point = (int32_t)z->zero_point,
                   .x_scale = (float)z->scale};
    // The kernel of averages reads past the last pixel, which only these kinds of storage permit.
    if (job.taps == 0 || (!max && kind != TAPER_STORAGE_OWNED && kind != TAPER_STORAGE_PLANNED)) {
        return TAPER_DECLINED;
    }
    const int64_t sizes[4] = {x->sizes[0], x->sizes[1], axis[1].output, axis[2].output};
    int64_t strides[4];
    taper_tensor *y;
    taper_strides_channels_last(4, sizes, strides);
    TAPER_TRY(taper_ret_quantized(call, 0, TAPER_QU8, 4, sizes, strides, z->scale, z->zero_point, &y));
    job.y = taper_tensor_mutable(y);
    run->kernel = max ? job.vector->name : job.entry->name;
    return max ? taper_run_floats(run, max_rows, &job, (size_t)x->sizes[0] * job.out_h,
                                  (double)(job.out_w * job.channels * job.taps) / 16)
               : run_averages(run, &job, (size_t)x->sizes[0]);
}
