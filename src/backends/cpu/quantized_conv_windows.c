// SPDX-License-Identifier: BSD-2-Clause
// Quantized convolutions of few channels, as conv_windows.c does those of floats: some rows of each channel's plane at
// a time are copied into scratch, with the padding's bytes on both sides, and the product reads them where they lie.
#include "backends/cpu/quantized_conv_cpu.h"
#include "ops/engine/tiles.h"

enum { MOST_TAPS = 128, MOST_ROWS = 8, CACHED_BYTES = 65536 };

typedef struct windows_plan {
    taper_conv2d_i8_plan head; // its padding: a row of scratch
    const taper_gemm_i8_entry *entry;
    size_t x_channel, x_row, x_pixel, x_image; // bytes from one to the next
    size_t rows, bands;                        // of the result: of a band; bands of an image
    size_t row_bytes, plane_bytes, scratch;    // of scratch
    size_t group_bytes;                        // of all weights
    taper_places places;
} windows_plan;

static size_t input_rows(const taper_conv2d_i8 *job, size_t rows)
{
    return (rows - 1) * job->stride_h + (job->kernel_h - 1) * job->dilation_h + 1;
}

// A row of every channel. What is left of a row behind the image's is padding, too: tails of weights are zero.
static void copy_row(const windows_plan *plan, const uint8_t *from, uint8_t *to)
{
    const taper_conv2d_i8 *job = plan->head.job;
    for (size_t c = 0; c < job->in_c; c++, from += plan->x_channel, to += plan->plane_bytes) {
        uint8_t *row = to + job->pad_left;
        memset(to, job->in_zero_point, job->pad_left);
        memset(row + job->in_w, job->in_zero_point, plan->row_bytes - job->pad_left - job->in_w);
        if (plan->x_pixel == 1) {
            memcpy(row, from, job->in_w);
        } else {
            for (size_t i = 0; i < job->in_w; i++) {
                row[i] = from[i * plan->x_pixel];
            }
        }
    }
}

// At most plan->rows rows of the result, from `first` on, to y.
static void make_rows(const windows_plan *plan, const taper_ring *x, size_t first, size_t count, uint8_t *out,
                      uint8_t *scratch)
{
    const taper_conv2d_i8 *job = plan->head.job;
    const uint8_t *taps[MOST_TAPS];
    const int64_t top = (int64_t)(first * job->stride_h) - (int64_t)job->pad_top;
    for (size_t i = 0; i < input_rows(job, count); i++) {
        const int64_t y = top + (int64_t)i;
        if (y >= 0 && y < (int64_t)job->in_h) {
            copy_row(plan, (const uint8_t *)x->at + ((size_t)y - x->from) % x->ring * plan->x_row,
                     scratch + i * plan->row_bytes);
        }
    }
    taper_gemm_i8 call = {
        .mr = job->out_w,
        .nc = job->out_c,
        .kc = job->kernel_w,
        .ks = job->kernel_h * job->in_c,
        .a = taps,
        .w = plan->head.layer.weights,
        .c = out,
        .c_stride = job->out_c,
        .e = {.bias = plan->head.bias, .scale = plan->head.factor, .zero_point = job->zero_point, .min = job->min}};
    for (size_t r = 0; r < count; r++) {
        for (size_t k = 0; k < job->kernel_h; k++) {
            const size_t i = r * job->stride_h + k * job->dilation_h;
            const int64_t y = top + (int64_t)i;
            const bool inside = y >= 0 && y < (int64_t)job->in_h;
            for (size_t c = 0; c < job->in_c; c++) {
                taps[k * job->in_c + c] =
                    inside ? scratch + c * plan->plane_bytes + i * plan->row_bytes : plan->head.padding;
            }
        }
        plan->entry->windows(&call, job->stride_w);
        call.c = (uint8_t *)call.c + job->out_w * job->out_c;
    }
}

