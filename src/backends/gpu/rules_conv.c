// SPDX-License-Identifier: BSD-2-Clause
// Convolutions: implicit products (shaders/conv.comp), except depthwise convolutions (depthwise.comp). Also batch norm
// that was not merged into a layer.
#include <math.h>
#include <string.h>

#include "backends/gpu/winograd.h"
#include "ops/nn/prepacked.h"

enum { MOST_STEP = 1 << 24 };

static taper_status read_geometry(taper_gpu_emitter *e, const taper_node *node, int rank, const int64_t *kernel,
                                  taper_gpu_geometry *g)
{
    const size_t space = (size_t)rank - 2;
    int64_t transposed, more[2], numbers[3][2];
    const taper_val *word = taper_read_constant(&e->reader, taper_read_argument(node, "padding"));
    const unsigned kind = TAPER_FIELD(taper_node_facts(node), LAYER);
    const bool up = kind == TAPER_LAYER_CONV_TRANSPOSED1 || kind == TAPER_LAYER_CONV_TRANSPOSED2;
    TAPER_TRY(taper_read_int(&e->reader, node, "transposed", up, &transposed));
    g->transposed = transposed != 0;
    TAPER_TRY(taper_read_ints(&e->reader, node, "output_padding", space, 0, more));
    TAPER_TRY(taper_read_ints(&e->reader, node, "stride", space, 1, numbers[0]));
    TAPER_TRY(taper_read_ints(&e->reader, node, "dilation", space, 1, numbers[1]));
    TAPER_TRY(taper_read_int(&e->reader, node, "groups", 1, &g->groups));
    if (word != NULL && word->tag == TAPER_STRING) {
        // Padding at the end is not needed, because elements after the end are read as zeros anyway.
        for (size_t d = 0; d < space; d++) {
            const int64_t total = taper_val_string_is(*word, "same") ? numbers[1][d] * (kernel[2 - space + d] - 1) : 0;
            numbers[2][d] = total / 2;
        }
    } else {
        TAPER_TRY(taper_read_ints(&e->reader, node, "padding", space, 0, numbers[2]));
    }
    for (size_t d = 0; d < 2; d++) { // an image with one spatial dimension is a row
        const bool there = space == 2 || d == 1;
        const size_t from = space == 2 ? d : 0;
        g->stride[d] = there ? numbers[0][from] : 1;
        g->dilation[d] = there ? numbers[1][from] : 1;
        g->padding[d] = there ? numbers[2][from] : 0;
        TAPER_GPU_REFUSE(e, g->stride[d] < 1 || g->dilation[d] < 1 || g->padding[d] < 0, "an invalid stride");
        TAPER_GPU_REFUSE(e,
                         g->transposed && there &&
                             (more[from] < 0 || (more[from] >= g->stride[d] && more[from] >= g->dilation[d])),
                         "an output padding that is refused");
    }
    return TAPER_OK;
}

// Chooses how many groups are computed together, so that a part has whole vectors of channels. Weights between
// different groups are zero.
static void choose_parts(taper_gpu_layer *l)
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

// Describes images as [batch, channels, rows, columns]. An image with one spatial dimension has one row.
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

// Returns true for a depthwise layer. The depthwise kernel sums floats, so integer sums must be exact in floats.
static bool is_depthwise(const taper_gpu_layer *l)
{
    return l->groups == l->in && l->groups == l->out && l->groups > 1 && !l->transposed &&
           (l->integers == NULL || l->integers->small);
}

// Makes the steps after integer sums: multiplication by the channel's factor, which is stored after the weights, and
// conversion to quint8.
static const taper_gpu_chain *requantize(const taper_gpu_integers *q, uint32_t weights, int64_t at,
                                         const taper_gpu_view *out, taper_gpu_chain *chain)
{
    taper_gpu_view factors = {.buffer = weights, .offset = at, .rank = out->rank, .packed = out->packed};
    memcpy(factors.sizes, out->sizes, sizeof factors.sizes);
    factors.strides[out->packed] = 1;
    *chain = (taper_gpu_chain){.most_operands = 1};
    taper_gpu_append(chain, TAPER_GPU_STEP_MUL, &factors, 0, 0);
    taper_gpu_append(chain, TAPER_GPU_STEP_QUANTIZE, NULL, q->point, q->least);
    return chain;
}

