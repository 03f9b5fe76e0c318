// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/kernels/vector_f32_sums_tmpl.h in small builds, which omit its code.
#ifndef TAPER_OPS_KERNELS_VECTOR_F32_SUMS_TMPL_H
#define TAPER_OPS_KERNELS_VECTOR_F32_SUMS_TMPL_H

#endif
