// SPDX-License-Identifier: BSD-2-Clause
// The reference code of quantized layers: integer sums over contiguous rows of activations (uint8; int8 is shifted) and
// weights (int8). Layers with a quantized result and dynamic layers use it.
#ifndef TAPER_OPS_QUANTIZED_LAYER_H
#define TAPER_OPS_QUANTIZED_LAYER_H

#include "ops/quantized/quantized_params.h"

// Returns the sum of (x - x_zero) * (w - w_zero). The sum wraps around, as in QNNPACK.
uint32_t taper_q_dot(const uint8_t *x, const int8_t *w, int64_t count, int32_t x_zero, int32_t w_zero);

// ---- activations

// The elements of a quantized tensor as contiguous uint8, in NHWC order for rank 4 and 5. This is the tensor itself if
// it has that layout, otherwise a copy. For qint8, 128 is added to the integers and to zero_point. taper_q_input_close
// releases the tensor.
typedef struct taper_q_input {
    taper_tensor *kept; // tensor that owns data; released by taper_q_input_close
    const uint8_t *data;
    int32_t zero_point;
    double scale;
} taper_q_input;
TAPER_MUST_USE taper_status taper_q_input_open(taper_run *run, taper_tensor *tensor, taper_q_input *input);
// Opens a float32 tensor, quantized by its own range as dynamic layers do.
TAPER_MUST_USE taper_status taper_q_input_dynamic(taper_run *run, taper_tensor *tensor, taper_q_input *input);
// Opens a float32 tensor, quantized by this scale, which is positive and finite, and this zero point, which fits into a
// byte.
TAPER_MUST_USE taper_status taper_q_input_told(taper_run *run, taper_tensor *tensor, double scale, int64_t zero_point,
                                               taper_q_input *input);
void taper_q_input_close(taper_q_input *input);

// Computes the scale and zero point with which the integers of `range` represent the numbers from min to max, as
// dynamic layers do. Fails if min or max is infinite.
TAPER_MUST_USE taper_status taper_q_choose(taper_run *run, taper_q_range range, float min, float max, double *scale,
                                           int64_t *zero_point);

// The conversion of a sum to a result.
typedef struct taper_q_output {
    const taper_q_channel *channels;
    int64_t zero_point;
    taper_q_range range; // range of the result; with relu, low is the zero point
} taper_q_output;

// ---- linear layers

// The job of computing y[row][out] for `rows` rows of x. Exactly one of bytes and floats is set. A float result is sum
// * multiplier + bias, or 0 if this number is negative and relu is set. The pointers are borrowed.
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

// Computes a dynamic layer with int8 or half-precision weights, from contiguous [rows, in] to [rows, out].
// linear_dynamic and the recurrent cells use it.
TAPER_MUST_USE taper_status taper_qlinear_dynamic(taper_call *call, const taper_qlinear_params *params, taper_tensor *x,
                                                  int64_t rows, bool relu, float *y);

// ---- convolution
// The sizes are the conv.rank + 2 sizes of the input and of the result. x and y are NHWC.
typedef struct taper_qconv_job {
    const taper_qconv_params *params;
    const taper_q_input *x;
    const int64_t *in_sizes, *out_sizes;
    taper_q_output output;
    uint8_t *y;
} taper_qconv_job;
TAPER_MUST_USE taper_status taper_qconv_compute(taper_call *call, const taper_qconv_job *job);

#endif
