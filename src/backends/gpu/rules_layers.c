// SPDX-License-Identifier: BSD-2-Clause
// Convolutions, linear layers and products of matrices: all of them one kernel (shaders/conv.comp), but for depthwise
// convolutions.
#include <math.h>
#include <string.h>

#include "backends/gpu/gpu_emit.h"
#include "ops/nn/prepacked.h"

enum { KIND_CONV = 2, KIND_DEPTHWISE, KIND_LINEAR };

// ---- constants of a layer: weights, bias and the batch norm behind it

typedef struct layer {
    const taper_tensor *weight, *bias, *norm[4]; // norm: γ, β, μ, σ²; NULL: none
    bool has_norm;
    double eps;
    int64_t out, in; // channels; of a convolution, of all groups
    int64_t groups, kernel[2];
    int64_t tile;              // vectors of results that a thread makes
    int64_t part_in, part_out; // channels of a part: groups that are computed apart
    bool transposed_linear;    // the weight is [in, out]
} layer;

static taper_status constant_tensor(taper_gpu_emitter *e, const taper_ir_value *value, bool needed,
                                    const taper_tensor **tensor)
{
    const taper_val *constant = taper_read_constant(&e->reader, value);
    *tensor = NULL;
    if (!needed && (value == NULL || (constant != NULL && constant->tag == TAPER_NONE))) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, constant == NULL || constant->tag != TAPER_TENSOR, "a weight that is no constant");
    *tensor = constant->as.tensor;
    TAPER_GPU_REFUSE(e, (*tensor)->dtype != TAPER_F32 || (*tensor)->hidden_nhwc, "a weight of other than float32");
    return TAPER_OK;
}

static taper_status read_norm(taper_gpu_emitter *e, const taper_node *node, int64_t channels, layer *l)
{
    int64_t training;
    TAPER_GPU_REFUSE(e, node->input_count < 8, "a batch norm of few arguments");
    TAPER_TRY(taper_read_int(&e->reader, node, "training", 0, &training));
    TAPER_GPU_REFUSE(e, training != 0, "a batch norm in training");
    TAPER_TRY(taper_read_number(&e->reader, node, "eps", 1e-5, &l->eps));
    for (size_t i = 0; i < 4; i++) {
        TAPER_TRY(constant_tensor(e, taper_node_in(node, 1 + i), i >= 2, &l->norm[i]));
        TAPER_GPU_REFUSE(e, l->norm[i] != NULL && (l->norm[i]->rank != 1 || l->norm[i]->sizes[0] != channels),
                         "a batch norm of other channels");
    }
    l->has_norm = true;
    return TAPER_OK;
}

// The batch norm that alone looks at the layer goes into its weights.
static void take_norm(taper_gpu_emitter *e, const taper_ir_value **value, layer *l)
{
    const taper_node *user = taper_value_used_once(*value) ? (*value)->uses->user : NULL;
    if (user == NULL || user->block != e->known->body || user->output_count != 1 || taper_node_in(user, 0) != *value ||
        taper_gpu_find_rule(user) == NULL || taper_gpu_find_rule(user)->rule != taper_gpu_rule_batch_norm) {
        return;
    }
    layer with = *l;
    if (read_norm(e, user, l->out, &with) == TAPER_OK) {
        *l = with;
        e->values[user->outputs[0].id - e->first_id].done = true;
        *value = &user->outputs[0];
    }
}

static float number_at(const taper_tensor *t, int64_t i)
{
    return ((const float *)taper_tensor_data(t))[i * t->strides[0]];
}

// y = scale (W x + b) + shift, of a channel
static void scale_and_shift(const layer *l, int64_t channel, double *scale, double *shift)
{
    double parts[4] = {1, 0, 0, 1};
    *scale = 1;
    *shift = l->bias != NULL ? number_at(l->bias, channel) : 0;
    if (l->has_norm) {
        for (size_t i = 0; i < 4; i++) {
            parts[i] = l->norm[i] != NULL ? number_at(l->norm[i], channel) : parts[i];
        }
        *scale = parts[0] / sqrt(parts[3] + l->eps);
        *shift = *scale * *shift + parts[1] - parts[2] * *scale;
    }
}

static taper_gpu_key key_of(const layer *l, uint32_t kind)
{
    return (taper_gpu_key){.tensors = {l->weight, l->bias, l->norm[0], l->norm[1], l->norm[2], l->norm[3]},
                           .numbers = {(double)l->tile, (double)l->part_in, (double)l->part_out, (double)l->groups,
                                       l->has_norm, l->eps, l->transposed_linear},
                           .kind = kind};
}

static double weight_at(const layer *l, int64_t out, int64_t in, int64_t ky, int64_t kx)
{
    const taper_tensor *w = l->weight;
    const float *data = taper_tensor_data(w);
    if (w->rank <= 2) {
        const int o = l->transposed_linear ? 1 : 0;
        return data[out * w->strides[o] + in * w->strides[1 - o]];
    }
    return data[out * w->strides[0] + in * w->strides[1] + (w->rank == 4 ? ky * w->strides[2] : 0) +
                kx * w->strides[w->rank - 1]];
}

// Vectors of weights: [part][tile of results][tap][channel, whole vectors of them][vectors of the tile]; then biases.
static int64_t vectors_of_weights(const layer *l, int64_t *bias)
{
    const int64_t out = taper_gpu_vectors(l->part_out), tiles = (out + l->tile - 1) / l->tile;
    const int64_t in = taper_gpu_vectors(l->part_in) * TAPER_GPU_VECTOR;
    *bias = l->out / l->part_out * tiles * l->kernel[0] * l->kernel[1] * in * l->tile;
    return *bias + l->out / l->part_out * out;
}

