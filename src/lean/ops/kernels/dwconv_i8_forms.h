// SPDX-License-Identifier: BSD-2-Clause
// Small builds make 3x3 as all others.
#ifndef TAPER_OPS_KERNELS_DWCONV_I8_FORMS_H
#define TAPER_OPS_KERNELS_DWCONV_I8_FORMS_H

enum { TAPER_DWCONV_I8_ROWS = 1, TAPER_DWCONV_I8_COLUMNS = 0 };

#endif
