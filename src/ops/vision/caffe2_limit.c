// SPDX-License-Identifier: BSD-2-Clause
// _caffe2::BoxWithNMSLimit. For each class except the background it keeps the boxes whose score is above the threshold
// and which do not overlap a box with a better score. Then it keeps the best of these boxes of each image. Soft
// suppression does not drop boxes that overlap, but lowers their scores.
#include <math.h>

#include "base/checked.h"
#include "ops/call/call.h"
#include "ops/vision/caffe2_boxes.h"

typedef struct limit_work {
    const float *scores, *boxes;
    // rows, classes: numbers of rows and of classes of the scores. row_boxes: columns of a row of boxes, which has one
    // box or a box for each class.
    size_t rows, classes, row_boxes;
    double score_threshold, overlap, sigma, soft_least;
    int64_t most; // largest number of boxes in an image; if it is 0 or negative, there is no limit
    bool soft, gaussian, agnostic, boxes_background, classes_background;
    taper_box_rule rule;
    float *soft_scores;     // rows × classes scores of one image
    int32_t *order, *spare; // indices of rows, for one class; spare: scratch memory for sorting
    // Kept items of all classes of one image, in the order of classes and in the order of scores; merged: scratch
    // memory for sorting. An item is row × classes + class.
    int32_t *picked, *sorted, *merged;
    size_t picked_count;
    float *out; // the results of all images; an item is score, class, then the box
    size_t out_count;
} limit_work;

enum { OUT_SCORE, OUT_CLASS, OUT_BOX };

// Returns the column of class j's score (0: background). If the boxes have no background, the background's score comes
// last.
static size_t score_column(const limit_work *w, size_t j)
{
    return w->boxes_background ? j : j - 1;
}

static size_t box_column(const limit_work *w, size_t j)
{
    return (w->agnostic ? 0 : score_column(w, j)) * w->rule.columns;
}

// Does soft suppression: selects the row with the best score again and again, and lowers the scores of the other rows
// by their overlap with the selected row. The selected rows replace the rows in order, and *count becomes their number.
static taper_status soften(const taper_call *call, const limit_work *w, const float *boxes, float *scores,
                           int32_t *order, size_t *count)
{
    size_t left = *count, kept = 0;
    while (left > kept) {
        TAPER_TRY(taper_run_spend(call->run, (left - kept) * 20));
        size_t best = kept;
        for (size_t i = kept + 1; i < left; i++) {
            best = scores[(size_t)order[i] * w->classes] > scores[(size_t)order[best] * w->classes] ? i : best;
        }
        const int32_t row = order[best];
        order[best] = order[kept];
        order[kept++] = row;
        size_t stay = kept;
        for (size_t i = kept; i < left; i++) {
            const float overlap = taper_box_overlap(&w->rule, boxes + (size_t)row * w->row_boxes,
                                                    boxes + (size_t)order[i] * w->row_boxes);
            float *score = &scores[(size_t)order[i] * w->classes];
            const float linear = overlap > (float)w->overlap ? 1.0f - overlap : 1.0f;
            *score *= w->gaussian ? expf(-overlap * overlap / (float)w->sigma) : linear;
            if (*score >= (float)w->soft_least) {
                order[stay++] = order[i];
            }
        }
        left = stay;
    }
    *count = kept;
    return TAPER_OK;
}

