// SPDX-License-Identifier: BSD-2-Clause
// LSTM and GRU: one product of all inputs, then for each step a product of the previous state, and the cell
// (shaders/cell.comp). Tensors are [steps, rows, elements], packed along the last dimension.
#include <string.h>

#include "backends/gpu/gpu_emit.h"
#include "ops/call/prepared.h"
#include "ops/nn/recurrent.h"

typedef enum kind { LSTM, GRU } kind;

typedef struct network {
    kind kind;
    int64_t layers, directions, gates, hidden;
    bool has_biases, batch_first;
    bool is_packed; // true for a node of a file that was prepared for Vulkan
    const taper_tensor *params[256];
    size_t param_count;
} network;

static taper_status add_param(taper_gpu_emitter *e, const taper_tensor *tensor, network *net)
{
    TAPER_GPU_REFUSE(e, tensor == NULL || tensor->dtype != TAPER_F32, "weights that are no constants of float32");
    TAPER_GPU_REFUSE(e, net->param_count == sizeof net->params / sizeof *net->params,
                     "more layers than there is room for");
    net->params[net->param_count++] = tensor;
    return TAPER_OK;
}

static taper_status add_params(taper_gpu_emitter *e, const taper_val *items, size_t count, network *net)
{
    for (size_t i = 0; i < count; i++) {
        const taper_val *item = &items[i];
        TAPER_GPU_REFUSE(e, !e->asking && item->tag == TAPER_TENSOR && !taper_tensor_stands(item->as.tensor),
                         "weights that are no constants of float32");
        TAPER_TRY(add_param(e, item->tag == TAPER_TENSOR ? item->as.tensor : NULL, net));
    }
    return TAPER_OK;
}

static taper_status read_params(taper_gpu_emitter *e, const taper_ir_value *list, network *net)
{
    const taper_val *constant = taper_read_constant(&e->reader, list);
    if (constant != NULL && constant->tag == TAPER_LIST) {
        return add_params(e, constant->as.list->items, constant->as.list->count, net);
    }
    TAPER_GPU_REFUSE(e, list->node == NULL || list->node->kind != TAPER_NODE_LIST, "weights that are no constants");
    for (size_t i = 0; i < list->node->input_count; i++) {
        TAPER_TRY(add_param(e, taper_read_tensor(&e->reader, taper_node_in(list->node, i)), net));
    }
    return TAPER_OK;
}

static taper_status read_arguments(taper_gpu_emitter *e, const taper_node *node, network *net)
{
    int64_t biases, training, both, first;
    double dropout;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_TRY(taper_read_int(&e->reader, node, "has_biases", 1, &biases));
    TAPER_TRY(taper_read_int(&e->reader, node, "num_layers", 1, &net->layers));
    TAPER_TRY(taper_read_number(&e->reader, node, "dropout", 0, &dropout));
    TAPER_TRY(taper_read_int(&e->reader, node, "train", 0, &training));
    TAPER_TRY(taper_read_int(&e->reader, node, "bidirectional", 0, &both));
    TAPER_TRY(taper_read_int(&e->reader, node, "batch_first", 0, &first));
    TAPER_GPU_REFUSE(e, training != 0 && dropout != 0 && net->layers > 1, "dropout in training");
    net->has_biases = biases != 0;
    net->batch_first = first != 0;
    net->directions = both != 0 ? 2 : 1;
    return read_params(e, taper_node_in(node, 2), net);
}

// Reads the parameters from the packed object in a file prepared for Vulkan.
static taper_status read_context(taper_gpu_emitter *e, const taper_node *node, network *net)
{
    const taper_val *packed = taper_read_constant(&e->reader, taper_node_in(node, net->kind == LSTM ? 3 : 2));
    taper_rnn_network context;
    TAPER_TRY(taper_gpu_ask_operand(e, taper_node_in(node, 0)));
    TAPER_GPU_REFUSE(e, packed == NULL || packed->tag != TAPER_OBJECT, "packed weights that are no constant");
    TAPER_GPU_REFUSE(e, !taper_rnn_context_read(packed->as.object, &context), "packed weights that cannot be read");
    net->layers = context.layers;
    net->has_biases = context.has_biases;
    net->batch_first = context.batch_first;
    net->directions = context.bidirectional ? 2 : 1;
    return add_params(e, context.params, context.param_count, net);
}

