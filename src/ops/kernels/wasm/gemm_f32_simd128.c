// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm of floats with WebAssembly's vectors: up to 6 rows by 8 columns. If this runs on x86, 12 of the 16
// registers are sums and two are weights. WebAssembly has no FMA, so a product needs a register too.
#include "ops/kernels/simd_simd128.h"

#define MR_MAX 6
#define EACH_MR(X) X(1) X(2) TAPER_ODD_MR(X(3)) X(4) TAPER_ODD_MR(X(5)) X(6)
#define SPLIT 4
#define FETCH_AHEAD 0
#define FETCH(w, ahead) (void)(ahead) // WebAssembly has no prefetch

#include "ops/kernels/gemm_f32_tmpl.h"
#include "ops/kernels/gemm_f32_windows_tmpl.h"

GEMM_F32(taper_gemm_f32_6x8_simd128, taper_igemm_f32_6x8_simd128)
GEMM_F32_WINDOWS(taper_gemm_f32_windows_6x8_simd128)
