// SPDX-License-Identifier: BSD-2-Clause
// 3x3 convolutions without stride by Winograd's F(4x4, 3x3). Tiles of the image are transformed, 36 products of
// channels are computed together, and results are transformed back (shaders/winograd_*.comp). This takes a quarter of
// the multiplications of a direct convolution, four times the memory for weights, and three dispatches instead of one.
#include <string.h>

#include "backends/gpu/winograd.h"

enum { TILE = 4, SIDE = 6, PRODUCTS = SIDE * SIDE, LEAST_CHANNELS = 32 };

bool taper_gpu_winograd_can(const taper_gpu_layer *l, const int64_t *stride, const int64_t *dilation)
{
    return l->kernel[0] == 3 && l->kernel[1] == 3 && stride[0] == 1 && stride[1] == 1 && dilation[0] == 1 &&
           dilation[1] == 1 && l->groups == 1 && !l->transposed && l->in >= LEAST_CHANNELS && l->out >= LEAST_CHANNELS;
}

bool taper_gpu_winograd_pays(const taper_gpu_emitter *e, const taper_gpu_layer *l, const taper_gpu_loops *loops)
{
    enum { LEAST_TILES = 40, MOST_BYTES = 96 << 20 };
    const double tiles = (double)loops->sizes[0] * (double)((loops->sizes[1] + TILE - 1) / TILE) *
                         (double)((loops->sizes[2] + TILE - 1) / TILE);
    const double most = (double)MOST_BYTES < (double)e->state->gpu->most_bytes / 2
                            ? (double)MOST_BYTES
                            : (double)e->state->gpu->most_bytes / 2;
    // An upper bound of the channels of image, result and weights, including the padding to vectors and tiles.
    const double channels = (double)(l->in > l->out ? l->in : l->out) + 16;
    return tiles >= LEAST_TILES && PRODUCTS * sizeof(float) * tiles * channels < most &&
           PRODUCTS * sizeof(float) * channels * channels < most;
}

// Computes the layout of weights: [product][tile of result channels][channel][vectors of the tile], then biases.
// Returns the number of vectors.
static int64_t vectors_of(const taper_gpu_layer *l, int64_t *product, int64_t *bias)
{
    const int64_t out = taper_gpu_vectors(l->out), tiles = (out + l->tile - 1) / l->tile;
    *product = tiles * taper_gpu_vectors(l->in) * TAPER_GPU_VECTOR * l->tile;
    *bias = PRODUCTS * *product;
    return *bias + out;
}

static void transform(double g[3][3], double u[SIDE][SIDE])
{
    static const double by[SIDE][3] = {{1 / 4.0, 0, 0},
                                       {-1 / 6.0, -1 / 6.0, -1 / 6.0},
                                       {-1 / 6.0, 1 / 6.0, -1 / 6.0},
                                       {1 / 24.0, 1 / 12.0, 1 / 6.0},
                                       {1 / 24.0, -1 / 12.0, 1 / 6.0},
                                       {0, 0, 1}};
    double rows[SIDE][3];
    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < 3; j++) {
            rows[i][j] = by[i][0] * g[0][j] + by[i][1] * g[1][j] + by[i][2] * g[2][j];
        }
    }
    for (int i = 0; i < SIDE; i++) {
        for (int j = 0; j < SIDE; j++) {
            u[i][j] = by[j][0] * rows[i][0] + by[j][1] * rows[i][1] + by[j][2] * rows[i][2];
        }
    }
}

static void fill_weights(void *user, float *to)
{
    const taper_gpu_layer *l = user;
    const int64_t in_padded = taper_gpu_vectors(l->in) * TAPER_GPU_VECTOR;
    int64_t product, bias;
    (void)vectors_of(l, &product, &bias);
    for (int64_t out = 0; out < l->out; out++) {
        const int64_t tile = out / TAPER_GPU_VECTOR / l->tile, vector = out / TAPER_GPU_VECTOR % l->tile;
        float *first = to + (tile * in_padded * l->tile + vector) * TAPER_GPU_VECTOR + out % TAPER_GPU_VECTOR;
        const taper_gpu_row row = taper_gpu_layer_row(l, out);
        double scale, shift, g[3][3], u[SIDE][SIDE];
        taper_gpu_layer_scale(l, out, &scale, &shift);
        for (int64_t in = 0; in < l->in; in++) {
            for (int64_t tap = 0; tap < 9; tap++) {
                g[tap / 3][tap % 3] = scale * taper_gpu_row_number(&row, in, tap / 3, tap % 3);
            }
            transform(g, u);
            for (int64_t i = 0; i < PRODUCTS; i++) {
                first[(i * product + in * l->tile) * TAPER_GPU_VECTOR] = (float)u[i / SIDE][i % SIDE];
            }
        }
        to[bias * TAPER_GPU_VECTOR + out] = (float)shift;
    }
}

// Makes 36 images of one row, with one element per tile.
static taper_status new_numbers(taper_gpu_emitter *e, int64_t channels, int64_t places, taper_gpu_view *view)
{
    const taper_shape shape = {.rank = 4, .dtype = TAPER_F32, .sizes = {PRODUCTS, channels, 1, places}};
    return taper_gpu_new(e, &shape, 1, view);
}

