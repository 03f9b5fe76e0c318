// SPDX-License-Identifier: BSD-2-Clause
// _caffe2::GenerateProposals: the regions that a region proposal network suggests. For each image the anchors with the
// best scores are moved by their deltas, clipped, and suppressed if they overlap a box with a better score.
#include "base/checked.h"
#include "ops/call/call.h"
#include "ops/vision/caffe2_boxes.h"

typedef struct proposals {
    const float *scores, *deltas, *anchors, *info;
    int64_t images, anchor_count, height, width;
    size_t total; // anchors of an image: anchor_count × height × width
    double scale;
    // largest number of anchors in an image before and after suppression; 0 or a negative number means no limit
    int64_t before, after;
    double threshold, least;
    taper_box_rule rule;
    int32_t *order, *spare;
    size_t *counts; // number of kept boxes of each image
    float *boxes;   // boxes of one image, by descending score
    float *kept;    // boxes of all images, each followed by its score
    size_t kept_count;
} proposals;

static taper_status read_arguments(taper_call *call, taper_box_scratch *scratch, proposals *p)
{
    taper_error *error = call->run->error;
    const taper_tensor *scores, *deltas, *info, *anchors;
    TAPER_TRY(taper_box_arg(call, scratch, 0, 4, &scores, &p->scores));
    TAPER_TRY(taper_box_arg(call, scratch, 1, 4, &deltas, &p->deltas));
    TAPER_TRY(taper_box_arg(call, scratch, 2, 2, &info, &p->info));
    TAPER_TRY(taper_box_arg(call, scratch, 3, 2, &anchors, &p->anchors));
    TAPER_TRY(taper_arg_double(call, 4, &p->scale));
    TAPER_TRY(taper_arg_int(call, 5, &p->before));
    TAPER_TRY(taper_arg_int(call, 6, &p->after));
    TAPER_TRY(taper_arg_double(call, 7, &p->threshold));
    TAPER_TRY(taper_arg_double(call, 8, &p->least));
    const int64_t columns = anchors->sizes[1];
    if (columns != BOX_UPRIGHT && columns != BOX_ROTATED) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "anchors must have 4 or 5 columns, but have %lld", (long long)columns);
    }
    p->rule = (taper_box_rule){.columns = (size_t)columns, .weights = {1.0f, 1.0f, 1.0f, 1.0f}};
    TAPER_TRY(taper_box_rule_args(call, 9, &p->rule));
    p->images = scores->sizes[0];
    p->anchor_count = scores->sizes[1];
    p->height = scores->sizes[2];
    p->width = scores->sizes[3];
    if (anchors->sizes[0] != p->anchor_count) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "anchors must have as many rows as scores has channels, %lld, but has %lld",
                   (long long)p->anchor_count, (long long)anchors->sizes[0]);
    }
    if (deltas->sizes[0] != p->images || deltas->sizes[1] / columns != p->anchor_count ||
        deltas->sizes[1] % columns != 0 || deltas->sizes[2] != p->height || deltas->sizes[3] != p->width) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT,
                   "bbox_deltas must have the sizes of scores, with %lld channels for each of scores'",
                   (long long)columns);
    }
    if (info->sizes[0] != p->images || info->sizes[1] != 3) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "im_info must have the sizes %lld, 3", (long long)p->images);
    }
    const int64_t elements = taper_tensor_numel(scores);
    p->total = p->images > 0 ? (size_t)(elements / p->images) : 0;
    if (p->total > INT32_MAX) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "scores has too many elements");
    }
    return TAPER_OK;
}

