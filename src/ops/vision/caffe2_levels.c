// SPDX-License-Identifier: BSD-2-Clause
// The `_caffe2::` operators that collect the proposals from the levels of a feature pyramid and distribute them to the
// levels that fit their sizes.
#include <math.h>

#include "base/checked.h"
#include "ir/tensor.h"
#include "ops/call/call.h"
#include "ops/vision/caffe2_boxes.h"

// REGION: number of columns of a region. LEVELS: number of levels that the schemas return. MOST_LEVELS: largest number
// of levels in an input.
enum { REGION = 5, LEVELS = 4, MOST_LEVELS = 64 };

// Collects the best regions of all levels. input_list contains the regions of each level, then the scores of each
// level. *regions is a new tensor, which the caller releases.
static taper_status collect(taper_call *call, size_t level_at, size_t most_at, taper_box_scratch *scratch,
                            taper_tensor **regions)
{
    taper_error *error = call->run->error;
    taper_list *list;
    int64_t high, low, most;
    TAPER_TRY(taper_arg_list(call, 0, &list));
    TAPER_TRY(taper_arg_int(call, level_at, &high));
    TAPER_TRY(taper_arg_int(call, level_at + 1, &low));
    TAPER_TRY(taper_arg_int(call, most_at, &most));
    if (high < low || (uint64_t)high - (uint64_t)low >= MOST_LEVELS) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "rpn_max_level must be from rpn_min_level to rpn_min_level + 63");
    }
    const size_t levels = (size_t)(high - low) + 1;
    if (list->count != 2 * levels) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "input_list must have %zu items for %zu levels, but has %zu",
                   2 * levels, levels, list->count);
    }
    int64_t count = 0;
    for (size_t i = 0; i < levels; i++) {
        taper_tensor *rows, *scores;
        TAPER_TRY(taper_arg_tensor_item(call, 0, i, false, &rows));
        TAPER_TRY(taper_arg_tensor_item(call, 0, levels + i, false, &scores));
        if (rows->rank != 2 || rows->sizes[1] != REGION || rows->dtype != TAPER_F32 || scores->dtype != TAPER_F32 ||
            taper_tensor_numel(scores) != rows->sizes[0]) {
            TAPER_FAIL(
                error, TAPER_ERROR_ARGUMENT,
                "input_list must hold float32 regions of 5 columns, then the scores of each, one for each region");
        }
        count += rows->sizes[0];
    }
    if (count > INT32_MAX) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "input_list has too many regions");
    }
    void *all, *scores, *order, *spare;
    TAPER_TRY(taper_box_alloc(call, scratch, (size_t)count, REGION * sizeof(float), &all));
    TAPER_TRY(taper_box_alloc(call, scratch, (size_t)count, sizeof(float), &scores));
    TAPER_TRY(taper_box_alloc(call, scratch, (size_t)count, sizeof(int32_t), &order));
    TAPER_TRY(taper_box_alloc(call, scratch, (size_t)count, sizeof(int32_t), &spare));
    size_t at = 0;
    for (size_t i = 0; i < levels; i++) {
        for (int k = 0; k < 2; k++) { // first the regions, then the scores
            taper_tensor *item, *flat;
            TAPER_TRY(taper_arg_tensor_item(call, 0, k == 0 ? i : levels + i, false, &item));
            TAPER_TRY(taper_run_contiguous(call->run, item, &flat));
            const size_t size = (size_t)taper_tensor_numel(flat);
            if (size > 0) {
                memcpy(k == 0 ? (float *)all + at * REGION : (float *)scores + at, taper_tensor_data(flat),
                       size * sizeof(float));
            }
            at += k == 0 ? 0 : size;
            taper_obj_release(&flat->head);
        }
    }
    taper_box_sort(scores, 1, order, spare, at);
    const size_t kept = most > 0 && (uint64_t)most < at ? (size_t)most : at;
    const int64_t sizes[2] = {(int64_t)kept, REGION};
    TAPER_TRY(taper_tensor_new(call->run->heap, TAPER_F32, 2, sizes, NULL, regions, error));
    float *out = taper_tensor_mutable(*regions);
    for (size_t i = 0; i < kept; i++) {
        memcpy(out + i * REGION, (const float *)all + (size_t)((const int32_t *)order)[i] * REGION,
               REGION * sizeof *out);
    }
    return TAPER_OK;
}

