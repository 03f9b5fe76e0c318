// SPDX-License-Identifier: BSD-2-Clause
// Part of vision_roi_align.c: computes the samples of several bins at once, for float32 and one channel after the
// other.
#ifndef TAPER_OPS_VISION_VISION_ROI_PLANES_H
#define TAPER_OPS_VISION_VISION_ROI_PLANES_H

enum { PLACES = 1 << 10, TAPS = 1 << 10 };

typedef struct roi_place {
    int32_t near, far; // offsets of the two pixels of a sample along the axis, in elements
    float far_weight, near_weight;
    bool inside;
} roi_place;

typedef struct roi_float_tap {
    int32_t top, bottom, right; // offsets in elements; right: distance from a left pixel to its right neighbour
    float weight[4];
} roi_float_tap;

typedef struct roi_planes {
    roi_place places[2][PLACES]; // positions of all samples of a region, along y and along x
    roi_float_tap taps[TAPS];
    int32_t begins[TAPS + 1]; // begins[b] is the first tap of bin b; the taps end before begins[b + 1]
    const taper_roi_work *work;
    int64_t region, sample, first, bins; // the bins first to first + bins - 1 of the region are computed
    float samples;
    // sensitive: true for position-sensitive operators. together: true if each right neighbour is the next element.
    bool sensitive, together;
} roi_planes;

static void find_place(double at, int64_t size, int64_t stride, roi_place *place)
{
    at = at <= (double)size && at >= -1.0 ? at : -2.0;
    place->inside = at >= -1.0;
    at = at > 0.0 ? at : 0.0;
    const int64_t near = taper_min_i64((int64_t)at, size - 1), far = taper_min_i64(near + 1, size - 1);
    place->near = (int32_t)(near * stride);
    place->far = (int32_t)(far * stride);
    place->far_weight = near == size - 1 ? 0.0f : (float)(at - (double)near);
    place->near_weight = 1.0f - place->far_weight;
}

static void find_places(const taper_roi_work *work, double begin, double bin, int64_t bins, int64_t samples,
                        int64_t size, int64_t stride, roi_place *places)
{
    for (int64_t b = 0; b < bins; b++) {
        const double start = taper_roi_step(work, begin + taper_roi_step(work, (double)b * bin));
        for (int64_t i = 0; i < samples; i++) {
            const double inner = taper_roi_step(work, taper_roi_step(work, ((double)i + 0.5) * bin) / (double)samples);
            find_place(taper_roi_step(work, start + inner), size, stride, places++);
        }
    }
}

// Appends the taps of bin (h, w) to the first `count` taps and returns the new number of taps.
static int32_t find_float_taps(roi_planes *p, const int64_t grid[2], int64_t h, int64_t w, int32_t count)
{
    for (int64_t i = h * grid[0]; i < (h + 1) * grid[0]; i++) {
        const roi_place *const y = &p->places[0][i];
        for (int64_t j = w * grid[1]; j < (w + 1) * grid[1]; j++) {
            const roi_place *const x = &p->places[1][j];
            if (!y->inside || !x->inside) {
                continue;
            }
            p->taps[count++] = (roi_float_tap){y->near + x->near,
                                               y->far + x->near,
                                               x->far - x->near,
                                               {y->near_weight * x->near_weight, y->near_weight * x->far_weight,
                                                y->far_weight * x->near_weight, y->far_weight * x->far_weight}};
            p->together = p->together && x->far - x->near == 1;
        }
    }
    return count;
}

// Returns the sum of a bin, in torchvision's order: first the four pixels of each sample are added, then the samples.
static float sum_of_taps(const float *plane, const roi_float_tap *tap, const roi_float_tap *end, bool together)
{
    float sum = 0.0f;
    for (; together && tap < end; tap++) {
        const float *const top = plane + tap->top, *const bottom = plane + tap->bottom;
        sum +=
            top[0] * tap->weight[0] + top[1] * tap->weight[1] + bottom[0] * tap->weight[2] + bottom[1] * tap->weight[3];
    }
    for (; tap < end; tap++) {
        const float *const top = plane + tap->top, *const bottom = plane + tap->bottom;
        sum += top[0] * tap->weight[0] + top[tap->right] * tap->weight[1] + bottom[0] * tap->weight[2] +
               bottom[tap->right] * tap->weight[3];
    }
    return sum;
}

