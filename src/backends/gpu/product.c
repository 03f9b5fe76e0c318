// SPDX-License-Identifier: BSD-2-Clause
// The kernel that multiplies, convolutions among it (shaders/conv.comp): which tile of it, and its parameters.
#include "backends/gpu/layer_parts.h"

taper_gpu_kernel taper_gpu_choose_product(const taper_gpu_emitter *e, const taper_gpu_product *p, bool plain,
                                          int64_t *tile)
{
    const int64_t pixels = p->out_sizes[1] * p->out_sizes[2];
    if (p->rows_packed) {
        *tile = 2;
        return TAPER_GPU_KERNEL_PRODUCT_4X2;
    }
    if (pixels < 4) {
        *tile = 1;
        return p->exact ? TAPER_GPU_KERNEL_EXACT_1X1 : TAPER_GPU_KERNEL_CONV_1X1;
    }
    if (p->exact) {
        *tile = 2;
        return TAPER_GPU_KERNEL_EXACT_4X2;
    }
    *tile = e->state->wide ? 4 : 2;
    if (e->state->shares && !p->guarded) {
        return TAPER_GPU_KERNEL_CONV_7X4; // whose steps are there once, until the driver unrolls it
    }
    return e->state->wide ? (plain ? TAPER_GPU_KERNEL_CONV_8X4 : TAPER_GPU_KERNEL_CONV_8X4_ANY)
                          : (plain ? TAPER_GPU_KERNEL_CONV_4X2 : TAPER_GPU_KERNEL_CONV_4X2_ANY);
}

static int64_t pixels_of(taper_gpu_kernel kernel)
{
    switch ((int)kernel) {
    case TAPER_GPU_KERNEL_CONV_8X4:
    case TAPER_GPU_KERNEL_CONV_8X4_ANY:
        return 8;
    case TAPER_GPU_KERNEL_CONV_7X4:
        return 7;
    case TAPER_GPU_KERNEL_CONV_1X1:
    case TAPER_GPU_KERNEL_EXACT_1X1:
        return 1;
    default:
        return 4;
    }
}

taper_status taper_gpu_add_product(taper_gpu_emitter *e, const taper_gpu_product *p, const taper_gpu_loops *loops,
                                   const taper_gpu_chain *chain)
{
    const int64_t pixels = p->out_sizes[1] * p->out_sizes[2];
    const int64_t more[] = {p->in_sizes[0], p->in_sizes[1], p->in_groups,  p->parts,      p->out_groups,
                            p->stride[0],   p->stride[1],   p->padding[0], p->padding[1], p->dilation[0],
                            p->dilation[1], p->w_offset,    p->w_batch,    p->w_part,     p->w_tile,
                            p->w_row,       p->w_rows,      p->w_group,    p->bias};
    int64_t tile;
    taper_gpu_work *w;
    uint32_t at = 0;
    TAPER_TRY(taper_gpu_add_work(e->program, &w));
    w->kernel = taper_gpu_choose_product(e, p, taper_gpu_chain_is_plain(chain), &tile);
    TAPER_TRY(taper_gpu_bind(e, w, chain, &p->out, loops, 3));
    w->buffers[1] = p->in.buffer;
    w->buffers[2] = p->weights;
    taper_gpu_put_strides(w, &at, &p->in, p->in_strides);
    taper_gpu_put(w, &at, p->in_groups * p->in.strides[p->in.packed]); // from one part to the next
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        taper_gpu_put(w, &at, more[i]);
    }
    taper_gpu_put_float(w, &at, p->outside);
    w->constants[11] = (uint32_t)p->kernel[0];
    w->constants[12] = (uint32_t)p->kernel[1];
    w->constants[13] = p->padded;
    w->constants[14] = p->linear;
    w->constants[15] = p->guarded;
    w->constants[16] = p->biased;
    w->constants[17] = p->transposed;
    const int64_t in_a_row = pixels_of(w->kernel);
    w->threads[0] = (uint32_t)((pixels + in_a_row - 1) / in_a_row);
    w->threads[1] = (uint32_t)((p->out_groups + tile - 1) / tile);
    w->shares = w->kernel == TAPER_GPU_KERNEL_CONV_7X4;
    w->threads[2] = (uint32_t)(p->out_sizes[0] * p->parts);
    w->operations = p->operations;
    return TAPER_OK;
}
