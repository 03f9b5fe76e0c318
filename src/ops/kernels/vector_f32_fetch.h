// SPDX-License-Identifier: BSD-2-Clause
// How far ahead a fold asks for its line.
#ifndef TAPER_OPS_KERNELS_VECTOR_F32_FETCH_H
#define TAPER_OPS_KERNELS_VECTOR_F32_FETCH_H

// A line is read faster than the processor foretells at its pages' ends, so it is asked for a page ahead.
enum { FOLD_AHEAD = 4096, FOLD_FETCHED = VN < 4 ? 0 : 4 * VN * sizeof(float) };

#endif