static void fill_weights(void *user, float *to)
{
    const layer *l = user;
    const int64_t in_group = l->in / l->groups, out_group = l->out / l->groups;
    const int64_t out_vectors = taper_gpu_vectors(l->part_out), tiles = (out_vectors + l->tile - 1) / l->tile;
    const int64_t in_padded = taper_gpu_vectors(l->part_in) * TAPER_GPU_VECTOR, taps = l->kernel[0] * l->kernel[1];
    int64_t bias;
    (void)vectors_of_weights(l, &bias);
    for (int64_t out = 0; out < l->out; out++) {
        const int64_t part = out / l->part_out, at = out % l->part_out, tile = at / TAPER_GPU_VECTOR / l->tile;
        const int64_t vector = at / TAPER_GPU_VECTOR % l->tile, lane = at % TAPER_GPU_VECTOR;
        const int64_t first_in = out / out_group * in_group - part * l->part_in; // of this group, within the part
        double scale, shift;
        scale_and_shift(l, out, &scale, &shift);
        for (int64_t tap = 0; tap < taps; tap++) {
            float *row = to + (((part * tiles + tile) * taps + tap) * in_padded * l->tile + vector) * TAPER_GPU_VECTOR;
            for (int64_t in = 0; in < in_group; in++) {
                const double w = weight_at(l, out, in, tap / l->kernel[1], tap % l->kernel[1]);
                row[(first_in + in) * l->tile * TAPER_GPU_VECTOR + lane] = (float)(scale * w);
            }
        }
        to[(bias + part * out_vectors) * TAPER_GPU_VECTOR + at] = (float)shift;
    }
}

static void fill_depthwise(void *user, float *to)
{
    const layer *l = user;
    const int64_t groups = taper_gpu_vectors(l->out), taps = l->kernel[0] * l->kernel[1];
    for (int64_t out = 0; out < l->out; out++) {
        double scale, shift;
        scale_and_shift(l, out, &scale, &shift);
        for (int64_t tap = 0; tap < taps; tap++) {
            const double w = weight_at(l, out, 0, tap / l->kernel[1], tap % l->kernel[1]);
            to[tap * groups * TAPER_GPU_VECTOR + out] = (float)(scale * w);
        }
        to[taps * groups * TAPER_GPU_VECTOR + out] = (float)shift;
    }
}

// ---- the kernel

// What is multiplied: `out` [batch, rows, columns] of `part_out` vectors each, for each part.
typedef struct product {
    taper_gpu_view in, out;
    int64_t in_strides[3];
    int64_t in_sizes[2], out_sizes[3];    // rows and columns; batch, rows and columns
    int64_t parts, in_groups, out_groups; // vectors of channels of a part
    int64_t kernel[2], stride[2], padding[2], dilation[2];
    bool padded, linear, guarded, biased, rows_packed;
    uint32_t weights; // buffer
    int64_t w_offset, w_batch, w_part, w_tile, w_row, w_rows, w_group, bias;
    double operations;
} product;

static taper_gpu_kernel choose_kernel(const taper_gpu_emitter *e, int64_t pixels, bool rows_packed, bool plain,
                                      int64_t *tile)
{
    if (rows_packed) {
        *tile = 2;
        return TAPER_GPU_KERNEL_PRODUCT_4X2;
    }
    if (pixels < 4) {
        *tile = 1;
        return TAPER_GPU_KERNEL_CONV_1X1;
    }
    *tile = e->state->wide ? 4 : 2;
    return e->state->wide ? (plain ? TAPER_GPU_KERNEL_CONV_8X4 : TAPER_GPU_KERNEL_CONV_8X4_ANY)
                          : (plain ? TAPER_GPU_KERNEL_CONV_4X2 : TAPER_GPU_KERNEL_CONV_4X2_ANY);
}

static taper_status add_product(taper_gpu_emitter *e, const product *p, const taper_gpu_loops *loops,
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
    w->kernel = choose_kernel(e, pixels, p->rows_packed, taper_gpu_chain_is_plain(chain), &tile);
    TAPER_TRY(taper_gpu_bind(e, w, chain, &p->out, loops, 3));
    w->buffers[1] = p->in.buffer;
    w->buffers[2] = p->weights;
    taper_gpu_put_strides(w, &at, &p->in, p->in_strides);
    taper_gpu_put(w, &at, p->in_groups * p->in.strides[p->in.packed]); // from one part to the next
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        taper_gpu_put(w, &at, more[i]);
    }
    w->constants[11] = (uint32_t)p->kernel[0];
    w->constants[12] = (uint32_t)p->kernel[1];
    w->constants[13] = p->padded;
    w->constants[14] = p->linear;
    w->constants[15] = p->guarded;
    w->constants[16] = p->biased;
    const int64_t in_a_row = w->kernel == TAPER_GPU_KERNEL_CONV_8X4 || w->kernel == TAPER_GPU_KERNEL_CONV_8X4_ANY ? 8
                             : w->kernel == TAPER_GPU_KERNEL_CONV_1X1                                             ? 1
                                                                                                                  : 4;
    w->threads[0] = (uint32_t)((pixels + in_a_row - 1) / in_a_row);
    w->threads[1] = (uint32_t)((p->out_groups + tile - 1) / tile);
    w->threads[2] = (uint32_t)(p->out_sizes[0] * p->parts);
    w->operations = p->operations;
    return TAPER_OK;
}

