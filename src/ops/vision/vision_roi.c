// SPDX-License-Identifier: BSD-2-Clause
// torchvision's region-of-interest pools, and Caffe2's RoIAlign. A region is a row of rois: sample, x1, y1, x2, y2;
// rotated: sample, centre x, centre y, width, height, angle. The position-sensitive ones (ps_) read another channel for
// every bin.
#include <math.h>

#include "ops/engine/volume.h"
#include "ops/list/kernels.h"

enum { MOST_SAMPLES = 1 << 20 };   // of a bin along one axis: only absurd regions have more
enum { UPRIGHT = 5, ROTATED = 6 }; // columns of a region

typedef struct roi_work {
    taper_volume x;
    const void *in, *regions;
    int64_t region_strides[2];
    int64_t region_columns, row_columns; // row_columns may be one less: without the sample, which is the first
    int64_t count, channels, high, wide; // of the output
    int64_t out_strides[4];              // of region, channel, row, column
    double scale;
    taper_dtype dtype;
    bool single;
    bool positive; // regions of negative size are refused
    void *out;
    int32_t *map; // argmax or channel_mapping, NULL without
} roi_work;

typedef struct roi_region {
    int64_t sample;
    double x1, y1, x2, y2; // scaled
    // Rotated: x1 and y1 are seen from the centre.
    double centre_x, centre_y, sine, cosine;
} roi_region;

static inline double step(const roi_work *work, double value)
{
    return work->single ? (double)(float)value : value;
}

// The arguments are the input, rois, what is ahead of `at`, the scale, the pooled height and width. last: the channels
// are the last size. columns: of regions.
static taper_status roi_begin(taper_call *call, size_t at, bool sensitive, bool last, int64_t columns,
                              bool short_regions, roi_work *work)
{
    taper_error *error = call->run->error;
    taper_tensor *x, *rois, *y, *map;
    memset(work, 0, sizeof *work);
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &rois));
    TAPER_TRY(taper_arg_double(call, at, &work->scale));
    TAPER_TRY(taper_arg_int(call, at + 1, &work->high));
    TAPER_TRY(taper_arg_int(call, at + 2, &work->wide));
    TAPER_TRY(taper_volume_check(call, x, 2, false));
    if (rois->rank != 2 || (rois->sizes[1] != columns && !(short_regions && rois->sizes[1] == columns - 1))) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "rois must have the sizes K, %lld%s", (long long)columns,
                   short_regions ? ", or one column less" : "");
    }
    if (!taper_dtype_is_float((taper_dtype)x->dtype) || rois->dtype != x->dtype) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the input and rois must be floating-point tensors of the same dtype");
    }
    if (work->high < 1 || work->wide < 1 || work->high > INT32_MAX || work->wide > INT32_MAX) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the pooled size must be positive, but is %lld, %lld",
                   (long long)work->high, (long long)work->wide);
    }
    work->x = taper_volume_of(x, 2);
    if (last) {
        work->x.c = x->sizes[3];
        work->x.stride_c = x->strides[3];
        for (int i = 1; i < 3; i++) {
            work->x.size[i] = x->sizes[i];
            work->x.stride[i] = x->strides[i];
        }
    }
    work->count = rois->sizes[0];
    work->region_columns = columns;
    work->row_columns = rois->sizes[1];
    work->channels = work->x.c;
    if (sensitive) {
        if (work->x.c % (work->high * work->wide) != 0) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                       "the input's channels must be a multiple of the pooled height times width");
        }
        work->channels = work->x.c / (work->high * work->wide);
    }
    work->dtype = (taper_dtype)x->dtype;
    work->single = work->dtype != TAPER_F64;
    const int64_t sizes[4] = {work->count, last ? work->high : work->channels, last ? work->wide : work->high,
                              last ? work->channels : work->wide};
    TAPER_TRY(taper_ret_new(call, 0, work->dtype, 4, sizes, NULL, &y));
    static const int places[2][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}};
    for (int i = 0; i < 4; i++) {
        work->out_strides[i] = y->strides[places[last][i]];
    }
    if (call->ret_count > 1) {
        TAPER_TRY(taper_ret_new(call, 1, TAPER_I32, 4, sizes, NULL, &map));
        work->map = taper_tensor_mutable(map);
    }
    work->in = taper_tensor_data(x);
    work->regions = taper_tensor_data(rois);
    work->region_strides[0] = rois->strides[0];
    work->region_strides[1] = rois->strides[1];
    work->out = taper_tensor_mutable(y);
    return TAPER_OK;
}

