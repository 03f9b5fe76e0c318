// SPDX-License-Identifier: BSD-2-Clause
// torchvision's region-of-interest pools, and the functions that they share with RoIAlign (vision_roi_align.c).
#include <float.h>
#include <math.h>

#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/engine/view_move.h"
#include "ops/kernels/kernel_select.h"
#include "ops/vision/vision_roi.h"

taper_status taper_roi_begin(taper_call *call, size_t at, bool sensitive, bool last, int64_t columns,
                             bool short_regions, taper_roi_work *work)
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

taper_status taper_roi_read(const taper_call *call, const taper_roi_work *work, int64_t k, taper_roi_region *region)
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
    const double scale = taper_roi_step(work, work->scale);
    region->sample = (int64_t)numbers[0];
    region->x1 = taper_roi_step(work, numbers[1] * scale);
    region->y1 = taper_roi_step(work, numbers[2] * scale);
    region->x2 = taper_roi_step(work, numbers[3] * scale);
    region->y2 = taper_roi_step(work, numbers[4] * scale);
    region->centre_x = region->x1;
    region->centre_y = region->y1;
    const double angle = numbers[5] * (3.14159265358979323846 / 180.0);
    region->sine = taper_roi_step(work, sin(angle));
    region->cosine = taper_roi_step(work, cos(angle));
    return taper_run_spend(call->run, 200);
}

void taper_roi_store(const taper_roi_work *work, int64_t k, int64_t c, int64_t h, int64_t w, double value,
                     int64_t mapped)
{
    const int64_t *strides = work->out_strides;
    const int64_t at = k * strides[0] + c * strides[1] + h * strides[2] + w * strides[3];
    taper_number_store(work->dtype, work->out, at, value);
    if (work->map != NULL) {
        work->map[at] = (int32_t)mapped;
    }
}

// ---- the greatest, or the mean, of the elements of a bin

static int64_t bounded(double value, int64_t most)
{
    return value > 0.0 ? (value < (double)most ? (int64_t)value : most) : 0;
}

// Finds the greatest float of a bin that is above *best. Returns its index in the plane, or -1. The loop has no branch,
// because the comparison cannot be predicted.
static int64_t greatest(const float *from, const int64_t edges[4], int64_t step_y, int64_t step_x, int64_t wide,
                        double *best)
{
    int64_t best_at = -1;
    float most = (float)*best;
    for (int64_t y = edges[0]; y < edges[1]; y++) {
        const float *row = from + y * step_y + edges[2] * step_x;
        int64_t at = y * wide + edges[2];
        const int64_t end = y * wide + edges[3];
        for (; at < end; at++, row += step_x) {
            const int64_t greater = -(int64_t)(*row > most);
            best_at = (at & greater) | (best_at & ~greater);
            most = *row > most ? *row : most;
        }
    }
    *best = (double)most;
    return best_at;
}

// Does what greatest does for all channels of a bin, and stores the results. The image has its channels innermost and
// `wide` pixels in a row.
static void greatest_channels(const taper_roi_work *work, const float *image, const int64_t edges[4], int64_t k,
                              int64_t h, int64_t w)
{
    enum { CHANNELS = 64 };
    const int64_t wide = work->x.size[2], *strides = work->out_strides;
    const bool empty = edges[1] <= edges[0] || edges[3] <= edges[2];
    for (int64_t c0 = 0; c0 < work->channels; c0 += CHANNELS) {
        const int64_t n = taper_min_i64(CHANNELS, work->channels - c0);
        float most[CHANNELS];
        int32_t where[CHANNELS];
        for (int64_t c = 0; c < n; c++) {
            most[c] = empty ? 0.0f : -FLT_MAX;
            where[c] = -1;
        }
        for (int64_t y = edges[0]; y < edges[1]; y++) {
            for (int64_t x = edges[2]; x < edges[3]; x++) {
                const float *pixel = image + (y * wide + x) * work->channels + c0;
                const int32_t at = (int32_t)(y * wide + x);
                for (int64_t c = 0; c < n; c++) {
                    // `here` is a mask, because compilers turn a conditional into a jump.
                    const int32_t here = -(int32_t)(pixel[c] > most[c]);
                    where[c] ^= (where[c] ^ at) & here;
                    most[c] = pixel[c] > most[c] ? pixel[c] : most[c];
                }
            }
        }
        const int64_t first = k * strides[0] + c0 * strides[1] + h * strides[2] + w * strides[3];
        for (int64_t c = 0; c < n; c++) {
            ((float *)work->out)[first + c * strides[1]] = most[c];
        }
        for (int64_t c = 0; c < n && work->map != NULL; c++) {
            work->map[first + c * strides[1]] = where[c];
        }
    }
}

