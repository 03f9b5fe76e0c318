// SPDX-License-Identifier: BSD-2-Clause
// Copies elements into another order, packing or size, and between plain numbers and vectors (shaders/move.comp).
#include "backends/gpu/gpu_emit.h"

// Maps the six dimensions of the shader's loops to dimensions of `to`; -1 is an added dimension of size 1. The last
// loop is the packed dimension of vectors, or the last dimension of plain numbers.
static void order_dims(const taper_gpu_view *to, int *dims)
{
    const int last = to->packed < TAPER_GPU_RANK ? to->packed : to->rank - 1;
    int at = TAPER_GPU_RANK - 1;
    dims[at--] = last;
    for (int d = to->rank; d-- > 0;) {
        if (d != last) {
            dims[at--] = d;
        }
    }
    while (at >= 0) {
        dims[at--] = -1;
    }
}

typedef struct movement {
    int64_t from[TAPER_GPU_RANK], there[TAPER_GPU_RANK], count[TAPER_GPU_RANK];
    int packed; // number of the source's packed dimension among the six dimensions of the loops; 6 for plain numbers
    bool reshaped;
    taper_gpu_edge edge;
    double fill;
} movement;

static taper_status add_move(taper_gpu_emitter *e, const taper_gpu_view *from, const taper_gpu_view *to,
                             const int *dims, const movement *m)
{
    taper_gpu_work *w;
    int64_t sizes[TAPER_GPU_RANK], strides[TAPER_GPU_RANK];
    uint32_t at = 0;
    TAPER_GPU_REFUSE(e, e->asking, "");
    TAPER_TRY(taper_gpu_add_work(e->program, &w));
    for (int i = 0; i < TAPER_GPU_RANK; i++) {
        sizes[i] = dims[i] < 0 ? 1 : to->sizes[dims[i]];
        strides[i] = dims[i] < 0 ? 0 : to->strides[dims[i]];
    }
    const bool numbers_in = from->packed == TAPER_GPU_RANK, numbers_out = to->packed == TAPER_GPU_RANK;
    const int64_t last = numbers_out ? sizes[5] : taper_gpu_vectors(sizes[5]);
    w->kernel = numbers_in ? TAPER_GPU_KERNEL_MOVE_IN : numbers_out ? TAPER_GPU_KERNEL_MOVE_OUT : TAPER_GPU_KERNEL_MOVE;
    w->node = e->node;
    w->buffers[0] = to->buffer;
    w->buffers[1] = from->buffer;
    w->parameters.out = (taper_gpu_strides){.offset = (uint32_t)to->offset,
                                            .by = {(uint32_t)strides[0], (uint32_t)strides[1], (uint32_t)strides[2]},
                                            .group = (uint32_t)strides[5]};
    for (int d = 0; d < 3; d++) {
        w->parameters.sizes[d] = (uint32_t)sizes[d];
    }
    w->parameters.groups = (uint32_t)last;
    for (int d = 3; d < 6; d++) {
        taper_gpu_put(w, &at, sizes[d]);
    }
    taper_gpu_put(w, &at, from->offset);
    for (int d = 0; d < 6; d++) {
        taper_gpu_put(w, &at, m->from[d]);
    }
    for (int d = 0; d < 6; d++) {
        taper_gpu_put(w, &at, m->there[d]);
    }
    for (int d = 0; d < 6; d++) {
        taper_gpu_put(w, &at, m->count[d]);
    }
    taper_gpu_put(w, &at, strides[3]);
    taper_gpu_put(w, &at, strides[4]);
    taper_gpu_put_float(w, &at, m->fill);
    w->constants[11] = m->reshaped;
    w->constants[12] = (uint32_t)m->packed;
    w->constants[13] = m->edge;
    w->threads[0] = (uint32_t)last;
    w->threads[1] = (uint32_t)(sizes[3] * sizes[4]);
    w->threads[2] = (uint32_t)(sizes[0] * sizes[1] * sizes[2]);
    return TAPER_OK;
}

static taper_status move_with(taper_gpu_emitter *e, const taper_gpu_view *from, const taper_gpu_view *to,
                              const int64_t *before, taper_gpu_edge edge, double fill)
{
    int dims[TAPER_GPU_RANK];
    movement m = {.packed = TAPER_GPU_RANK, .edge = edge, .fill = fill};
    order_dims(to, dims);
    for (int i = 0; i < TAPER_GPU_RANK; i++) {
        m.from[i] = dims[i] < 0 ? 0 : from->strides[dims[i]];
        m.there[i] = dims[i] < 0 ? 1 : from->sizes[dims[i]];
        m.count[i] = dims[i] < 0 || before == NULL ? 0 : before[dims[i]];
        m.packed = dims[i] >= 0 && dims[i] == from->packed ? i : m.packed;
    }
    return add_move(e, from, to, dims, &m);
}

taper_status taper_gpu_move(taper_gpu_emitter *e, const taper_gpu_view *from, const taper_gpu_view *to)
{
    return move_with(e, from, to, NULL, TAPER_GPU_EDGE_NONE, 0);
}

taper_status taper_gpu_move_padded(taper_gpu_emitter *e, const taper_gpu_view *from, const taper_gpu_view *to,
                                   const int64_t *before, taper_gpu_edge edge, double fill)
{
    return move_with(e, from, to, before, edge, fill);
}

taper_status taper_gpu_move_reshaped(taper_gpu_emitter *e, const taper_gpu_view *from, const taper_gpu_view *to)
{
    int dims[TAPER_GPU_RANK];
    movement m = {.packed = TAPER_GPU_RANK, .reshaped = true};
    int64_t step[TAPER_GPU_RANK], elements = 1;
    const int more = TAPER_GPU_RANK - from->rank;
    order_dims(to, dims);
    for (int d = to->rank; d-- > 0;) {
        step[d] = elements;
        elements *= to->sizes[d];
    }
    for (int i = 0; i < TAPER_GPU_RANK; i++) {
        m.count[i] = dims[i] < 0 ? 0 : step[dims[i]];
        m.from[i] = i < more ? 0 : from->strides[i - more];
        m.there[i] = i < more ? 1 : from->sizes[i - more];
        m.packed = i >= more && i - more == from->packed ? i : m.packed;
    }
    return add_move(e, from, to, dims, &m);
}