static void run_bands(void *argument, size_t begin, size_t end) // number: image * bands + band
{
    windows_plan *plan = argument;
    const taper_conv2d_i8 *job = plan->head.job;
    uint8_t *scratch = taper_place_take(&plan->places, begin, job->batch * plan->bands);
    for (; begin < end; begin++) {
        const size_t image = begin / plan->bands, first = begin % plan->bands * plan->rows;
        const taper_ring x = {(char *)(uintptr_t)(job->x + image * plan->x_image), 0, SIZE_MAX};
        make_rows(plan, &x, first, taper_min_size(plan->rows, job->out_h - first),
                  job->y + (image * job->out_h + first) * job->out_w * job->out_c, scratch);
    }
    taper_place_leave(scratch);
}

static void run_band(const taper_conv2d_i8_plan *head, const taper_band *band)
{
    const windows_plan *plan = (const windows_plan *)(const void *)head;
    const size_t row = head->job->out_w * head->job->out_c;
    uint8_t *scratch = taper_place_take(&plan->places, band->begin, head->job->out_h);
    uint8_t *y = (uint8_t *)band->y.at + (band->begin - band->y.from) % band->y.ring * row;
    for (size_t first = band->begin, count; first < band->end; first += count, y += count * row) {
        count = taper_min_size(plan->rows, band->end - first);
        make_rows(plan, &band->x, first, count, y, scratch);
    }
    taper_place_leave(scratch);
}

static taper_status begin_bands(taper_conv2d_i8_plan *head)
{
    windows_plan *plan = (windows_plan *)(void *)head;
    const taper_run *run = head->job->call->run;
    return taper_places_open(run, plan->scratch, SIZE_MAX, &plan->places) ? TAPER_OK : taper_fail_memory(run->error);
}

static void end_bands(taper_conv2d_i8_plan *head)
{
    windows_plan *plan = (windows_plan *)(void *)head;
    taper_places_close(head->job->call->run, &plan->places);
}

static taper_status run_plan(const taper_conv2d_i8_plan *head)
{
    windows_plan *plan = (windows_plan *)(uintptr_t)head; // for its places
    TAPER_TRY(begin_bands(&plan->head));
    const taper_status status =
        taper_run_range(head->job->call->run, run_bands, plan, head->job->batch * plan->bands, 1, head->work);
    end_bands(&plan->head);
    return status;
}

// ---- preparation

static size_t place_of(const void *context, size_t channel)
{
    (void)context;
    return channel;
}

static void fill_pack(const taper_pack_request *request, void *data)
{
    const windows_plan *plan = request->user;
    const taper_conv2d_i8 *job = plan->head.job;
    const taper_tensor *w = job->params.weight;
    const size_t width = taper_round_up(job->kernel_w, plan->entry->kr);
    const taper_i8_layer layer = taper_i8_layer_of(data, plan->head.layer.places);
    taper_i8_fill_channels(&layer, w, job->params.bias, job->out_c, place_of, NULL);
    // For packing a tap is a kernel row with all channels' columns; the kernel sees a tap for each channel.
    const taper_gemm_i8_pack pack = {.n = job->out_c,
                                     .ks = job->kernel_h,
                                     .kc = job->in_c * width,
                                     .n_stride = (size_t)w->strides[0],
                                     .tap_stride = (size_t)w->strides[2],
                                     .k_stride = (size_t)w->strides[1],
                                     .k_inner = width,
                                     .k_inner_stride = (size_t)w->strides[3],
                                     .k_inner_used = job->kernel_w,
                                     .weights = taper_tensor_data(w)};
    taper_gemm_i8_pack_weights(plan->entry, &pack, layer.weights, layer.sums);
}

// Bytes of scratch for so many rows; false: too many.
static bool scratch_of(windows_plan *plan, size_t rows)
{
    const taper_conv2d_i8 *job = plan->head.job;
    plan->rows = rows;
    return taper_mul_size(input_rows(job, rows), plan->row_bytes, &plan->plane_bytes) &&
           taper_mul_size(plan->plane_bytes, job->in_c, &plan->scratch) &&
           (plan->scratch += TAPER_OVERREAD) <= (size_t)TAPER_LIMIT_TENSOR_BYTES / 2;
}