static taper_gpu_kernel depthwise_kernel(const taper_gpu_layer *l, const taper_gpu_geometry *g)
{
    const bool plain = g->dilation[0] == 1 && g->dilation[1] == 1 && l->kernel[0] == l->kernel[1];
    return !plain || g->stride[1] > 2               ? TAPER_GPU_KERNEL_DEPTHWISE
           : l->kernel[0] == 3 && g->stride[1] == 1 ? TAPER_GPU_KERNEL_DEPTHWISE_3
           : l->kernel[0] == 3                      ? TAPER_GPU_KERNEL_DEPTHWISE_3_2
           : l->kernel[0] == 5 && g->stride[1] == 1 ? TAPER_GPU_KERNEL_DEPTHWISE_5
           : l->kernel[0] == 5                      ? TAPER_GPU_KERNEL_DEPTHWISE_5_2
                                                    : TAPER_GPU_KERNEL_DEPTHWISE;
}

static taper_status emit_depthwise(taper_gpu_emitter *e, const taper_gpu_layer *l, const taper_gpu_geometry *g,
                                   const taper_gpu_view *in, const taper_gpu_view *out, const taper_gpu_chain *chain)
{
    const int64_t groups = taper_gpu_vectors(l->out), taps = l->kernel[0] * l->kernel[1];
    const taper_gpu_key key = taper_gpu_layer_key(l, TAPER_GPU_KIND_DEPTHWISE);
    int64_t strides[3], sizes[2];
    taper_gpu_loops loops;
    taper_gpu_work *w;
    uint32_t at = 0, weights;
    const taper_gpu_integers *q = l->integers;
    taper_gpu_chain factors;
    TAPER_TRY(taper_gpu_add_weights(e, &key, taper_gpu_vector_bytes(e->state, (taps + (q != NULL ? 2 : 1)) * groups),
                                    taper_gpu_fill_depthwise, (void *)(uintptr_t)l, &weights));
    chain = q != NULL ? requantize(q, weights, (taps + 1) * groups, out, &factors) : chain;
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
    taper_gpu_put_float(w, &at, q != NULL ? q->in_point : 0);
    w->constants[11] = (uint32_t)l->kernel[0];
    w->constants[12] = (uint32_t)l->kernel[1];
    w->threads[0] = (uint32_t)((loops.sizes[2] + 3) / 4);
    w->threads[1] = (uint32_t)loops.sizes[1];
    w->threads[2] = (uint32_t)(loops.sizes[0] * groups);
    w->operations = 2.0 * (double)(loops.sizes[0] * loops.sizes[1] * loops.sizes[2] * l->out * taps);
    return TAPER_OK;
}

static bool goes_by_winograd(taper_gpu_emitter *e, const taper_gpu_layer *l, const taper_gpu_geometry *g);

