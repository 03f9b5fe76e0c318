// SPDX-License-Identifier: BSD-2-Clause
// In place of src/ops/kernels/x86/gemm_f32_forms_avx512.h: small builds have only the general loops.
#ifndef TAPER_OPS_KERNELS_X86_GEMM_F32_FORMS_AVX512_H
#define TAPER_OPS_KERNELS_X86_GEMM_F32_FORMS_AVX512_H

#endif
