// SPDX-License-Identifier: BSD-2-Clause
// RoIAlign of torchvision and of Caffe2: each bin of a region is the average of interpolated samples.
#include <math.h>

#include "base/checked.h"
#include "ops/call/call.h"
#include "ops/call/parallel.h"
#include "ops/vision/vision_roi.h"

// Largest number of samples in a bin along one axis; only absurd regions would have more.
enum { MOST_SAMPLES = 1 << 20 };

typedef struct roi_tap {
    int64_t offset[4];
    double weight[4];
} roi_tap;

// Sets *tap to the four elements around the position, and their weights. Returns false if the position is outside, so
// that the sample counts as 0.
static bool find_tap(const taper_roi_work *work, double y, double x, roi_tap *tap)
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
    const double ly = taper_roi_step(work, y - (double)y0), lx = taper_roi_step(work, x - (double)x0);
    const double hy = taper_roi_step(work, 1.0 - ly), hx = taper_roi_step(work, 1.0 - lx);
    const int64_t sy = work->x.stride[1], sx = work->x.stride[2];
    *tap = (roi_tap){.offset = {y0 * sy + x0 * sx, y0 * sy + x1 * sx, y1 * sy + x0 * sx, y1 * sy + x1 * sx},
                     .weight = {taper_roi_step(work, hy * hx), taper_roi_step(work, hy * lx),
                                taper_roi_step(work, ly * hx), taper_roi_step(work, ly * lx)}};
    return true;
}

// Sets *samples to the number of samples in a bin along one axis. The number is negative if the size of the region is
// negative.
static taper_status samples_of(const taper_call *call, double size, int64_t bins, int64_t ratio, int64_t *samples)
{
    const double want = ratio > 0 ? (double)ratio : ceil(size / (double)bins);
    if (!(fabs(want) < (double)MOST_SAMPLES)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "a region is too large");
    }
    *samples = (int64_t)want;
    return TAPER_OK;
}

