// SPDX-License-Identifier: BSD-2-Clause
// Parts that the quantized operators share: rounding, ranges, tensors with a quantizer. The arithmetic is QNNPACK's:
// single IEEE steps in the order given here. rne rounds to the nearest integer, and a half to the even one, before the
// zero point is added. sat16 saturates to 16 bits.
//   quantize    q = clamp(zero_point + rne(x * (1f / (float)scale)))
//   dequantize  x = (float)scale * (q - zero_point)
//   requantize  q = clamp(sat16(rne((float)acc * multiplier)) + zero_point)
// PyTorch has two versions of its elementwise operators on floats. Its vector loops dequantize with one fused
// multiplication, and give other results for numbers out of range. The functions whose names end in _wide compute what
// the vector loops compute.
#ifndef TAPER_OPS_QUANTIZED_H
#define TAPER_OPS_QUANTIZED_H

#include <math.h>

#include "ops/call/call.h"

typedef struct taper_q_range {
    int64_t low, high;
} taper_q_range;

inline taper_q_range taper_q_range_of(taper_dtype dtype) // returns the range of QU8, QI8 or QI32
{
    return dtype == TAPER_QU8   ? (taper_q_range){0, 255}
           : dtype == TAPER_QI8 ? (taper_q_range){-128, 127}
                                : (taper_q_range){INT32_MIN, INT32_MAX};
}

inline int64_t taper_q_clamp(int64_t q, taper_q_range range)
{
    return q < range.low ? range.low : q > range.high ? range.high : q;
}

// Returns rne(x) plus the zero point, computed as a float and clamped to range. Infinities, NaN and numbers that do not
// fit into an int64 give the lowest integer of the range: x86 converts them to the smallest int64, and PyTorch clamps
// afterwards.
inline int64_t taper_q_round(float x, int64_t zero_point, taper_q_range range)
{
    const float q = nearbyintf(x) + (float)zero_point;
    return q >= -9.2e18f && q <= 9.2e18f ? taper_q_clamp((int64_t)q, range) : range.low;
}

// Rounds as PyTorch's vector loops do for 8-bit results. The results are those of taper_q_round, except that NaN and
// numbers that are too large give the highest integer.
inline int64_t taper_q_round_wide(float x, int64_t zero_point, taper_q_range range)
{
    const float rounded = nearbyintf(x);
    return rounded < -2147483648.0f   ? range.low
           : rounded <= 2147483520.0f ? taper_q_clamp((int64_t)rounded + zero_point, range)
                                      : range.high;
}

static inline float taper_q_dequantize(float scale, int64_t zero_point, int64_t q)
{
    return scale * (float)(int32_t)((uint32_t)q - (uint32_t)zero_point); // the difference of qint32 wraps around
}

static inline float taper_q_dequantize_wide(float scale, int64_t zero_point, int64_t q)
{
    return fmaf(scale, (float)q, scale * -(float)zero_point);
}

// Converts a layer's sum of products to an integer of its result.
inline int64_t taper_q_requantize(int32_t acc, float multiplier, int64_t zero_point, taper_q_range range)
{
    const float rounded = nearbyintf((float)acc * multiplier);
    // A NaN becomes the smallest integer, as in the vector instructions of x86.
    const int64_t q = (rounded >= 32767.0f ? 32767 : rounded > -32768.0f ? (int64_t)rounded : -32768) + zero_point;
    return taper_q_clamp(q, range);
}

// Converts a sum for elementwise operators. Nothing saturates before the zero point is added. If `wide` is set, a
// number that does not fit into an int32 becomes the smallest int32, and sums of qint32 wrap around.
inline int64_t taper_q_from_int(taper_dtype dtype, int32_t acc, float multiplier, int64_t zero_point, bool wide)
{
    const float rounded = nearbyintf((float)acc * multiplier);
    int64_t q = rounded >= -9.2e18f && rounded <= 9.2e18f ? (int64_t)rounded : INT64_MIN / 2;
    if (wide) {
        q = q < INT32_MIN || q > INT32_MAX ? INT32_MIN : q;
        if (dtype == TAPER_QI32) {
            return (int32_t)((uint32_t)q + (uint32_t)zero_point);
        }
    }
    return taper_q_clamp(q + zero_point, taper_q_range_of(dtype));
}

inline int64_t taper_q_load(taper_dtype dtype, const void *data, int64_t at)
{
    return dtype == TAPER_QU8   ? ((const uint8_t *)data)[at]
           : dtype == TAPER_QI8 ? ((const int8_t *)data)[at]
                                : ((const int32_t *)data)[at];
}

