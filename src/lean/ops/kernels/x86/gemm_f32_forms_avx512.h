// SPDX-License-Identifier: BSD-2-Clause
// Small builds have the loops that do all of it.
#ifndef TAPER_OPS_KERNELS_X86_GEMM_F32_FORMS_AVX512_H
#define TAPER_OPS_KERNELS_X86_GEMM_F32_FORMS_AVX512_H

#endif
