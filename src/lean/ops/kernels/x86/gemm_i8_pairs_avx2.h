// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/kernels/x86/gemm_i8_pairs_avx2.h in small builds, which omit its code.
