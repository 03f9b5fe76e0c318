// SPDX-License-Identifier: BSD-2-Clause
// The distance at which a fold prefetches its line.
#ifndef TAPER_OPS_KERNELS_VECTOR_F32_FETCH_H
#define TAPER_OPS_KERNELS_VECTOR_F32_FETCH_H

// The hardware prefetcher stops at the end of a page, so a line is prefetched a page ahead (FOLD_AHEAD). FOLD_FETCHED:
// number of bytes that are prefetched at a time, or 0.
enum { FOLD_AHEAD = 4096, FOLD_FETCHED = VN < 4 ? 0 : 4 * VN * sizeof(float) };

#endif