static taper_status read_network(taper_gpu_emitter *e, const taper_node *node, network *net)
{
    TAPER_TRY(net->is_packed ? read_context(e, node, net) : read_arguments(e, node, net));
    net->gates = net->kind == LSTM ? 4 : 3;
    const int64_t each = net->has_biases ? 4 : 2;
    TAPER_GPU_REFUSE(e, net->layers < 1 || net->layers > 64, "layers that are none");
    TAPER_GPU_REFUSE(e, (int64_t)net->param_count != net->layers * net->directions * each,
                     "a recurrent network with projections");
    net->hidden = net->params[1]->rank == 2 ? net->params[1]->sizes[1] : 0;
    for (size_t i = 0; i < net->param_count; i++) {
        const taper_tensor *t = net->params[i];
        const bool weight = (int64_t)i % each < 2;
        TAPER_GPU_REFUSE(e,
                         net->hidden == 0 || t->rank != (weight ? 2 : 1) || t->sizes[0] != net->gates * net->hidden ||
                             ((int64_t)i % each == 1 && t->sizes[1] != net->hidden),
                         "weights of other sizes");
    }
    return TAPER_OK;
}

// Selects one of the states [states, rows, hidden], as [rows, hidden].
static taper_status state_of(taper_gpu_emitter *e, const taper_gpu_view *states, int64_t index, taper_gpu_view *state)
{
    const taper_shape shape = {.rank = 2, .dtype = TAPER_F32, .sizes = {states->sizes[1], states->sizes[2]}};
    taper_gpu_view one;
    TAPER_TRY(taper_gpu_piece(e, states, 0, index, 1, 1, &one));
    return taper_gpu_reshape(e, &one, &shape, state);
}

typedef struct cell {
    // gates: [rows, gates x hidden], computed from h; state: [rows, hidden]; input: has the sizes of gates, computed
    // from x.
    taper_gpu_view gates, state, input;
    taper_gpu_view h; // state h after the step
    int64_t c_out;    // distance from h to c in the result, in vectors
} cell;

static taper_status add_cell(taper_gpu_emitter *e, const network *net, const cell *c)
{
    taper_gpu_loops loops = {.sizes = {1, 1, c->h.sizes[0]}, .strides = {{0, 0, c->h.strides[0]}}};
    const taper_gpu_chain chain = {0};
    const taper_gpu_view *const reads[3] = {&c->gates, &c->state, &c->input};
    taper_gpu_work *w;
    uint32_t at = 0;
    TAPER_TRY(taper_gpu_add_work(e->program, &w));
    w->kernel = TAPER_GPU_KERNEL_CELL;
    TAPER_TRY(taper_gpu_bind(e, w, &chain, &c->h, &loops, 3));
    for (uint32_t i = 0; i < 3; i++) {
        w->buffers[1 + i] = reads[i]->buffer;
        taper_gpu_put(w, &at, reads[i]->offset);
        taper_gpu_put(w, &at, reads[i]->strides[0]);
        taper_gpu_put(w, &at, reads[i]->strides[1]);
    }
    taper_gpu_put(w, &at, c->c_out);
    taper_gpu_put(w, &at, net->hidden);
    w->constants[11] = net->kind;
    w->constants[12] = net->hidden % TAPER_GPU_VECTOR == 0;
    w->threads[0] = (uint32_t)c->h.sizes[0];
    w->threads[1] = (uint32_t)taper_gpu_vectors(net->hidden);
    w->threads[2] = 1;
    return TAPER_OK;
}

