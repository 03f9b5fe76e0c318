// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/kernels/dwconv_f32_forms.h in small builds, which have only the general loops.
#ifndef TAPER_OPS_KERNELS_DWCONV_F32_FORMS_H
#define TAPER_OPS_KERNELS_DWCONV_F32_FORMS_H

#define SHARES_ROWS 0
#define BORDER_BLOCKS 0

#endif