// Appends to `picked` the rows of class j that are kept.
static taper_status one_class(const taper_call *call, limit_work *w, size_t first, size_t rows, size_t j)
{
    const size_t column = score_column(w, j);
    const float *scores = w->scores + first * w->classes + column;
    const float *boxes = w->boxes + first * w->row_boxes + box_column(w, j);
    size_t count = 0;
    TAPER_TRY(taper_run_spend(call->run, rows * 100)); // charges the run for sorting
    for (size_t i = 0; i < rows; i++) {
        if (scores[i * w->classes] > (float)w->score_threshold) {
            w->order[count++] = (int32_t)i;
        }
    }
    if (w->soft) {
        TAPER_TRY(soften(call, w, boxes, w->soft_scores + column, w->order, &count));
    } else {
        const size_t most = w->most > 0 && (uint64_t)w->most < count ? (size_t)w->most : 0;
        taper_box_sort_given(scores, w->classes, w->order, w->spare, count);
        TAPER_TRY(taper_box_suppress(call, &w->rule, boxes, w->row_boxes, (float)w->overlap, most, w->order, &count));
    }
    for (size_t i = 0; i < count; i++) {
        w->picked[w->picked_count++] = w->order[i] * (int32_t)w->classes + (int32_t)j;
    }
    return TAPER_OK;
}

// Reduces picked to its best `most` items. The items are ordered by class, and in a class by score. ends is scratch
// memory for one item per class.
static void limit_image(limit_work *w, const float *scores, int32_t *ends)
{
    if (w->most <= 0 || (uint64_t)w->most >= w->picked_count) {
        return;
    }
    // The score of an item is at the item's own index minus `shift`, so the sort can use the items as indices.
    const int32_t classes = (int32_t)w->classes, shift = w->boxes_background ? 0 : 1;
    for (size_t i = 0; i < w->picked_count; i++) {
        w->sorted[i] = w->picked[i] - shift;
    }
    taper_box_sort_given(scores, 1, w->sorted, w->merged, w->picked_count);
    w->picked_count = (size_t)w->most;
    memset(ends, 0, w->classes * sizeof *ends);
    for (size_t i = 0; i < w->picked_count; i++) {
        ends[(w->sorted[i] + shift) % classes]++;
    }
    for (int32_t j = 1; j < classes; j++) {
        ends[j] += ends[j - 1];
    }
    for (size_t i = w->picked_count; i-- > 0;) {
        const int32_t pick = w->sorted[i] + shift;
        w->picked[--ends[pick % classes]] = pick;
    }
}

// Handles one image: rows first to first + rows - 1. keeps[j] becomes the number of kept boxes of class j.
static taper_status one_image(const taper_call *call, limit_work *w, size_t first, size_t rows, int32_t *keeps)
{
    const float *scores = w->scores + first * w->classes;
    w->picked_count = 0;
    if (rows == 0) {
        memset(keeps, 0, w->classes * sizeof *keeps);
        return TAPER_OK;
    }
    if (w->soft) {
        memcpy(w->soft_scores, scores, rows * w->classes * sizeof *scores);
        scores = w->soft_scores;
    }
    for (size_t j = 1; j < w->classes; j++) {
        TAPER_TRY(one_class(call, w, first, rows, j));
    }
    limit_image(w, scores, keeps);
    memset(keeps, 0, w->classes * sizeof *keeps);
    const size_t columns = w->rule.columns;
    for (size_t i = 0; i < w->picked_count; i++) {
        const size_t row = (size_t)w->picked[i] / w->classes, j = (size_t)w->picked[i] % w->classes;
        float *out = w->out + w->out_count++ * (columns + OUT_BOX);
        out[OUT_SCORE] = scores[row * w->classes + score_column(w, j)];
        out[OUT_CLASS] = (float)(w->classes_background ? j : j - 1);
        memcpy(out + OUT_BOX, w->boxes + (first + row) * w->row_boxes + box_column(w, j), columns * sizeof *out);
        keeps[j]++;
    }
    return TAPER_OK;
}

// Returns true for two dimensions, and for four dimensions if the last two have size 1.
static bool is_matrix(const taper_tensor *tensor)
{
    return tensor->rank == 2 || (tensor->rank == 4 && tensor->sizes[2] == 1 && tensor->sizes[3] == 1);
}

