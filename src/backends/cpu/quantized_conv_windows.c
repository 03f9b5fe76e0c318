// SPDX-License-Identifier: BSD-2-Clause
// Quantized convolutions of few channels. A window has a plane for each kernel row of each input channel. Groups of
// four planes are interleaved, so that a pixel of a group has four bytes, and each kernel column is one tap of a
// product that reads overlapping windows in place. The planes left over either form one more group, or each is used
// alone with four neighbouring pixels per tap, whichever takes fewer taps. A 3x3 window of three channels has 9 planes
// and takes 7 taps: 2 groups * 3 columns, and 1 tap for the last plane. These taps compute 28 products for 27 numbers.
#include "backends/cpu/quantized_conv_cpu.h"
#include "backends/cpu/quantized_conv_images.h"
#include "ops/engine/tiles.h"
#include "ops/kernels/kernel_select.h"

enum { MOST_TAPS = 128, MOST_ROWS = 8, MOST_COLUMNS = 32, CACHED_BYTES = 65536 };

typedef struct windows_plan {
    taper_conv2d_i8_plan head; // head.padding is as long as a row of a plane
    const taper_gemm_i8_entry *entry;
    const taper_vector_u8_entry *vector;
    size_t x_channel, x_row, x_pixel, x_image; // number of bytes from one channel, row, pixel and image to the next
    size_t rows, bands;                        // number of result rows in a band; number of bands in an image
    // Numbers per window: all planes; groups of four planes; planes that are used alone; taps.
    size_t planes, quads, alone, taps;
    size_t pixels; // number of pixels of a row, including padding
    // In scratch memory, in bytes: size of a row of pixels; offset of single planes; offset of row copies; total size.
    size_t row_bytes, line_at, copies_at, scratch;
    size_t group_bytes, panel_bytes; // size of a group's weights, and of one panel, in bytes
    taper_places places;
} windows_plan;

static size_t input_rows(const taper_conv2d_i8 *job, size_t rows)
{
    return (rows - 1) * job->stride_h + (job->kernel_h - 1) * job->dilation_h + 1;
}

// Decides how the planes of a window become taps.
static void divide_planes(windows_plan *plan)
{
    const taper_conv2d_i8 *job = plan->head.job;
    const size_t left = job->kernel_h * job->in_c % 4, groups = (job->kernel_w + 3) / 4;
    plan->planes = job->kernel_h * job->in_c;
    plan->alone = left * groups < job->kernel_w ? left : 0;
    plan->quads = (plan->planes - plan->alone + 3) / 4;
    plan->taps = plan->quads * job->kernel_w + plan->alone * groups;
}

// Copies the rows that `count` output rows read, if their pixels are not contiguous.
static void copy_rows(const windows_plan *plan, const taper_ring *x, int64_t top, size_t count, uint8_t *to)
{
    const taper_conv2d_i8 *job = plan->head.job;
    for (size_t i = 0; i < input_rows(job, count); i++) {
        const int64_t y = top + (int64_t)i;
        for (size_t c = 0; c < job->in_c && y >= 0 && y < (int64_t)job->in_h; c++) {
            const uint8_t *from =
                (const uint8_t *)x->at + ((size_t)y - x->from) % x->ring * plan->x_row + c * plan->x_channel;
            uint8_t *row = to + (i * job->in_c + c) * job->in_w;
            for (size_t j = 0; j < job->in_w; j++) {
                row[j] = from[j * plan->x_pixel];
            }
        }
    }
}

// Converts the planes of a row's windows to pixels in scratch memory.
static void fill_pixels(const windows_plan *plan, const uint8_t *const *plane, uint8_t *scratch)
{
    const taper_conv2d_i8 *job = plan->head.job;
    const size_t inside = taper_min_size(job->in_w, plan->pixels - job->pad_left);
    uint8_t *to = scratch;
    for (size_t q = 0; q < plan->quads; q++, to += plan->row_bytes) {
        taper_conv2d_i8_interleave(plan->vector, inside, plane + 4 * q, to + job->pad_left * 4);
    }
    uint8_t *line = scratch + plan->line_at;
    const uint8_t *const columns[4] = {line, line + 1, line + 2, line + 3};
    for (size_t i = plan->planes - plan->alone; i < plan->planes; i++, to += plan->row_bytes) {
        memcpy(line + job->pad_left, plane[i], inside);
        taper_conv2d_i8_interleave(plan->vector, plan->pixels, columns, to);
    }
}

