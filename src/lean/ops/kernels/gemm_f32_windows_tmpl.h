// SPDX-License-Identifier: BSD-2-Clause
// Small builds do without.
#define GEMM_F32_WINDOWS(name)