// ---- convolutions

typedef struct geometry {
    int64_t stride[2], padding[2], dilation[2], groups;
} geometry;

static taper_status read_geometry(taper_gpu_emitter *e, const taper_node *node, int rank, const int64_t *kernel,
                                  geometry *g)
{
    const size_t space = (size_t)rank - 2;
    int64_t transposed, more[2], numbers[3][2];
    const taper_val *word = taper_read_constant(&e->reader, taper_read_argument(node, "padding"));
    TAPER_TRY(taper_read_int(&e->reader, node, "transposed", 0, &transposed));
    TAPER_GPU_REFUSE(e, transposed != 0, "a transposed convolution");
    TAPER_TRY(taper_read_ints(&e->reader, node, "output_padding", space, 0, more));
    TAPER_TRY(taper_read_ints(&e->reader, node, "stride", space, 1, numbers[0]));
    TAPER_TRY(taper_read_ints(&e->reader, node, "dilation", space, 1, numbers[1]));
    TAPER_TRY(taper_read_int(&e->reader, node, "groups", 1, &g->groups));
    if (word != NULL && word->tag == TAPER_STRING) {
        for (size_t d = 0; d < space; d++) { // what is behind the end is read as zero anyway
            const int64_t total = taper_val_string_is(*word, "same") ? numbers[1][d] * (kernel[2 - space + d] - 1) : 0;
            numbers[2][d] = total / 2;
        }
    } else {
        TAPER_TRY(taper_read_ints(&e->reader, node, "padding", space, 0, numbers[2]));
    }
    for (size_t d = 0; d < 2; d++) { // of one dimension: a row
        const bool there = space == 2 || d == 1;
        const size_t from = space == 2 ? d : 0;
        g->stride[d] = there ? numbers[0][from] : 1;
        g->dilation[d] = there ? numbers[1][from] : 1;
        g->padding[d] = there ? numbers[2][from] : 0;
        TAPER_GPU_REFUSE(e, g->stride[d] < 1 || g->dilation[d] < 1 || g->padding[d] < 0, "a stride that is none");
    }
    return TAPER_OK;
}

// Groups that are computed together so that whole vectors of channels are: with zeros for what is of other groups.
static void choose_parts(layer *l)
{
    const int64_t in = l->in / l->groups, out = l->out / l->groups;
    int64_t together = 1;
    while (together < l->groups && (l->groups % together != 0 || in * together % TAPER_GPU_VECTOR != 0 ||
                                    out * together % TAPER_GPU_VECTOR != 0)) {
        together++;
    }
    l->part_in = in * together;
    l->part_out = out * together;
}

// Images as [batch, channels, rows, columns]; those of one dimension are a row.
static void as_images(const taper_gpu_view *x, int64_t strides[3], int64_t sizes[2])
{
    strides[0] = x->strides[0];
    strides[1] = x->rank == 4 ? x->strides[2] : 0;
    strides[2] = x->strides[x->rank - 1];
    sizes[0] = x->rank == 4 ? x->sizes[2] : 1;
    sizes[1] = x->sizes[x->rank - 1];
}

static void loops_of_images(const taper_gpu_view *out, const taper_gpu_chain *chain, taper_gpu_loops *loops)
{
    int64_t sizes[2];
    *loops = (taper_gpu_loops){.sizes = {out->sizes[0], 1, 1}};
    as_images(out, loops->strides[0], sizes);
    loops->sizes[1] = sizes[0];
    loops->sizes[2] = sizes[1];
    for (uint32_t i = 0; i < chain->operand_count; i++) {
        as_images(&chain->operands[i], loops->strides[2 + i], sizes);
    }
}

static taper_gpu_kernel depthwise_kernel(const layer *l, const geometry *g)
{
    const bool plain = g->dilation[0] == 1 && g->dilation[1] == 1 && l->kernel[0] == l->kernel[1];
    return !plain || g->stride[1] > 2               ? TAPER_GPU_KERNEL_DEPTHWISE
           : l->kernel[0] == 3 && g->stride[1] == 1 ? TAPER_GPU_KERNEL_DEPTHWISE_3
           : l->kernel[0] == 3                      ? TAPER_GPU_KERNEL_DEPTHWISE_3_2
           : l->kernel[0] == 5 && g->stride[1] == 1 ? TAPER_GPU_KERNEL_DEPTHWISE_5
           : l->kernel[0] == 5                      ? TAPER_GPU_KERNEL_DEPTHWISE_5_2
                                                    : TAPER_GPU_KERNEL_DEPTHWISE;
}

