// SPDX-License-Identifier: BSD-2-Clause
// In place of src/ops/vision/vision_deform_floats.h: small builds omit this code.
#ifndef TAPER_OPS_VISION_VISION_DEFORM_FLOATS_H
#define TAPER_OPS_VISION_VISION_DEFORM_FLOATS_H

static inline taper_status run_floats(taper_run *run, const deform_work *work)
{
    (void)run, (void)work;
    return TAPER_DECLINED;
}

#endif
