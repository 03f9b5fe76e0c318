// SPDX-License-Identifier: BSD-2-Clause
// First layers of image networks, and other convolutions with few input channels. In NHWC, the kernel_w * channels
// floats under one kernel row are contiguous. The input, contiguous or channels-last, is copied once into NHWC rows
// with zero padding at both ends. From these rows, the inputs of some strips at a time are copied into the rows of a
// matrix product.
#include <stdint.h>

#include "backends/cpu/conv_cpu.h"
#include "ops/engine/tiles.h"

enum { MOST_CHANNELS = 15, MOST_TAPS = 16, MOST_FLOATS = 12288, L1_FLOATS = 4096 };

typedef struct stem_plan {
    taper_conv2d_plan head;
    const taper_gemm_entry *entry;
    const taper_vector_entry *vector;
    // Number of floats of a padded row; number of bytes of all padded rows plus one row of zeros.
    size_t row_floats, row_bytes;
    size_t kc; // number of floats under one kernel row
    taper_tiles tiles;
} stem_plan;

// The memory of one run.
typedef struct stem_run {
    const stem_plan *plan;
    const float *zero;
    float *rows; // padded copy of all images
} stem_run;

bool taper_conv2d_is_stem(const taper_conv2d *job)
{
    const taper_tensor *x = job->args.input;
    return job->groups == 1 && job->in_c <= MOST_CHANNELS && job->kernel_w > 1 && job->kernel_h <= MOST_TAPS &&
           job->kernel_w <= MOST_FLOATS && job->kernel_h * job->kernel_w * job->in_c <= MOST_FLOATS &&
           job->dilation_w == 1 && job->pad_left >= 0 && job->pad_left < (int64_t)1 << 16 &&
           (taper_tensor_is_channels_last(x) || (taper_tensor_is_contiguous(x) && !x->hidden_nhwc)) &&
           (job->kernel_w == 1 || job->args.weight->strides[3] != 0);
}

static void copy_rows(void *argument, size_t begin, size_t end) // copies rows [begin, end), numbered image * in_h + y
{
    const stem_run *r = argument;
    const stem_plan *plan = r->plan;
    const taper_conv2d *job = plan->head.job;
    const size_t channels = job->in_c, width = job->in_w, left = (size_t)job->pad_left * channels;
    for (size_t row = begin; row < end; row++) {
        float *to = r->rows + row * plan->row_floats;
        const float *x = taper_tensor_data(job->args.input);
        memset(to, 0, left * sizeof *to);
        if (taper_tensor_is_channels_last(job->args.input)) {
            memcpy(to + left, x + row * width * channels, width * channels * sizeof *to);
        } else {
            const size_t image = row / job->in_h, y = row % job->in_h, plane = job->in_h * width;
            plan->vector->transpose(channels, width, x + image * channels * plane + y * width, plane, to + left,
                                    channels);
        }
        memset(to + left + width * channels, 0, (plan->row_floats - left - width * channels) * sizeof *to);
    }
}

// Copies `count` floats for each of `pixels` pixels.
static inline void copy_floats(size_t pixels, size_t count, const float *from, size_t step, float *to, size_t to_step)
{
    for (; pixels > 0; pixels--, from += step, to += to_step) {
        memcpy(to, from, count * sizeof *to);
    }
}

#include "backends/cpu/conv_stem_counts.h"

// Copies the floats under kernel row k, for `pixels` pixels from pixel ox on. `row` is the number of the row, counted
// over all images.
static void copy_kernel_row(const stem_run *r, size_t row, size_t ox, size_t pixels, size_t k, float *to)
{
    const stem_plan *plan = r->plan;
    const taper_conv2d *job = plan->head.job;
    const size_t image = row / job->out_h, oy = row % job->out_h, step = job->stride_w * job->in_c;
    const int64_t y = (int64_t)(oy * job->stride_h + k * job->dilation_h) - job->pad_top;
    const bool inside = y >= 0 && y < (int64_t)job->in_h;
    const float *from = inside ? r->rows + (image * job->in_h + (size_t)y) * plan->row_floats + ox * step : r->zero;
    const size_t from_step = inside ? step : 0, to_step = plan->kc * job->kernel_h;
    copy_pixels(pixels, plan->kc, from, from_step, to, to_step);
}

// Copies the inputs under the kernel for `count` pixels. Each pixel's inputs become one row of the product.
static void gather(const stem_run *r, size_t first, size_t count, float *to)
{
    const taper_conv2d *job = r->plan->head.job;
    const size_t kc = r->plan->kc;
    size_t row = first / job->out_w, ox = first % job->out_w;
    while (count > 0) {
        const size_t pixels = taper_min_size(count, job->out_w - ox);
        for (size_t k = 0; k < job->kernel_h; k++) {
            copy_kernel_row(r, row, ox, pixels, k, to + k * kc);
        }
        to += pixels * kc * job->kernel_h;
        count -= pixels;
        ox = 0;
        row++;
    }
}