static void channels_range(void *argument, size_t begin, size_t end)
{
    const roi_planes *const p = argument;
    const taper_roi_work *work = p->work;
    const int64_t *strides = work->out_strides, all = work->high * work->wide, wide = work->wide;
    const int64_t bin_step = p->sensitive ? work->x.stride_c : 0;
    const float samples = p->samples;
    for (int64_t c = (int64_t)begin; c < (int64_t)end; c++) {
        const int64_t channel = p->sensitive ? c * all + p->first : c;
        const float *plane = (const float *)work->in + p->sample * work->x.stride_n + channel * work->x.stride_c;
        int64_t at = p->region * strides[0] + c * strides[1] + p->first / wide * strides[2], w = p->first % wide;
        at += w * strides[3];
        for (int64_t b = 0; b < p->bins; b++, plane += bin_step) {
            const float sum = sum_of_taps(plane, p->taps + p->begins[b], p->taps + p->begins[b + 1], p->together);
            ((float *)work->out)[at] = sum / samples;
            if (work->map != NULL) {
                work->map[at] = (int32_t)(p->sensitive ? channel + b : 0);
            }
            at += strides[3];
            if (++w == wide) {
                w = 0;
                at += strides[2] - wide * strides[3];
            }
        }
    }
}

// Returns true if align_planes can compute a region that has grid[0] by grid[1] samples per bin.
static bool has_planes(const taper_roi_work *work, const int64_t grid[2])
{
    const taper_volume *x = &work->x;
    return work->dtype == TAPER_F32 && !taper_volume_channels_inner(x) && work->region_columns == TAPER_ROI_UPRIGHT &&
           grid[0] > 0 && grid[1] > 0 && grid[0] <= PLACES / work->high && grid[1] <= PLACES / work->wide &&
           grid[0] * grid[1] <= TAPS && x->stride[1] >= 0 && x->stride[2] >= 0 && x->stride[1] <= INT32_MAX &&
           x->stride[2] <= INT32_MAX && x->size[1] <= INT32_MAX && x->size[2] <= INT32_MAX &&
           x->stride[1] * (x->size[1] - 1) + x->stride[2] * (x->size[2] - 1) <= INT32_MAX;
}

static taper_status align_planes(taper_run *run, void *room, const roi_task *task)
{
    roi_planes *const p = room;
    const taper_roi_region *const region = task->region;
    const int64_t *const grid = task->grid;
    const double *const bin = task->bin;
    p->work = task->work;
    p->region = task->number;
    p->samples = (float)task->samples;
    p->sensitive = task->sensitive;
    const taper_roi_work *work = p->work;
    const int64_t all = work->high * work->wide, at_once = TAPS / (grid[0] * grid[1]);
    p->sample = region->sample;
    find_places(work, region->y1, bin[0], work->high, grid[0], work->x.size[1], work->x.stride[1], p->places[0]);
    find_places(work, region->x1, bin[1], work->wide, grid[1], work->x.size[2], work->x.stride[2], p->places[1]);
    for (p->first = 0; p->first < all; p->first += p->bins) {
        p->bins = taper_min_i64(at_once, all - p->first);
        p->together = true;
        p->begins[0] = 0;
        for (int64_t b = 0; b < p->bins; b++) {
            p->begins[b + 1] =
                find_float_taps(p, grid, (p->first + b) / work->wide, (p->first + b) % work->wide, p->begins[b]);
        }
        TAPER_TRY(taper_run_floats(run, channels_range, p, (size_t)work->channels,
                                   (double)p->begins[p->bins] * 6 + (double)p->bins * 8));
    }
    return TAPER_OK;
}

// Returns the bytes of memory that align_planes needs, or 0 if it cannot compute this call.
static size_t planes_room(const taper_run *run, const taper_roi_work *work)
{
    return !run->portable && work->dtype == TAPER_F32 ? sizeof(roi_planes) : 0;
}

#endif
