// SPDX-License-Identifier: BSD-2-Clause
// affine_grid_generator: computes the positions at which grid_sampler reads an image, in order to rotate, scale, shear
// and shift it.
#include "ops/call/call.h"
#include "ops/engine/volume.h"

// Returns position i of n evenly spaced positions from -1 to 1. Without align_corners these are the centres of n equal
// parts.
static double grid_position(taper_dtype dtype, int64_t i, int64_t n, bool align_corners)
{
    if (n <= 1) {
        return 0.0;
    }
    if (dtype == TAPER_F64) {
        const double gap = 2.0 / (double)(n - 1);
        const double at = i < n / 2 ? -1.0 + gap * (double)i : 1.0 - gap * (double)(n - 1 - i);
        return align_corners ? at : at * (double)(n - 1) / (double)n;
    }
    const float gap = 2.0f / (float)(n - 1);
    const float at = i < n / 2 ? -1.0f + gap * (float)i : 1.0f - gap * (float)(n - 1 - i);
    return (double)(align_corners ? at : at * (float)(n - 1) / (float)n);
}

enum { GRID_BLOCK = 128 }; // number of positions of a line that are computed together

static void grid_line(taper_dtype dtype, void *out, int64_t step, const double *positions, int64_t count, double scale,
                      double rest)
{
    for (int64_t w = 0; w < count && dtype == TAPER_F32; w++) {
        ((float *)out)[w * step] = (float)(positions[w] * scale + rest);
    }
    for (int64_t w = 0; w < count && dtype != TAPER_F32; w++) {
        taper_number_store(dtype, out, w * step, positions[w] * scale + rest);
    }
}

TAPER_KERNEL(taper_op_affine_grid_generator)
{
    taper_error *error = call->run->error;
    taper_tensor *theta, *y;
    int64_t given[5], sizes[5];
    size_t count;
    bool align_corners;
    TAPER_TRY(taper_arg_tensor(call, 0, &theta));
    TAPER_TRY(taper_arg_ints(call, 1, 0, 5, given, &count));
    TAPER_TRY(taper_arg_bool(call, 2, &align_corners));
    const taper_dtype dtype = (taper_dtype)theta->dtype;
    if (count < 4) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "size must have 4 or 5 elements, but has %zu", count);
    }
    const size_t spatial = count - 2;
    if (!taper_dtype_is_float(dtype) || theta->rank != 3 || theta->sizes[0] != given[0] ||
        theta->sizes[1] != (int64_t)spatial || theta->sizes[2] != (int64_t)spatial + 1) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "theta must be a floating-point tensor of sizes N, %zu, %zu", spatial,
                   spatial + 1);
    }
    sizes[0] = given[0];
    for (size_t i = 0; i < spatial; i++) {
        sizes[1 + i] = given[2 + i];
    }
    sizes[spatial + 1] = (int64_t)spatial;
    TAPER_TRY(taper_ret_new(call, 0, dtype, count, sizes, NULL, &y));
    if (taper_tensor_numel(y) == 0) {
        return TAPER_OK;
    }
    const bool volume = spatial == 3;
    const int64_t deep = volume ? sizes[1] : 1, high = sizes[spatial - 1], wide = sizes[spatial];
    const int64_t *strides = y->strides;
    for (int64_t first = 0; first < wide; first += GRID_BLOCK) {
        double positions[GRID_BLOCK];
        const int64_t together = taper_min_i64(GRID_BLOCK, wide - first);
        for (int64_t w = 0; w < together; w++) {
            positions[w] = grid_position(dtype, first + w, wide, align_corners);
        }
        // The product cannot overflow, because it is at most the number of elements of the result.
        for (int64_t line = 0; line < sizes[0] * deep * high; line++) {
            const int64_t h = line % high, d = line / high % deep, n = line / high / deep;
            const double base[2] = {grid_position(dtype, h, high, align_corners),
                                    volume ? grid_position(dtype, d, deep, align_corners) : 0.0};
            TAPER_TRY(taper_run_spend(call->run, (uint64_t)together * 8 + 50));
            for (int64_t i = 0; i < (int64_t)spatial; i++) {
                double row[4] = {0.0};
                for (int64_t j = 0; j <= (int64_t)spatial; j++) {
                    row[j] = taper_number_load(dtype, taper_tensor_data(theta),
                                               n * theta->strides[0] + i * theta->strides[1] + j * theta->strides[2]);
                }
                const double rest = volume ? base[0] * row[1] + base[1] * row[2] + row[3] : base[0] * row[1] + row[2];
                const int64_t at = n * strides[0] + (volume ? d * strides[1] : 0) + h * strides[spatial - 1] +
                                   first * strides[spatial] + i * strides[spatial + 1];
                grid_line(dtype, (char *)taper_tensor_mutable(y) + at * (int64_t)taper_tensor_item(y), strides[spatial],
                          positions, together, row[0], rest);
            }
        }
    }
    return TAPER_OK;
}
