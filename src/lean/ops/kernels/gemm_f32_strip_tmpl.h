// SPDX-License-Identifier: BSD-2-Clause
// Computes a strip (the rows of one tile) of a float matrix product, for all panels of columns. If the last panel is
// incomplete, its result is computed in a buffer of full width and copied.
#ifndef TAPER_OPS_KERNELS_GEMM_F32_STRIP_TMPL_H
#define TAPER_OPS_KERNELS_GEMM_F32_STRIP_TMPL_H

#define TILE(mr, t, w, c, add) tile(mr, 2, PARTS(mr), t, w, c, add, v_first(VN), v_first(VN))
#include "ops/kernels/gemm_f32_small.h"

#endif
