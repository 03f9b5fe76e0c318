// SPDX-License-Identifier: BSD-2-Clause
// In place of src/ops/kernels/gemm_i8_rows.h: small builds omit this code.
