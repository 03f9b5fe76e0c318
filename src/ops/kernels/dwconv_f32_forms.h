// SPDX-License-Identifier: BSD-2-Clause
// The optional loops of the depthwise kernels of floats. They are faster in special cases; the other loops can compute
// every case.
#ifndef TAPER_OPS_KERNELS_DWCONV_F32_FORMS_H
#define TAPER_OPS_KERNELS_DWCONV_F32_FORMS_H

// True for 3x3 with 16 registers: two rows of weights, the sums and an input fit into these.
#define SHARES_ROWS (SIMD_REGISTERS < 32)
// 1 if border pixels are computed several at a time.
#define BORDER_BLOCKS 1

#endif
