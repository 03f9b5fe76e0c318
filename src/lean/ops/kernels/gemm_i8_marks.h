// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/kernels/gemm_i8_marks.h in small builds, whose kernels do not need marks of the packed weights
// (gemm_i8.h).
#ifndef TAPER_OPS_KERNELS_GEMM_I8_MARKS_H
#define TAPER_OPS_KERNELS_GEMM_I8_MARKS_H

enum { TAPER_I8_OF_AVX2 = TAPER_I8_NONE };

#endif
