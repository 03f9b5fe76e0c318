// SPDX-License-Identifier: BSD-2-Clause
// Winograd's transforms of quantized numbers with AVX-512 VNNI.
#define I8_VNNI 1
#include "ops/kernels/winograd_i8_avx512.h"

WINOGRAD_I8(avx512vnni)
WINOGRAD_I8_PRODUCT(avx512vnni)
