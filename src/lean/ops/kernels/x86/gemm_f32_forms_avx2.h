// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/kernels/x86/gemm_f32_forms_avx2.h in small builds, which have only the general loops.
#ifndef TAPER_OPS_KERNELS_X86_GEMM_F32_FORMS_AVX2_H
#define TAPER_OPS_KERNELS_X86_GEMM_F32_FORMS_AVX2_H

#endif