static taper_status emit_dense(taper_gpu_emitter *e, taper_gpu_layer *l, const taper_gpu_geometry *g,
                               const taper_gpu_view *in, const taper_gpu_view *out, const taper_gpu_chain *chain)
{
    taper_gpu_loops loops;
    taper_gpu_product p = {.in = *in, .out = *out, .parts = l->out / l->part_out, .biased = true};
    loops_of_images(out, chain, &loops);
    as_images(in, p.in_strides, p.in_sizes);
    const taper_gpu_integers *q = l->integers;
    taper_gpu_chain factors;
    if (q == NULL && taper_gpu_winograd_pays(e, l, &loops) && goes_by_winograd(e, l, g)) {
        return taper_gpu_winograd(e, l, in, p.in_strides, p.in_sizes, g->padding, out, &loops, chain);
    }
    memcpy(p.out_sizes, loops.sizes, sizeof p.out_sizes);
    for (size_t d = 0; d < 2; d++) {
        p.kernel[d] = l->kernel[d];
        p.stride[d] = g->stride[d];
        p.padding[d] = g->padding[d];
        p.dilation[d] = g->dilation[d];
        const int64_t last =
            (p.out_sizes[1 + d] - 1) * g->stride[d] + (l->kernel[d] - 1) * g->dilation[d] - g->padding[d];
        p.padded = p.padded || g->padding[d] != 0 || last >= p.in_sizes[d] || g->transposed;
    }
    p.transposed = g->transposed;
    p.in_groups = taper_gpu_vectors(l->part_in);
    p.out_groups = taper_gpu_vectors(l->part_out);
    p.exact = q != NULL && !q->small;
    p.outside = q != NULL ? q->in_point : 0;
    taper_gpu_choose_tile(e, &p);
    l->tile = p.tile;
    const bool one = l->kernel[0] == 1 && l->kernel[1] == 1 && g->stride[0] == 1 && g->stride[1] == 1 && !p.padded;
    // Contiguous rows form one long row, if they are contiguous in all tensors of the kernel.
    bool joins = p.in_sizes[0] == 1 || p.in_strides[1] == p.in_strides[2] * p.in_sizes[1];
    joins = joins && (loops.sizes[1] == 1 || loops.strides[0][1] == loops.strides[0][2] * loops.sizes[2]);
    joins = joins && (chain->operand_count == 0 || loops.sizes[1] == 1 ||
                      loops.strides[2][1] == loops.strides[2][2] * loops.sizes[2]);
    p.linear = one && joins;
    p.w_row = l->tile;
    p.w_group = 1;
    p.w_tile = l->kernel[0] * l->kernel[1] * p.in_groups * TAPER_GPU_VECTOR * l->tile;
    p.w_part = (p.out_groups + l->tile - 1) / l->tile * p.w_tile;
    p.operations = 2.0 * (double)(p.out_sizes[0] * p.out_sizes[1] * p.out_sizes[2] * l->out * (l->in / l->groups) *
                                  l->kernel[0] * l->kernel[1]);
    // Weights that exceed the largest buffer are divided. Each product then computes some of the results.
    const int64_t all = l->out, whole = TAPER_GPU_VECTOR * l->tile;
    const uint64_t row = (uint64_t)(p.w_tile / l->tile + 2) * sizeof(float);
    const int64_t fit = (int64_t)(e->state->gpu->most_bytes / row) / whole * whole;
    const int64_t most = p.parts != 1 || q != NULL || fit >= all || fit < whole ? all : fit;
    for (l->first = 0; l->first < all; l->first += most) {
        taper_gpu_product part = p;
        taper_gpu_chain steps = *chain;
        if (most != all) {
            const int64_t before = l->first / TAPER_GPU_VECTOR;
            l->out = l->part_out = all - l->first < most ? all - l->first : most;
            part.out.offset += before * out->strides[out->packed];
            part.out.sizes[out->packed] = l->out;
            part.out_groups = taper_gpu_vectors(l->out);
            for (uint32_t i = 0; i < steps.operand_count; i++) {
                steps.operands[i].offset += before * steps.operands[i].strides[out->packed];
            }
        }
        const taper_gpu_key key = taper_gpu_layer_key(l, TAPER_GPU_KIND_CONV);
        const int64_t vectors = taper_gpu_layer_vectors(l, &part.bias);
        TAPER_TRY(taper_gpu_add_weights(e, &key, taper_gpu_vector_bytes(e->state, vectors), taper_gpu_fill_layer, l,
                                        &part.weights));
        if (q != NULL) {
            steps = *requantize(q, part.weights, part.bias + 2 * part.parts * part.out_groups, out, &factors);
            loops_of_images(out, &steps, &loops);
        }
        TAPER_TRY(taper_gpu_add_product(e, &part, &loops, &steps));
    }
    l->first = 0;
    l->out = all;
    return TAPER_OK;
}

taper_status taper_gpu_emit_images(taper_gpu_emitter *e, taper_gpu_layer *l, const taper_gpu_geometry *g,
                                   const taper_gpu_view *in, const taper_gpu_view *out, const taper_gpu_chain *chain)
{
    choose_parts(l);
    return is_depthwise(l) ? emit_depthwise(e, l, g, in, out, chain) : emit_dense(e, l, g, in, out, chain);
}

