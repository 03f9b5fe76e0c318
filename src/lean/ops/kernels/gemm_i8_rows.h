// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/kernels/gemm_i8_rows.h in small builds, which omit its code.
