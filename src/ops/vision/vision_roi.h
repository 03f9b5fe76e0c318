// SPDX-License-Identifier: BSD-2-Clause
// Regions of interest. A region is a row of rois: sample, x1, y1, x2, y2; rotated: sample, centre x, centre y, width,
// height, angle. The position-sensitive operators (ps_) read another channel for every bin.
#ifndef TAPER_OPS_VISION_ROI_H
#define TAPER_OPS_VISION_ROI_H

#include "base/single.h"
#include "ops/engine/volume.h"

enum { TAPER_ROI_UPRIGHT = 5, TAPER_ROI_ROTATED = 6 }; // columns of a region

typedef struct taper_roi_work {
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
} taper_roi_work;

typedef struct taper_roi_region {
    int64_t sample;
    double x1, y1, x2, y2; // scaled
    // Rotated: x1 and y1 are seen from the centre.
    double centre_x, centre_y, sine, cosine;
} taper_roi_region;

static inline double taper_roi_step(const taper_roi_work *work, double value)
{
    return taper_step(work->single, value);
}

// The arguments are the input, rois, what is ahead of `at`, the scale, the pooled height and width. last: the channels
// are the last size. columns: of regions.
TAPER_MUST_USE taper_status taper_roi_begin(taper_call *call, size_t at, bool sensitive, bool last, int64_t columns,
                                            bool short_regions, taper_roi_work *work);
TAPER_MUST_USE taper_status taper_roi_read(const taper_call *call, const taper_roi_work *work, int64_t k,
                                           taper_roi_region *region);
void taper_roi_store(const taper_roi_work *work, int64_t k, int64_t c, int64_t h, int64_t w, double value,
                     int64_t mapped);

#endif