// Runs one direction of a layer. x is [steps, rows, in]. h and c are [rows, hidden], first the initial and then the
// final state. out is [steps, rows, hidden].
static taper_status run_direction(taper_gpu_emitter *e, const network *net, const taper_tensor *const *params,
                                  bool backward, const taper_gpu_view *x, taper_gpu_view *h, taper_gpu_view *c,
                                  taper_gpu_view *out)
{
    const taper_gpu_chain chain = {0};
    const int64_t steps = x->sizes[0], rows = x->sizes[1];
    // All h are stored before all c, because a kernel writes one buffer.
    const taper_shape shape = {
        .rank = 3, .dtype = TAPER_F32, .sizes = {net->kind == LSTM ? 2 * steps : steps, rows, net->hidden}};
    taper_gpu_view all, inputs;
    TAPER_GPU_REFUSE(e, x->sizes[2] != params[0]->sizes[1], "inputs of another size");
    TAPER_TRY(taper_gpu_new(e, &shape, 2, &all));
    TAPER_TRY(taper_gpu_linear(e, x, params[0], net->has_biases ? params[2] : NULL, &chain, &inputs));
    TAPER_TRY(taper_gpu_piece(e, &all, 0, 0, steps, 1, out));
    for (int64_t i = 0; i < steps; i++) {
        const int64_t t = backward ? steps - 1 - i : i;
        cell one = {.state = net->kind == LSTM ? *c : *h, .c_out = steps * all.strides[0]};
        TAPER_TRY(taper_gpu_linear(e, h, params[1], net->has_biases ? params[3] : NULL, &chain, &one.gates));
        TAPER_TRY(state_of(e, &inputs, t, &one.input));
        TAPER_TRY(state_of(e, out, t, &one.h));
        TAPER_TRY(add_cell(e, net, &one));
        *h = one.h;
        *c = one.h;
        c->offset += one.c_out;
    }
    return TAPER_OK;
}

// Joins tensors of equal sizes along dimension d.
static taper_status join(taper_gpu_emitter *e, const taper_gpu_view *parts, int64_t count, int d, taper_gpu_view *out)
{
    taper_shape shape = {.rank = parts[0].rank, .dtype = TAPER_F32};
    memcpy(shape.sizes, parts[0].sizes, sizeof parts[0].sizes);
    shape.sizes[d] *= count;
    // Along the packed dimension, only whole vectors can be joined.
    const int packed = d == shape.rank - 1 && parts[0].sizes[d] % TAPER_GPU_VECTOR != 0 ? d - 1 : shape.rank - 1;
    TAPER_TRY(taper_gpu_new(e, &shape, packed, out));
    for (int64_t i = 0; i < count; i++) {
        taper_gpu_view to = *out;
        const int64_t size = parts[0].sizes[d];
        to.sizes[d] = size;
        to.offset += i * (d == packed ? size / TAPER_GPU_VECTOR : size) * out->strides[d];
        TAPER_TRY(taper_gpu_move(e, &parts[i], &to));
    }
    return TAPER_OK;
}

static void swap_first(const taper_gpu_view *from, taper_gpu_view *to)
{
    static const int64_t order[] = {1, 0, 2};
    taper_gpu_permute(from, order, to);
}

static taper_status give_states(taper_gpu_emitter *e, const taper_ir_value *value, const taper_gpu_view *states,
                                int64_t count)
{
    taper_gpu_view wide[128], all;
    if (value->uses == NULL) {
        return TAPER_OK;
    }
    const taper_shape shape = {.rank = 3, .dtype = TAPER_F32, .sizes = {1, states[0].sizes[0], states[0].sizes[1]}};
    for (int64_t i = 0; i < count; i++) {
        TAPER_TRY(taper_gpu_reshape(e, &states[i], &shape, &wide[i]));
    }
    TAPER_TRY(join(e, wide, count, 0, &all));
    taper_gpu_give(e, value, &all);
    return TAPER_OK;
}

