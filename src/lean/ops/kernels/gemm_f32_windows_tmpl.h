// SPDX-License-Identifier: BSD-2-Clause
// In place of src/ops/kernels/gemm_f32_windows_tmpl.h: small builds omit this code.
#define GEMM_F32_WINDOWS(name)
