// SPDX-License-Identifier: BSD-2-Clause
// Numbers of sums of quint8, which every backend computes with.
#ifndef TAPER_CPU_QUANTIZED_SUM_CPU_H
#define TAPER_CPU_QUANTIZED_SUM_CPU_H

#include "ir/tensor.h"
#include "ops/kernels/vector_u8.h"

// QNNPACK's: the ratios of the scales as factors of which the greater has 22 bits. False for ratios that it refuses,
// and for those so small that the shift would leave 32 bits. Fills factors, shift and offset.
bool taper_u8_sum_factors(const taper_quantizer *a, const taper_quantizer *b, double scale, taper_u8_sum *sum);

#endif
