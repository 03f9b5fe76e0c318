// SPDX-License-Identifier: BSD-2-Clause
// How tensors lie in the GPU's memory. Four neighbours of one dimension, the packed one, are a vector; everything else
// goes by strides, which count vectors, so transposing, selecting and most reshaping cost nothing. Images [N, C, H, W]
// are packed along C and lie as [N][C / 4][H][W][4] (NC4HW4), other tensors [.., T, C] along their last dimension, as
// [..][C / 4][T][4], so that neighbours in a kernel look at neighbours in memory in both. Lanes behind the last element
// of the packed dimension are zero.
#ifndef TAPER_BACKENDS_GPU_VIEW_H
#define TAPER_BACKENDS_GPU_VIEW_H

#include "ir/infer.h"

enum { TAPER_GPU_RANK = 6, TAPER_GPU_VECTOR = 4 };

typedef struct taper_gpu_view {
    uint32_t buffer; // of the program
    int rank;        // at least 1: a scalar is a dimension of one
    int packed;      // dimension
    int64_t offset;  // in vectors, as strides; that of the packed dimension is between vectors of neighbours
    int64_t sizes[TAPER_GPU_RANK], strides[TAPER_GPU_RANK];
} taper_gpu_view;

static inline int64_t taper_gpu_vectors(int64_t elements)
{
    return (elements + TAPER_GPU_VECTOR - 1) / TAPER_GPU_VECTOR;
}
// Vectors in dimension d.
static inline int64_t taper_gpu_extent(const taper_gpu_view *view, int d)
{
    return d == view->packed ? taper_gpu_vectors(view->sizes[d]) : view->sizes[d];
}

// A new dense tensor of these sizes, in its own order; *vectors is what it takes. False: not all sizes are known, or it
// has too many dimensions or elements, or none.
bool taper_gpu_view_dense(const taper_shape *shape, int packed, taper_gpu_view *view, int64_t *vectors);
// The dimension that a tensor of this rank is packed along when nothing else is wished.
static inline int taper_gpu_usual_packed(int rank)
{
    return rank == 4 ? 1 : rank > 0 ? rank - 1 : 0;
}
// The same elements with other sizes, without moving any: false where that cannot be.
bool taper_gpu_view_reshape(const taper_gpu_view *from, const taper_shape *to, taper_gpu_view *view);
// Broadcast to sizes: dimensions in front are added, strides of expanded ones are 0. *splat: the packed dimension of
// `like` is one element of this view, the first lane. False: it is packed along another dimension.
bool taper_gpu_view_broadcast(const taper_gpu_view *from, const taper_gpu_view *like, taper_gpu_view *view,
                              bool *splat);

// Dimensions beside the packed one as three, for several views of the same sizes (of which some strides may be 0):
// those that follow each other in all become one. False: more than three are left.
typedef struct taper_gpu_loops {
    int64_t sizes[3];
    int64_t strides[4][3]; // of each view
} taper_gpu_loops;
bool taper_gpu_view_loops(const taper_gpu_view *const *views, size_t count, taper_gpu_loops *loops);

#endif