// The dense path multiplies four bytes for every pixel under a kernel row and has no last tile that goes over some
// pixels of the row once more; but its gathering costs about as much as two pixels of each kernel row.
static bool multiplies_little(const taper_conv2d_i8 *job, const taper_gemm_i8_entry *entry)
{
    enum { DENSE_BYTES = 4, GATHERED = 2 };
    const double own = (double)job->in_c * (double)taper_round_up(job->kernel_w, entry->kr);
    return own * (double)(((job->out_w - 1) / entry->mr + 1) * entry->mr) <=
           DENSE_BYTES * (double)(job->kernel_w + GATHERED) * (double)job->out_w;
}

bool taper_conv2d_i8_is_windows(const taper_conv2d_i8 *job)
{
    const taper_gemm_i8_entry *entry = taper_gemm_i8_select(job->call->run->cpu);
    return job->stem && entry->windows != NULL && job->stride_w <= 2 && job->out_w >= entry->mr &&
           job->kernel_h <= MOST_TAPS / job->in_c && multiplies_little(job, entry);
}

taper_status taper_conv2d_i8_windows(taper_conv2d_i8 *job, const taper_tensor *x)
{
    const taper_gemm_i8_entry *entry = taper_gemm_i8_select(job->call->run->cpu);
    windows_plan plan = {.head = {.job = job, .run = run_plan, .bytes = sizeof plan, .shift = entry->shift},
                         .entry = entry,
                         .x_image = (size_t)x->strides[0],
                         .x_channel = (size_t)x->strides[1],
                         .x_row = (size_t)x->strides[2],
                         .x_pixel = (size_t)x->strides[3]};
    const size_t width = taper_round_up(job->kernel_w, entry->kr), whole = taper_round_up(job->out_c, entry->nr);
    plan.group_bytes = taper_gemm_i8_packed_bytes(entry, job->out_c, job->kernel_h, job->in_c * width);
    // As wide as the last window's last group reaches, whatever the padding on the right is.
    plan.row_bytes = taper_max_size((job->out_w - 1) * job->stride_w + width, job->pad_left + job->in_w);
    size_t rows = taper_min_size(MOST_ROWS, job->out_h);
    while (scratch_of(&plan, rows) && plan.scratch > CACHED_BYTES && rows > 1) {
        rows = (rows + 1) / 2;
    }
    if (plan.group_bytes == 0 || taper_i8_layer_bytes(whole, plan.group_bytes) == 0 || !scratch_of(&plan, rows)) {
        return TAPER_DECLINED;
    }
    job->x = taper_tensor_data(x);
    plan.bands = (job->out_h - 1) / rows + 1;
    // Bands go from image to image as dense ones lie, and look at the others' rows as NHWC.
    if (job->batch == 1 || plan.x_image == job->in_h * job->in_w * job->in_c) {
        plan.head.rows = run_band;
        plan.head.begin = begin_bands;
        plan.head.end = end_bands;
    }
    plan.head.layer.places = whole;
    plan.head.padding_bytes = plan.row_bytes + TAPER_OVERREAD;
    plan.head.name = entry->name;
    plan.head.flops = 2.0 * (double)(job->batch * job->out_h * job->out_w) * (double)job->out_c *
                      (double)(job->in_c * job->kernel_h * job->kernel_w);
    plan.head.work = taper_gemm_i8_work(entry, plan.head.flops);
    taper_pack_request request;
    taper_i8_pack_key(entry, job->params.weight, job->params.bias, &request);
    request.layout = "quantized convolution of windows";
    request.kernel = entry->name;
    request.numbers[1] = -1; // another order than the dense path's
    request.bytes = taper_i8_layer_bytes(whole, plan.group_bytes);
    request.fill = fill_pack;
    request.user = &plan;
    return taper_conv2d_i8_do(&plan.head, &request);
}
