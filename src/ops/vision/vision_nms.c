// SPDX-License-Identifier: BSD-2-Clause
// torchvision::nms: of boxes that overlap too much, only the one with the best score is kept.
#include <math.h>

#include "base/single.h"
#include "ops/call/call.h"
#include "ops/engine/volume.h"

typedef struct nms_box {
    double x1, y1, x2, y2, area;
    double score;
    int64_t index;
    bool suppressed;
} nms_box;

// Returns true if box a comes after box b: scores are in descending order, with NaN first, as PyTorch sorts.
static bool comes_after(const nms_box *a, const nms_box *b)
{
    if (a->score != a->score) {
        return false;
    }
    return b->score != b->score || a->score < b->score;
}

// Sorts by a stable merge sort that alternates between boxes and spare. Returns the array that has the result.
static nms_box *sort_boxes(nms_box *boxes, nms_box *spare, int64_t count)
{
    for (int64_t width = 1; width < count; width *= 2) {
        for (int64_t first = 0; first < count; first += 2 * width) {
            const int64_t middle = taper_min_i64(first + width, count), end = taper_min_i64(first + 2 * width, count);
            int64_t a = first, b = middle;
            for (int64_t out = first; out < end; out++) {
                const bool take_b = a >= middle || (b < end && comes_after(&boxes[a], &boxes[b]));
                spare[out] = take_b ? boxes[b++] : boxes[a++];
            }
        }
        nms_box *swap = boxes;
        boxes = spare;
        spare = swap;
    }
    return boxes;
}

static double rounded(bool single, double value)
{
    return taper_step(single, value);
}

// The boxes in the order of their scores, one array for each field, so that the loops below use vectors.
typedef struct nms_fields {
    void *x1, *y1, *x2, *y2, *area;
    uint32_t *suppressed;
} nms_fields;

// Marks the boxes after box i whose intersection over union with box i is above threshold. It computes in the boxes'
// own dtype, as torchvision does.
#define NMS(name, type)                                                                                                \
    static void name(const nms_fields *f, int64_t i, int64_t count, type threshold)                                    \
    {                                                                                                                  \
        const type *x1 = f->x1, *y1 = f->y1, *x2 = f->x2, *y2 = f->y2, *area = f->area;                                \
        uint32_t *suppressed = f->suppressed;                                                                          \
        const type ax1 = x1[i], ay1 = y1[i], ax2 = x2[i], ay2 = y2[i], own = area[i];                                  \
        for (int64_t j = i + 1; j < count; j++) {                                                                      \
            const type left = ax1 < x1[j] ? x1[j] : ax1, top = ay1 < y1[j] ? y1[j] : ay1;                              \
            const type right = x2[j] < ax2 ? x2[j] : ax2, bottom = y2[j] < ay2 ? y2[j] : ay2;                          \
            const type wide = right - left, high = bottom - top;                                                       \
            const type shared = (wide > 0 ? wide : 0) * (high > 0 ? high : 0);                                         \
            suppressed[j] |= shared / (own + area[j] - shared) > threshold;                                            \
        }                                                                                                              \
    }
NMS(mark_f32, float)
NMS(mark_f64, double)

// Returns the largest float that is at most threshold. A float is above the returned number exactly if it is above
// threshold.
static float threshold_f32(double threshold)
{
    const float nearest = (float)threshold;
    return (double)nearest > threshold ? nextafterf(nearest, -INFINITY) : nearest;
}

