// SPDX-License-Identifier: BSD-2-Clause
// What operators on quantized tensors element by element share, and the numbers of sums of quint8, which every backend
// computes with.
#ifndef TAPER_CPU_QUANTIZED_SUM_CPU_H
#define TAPER_CPU_QUANTIZED_SUM_CPU_H

#include "ir/tensor_def.h"
#include "ops/kernels/vector_u8.h"

// Does the tensor lie in the format that its strides suggest? That format's strides, which are those of a result.
bool taper_u8_lies_in_format(const taper_tensor *x, int64_t *strides);
// quint8 with one scale that can be computed with.
bool taper_is_plain_quint8(const taper_tensor *x);

// QNNPACK's: the ratios of the scales as factors of which the greater has 22 bits. False for ratios that it refuses,
// and for those so small that the shift would leave 32 bits. Fills factors, shift and offset.
bool taper_u8_sum_factors(const taper_quantizer *a, const taper_quantizer *b, double scale, taper_u8_sum *sum);

#endif
