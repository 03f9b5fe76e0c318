// SPDX-License-Identifier: BSD-2-Clause
// Regions of interest. A region is a row of rois: sample, x1, y1, x2, y2. A rotated region has sample, centre x, centre
// y, width, height, angle in degrees. The position-sensitive operators (ps_) read a different channel for each bin.
#ifndef TAPER_OPS_VISION_ROI_H
#define TAPER_OPS_VISION_ROI_H

#include "base/single.h"
#include "ops/engine/volume.h"

enum { TAPER_ROI_UPRIGHT = 5, TAPER_ROI_ROTATED = 6 }; // numbers of columns of a region

typedef struct taper_roi_work {
    taper_volume x;
    const void *in, *regions;
    int64_t region_strides[2];
    // row_columns is region_columns, or one less if rois has no column for the sample. The sample is then 0.
    int64_t region_columns, row_columns;
    int64_t count, channels, high, wide; // sizes of the output: regions, channels, height, width
    int64_t out_strides[4];              // strides by region, channel, row and column
    double scale;
    taper_dtype dtype;
    bool single;
    bool positive; // true if regions of negative size are refused
    void *out;
    int32_t *map; // data of the second result, argmax or channel_mapping; NULL if the operator has none
} taper_roi_work;

typedef struct taper_roi_region {
    int64_t sample;
    double x1, y1, x2, y2; // corners, multiplied by the scale; for a rotated region, x2 and y2 are its width and height
    // For a rotated region, its centre and angle. x1 and y1 are then relative to the centre, along the region's own
    // axes.
    double centre_x, centre_y, sine, cosine;
} taper_roi_region;

static inline double taper_roi_step(const taper_roi_work *work, double value)
{
    return taper_step(work->single, value);
}

// Reads the arguments and makes the results. Arguments 0 and 1 are the input and rois; `at` is the scale, at + 1 and at
// + 2 are the pooled height and width. sensitive is set for position-sensitive operators. last is set if the channels
// are the last dimension of input and output. columns is the number of columns of rois: 5, or 6 for rotated
// regions. short_regions is set if rois may lack the first column, the index of the image in the batch, which is then
// 0.
TAPER_MUST_USE taper_status taper_roi_begin(taper_call *call, size_t at, bool sensitive, bool last, int64_t columns,
                                            bool short_regions, taper_roi_work *work);
TAPER_MUST_USE taper_status taper_roi_read(const taper_call *call, const taper_roi_work *work, int64_t k,
                                           taper_roi_region *region);
void taper_roi_store(const taper_roi_work *work, int64_t k, int64_t c, int64_t h, int64_t w, double value,
                     int64_t mapped);

#endif