#include "ops/vision/vision_roi_turned.h"

// Returns the sum of a bin of floats, in torchvision's order.
static double sum_of_bin(const float *from, const int64_t edges[4], int64_t step_y, int64_t step_x)
{
    float sum = 0.0f;
    for (int64_t y = edges[0]; y < edges[1]; y++) {
        const float *row = from + y * step_y;
        for (int64_t x = edges[2]; x < edges[3]; x++) {
            sum += row[x * step_x];
        }
    }
    return (double)sum;
}

static taper_status pool_regions(taper_call *call, bool sensitive, const taper_roi_work *given,
                                 const taper_tensor *turned)
{
    const taper_roi_work work = *given;
    const int64_t high = work.x.size[1], wide = work.x.size[2];
    // The greatest position at which a bin may begin or end.
    const int64_t most_y = sensitive ? high - 1 : high, most_x = sensitive ? wide - 1 : wide;
    for (int64_t k = 0; k < work.count; k++) {
        taper_roi_region region;
        TAPER_TRY(taper_roi_read(call, &work, k, &region));
        const double x1 = round(region.x1), y1 = round(region.y1), one = sensitive ? 0.0 : 1.0;
        const double region_high = round(region.y2) - y1 + one, region_wide = round(region.x2) - x1 + one;
        const double bin_y = taper_roi_step(&work, (region_high > 1.0 ? region_high : 1.0) / (double)work.high);
        const double bin_x = taper_roi_step(&work, (region_wide > 1.0 ? region_wide : 1.0) / (double)work.wide);
        for (int64_t h = 0; h < work.high; h++) {
            const int64_t top = bounded(floor(taper_roi_step(&work, (double)h * bin_y)) + y1, most_y);
            const int64_t bottom = bounded(ceil(taper_roi_step(&work, (double)(h + 1) * bin_y)) + y1, most_y);
            for (int64_t w = 0; w < work.wide; w++) {
                const int64_t left = bounded(floor(taper_roi_step(&work, (double)w * bin_x)) + x1, most_x);
                const int64_t right = bounded(ceil(taper_roi_step(&work, (double)(w + 1) * bin_x)) + x1, most_x);
                const bool empty = bottom <= top || right <= left;
                const int64_t edges[4] = {top, bottom, left, right};
                const uint64_t area = empty ? 0 : (uint64_t)((bottom - top) * (right - left));
                TAPER_TRY(taper_run_spend(call->run, (area + 5) * (uint64_t)work.channels / (turned != NULL ? 4 : 1)));
                if (turned != NULL) {
                    greatest_channels(&work,
                                      (const float *)taper_tensor_data(turned) +
                                          region.sample * work.x.size[1] * wide * work.channels,
                                      edges, k, h, w);
                    continue;
                }
                for (int64_t c = 0; c < work.channels; c++) {
                    const int64_t channel = sensitive ? (c * work.high + h) * work.wide + w : c;
                    const int64_t base = region.sample * work.x.stride_n + channel * work.x.stride_c;
                    double best = empty ? 0.0 : -(work.single ? 3.4028234663852886e38 : 1.7976931348623157e308),
                           sum = 0.0;
                    int64_t best_at = -1;
                    const bool floats = work.dtype == TAPER_F32;
                    if (floats && sensitive) {
                        sum = sum_of_bin((const float *)work.in + base, edges, work.x.stride[1], work.x.stride[2]);
                    } else if (floats) {
                        best_at = greatest((const float *)work.in + base, edges, work.x.stride[1], work.x.stride[2],
                                           wide, &best);
                    }
                    for (int64_t y = top; y < bottom && !floats; y++) {
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
                    taper_roi_store(&work, k, c, h, w, best, best_at);
                }
            }
        }
    }
    return TAPER_OK;
}

static taper_status pool(taper_call *call, bool sensitive)
{
    taper_roi_work work;
    taper_tensor *turned;
    TAPER_TRY(taper_roi_begin(call, 2, sensitive, false, TAPER_ROI_UPRIGHT, false, &work));
    TAPER_TRY(turn_channels(call, &work, sensitive, &turned));
    const taper_status status = pool_regions(call, sensitive, &work, turned);
    taper_tensor_drop(turned);
    return status;
}

TAPER_KERNEL(taper_op_roi_pool)
{
    return pool(call, false);
}

TAPER_KERNEL(taper_op_ps_roi_pool)
{
    return pool(call, true);
}
