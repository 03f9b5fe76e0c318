// SPDX-License-Identifier: BSD-2-Clause
// _caffe2::BBoxTransform: moves regions by the deltas of each class and clips them to their image.
#include "ops/call/call.h"
#include "ops/vision/caffe2_boxes.h"

// Fills counts with the number of regions of each image. The regions of an image are consecutive, in the order of the
// images.
static taper_status count_regions(const taper_call *call, const float *rois, int64_t regions, int64_t columns,
                                  bool indexed, int64_t images, int64_t *counts)
{
    for (int64_t i = 0; i < images; i++) {
        counts[i] = indexed ? 0 : regions;
    }
    for (int64_t i = 0; indexed && i < regions; i++) {
        const float image = rois[i * columns];
        if (!(image > -1.0f && image < (float)images)) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "rois: row %lld is of image %g, but im_info has %lld",
                       (long long)i, (double)image, (long long)images);
        }
        counts[(int64_t)image]++;
    }
    return TAPER_OK;
}

static taper_status transform(taper_call *call, taper_box_scratch *scratch)
{
    taper_error *error = call->run->error;
    const taper_tensor *rois, *deltas, *info;
    const float *roi, *delta, *image;
    double weights[4];
    size_t weight_count;
    bool scale_back, rotated;
    TAPER_TRY(taper_box_arg(call, scratch, 0, 2, &rois, &roi));
    TAPER_TRY(taper_box_arg(call, scratch, 1, 2, &deltas, &delta));
    TAPER_TRY(taper_box_arg(call, scratch, 2, 2, &info, &image));
    TAPER_TRY(taper_arg_doubles(call, 3, 4, weights, &weight_count));
    TAPER_TRY(taper_arg_bool(call, 4, &scale_back));
    TAPER_TRY(taper_arg_bool(call, 5, &rotated));
    taper_box_rule rule = {.columns = rotated ? BOX_ROTATED : BOX_UPRIGHT};
    TAPER_TRY(taper_box_rule_args(call, 6, &rule));
    if (weight_count != 4) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "weights must have 4 items, but has %zu", weight_count);
    }
    for (size_t i = 0; i < 4; i++) {
        rule.weights[i] = (float)weights[i];
    }
    const int64_t columns = (int64_t)rule.columns, regions = rois->sizes[0], images = info->sizes[0];
    const bool indexed = rois->sizes[1] == columns + 1;
    if (!indexed && rois->sizes[1] != columns) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "rois must have %lld or %lld columns, but has %lld", (long long)columns,
                   (long long)columns + 1, (long long)rois->sizes[1]);
    }
    if (deltas->sizes[0] != regions || deltas->sizes[1] % columns != 0) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "deltas must have %lld rows of %lld columns for each class",
                   (long long)regions, (long long)columns);
    }
    if (info->sizes[1] != 3 || (!indexed && images != 1)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "im_info must have three columns, and one row where rois has no image column");
    }
    void *block;
    TAPER_TRY(taper_box_alloc(call, scratch, (size_t)images, sizeof(int64_t), &block));
    int64_t *counts = block;
    TAPER_TRY(count_regions(call, roi, regions, rois->sizes[1], indexed, images, counts));
    taper_tensor *boxes, *splits;
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, 2, deltas->sizes, NULL, &boxes));
    TAPER_TRY(taper_ret_new(call, 1, TAPER_F32, 1, &images, NULL, &splits));
    float *out = taper_tensor_mutable(boxes), *split = taper_tensor_mutable(splits);
    const int64_t classes = deltas->sizes[1] / columns;
    int64_t row = 0;
    for (int64_t i = 0; i < images; i++) {
        const float scale = image[i * 3 + 2], after = scale_back ? scale : 1.0f;
        const int64_t high = taper_box_pixels((double)(image[i * 3] / scale) + 0.5);
        const int64_t wide = taper_box_pixels((double)(image[i * 3 + 1] / scale) + 0.5);
        split[i] = (float)counts[i];
        for (int64_t end = row + counts[i]; row < end; row++) {
            TAPER_TRY(taper_run_spend(call->run, (uint64_t)classes * 100 + 20));
            float box[BOX_ROTATED];
            for (int64_t c = 0; c < columns; c++) {
                const float number = roi[row * rois->sizes[1] + (indexed ? 1 : 0) + c];
                box[c] = c < 4 ? number / scale : number; // the angle is not scaled
            }
            for (int64_t k = 0; k < classes; k++) {
                float *made = out + (row * classes + k) * columns;
                taper_box_transform(&rule, box, delta + (row * classes + k) * columns, made);
                taper_box_clip(&rule, high, wide, made);
                for (int c = 0; c < 4; c++) {
                    made[c] *= after;
                }
            }
        }
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_caffe2_transform)
{
    taper_box_scratch scratch = {0};
    const taper_status status = transform(call, &scratch);
    taper_box_free(&scratch);
    return status;
}
