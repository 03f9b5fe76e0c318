// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/kernels/gemm_i8_halves_avx512.h in small builds, which omit its code.
#ifndef TAPER_OPS_KERNELS_GEMM_I8_HALVES_AVX512_H
#define TAPER_OPS_KERNELS_GEMM_I8_HALVES_AVX512_H

#endif