// Computes `count` rows of the result, at most plan->rows, beginning with row `first`, into `out`.
static void make_rows(const windows_plan *plan, const taper_ring *x, size_t first, size_t count, uint8_t *out,
                      uint8_t *scratch)
{
    const taper_conv2d_i8 *job = plan->head.job;
    const uint8_t *taps[MOST_TAPS], **tap = taps, *plane[MOST_TAPS * 4 + 3];
    const int64_t top = (int64_t)(first * job->stride_h) - (int64_t)job->pad_top;
    for (size_t q = 0; q < plan->quads; q++) {
        for (size_t k = 0; k < job->kernel_w; k++) {
            *tap++ = scratch + q * plan->row_bytes + 4 * k;
        }
    }
    for (size_t i = 0; i < plan->alone; i++) {
        for (size_t k = 0; k < job->kernel_w; k += 4) {
            *tap++ = scratch + (plan->quads + i) * plan->row_bytes + 4 * k;
        }
    }
    memset(scratch, job->in_zero_point, plan->copies_at); // bytes that are not overwritten are padding
    if (plan->x_pixel != 1) {
        copy_rows(plan, x, top, count, scratch + plan->copies_at);
    }
    taper_gemm_i8 call = {
        .mr = job->out_w,
        .nc = job->out_c,
        .kc = 4,
        .ks = plan->taps,
        .a = taps,
        .w = plan->head.layer.weights,
        .c = out,
        .c_stride = job->out_c,
        .e = {.bias = plan->head.bias, .scale = plan->head.factor, .zero_point = job->zero_point, .min = job->min}};
    for (size_t r = 0; r < count; r++) {
        const uint8_t **to = plane;
        for (size_t k = 0; k < job->kernel_h; k++) {
            const size_t i = r * job->stride_h + k * job->dilation_h;
            const int64_t y = top + (int64_t)i;
            const bool inside = y >= 0 && y < (int64_t)job->in_h;
            for (size_t c = 0; c < job->in_c; c++) {
                *to++ = !inside              ? plan->head.padding
                        : plan->x_pixel != 1 ? scratch + plan->copies_at + (i * job->in_c + c) * job->in_w
                                             : (const uint8_t *)x->at + ((size_t)y - x->from) % x->ring * plan->x_row +
                                                   c * plan->x_channel;
            }
        }
        to[0] = to[1] = to[2] = plan->head.padding; // the planes that the last group lacks; their weights are zero
        fill_pixels(plan, plane, scratch);
        plan->entry->windows(&call, 4 * job->stride_w);
        call.c = (uint8_t *)call.c + job->out_w * job->out_c;
    }
}

// Computes bands [begin, end), numbered image * bands + band.
static void run_bands(void *argument, size_t begin, size_t end)
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
    // The cast removes the const of `head`, because run_plan allocates and frees the plan's scratch memory
    // (taper_places).
    windows_plan *plan = (windows_plan *)(uintptr_t)head;
    TAPER_TRY(begin_bands(&plan->head));
    const taper_status status =
        taper_run_range(head->job->call->run, run_bands, plan, head->job->batch * plan->bands, 1, head->work);
    end_bands(&plan->head);
    return status;
}

// ---- packing of weights, and the plan

static size_t place_of(const void *context, size_t channel)
{
    (void)context;
    return channel;
}

// Copies the weights of one output into the order of taps.
static void weights_of(const windows_plan *plan, const int8_t *from, int8_t *to)
{
    const taper_conv2d_i8 *job = plan->head.job;
    const taper_tensor *w = job->params.weight;
    const size_t together = plan->planes - plan->alone, quads = plan->quads * job->kernel_w;
    for (size_t i = 0; i < plan->taps * 4; i++) {
        const size_t tap = i / 4, k = i % 4, groups = (job->kernel_w + 3) / 4;
        const size_t p = tap < quads ? tap / job->kernel_w * 4 + k : together + (tap - quads) / groups;
        const size_t column = tap < quads ? tap % job->kernel_w : (tap - quads) % groups * 4 + k;
        to[i] = 0;
        if (p < (tap < quads ? together : plan->planes) && column < job->kernel_w) {
            to[i] = from[p / job->in_c * (size_t)w->strides[2] + p % job->in_c * (size_t)w->strides[1] +
                         column * (size_t)w->strides[3]];
        }
    }
}

static void fill_pack(const taper_pack_request *request, void *data)
{
    const windows_plan *plan = request->user;
    const taper_conv2d_i8 *job = plan->head.job;
    const taper_tensor *w = job->params.weight;
    const size_t nr = plan->entry->nr, each = plan->taps * 4;
    const taper_i8_layer layer = taper_i8_layer_of(data, plan->head.layer.places);
    int8_t weights[MOST_COLUMNS * MOST_TAPS * 4];
    taper_i8_fill_channels(&layer, w, job->params.bias, job->out_c, place_of, NULL);
    for (size_t n = 0; n < job->out_c; n += nr) {
        const taper_gemm_i8_pack pack = {.n = taper_min_size(nr, job->out_c - n),
                                         .ks = plan->taps,
                                         .kc = 4,
                                         .n_stride = each,
                                         .tap_stride = 4,
                                         .k_stride = 1,
                                         .weights = weights};
        for (size_t i = 0; i < pack.n; i++) {
            weights_of(plan, (const int8_t *)taper_tensor_data(w) + (n + i) * (size_t)w->strides[0],
                       weights + i * each);
        }
        taper_gemm_i8_pack_weights(plan->entry, &pack, layer.weights + n / nr * plan->panel_bytes, layer.sums + n);
    }
}