static taper_status roi_read(const taper_call *call, const roi_work *work, int64_t k, roi_region *region)
{
    double numbers[6] = {0};
    for (int64_t i = 0, first = work->region_columns - work->row_columns; i < work->row_columns; i++) {
        numbers[first + i] =
            taper_number_load(work->dtype, work->regions, k * work->region_strides[0] + i * work->region_strides[1]);
    }
    if (!(numbers[0] > -1.0 && numbers[0] < (double)work->x.n)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "region %lld is of sample %g, but there are %lld",
                   (long long)k, numbers[0], (long long)work->x.n);
    }
    const double scale = step(work, work->scale);
    region->sample = (int64_t)numbers[0];
    region->x1 = step(work, numbers[1] * scale);
    region->y1 = step(work, numbers[2] * scale);
    region->x2 = step(work, numbers[3] * scale);
    region->y2 = step(work, numbers[4] * scale);
    region->centre_x = region->x1;
    region->centre_y = region->y1;
    const double angle = numbers[5] * (3.14159265358979323846 / 180.0);
    region->sine = step(work, sin(angle));
    region->cosine = step(work, cos(angle));
    return taper_run_spend(call->run, 200);
}

static void store(const roi_work *work, int64_t k, int64_t c, int64_t h, int64_t w, double value, int64_t mapped)
{
    const int64_t *strides = work->out_strides;
    const int64_t at = k * strides[0] + c * strides[1] + h * strides[2] + w * strides[3];
    taper_number_store(work->dtype, work->out, at, value);
    if (work->map != NULL) {
        work->map[at] = (int32_t)mapped;
    }
}

// ---- averages of interpolated samples

typedef struct roi_tap {
    int64_t offset[4];
    double weight[4];
} roi_tap;

// False where the position lies outside, and counts as 0.
static bool find_tap(const roi_work *work, double y, double x, roi_tap *tap)
{
    const int64_t high = work->x.size[1], wide = work->x.size[2];
    if (!(y >= -1.0 && y <= (double)high && x >= -1.0 && x <= (double)wide)) {
        return false;
    }
    y = y > 0.0 ? y : 0.0;
    x = x > 0.0 ? x : 0.0;
    int64_t y0 = (int64_t)y, x0 = (int64_t)x, y1 = y0 + 1, x1 = x0 + 1;
    if (y0 >= high - 1) {
        y0 = y1 = high - 1;
        y = (double)y0;
    }
    if (x0 >= wide - 1) {
        x0 = x1 = wide - 1;
        x = (double)x0;
    }
    const double ly = step(work, y - (double)y0), lx = step(work, x - (double)x0);
    const double hy = step(work, 1.0 - ly), hx = step(work, 1.0 - lx);
    const int64_t sy = work->x.stride[1], sx = work->x.stride[2];
    *tap = (roi_tap){.offset = {y0 * sy + x0 * sx, y0 * sy + x1 * sx, y1 * sy + x0 * sx, y1 * sy + x1 * sx},
                     .weight = {step(work, hy * hx), step(work, hy * lx), step(work, ly * hx), step(work, ly * lx)}};
    return true;
}

// How many samples a bin takes along an axis of the region; a region of negative size has a negative number.
static taper_status samples_of(const taper_call *call, double size, int64_t bins, int64_t ratio, int64_t *samples)
{
    const double want = ratio > 0 ? (double)ratio : ceil(size / (double)bins);
    if (!(fabs(want) < (double)MOST_SAMPLES)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "a region is too large");
    }
    *samples = (int64_t)want;
    return TAPER_OK;
}

