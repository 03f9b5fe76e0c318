// SPDX-License-Identifier: BSD-2-Clause
// Transposed convolutions of floats. A product of pixels and packed weights gives the contributions of each pixel, tap
// by tap, with contiguous channels. The contributions are then added to rows of the result. The work is divided into
// bands of input rows, whose contributions stay in the cache. With few output channels the reference runs, which adds
// along rows.
#include <math.h>

#include "backends/cpu/conv_cpu.h"
#include "ops/engine/tiles.h"
#include "ops/list/op_features.h"

enum { LEAST_CHANNELS = 8 }; // smallest number of output channels in a group; with fewer channels, the reference runs

typedef struct transposed_plan {
    taper_conv2d_plan head;
    const taper_gemm_entry *entry;
    taper_binary_f32_function *add;
    // columns: number of contributions of a pixel in a group, taps * group_out.
    size_t taps, group_in, group_out, columns, group_floats;
    size_t rows;  // input rows of a band, counted over all images
    double added; // nanoseconds to add a pixel's contributions
} transposed_plan;

// A band of input rows [first, end), counted over all images: whole images, or some rows of one image.
typedef struct transposed_band {
    const transposed_plan *plan;
    size_t first, end;
    float *columns;    // contributions of the pixels, ordered [row, pixel][group][tap][channel]
    size_t low, high;  // the band contributes to rows [low, high) of each image's result
    taper_tiles tiles; // division of the product into tiles
} transposed_band;

// ---- initial values of the result, and its bounds

static void fill_rows(void *argument, size_t begin, size_t end)
{
    const taper_conv2d *job = argument;
    const float *bias = taper_conv2d_bias(job);
    float *y = job->y + begin * job->out_w * job->out_c;
    for (size_t i = begin * job->out_w; i < end * job->out_w; i++, y += job->out_c) {
        if (bias != NULL) {
            memcpy(y, bias, job->out_c * sizeof *y);
        } else {
            memset(y, 0, job->out_c * sizeof *y);
        }
    }
}

static void clamp_rows(void *argument, size_t begin, size_t end)
{
    const taper_conv2d *job = argument;
    const size_t row = job->out_w * job->out_c;
    const float bounds[] = {(float)job->args.min, (float)job->args.max, 0, 0};
    taper_vector_f32_select(job->call->run->cpu)
        ->unary[TAPER_UNARY_CLAMP]((end - begin) * row, job->y + begin * row, job->y + begin * row, bounds);
}

// ---- a band of input rows

static void multiply(void *argument, size_t begin, size_t end)
{
    const transposed_band *band = argument;
    const transposed_plan *plan = band->plan;
    const taper_conv2d *job = plan->head.job;
    const size_t stride = plan->columns * job->groups, panel = taper_gemm_panel_floats(plan->entry, 1, plan->group_in);
    const taper_gemm_epilogue plain = {.min = -INFINITY, .max = INFINITY};
    taper_tile tile = taper_tile_at(&band->tiles, begin);
    for (size_t i = begin; i < end; i++, taper_tile_next(&band->tiles, &tile)) {
        const size_t column = tile.panel * plan->entry->nr;
        const size_t count = taper_min_size(tile.panel_end * plan->entry->nr, plan->columns) - column;
        for (size_t g = 0; g < job->groups; g++) {
            plan->entry->gemm(tile.count, count, plan->group_in,
                              job->x + (band->first * job->in_w + tile.first) * job->in_c + g * plan->group_in,
                              job->in_c, plan->head.packed + g * plan->group_floats + tile.panel * panel,
                              band->columns + tile.first * stride + g * plan->columns + column, stride, &plain);
        }
    }
}