static taper_status emit_depthwise(taper_gpu_emitter *e, const layer *l, const geometry *g, const taper_gpu_view *in,
                                   const taper_gpu_view *out, const taper_gpu_chain *chain)
{
    const int64_t groups = taper_gpu_vectors(l->out), taps = l->kernel[0] * l->kernel[1];
    const taper_gpu_key key = key_of(l, KIND_DEPTHWISE);
    int64_t strides[3], sizes[2];
    taper_gpu_loops loops;
    taper_gpu_work *w;
    uint32_t at = 0, weights;
    TAPER_TRY(taper_gpu_add_weights(e, &key, (uint64_t)((taps + 1) * groups) * 16, fill_depthwise, (void *)(uintptr_t)l,
                                    &weights));
    TAPER_TRY(taper_gpu_add_work(e->program, &w));
    w->kernel = depthwise_kernel(l, g);
    loops_of_images(out, chain, &loops);
    TAPER_TRY(taper_gpu_bind(e, w, chain, out, &loops, 3));
    w->buffers[1] = in->buffer;
    w->buffers[2] = weights;
    as_images(in, strides, sizes);
    const int64_t more[] = {
        sizes[0],       sizes[1], g->stride[0], g->stride[1], g->padding[0], g->padding[1], g->dilation[0],
        g->dilation[1], 0,        taps * groups};
    taper_gpu_put_strides(w, &at, in, strides);
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        taper_gpu_put(w, &at, more[i]);
    }
    w->constants[11] = (uint32_t)l->kernel[0];
    w->constants[12] = (uint32_t)l->kernel[1];
    w->threads[0] = (uint32_t)((loops.sizes[2] + 3) / 4);
    w->threads[1] = (uint32_t)loops.sizes[1];
    w->threads[2] = (uint32_t)(loops.sizes[0] * groups);
    w->operations = 2.0 * (double)(loops.sizes[0] * loops.sizes[1] * loops.sizes[2] * l->out * taps);
    return TAPER_OK;
}

static taper_status emit_dense(taper_gpu_emitter *e, layer *l, const geometry *g, const taper_gpu_view *in,
                               const taper_gpu_view *out, const taper_gpu_chain *chain)
{
    taper_gpu_loops loops;
    product p = {.in = *in, .out = *out, .parts = l->out / l->part_out, .biased = true};
    loops_of_images(out, chain, &loops);
    as_images(in, p.in_strides, p.in_sizes);
    memcpy(p.out_sizes, loops.sizes, sizeof p.out_sizes);
    for (size_t d = 0; d < 2; d++) {
        p.kernel[d] = l->kernel[d];
        p.stride[d] = g->stride[d];
        p.padding[d] = g->padding[d];
        p.dilation[d] = g->dilation[d];
        const int64_t last =
            (p.out_sizes[1 + d] - 1) * g->stride[d] + (l->kernel[d] - 1) * g->dilation[d] - g->padding[d];
        p.padded = p.padded || g->padding[d] != 0 || last >= p.in_sizes[d];
    }
    p.in_groups = taper_gpu_vectors(l->part_in);
    p.out_groups = taper_gpu_vectors(l->part_out);
    (void)choose_kernel(e, p.out_sizes[1] * p.out_sizes[2], false, true, &l->tile);
    const bool one = l->kernel[0] == 1 && l->kernel[1] == 1 && g->stride[0] == 1 && g->stride[1] == 1 && !p.padded;
    // Rows that follow each other are one, in all that the kernel looks at.
    bool joins = p.in_sizes[0] == 1 || p.in_strides[1] == p.in_strides[2] * p.in_sizes[1];
    joins = joins && (loops.sizes[1] == 1 || loops.strides[0][1] == loops.strides[0][2] * loops.sizes[2]);
    joins = joins && (chain->operand_count == 0 || loops.sizes[1] == 1 ||
                      loops.strides[2][1] == loops.strides[2][2] * loops.sizes[2]);
    p.linear = one && joins;
    const taper_gpu_key key = key_of(l, KIND_CONV);
    const int64_t vectors = vectors_of_weights(l, &p.bias);
    TAPER_TRY(taper_gpu_add_weights(e, &key, (uint64_t)vectors * 16, fill_weights, l, &p.weights));
    p.w_row = l->tile;
    p.w_group = 1;
    p.w_tile = l->kernel[0] * l->kernel[1] * p.in_groups * TAPER_GPU_VECTOR * l->tile;
    p.w_part = (p.out_groups + l->tile - 1) / l->tile * p.w_tile;
    p.operations = 2.0 * (double)(p.out_sizes[0] * p.out_sizes[1] * p.out_sizes[2] * l->out * (l->in / l->groups) *
                                  l->kernel[0] * l->kernel[1]);
    return add_product(e, &p, &loops, chain);
}

// x as the layer has it; the chain has what the operator does beside, and takes what follows.
static taper_status emit_conv(taper_gpu_emitter *e, const taper_ir_value *x, layer *l, const geometry *g,
                              taper_gpu_chain *chain, const taper_ir_value *result)
{
    taper_gpu_view in, out;
    const int rank = l->weight->rank;
    const taper_shape shape = taper_gpu_shape(e, result);
    TAPER_TRY(taper_gpu_operand_packed(e, x, 1, &in));
    TAPER_GPU_REFUSE(e, in.rank != rank || in.sizes[1] != l->in, "a convolution of other channels");
    if (chain->count == 0) {
        take_norm(e, &result, l);
    }
    const bool depthwise = l->groups == l->in && l->groups == l->out && l->groups > 1;
    chain->most = TAPER_GPU_FEW_STEPS;
    chain->only_plain = depthwise && depthwise_kernel(l, g) != TAPER_GPU_KERNEL_DEPTHWISE;
    TAPER_TRY(taper_gpu_take_steps(e, &result, 1, 1, chain));
    TAPER_TRY(taper_gpu_new(e, &shape, 1, &out));
    choose_parts(l);
    TAPER_TRY(depthwise ? emit_depthwise(e, l, g, &in, &out, chain) : emit_dense(e, l, g, &in, &out, chain));
    taper_gpu_give(e, result, &out);
    return TAPER_OK;
}

static taper_status look_at_conv(taper_gpu_emitter *e, const taper_node *node, layer *l)
{
    const int rank = l->weight->rank;
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    TAPER_GPU_REFUSE(e, rank != 3 && rank != 4, "a convolution of three dimensions");
    TAPER_GPU_REFUSE(e, shape.rank >= 0 && shape.rank != rank, "a convolution of an image without a batch");
    l->kernel[0] = rank == 4 ? l->weight->sizes[2] : 1;
    l->kernel[1] = l->weight->sizes[rank - 1];
    return TAPER_OK;
}