static taper_status read_options(taper_call *call, limit_work *w)
{
    const taper_string *method;
    bool rotated, legacy;
    TAPER_TRY(taper_arg_double(call, 3, &w->score_threshold));
    TAPER_TRY(taper_arg_double(call, 4, &w->overlap));
    TAPER_TRY(taper_arg_int(call, 5, &w->most));
    TAPER_TRY(taper_arg_bool(call, 6, &w->soft));
    TAPER_TRY(taper_arg_string(call, 7, &method));
    TAPER_TRY(taper_arg_double(call, 8, &w->sigma));
    TAPER_TRY(taper_arg_double(call, 9, &w->soft_least));
    TAPER_TRY(taper_arg_bool(call, 10, &rotated));
    TAPER_TRY(taper_arg_bool(call, 11, &w->agnostic));
    TAPER_TRY(taper_arg_bool(call, 12, &w->boxes_background));
    TAPER_TRY(taper_arg_bool(call, 13, &w->classes_background));
    TAPER_TRY(taper_arg_bool(call, 14, &legacy));
    w->gaussian = strcmp(method->data, "gaussian") == 0;
    if (!w->gaussian && strcmp(method->data, "linear") != 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "soft_nms_method must be linear or gaussian");
    }
    w->rule = (taper_box_rule){.columns = rotated ? BOX_ROTATED : BOX_UPRIGHT, .plus = legacy ? 1.0f : 0.0f};
    return TAPER_OK;
}

// Fills counts with the number of rows of each image and sets *longest to the greatest of them.
static taper_status read_splits(taper_call *call, const taper_tensor *splits, size_t rows, size_t *counts,
                                size_t *longest)
{
    size_t sum = 0;
    *longest = 0;
    for (int64_t i = 0; i < splits->sizes[0]; i++) {
        const double count =
            taper_load_double((taper_dtype)splits->dtype, taper_tensor_data(splits), i * splits->strides[0]);
        if (!(count >= 0.0 && count <= (double)(rows - sum))) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "batch_splits must add up to the rows of scores, %zu",
                       rows);
        }
        counts[i] = (size_t)count;
        sum += counts[i];
        *longest = taper_max_size(*longest, counts[i]);
    }
    if (sum != rows) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "batch_splits must add up to the rows of scores, %zu, but adds up to %zu", rows, sum);
    }
    return TAPER_OK;
}

