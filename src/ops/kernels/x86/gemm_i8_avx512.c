// SPDX-License-Identifier: BSD-2-Clause
// gemm of quantized numbers with AVX-512 without VNNI: bytes are widened to 16 bits, and two instructions multiply them
// and add pairs, which gives the sum of four products.
#define I8_BYTES 64
#define I8_VNNI 0
#define MR_MAX 10
#define EACH_MR(X)                                                                                                     \
    X(1) X(2) TAPER_ODD_MR(X(3)) X(4) TAPER_ODD_MR(X(5)) X(6) TAPER_ODD_MR(X(7)) X(8) TAPER_ODD_MR(X(9)) X(10)
#include "ops/kernels/gemm_i8_avx512.h"

GEMM_I8(10x32_avx512)
GEMM_I8_WINDOWS(10x32_avx512)
