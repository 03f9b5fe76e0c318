// SPDX-License-Identifier: BSD-2-Clause
// The kind of marks that the kernel of AVX2 needs (gemm_i8.h).
#ifndef TAPER_OPS_KERNELS_GEMM_I8_MARKS_H
#define TAPER_OPS_KERNELS_GEMM_I8_MARKS_H

enum { TAPER_I8_OF_AVX2 = TAPER_I8_OF_STEPS };

#endif
