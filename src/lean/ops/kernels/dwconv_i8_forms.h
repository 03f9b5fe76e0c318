// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/kernels/dwconv_i8_forms.h in small builds, which compute 3x3 kernels by the general loops.
#ifndef TAPER_OPS_KERNELS_DWCONV_I8_FORMS_H
#define TAPER_OPS_KERNELS_DWCONV_I8_FORMS_H

enum { TAPER_DWCONV_I8_ROWS = 1, TAPER_DWCONV_I8_COLUMNS = 0 };

#endif