static taper_status look_at_groups(taper_gpu_emitter *e, const geometry *g, layer *l)
{
    l->groups = g->groups;
    l->out = l->weight->sizes[0];
    l->in = l->weight->sizes[1] * (g->groups < 1 ? 1 : g->groups);
    TAPER_GPU_REFUSE(e, l->groups < 1 || l->out % l->groups != 0 || l->out == 0 || l->in == 0, "groups that are none");
    return TAPER_OK;
}

taper_status taper_gpu_rule_conv(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    layer l = {.kernel = {1, 1}};
    geometry g;
    taper_gpu_chain chain = {0};
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_TRY(constant_tensor(e, taper_node_in(node, 1), true, &l.weight));
    TAPER_TRY(constant_tensor(e, taper_read_argument(node, "bias"), false, &l.bias));
    TAPER_TRY(look_at_conv(e, node, &l));
    TAPER_TRY(read_geometry(e, node, l.weight->rank, l.kernel, &g));
    TAPER_TRY(look_at_groups(e, &g, &l));
    return e->asking ? TAPER_OK : emit_conv(e, taper_node_in(node, 0), &l, &g, &chain, &node->outputs[0]);
}

// The object of packed weights.
static taper_status packed_object(taper_gpu_emitter *e, const taper_node *node, taper_object **object)
{
    const taper_val *packed = taper_read_constant(&e->reader, taper_node_in(node, 1));
    TAPER_GPU_REFUSE(e, packed == NULL || packed->tag != TAPER_OBJECT, "packed weights that are no constant");
    *object = packed->as.object;
    return taper_gpu_ask_operand(e, taper_node_in(node, 0));
}

taper_status taper_gpu_rule_packed_conv(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    taper_run run = taper_run_on(e->heap, NULL, NULL);
    const taper_call call = {.run = &run, .op = node->op, .schema = node->schema};
    taper_conv_args args = {.min = -HUGE_VAL, .max = HUGE_VAL};
    taper_object *object;
    layer l = {.kernel = {1, 1}};
    taper_gpu_chain chain = {0};
    (void)code;
    TAPER_TRY(packed_object(e, node, &object));
    TAPER_GPU_REFUSE(e, taper_prepacked_conv_state(&call, object, &args) != TAPER_OK,
                     "packed weights that cannot be read");
    const taper_conv_params *p = &args.params;
    l.weight = args.weight;
    l.bias = args.bias;
    TAPER_GPU_REFUSE(e,
                     l.weight->dtype != TAPER_F32 || l.weight->hidden_nhwc ||
                         (l.bias != NULL && (l.bias->dtype != TAPER_F32 || l.bias->rank != 1)),
                     "a weight of other than float32");
    TAPER_TRY(look_at_conv(e, node, &l));
    TAPER_GPU_REFUSE(e, p->transposed || l.weight->rank != 4, "a transposed convolution");
    const geometry g = {.stride = {p->stride[0], p->stride[1]},
                        .padding = {p->padding[0], p->padding[1]},
                        .dilation = {p->dilation[0], p->dilation[1]},
                        .groups = p->groups};
    TAPER_TRY(look_at_groups(e, &g, &l));
    taper_gpu_add_clamp(&chain, args.min, args.max);
    return e->asking ? TAPER_OK : emit_conv(e, taper_node_in(node, 0), &l, &g, &chain, &node->outputs[0]);
}

// ---- linear layers

// in [.., l->in], packed along its last dimension, times the constant; out's other dimensions are in's.
static taper_status linear_of(taper_gpu_emitter *e, const taper_gpu_view *x, layer *l, const taper_gpu_chain *chain,
                              taper_gpu_view *out)
{
    const int last = x->rank - 1;
    taper_gpu_view in = *x;
    taper_gpu_loops loops;
    taper_shape shape = {.rank = x->rank, .dtype = TAPER_F32};
    product p = {.parts = 1, .kernel = {1, 1}, .stride = {1, 1}, .dilation = {1, 1}, .linear = true, .biased = true};
    TAPER_GPU_REFUSE(e, in.packed != last || in.sizes[last] != l->in, "a product of other sizes");
    memcpy(shape.sizes, x->sizes, sizeof x->sizes);
    shape.sizes[last] = l->out;
    TAPER_TRY(taper_gpu_new(e, &shape, last, out));
    // Rows: the dimensions in front, as three loops; the kernel counts rows in the last one.
    taper_gpu_view rows = in; // of the result's sizes
    rows.sizes[last] = l->out;
    const taper_gpu_view *views[4] = {out, &rows, &chain->operands[0], NULL};
    if (taper_gpu_view_loops(views, 2 + chain->operand_count, &loops) && loops.sizes[0] == 1) {
        if (loops.sizes[1] != 1) { // the middle one is a batch
            for (size_t v = 0; v < 4; v++) {
                loops.strides[v][0] = loops.strides[v][1];
                loops.strides[v][1] = 0;
            }
            loops.sizes[0] = loops.sizes[1];
            loops.sizes[1] = 1;
        }
    } else {
        shape.sizes[last] = l->in;
        TAPER_TRY(taper_gpu_new(e, &shape, last, &in));
        TAPER_TRY(taper_gpu_move(e, x, &in));
        rows = in;
        rows.sizes[last] = l->out;
        TAPER_GPU_REFUSE(
            e, !taper_gpu_view_loops(views, 2 + chain->operand_count, &loops) || loops.sizes[0] * loops.sizes[1] != 1,
            "tensors of more dimensions than a kernel has loops");
    }
    l->part_in = l->in;
    l->part_out = l->out;
    l->groups = 1;
    l->kernel[0] = l->kernel[1] = 1;
    (void)choose_kernel(e, loops.sizes[1] * loops.sizes[2], false, true, &l->tile);
    p.in = in;
    p.out = *out;
    memcpy(p.in_strides, loops.strides[1], sizeof p.in_strides);
    memcpy(p.out_sizes, loops.sizes, sizeof p.out_sizes);
    p.in_sizes[0] = 1;
    p.in_sizes[1] = loops.sizes[2];
    p.in_groups = taper_gpu_vectors(l->in);
    p.out_groups = taper_gpu_vectors(l->out);
    const taper_gpu_key key = key_of(l, KIND_LINEAR);
    const int64_t vectors = vectors_of_weights(l, &p.bias);
    TAPER_TRY(taper_gpu_add_weights(e, &key, (uint64_t)vectors * 16, fill_weights, l, &p.weights));
    p.w_row = l->tile;
    p.w_group = 1;
    p.w_tile = p.in_groups * TAPER_GPU_VECTOR * l->tile;
    p.operations = 2.0 * (double)(loops.sizes[0] * loops.sizes[1] * loops.sizes[2] * l->in * l->out);
    return add_product(e, &p, &loops, chain);
}