// Adds the contributions of a row of pixels through one row of taps. Neighbouring taps belong to neighbouring pixels of
// the result.
static void add_row(const transposed_plan *plan, const float *from, float *to)
{
    const taper_conv2d *job = plan->head.job;
    const size_t at_once = job->dilation_w == 1 && job->groups == 1 ? job->kernel_w : 1;
    const int64_t width = (int64_t)job->out_w;
    for (size_t x = 0; x < job->in_w; x++, from += plan->columns * job->groups) {
        for (size_t tap = 0; tap < job->kernel_w; tap += at_once) {
            const int64_t first = (int64_t)(x * job->stride_w + tap * job->dilation_w) - job->pad_left;
            const int64_t left = taper_max_i64(first, 0), end = taper_min_i64(first + (int64_t)at_once, width);
            for (size_t g = 0; left < end && g < job->groups; g++) {
                float *y = to + (size_t)left * job->out_c + g * plan->group_out;
                const float *a = from + g * plan->columns + (tap + (size_t)(left - first)) * plan->group_out;
                plan->add((size_t)(end - left) * plan->group_out, y, a, y, -INFINITY, INFINITY);
            }
        }
    }
}

static void collect(void *argument, size_t begin, size_t end)
{
    const transposed_band *band = argument;
    const transposed_plan *plan = band->plan;
    const taper_conv2d *job = plan->head.job;
    const size_t tall = band->high - band->low, row_floats = job->in_w * plan->columns * job->groups;
    for (size_t i = begin; i < end; i++) {
        const size_t image = band->first / job->in_h + i / tall, y = band->low + i % tall;
        float *to = job->y + (image * job->out_h + y) * job->out_w * job->out_c;
        for (size_t tap = 0; tap < job->kernel_h; tap++) {
            const int64_t at = (int64_t)y + job->pad_top - (int64_t)(tap * job->dilation_h);
            if (at < 0 || at % (int64_t)job->stride_h != 0 || at / (int64_t)job->stride_h >= (int64_t)job->in_h) {
                continue;
            }
            const size_t row = image * job->in_h + (size_t)at / job->stride_h;
            if (row >= band->first && row < band->end) {
                add_row(plan, band->columns + (row - band->first) * row_floats + tap * job->kernel_w * plan->group_out,
                        to);
            }
        }
    }
}

static taper_status run_band(transposed_band *band)
{
    const transposed_plan *plan = band->plan;
    const taper_conv2d *job = plan->head.job;
    taper_run *run = job->call->run;
    const size_t pixels = (band->end - band->first) * job->in_w;
    const double work = plan->head.work * (double)pixels / (double)(job->batch * job->in_h * job->in_w);
    const size_t nr = plan->entry->nr, panels = (plan->columns + nr - 1) / nr;
    band->tiles =
        taper_tiles_make(run, pixels, plan->entry->mr, job->in_c * sizeof(float), panels,
                         taper_gemm_panel_floats(plan->entry, 1, plan->group_in) * sizeof(float) * job->groups, work);
    TAPER_TRY(taper_run_range(run, multiply, band, band->tiles.count, 1, work));
    const size_t local = band->first % job->in_h, count = taper_min_size(band->end - band->first, job->in_h);
    const int64_t low = (int64_t)(local * job->stride_h) - job->pad_top;
    const int64_t high =
        (int64_t)((local + count - 1) * job->stride_h + (job->kernel_h - 1) * job->dilation_h) - job->pad_top + 1;
    band->low = (size_t)taper_min_i64(taper_max_i64(low, 0), (int64_t)job->out_h);
    band->high = (size_t)taper_max_i64(taper_min_i64(high, (int64_t)job->out_h), (int64_t)band->low);
    const size_t images = count == job->in_h ? (band->end - band->first) / job->in_h : 1;
    return taper_run_range(run, collect, band, images * (band->high - band->low), 1, plan->added * (double)pixels);
}

static taper_status run_plan(const taper_conv2d_plan *head)
{
    const transposed_plan *plan = (const transposed_plan *)(const void *)head;
    const taper_conv2d *job = head->job;
    taper_run *run = job->call->run;
    const size_t out_rows = job->batch * job->out_h, in_rows = job->batch * job->in_h;
    const size_t bytes = plan->rows * job->in_w * plan->columns * job->groups * sizeof(float) + TAPER_OVERREAD;
    const double floats = (double)(job->out_w * job->out_c);
    TAPER_TRY(taper_run_floats(run, fill_rows, (void *)(uintptr_t)job, out_rows, floats));
    transposed_band band = {.plan = plan, .columns = taper_heap_alloc(run->heap, bytes)};
    if (band.columns == NULL) {
        return taper_fail_memory(run->error);
    }
    taper_status status = TAPER_OK;
    while (band.first < in_rows && status == TAPER_OK) {
        const size_t left = plan->rows < job->in_h ? job->in_h - band.first % job->in_h : in_rows - band.first;
        band.end = band.first + taper_min_size(plan->rows, left);
        status = run_band(&band);
        band.first = band.end;
    }
    taper_heap_free(run->heap, band.columns, bytes);
    if (status == TAPER_OK && job->args.clamped) {
        status = taper_run_floats(run, clamp_rows, (void *)(uintptr_t)job, out_rows, floats);
    }
    return status;
}

