// SPDX-License-Identifier: BSD-2-Clause
// Convolutions of few channels, such as the first layer of image networks, as products that read overlapping windows
// instead of the copied rows of conv_stem.c. In a plane, the inputs of neighbouring pixels are one or two floats apart,
// which are constants in the kernel's addresses (windows of ops/kernels/gemm_f32.h). Some rows of each plane at a time
// are copied into scratch memory that fits in the cache, with zero padding at both ends.
#include "backends/cpu/conv_cpu.h"

#include "backends/cpu/conv_images.h"
#include "base/fetch.h"
#include "ops/engine/tiles.h"

enum { MOST_TAPS = 240, MOST_ROWS = 8, CACHED_BYTES = 65536 };

typedef struct windows_plan {
    taper_conv2d_plan head;
    const taper_gemm_entry *entry;
    const taper_vector_entry *vector;
    bool planes;                     // true if x is NCHW
    size_t rows, bands;              // number of result rows in a band; number of bands in an image
    size_t row_floats, plane_floats; // number of floats in scratch memory: of a padded row; of the rows of one channel
    size_t scratch;                  // number of bytes of scratch memory: a row of zeros and the planes
    taper_places places;
} windows_plan;

static size_t input_rows(const taper_conv2d *job, size_t rows)
{
    return (rows - 1) * job->stride_h + (job->kernel_h - 1) * job->dilation_h + 1;
}

// Copies row y of all channels of the image at x into scratch memory. `to` is the address for the first channel.
static void copy_row(const windows_plan *plan, const taper_ring *x, size_t y, float *to)
{
    const taper_conv2d *job = plan->head.job;
    const size_t width = job->in_w, channels = job->in_c, left = (size_t)job->pad_left;
    const float *from = (const float *)(const void *)x->at;
    for (size_t c = 0; c < channels; c++) {
        float *row = to + c * plan->plane_floats;
        memset(row, 0, left * sizeof *row);
        memset(row + left + width, 0, (plan->row_floats - left - width) * sizeof *row);
        if (plan->planes) {
            memcpy(row + left, from + (c * job->in_h + y) * width, width * sizeof *row);
        }
    }
    if (!plan->planes) {
        plan->vector->transpose(width, channels, from + (y - x->from) % x->ring * width * channels, channels, to + left,
                                plan->plane_floats);
    }
}

// Prefetches row y of all channels of an image.
static void fetch_row(const windows_plan *plan, const taper_ring *x, size_t y)
{
    const taper_conv2d *job = plan->head.job;
    const float *from = (const float *)(const void *)x->at;
    if (plan->planes) {
        for (size_t c = 0; c < job->in_c; c++) {
            taper_fetch(from + (c * job->in_h + y) * job->in_w, job->in_w * sizeof *from);
        }
    } else if (x->ring == SIZE_MAX) {
        taper_fetch(from + (y - x->from) * job->in_w * job->in_c, job->in_w * job->in_c * sizeof *from);
    }
}

// Computes `count` rows of the result, at most plan->rows, beginning with row `first`, into y.
static void run_rows(const windows_plan *plan, const taper_ring *x, size_t image, size_t first, size_t count, float *y,
                     float *scratch)
{
    const taper_conv2d *job = plan->head.job;
    const float *taps[MOST_TAPS];
    const size_t needed = input_rows(job, count), ks = job->in_c * job->kernel_h, row = job->out_w * job->out_c;
    const int64_t top = (int64_t)(first * job->stride_h) - job->pad_top;
    float *planes = scratch + plan->row_floats;
    memset(scratch, 0, plan->row_floats * sizeof *scratch);
    for (size_t i = 0; i < needed; i++) {
        const int64_t from = top + (int64_t)i;
        if (from >= 0 && from < (int64_t)job->in_h) {
            copy_row(plan, x, (size_t)from, planes + i * plan->row_floats);
        }
    }
    taper_gemm_epilogue e = {.min = job->epilogue.min, .max = job->epilogue.max, .add_stride = job->out_c};
    if (job->epilogue.add != NULL) {
        e.add = job->epilogue.add + (image * job->out_h + first) * row;
    }
    for (size_t r = 0; r < count; r++, y += row, e.add = e.add != NULL ? e.add + row : NULL) {
        for (size_t k = 0; k < job->kernel_h; k++) {
            const size_t i = r * job->stride_h + k * job->dilation_h;
            const int64_t from = top + (int64_t)i;
            const bool inside = from >= 0 && from < (int64_t)job->in_h;
            for (size_t c = 0; c < job->in_c; c++) {
                taps[c * job->kernel_h + k] = inside ? planes + c * plan->plane_floats + i * plan->row_floats : scratch;
            }
        }
        // Prefetches the rows of the next band during this product, because an image is usually not in the caches.
        for (size_t k = 0; k < job->stride_h; k++) {
            const int64_t next = top + (int64_t)(needed + r * job->stride_h + k);
            if (next >= 0 && next < (int64_t)job->in_h) {
                fetch_row(plan, x, (size_t)next);
            }
        }
        plan->entry->windows(job->out_w, job->out_c, job->kernel_w, ks, taps, job->stride_w, plan->head.packed, y,
                             job->out_c, &e);
        taper_epilogue_finish(&job->epilogue, 1, row, y, 0);
    }
}

