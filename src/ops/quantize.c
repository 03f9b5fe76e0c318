// SPDX-License-Identifier: BSD-2-Clause
// Quantizing and dequantizing: the formulas are in quantized.h.
#include <inttypes.h>

#include "ops/kernels.h"
#include "ops/quantized.h"

taper_status taper_arg_quantized(const taper_call *call, size_t at, taper_tensor **tensor)
{
    TAPER_TRY(taper_arg_tensor(call, at, tensor));
    if ((*tensor)->quantizer == NULL) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT, "argument '%s' is not a quantized tensor but %s",
                   taper_arg_name(call, at), taper_dtype_name((taper_dtype)(*tensor)->dtype));
    }
    return TAPER_OK;
}

taper_dtype taper_q_plain_dtype(taper_dtype dtype)
{
    return dtype == TAPER_QU8 ? TAPER_U8 : dtype == TAPER_QI8 ? TAPER_I8 : TAPER_I32;
}

taper_status taper_q_check(const taper_call *call, taper_dtype dtype, double scale, int64_t zero_point)
{
    const taper_q_range range = taper_q_range_of(dtype);
    if (!(scale > 0) || isinf(scale) || zero_point < range.low || zero_point > range.high) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "scale %g and zero point %" PRId64 " do not quantize to %s: the scale must be positive and finite, "
                   "the zero point between %" PRId64 " and %" PRId64,
                   scale, zero_point, taper_dtype_name(dtype), range.low, range.high);
    }
    return TAPER_OK;
}

taper_status taper_ret_quantized(taper_call *call, size_t at, taper_dtype dtype, size_t rank, const int64_t *sizes,
                                 const int64_t *strides, double scale, int64_t zero_point, taper_tensor **tensor)
{
    const taper_quantizer quantizer = {.scheme = TAPER_PER_TENSOR_AFFINE, .scale = scale, .zero_point = zero_point};
    TAPER_TRY(taper_q_check(call, dtype, scale, zero_point));
    TAPER_TRY(taper_ret_new(call, at, dtype, rank, sizes, strides, tensor));
    return taper_tensor_set_quantizer(*tensor, &quantizer, call->run->error);
}

// The integers of a quantized tensor as a plain contiguous one.
static taper_status integers(taper_run *run, taper_tensor *q, taper_tensor **result)
{
    taper_tensor *made;
    *result = NULL;
    TAPER_TRY(taper_tensor_new(run->heap, taper_q_plain_dtype((taper_dtype)q->dtype), q->rank, q->sizes, NULL, &made,
                               run->error));
    const taper_status status = taper_tensor_copy(made, q, run->error);
    if (status != TAPER_OK) {
        taper_obj_release(&made->head);
        return status;
    }
    *result = made;
    return TAPER_OK;
}

// Scale and zero point for runs of `inner` elements, `count` channels in turn.
static void dequantize_runs(const taper_quantizer *z, taper_dtype dtype, const void *from, float *to, int64_t outer,
                            int64_t channels, int64_t inner)
{
    const bool per_channel = z->scales != NULL;
    const void *scales = per_channel ? taper_tensor_data(z->scales) : NULL;
    const void *points = per_channel ? taper_tensor_data(z->zero_points) : NULL;
    int64_t at = 0;
    for (int64_t o = 0; o < outer; o++) {
        for (int64_t c = 0; c < channels; c++) {
            const float scale =
                (float)(per_channel ? taper_load_double((taper_dtype)z->scales->dtype, scales, c) : z->scale);
            const int64_t point =
                per_channel ? taper_load_int((taper_dtype)z->zero_points->dtype, points, c) : z->zero_point;
            for (int64_t i = 0; i < inner; i++, at++) {
                to[at] = scale * (float)(taper_load_int(dtype, from, at) - point);
            }
        }
    }
}