// ---- packing of weights, and the plan

static void fill_weights(const taper_pack_request *request, void *data)
{
    const taper_conv2d *job = request->user;
    const taper_gemm_entry *entry = request->kind;
    const taper_tensor *w = job->args.weight;
    const size_t group_in = job->in_c / job->groups, group_out = job->out_c / job->groups;
    const size_t taps = job->kernel_h * job->kernel_w, columns = taps * group_out, nr = entry->nr;
    const size_t count = taper_gemm_f32_packed_count(nr, columns, 1, group_in), panel = (group_in + 1) * nr;
    const float *weights = taper_tensor_data(w);
    memset(data, 0, count * job->groups * sizeof(float));
    for (size_t k = 0; k < job->in_c; k++) {
        float *packed = (float *)data + k / group_in * count + (1 + k % group_in) * nr;
        for (size_t n = 0; n < columns; n++) {
            const size_t tap = n / group_out;
            packed[n / nr * panel + n % nr] =
                weights[k * (size_t)w->strides[0] + n % group_out * (size_t)w->strides[1] +
                        tap / job->kernel_w * (size_t)w->strides[2] + tap % job->kernel_w * (size_t)w->strides[3]];
        }
    }
}

bool taper_conv2d_does_transposed(const taper_conv2d *job)
{
    const taper_conv_args *a = &job->args;
    return a->weight->sizes[1] >= LEAST_CHANNELS && taper_fusion_of(job->call) == NULL;
}

taper_status taper_conv2d_transposed(taper_conv2d *job)
{
    taper_run *run = job->call->run;
    const taper_gemm_entry *entry = taper_gemm_f32_select(run->cpu);
    transposed_plan plan = {.head = {.job = job, .run = run_plan, .bytes = sizeof plan, .name = entry->name},
                            .entry = entry,
                            .add = taper_vector_f32_select(run->cpu)->binary[TAPER_BINARY_ADD][TAPER_OPERANDS_VV],
                            .taps = job->kernel_h * job->kernel_w,
                            .group_in = job->in_c / job->groups,
                            .group_out = job->out_c / job->groups};
    size_t row_bytes;
    plan.columns = plan.taps * plan.group_out; // cannot overflow, because the weight has that many elements
    plan.group_floats = taper_gemm_f32_packed_count(entry->nr, plan.columns, 1, plan.group_in);
    if (plan.group_floats == 0 || plan.group_floats > SIZE_MAX / sizeof(float) / job->groups ||
        !taper_mul_size(plan.columns * job->groups, job->in_w * sizeof(float), &row_bytes) ||
        row_bytes > TAPER_LIMIT_TENSOR_BYTES) {
        return TAPER_DECLINED;
    }
    // Half of the cache is for the weights. If whole images fit into the other half, a band consists of whole images.
    const size_t fits = taper_max_size(taper_pool_caches(run->pool).l2 / 2 / row_bytes, 1);
    plan.rows = taper_min_size(fits < job->in_h ? fits : fits / job->in_h * job->in_h, job->batch * job->in_h);
    const double pixels = (double)(job->batch * job->in_h * job->in_w),
                 contributions = (double)(plan.columns * job->groups);
    plan.head.flops = 2 * pixels * contributions * (double)plan.group_in;
    plan.head.work = taper_gemm_work(entry, plan.head.flops, (double)(plan.group_floats * job->groups));
    plan.added = contributions / 8;
    taper_pack_request request;
    taper_conv2d_pack_key(job, entry, &request);
    request.layout = "transposed convolution";
    request.kernel = entry->name;
    request.bytes = plan.group_floats * job->groups * sizeof(float);
    request.fill = fill_weights;
    return taper_conv2d_do(&plan.head, &request);
}