static taper_status suppress(taper_run *run, nms_box *boxes, int64_t count, double threshold, bool single,
                             int64_t *kept)
{
    const size_t item = single ? sizeof(float) : sizeof(double),
                 n = (size_t)count; // cannot overflow, because 2 * sizeof(nms_box) * n was checked
    const size_t bytes = n * (5 * item + sizeof(uint32_t));
    char *block = taper_heap_alloc(run->heap, bytes);
    if (block == NULL) {
        return taper_fail_memory(run->error);
    }
    const nms_fields f = {block,
                          block + n * item,
                          block + 2 * n * item,
                          block + 3 * n * item,
                          block + 4 * n * item,
                          (uint32_t *)(void *)(block + 5 * n * item)};
    for (size_t i = 0; i < n; i++) {
        const nms_box *box = &boxes[i];
        if (single) {
            ((float *)f.x1)[i] = (float)box->x1, ((float *)f.y1)[i] = (float)box->y1;
            ((float *)f.x2)[i] = (float)box->x2, ((float *)f.y2)[i] = (float)box->y2;
            ((float *)f.area)[i] = (float)box->area;
        } else {
            ((double *)f.x1)[i] = box->x1, ((double *)f.y1)[i] = box->y1;
            ((double *)f.x2)[i] = box->x2, ((double *)f.y2)[i] = box->y2;
            ((double *)f.area)[i] = box->area;
        }
        f.suppressed[i] = 0;
    }
    taper_status status = TAPER_OK;
    *kept = 0;
    for (int64_t i = 0; i < count && status == TAPER_OK; i++) {
        boxes[i].suppressed = f.suppressed[i] != 0;
        if (boxes[i].suppressed) {
            continue;
        }
        ++*kept;
        if (single) {
            mark_f32(&f, i, count, threshold_f32(threshold));
        } else {
            mark_f64(&f, i, count, threshold);
        }
        status = taper_run_spend(run, (uint64_t)(count - i) * 4);
    }
    taper_heap_free(run->heap, block, bytes);
    return status;
}

TAPER_KERNEL(taper_op_nms)
{
    taper_error *error = call->run->error;
    taper_tensor *dets, *scores, *y;
    double threshold;
    TAPER_TRY(taper_arg_tensor(call, 0, &dets));
    TAPER_TRY(taper_arg_tensor(call, 1, &scores));
    TAPER_TRY(taper_arg_double(call, 2, &threshold));
    if (dets->rank != 2 || dets->sizes[1] != 4 || scores->rank != 1 || scores->sizes[0] != dets->sizes[0]) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "dets must have the sizes N, 4 and scores the size N");
    }
    const taper_dtype dtype = (taper_dtype)dets->dtype;
    if (!taper_dtype_is_float(dtype) || scores->dtype != dets->dtype) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "dets and scores must be floating-point tensors of the same dtype");
    }
    const int64_t count = dets->sizes[0];
    const bool single = dtype != TAPER_F64;
    size_t bytes;
    if (!taper_mul_size((size_t)count, 2 * sizeof(nms_box), &bytes)) {
        return taper_fail_memory(error);
    }
    if (count == 0) {
        return taper_ret_new(call, 0, TAPER_I64, 1, &count, NULL, &y);
    }
    nms_box *boxes = taper_heap_alloc(call->run->heap, bytes);
    if (boxes == NULL) {
        return taper_fail_memory(error);
    }
    const void *data = taper_tensor_data(dets), *score = taper_tensor_data(scores);
    for (int64_t i = 0; i < count; i++) {
        double corner[4];
        for (int64_t k = 0; k < 4; k++) {
            corner[k] = taper_number_load(dtype, data, i * dets->strides[0] + k * dets->strides[1]);
        }
        const double wide = rounded(single, corner[2] - corner[0]), high = rounded(single, corner[3] - corner[1]);
        boxes[i] = (nms_box){.x1 = corner[0],
                             .y1 = corner[1],
                             .x2 = corner[2],
                             .y2 = corner[3],
                             .area = rounded(single, wide * high),
                             .score = taper_number_load(dtype, score, i * scores->strides[0]),
                             .index = i};
    }
    nms_box *sorted = sort_boxes(boxes, boxes + count, count);
    int64_t kept;
    taper_status status = suppress(call->run, sorted, count, threshold, single, &kept);
    if (status == TAPER_OK) {
        status = taper_ret_new(call, 0, TAPER_I64, 1, &kept, NULL, &y);
    }
    if (status == TAPER_OK) {
        int64_t *out = taper_tensor_mutable(y), at = 0;
        for (int64_t i = 0; i < count; i++) {
            if (!sorted[i].suppressed) {
                out[at++] = sorted[i].index;
            }
        }
    }
    taper_heap_free(call->run->heap, boxes, bytes);
    return status;
}
