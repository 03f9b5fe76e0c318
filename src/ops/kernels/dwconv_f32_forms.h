// SPDX-License-Identifier: BSD-2-Clause
// Which loops depthwise kernels of floats have beside those that do all of it.
#ifndef TAPER_OPS_KERNELS_DWCONV_F32_FORMS_H
#define TAPER_OPS_KERNELS_DWCONV_F32_FORMS_H

// 3x3 with 16 registers: two rows of weights, the sums and an input fit.
#define SHARES_ROWS (SIMD_REGISTERS < 32)
// Pixels at the border, several at a time.
#define BORDER_BLOCKS 1

#endif
