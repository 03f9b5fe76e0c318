// SPDX-License-Identifier: BSD-2-Clause
// Winograd's transforms of quantized numbers with AVX-512, without VNNI.
#define I8_VNNI 0
#include "ops/kernels/winograd_i8_avx512.h"

WINOGRAD_I8(avx512)
WINOGRAD_I8_PRODUCT(avx512)
