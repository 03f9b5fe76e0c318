// SPDX-License-Identifier: BSD-2-Clause
// The layout of tensors in the GPU's memory: vectors, or plain numbers (elements one after the other in the tensor's
// order). Four neighbouring elements of one dimension, the packed one, are a vector. All other dimensions have strides,
// which count vectors, so that transposing, selecting and most reshaping cost nothing.
//
// Images [N, C, H, W] are packed along C and stored as [N][C / 4][H][W][4] (NC4HW4). Other tensors [.., T, C] are
// packed along their last dimension and stored as [..][C / 4][T][4]. In both layouts, neighbouring threads of a kernel
// read neighbouring memory. Lanes after the last element of the packed dimension are zero.
#ifndef TAPER_BACKENDS_GPU_VIEW_H
#define TAPER_BACKENDS_GPU_VIEW_H

#include "ir/infer.h"

enum { TAPER_GPU_RANK = 6, TAPER_GPU_VECTOR = 4 };

typedef struct taper_gpu_view {
    uint32_t buffer; // number of the memory that the view reads, in the program
    int rank;        // number of dimensions, at least 1: a scalar has one dimension of size 1
    int packed;      // the packed dimension, or TAPER_GPU_RANK for plain numbers
    int64_t offset;  // offset and strides in vectors; the stride of the packed dimension is the distance of consecutive
                     // vectors
    int64_t sizes[TAPER_GPU_RANK], strides[TAPER_GPU_RANK];
} taper_gpu_view;

static inline int64_t taper_gpu_vectors(int64_t elements)
{
    return (elements + TAPER_GPU_VECTOR - 1) / TAPER_GPU_VECTOR;
}
// Returns the number of vectors along dimension d.
static inline int64_t taper_gpu_extent(const taper_gpu_view *view, int d)
{
    return d == view->packed ? taper_gpu_vectors(view->sizes[d]) : view->sizes[d];
}

// Makes the view of a new dense tensor of these sizes, with dimensions in the usual order for its packing. *vectors
// receives the size of its memory in vectors. Returns false if a size is not known or 0, or if there are too many
// dimensions or elements.
bool taper_gpu_view_dense(const taper_shape *shape, int packed, taper_gpu_view *view, int64_t *vectors);
// Returns the dimension along which tensors of this rank are packed, unless a kernel requires another dimension.
static inline int taper_gpu_usual_packed(int rank)
{
    return rank == 4 ? 1 : rank > 0 ? rank - 1 : 0;
}
// Makes a view of the same elements with other sizes, without copying. Returns false if this is impossible.
bool taper_gpu_view_reshape(const taper_gpu_view *from, const taper_shape *to, taper_gpu_view *view);
// Makes a view that is broadcast to the sizes of `like`: dimensions are added in front, and expanded dimensions get
// stride 0. *splat is true if this view has only one element along the packed dimension of `like`, in its first lane.
// Returns false if the view is packed along another dimension.
bool taper_gpu_view_broadcast(const taper_gpu_view *from, const taper_gpu_view *like, taper_gpu_view *view,
                              bool *splat);

// Loops over several views of the same sizes: all dimensions except the packed one, merged into at most three loops.
typedef struct taper_gpu_loops {
    int64_t sizes[3];
    int64_t strides[4][3]; // strides of each view along the three loops
} taper_gpu_loops;
// Writes the loops of `count` views to *loops. Neighbouring dimensions become one loop if they are consecutive in
// memory in every view. Strides of the views may be 0. Returns false if more than three loops remain.
bool taper_gpu_view_loops(const taper_gpu_view *const *views, size_t count, taper_gpu_loops *loops);

#endif
