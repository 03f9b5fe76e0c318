// SPDX-License-Identifier: BSD-2-Clause
// In place of src/ops/kernels/vector_f32_lines_tmpl.h: small builds omit this code.
#ifndef TAPER_OPS_KERNELS_VECTOR_F32_LINES_TMPL_H
#define TAPER_OPS_KERNELS_VECTOR_F32_LINES_TMPL_H

#endif
