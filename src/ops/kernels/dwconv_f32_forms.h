// SPDX-License-Identifier: BSD-2-Clause
// The optional loops of the depthwise kernels of floats. They are faster in special cases; the other loops can compute
// every case.
#ifndef TAPER_OPS_KERNELS_DWCONV_F32_FORMS_H
#define TAPER_OPS_KERNELS_DWCONV_F32_FORMS_H

// True if both output rows of a 3x3 kernel share each load of an input. This is for 16 registers, into which two rows
// of weights, the sums and an input fit.
#define SHARES_ROWS (SIMD_REGISTERS < 32)
// 1 if border pixels are computed several at a time.
#define BORDER_BLOCKS 1

#endif
