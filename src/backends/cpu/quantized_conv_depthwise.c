// SPDX-License-Identifier: BSD-2-Clause
// Depthwise quantized convolution, divided into rows of output pixels. One call of the kernel computes all pixels whose
// windows are inside the row; each pixel at the left and right border is a separate call. Rows outside the image are
// replaced by a row of zero points. If the kernel shares the columns of neighbouring 3x3 windows, borders of one pixel
// are computed in the same call.
#include "backends/cpu/quantized_conv_cpu.h"

enum { MOST_TAPS = 1024, MOST_ROWS = 16, BAND_BYTES = 32768 };

typedef struct depthwise_plan {
    taper_conv2d_i8_plan head; // head.padding is as long as a row, or as one pixel if no window is inside a row
    const taper_dwconv_i8_entry *entry;
    size_t taps;
    size_t begin, end;  // the windows of pixels [begin, end) are inside the row
    size_t rows, items; // number of rows of an item of work; number of items of an image
    size_t most_rows;   // largest number of rows in one call
    bool columns;       // true if rows have stride 2 and windows share columns
    // A call that computes two rows or shares columns computes pixels [begin_shared, end_shared).
    size_t begin_shared, end_shared;
} depthwise_plan;

// Computes pixels [first, last) of `rows` output rows from oy on, into y. All windows are inside the row, or there is
// only one pixel. If windows share columns, the first pixel may be at the left border. With two rows, the last pixel
// may be at the right border, where `edge` replaces the column outside.
static void run_pixels(const depthwise_plan *plan, const taper_ring *from, size_t oy, size_t rows, size_t first,
                       size_t last, uint8_t *out)
{
    const taper_conv2d_i8 *job = plan->head.job;
    const uint8_t *pointers[MOST_TAPS + 3 * MOST_ROWS], **to = pointers;
    const size_t c = job->in_c, row = job->in_w * c;
    const int64_t x0 = (int64_t)(first * job->stride_w) - (int64_t)job->pad_left;
    for (size_t ky = 0; ky < job->kernel_h + rows - 1; ky++) {
        const int64_t y = (int64_t)(oy * job->stride_h + ky * job->dilation_h) - (int64_t)job->pad_top;
        const bool inside = y >= 0 && y < (int64_t)job->in_h;
        const uint8_t *line = (const uint8_t *)from->at + (inside ? ((size_t)y - from->from) % from->ring * row : 0);
        for (size_t kx = 0; kx < job->kernel_w; kx++) {
            const int64_t x = x0 + (int64_t)(kx * job->dilation_w);
            *to++ = inside && x >= 0 && x < (int64_t)job->in_w ? line + (size_t)x * c : plan->head.padding;
        }
    }
    const taper_dwconv_i8 call = {
        .pixels = last - first,
        .channels = c,
        .taps = plan->taps,
        .rows = rows,
        .columns = plan->columns,
        .a = pointers,
        .edge = rows > 1 && last > plan->end ? plan->head.padding : NULL,
        .step = job->stride_w * c,
        .w = plan->head.layer.weights,
        .c = out + first * c,
        .c_stride = c,
        .c_row = job->out_w * c,
        .e = {.bias = plan->head.bias, .scale = plan->head.factor, .zero_point = job->zero_point, .min = job->min}};
    plan->entry->run(&call);
}

// Computes rows [first, end) of an image, into y.
static void make_rows(const depthwise_plan *plan, const taper_ring *x, size_t first, size_t end, uint8_t *y)
{
    const taper_conv2d_i8 *job = plan->head.job;
    for (size_t oy = first, rows; oy < end; oy += rows, y += rows * job->out_w * job->out_c) {
        // If one row remains, the kernel computes this row together with the row before it, which is then computed
        // twice, because a call for two rows takes less time than a call for one row.
        if (plan->rows == 2 && oy > first && oy + 1 == end) {
            oy--;
            y -= job->out_w * job->out_c;
        }
        rows = end - oy == 1 ? 1 : taper_min_size(plan->most_rows, end - oy) / plan->rows * plan->rows;
        const bool shared = rows > 1 || plan->columns;
        const size_t from = shared ? plan->begin_shared : plan->begin, to = shared ? plan->end_shared : plan->end;
        for (size_t i = 0; i < from; i++) {
            run_pixels(plan, x, oy, rows, i, i + 1, y);
        }
        if (from < to) {
            run_pixels(plan, x, oy, rows, from, to, y);
        }
        for (size_t i = to; i < job->out_w; i++) {
            run_pixels(plan, x, oy, rows, i, i + 1, y);
        }
    }
}

static void run_rows(void *argument, size_t begin, size_t end)
{
    const depthwise_plan *plan = argument;
    const taper_conv2d_i8 *job = plan->head.job;
    const size_t items = plan->items;
    for (size_t count; begin < end; begin += count) {
        const size_t image = begin / items, item = begin % items, first = item * plan->rows;
        count = taper_min_size(end - begin, items - item);
        const taper_ring x = {(char *)(uintptr_t)(job->x + image * job->in_h * job->in_w * job->in_c), 0, SIZE_MAX};
        make_rows(plan, &x, first, taper_min_size(first + count * plan->rows, job->out_h),
                  job->y + (image * job->out_h + first) * job->out_w * job->out_c);
    }
}

