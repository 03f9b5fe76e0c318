// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/kernels/gemm_f32_ahead.h in small builds, which prefetch weights at a constant distance.
#ifndef TAPER_OPS_KERNELS_GEMM_F32_AHEAD_H
#define TAPER_OPS_KERNELS_GEMM_F32_AHEAD_H

#define AHEAD(t) FETCH_AHEAD
#define SET_AHEAD(t, s, count)

#endif