taper_status taper_gpu_linear(taper_gpu_emitter *e, const taper_gpu_view *in, const taper_tensor *weight,
                              const taper_tensor *bias, const taper_gpu_chain *chain, taper_gpu_view *out)
{
    layer l = {.weight = weight, .bias = bias, .out = weight->sizes[0], .in = weight->sizes[1]};
    return linear_of(e, in, &l, chain, out);
}

// x [.., in] times a constant [out, in], or [in, out].
static taper_status emit_linear(taper_gpu_emitter *e, const taper_ir_value *x, layer *l, const taper_ir_value *result,
                                const taper_shape *shape, double min, double max)
{
    taper_gpu_view in, out;
    taper_gpu_chain chain = {.most = TAPER_GPU_FEW_STEPS};
    taper_gpu_add_clamp(&chain, min, max);
    TAPER_GPU_REFUSE(e, shape->rank < 1, "a product without dimensions");
    TAPER_TRY(taper_gpu_operand_packed(e, x, shape->rank - 1, &in));
    TAPER_GPU_REFUSE(e, in.rank != shape->rank, "a product of other sizes");
    TAPER_TRY(taper_gpu_take_steps(e, &result, shape->rank - 1, 1, &chain));
    TAPER_TRY(linear_of(e, &in, l, &chain, &out));
    taper_gpu_give(e, result, &out);
    return TAPER_OK;
}

taper_status taper_gpu_rule_linear(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    layer l = {0};
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_TRY(constant_tensor(e, taper_node_in(node, 1), true, &l.weight));
    TAPER_TRY(constant_tensor(e, taper_read_argument(node, "bias"), false, &l.bias));
    TAPER_GPU_REFUSE(e, l.weight->rank != 2, "a linear layer whose weight is no matrix");
    TAPER_GPU_REFUSE(e, l.bias != NULL && l.bias->rank != 1, "a linear layer whose bias is no vector");
    l.out = l.weight->sizes[0];
    l.in = l.weight->sizes[1];
    return e->asking ? TAPER_OK
                     : emit_linear(e, taper_node_in(node, 0), &l, &node->outputs[0], &shape, -HUGE_VAL, HUGE_VAL);
}

taper_status taper_gpu_rule_packed_linear(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    taper_run run = taper_run_on(e->heap, NULL, NULL);
    const taper_call call = {.run = &run, .op = node->op, .schema = node->schema};
    taper_linear_args args = {.min = -HUGE_VAL, .max = HUGE_VAL};
    taper_object *object;
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    (void)code;
    TAPER_TRY(packed_object(e, node, &object));
    TAPER_GPU_REFUSE(e, taper_prepacked_linear_state(&call, object, &args) != TAPER_OK,
                     "packed weights that cannot be read");
    TAPER_GPU_REFUSE(e,
                     args.weight->dtype != TAPER_F32 || args.weight->rank != 2 ||
                         (args.bias != NULL && (args.bias->dtype != TAPER_F32 || args.bias->rank != 1)),
                     "a weight of other than float32");
    const int out = args.weight_is_in_out ? 1 : 0;
    layer l = {.weight = args.weight,
               .bias = args.bias,
               .out = args.weight->sizes[out],
               .in = args.weight->sizes[1 - out],
               .transposed_linear = args.weight_is_in_out};
    return e->asking ? TAPER_OK
                     : emit_linear(e, taper_node_in(node, 0), &l, &node->outputs[0], &shape, args.min, args.max);
}

