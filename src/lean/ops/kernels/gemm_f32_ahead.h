// SPDX-License-Identifier: BSD-2-Clause
// Small builds ask for weights as far ahead everywhere.
#ifndef TAPER_OPS_KERNELS_GEMM_F32_AHEAD_H
#define TAPER_OPS_KERNELS_GEMM_F32_AHEAD_H

#define AHEAD(t) FETCH_AHEAD
#define SET_AHEAD(t, s, count)

#endif