// Appends the proposals of one image to p->kept.
static taper_status one_image(const taper_call *call, proposals *p, int64_t image)
{
    const size_t columns = p->rule.columns, plane = p->total > 0 ? p->total / (size_t)p->anchor_count : 0;
    const float *scores = p->scores + (size_t)image * p->total, *info = p->info + image * 3;
    const float *deltas = p->deltas + (size_t)image * p->total * columns;
    const float stride = (float)(1.0 / (double)(float)p->scale);
    taper_box_sort(scores, 1, p->order, p->spare, p->total);
    const size_t best = p->before > 0 && (uint64_t)p->before < p->total ? (size_t)p->before : p->total;
    const int64_t high = taper_box_pixels((double)info[0]), wide = taper_box_pixels((double)info[1]);
    const float least = (float)(p->least * (double)info[2]);
    size_t count = 0;
    for (size_t i = 0; i < best; i++) {
        const size_t index = (size_t)p->order[i], anchor = index / plane, at = index % plane;
        const float shift_x = (float)(at % (size_t)p->width) * stride,
                    shift_y = (float)(at / (size_t)p->width) * stride;
        float box[BOX_ROTATED], delta[BOX_ROTATED];
        for (size_t c = 0; c < columns; c++) {
            box[c] = p->anchors[anchor * columns + c];
            delta[c] = deltas[(anchor * columns + c) * plane + at];
        }
        box[0] += shift_x;
        box[1] += shift_y;
        if (columns == BOX_UPRIGHT) {
            box[2] += shift_x;
            box[3] += shift_y;
        }
        float *out = p->boxes + i * columns;
        taper_box_transform(&p->rule, box, delta, out);
        taper_box_clip(&p->rule, high, wide, out);
        if (taper_box_fits(&p->rule, out, least, info[0], info[1])) {
            p->spare[count++] = (int32_t)i;
        }
    }
    const size_t most = p->after > 0 && (uint64_t)p->after < count ? (size_t)p->after : 0;
    TAPER_TRY(taper_box_suppress(call, &p->rule, p->boxes, columns, (float)p->threshold, most, p->spare, &count));
    for (size_t i = 0; i < count; i++) {
        float *row = p->kept + p->kept_count++ * (columns + 1);
        const size_t from = (size_t)p->spare[i];
        memcpy(row, p->boxes + from * columns, columns * sizeof *row);
        row[columns] = scores[p->order[from]];
    }
    p->counts[image] = count;
    return TAPER_OK;
}

static taper_status generate(taper_call *call, taper_box_scratch *scratch)
{
    proposals p = {0};
    TAPER_TRY(read_arguments(call, scratch, &p));
    const size_t columns = p.rule.columns;
    const size_t best = p.before > 0 && (uint64_t)p.before < p.total ? (size_t)p.before : p.total;
    const size_t each = p.after > 0 && (uint64_t)p.after < best ? (size_t)p.after : best;
    size_t rows;
    if (!taper_mul_size(each, (size_t)p.images, &rows)) {
        return taper_fail_memory(call->run->error);
    }
    void *order, *spare, *boxes, *kept, *counts;
    TAPER_TRY(taper_box_alloc(call, scratch, p.total, sizeof(int32_t), &order));
    TAPER_TRY(taper_box_alloc(call, scratch, p.total, sizeof(int32_t), &spare));
    TAPER_TRY(taper_box_alloc(call, scratch, best, columns * sizeof(float), &boxes));
    TAPER_TRY(taper_box_alloc(call, scratch, rows, (columns + 1) * sizeof(float), &kept));
    TAPER_TRY(taper_box_alloc(call, scratch, (size_t)p.images, sizeof(size_t), &counts));
    p.order = order;
    p.spare = spare;
    p.boxes = boxes;
    p.kept = kept;
    p.counts = counts;
    for (int64_t i = 0; i < p.images; i++) {
        TAPER_TRY(taper_run_spend(call->run, p.total * 200)); // charges the run for sorting and transforming
        TAPER_TRY(one_image(call, &p, i));
    }
    taper_tensor *rois, *probabilities;
    const int64_t sizes[2] = {(int64_t)p.kept_count, (int64_t)columns + 1};
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, 2, sizes, NULL, &rois));
    TAPER_TRY(taper_ret_new(call, 1, TAPER_F32, 1, sizes, NULL, &probabilities));
    float *out = taper_tensor_mutable(rois), *out_scores = taper_tensor_mutable(probabilities);
    size_t row = 0;
    for (int64_t i = 0; i < p.images; i++) {
        for (size_t k = 0; k < p.counts[i]; k++, row++) {
            const float *from = p.kept + row * (columns + 1);
            out[row * (columns + 1)] = (float)i;
            memcpy(out + row * (columns + 1) + 1, from, columns * sizeof *out);
            out_scores[row] = from[columns];
        }
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_caffe2_proposals)
{
    taper_box_scratch scratch = {0};
    const taper_status status = generate(call, &scratch);
    taper_box_free(&scratch);
    return status;
}
