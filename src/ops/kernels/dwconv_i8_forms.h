// SPDX-License-Identifier: BSD-2-Clause
// The columns of dwconv_i8_list.inc that describe how the kernel of AVX-512 VNNI computes 3x3.
#ifndef TAPER_OPS_KERNELS_DWCONV_I8_FORMS_H
#define TAPER_OPS_KERNELS_DWCONV_I8_FORMS_H

enum { TAPER_DWCONV_I8_ROWS = 16, TAPER_DWCONV_I8_COLUMNS = 1 };

#endif
