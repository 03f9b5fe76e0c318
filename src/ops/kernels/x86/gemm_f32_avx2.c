// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm of floats with AVX2 and FMA: up to 6 rows by 16 columns in 12 accumulators. Each k takes two loads of
// weights, and one broadcast per row.
#include "ops/kernels/simd_avx2.h"

#define MR_MAX 6
#define EACH_MR(X) X(1) X(2) TAPER_ODD_MR(X(3)) X(4) TAPER_ODD_MR(X(5)) X(6)
#include "ops/kernels/x86/gemm_f32_forms_avx2.h"
#define SPLIT 4
#define FETCH_AHEAD 8192
// The reason for prefetching is given in gemm_f32_avx512.c.
#define FETCH(w, ahead) _mm_prefetch((const char *)(w) + (ahead), _MM_HINT_T0)

#include "ops/kernels/gemm_f32_tmpl.h"
#include "ops/kernels/gemm_f32_windows_tmpl.h"

GEMM_F32(taper_gemm_f32_6x16_avx2, taper_igemm_f32_6x16_avx2)
GEMM_F32_WINDOWS(taper_gemm_f32_windows_6x16_avx2)