// Sets sums to the sums of one bin's samples, for `channels` channels from first on.
static taper_status sample_bin(taper_run *run, const taper_roi_work *work, const taper_roi_region *region,
                               const int64_t grid[2], const double bin[2], int64_t h, int64_t w, int64_t first,
                               int64_t channels, double *sums)
{
    const int64_t base = region->sample * work->x.stride_n + first * work->x.stride_c;
    memset(sums, 0, (size_t)channels * sizeof *sums);
    for (int64_t i = 0; i < grid[0]; i++) {
        const double inner_y = taper_roi_step(work, taper_roi_step(work, ((double)i + 0.5) * bin[0]) / (double)grid[0]);
        const double y =
            taper_roi_step(work, taper_roi_step(work, region->y1 + taper_roi_step(work, (double)h * bin[0])) + inner_y);
        for (int64_t j = 0; j < grid[1]; j++) {
            const double inner_x =
                taper_roi_step(work, taper_roi_step(work, ((double)j + 0.5) * bin[1]) / (double)grid[1]);
            const double x = taper_roi_step(
                work, taper_roi_step(work, region->x1 + taper_roi_step(work, (double)w * bin[1])) + inner_x);
            TAPER_TRY(taper_run_spend(run, (uint64_t)channels * 8 + 50));
            roi_tap tap;
            const bool turned = work->region_columns == TAPER_ROI_ROTATED;
            const double turned_y =
                turned ? taper_roi_step(work, y * region->cosine - x * region->sine + region->centre_y) : y;
            const double turned_x =
                turned ? taper_roi_step(work, x * region->cosine + y * region->sine + region->centre_x) : x;
            if (!find_tap(work, turned_y, turned_x, &tap)) {
                continue;
            }
            for (int64_t c = 0; c < channels; c++) {
                const int64_t at = base + c * work->x.stride_c;
                if (work->dtype == TAPER_F32) { // weights and sums are floats, as in torchvision
                    const float *in = (const float *)work->in + at;
                    const float sample =
                        (float)tap.weight[0] * in[tap.offset[0]] + (float)tap.weight[1] * in[tap.offset[1]] +
                        (float)tap.weight[2] * in[tap.offset[2]] + (float)tap.weight[3] * in[tap.offset[3]];
                    sums[c] = (double)((float)sums[c] + sample);
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

// The arguments of align_planes: one region and its sampling.
typedef struct roi_task {
    const taper_roi_work *work;
    const taper_roi_region *region;
    int64_t number;
    double samples;
    bool sensitive;
    const int64_t *grid;
    const double *bin;
} roi_task;

#include "ops/vision/vision_roi_planes.h"

static taper_status align(taper_call *call, taper_roi_work work, bool sensitive, bool aligned, int64_t ratio)
{
    const int64_t channels = sensitive ? 1 : work.x.c;
    size_t bytes;
    const size_t room = planes_room(call->run, &work);
    if (!taper_mul_size((size_t)channels, sizeof(double), &bytes) || !taper_add_size(bytes, room, &bytes)) {
        return taper_fail_memory(call->run->error);
    }
    void *block = taper_heap_alloc(call->run->heap, bytes);
    if (block == NULL) {
        return taper_fail_memory(call->run->error);
    }
    double *const sums = (double *)(void *)((char *)block + room);
    taper_status status = TAPER_OK;
    for (int64_t k = 0; k < work.count && status == TAPER_OK; k++) {
        taper_roi_region region;
        int64_t grid[2] = {0, 0};
        status = taper_roi_read(call, &work, k, &region);
        if (status != TAPER_OK) {
            break;
        }
        const bool turned = work.region_columns == TAPER_ROI_ROTATED;
        double size[2] = {region.y2, region.x2};
        if (turned) {
            region.centre_x = taper_roi_step(&work, region.centre_x - (aligned ? 0.5 : 0.0));
            region.centre_y = taper_roi_step(&work, region.centre_y - (aligned ? 0.5 : 0.0));
        } else {
            if (aligned) {
                region.x1 = taper_roi_step(&work, region.x1 - 0.5);
                region.y1 = taper_roi_step(&work, region.y1 - 0.5);
                region.x2 = taper_roi_step(&work, region.x2 - 0.5);
                region.y2 = taper_roi_step(&work, region.y2 - 0.5);
            }
            size[0] = taper_roi_step(&work, region.y2 - region.y1);
            size[1] = taper_roi_step(&work, region.x2 - region.x1);
        }
        if (work.positive && aligned && !(size[0] >= 0.0 && size[1] >= 0.0)) {
            status = taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "rois: region %lld has a negative size",
                                (long long)k);
            break;
        }
        if (!aligned) { // each side of a region is at least one element
            size[0] = size[0] > 1.0 ? size[0] : 1.0;
            size[1] = size[1] > 1.0 ? size[1] : 1.0;
        }
        if (turned) {
            region.y1 = -size[0] / 2.0;
            region.x1 = -size[1] / 2.0;
        }
        const double bin[2] = {taper_roi_step(&work, size[0] / (double)work.high),
                               taper_roi_step(&work, size[1] / (double)work.wide)};
        status = samples_of(call, size[0], work.high, ratio, &grid[0]);
        if (status == TAPER_OK) {
            status = samples_of(call, size[1], work.wide, ratio, &grid[1]);
        }
        if (status != TAPER_OK) {
            break;
        }
        double samples = (double)(grid[0] * grid[1]);
        samples = samples < 1.0 && !sensitive ? 1.0 : samples;
        if (room != 0 && has_planes(&work, grid)) {
            const roi_task task = {&work, &region, k, samples, sensitive, grid, bin};
            status = align_planes(call->run, block, &task);
            continue;
        }
        for (int64_t h = 0; h < work.high && status == TAPER_OK; h++) {
            for (int64_t w = 0; w < work.wide && status == TAPER_OK; w++) {
                for (int64_t c = 0; c < (sensitive ? work.channels : 1); c++) {
                    const int64_t first = sensitive ? (c * work.high + h) * work.wide + w : 0;
                    status = sample_bin(call->run, &work, &region, grid, bin, h, w, first, channels, sums);
                    if (status != TAPER_OK) {
                        break;
                    }
                    for (int64_t i = 0; i < channels; i++) {
                        taper_roi_store(&work, k, c + i, h, w, sums[i] / samples, first);
                    }
                }
            }
        }
    }
    taper_heap_free(call->run->heap, block, bytes);
    return status;
}

TAPER_KERNEL(taper_op_roi_align)
{
    int64_t ratio;
    bool aligned;
    TAPER_TRY(taper_arg_int(call, 5, &ratio));
    TAPER_TRY(taper_arg_bool(call, 6, &aligned));
    taper_roi_work work;
    TAPER_TRY(taper_roi_begin(call, 2, false, false, TAPER_ROI_UPRIGHT, false, &work));
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
    taper_roi_work work;
    TAPER_TRY(taper_roi_begin(call, 3, false, last, columns, true, &work));
    work.positive = true;
    return align(call, work, false, aligned, ratio);
}

TAPER_KERNEL(taper_op_caffe2_roi_align)
{
    return caffe2_align(call, TAPER_ROI_UPRIGHT);
}

TAPER_KERNEL(taper_op_caffe2_roi_align_rotated)
{
    return caffe2_align(call, TAPER_ROI_ROTATED);
}

TAPER_KERNEL(taper_op_ps_roi_align)
{
    int64_t ratio;
    TAPER_TRY(taper_arg_int(call, 5, &ratio));
    taper_roi_work work;
    TAPER_TRY(taper_roi_begin(call, 2, true, false, TAPER_ROI_UPRIGHT, false, &work));
    return align(call, work, true, true, ratio);
}