// Adds the samples of one bin for channels first, first + 1, …
static taper_status sample_bin(taper_run *run, const roi_work *work, const roi_region *region, const int64_t grid[2],
                               const double bin[2], int64_t h, int64_t w, int64_t first, int64_t channels, double *sums)
{
    const int64_t base = region->sample * work->x.stride_n + first * work->x.stride_c;
    memset(sums, 0, (size_t)channels * sizeof *sums);
    for (int64_t i = 0; i < grid[0]; i++) {
        const double inner_y = step(work, step(work, ((double)i + 0.5) * bin[0]) / (double)grid[0]);
        const double y = step(work, step(work, region->y1 + step(work, (double)h * bin[0])) + inner_y);
        for (int64_t j = 0; j < grid[1]; j++) {
            const double inner_x = step(work, step(work, ((double)j + 0.5) * bin[1]) / (double)grid[1]);
            const double x = step(work, step(work, region->x1 + step(work, (double)w * bin[1])) + inner_x);
            TAPER_TRY(taper_run_spend(run, (uint64_t)channels * 8 + 50));
            roi_tap tap;
            const bool turned = work->region_columns == ROTATED;
            const double turned_y = turned ? step(work, y * region->cosine - x * region->sine + region->centre_y) : y;
            const double turned_x = turned ? step(work, x * region->cosine + y * region->sine + region->centre_x) : x;
            if (!find_tap(work, turned_y, turned_x, &tap)) {
                continue;
            }
            for (int64_t c = 0; c < channels; c++) {
                const int64_t at = base + c * work->x.stride_c;
                if (work->dtype == TAPER_F32) {
                    const float *in = (const float *)work->in + at;
                    sums[c] += tap.weight[0] * (double)in[tap.offset[0]] + tap.weight[1] * (double)in[tap.offset[1]] +
                               tap.weight[2] * (double)in[tap.offset[2]] + tap.weight[3] * (double)in[tap.offset[3]];
                    continue;
                }
                for (int t = 0; t < 4; t++) {
                    sums[c] += tap.weight[t] * taper_number_load(work->dtype, work->in, at + tap.offset[t]);
                }
            }
        }
    }
    return TAPER_OK;
}

static taper_status align(taper_call *call, roi_work work, bool sensitive, bool aligned, int64_t ratio)
{
    const int64_t channels = sensitive ? 1 : work.x.c;
    size_t bytes;
    if (!taper_mul_size((size_t)channels, sizeof(double), &bytes)) {
        return taper_fail_memory(call->run->error);
    }
    double *sums = taper_heap_alloc(call->run->heap, bytes);
    if (sums == NULL) {
        return taper_fail_memory(call->run->error);
    }
    taper_status status = TAPER_OK;
    for (int64_t k = 0; k < work.count && status == TAPER_OK; k++) {
        roi_region region;
        int64_t grid[2] = {0, 0};
        status = roi_read(call, &work, k, &region);
        if (status != TAPER_OK) {
            break;
        }
        const bool turned = work.region_columns == ROTATED;
        double size[2] = {region.y2, region.x2};
        if (turned) {
            region.centre_x = step(&work, region.centre_x - (aligned ? 0.5 : 0.0));
            region.centre_y = step(&work, region.centre_y - (aligned ? 0.5 : 0.0));
        } else {
            if (aligned) {
                region.x1 = step(&work, region.x1 - 0.5);
                region.y1 = step(&work, region.y1 - 0.5);
                region.x2 = step(&work, region.x2 - 0.5);
                region.y2 = step(&work, region.y2 - 0.5);
            }
            size[0] = step(&work, region.y2 - region.y1);
            size[1] = step(&work, region.x2 - region.x1);
        }
        if (work.positive && aligned && !(size[0] >= 0.0 && size[1] >= 0.0)) {
            status = taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "rois: region %lld has a negative size",
                                (long long)k);
            break;
        }
        if (!aligned) { // regions are at least one element large
            size[0] = size[0] > 1.0 ? size[0] : 1.0;
            size[1] = size[1] > 1.0 ? size[1] : 1.0;
        }
        if (turned) {
            region.y1 = -size[0] / 2.0;
            region.x1 = -size[1] / 2.0;
        }
        const double bin[2] = {step(&work, size[0] / (double)work.high), step(&work, size[1] / (double)work.wide)};
        status = samples_of(call, size[0], work.high, ratio, &grid[0]);
        if (status == TAPER_OK) {
            status = samples_of(call, size[1], work.wide, ratio, &grid[1]);
        }
        if (status != TAPER_OK) {
            break;
        }
        double samples = (double)(grid[0] * grid[1]);
        samples = samples < 1.0 && !sensitive ? 1.0 : samples;
        for (int64_t h = 0; h < work.high && status == TAPER_OK; h++) {
            for (int64_t w = 0; w < work.wide && status == TAPER_OK; w++) {
                for (int64_t c = 0; c < (sensitive ? work.channels : 1); c++) {
                    const int64_t first = sensitive ? (c * work.high + h) * work.wide + w : 0;
                    status = sample_bin(call->run, &work, &region, grid, bin, h, w, first, channels, sums);
                    if (status != TAPER_OK) {
                        break;
                    }
                    for (int64_t i = 0; i < channels; i++) {
                        store(&work, k, c + i, h, w, sums[i] / samples, first);
                    }
                }
            }
        }
    }
    taper_heap_free(call->run->heap, sums, bytes);
    return status;
}