// Computes bands [begin, end), numbered image * bands + band.
static void run_bands(void *argument, size_t begin, size_t end)
{
    const windows_plan *plan = argument;
    const taper_conv2d *job = plan->head.job;
    float *scratch = taper_place_take(&plan->places, begin, job->batch * plan->bands);
    const float *images = taper_tensor_data(job->args.input);
    for (; begin < end; begin++) {
        const size_t image = begin / plan->bands, first = begin % plan->bands * plan->rows;
        const taper_ring x = {(char *)(uintptr_t)(images + image * job->in_c * job->in_h * job->in_w), 0, SIZE_MAX};
        run_rows(plan, &x, image, first, taper_min_size(plan->rows, job->out_h - first),
                 job->y + (image * job->out_h + first) * job->out_w * job->out_c, scratch);
    }
    taper_place_leave(scratch);
}

static void run_band(const taper_conv2d_plan *head, const taper_band *band)
{
    const windows_plan *plan = (const windows_plan *)(const void *)head;
    float *scratch = taper_place_take(&plan->places, band->begin, head->job->out_h);
    const size_t row = head->job->out_w * head->job->out_c;
    float *y = (float *)(void *)band->y.at + (band->begin - band->y.from) % band->y.ring * row;
    for (size_t first = band->begin, count; first < band->end; first += count, y += count * row) {
        count = taper_min_size(plan->rows, band->end - first);
        run_rows(plan, &band->x, band->image, first, count, y, scratch);
    }
    taper_place_leave(scratch);
}

static taper_status begin_bands(taper_conv2d_plan *head)
{
    windows_plan *plan = (windows_plan *)(void *)head;
    const taper_run *run = head->job->call->run;
    return taper_places_open(run, plan->scratch, SIZE_MAX, &plan->places) ? TAPER_OK : taper_fail_memory(run->error);
}

static void end_bands(taper_conv2d_plan *head)
{
    windows_plan *plan = (windows_plan *)(void *)head;
    taper_places_close(head->job->call->run, &plan->places);
}

static taper_status run_plan(const taper_conv2d_plan *head)
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

static void fill_weights(const taper_pack_request *request, void *data)
{
    const taper_conv2d *job = request->user;
    const taper_gemm_entry *entry = request->kind;
    const taper_tensor *w = job->args.weight;
    const size_t ks = job->in_c * job->kernel_h;
    taper_conv2d_fold(job);
    // The taps of the product are channels and kernel rows, which are consecutive in OIHW weights.
    const taper_gemm_pack pack = {.n = job->out_c,
                                  .ks = ks,
                                  .kc = job->kernel_w,
                                  .n_stride = (size_t)w->strides[0],
                                  .tap_stride = (size_t)w->strides[2],
                                  .k_stride = (size_t)w->strides[3],
                                  .weights = taper_tensor_data(w),
                                  .scale = job->scale,
                                  .bias = taper_conv2d_bias(job)};
    taper_gemm_f32_pack(entry->nr, &pack, 0, (job->out_c + entry->nr - 1) / entry->nr, data);
}

