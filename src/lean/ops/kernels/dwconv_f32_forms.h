// SPDX-License-Identifier: BSD-2-Clause
// Small builds have the loops that do all of it.
#ifndef TAPER_OPS_KERNELS_DWCONV_F32_FORMS_H
#define TAPER_OPS_KERNELS_DWCONV_F32_FORMS_H

#define SHARES_ROWS 0
#define BORDER_BLOCKS 0

#endif
