// SPDX-License-Identifier: BSD-2-Clause
// The references of quantized layers: integer sums over contiguous rows of activations (uint8; int8 ones are shifted)
// and weights (int8), the same for layers with a quantized result and for dynamic ones.
#ifndef TAPER_OPS_QUANTIZED_LAYER_H
#define TAPER_OPS_QUANTIZED_LAYER_H

#include "ops/quantized/quantized_params.h"

// The sum of (x - x_zero) * (w - w_zero); it wraps around, as QNNPACK's does.
uint32_t taper_q_dot(const uint8_t *x, const int8_t *w, int64_t count, int32_t x_zero, int32_t w_zero);

// ---- activations

// The elements of a quantized tensor as contiguous uint8, NHWC for rank 4 and 5: the tensor itself where it lies like
// that, a copy otherwise. Integers of qint8 are raised by 128, and so is zero_point.
typedef struct taper_q_input {
    taper_tensor *kept; // owned
    const uint8_t *data;
    int32_t zero_point;
    double scale;
} taper_q_input;
TAPER_MUST_USE taper_status taper_q_input_open(taper_run *run, taper_tensor *tensor, taper_q_input *input);
// Of a float32 tensor, quantized by its own range as dynamic layers do.
TAPER_MUST_USE taper_status taper_q_input_dynamic(taper_run *run, taper_tensor *tensor, taper_q_input *input);
// The same by this scale, which is positive and finite, and zero point, within a byte.
TAPER_MUST_USE taper_status taper_q_input_told(taper_run *run, taper_tensor *tensor, double scale, int64_t zero_point,
                                               taper_q_input *input);
void taper_q_input_close(taper_q_input *input);

// The scale and zero point of integers in range for values from min to max, as dynamic layers choose them. Fails on
// infinities.
TAPER_MUST_USE taper_status taper_q_choose(taper_run *run, taper_q_range range, float min, float max, double *scale,
                                           int64_t *zero_point);

// What becomes of a sum.
typedef struct taper_q_output {
    const taper_q_channel *channels;
    int64_t zero_point;
    taper_q_range range; // low is the zero point after relu
} taper_q_output;

// ---- linear

// y[row][out] of `rows` rows of x. Exactly one of bytes and floats is set: floats are sum * multiplier + bias, at least
// 0 with relu. Owns nothing.
typedef struct taper_qlinear_job {
    const taper_qlinear_params *params;
    const taper_q_input *x;
    int64_t rows;
    taper_q_output output;
    uint8_t *bytes;
    float *floats;
    bool relu;
} taper_qlinear_job;
TAPER_MUST_USE taper_status taper_qlinear_compute(taper_call *call, const taper_qlinear_job *job);

// A dynamic layer of either kind, [rows, in] contiguous to [rows, out]: for linear_dynamic and the recurrent cells.
TAPER_MUST_USE taper_status taper_qlinear_dynamic(taper_call *call, const taper_qlinear_params *params, taper_tensor *x,
                                                  int64_t rows, bool relu, float *y);

// ---- convolution: sizes are those of input and result (conv.rank + 2 of each); x and y are NHWC.
typedef struct taper_qconv_job {
    const taper_qconv_params *params;
    const taper_q_input *x;
    const int64_t *in_sizes, *out_sizes;
    taper_q_output output;
    uint8_t *y;
} taper_qconv_job;
TAPER_MUST_USE taper_status taper_qconv_compute(taper_call *call, const taper_qconv_job *job);

#endif