// Computes the bytes of scratch memory for `rows` rows. Returns false if they overflow.
static bool scratch_of(windows_plan *plan, size_t rows)
{
    const taper_conv2d *job = plan->head.job;
    size_t floats;
    plan->rows = rows;
    if (!taper_mul_size(input_rows(job, rows), plan->row_floats, &plan->plane_floats) ||
        !taper_mul_size(plan->plane_floats, job->in_c, &floats) || floats > SIZE_MAX / 8 - plan->row_floats) {
        return false;
    }
    plan->scratch = (floats + plan->row_floats) * sizeof(float) + TAPER_OVERREAD;
    return plan->scratch <= (size_t)TAPER_LIMIT_TENSOR_BYTES / 2;
}

// Returns true if reading windows is faster than conv_stem.c. The last tile of a row repeats some pixels. conv_stem.c
// has no such edges, because its strips continue in the next row. The cost of the repeated pixels must be less than the
// cost of conv_stem.c's copies. The unit of both costs is one product for one output. A copy costs OF_A_ROW units for
// each kernel row of an output pixel, and OF_A_FLOAT units for each float of the window in this row. Both constants
// were measured with vectors of 16 floats.
static bool wastes_little(const taper_conv2d *job, const taper_gemm_entry *entry)
{
    enum { OF_A_ROW = 100, OF_A_FLOAT = 5, MEASURED_COLUMNS = 32 };
    const double under = (double)job->in_c * (double)job->kernel_w;
    const double again = (double)(((job->out_w - 1) / entry->mr + 1) * entry->mr - job->out_w);
    return again * under * (double)job->out_c * MEASURED_COLUMNS <=
           (double)job->out_w * (OF_A_ROW + OF_A_FLOAT * under) * (double)entry->nr;
}

bool taper_conv2d_is_windows(const taper_conv2d *job)
{
    const taper_gemm_entry *entry = taper_conv2d_entry(job, 1); // half-precision entries have no function for windows
    const taper_tensor *w = job->args.weight;
    return entry->windows != NULL && job->stride_w <= 2 && job->out_w >= entry->mr &&
           job->in_c * job->kernel_h <= MOST_TAPS && wastes_little(job, entry) &&
           (job->in_c == 1 || w->strides[1] == taper_wrap_mul((int64_t)job->kernel_h, w->strides[2]));
}

taper_status taper_conv2d_windows(taper_conv2d *job)
{
    const taper_run *run = job->call->run;
    windows_plan plan = {.head = {.job = job,
                                  .run = run_plan,
                                  .rows = run_band,
                                  .begin = begin_bands,
                                  .end = end_bands,
                                  .bytes = sizeof plan},
                         .entry = taper_gemm_f32_select(run->cpu),
                         .vector = taper_vector_f32_select(run->cpu),
                         .planes = !taper_tensor_is_channels_last(job->args.input)};
    const size_t pixels = job->batch * job->out_h * job->out_w, ks = job->in_c * job->kernel_h;
    plan.head.name = plan.entry->name;
    plan.head.flops = 2.0 * (double)pixels * (double)job->out_c * (double)(ks * job->kernel_w);
    plan.head.work = taper_gemm_work(plan.entry, plan.head.flops, 0);
    // A row is as wide as the last window reaches, independent of the padding on the right.
    const size_t reach = (job->out_w - 1) * job->stride_w + job->kernel_w;
    plan.row_floats = taper_max_size(reach, (size_t)job->pad_left + job->in_w);
    const size_t packed = taper_gemm_f32_packed_count(plan.entry->nr, job->out_c, ks, job->kernel_w);
    size_t rows = taper_min_size(MOST_ROWS, job->out_h);
    while (scratch_of(&plan, rows) && plan.scratch > CACHED_BYTES && rows > 1) {
        rows = (rows + 1) / 2;
    }
    if (packed == 0 || !scratch_of(&plan, rows)) {
        return TAPER_DECLINED;
    }
    plan.bands = (job->out_h - 1) / rows + 1;
    taper_pack_request request;
    taper_conv2d_pack_key(job, plan.entry, &request);
    request.layout = "convolution of windows";
    request.kernel = plan.entry->name;
    // Marks this layout of weights in the key, because conv_dense.c and conv_stem.c have other layouts.
    request.numbers[3] = 2;
    request.bytes = packed * sizeof(float);
    request.fill = fill_weights;
    return taper_conv2d_do(&plan.head, &request);
}