static taper_status emit(taper_gpu_emitter *e, const taper_node *node, const network *net)
{
    taper_gpu_view x, h0, c0 = {0}, before, h[128], c[128], outs[2];
    const taper_ir_value *states = taper_node_in(node, 1);
    const int64_t each = net->has_biases ? 4 : 2;
    if (net->kind == LSTM && net->is_packed) {
        TAPER_TRY(taper_gpu_operand(e, states, &h0));
        TAPER_TRY(taper_gpu_operand(e, taper_node_in(node, 2), &c0));
    } else if (net->kind == LSTM) {
        TAPER_GPU_REFUSE(
            e, states->node == NULL || states->node->kind != TAPER_NODE_LIST || states->node->input_count != 2,
            "states that are not made here");
        TAPER_TRY(taper_gpu_operand(e, taper_node_in(states->node, 0), &h0));
        TAPER_TRY(taper_gpu_operand(e, taper_node_in(states->node, 1), &c0));
    } else {
        TAPER_TRY(taper_gpu_operand(e, states, &h0));
    }
    TAPER_TRY(taper_gpu_operand(e, taper_node_in(node, 0), &x));
    TAPER_GPU_REFUSE(e,
                     x.rank != 3 || h0.rank != 3 || h0.sizes[0] != net->layers * net->directions ||
                         h0.sizes[2] != net->hidden || h0.sizes[1] != x.sizes[net->batch_first ? 0 : 1] ||
                         (net->kind == LSTM && (c0.rank != 3 || memcmp(c0.sizes, h0.sizes, 3 * sizeof *h0.sizes) != 0)),
                     "states of other sizes, or inputs without a batch");
    enum { MOST_STEPS = 4096 }; // largest number of steps in all layers and directions; a step has two dispatches
    before = x;
    if (net->batch_first) {
        swap_first(&before, &x);
        before = x;
    }
    TAPER_GPU_REFUSE(e, x.sizes[0] > MOST_STEPS / (net->layers * net->directions), "more steps than a recording has");
    TAPER_TRY(taper_gpu_repack(e, &before, 2, &x));
    for (int64_t layer = 0; layer < net->layers; layer++) {
        for (int64_t d = 0; d < net->directions; d++) {
            const int64_t i = layer * net->directions + d;
            taper_gpu_view packed;
            TAPER_TRY(taper_gpu_repack(e, &h0, 2, &packed));
            TAPER_TRY(state_of(e, &packed, i, &h[i]));
            if (net->kind == LSTM) {
                TAPER_TRY(taper_gpu_repack(e, &c0, 2, &packed));
                TAPER_TRY(state_of(e, &packed, i, &c[i]));
            } else {
                c[i] = h[i];
            }
            TAPER_TRY(run_direction(e, net, net->params + i * each, d == 1, &x, &h[i], &c[i], &outs[d]));
        }
        x = outs[0];
        if (net->directions == 2) {
            TAPER_TRY(join(e, outs, 2, 2, &before));
            TAPER_TRY(taper_gpu_repack(e, &before, 2, &x));
        }
    }
    before = x;
    if (net->batch_first) {
        swap_first(&before, &x);
    }
    taper_gpu_give(e, &node->outputs[0], &x);
    TAPER_TRY(give_states(e, &node->outputs[1], h, net->layers * net->directions));
    return net->kind == LSTM ? give_states(e, &node->outputs[2], c, net->layers * net->directions) : TAPER_OK;
}

static taper_status recurrent(taper_gpu_emitter *e, const taper_node *node, kind which, uint32_t code)
{
    network net = {.kind = which, .is_packed = code != 0};
    TAPER_TRY(read_network(e, node, &net));
    return e->asking ? TAPER_OK : emit(e, node, &net);
}

taper_status taper_gpu_rule_lstm(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    return recurrent(e, node, LSTM, code);
}

taper_status taper_gpu_rule_gru(taper_gpu_emitter *e, const taper_node *node, uint32_t code)
{
    return recurrent(e, node, GRU, code);
}
