// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/kernels/gemm_f32_windows_tmpl.h in small builds, which omit its code.
#define GEMM_F32_WINDOWS(name)
