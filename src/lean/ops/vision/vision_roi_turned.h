// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/vision/vision_roi_turned.h in small builds, which omit its code.
#ifndef TAPER_OPS_VISION_VISION_ROI_TURNED_H
#define TAPER_OPS_VISION_VISION_ROI_TURNED_H

static inline taper_status turn_channels(taper_call *call, const taper_roi_work *work, bool sensitive,
                                         taper_tensor **turned)
{
    (void)call, (void)work, (void)sensitive;
    *turned = NULL;
    return TAPER_OK;
}

#endif
