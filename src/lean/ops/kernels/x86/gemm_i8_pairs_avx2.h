// SPDX-License-Identifier: BSD-2-Clause
// In place of src/ops/kernels/x86/gemm_i8_pairs_avx2.h: small builds omit this code.