static void run_tiles(void *argument, size_t begin, size_t end)
{
    const stem_run *r = argument;
    const stem_plan *plan = r->plan;
    const taper_conv2d *job = plan->head.job;
    const size_t depth = plan->kc * job->kernel_h;
    const size_t strips = taper_max_size(L1_FLOATS / (taper_max_size(depth, job->out_c) * plan->entry->mr), 1);
    float gathered[MOST_FLOATS];
    taper_tile tile = taper_tile_at(&plan->tiles, begin);
    for (size_t index = begin; index < end; taper_tile_next(&plan->tiles, &tile)) {
        index += taper_tile_join(&plan->tiles, &tile, taper_min_size(strips, end - index));
        gather(r, tile.first, tile.count, gathered);
        const size_t at = tile.first * job->out_c;
        taper_gemm_epilogue e = {.min = job->epilogue.min, .max = job->epilogue.max};
        if (job->epilogue.add != NULL) {
            e.add = job->epilogue.add + at;
            e.add_stride = job->out_c;
        }
        plan->entry->gemm(tile.count, job->out_c, depth, gathered, depth, plan->head.packed, job->y + at, job->out_c,
                          &e);
        taper_epilogue_finish(&job->epilogue, 1, tile.count * job->out_c, job->y + at, 0);
    }
}

static void fill_weights(const taper_pack_request *request, void *data)
{
    const taper_conv2d *job = request->user;
    const taper_gemm_entry *entry = request->kind;
    const taper_tensor *w = job->args.weight;
    taper_conv2d_fold(job);
    const taper_gemm_pack pack = {.n = job->out_c,
                                  .ks = job->kernel_h,
                                  .kc = job->kernel_w * job->in_c,
                                  .n_stride = (size_t)w->strides[0],
                                  .tap_stride = (size_t)w->strides[2],
                                  .k_stride = (size_t)w->strides[3],
                                  .k_inner = job->in_c,
                                  .k_inner_stride = (size_t)w->strides[1],
                                  .joined = true,
                                  .weights = taper_tensor_data(w),
                                  .scale = job->scale,
                                  .bias = taper_conv2d_bias(job)};
    taper_gemm_pack_panels(entry, &pack, 0, (job->out_c + entry->nr - 1) / entry->nr, data);
}

static taper_status run_plan(const taper_conv2d_plan *head)
{
    const stem_plan *plan = (const stem_plan *)(const void *)head;
    taper_run *run = head->job->call->run;
    float *rows = taper_heap_alloc(run->heap, plan->row_bytes);
    if (rows == NULL) {
        return taper_fail_memory(run->error);
    }
    stem_run r = {plan, rows, rows + plan->row_floats}; // the first row contains zeros
    memset(rows, 0, plan->row_floats * sizeof(float));
    taper_status status =
        taper_run_floats(run, copy_rows, &r, head->job->batch * head->job->in_h, 2.0 * (double)plan->row_floats);
    if (status == TAPER_OK) {
        status = taper_run_range(run, run_tiles, &r, plan->tiles.count, 1, head->work);
    }
    taper_heap_free(run->heap, rows, plan->row_bytes);
    return status;
}

taper_status taper_conv2d_stem(taper_conv2d *job)
{
    const taper_run *run = job->call->run;
    stem_plan plan = {.head = {.job = job, .run = run_plan, .bytes = sizeof plan},
                      .entry = taper_conv2d_entry(job, 1),
                      .vector = taper_vector_f32_select(run->cpu),
                      .kc = job->kernel_w * job->in_c};
    const size_t pixels = job->batch * job->out_h * job->out_w;
    plan.head.name = plan.entry->name;
    plan.head.flops = 2.0 * (double)pixels * (double)job->out_c * (double)(plan.kc * job->kernel_h);
    plan.head.work = taper_gemm_work(plan.entry, plan.head.flops, 0);
    // The number of panels is 1, because one call of the kernel computes all columns of the product.
    const size_t mr = taper_min_size(plan.entry->mr, MOST_FLOATS / (plan.kc * job->kernel_h));
    plan.tiles = taper_tiles_make(run, pixels, mr, 0, 1, 1, plan.head.work);
    // A row is as wide as the last window reaches, independent of the padding on the right.
    const size_t reach = (job->out_w - 1) * job->stride_w + job->kernel_w;
    plan.row_floats = taper_max_size(reach, (size_t)job->pad_left + job->in_w) * job->in_c;
    const size_t packed = taper_gemm_packed_count(plan.entry, job->out_c, 1, plan.kc * job->kernel_h);
    size_t floats;
    if (packed == 0 || !taper_mul_size(job->batch * job->in_h + 1, plan.row_floats, &floats) ||
        !taper_mul_size(floats, sizeof(float), &plan.row_bytes) ||
        plan.row_bytes > (size_t)TAPER_LIMIT_TENSOR_BYTES / 2) {
        return TAPER_DECLINED;
    }
    plan.row_bytes = taper_max_size(plan.row_bytes, 1024);
    taper_pack_request request;
    taper_conv2d_pack_key(job, plan.entry, &request);
    request.layout = "convolution of images";
    request.kernel = plan.entry->name;
    request.numbers[3] = 1; // marks this layout of weights in the key, because conv_dense.c has another layout
    request.bytes = packed * sizeof(float);
    request.fill = fill_weights;
    return taper_conv2d_do(&plan.head, &request);
}