// Computes the bytes of scratch memory for `rows` rows. Returns false if they overflow.
static bool scratch_of(windows_plan *plan, size_t rows)
{
    const taper_conv2d_i8 *job = plan->head.job;
    size_t copies = 0;
    plan->rows = rows;
    plan->row_bytes = plan->pixels * 4;
    if (!taper_mul_size(plan->row_bytes, plan->quads + plan->alone, &plan->line_at) ||
        (plan->x_pixel != 1 &&
         (!taper_mul_size(input_rows(job, rows), job->in_c, &copies) || !taper_mul_size(copies, job->in_w, &copies)))) {
        return false;
    }
    const size_t most = (size_t)TAPER_LIMIT_TENSOR_BYTES / 2;
    plan->copies_at = plan->line_at + plan->pixels + 3;
    plan->scratch = plan->copies_at + copies + TAPER_OVERREAD;
    return plan->line_at < most / 2 && copies < most / 2 && plan->scratch <= most;
}

// Returns true if reading windows takes fewer multiplications than quantized_conv_dense.c. That file multiplies four
// bytes for every pixel under a kernel row, and none of its tiles repeats pixels at the end of a row. That file must
// also gather pointers, which costs about the time of two pixels in each kernel row.
static bool multiplies_little(const windows_plan *plan)
{
    enum { GATHERED = 2 };
    const taper_conv2d_i8 *job = plan->head.job;
    const double whole = (double)(((job->out_w - 1) / plan->entry->mr + 1) * plan->entry->mr);
    return (double)plan->taps * whole <=
           (double)job->kernel_h * (double)(job->kernel_w + GATHERED) * (double)job->out_w;
}

bool taper_conv2d_i8_is_windows(const taper_conv2d_i8 *job)
{
    windows_plan plan = {.head = {.job = job}, .entry = taper_gemm_i8_select(job->call->run->cpu)};
    if (!job->stem || plan.entry->windows == NULL || plan.entry->nr > MOST_COLUMNS || job->stride_w > 2 ||
        job->out_w < plan.entry->mr || job->kernel_h > MOST_TAPS || job->kernel_w > MOST_TAPS) {
        return false;
    }
    divide_planes(&plan);
    return plan.taps <= MOST_TAPS && multiplies_little(&plan);
}

taper_status taper_conv2d_i8_windows(taper_conv2d_i8 *job, const taper_tensor *x)
{
    const taper_gemm_i8_entry *entry = taper_gemm_i8_select(job->call->run->cpu);
    windows_plan plan = {.head = {.job = job, .run = run_plan, .bytes = sizeof plan, .shift = entry->shift},
                         .entry = entry,
                         .vector = taper_vector_u8_select(job->call->run->cpu),
                         .x_image = (size_t)x->strides[0],
                         .x_channel = (size_t)x->strides[1],
                         .x_row = (size_t)x->strides[2],
                         .x_pixel = (size_t)x->strides[3]};
    const size_t whole = taper_round_up(job->out_c, entry->nr);
    divide_planes(&plan);
    plan.group_bytes = taper_gemm_i8_packed_bytes(entry, job->out_c, plan.taps, 4);
    plan.panel_bytes = taper_gemm_i8_panel_bytes(entry, plan.taps, 4);
    // A row is as wide as the last window reaches, independent of the padding on the right.
    plan.pixels = (job->out_w - 1) * job->stride_w + job->kernel_w;
    size_t rows = taper_min_size(MOST_ROWS, job->out_h);
    while (scratch_of(&plan, rows) && plan.scratch > CACHED_BYTES && rows > 1) {
        rows = (rows + 1) / 2;
    }
    if (plan.group_bytes == 0 || taper_i8_layer_bytes(whole, plan.group_bytes) == 0 || !scratch_of(&plan, rows)) {
        return TAPER_DECLINED;
    }
    job->x = taper_tensor_data(x);
    plan.bands = (job->out_h - 1) / rows + 1;
    // Bands need dense images, because the other calls in the bands read the same rows as NHWC.
    if (job->batch == 1 || plan.x_image == job->in_h * job->in_w * job->in_c) {
        plan.head.rows = run_band;
        plan.head.begin = begin_bands;
        plan.head.end = end_bands;
    }
    plan.head.layer.places = whole;
    plan.head.padding_bytes = job->in_w + TAPER_OVERREAD;
    plan.head.name = entry->name;
    plan.head.flops = 2.0 * (double)(job->batch * job->out_h * job->out_w) * (double)job->out_c *
                      (double)(job->in_c * job->kernel_h * job->kernel_w);
    plan.head.work = taper_gemm_i8_work(entry, plan.head.flops);
    taper_pack_request request;
    taper_i8_pack_key(entry, job->params.weight, job->params.bias, &request);
    request.layout = "quantized convolution of windows in fours";
    request.kernel = entry->name;
    // Marks this layout of weights in the key, because quantized_conv_dense.c has another layout.
    request.numbers[1] = -1;
    request.bytes = taper_i8_layer_bytes(whole, plan.group_bytes);
    request.fill = fill_pack;
    request.user = &plan;
    return taper_conv2d_i8_do(&plan.head, &request);
}