static void run_band(const taper_conv2d_i8_plan *head, const taper_band *band)
{
    const taper_conv2d_i8 *job = head->job;
    make_rows((const depthwise_plan *)(const void *)head, &band->x, band->begin, band->end,
              (uint8_t *)band->y.at + (band->begin - band->y.from) % band->y.ring * job->out_w * job->out_c);
}

// ---- packing of weights, and the plan

static size_t place_of(const void *context, size_t channel)
{
    const depthwise_plan *plan = context;
    return taper_dwconv_i8_place(plan->entry, plan->head.job->out_c, channel);
}

static void fill_pack(const taper_pack_request *request, void *data)
{
    const depthwise_plan *plan = request->user;
    const taper_conv2d_i8 *job = plan->head.job;
    const taper_tensor *w = job->params.weight;
    const taper_i8_layer layer = taper_i8_layer_of(data, plan->head.layer.places);
    taper_i8_fill_channels(&layer, w, job->params.bias, job->out_c, place_of, plan);
    taper_dwconv_i8_pack(plan->entry, job->out_c, plan->taps, taper_tensor_data(w), (size_t)w->strides[0],
                         (size_t)(job->kernel_w > 1 ? w->strides[3] : w->strides[2]), layer.weights, layer.sums);
}

static taper_status run_plan(const taper_conv2d_i8_plan *head)
{
    const depthwise_plan *plan = (const depthwise_plan *)(const void *)head;
    const taper_conv2d_i8 *job = head->job;
    taper_run *run = job->call->run;
    const size_t count = job->batch * plan->items;
    // A small image is divided into one piece per thread. The pixels of the previous layer that a thread needs are then
    // often in its cache.
    const size_t grain = taper_min_size(BAND_BYTES / (plan->rows * job->out_w * job->out_c),
                                        count / (size_t)taper_pool_threads(run->pool));
    return taper_run_range(run, run_rows, (void *)(uintptr_t)head, count, taper_max_size(1, grain), head->work);
}

taper_status taper_conv2d_i8_depthwise(taper_conv2d_i8 *job)
{
    depthwise_plan plan = {.head = {.job = job, .run = run_plan, .rows = run_band, .bytes = sizeof plan},
                           .entry = taper_dwconv_i8_select(job->call->run->cpu),
                           .taps = job->kernel_h * job->kernel_w};
    const size_t packed = taper_dwconv_i8_packed_bytes(plan.entry, job->out_c, plan.taps);
    plan.head.layer.places = taper_dwconv_i8_places(plan.entry, job->out_c);
    if (plan.taps > MOST_TAPS || packed == 0 || taper_i8_layer_bytes(plan.head.layer.places, packed) == 0) {
        return TAPER_DECLINED;
    }
    // The pixels whose first tap is not left of the image, and whose last tap is not right of the image.
    const size_t reach = (job->kernel_w - 1) * job->dilation_w;
    plan.begin = taper_min_size((job->pad_left + job->stride_w - 1) / job->stride_w, job->out_w);
    plan.end = job->in_w + job->pad_left > reach ? (job->in_w + job->pad_left - reach - 1) / job->stride_w + 1 : 0;
    plan.end = taper_max_size(plan.begin, taper_min_size(plan.end, job->out_w));
    plan.rows = job->kernel_h == 3 && job->kernel_w == 3 && job->stride_h == 1 && job->stride_w == 1 &&
                        job->dilation_h == 1 && job->dilation_w == 1 && plan.entry->rows > 1
                    ? 2
                    : 1;
    plan.most_rows = plan.rows == 1 ? 1 : taper_min_size(plan.entry->rows, MOST_ROWS);
    plan.items = (job->out_h - 1) / plan.rows + 1;
    plan.columns = plan.entry->columns != 0 && job->kernel_h == 3 && job->kernel_w == 3 && job->stride_w == 2 &&
                   job->dilation_w == 1;
    const bool inside = plan.begin < plan.end;
    plan.begin_shared = plan.begin - (inside && job->pad_left == 1);
    plan.end_shared = plan.end + (inside && plan.rows == 2 && plan.end + 1 == job->out_w);
    plan.head.shift = plan.entry->shift;
    plan.head.name = plan.entry->name;
    plan.head.flops = 2.0 * (double)(job->batch * job->out_h * job->out_w) * (double)(job->out_c * plan.taps);
    plan.head.work = plan.head.flops / (double)plan.entry->block;
    plan.head.padding_bytes = (plan.end > plan.begin ? job->in_w : 1) * job->in_c + TAPER_OVERREAD;
    taper_pack_request request;
    taper_i8_pack_key(plan.entry, job->params.weight, job->params.bias, &request);
    request.layout = "quantized depthwise";
    request.kernel = plan.entry->name;
    request.bytes = taper_i8_layer_bytes(plan.head.layer.places, packed);
    request.fill = fill_pack;
    request.user = &plan;
    return taper_conv2d_i8_do(&plan.head, &request);
}
