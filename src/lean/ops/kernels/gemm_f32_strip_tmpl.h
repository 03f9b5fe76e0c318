// SPDX-License-Identifier: BSD-2-Clause
// A strip of a float gemm: one tile for all panels. If the last panel is incomplete, it is made in a buffer of full
// width and copied.
#ifndef TAPER_OPS_KERNELS_GEMM_F32_STRIP_TMPL_H
#define TAPER_OPS_KERNELS_GEMM_F32_STRIP_TMPL_H

#define TILE(mr, t, w, c, add) tile(mr, 2, PARTS(mr), t, w, c, add, v_first(VN), v_first(VN))
#include "ops/kernels/gemm_f32_small.h"

#endif
