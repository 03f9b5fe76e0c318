// SPDX-License-Identifier: BSD-2-Clause
// The optional loops of the float gemm with AVX2. They are faster in special cases; the other loops can compute every
// case.
#ifndef TAPER_OPS_KERNELS_X86_GEMM_F32_FORMS_AVX2_H
#define TAPER_OPS_KERNELS_X86_GEMM_F32_FORMS_AVX2_H

#define LEAST_EVEN 4
#define EACH_EVEN_MR(X) X(4) X(5) X(6)
#define TRIPLES
#define TOGETHER 2 // two k per step halve the number of steps, because CPUs mispredict the end of a loop of 16 steps

#endif
