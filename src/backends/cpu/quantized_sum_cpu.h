// SPDX-License-Identifier: BSD-2-Clause
// Helpers of element-wise operators on quantized tensors, and the constants of quint8 sums, which all backends use.
#ifndef TAPER_CPU_QUANTIZED_SUM_CPU_H
#define TAPER_CPU_QUANTIZED_SUM_CPU_H

#include "ir/tensor_def.h"
#include "ops/kernels/vector_u8.h"

// Returns true if the tensor is dense in the memory format that its strides suggest. `strides` receives the strides of
// a dense tensor in this format, which are also the strides of a result.
bool taper_u8_lies_in_format(const taper_tensor *x, int64_t *strides);
// Returns true for a quint8 tensor with one scale, which is positive and finite, and a zero point of 8 bits.
bool taper_is_plain_quint8(const taper_tensor *x);

// Computes factors, shift and offset of a sum as QNNPACK does: the ratios of the scales as fixed-point factors, of
// which the larger has 22 bits. Returns false for ratios that QNNPACK refuses, and for ratios so small that the shift
// would exceed 31.
bool taper_u8_sum_factors(const taper_quantizer *a, const taper_quantizer *b, double scale, taper_u8_sum *sum);

#endif
