// SPDX-License-Identifier: BSD-2-Clause
// The kernel that multiplies, also for convolutions (shaders/conv.comp): chooses its tile and sets its parameters.
#include "backends/gpu/layer_parts.h"

static int64_t over(int64_t n, int64_t by)
{
    return (n + by - 1) / by;
}

static bool set_tile(taper_gpu_product *p, int64_t pixels, int64_t tile, uint32_t team)
{
    p->pixels = pixels;
    p->tile = tile;
    p->team = team;
    return true;
}

// Returns true, and sets the tile, if tiles of this size give the device enough threads when teams of up to `most`
// share them.
static bool fills(const taper_gpu_emitter *e, taper_gpu_product *p, int64_t pixels, int64_t tile, uint32_t most,
                  int64_t wanted)
{
    const int64_t threads =
        over(p->out_sizes[1] * p->out_sizes[2], pixels) * over(p->out_groups, tile) * p->out_sizes[0] * p->parts;
    // Number of units of work that the members of a team divide among themselves.
    const int64_t taps = p->kernel[0] * p->kernel[1], steps = p->in_groups * (taps > 1 ? 2 : 1);
    const uint32_t team = taper_gpu_team(e->state, threads, steps, most);
    return threads * team >= wanted && set_tile(p, pixels, tile, team);
}

void taper_gpu_choose_tile(const taper_gpu_emitter *e, taper_gpu_product *p)
{
    enum { TEAM = 16, LARGE_TEAM = 32 };
    const int64_t pixels = p->out_sizes[1] * p->out_sizes[2], fill = e->state->fill;
    const bool wide = e->state->wide && !p->exact && !p->rows_packed;
    if (fill == 0 || p->rows_packed) {
        if (p->rows_packed || (pixels >= 4 && !wide)) {
            (void)(fills(e, p, 4, 2, fill != 0 ? TEAM : 1, 0));
        } else {
            set_tile(p, pixels < 4 ? 1 : e->state->shares && !p->guarded ? 7 : 8, pixels < 4 ? 1 : 4, 1);
        }
        return;
    }
    // Chooses the largest tile that keeps the device busy, because it has the fewest loads per multiplication.
    (void)((wide && fills(e, p, 8, 4, 1, fill)) || (pixels >= 4 && fills(e, p, 4, 2, TEAM, fill / 4)) ||
           fills(e, p, 1, 1, LARGE_TEAM, 0));
}

static taper_gpu_kernel kernel_of(const taper_gpu_product *p, bool plain)
{
    switch (p->pixels) {
    case 8:
        return plain ? TAPER_GPU_KERNEL_CONV_8X4 : TAPER_GPU_KERNEL_CONV_8X4_ANY;
    case 7:
        return TAPER_GPU_KERNEL_CONV_7X4; // with or without fused steps, whose code the shader contains only once
    case 4:
        return p->rows_packed ? TAPER_GPU_KERNEL_PRODUCT_4X2
               : p->exact     ? TAPER_GPU_KERNEL_EXACT_4X2
               : plain        ? TAPER_GPU_KERNEL_CONV_4X2
                              : TAPER_GPU_KERNEL_CONV_4X2_ANY;
    default:
        return p->exact ? TAPER_GPU_KERNEL_EXACT_1X1 : TAPER_GPU_KERNEL_CONV_1X1;
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
    taper_gpu_work *w;
    uint32_t at = 0;
    TAPER_TRY(taper_gpu_add_work(e->program, &w));
    w->kernel = kernel_of(p, taper_gpu_chain_is_plain(chain));
    TAPER_TRY(taper_gpu_bind(e, w, chain, &p->out, loops, 3));
    w->buffers[1] = p->in.buffer;
    w->buffers[2] = p->weights;
    taper_gpu_put_strides(w, &at, &p->in, p->in_strides);
    // Distance in the input from one part of the channels to the next, in vectors.
    taper_gpu_put(w, &at, p->in_groups * p->in.strides[p->in.packed]);
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
    w->constants[TAPER_GPU_SPREAD] = e->state->fill != 0;
    w->threads[0] = (uint32_t)over(pixels, p->pixels);
    w->threads[1] = (uint32_t)over(p->out_groups, p->tile);
    w->shares = w->kernel == TAPER_GPU_KERNEL_CONV_7X4;
    w->team = p->team;
    w->threads[2] = (uint32_t)(p->out_sizes[0] * p->parts);
    w->operations = p->operations;
    return TAPER_OK;
}
