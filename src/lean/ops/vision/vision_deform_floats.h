// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/vision/vision_deform_floats.h in small builds, which omit its code.
#ifndef TAPER_OPS_VISION_VISION_DEFORM_FLOATS_H
#define TAPER_OPS_VISION_VISION_DEFORM_FLOATS_H

static inline taper_status run_floats(taper_run *run, const deform_work *work)
{
    (void)run, (void)work;
    return TAPER_DECLINED;
}

#endif
