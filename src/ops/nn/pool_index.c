// SPDX-License-Identifier: BSD-2-Clause
// max_unpool writes elements back to the positions from which max_pool took them. fractional_max_pool places its
// windows by random samples, which are an argument.
#include <math.h>

#include "ops/call/call.h"
#include "ops/engine/view_move.h"
#include "ops/nn/pool.h"

static taper_status same_sizes(const taper_call *call, const taper_tensor *a, const taper_tensor *b)
{
    if (a->rank != b->rank || memcmp(a->sizes, b->sizes, a->rank * sizeof *a->sizes) != 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the indices must have the sizes of the input");
    }
    return TAPER_OK;
}

static taper_status outside(const taper_call *call, int64_t at)
{
    return taper_fail(call->run->error, TAPER_ERROR_ARGUMENT, "index %lld is outside the output", (long long)at);
}

// Unpools contiguous planes of elements of 4 bytes.
static taper_status unpool_planes(taper_call *call, const int64_t *where, const uint32_t *in, uint32_t *out,
                                  int64_t planes, int64_t count, int64_t plane)
{
    enum { TOGETHER = 256 };
    for (int64_t p = 0; p < planes; p++, out += plane) {
        for (int64_t at = 0; at < count; at += TOGETHER) {
            const int64_t n = taper_min_i64(TOGETHER, count - at);
            TAPER_TRY(taper_run_spend(call->run, 3 * (uint64_t)n));
            for (int64_t i = 0; i < n; i++, where++, in++) {
                if ((uint64_t)*where >= (uint64_t)plane) {
                    return outside(call, *where);
                }
                out[*where] = *in;
            }
        }
    }
    return TAPER_OK;
}

TAPER_KERNEL(taper_op_max_unpool)
{
    taper_tensor *x, *indices, *y;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_tensor(call, 1, &indices));
    const size_t spatial = taper_spatial_of(call);
    TAPER_TRY(taper_volume_check(call, x, spatial, true));
    TAPER_TRY(same_sizes(call, x, indices));
    if (indices->dtype != TAPER_I64) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the indices must be int64");
    }
    if (taper_dtype_is_quantized((taper_dtype)x->dtype) || taper_tensor_item(x) == 0) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "the input must be a tensor of floating-point numbers");
    }
    int64_t given[3], size[3] = {1, 1, 1};
    size_t count;
    TAPER_TRY(taper_arg_ints(call, 2, spatial, 3, given, &count));
    memcpy(size + 3 - spatial, given, spatial * sizeof *size);
    TAPER_TRY(taper_out_check(call, 0, indices, (taper_dtype)x->dtype));
    TAPER_TRY(taper_volume_result(call, 0, x, (taper_dtype)x->dtype, spatial, size, spatial == 2, &y));

    const taper_volume from = taper_volume_of(x, spatial), index = taper_volume_of(indices, spatial),
                       to = taper_volume_of(y, spatial);
    const size_t item = taper_tensor_item(x);
    static const uint64_t zero[2] = {0, 0};
    const int64_t none[TAPER_MAX_RANK] = {0};
    taper_move(call->run, item, y->rank, y->sizes, taper_tensor_mutable(y), y->strides, zero, none);
    const int64_t *where = taper_tensor_data(indices);
    const char *in = taper_tensor_data(x);
    char *out = taper_tensor_mutable(y);
    const int64_t plane = to.size[0] * to.size[1] * to.size[2];
    if (item == sizeof(uint32_t) && taper_tensor_is_contiguous(x) && taper_tensor_is_contiguous(indices) &&
        taper_tensor_is_contiguous(y)) {
        return unpool_planes(call, where, (const uint32_t *)(const void *)in, (uint32_t *)(void *)out, from.n * from.c,
                             from.size[0] * from.size[1] * from.size[2], plane);
    }
    for (int64_t n = 0; n < from.n; n++) {
        for (int64_t c = 0; c < from.c; c++) {
            for (int64_t d = 0; d < from.size[0]; d++) {
                for (int64_t h = 0; h < from.size[1]; h++) {
                    TAPER_TRY(taper_run_spend(call->run, 10 * (uint64_t)from.size[2]));
                    for (int64_t w = 0; w < from.size[2]; w++) {
                        const int64_t at = where[n * index.stride_n + c * index.stride_c + d * index.stride[0] +
                                                 h * index.stride[1] + w * index.stride[2]];
                        if (at < 0 || at >= plane) {
                            return outside(call, at);
                        }
                        const int64_t row = at / to.size[2];
                        const int64_t target = n * to.stride_n + c * to.stride_c + row / to.size[1] * to.stride[0] +
                                               row % to.size[1] * to.stride[1] + at % to.size[2] * to.stride[2];
                        const int64_t source = n * from.stride_n + c * from.stride_c + d * from.stride[0] +
                                               h * from.stride[1] + w * from.stride[2];
                        memcpy(out + target * (int64_t)item, in + source * (int64_t)item, item);
                    }
                }
            }
        }
    }
    return TAPER_OK;
}

