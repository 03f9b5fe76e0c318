// SPDX-License-Identifier: BSD-2-Clause
// Small builds do without.
#ifndef TAPER_OPS_KERNELS_GEMM_I8_HALVES_AVX512_H
#define TAPER_OPS_KERNELS_GEMM_I8_HALVES_AVX512_H

#endif