// Emits the convolution of x. The chain contains the steps of the operator itself; steps that follow are added to it.
static taper_status emit_conv(taper_gpu_emitter *e, const taper_ir_value *x, taper_gpu_layer *l,
                              const taper_gpu_geometry *g, taper_gpu_chain *chain, const taper_ir_value *result)
{
    taper_gpu_view in, out;
    const int rank = l->weight->rank;
    const taper_shape shape = taper_gpu_shape(e, result);
    TAPER_TRY(taper_gpu_operand_packed(e, x, 1, &in));
    TAPER_GPU_REFUSE(e, in.rank != rank || in.sizes[1] != l->in, "a convolution of other channels");
    TAPER_TRY(taper_gpu_check_bias(e, l));
    if (chain->count == 0) {
        taper_gpu_take_norm(e, &result, l);
    }
    const bool depthwise = is_depthwise(l);
    chain->most = TAPER_GPU_FEW_STEPS;
    chain->only_plain = depthwise && depthwise_kernel(l, g) != TAPER_GPU_KERNEL_DEPTHWISE;
    TAPER_TRY(taper_gpu_take_steps(e, &result, 1, 1, chain));
    TAPER_TRY(taper_gpu_new_result(e, result, &shape, 1, &out));
    TAPER_TRY(taper_gpu_emit_images(e, l, g, &in, &out, chain));
    taper_gpu_give(e, result, &out);
    return TAPER_OK;
}

static taper_status look_at_conv(taper_gpu_emitter *e, const taper_node *node, taper_gpu_layer *l)
{
    const int rank = l->weight->rank;
    const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
    TAPER_GPU_REFUSE(e, rank != 3 && rank != 4, "a convolution of three dimensions");
    TAPER_GPU_REFUSE(e, shape.rank >= 0 && shape.rank != rank, "a convolution of an image without a batch");
    l->kernel[0] = rank == 4 ? l->weight->sizes[2] : 1;
    l->kernel[1] = l->weight->sizes[rank - 1];
    return TAPER_OK;
}

static taper_status look_at_groups(taper_gpu_emitter *e, const taper_gpu_geometry *g, taper_gpu_layer *l)
{
    TAPER_GPU_REFUSE(e, g->groups < 1 || g->groups > MOST_STEP || l->weight->sizes[1] > INT32_MAX,
                     "an invalid number of groups");
    const int64_t groups = g->groups;
    l->groups = g->groups;
    l->transposed = g->transposed;
    l->out = g->transposed ? l->weight->sizes[1] * groups : l->weight->sizes[0];
    l->in = g->transposed ? l->weight->sizes[0] : l->weight->sizes[1] * groups;
    TAPER_GPU_REFUSE(e, l->in % l->groups != 0, "an invalid number of groups");
    for (size_t d = 0; d < 2; d++) { // shaders compute positions in 32 bits, so numbers are limited
        TAPER_GPU_REFUSE(e,
                         l->kernel[d] < 1 || l->kernel[d] > MOST_STEP || g->stride[d] > MOST_STEP ||
                             g->padding[d] > MOST_STEP || g->dilation[d] > MOST_STEP / l->kernel[d],
                         "a window that is very large");
    }
    TAPER_GPU_REFUSE(e, l->out % l->groups != 0 || l->out == 0 || l->in == 0, "an invalid number of groups");
    return TAPER_OK;
}

// Reads the layer from the node.
static taper_status read_conv(taper_gpu_emitter *e, const taper_node *node, taper_gpu_layer *l, taper_gpu_geometry *g)
{
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_TRY(taper_gpu_constant(e, taper_node_in(node, 1), true, &l->weight));
    TAPER_TRY(taper_gpu_constant(e, taper_read_argument(node, "bias"), false, &l->bias));
    TAPER_TRY(look_at_conv(e, node, l));
    TAPER_TRY(read_geometry(e, node, l->weight->rank, l->kernel, g));
    return look_at_groups(e, g, l);
}

static taper_status read_packed(taper_gpu_emitter *e, const taper_node *node, taper_gpu_layer *l, taper_gpu_geometry *g,
                                taper_gpu_chain *chain)
{
    taper_run run = taper_run_on(e->heap, NULL, NULL);
    const taper_call call = {.run = &run, .op = node->op, .schema = node->schema};
    taper_conv_args args = {.min = -HUGE_VAL, .max = HUGE_VAL};
    taper_object *object;
    TAPER_TRY(taper_gpu_packed_object(e, node, &object));
    TAPER_GPU_REFUSE(e, taper_prepacked_conv_state(&call, object, &args) != TAPER_OK,
                     "packed weights that cannot be read");
    const taper_conv_params *p = &args.params;
    l->weight = args.weight;
    l->bias = args.bias;
    TAPER_GPU_REFUSE(e,
                     l->weight->dtype != TAPER_F32 || l->weight->hidden_nhwc ||
                         (l->bias != NULL && (l->bias->dtype != TAPER_F32 || l->bias->rank != 1)),
                     "a weight of other than float32");
    TAPER_TRY(look_at_conv(e, node, l));
    TAPER_GPU_REFUSE(e, l->weight->rank != 4, "a convolution of other than two dimensions");
    *g = (taper_gpu_geometry){.stride = {p->stride[0], p->stride[1]},
                              .padding = {p->padding[0], p->padding[1]},
                              .dilation = {p->dilation[0], p->dilation[1]},
                              .groups = p->groups,
                              .transposed = p->transposed};
    TAPER_TRY(look_at_groups(e, g, l));
    taper_gpu_add_clamp(chain, args.min, args.max);
    return TAPER_OK;
}