taper_status taper_op_dequantize(taper_call *call)
{
    taper_tensor *q, *ints, *y;
    TAPER_TRY(taper_arg_tensor(call, 0, &q));
    if (q->quantizer == NULL && q->dtype == TAPER_F32) {
        taper_obj_retain(&q->head);
        taper_ret(call, 0, TAPER_VAL(q));
        return TAPER_OK;
    }
    TAPER_TRY(taper_arg_quantized(call, 0, &q));
    const taper_quantizer *z = q->quantizer;
    int64_t channels = 1, inner = taper_tensor_numel(q), outer = 1;
    if (z->scales != NULL) {
        if (z->axis < 0 || z->axis >= q->rank || z->zero_points == NULL ||
            taper_tensor_numel(z->scales) != q->sizes[z->axis] ||
            taper_tensor_numel(z->zero_points) != q->sizes[z->axis] || !taper_tensor_is_contiguous(z->scales) ||
            !taper_tensor_is_contiguous(z->zero_points)) {
            TAPER_FAIL(call->run->error, TAPER_ERROR_FILE,
                       "the scales of a per-channel quantized tensor do not fit its sizes");
        }
        channels = q->sizes[z->axis];
        for (int64_t d = 0; d < z->axis; d++) {
            outer *= q->sizes[d];
        }
        inner = channels == 0 || outer == 0 ? 0 : inner / channels / outer;
    }
    TAPER_TRY(integers(call->run, q, &ints));
    const taper_status status = taper_ret_new(call, 0, TAPER_F32, q->rank, q->sizes, NULL, &y);
    if (status == TAPER_OK) {
        dequantize_runs(z, (taper_dtype)ints->dtype, taper_tensor_data(ints), taper_tensor_mutable(y), outer, channels,
                        inner);
    }
    taper_obj_release(&ints->head);
    return status;
}

taper_status taper_op_int_repr(taper_call *call)
{
    taper_tensor *q, *ints;
    TAPER_TRY(taper_arg_quantized(call, 0, &q));
    TAPER_TRY(integers(call->run, q, &ints));
    return taper_ret_tensor(call, 0, ints);
}

taper_status taper_op_q_scale(taper_call *call)
{
    taper_tensor *q;
    TAPER_TRY(taper_arg_quantized(call, 0, &q));
    taper_ret(call, 0, taper_val_double(q->quantizer->scale));
    return TAPER_OK;
}

taper_status taper_op_q_zero_point(taper_call *call)
{
    taper_tensor *q;
    TAPER_TRY(taper_arg_quantized(call, 0, &q));
    taper_ret(call, 0, taper_val_int(q->quantizer->zero_point));
    return TAPER_OK;
}

taper_status taper_op_quantize_per_tensor(taper_call *call)
{
    taper_tensor *x, *plain, *y;
    double scale;
    int64_t point;
    taper_dtype dtype;
    TAPER_TRY(taper_arg_tensor(call, 0, &x));
    TAPER_TRY(taper_arg_double(call, 1, &scale));
    TAPER_TRY(taper_arg_int(call, 2, &point));
    TAPER_TRY(taper_arg_dtype_or(call, 3, TAPER_QU8, &dtype));
    if (x->dtype != TAPER_F32 || (dtype != TAPER_QU8 && dtype != TAPER_QI8 && dtype != TAPER_QI32)) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
                   "a float tensor and a quantized dtype are needed, got %s, %s",
                   taper_dtype_name((taper_dtype)x->dtype), taper_dtype_name(dtype));
    }
    TAPER_TRY(taper_tensor_contiguous(call->run->heap, x, &plain, call->run->error));
    const taper_status status = taper_ret_quantized(call, 0, dtype, x->rank, x->sizes, NULL, scale, point, &y);
    if (status == TAPER_OK) {
        const taper_q_range range = taper_q_range_of(dtype);
        const float *from = taper_tensor_data(plain);
        void *to = taper_tensor_mutable(y);
        const float inverse = 1.0f / (float)scale;
        const int64_t count = taper_tensor_numel(x);
        for (int64_t i = 0; i < count; i++) {
            const int64_t q = taper_q_round(from[i] * inverse, point, range);
            if (dtype == TAPER_QI32) {
                ((int32_t *)to)[i] = (int32_t)q;
            } else {
                ((uint8_t *)to)[i] = (uint8_t)q;
            }
        }
    }
    taper_obj_release(&plain->head);
    return status;
}
