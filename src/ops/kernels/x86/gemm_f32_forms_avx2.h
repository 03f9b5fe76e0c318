// SPDX-License-Identifier: BSD-2-Clause
// Which loops the gemm of floats with AVX2 has beside those that do all of it.
#ifndef TAPER_OPS_KERNELS_X86_GEMM_F32_FORMS_AVX2_H
#define TAPER_OPS_KERNELS_X86_GEMM_F32_FORMS_AVX2_H

#define LEAST_EVEN 4
#define EACH_EVEN_MR(X) X(4) X(5) X(6)
#define TRIPLES
#define TOGETHER 2 // a loop that ends after 16 steps is one whose end is not foreseen

#endif