// bias + a b
taper_status taper_gpu_rule_addmm(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    layer l = {.transposed_linear = true};
    double alpha, beta;
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 1)));
    TAPER_TRY(constant_tensor(e, taper_node_in(node, 2), true, &l.weight));
    TAPER_TRY(constant_tensor(e, taper_node_in(node, 0), true, &l.bias));
    TAPER_TRY(taper_read_number(&e->reader, node, "alpha", 1, &alpha));
    TAPER_TRY(taper_read_number(&e->reader, node, "beta", 1, &beta));
    TAPER_GPU_REFUSE(e, alpha != 1 || beta != 1, "a product with factors");
    TAPER_GPU_REFUSE(e, l.weight->rank != 2 || l.bias->rank != 1 || l.bias->sizes[0] != l.weight->sizes[1],
                     "a sum that is no bias");
    l.out = l.weight->sizes[1];
    l.in = l.weight->sizes[0];
    return e->asking ? TAPER_OK
                     : emit_linear(e, taper_node_in(node, 1), &l, &node->outputs[0], &shape, -HUGE_VAL, HUGE_VAL);
}

// ---- products of two tensors

// a [.., m, k] b [.., k, n], batches broadcast.
taper_status taper_gpu_rule_matmul(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    const taper_ir_value *a_value = taper_node_in(node, 0), *b_value = taper_node_in(node, 1);
    const taper_ir_value *result = &node->outputs[0];
    const taper_shape shape = taper_gpu_shape(e, result);
    const taper_tensor *weight = taper_read_tensor(&e->reader, b_value);
    taper_gpu_view a, b, out;
    taper_gpu_chain chain = {0};
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand(e, a_value));
    TAPER_TRY(taper_gpu_ask_operand(e, b_value));
    if (weight != NULL && weight->rank == 2 && weight->dtype == TAPER_F32) {
        layer l = {.weight = weight, .transposed_linear = true, .out = weight->sizes[1], .in = weight->sizes[0]};
        return e->asking ? TAPER_OK : emit_linear(e, a_value, &l, result, &shape, -HUGE_VAL, HUGE_VAL);
    }
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_gpu_operand(e, a_value, &a));
    TAPER_TRY(taper_gpu_operand(e, b_value, &b));
    const int rank = shape.rank;
    TAPER_GPU_REFUSE(e, rank < 2 || a.rank != rank || b.rank != rank, "a product of other than matrices");
    const taper_gpu_view before = a;
    TAPER_TRY(taper_gpu_repack(e, &before, rank - 1, &a));
    const int64_t m = a.sizes[rank - 2], k = a.sizes[rank - 1], n = b.sizes[rank - 1];
    const bool dots = b.packed == rank - 2; // its rows are packed: what was transposed
    if (dots) {
        taper_gpu_view keys = b;
        keys.packed = rank - 1;
        keys.sizes[rank - 2] = b.sizes[rank - 1];
        keys.sizes[rank - 1] = b.sizes[rank - 2];
        keys.strides[rank - 2] = b.strides[rank - 1];
        keys.strides[rank - 1] = b.strides[rank - 2];
        const taper_status attends = taper_gpu_take_attention(e, node, &a, &keys, &result, &out);
        if (attends != TAPER_DECLINED) {
            taper_gpu_give(e, result, &out);
            return attends;
        }
    }
    if (!dots && b.packed != rank - 1) {
        const taper_gpu_view other = b;
        const taper_shape there = taper_gpu_shape(e, b_value);
        TAPER_TRY(taper_gpu_new(e, &there, rank - 1, &b));
        TAPER_TRY(taper_gpu_move(e, &other, &b));
    }
    chain.most = TAPER_GPU_FEW_STEPS;
    chain.only_plain = dots;
    TAPER_TRY(taper_gpu_take_steps(e, &result, rank - 1, 1, &chain));
    TAPER_TRY(taper_gpu_new(e, &shape, rank - 1, &out));
    // Batches as one loop, so that there are three with rows.
    taper_gpu_view from_a = a, from_b = b, batches = out;
    taper_gpu_view all[3];
    taper_gpu_loops loops, of_batches;
    from_a.packed = from_b.packed = batches.packed = rank - 1;
    for (int d = 0; d < rank - 2; d++) {
        TAPER_GPU_REFUSE(
            e, (a.sizes[d] != shape.sizes[d] && a.sizes[d] != 1) || (b.sizes[d] != shape.sizes[d] && b.sizes[d] != 1),
            "batches that do not fit");
        from_a.strides[d] = a.sizes[d] == 1 ? 0 : a.strides[d];
        from_b.strides[d] = b.sizes[d] == 1 ? 0 : b.strides[d];
    }
    all[0] = batches;
    all[1] = from_a;
    all[2] = from_b;
    for (size_t v = 0; v < 3; v++) {
        memcpy(all[v].sizes, shape.sizes, sizeof all[v].sizes);
        all[v].sizes[rank - 2] = 1;
    }
    const taper_gpu_view *views[4] = {&all[0], &all[1], &all[2], &chain.operands[0]};
    taper_gpu_view operand = chain.operands[0];
    operand.sizes[rank - 2] = 1;
    views[3] = &operand;
    TAPER_GPU_REFUSE(e, !taper_gpu_view_loops(views, 3 + chain.operand_count, &of_batches),
                     "batches of more dimensions than a kernel has loops");
    // One dispatch for each of what does not fit one loop.
    const int64_t outer = of_batches.sizes[0] * of_batches.sizes[1];
    TAPER_GPU_REFUSE(e, outer > 64, "batches of more dimensions than a kernel has loops");
    for (int64_t i = 0; i < outer; i++) {
        const int64_t i0 = i / of_batches.sizes[1], i1 = i % of_batches.sizes[1];
        taper_gpu_chain here = chain;
        product p = {.in = a,
                     .out = out,
                     .parts = 1,
                     .kernel = {1, 1},
                     .stride = {1, 1},
                     .dilation = {1, 1},
                     .linear = true,
                     .guarded = !dots,
                     .rows_packed = dots};
        loops = (taper_gpu_loops){.sizes = {of_batches.sizes[2], 1, m}};
        for (size_t v = 0; v < 4; v++) {
            loops.strides[v][0] = of_batches.strides[v == 3 ? 3 : v][2];
        }
        p.in.offset += i0 * of_batches.strides[1][0] + i1 * of_batches.strides[1][1];
        p.out.offset += i0 * of_batches.strides[0][0] + i1 * of_batches.strides[0][1];
        p.w_offset = b.offset + i0 * of_batches.strides[2][0] + i1 * of_batches.strides[2][1];
        p.w_batch = of_batches.strides[2][2];
        loops.strides[0][2] = out.strides[rank - 2];
        if (chain.operand_count != 0) {
            here.operands[0].offset += i0 * of_batches.strides[3][0] + i1 * of_batches.strides[3][1];
            loops.strides[2][0] = of_batches.strides[3][2];
            loops.strides[2][1] = 0;
            loops.strides[2][2] = chain.operands[0].strides[rank - 2];
        }
        p.in_strides[0] = of_batches.strides[1][2];
        p.in_strides[2] = a.strides[rank - 2];
        memcpy(p.out_sizes, loops.sizes, sizeof p.out_sizes);
        p.in_sizes[0] = 1;
        p.in_sizes[1] = m;
        p.in_groups = taper_gpu_vectors(k);
        p.out_groups = taper_gpu_vectors(n);
        p.weights = b.buffer;
        int64_t tile;
        (void)choose_kernel(e, m, dots, true, &tile);
        p.w_tile = tile * b.strides[rank - 1];
        p.w_row = dots ? b.strides[rank - 1] : b.strides[rank - 2];
        p.w_group = dots ? b.strides[rank - 2] : b.strides[rank - 1];
        p.w_rows = dots ? n : k;
        p.operations = 2.0 * (double)(loops.sizes[0] * m * k * n);
        TAPER_TRY(add_product(e, &p, &loops, &here));
    }
    taper_gpu_give(e, result, &out);
    return TAPER_OK;
}

