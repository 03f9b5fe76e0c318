// SPDX-License-Identifier: BSD-2-Clause
// gemm of quantized numbers with AVX-512 VNNI: 14 rows by 32 columns in 28 accumulators.
#include <stdbool.h>

#include "ops/kernels/gemm_i8.h"

#define I8_BYTES 64
#define I8_VNNI 1
#define MR_MAX 14
#define EACH_MR(X)                                                                                                     \
    X(1)                                                                                                               \
    X(2)                                                                                                               \
    TAPER_ODD_MR(X(3))                                                                                                 \
    X(4)                                                                                                               \
    TAPER_ODD_MR(X(5))                                                                                                 \
    X(6) TAPER_ODD_MR(X(7)) X(8) TAPER_ODD_MR(X(9)) X(10) TAPER_ODD_MR(X(11)) X(12) TAPER_ODD_MR(X(13)) X(14)
#define WINDOWS_IN_ROWS(job, step) windows_in_rows(job, step)
#include "ops/kernels/gemm_i8_avx512.h"
#include "ops/kernels/gemm_i8_rows.h"

GEMM_I8(14x32_avx512vnni)
GEMM_I8_WINDOWS(14x32_avx512vnni)
