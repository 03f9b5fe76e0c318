// SPDX-License-Identifier: BSD-2-Clause
// In place of src/ops/kernels/gemm_i8_halves_avx512.h: small builds omit this code.
#ifndef TAPER_OPS_KERNELS_GEMM_I8_HALVES_AVX512_H
#define TAPER_OPS_KERNELS_GEMM_I8_HALVES_AVX512_H

#endif