// ---- batch norm that no layer took

static void fill_norm(void *user, float *to)
{
    const layer *l = user;
    const int64_t vectors = taper_gpu_vectors(l->out);
    for (int64_t channel = 0; channel < l->out; channel++) {
        double scale, shift;
        scale_and_shift(l, channel, &scale, &shift);
        to[channel] = (float)scale;
        to[vectors * TAPER_GPU_VECTOR + channel] = (float)shift;
    }
}

taper_status taper_gpu_rule_batch_norm(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    enum { KIND_NORM = 6 };
    layer l = {0};
    const taper_ir_value *result = &node->outputs[0];
    const taper_shape shape = taper_gpu_shape(e, result);
    taper_gpu_chain chain = {.most_operands = 2, .operand_count = 2, .count = 2};
    taper_gpu_view in, out;
    taper_gpu_loops loops;
    taper_gpu_work *w;
    uint32_t at = 0, weights;
    (void)code;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    const taper_tensor *mean = taper_read_tensor(&e->reader, taper_node_in(node, 3));
    TAPER_GPU_REFUSE(e, mean == NULL || mean->rank != 1, "a batch norm whose statistics are no constants");
    l.out = mean->sizes[0];
    TAPER_TRY(read_norm(e, node, l.out, &l));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, shape.rank < 2 || shape.sizes[1] != l.out, "a batch norm of other channels");
    TAPER_TRY(taper_gpu_operand_packed(e, taper_node_in(node, 0), 1, &in));
    const taper_gpu_key key = key_of(&l, KIND_NORM);
    const int64_t vectors = taper_gpu_vectors(l.out);
    TAPER_TRY(taper_gpu_add_weights(e, &key, (uint64_t)vectors * 32, fill_norm, &l, &weights));
    for (uint32_t i = 0; i < 2; i++) {
        taper_gpu_view *v = &chain.operands[i];
        *v = (taper_gpu_view){.buffer = weights, .rank = shape.rank, .packed = 1, .offset = i == 0 ? 0 : vectors};
        memcpy(v->sizes, shape.sizes, sizeof v->sizes);
        v->strides[1] = 1;
    }
    chain.codes[0] = TAPER_GPU_STEP_MUL | TAPER_GPU_FROM_E << 8;
    chain.codes[1] = TAPER_GPU_STEP_ADD | TAPER_GPU_FROM_F << 8;
    chain.high[1] = 1;
    TAPER_TRY(taper_gpu_take_steps(e, &result, 1, 2, &chain));
    TAPER_TRY(taper_gpu_new(e, &shape, 1, &out));
    const taper_gpu_view *views[4] = {&out, &in, &chain.operands[0], &chain.operands[1]};
    TAPER_GPU_REFUSE(e, !taper_gpu_view_loops(views, 4, &loops), "tensors of more dimensions than a kernel has loops");
    TAPER_TRY(taper_gpu_add_work(e->program, &w));
    w->kernel = TAPER_GPU_KERNEL_ELEMENTWISE;
    TAPER_TRY(taper_gpu_bind(e, w, &chain, &out, &loops, 2));
    w->buffers[1] = in.buffer;
    taper_gpu_put_strides(w, &at, &in, loops.strides[1]);
    w->threads[0] = (uint32_t)loops.sizes[2];
    w->threads[1] = (uint32_t)loops.sizes[1];
    w->threads[2] = (uint32_t)(loops.sizes[0] * vectors);
    taper_gpu_give(e, result, &out);
    return TAPER_OK;
}