// Returns true if the layer uses Winograd's transforms. The transforms need four times the memory for weights, and
// three dispatches. They are therefore used only if most of the segment's arithmetic is in layers that allow them.
static bool goes_by_winograd(taper_gpu_emitter *e, const taper_gpu_layer *l, const taper_gpu_geometry *g)
{
    double all = 0, such = 0;
    if (!taper_gpu_winograd_can(l, g->stride, g->dilation) || e->state->winograd == 0) {
        return false;
    }
    if (e->state->winograd < 0 && e->winograd == 0) {
        for (const taper_node *node = e->known->body->first; node != NULL; node = node->next) {
            const taper_gpu_rule_row *row = taper_gpu_find_rule(node);
            taper_gpu_layer one = {.kernel = {1, 1}};
            taper_gpu_geometry how;
            taper_gpu_chain chain = {0};
            if (row == NULL || (row->rule != taper_gpu_rule_conv && row->rule != taper_gpu_rule_packed_conv) ||
                (row->rule == taper_gpu_rule_conv ? read_conv(e, node, &one, &how)
                                                  : read_packed(e, node, &one, &how, &chain)) != TAPER_OK) {
                continue;
            }
            const taper_shape shape = taper_gpu_shape(e, &node->outputs[0]);
            double operations = (double)(one.in / one.groups * one.kernel[0] * one.kernel[1]);
            for (int d = 0; d < shape.rank; d++) {
                operations *= (double)shape.sizes[d];
            }
            all += operations;
            such += taper_gpu_winograd_can(&one, how.stride, how.dilation) ? operations : 0;
        }
        e->winograd = such > all / 2 ? 1 : 2;
    }
    return e->state->winograd > 0 || e->winograd == 1;
}

taper_status taper_gpu_rule_conv(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    taper_gpu_layer l = {.kernel = {1, 1}};
    taper_gpu_geometry g;
    taper_gpu_chain chain = {0};
    (void)code;
    TAPER_TRY(read_conv(e, node, &l, &g));
    return e->asking ? TAPER_OK : emit_conv(e, taper_node_in(node, 0), &l, &g, &chain, &node->outputs[0]);
}

taper_status taper_gpu_rule_packed_conv(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    taper_gpu_layer l = {.kernel = {1, 1}};
    taper_gpu_geometry g;
    taper_gpu_chain chain = {0};
    (void)code;
    TAPER_TRY(read_packed(e, node, &l, &g, &chain));
    return e->asking ? TAPER_OK : emit_conv(e, taper_node_in(node, 0), &l, &g, &chain, &node->outputs[0]);
}

// ---- batch norm that was not merged into a layer

taper_status taper_gpu_rule_batch_norm(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    taper_gpu_layer l = {0};
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
    TAPER_TRY(taper_gpu_read_norm(e, node, l.out, &l));
    if (e->asking) {
        return TAPER_OK;
    }
    TAPER_GPU_REFUSE(e, shape.rank < 2 || shape.sizes[1] != l.out, "a batch norm of other channels");
    TAPER_TRY(taper_gpu_operand_packed(e, taper_node_in(node, 0), 1, &in));
    const taper_gpu_key key = taper_gpu_layer_key(&l, TAPER_GPU_KIND_NORM);
    const int64_t vectors = taper_gpu_vectors(l.out);
    TAPER_TRY(taper_gpu_add_weights(e, &key, taper_gpu_vector_bytes(e->state, 2 * vectors), taper_gpu_fill_norm, &l,
                                    &weights));
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
