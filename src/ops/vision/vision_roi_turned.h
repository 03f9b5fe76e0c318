// SPDX-License-Identifier: BSD-2-Clause
// Part of vision_roi.c: if there are several regions, the input is copied with its channels innermost, so that one pass
// computes many channels.
#ifndef TAPER_OPS_VISION_VISION_ROI_TURNED_H
#define TAPER_OPS_VISION_VISION_ROI_TURNED_H

// Sets *turned to a new tensor of samples x pixels x channels if the copy is worth it: for float32 and several regions
// per sample. Otherwise *turned is NULL. The caller releases it.
static taper_status turn_channels(taper_call *call, const taper_roi_work *work, bool sensitive, taper_tensor **turned)
{
    enum { SEVERAL = 4 };
    const taper_volume *x = &work->x;
    const int64_t pixels = x->size[1] * x->size[2], sizes[] = {x->n, pixels, x->c};
    *turned = NULL;
    if (call->run->portable || sensitive || work->dtype != TAPER_F32 || work->count < SEVERAL * x->n ||
        x->c < SEVERAL || pixels == 0 || pixels > INT32_MAX || x->stride[2] != 1 || x->stride[1] != x->size[2]) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_tensor_new(call->run->heap, TAPER_F32, 3, sizes, NULL, turned, call->run->error));
    const taper_vector_entry *v = taper_vector_f32_select(call->run->cpu);
    for (int64_t n = 0; n < x->n && taper_run_goes_on(call->run, (uint64_t)(pixels * x->c)); n++) {
        v->transpose((size_t)x->c, (size_t)pixels, (const float *)work->in + n * x->stride_n, (size_t)x->stride_c,
                     (float *)taper_tensor_mutable(*turned) + n * pixels * x->c, (size_t)x->c);
    }
    return TAPER_OK;
}

#endif
