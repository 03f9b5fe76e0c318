// SPDX-License-Identifier: BSD-2-Clause
// Views: see gpu_view.h.
#include "backends/gpu/gpu_view.h"

#include <string.h>

static const int64_t most_vectors = INT64_C(1) << 27; // 2 GiB, because shaders have 32-bit indices

bool taper_gpu_view_dense(const taper_shape *shape, int packed, taper_gpu_view *view, int64_t *vectors)
{
    if (shape->rank < 0 || shape->rank > TAPER_GPU_RANK) {
        return false;
    }
    *view = (taper_gpu_view){.rank = shape->rank == 0 ? 1 : shape->rank, .packed = packed};
    view->sizes[0] = 1;
    for (int d = 0; d < shape->rank; d++) {
        if (shape->sizes[d] <= 0 || shape->sizes[d] > most_vectors) {
            return false;
        }
        view->sizes[d] = shape->sizes[d];
    }
    int64_t step = 1;
    const bool rows =
        packed == view->rank - 1 && view->rank > 1; // true if the last two dimensions are swapped in memory
    for (int i = view->rank; i-- > 0;) {
        const int d = rows && i >= view->rank - 2 ? 2 * view->rank - 3 - i : i;
        view->strides[d] = step;
        step *= taper_gpu_extent(view, d);
        if (step > most_vectors) {
            return false;
        }
    }
    *vectors = step;
    return true;
}

// Divides the sizes of `from` and the sizes in `to` into matching runs of dimensions with equal products. The
// dimensions of each run of `from` must be contiguous. A run that contains the packed dimension may be divided only if
// its innermost dimension consists of whole vectors.
bool taper_gpu_view_reshape(const taper_gpu_view *from, const taper_shape *to, taper_gpu_view *view)
{
    if (to->rank < 0 || to->rank > TAPER_GPU_RANK) {
        return false;
    }
    *view = (taper_gpu_view){.buffer = from->buffer, .offset = from->offset, .rank = to->rank == 0 ? 1 : to->rank};
    view->sizes[0] = 1;
    view->packed = -1;
    for (int d = 0; d < to->rank; d++) {
        view->sizes[d] = to->sizes[d];
    }
    int a = from->rank - 1, b = view->rank - 1;
    while (a >= 0 || b >= 0) {
        // This loop finds a run of dimensions, from the last dimension of the run to the first. The run ends when its
        // dimensions of `from` and its dimensions of `view` have the same number of elements.
        int first_a = a, first_b = b;
        int64_t in_a = a >= 0 ? from->sizes[a] : 1, in_b = b >= 0 ? view->sizes[b] : 1;
        while (in_a != in_b) {
            if (in_a < in_b && first_a > 0) {
                in_a *= from->sizes[--first_a];
            } else if (in_b < in_a && first_b > 0) {
                in_b *= view->sizes[--first_b];
            } else {
                return false;
            }
        }
        const bool has_packed = a >= 0 && from->packed >= first_a && from->packed <= a;
        // Finds the distance between neighbouring vectors of the run, and checks that the run's dimensions are
        // contiguous.
        int64_t step = 0, vectors = 0;
        bool lanes = false; // true if the innermost elements are lanes
        for (int d = a; a >= 0 && d >= first_a; d--) {
            if (from->sizes[d] == 1 && !(d == from->packed && in_a == 1)) {
                continue;
            }
            if (vectors == 0) {
                lanes = d == from->packed;
                step = from->strides[d];
                vectors = lanes ? taper_gpu_vectors(from->sizes[d]) : from->sizes[d];
                if (lanes && from->sizes[d] != in_a && from->sizes[d] % TAPER_GPU_VECTOR != 0) {
                    return false;
                }
            } else if (d == from->packed || from->strides[d] != step * vectors) {
                return false; // among merged dimensions, only the innermost one may be packed
            } else {
                vectors *= from->sizes[d];
            }
        }
        if (has_packed && !lanes && in_a != 1) {
            if (from->sizes[from->packed] != 1) {
                return false;
            }
        }
        for (int d = b; b >= 0 && d >= first_b; d--) {
            if (view->sizes[d] == 1 && !(lanes && in_b == 1 && d == first_b)) {
                view->strides[d] = 0;
                continue;
            }
            view->strides[d] = step;
            if (lanes) {
                if (view->sizes[d] != in_b && view->sizes[d] % TAPER_GPU_VECTOR != 0) {
                    return false;
                }
                view->packed = d;
                step *= taper_gpu_vectors(view->sizes[d]);
                lanes = false;
            } else {
                step *= view->sizes[d];
            }
        }
        a = first_a - 1;
        b = first_b - 1;
    }
    if (from->packed == TAPER_GPU_RANK) { // the view has plain numbers instead of vectors
        view->packed = TAPER_GPU_RANK;
        return true;
    }
    // If the packed dimension has one element, any dimension of size 1 of the view can be its packed dimension.
    for (int d = view->rank; d-- > 0 && view->packed < 0;) {
        if (view->sizes[d] == 1 && from->sizes[from->packed] == 1) {
            view->packed = d;
        }
    }
    return view->packed >= 0;
}

bool taper_gpu_view_broadcast(const taper_gpu_view *from, const taper_gpu_view *like, taper_gpu_view *view, bool *splat)
{
    const int more = like->rank - from->rank;
    if (more < 0) {
        return false;
    }
    *view =
        (taper_gpu_view){.buffer = from->buffer, .offset = from->offset, .rank = like->rank, .packed = like->packed};
    for (int d = 0; d < like->rank; d++) {
        view->sizes[d] = like->sizes[d];
        if (d >= more && from->sizes[d - more] == like->sizes[d]) {
            view->strides[d] = like->sizes[d] == 1 ? 0 : from->strides[d - more];
        } else if (d >= more && from->sizes[d - more] != 1) {
            return false;
        }
    }
    const int there = like->packed - more; // dimension of the view that becomes the packed dimension of `like`
    *splat = like->sizes[like->packed] != 1 && (there < 0 || from->sizes[there] == 1);
    if (*splat) {
        // If the tensor has one element, the first lane contains it in every packing.
        return from->sizes[from->packed] == 1;
    }
    return there == from->packed || (there >= 0 && from->sizes[there] == 1 && from->sizes[from->packed] == 1);
}

bool taper_gpu_view_loops(const taper_gpu_view *const *views, size_t count, taper_gpu_loops *loops)
{
    int kept = 0;
    int64_t sizes[TAPER_GPU_RANK], strides[4][TAPER_GPU_RANK];
    const taper_gpu_view *first = views[0];
    for (int d = 0; d < first->rank; d++) {
        if (d == first->packed || first->sizes[d] == 1) {
            continue;
        }
        bool joins = kept != 0;
        for (size_t v = 0; v < count && joins; v++) {
            joins = strides[v][kept - 1] == views[v]->strides[d] * first->sizes[d];
        }
        if (joins) {
            sizes[kept - 1] *= first->sizes[d];
        } else {
            sizes[kept] = first->sizes[d];
            kept++;
        }
        for (size_t v = 0; v < count; v++) {
            strides[v][kept - 1] = views[v]->strides[d];
        }
    }
    if (kept > 3) {
        return false;
    }
    *loops = (taper_gpu_loops){.sizes = {1, 1, 1}};
    for (int d = 0; d < kept; d++) {
        loops->sizes[3 - kept + d] = sizes[d];
        for (size_t v = 0; v < count; v++) {
            loops->strides[v][3 - kept + d] = strides[v][d];
        }
    }
    return true;
}
