// SPDX-License-Identifier: BSD-2-Clause
// What the quantized operators share: rounding, ranges, tensors with a quantizer. The arithmetic is QNNPACK's: IEEE
// single steps in the order written here; rne rounds to the nearest even integer, before the zero point is added.
//   quantize    q = clamp(zero_point + rne(x * (1f / (float)scale)))
//   dequantize  x = (float)scale * (q - zero_point)
//   requantize  q = clamp(sat16(rne((float)acc * multiplier)) + zero_point)
#ifndef TAPER_OPS_QUANTIZED_H
#define TAPER_OPS_QUANTIZED_H

#include <math.h>

#include "ops/call.h"

typedef struct taper_q_range {
    int64_t low, high;
} taper_q_range;

static inline taper_q_range taper_q_range_of(taper_dtype dtype) // QU8, QI8 or QI32
{
    return dtype == TAPER_QU8   ? (taper_q_range){0, 255}
           : dtype == TAPER_QI8 ? (taper_q_range){-128, 127}
                                : (taper_q_range){INT32_MIN, INT32_MAX};
}

// rne(x) held within range after the zero point is added; NaN gives the lowest.
static inline int64_t taper_q_round(float x, int64_t zero_point, taper_q_range range)
{
    const float rounded = nearbyintf(x);
    const int64_t q = !(rounded >= -4e9f) ? range.low : rounded > 4e9f ? range.high : (int64_t)rounded + zero_point;
    return q < range.low ? range.low : q > range.high ? range.high : q;
}

// The sum of products of a layer to its result's integer.
static inline int64_t taper_q_requantize(int32_t acc, float multiplier, int64_t zero_point, taper_q_range range)
{
    const float rounded = nearbyintf((float)acc * multiplier);
    const int64_t q = (rounded >= 32767.0f ? 32767 : rounded <= -32768.0f ? -32768 : (int64_t)rounded) + zero_point;
    return q < range.low ? range.low : q > range.high ? range.high : q;
}

// The dtype of the integers (int_repr): uint8, int8, int32.
taper_dtype taper_q_plain_dtype(taper_dtype dtype);

// Argument `at`, which must be a quantized tensor (its quantizer is not NULL).
TAPER_MUST_USE taper_status taper_arg_quantized(const taper_call *call, size_t at, taper_tensor **tensor);

// Fails unless scale is positive and finite and zero_point is within dtype's range.
TAPER_MUST_USE taper_status taper_q_check(const taper_call *call, taper_dtype dtype, double scale, int64_t zero_point);

// As taper_ret_new for a result that is quantized per tensor.
TAPER_MUST_USE taper_status taper_ret_quantized(taper_call *call, size_t at, taper_dtype dtype, size_t rank,
                                                const int64_t *sizes, const int64_t *strides, double scale,
                                                int64_t zero_point, taper_tensor **tensor);

#endif
