// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/kernels/x86/dwconv_i8_3x3_avx512.h in small builds, which do not call these kernels.
#ifndef TAPER_OPS_KERNELS_X86_DWCONV_I8_3X3_AVX512_H
#define TAPER_OPS_KERNELS_X86_DWCONV_I8_3X3_AVX512_H

static inline void by_columns(const taper_dwconv_i8 *job)
{
    (void)job;
}

#endif