// Sets *level to the region's level, counted from roi_min_level. A region of the canonical scale is on the canonical
// level, and each doubling of its side raises the level by one.
static taper_status level_of(const taper_call *call, const float *box, float plus, const int64_t numbers[4],
                             size_t *level)
{
    const float area = (box[2] - box[0] + plus) * (box[3] - box[1] + plus);
    if (!(area >= 0.0f)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "a region has a negative area");
    }
    const float ratio = sqrtf(area) / (float)numbers[0] + 1e-6f;
    const float fit = floorf((float)numbers[1] + logf(ratio) / 0.693147180559945f);
    const float low = (float)numbers[3], above = fit - low;
    *level = above > 0.0f ? (above < (float)(LEVELS - 1) ? (size_t)above : LEVELS - 1) : 0;
    return TAPER_OK;
}

// Distributes `count` regions. Results first to first + 3 become the regions of each level. Result first + 4 becomes,
// for each input region, its index among all regions in the order of levels. Arguments at to at + 3 are
// roi_canonical_scale, roi_canonical_level, roi_max_level, roi_min_level.
static taper_status distribute(taper_call *call, const float *rows, int64_t count, int64_t columns, size_t at,
                               size_t legacy_at, size_t first, taper_box_scratch *scratch)
{
    int64_t numbers[4], sizes[LEVELS] = {0};
    bool legacy;
    for (size_t i = 0; i < 4; i++) {
        TAPER_TRY(taper_arg_int(call, at + i, &numbers[i]));
    }
    TAPER_TRY(taper_arg_bool(call, legacy_at, &legacy));
    if (numbers[2] < numbers[3] || (uint64_t)numbers[2] - (uint64_t)numbers[3] != LEVELS - 1) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "roi_min_level and roi_max_level must enclose %d levels",
                   LEVELS);
    }
    if (count > INT32_MAX) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "there are too many regions");
    }
    void *block;
    TAPER_TRY(taper_box_alloc(call, scratch, (size_t)count, 1, &block));
    uint8_t *levels = block;
    for (int64_t i = 0; i < count; i++) {
        size_t level = 0;
        TAPER_TRY(level_of(call, rows + i * columns + columns - 4, legacy ? 1.0f : 0.0f, numbers, &level));
        levels[i] = (uint8_t)level;
        sizes[level]++;
    }
    float *outs[LEVELS];
    int64_t next[LEVELS], before = 0;
    taper_tensor *result;
    for (size_t i = 0; i < LEVELS; i++) {
        const int64_t shape[2] = {sizes[i], REGION};
        TAPER_TRY(taper_ret_new(call, first + i, TAPER_F32, 2, shape, NULL, &result));
        outs[i] = taper_tensor_mutable(result);
        next[i] = before;
        before += sizes[i];
        sizes[i] = 0;
    }
    TAPER_TRY(taper_ret_new(call, first + LEVELS, TAPER_I32, 1, &count, NULL, &result));
    int32_t *restore = taper_tensor_mutable(result);
    for (int64_t i = 0; i < count; i++) {
        const size_t level = levels[i];
        float *out = outs[level] + sizes[level]++ * REGION;
        out[0] = 0.0f; // number of the image, which is 0 if the input has no column for image numbers
        memcpy(out + REGION - columns, rows + i * columns, (size_t)columns * sizeof *out);
        restore[i] = (int32_t)next[level]++;
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_caffe2_collect)
{
    taper_box_scratch scratch = {0};
    taper_tensor *regions = NULL;
    taper_status status = collect(call, 1, 3, &scratch, &regions);
    taper_box_free(&scratch);
    return status == TAPER_OK ? taper_ret_tensor(call, 0, regions) : status;
}

static taper_status distribute_argument(taper_call *call, taper_box_scratch *scratch)
{
    const taper_tensor *regions;
    const float *rows;
    TAPER_TRY(taper_box_arg(call, scratch, 0, 2, &regions, &rows));
    if (regions->sizes[1] != REGION && regions->sizes[1] != BOX_UPRIGHT) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "rois must have 4 or 5 columns, but has %lld",
                   (long long)regions->sizes[1]);
    }
    return distribute(call, rows, regions->sizes[0], regions->sizes[1], 1, 5, 0, scratch);
}

TAPER_KERNEL(taper_op_caffe2_distribute)
{
    taper_box_scratch scratch = {0};
    const taper_status status = distribute_argument(call, &scratch);
    taper_box_free(&scratch);
    return status;
}

TAPER_KERNEL(taper_op_caffe2_collect_and_distribute)
{
    taper_box_scratch scratch = {0};
    taper_tensor *regions = NULL;
    taper_status status = collect(call, 5, 7, &scratch, &regions);
    if (status == TAPER_OK) {
        status = distribute(call, taper_tensor_data(regions), regions->sizes[0], REGION, 1, 8, 1, &scratch);
        if (status == TAPER_OK) {
            status = taper_ret_tensor(call, 0, regions);
        } else {
            taper_obj_release(&regions->head);
        }
    }
    taper_box_free(&scratch);
    return status;
}