inline void taper_q_store(taper_dtype dtype, void *data, int64_t at, int64_t q)
{
    if (dtype == TAPER_QI32) {
        ((int32_t *)data)[at] = (int32_t)q;
    } else {
        ((uint8_t *)data)[at] = (uint8_t)q;
    }
}

// These functions convert a quantized dtype to the dtype of its integers (int_repr: uint8, int8 or int32), and back.
taper_dtype taper_q_plain_dtype(taper_dtype dtype);
TAPER_MUST_USE taper_status taper_q_dtype_of(const taper_call *call, taper_dtype plain, taper_dtype *dtype);
// Returns true for the quantized dtypes that operators compute with.
static inline bool taper_q_is_dtype(taper_dtype dtype)
{
    return dtype == TAPER_QU8 || dtype == TAPER_QI8 || dtype == TAPER_QI32;
}

// Fails unless the tensor has a quantized dtype and a usable quantizer: scales are positive and finite, and zero points
// are within the dtype's range. Along a channel axis, which must exist, there is a scale and a zero point for every
// index.
TAPER_MUST_USE taper_status taper_q_check_tensor(taper_run *run, const char *name, const taper_tensor *tensor);
// These functions read argument `at`, which must be a tensor that taper_q_check_tensor accepts. taper_arg_uniform also
// requires that the tensor is quantized per tensor. The call owns the tensor.
TAPER_MUST_USE taper_status taper_arg_quantized(const taper_call *call, size_t at, taper_tensor **tensor);
TAPER_MUST_USE taper_status taper_arg_uniform(const taper_call *call, size_t at, taper_tensor **tensor);

// Fails unless scale is positive and finite and zero_point is within dtype's range.
TAPER_MUST_USE taper_status taper_q_check(taper_dtype dtype, double scale, int64_t zero_point, taper_error *error);
// Computes scale and zero point for numbers from least to most, extended to contain 0, over the integers of the range.
// The zero point is computed from the end of the range at which its error is smaller. If `symmetric` is set, the zero
// point is in the middle of the range if there are numbers on both sides of 0.
void taper_q_span(float least, float most, taper_q_range range, bool symmetric, double *scale, int64_t *zero_point);
// Reads arguments `at` and `at` + 1, the scale and zero point of a result, and checks them.
TAPER_MUST_USE taper_status taper_arg_qparams(const taper_call *call, size_t at, taper_dtype dtype, double *scale,
                                              int64_t *zero_point);

// Makes result `at` as taper_ret_new does, quantized per tensor. An out argument must have this dtype, and gets the
// quantizer.
TAPER_MUST_USE taper_status taper_ret_quantized(taper_call *call, size_t at, taper_dtype dtype, size_t rank,
                                                const int64_t *sizes, const int64_t *strides, double scale,
                                                int64_t zero_point, taper_tensor **tensor);
// Returns the tensor that receives result `at`, or NULL if the result is new. The out arguments of quantized operators
// are positional.
taper_tensor *taper_q_out(const taper_call *call, size_t at);
// Makes result `at` with x's dtype and sizes, in the memory format that x's strides suggest.
TAPER_MUST_USE taper_status taper_ret_quantized_like(taper_call *call, size_t at, const taper_tensor *x, double scale,
                                                     int64_t zero_point, taper_tensor **tensor);
// Makes a quantizer with scales (float64) and zero points (int64) converted from the tensors. The caller releases both
// with taper_q_release.
TAPER_MUST_USE taper_status taper_q_channel_quantizer(const taper_call *call, const taper_tensor *scales,
                                                      const taper_tensor *zero_points, int64_t axis,
                                                      taper_quantizer *quantizer);
void taper_q_release(taper_quantizer *quantizer);

// These functions set the quantizers of views. The view has `count` channels, every `step`th one from `start` on. A
// per-tensor quantizer is copied. If the axis is removed (select), the quantizer becomes a per-tensor quantizer. The
// functions fail only if there is no memory.
TAPER_MUST_USE taper_status taper_q_slice(taper_run *run, taper_tensor *view, const taper_tensor *of, size_t dim,
                                          int64_t start, int64_t step);
TAPER_MUST_USE taper_status taper_q_select(taper_run *run, taper_tensor *view, const taper_tensor *of, size_t dim,
                                           int64_t index);

// Returns the scale and the zero point of channel c.
void taper_q_channel_params(const taper_quantizer *z, int64_t c, double *scale, int64_t *zero_point);

#endif
