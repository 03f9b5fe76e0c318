// SPDX-License-Identifier: BSD-2-Clause
// torchvision::nms: keeps the best-scored boxes of those that overlap too much.
#include "ops/kernels.h"
#include "ops/volume.h"

typedef struct nms_box {
    double x1, y1, x2, y2, area;
    double score;
    int64_t index;
    bool suppressed;
} nms_box;

// Descending; NaN before everything, as PyTorch sorts.
static bool comes_after(const nms_box *a, const nms_box *b)
{
    if (a->score != a->score) {
        return false;
    }
    return b->score != b->score || a->score < b->score;
}

// A stable merge sort between boxes and spare; the result is in the returned one of the two.
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
    return single ? (double)(float)value : value;
}

static int64_t suppress(nms_box *boxes, int64_t count, double threshold, bool single)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        const nms_box *a = &boxes[i];
        if (a->suppressed) {
            continue;
        }
        kept++;
        for (int64_t j = i + 1; j < count; j++) {
            nms_box *b = &boxes[j];
            const double x1 = a->x1 < b->x1 ? b->x1 : a->x1, y1 = a->y1 < b->y1 ? b->y1 : a->y1;
            const double x2 = b->x2 < a->x2 ? b->x2 : a->x2, y2 = b->y2 < a->y2 ? b->y2 : a->y2;
            const double wide = rounded(single, x2 - x1), high = rounded(single, y2 - y1);
            const double shared = rounded(single, (wide > 0.0 ? wide : 0.0) * (high > 0.0 ? high : 0.0));
            const double both = rounded(single, rounded(single, a->area + b->area) - shared);
            if (rounded(single, shared / both) > threshold) {
                b->suppressed = true;
            }
        }
    }
    return kept;
}

taper_status taper_op_nms(taper_call *call)
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
    const int64_t kept = suppress(sorted, count, threshold, single);
    const taper_status status = taper_ret_new(call, 0, TAPER_I64, 1, &kept, NULL, &y);
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