taper_status taper_op_roi_align(taper_call *call)
{
    int64_t ratio;
    bool aligned;
    TAPER_TRY(taper_arg_int(call, 5, &ratio));
    TAPER_TRY(taper_arg_bool(call, 6, &aligned));
    roi_work work;
    TAPER_TRY(roi_begin(call, 2, false, false, UPRIGHT, false, &work));
    return align(call, work, false, aligned, ratio);
}

static taper_status caffe2_align(taper_call *call, int64_t columns)
{
    const taper_string *order;
    int64_t ratio;
    bool aligned;
    TAPER_TRY(taper_arg_string(call, 2, &order));
    TAPER_TRY(taper_arg_int(call, 6, &ratio));
    TAPER_TRY(taper_arg_bool(call, 7, &aligned));
    const bool last = strcmp(order->data, "NHWC") == 0;
    if (!last && strcmp(order->data, "NCHW") != 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "order must be NCHW or NHWC");
    }
    roi_work work;
    TAPER_TRY(roi_begin(call, 3, false, last, columns, true, &work));
    work.positive = true;
    return align(call, work, false, aligned, ratio);
}

taper_status taper_op_caffe2_roi_align(taper_call *call)
{
    return caffe2_align(call, UPRIGHT);
}

taper_status taper_op_caffe2_roi_align_rotated(taper_call *call)
{
    return caffe2_align(call, ROTATED);
}

taper_status taper_op_ps_roi_align(taper_call *call)
{
    int64_t ratio;
    TAPER_TRY(taper_arg_int(call, 5, &ratio));
    roi_work work;
    TAPER_TRY(roi_begin(call, 2, true, false, UPRIGHT, false, &work));
    return align(call, work, true, true, ratio);
}

// ---- the greatest, or the mean, of the elements of a bin

static int64_t bounded(double value, int64_t most)
{
    return value > 0.0 ? (value < (double)most ? (int64_t)value : most) : 0;
}

static taper_status pool(taper_call *call, bool sensitive)
{
    roi_work work;
    TAPER_TRY(roi_begin(call, 2, sensitive, false, UPRIGHT, false, &work));
    const int64_t high = work.x.size[1], wide = work.x.size[2];
    // The last position where a bin can begin or end.
    const int64_t most_y = sensitive ? high - 1 : high, most_x = sensitive ? wide - 1 : wide;
    for (int64_t k = 0; k < work.count; k++) {
        roi_region region;
        TAPER_TRY(roi_read(call, &work, k, &region));
        const double x1 = round(region.x1), y1 = round(region.y1), one = sensitive ? 0.0 : 1.0;
        const double region_high = round(region.y2) - y1 + one, region_wide = round(region.x2) - x1 + one;
        const double bin_y = step(&work, (region_high > 1.0 ? region_high : 1.0) / (double)work.high);
        const double bin_x = step(&work, (region_wide > 1.0 ? region_wide : 1.0) / (double)work.wide);
        for (int64_t h = 0; h < work.high; h++) {
            const int64_t top = bounded(floor(step(&work, (double)h * bin_y)) + y1, most_y);
            const int64_t bottom = bounded(ceil(step(&work, (double)(h + 1) * bin_y)) + y1, most_y);
            for (int64_t w = 0; w < work.wide; w++) {
                const int64_t left = bounded(floor(step(&work, (double)w * bin_x)) + x1, most_x);
                const int64_t right = bounded(ceil(step(&work, (double)(w + 1) * bin_x)) + x1, most_x);
                const bool empty = bottom <= top || right <= left;
                for (int64_t c = 0; c < work.channels; c++) {
                    const int64_t channel = sensitive ? (c * work.high + h) * work.wide + w : c;
                    const int64_t base = region.sample * work.x.stride_n + channel * work.x.stride_c;
                    double best = empty ? 0.0 : -(work.single ? 3.4028234663852886e38 : 1.7976931348623157e308),
                           sum = 0.0;
                    int64_t best_at = -1;
                    for (int64_t y = top; y < bottom; y++) {
                        for (int64_t x = left; x < right; x++) {
                            const double v = taper_number_load(work.dtype, work.in,
                                                               base + y * work.x.stride[1] + x * work.x.stride[2]);
                            sum += v;
                            if (v > best) {
                                best = v;
                                best_at = y * wide + x;
                            }
                        }
                    }
                    if (sensitive) {
                        best = empty ? 0.0 : sum / (double)((bottom - top) * (right - left));
                        best_at = channel;
                    }
                    store(&work, k, c, h, w, best, best_at);
                }
            }
        }
    }
    return TAPER_OK;
}

taper_status taper_op_roi_pool(taper_call *call)
{
    return pool(call, false);
}

taper_status taper_op_ps_roi_pool(taper_call *call)
{
    return pool(call, true);
}