static taper_status add_in(taper_gpu_emitter *e, const taper_gpu_view *in, const int64_t *strides, const int64_t *sizes,
                           const int64_t *padding, const int64_t *tiles, const taper_gpu_view *to)
{
    const taper_gpu_chain chain = {0};
    const taper_gpu_loops loops = {.sizes = {PRODUCTS, 1, to->sizes[3]},
                                   .strides = {{to->strides[0], 0, to->strides[3]}}};
    const int64_t more[] = {sizes[0], sizes[1], padding[0], padding[1], tiles[1], tiles[0] * tiles[1]};
    taper_gpu_work *w;
    uint32_t at = 0;
    TAPER_TRY(taper_gpu_add_work(e->program, &w));
    w->kernel = TAPER_GPU_KERNEL_WINOGRAD_IN;
    TAPER_TRY(taper_gpu_bind(e, w, &chain, to, &loops, 3));
    w->buffers[1] = in->buffer;
    taper_gpu_put_strides(w, &at, in, strides);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        taper_gpu_put(w, &at, more[i]);
    }
    w->threads[0] = (uint32_t)to->sizes[3];
    w->threads[1] = (uint32_t)taper_gpu_extent(to, 1);
    w->threads[2] = 1;
    return TAPER_OK;
}

static taper_status add_products(taper_gpu_emitter *e, taper_gpu_layer *l, const taper_gpu_view *in,
                                 const taper_gpu_view *out, int64_t *bias, uint32_t *weights)
{
    const taper_gpu_chain chain = {0};
    const taper_gpu_loops loops = {.sizes = {PRODUCTS, 1, out->sizes[3]},
                                   .strides = {{out->strides[0], 0, out->strides[3]}}};
    taper_gpu_product p = {.in = *in,
                           .out = *out,
                           .in_strides = {in->strides[0], 0, in->strides[3]},
                           .in_sizes = {1, in->sizes[3]},
                           .out_sizes = {PRODUCTS, 1, out->sizes[3]},
                           .parts = 1,
                           .in_groups = taper_gpu_vectors(l->in),
                           .out_groups = taper_gpu_vectors(l->out),
                           .kernel = {1, 1},
                           .stride = {1, 1},
                           .dilation = {1, 1},
                           .linear = true,
                           .w_group = 1};
    int64_t product;
    taper_gpu_choose_tile(e, &p);
    l->tile = p.tile;
    const int64_t vectors = vectors_of(l, &product, bias);
    const taper_gpu_key key = taper_gpu_layer_key(l, TAPER_GPU_KIND_WINOGRAD);
    TAPER_TRY(taper_gpu_add_weights(e, &key, taper_gpu_vector_bytes(e->state, vectors), fill_weights, l, weights));
    p.weights = *weights;
    p.w_row = l->tile;
    p.w_tile = p.in_groups * TAPER_GPU_VECTOR * l->tile;
    p.w_batch = product;
    p.operations = 2.0 * PRODUCTS * (double)(out->sizes[3] * l->out * l->in);
    return taper_gpu_add_product(e, &p, &loops, &chain);
}

taper_status taper_gpu_winograd(taper_gpu_emitter *e, taper_gpu_layer *l, const taper_gpu_view *in,
                                const int64_t *strides, const int64_t *sizes, const int64_t *padding,
                                const taper_gpu_view *out, const taper_gpu_loops *loops, const taper_gpu_chain *chain)
{
    const int64_t tiles[2] = {(loops->sizes[1] + TILE - 1) / TILE, (loops->sizes[2] + TILE - 1) / TILE};
    const int64_t places = loops->sizes[0] * tiles[0] * tiles[1];
    taper_gpu_view numbers, products;
    taper_gpu_work *w;
    uint32_t at = 0, weights;
    int64_t bias;
    TAPER_TRY(new_numbers(e, l->in, places, &numbers));
    TAPER_TRY(new_numbers(e, l->out, places, &products));
    TAPER_TRY(add_in(e, in, strides, sizes, padding, tiles, &numbers));
    TAPER_TRY(add_products(e, l, &numbers, &products, &bias, &weights));
    TAPER_TRY(taper_gpu_add_work(e->program, &w));
    w->kernel = taper_gpu_chain_is_plain(chain) ? TAPER_GPU_KERNEL_WINOGRAD_OUT : TAPER_GPU_KERNEL_WINOGRAD_OUT_ANY;
    TAPER_TRY(taper_gpu_bind(e, w, chain, out, loops, 3));
    w->buffers[1] = products.buffer;
    w->buffers[2] = weights;
    const int64_t more[] = {products.offset,
                            products.strides[0],
                            products.strides[3],
                            products.strides[1],
                            tiles[1],
                            tiles[0] * tiles[1],
                            bias};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        taper_gpu_put(w, &at, more[i]);
    }
    w->threads[0] = (uint32_t)(tiles[0] * tiles[1]);
    w->threads[1] = (uint32_t)taper_gpu_vectors(l->out);
    w->threads[2] = (uint32_t)loops->sizes[0];
    return TAPER_OK;
}
