// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm of floats with AVX-512: up to 14 rows by 32 columns in 28 accumulators. Each k takes two loads of
// weights, and one broadcast per row. 14 x 32 leaves four registers; tiles with more columns and fewer rows need more
// loads of weights.
#include "ops/kernels/simd_avx512.h"

#define MR_MAX 14
#define EACH_MR(X)                                                                                                     \
    X(1)                                                                                                               \
    X(2)                                                                                                               \
    TAPER_ODD_MR(X(3))                                                                                                 \
    X(4)                                                                                                               \
    TAPER_ODD_MR(X(5))                                                                                                 \
    X(6) TAPER_ODD_MR(X(7)) X(8) TAPER_ODD_MR(X(9)) X(10) TAPER_ODD_MR(X(11)) X(12) TAPER_ODD_MR(X(13)) X(14)
#include "ops/kernels/x86/gemm_f32_forms_avx512.h"
#define SPLIT 4
#define FETCH_AHEAD 8192
// Weights come from memory once per run of a network. The hardware does not prefetch them far enough ahead: without
// these instructions the layers with the most weights take 1.5 times as long. Both cache lines of a row are prefetched.
#define FETCH(w, ahead)                                                                                                \
    do {                                                                                                               \
        _mm_prefetch((const char *)(w) + (ahead), _MM_HINT_T0);                                                        \
        _mm_prefetch((const char *)(w) + (ahead) + 64, _MM_HINT_T0);                                                   \
    } while (0)

#define FETCH_SUMMAND(p)                                                                                               \
    do {                                                                                                               \
        _mm_prefetch((const char *)(p), _MM_HINT_T0);                                                                  \
        _mm_prefetch((const char *)(p) + 64, _MM_HINT_T0);                                                             \
    } while (0)
#include "ops/kernels/gemm_f32_tmpl.h"
#include "ops/kernels/gemm_f32_windows_tmpl.h"

GEMM_F32(taper_gemm_f32_14x32_avx512, taper_igemm_f32_14x32_avx512)
GEMM_F32_WINDOWS(taper_gemm_f32_windows_14x32_avx512)
