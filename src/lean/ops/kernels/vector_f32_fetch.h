// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/kernels/vector_f32_fetch.h in small builds, whose reductions do not prefetch.
#ifndef TAPER_OPS_KERNELS_VECTOR_F32_FETCH_H
#define TAPER_OPS_KERNELS_VECTOR_F32_FETCH_H

enum { FOLD_AHEAD = 4096, FOLD_FETCHED = 0 };

#endif