// Returns the start of window o of `outputs`, in single precision like the samples.
static int64_t interval(float sample, int64_t o, int64_t input, int64_t outputs, int64_t pool)
{
    const int64_t last = input - pool;
    if (o == outputs - 1) {
        return last;
    }
    const float alpha = (float)last / (float)(outputs - 1);
    const float at = truncf(((float)o + sample) * alpha) - truncf(sample * alpha);
    return at >= 0.0f ? taper_min_i64(at < 4.0e9f ? (int64_t)at : last, last) : 0;
}

enum { PIECE = 4096 }; // number of positions of a window between two checks of the run's time

TAPER_KERNEL(taper_op_fractional_max_pool)
{
    taper_tensor *x, *samples, *y, *indices;
    const size_t spatial = taper_spatial_of(call);
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_volume_check(call, x, spatial, true));
    int64_t kernel[3] = {1, 1, 1}, size[3] = {1, 1, 1}, numbers[3];
    size_t count;
    TAPER_TRY(taper_arg_ints(call, 1, spatial, 3, numbers, &count));
    memcpy(kernel + 3 - spatial, numbers, spatial * sizeof *numbers);
    TAPER_TRY(taper_arg_ints(call, 2, spatial, 3, numbers, &count));
    memcpy(size + 3 - spatial, numbers, spatial * sizeof *numbers);
    TAPER_TRY(taper_arg_tensor(call, 3, &samples));
    const taper_volume from = taper_volume_of(x, spatial);
    for (size_t i = 0; i < 3; i++) {
        // For volumes PyTorch requires an input that is one element larger than the windows need.
        const int64_t most = from.size[i] - taper_max_i64(size[i], 1) + (spatial == 2 ? 1 : 0);
        if (size[i] < 1 || kernel[i] < 1 || size[i] > from.size[i] || kernel[i] > most) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                       "windows of %lld cannot give %lld outputs from %lld inputs", (long long)kernel[i],
                       (long long)size[i], (long long)from.size[i]);
        }
    }
    if (!taper_dtype_is_float((taper_dtype)x->dtype) || samples->dtype != x->dtype || samples->rank != 3 ||
        samples->sizes[0] != from.n || samples->sizes[1] != from.c || samples->sizes[2] != (int64_t)spatial) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "expected a floating-point input and one random sample of its dtype for each plane");
    }
    const taper_dtype dtype = (taper_dtype)x->dtype;
    TAPER_TRY(taper_volume_result(call, 0, x, dtype, spatial, size, false, &y));
    TAPER_TRY(taper_volume_result(call, 1, x, TAPER_I64, spatial, size, false, &indices));
    const taper_volume to = taper_volume_of(y, spatial), where = taper_volume_of(indices, spatial);
    const void *in = taper_tensor_data(x), *sample_data = taper_tensor_data(samples);
    void *out = taper_tensor_mutable(y);
    int64_t *out_indices = taper_tensor_mutable(indices);
    for (int64_t n = 0; n < from.n; n++) {
        for (int64_t c = 0; c < from.c; c++) {
            // The samples of a plane are in the order width, height; the samples of a volume are in the order depth,
            // height, width.
            float sample[3] = {0.0f, 0.0f, 0.0f};
            for (size_t i = 0; i < spatial; i++) {
                const int64_t at = n * samples->strides[0] + c * samples->strides[1] + (int64_t)i * samples->strides[2];
                sample[spatial == 2 ? 2 - i : i] = (float)taper_number_load(dtype, sample_data, at);
            }
            const int64_t base = n * from.stride_n + c * from.stride_c;
            for (int64_t d = 0; d < size[0]; d++) {
                const int64_t d0 = interval(sample[0], d, from.size[0], size[0], kernel[0]);
                for (int64_t h = 0; h < size[1]; h++) {
                    const int64_t h0 = interval(sample[1], h, from.size[1], size[1], kernel[1]);
                    for (int64_t w = 0; w < size[2]; w++) {
                        const int64_t w0 = interval(sample[2], w, from.size[2], size[2], kernel[2]);
                        double best = -INFINITY;
                        int64_t best_at = (d0 * from.size[1] + h0) * from.size[2] + w0;
                        for (int64_t i = d0; i < d0 + kernel[0]; i++) {
                            for (int64_t j = h0; j < h0 + kernel[1]; j++) {
                                TAPER_TRY(
                                    taper_run_spend(call->run, (uint64_t)taper_min_i64(kernel[2], PIECE) * 6 + 20));
                                for (int64_t k = w0; k < w0 + kernel[2]; k++) {
                                    if ((k - w0) % PIECE == PIECE - 1) {
                                        TAPER_TRY(taper_run_spend(call->run, PIECE * 6));
                                    }
                                    const double v = taper_number_load(
                                        dtype, in, base + i * from.stride[0] + j * from.stride[1] + k * from.stride[2]);
                                    if (v > best || v != v) {
                                        best = v;
                                        best_at = (i * from.size[1] + j) * from.size[2] + k;
                                    }
                                }
                            }
                        }
                        taper_number_store(dtype, out,
                                           n * to.stride_n + c * to.stride_c + d * to.stride[0] + h * to.stride[1] +
                                               w * to.stride[2],
                                           best);
                        out_indices[n * where.stride_n + c * where.stride_c + d * where.stride[0] +
                                    h * where.stride[1] + w * where.stride[2]] = best_at;
                    }
                }
            }
        }
    }
    return TAPER_OK;
}
