// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/kernels/gemm_i8_windows_tmpl.h in small builds, which omit its code.
#ifndef TAPER_OPS_KERNELS_GEMM_I8_WINDOWS_TMPL_H
#define TAPER_OPS_KERNELS_GEMM_I8_WINDOWS_TMPL_H

#define GEMM_I8_WINDOWS(name)

#endif