static taper_status limit(taper_call *call, taper_box_scratch *scratch)
{
    taper_error *error = call->run->error;
    limit_work w = {0};
    const taper_tensor *scores, *boxes;
    taper_tensor *splits, *results[6];
    TAPER_TRY(taper_box_arg(call, scratch, 0, 0, &scores, &w.scores));
    TAPER_TRY(taper_box_arg(call, scratch, 1, 0, &boxes, &w.boxes));
    TAPER_TRY(taper_arg_tensor(call, 2, &splits));
    TAPER_TRY(read_options(call, &w));
    if (!is_matrix(scores) || !is_matrix(boxes) || scores->sizes[0] != boxes->sizes[0] || scores->sizes[1] < 1) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "scores and boxes must be matrices with equal numbers of rows and at least one class");
    }
    w.rows = (size_t)scores->sizes[0];
    w.classes = (size_t)scores->sizes[1];
    w.row_boxes = (size_t)boxes->sizes[1];
    if (taper_tensor_numel(scores) > INT32_MAX) { // an item of picked has 32 bits
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "scores has too many elements");
    }
    const size_t box_count = w.agnostic ? 1 : w.boxes_background ? w.classes : w.classes - 1;
    if (w.row_boxes % w.rule.columns != 0 || w.row_boxes / w.rule.columns != box_count) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "boxes must have %zu times %zu columns, but has %zu", box_count,
                   w.rule.columns, w.row_boxes);
    }
    if (splits->rank != 1 || (splits->dtype != TAPER_F32 && splits->dtype != TAPER_I32)) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "batch_splits must be a vector of float32 or int32");
    }
    const size_t images = (size_t)splits->sizes[0];
    size_t longest;
    void *counts, *block;
    TAPER_TRY(taper_box_alloc(call, scratch, images, sizeof(size_t), &counts));
    TAPER_TRY(read_splits(call, splits, w.rows, counts, &longest));
    const size_t image_cells = longest * w.classes, cells = w.rows * w.classes;
    if (w.soft) {
        TAPER_TRY(taper_box_alloc(call, scratch, image_cells, sizeof(float), &block));
        w.soft_scores = block;
    }
    TAPER_TRY(taper_box_alloc(call, scratch, longest, sizeof(int32_t), &block));
    w.order = block;
    TAPER_TRY(taper_box_alloc(call, scratch, longest, sizeof(int32_t), &block));
    w.spare = block;
    TAPER_TRY(taper_box_alloc(call, scratch, image_cells, sizeof(int32_t), &block));
    w.picked = block;
    TAPER_TRY(taper_box_alloc(call, scratch, image_cells, sizeof(int32_t), &block));
    w.sorted = block;
    TAPER_TRY(taper_box_alloc(call, scratch, image_cells, sizeof(int32_t), &block));
    w.merged = block;
    // There is at most one result per cell, and at most `most` results per image.
    size_t outs = cells;
    if (w.most > 0 && images > 0 && (uint64_t)w.most < cells / images) {
        outs = images * (size_t)w.most;
    }
    TAPER_TRY(taper_box_alloc(call, scratch, outs, (w.rule.columns + OUT_BOX) * sizeof(float), &block));
    w.out = block;
    TAPER_TRY(taper_box_alloc(call, scratch, outs, sizeof(int32_t), &block));
    int32_t *rows = block;

    const int64_t size_rows[2] = {(int64_t)images, (int64_t)w.classes};
    TAPER_TRY(taper_ret_new(call, 3, TAPER_F32, 1, size_rows, NULL, &results[3]));
    TAPER_TRY(taper_ret_new(call, 5, TAPER_I32, 2, size_rows, NULL, &results[5]));
    float *out_splits = taper_tensor_mutable(results[3]);
    int32_t *keeps = taper_tensor_mutable(results[5]);
    for (size_t i = 0, first = 0; i < images; i++) {
        const size_t before = w.out_count;
        TAPER_TRY(one_image(call, &w, first, ((size_t *)counts)[i], keeps + i * w.classes));
        for (size_t k = before; k < w.out_count; k++) {
            rows[k] = w.picked[k - before] / (int32_t)w.classes;
        }
        out_splits[i] = (float)(w.out_count - before);
        first += ((size_t *)counts)[i];
    }

    const int64_t sizes[2] = {(int64_t)w.out_count, (int64_t)w.rule.columns};
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, 1, sizes, NULL, &results[0]));
    TAPER_TRY(taper_ret_new(call, 1, TAPER_F32, 2, sizes, NULL, &results[1]));
    TAPER_TRY(taper_ret_new(call, 2, TAPER_F32, 1, sizes, NULL, &results[2]));
    TAPER_TRY(taper_ret_new(call, 4, TAPER_I32, 1, sizes, NULL, &results[4]));
    float *out_scores = taper_tensor_mutable(results[0]), *out_boxes = taper_tensor_mutable(results[1]);
    float *out_classes = taper_tensor_mutable(results[2]);
    for (size_t k = 0; k < w.out_count; k++) {
        const float *from = w.out + k * (w.rule.columns + OUT_BOX);
        out_scores[k] = from[OUT_SCORE];
        out_classes[k] = from[OUT_CLASS];
        memcpy(out_boxes + k * w.rule.columns, from + OUT_BOX, w.rule.columns * sizeof *from);
    }
    if (w.out_count > 0) {
        memcpy(taper_tensor_mutable(results[4]), rows, w.out_count * sizeof *rows);
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_caffe2_limit)
{
    taper_box_scratch scratch = {0};
    const taper_status status = limit(call, &scratch);
    taper_box_free(&scratch);
    return status;
}
