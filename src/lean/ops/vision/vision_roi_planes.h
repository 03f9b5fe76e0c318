// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/vision/vision_roi_planes.h in small builds, which omit its code.
#ifndef TAPER_OPS_VISION_VISION_ROI_PLANES_H
#define TAPER_OPS_VISION_VISION_ROI_PLANES_H

static inline bool has_planes(const taper_roi_work *work, const int64_t grid[2])
{
    (void)work, (void)grid;
    return false;
}

static inline taper_status align_planes(taper_run *run, void *room, const roi_task *task)
{
    (void)run, (void)room, (void)task;
    return TAPER_DECLINED;
}

static inline size_t planes_room(const taper_run *run, const taper_roi_work *work)
{
    (void)run, (void)work;
    return 0;
}

#endif
