// SPDX-License-Identifier: BSD-2-Clause
// _caffe2::HeatmapMaxKeypoint finds the position of each keypoint in its box, between the elements of its heat map.
// _caffe2::BatchPermutation puts the rows of a tensor in another order.
#include <math.h>

#include "ops/call/call.h"
#include "ops/vision/caffe2_boxes.h"

// Copies the 3 × 3 elements around (x, y), the position of the greatest element. A neighbour beyond an edge is replaced
// by the neighbour on the opposite side.
static void neighbours(const float *map, int64_t size, int64_t x, int64_t y, double near[3][3])
{
    for (int64_t i = -1; i <= 1; i++) {
        const int64_t row = y + i < 0 || y + i >= size ? y - i : y + i;
        for (int64_t j = -1; j <= 1; j++) {
            const int64_t column = x + j < 0 || x + j >= size ? x - j : x + j;
            near[i + 1][j + 1] = (double)map[row * size + column];
        }
    }
}

// Finds the extreme of the quadratic surface through the 3 × 3 elements. *dx and *dy are its distance from the middle
// element, and the return value is its height. If the surface is too flat, the middle element is used.
static double refine(double near[3][3], double *dx, double *dy)
{
    const double most = 1.5; // largest distance of the extreme from the middle, in elements
    const double gx = (near[1][2] - near[1][0]) / 2.0, gy = (near[2][1] - near[0][1]) / 2.0;
    const double xx = near[1][0] - 2.0 * near[1][1] + near[1][2], yy = near[0][1] - 2.0 * near[1][1] + near[2][1];
    const double xy = (near[2][2] - near[2][0] - near[0][2] + near[0][0]) / 4.0;
    const double determinant = xx * yy - xy * xy;
    *dx = *dy = 0.0;
    if (!(fabs(determinant) >= 1e-4)) {
        return near[1][1];
    }
    double x = (xy * gy - yy * gx) / determinant, y = (xy * gx - xx * gy) / determinant;
    const double far = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
    if (far > most) {
        x = x / far * most;
        y = y / far * most;
    }
    *dx = x;
    *dy = y;
    return near[1][1] + gx * x + gy * y + 0.5 * (xx * x * x + 2.0 * xy * x * y + yy * y * y);
}

static taper_status find_keypoints(taper_call *call, taper_box_scratch *scratch)
{
    const taper_tensor *maps, *boxes;
    const float *map, *box;
    bool softmax;
    TAPER_TRY(taper_box_arg(call, scratch, 0, 4, &maps, &map));
    TAPER_TRY(taper_box_arg(call, scratch, 1, 2, &boxes, &box));
    TAPER_TRY(taper_arg_bool(call, 2, &softmax));
    const int64_t regions = maps->sizes[0], points = maps->sizes[1], size = maps->sizes[2];
    if (size < 2 || maps->sizes[3] != size) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "heatmaps must be squares of 2 elements or more");
    }
    if (boxes->sizes[0] != regions || boxes->sizes[1] < 4) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "bboxes_in must have %lld rows of 4 columns or more",
                   (long long)regions);
    }
    taper_tensor *result;
    const int64_t sizes[3] = {regions, 4, points};
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, 3, sizes, NULL, &result));
    float *out = taper_tensor_mutable(result);
    for (int64_t k = 0; k < regions; k++, box += boxes->sizes[1], out += 4 * points) {
        const float wide = box[2] - box[0] > 1.0f ? box[2] - box[0] : 1.0f;
        const float high = box[3] - box[1] > 1.0f ? box[3] - box[1] : 1.0f;
        for (int64_t j = 0; j < points; j++, map += size * size) {
            TAPER_TRY(taper_run_spend(call->run, (uint64_t)(size * size) * 2 + 100));
            int64_t best = 0;
            for (int64_t i = 1; i < size * size; i++) {
                best = map[i] > map[best] ? i : best;
            }
            double near[3][3], dx, dy, sum = 0.0;
            neighbours(map, size, best % size, best / size, near);
            const double score = refine(near, &dx, &dy);
            for (int64_t i = 0; softmax && i < size * size; i++) {
                sum += exp((double)map[i] - (double)map[best]);
            }
            out[j] = (float)((double)box[0] + (0.5 + (double)(best % size) + dx) * (double)wide / (double)size);
            out[points + j] =
                (float)((double)box[1] + (0.5 + (double)(best / size) + dy) * (double)high / (double)size);
            out[2 * points + j] = (float)score;
            out[3 * points + j] = softmax ? (float)(1.0 / sum) : 0.0f;
        }
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_caffe2_keypoint)
{
    taper_box_scratch scratch = {0};
    const taper_status status = find_keypoints(call, &scratch);
    taper_box_free(&scratch);
    return status;
}

static taper_status permute_rows(taper_call *call, taper_box_scratch *scratch)
{
    const taper_tensor *x;
    taper_tensor *indices, *y;
    const float *from;
    TAPER_TRY(taper_box_arg(call, scratch, 0, 0, &x, &from));
    TAPER_TRY(taper_arg_tensor(call, 1, &indices));
    if (x->rank == 0 || indices->rank != 1 || indices->sizes[0] != x->sizes[0]) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "indices must be a vector with an item for each row of X");
    }
    if (indices->dtype != TAPER_I32 && indices->dtype != TAPER_I64) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "indices must be int32 or int64");
    }
    TAPER_TRY(taper_ret_new(call, 0, TAPER_F32, x->rank, x->sizes, NULL, &y));
    const int64_t rows = x->sizes[0], row = rows > 0 ? taper_tensor_numel(x) / rows : 0;
    float *to = taper_tensor_mutable(y);
    for (int64_t i = 0; i < rows; i++) {
        const int64_t index =
            taper_load_int((taper_dtype)indices->dtype, taper_tensor_data(indices), i * indices->strides[0]);
        if (index < 0 || index >= rows) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "indices: %lld is not a row of X, which has %lld",
                       (long long)index, (long long)rows);
        }
        if (row > 0) {
            memcpy(to + i * row, from + index * row, (size_t)row * sizeof *to);
        }
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_caffe2_permute)
{
    taper_box_scratch scratch = {0};
    const taper_status status = permute_rows(call, &scratch);
    taper_box_free(&scratch);
    return status;
}
