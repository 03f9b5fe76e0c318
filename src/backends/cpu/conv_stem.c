// SPDX-License-Identifier: BSD-2-Clause
// The first layer of image networks: three or so input channels. In NHWC the kernel_w * channels floats under one
// kernel row lie side by side, so a row of the kernel is one tap of a matrix product. The input, contiguous or
// channels-last, is copied once into NHWC rows with the padding's zeros on both sides.
#include <stdint.h>

#include "backends/cpu/conv_cpu.h"
#include "ops/engine/tiles.h"

enum { MOST_CHANNELS = 16, MOST_TAPS = 16, MOST_MR = 32 };

typedef struct stem_plan {
    taper_conv2d_plan head;
    const taper_gemm_entry *entry;
    const taper_vector_entry *vector;
    size_t row_floats, row_bytes; // of a padded row; of all of them, and one of zeros
    size_t kc;                    // floats under one kernel row
    taper_tiles tiles;
} stem_plan;

// Of one run.
typedef struct stem_run {
    const stem_plan *plan;
    const float *zero;
    float *rows; // padded copy of all images
} stem_run;

bool taper_conv2d_is_stem(const taper_conv2d *job)
{
    const taper_tensor *x = job->args.input;
    return job->groups == 1 && job->in_c <= MOST_CHANNELS && job->kernel_w > 1 && job->kernel_h <= MOST_TAPS &&
           job->dilation_w == 1 && job->pad_left >= 0 && job->pad_left < (int64_t)1 << 16 &&
           (taper_tensor_is_channels_last(x) || (taper_tensor_is_contiguous(x) && !x->hidden_nhwc)) &&
           (job->kernel_w == 1 || job->args.weight->strides[3] != 0);
}

static void copy_rows(void *argument, size_t begin, size_t end) // number: image * in_h + y
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

// Where the inputs of a row of outputs are, for each row of the kernel; steps to the next pixel's, 0 in padding.
typedef struct stem_lines {
    const float *at[MOST_TAPS];
    size_t step[MOST_TAPS];
} stem_lines;

// Of pixel ox in row number `row` of all images.
static void find_lines(const stem_run *r, size_t row, size_t ox, stem_lines *lines)
{
    const taper_conv2d *job = r->plan->head.job;
    const size_t image = row / job->out_h, oy = row % job->out_h, step = job->stride_w * job->in_c;
    for (size_t k = 0; k < job->kernel_h; k++) {
        const int64_t y = (int64_t)(oy * job->stride_h + k * job->dilation_h) - job->pad_top;
        const bool inside = y >= 0 && y < (int64_t)job->in_h;
        lines->at[k] = inside ? r->rows + (image * job->in_h + (size_t)y) * r->plan->row_floats + ox * step : r->zero;
        lines->step[k] = inside ? step : 0;
    }
}

// pointers[k * count + i]: where the inputs of the i-th pixel's k-th kernel row start.
static void gather_pointers(const stem_run *r, size_t first, size_t count, const float **pointers)
{
    const taper_conv2d *job = r->plan->head.job;
    size_t row = first / job->out_w, ox = first % job->out_w;
    stem_lines lines;
    find_lines(r, row, ox, &lines);
    for (size_t i = 0; i < count; i++, ox++) {
        if (ox == job->out_w) {
            ox = 0;
            find_lines(r, ++row, 0, &lines);
        }
        for (size_t k = 0; k < job->kernel_h; k++) {
            pointers[k * count + i] = lines.at[k];
            lines.at[k] += lines.step[k];
        }
    }
}

static void run_tiles(void *argument, size_t begin, size_t end)
{
    const stem_run *r = argument;
    const stem_plan *plan = r->plan;
    const taper_conv2d *job = plan->head.job;
    const float *pointers[MOST_MR * MOST_TAPS];
    taper_tile tile = taper_tile_at(&plan->tiles, begin);
    for (size_t index = begin; index < end; index++, taper_tile_next(&plan->tiles, &tile)) {
        const size_t first = tile.first, count = tile.count;
        gather_pointers(r, first, count, pointers);
        float *y = job->y + first * job->out_c;
        taper_gemm_epilogue e = {.min = job->epilogue.min, .max = job->epilogue.max};
        if (job->epilogue.add != NULL) {
            e.add = job->epilogue.add + first * job->out_c;
            e.add_stride = job->out_c;
        }
        plan->entry->igemm(count, job->out_c, plan->kc, job->kernel_h, pointers, count, 0, r->zero, plan->head.packed,
                           y, job->out_c, &e);
        taper_epilogue_finish(&job->epilogue, 1, count * job->out_c, y, 0);
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
                                  .weights = taper_tensor_data(w),
                                  .scale = job->scale,
                                  .bias = job->shift != NULL       ? job->shift
                                          : job->args.bias != NULL ? taper_tensor_data(job->args.bias)
                                                                   : NULL};
    taper_gemm_f32_pack(entry->nr, &pack, 0, (job->out_c + entry->nr - 1) / entry->nr, data);
}

static taper_status run_plan(const taper_conv2d_plan *head)
{
    const stem_plan *plan = (const stem_plan *)(const void *)head;
    taper_run *run = head->job->call->run;
    float *rows = taper_heap_alloc(run->heap, plan->row_bytes);
    if (rows == NULL) {
        return taper_fail_memory(run->error);
    }
    stem_run r = {plan, rows, rows + plan->row_floats}; // the first row is the zero row
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
                      .entry = taper_gemm_f32_select(run->cpu),
                      .vector = taper_vector_f32_select(run->cpu),
                      .kc = job->kernel_w * job->in_c};
    const size_t pixels = job->batch * job->out_h * job->out_w;
    plan.head.name = plan.entry->name;
    plan.head.flops = 2.0 * (double)pixels * (double)job->out_c * (double)(plan.kc * job->kernel_h);
    plan.head.work = taper_gemm_work(plan.entry, plan.head.flops);
    // One block: the kernel takes all columns.
    plan.tiles = taper_tiles_make(run, pixels, taper_min_size(plan.entry->mr, MOST_MR), 1, 1, plan.head.work);
    // As wide as the last window reaches, whatever the padding on the right is.
    const size_t reach = (job->out_w - 1) * job->stride_w + job->kernel_w;
    plan.row_floats = taper_max_size(reach, (size_t)job->pad_left + job->in_w) * job->in_c;
    const size_t packed = taper_gemm_f32_packed_count(plan.entry->nr, job->out_c, job->kernel_h, plan.kc);
    size_t floats;
    if (packed == 0 || !taper_mul_size(job->batch * job->in_h + 1, plan.row_floats, &floats) ||
        !taper_mul_size(floats, sizeof(float), &plan.row_bytes) ||
        plan.row_bytes > (size_t)TAPER_LIMIT_TENSOR_BYTES / 2) {
        return TAPER_DECLINED;
    }
    plan.row_bytes = taper_max_size(plan.row_bytes, 1024);
    taper_pack_request request;
    taper_conv2d_pack_key(job, plan.entry, &request);
    request.numbers[3] = 1; // another order than the dense path's
    request.bytes = packed * sizeof(float);
    request.fill = fill_weights;
    return taper_conv2d_do(&plan.head, &request);
}
