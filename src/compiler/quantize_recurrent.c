// SPDX-License-Identifier: BSD-2-Clause
// Turns LSTM and GRU layers with constant weights into dynamically quantized layers: the two matrix products of each
// cell take qint8 weights and quantize their other operand during the run.
#include "compiler/quantization.h"

// The quantized operator for an LSTM or GRU. `data` is true if its input is a packed sequence.
typedef struct recurrent {
    const taper_op *quantized;
    bool lstm;
    size_t weights_at;
} recurrent;

static bool match(const taper_node *node, recurrent *r)
{
    const uint64_t facts = taper_node_facts(node);
    const unsigned layer = TAPER_FIELD(facts, LAYER);
    if ((layer != TAPER_LAYER_LSTM && layer != TAPER_LAYER_GRU) || TAPER_FIELD(facts, PACKER) != TAPER_PACKER_NONE ||
        TAPER_FIELD(facts, QUANTIZED) == TAPER_QUANTIZED_ROW || node->input_count != node->schema->arg_count) {
        return false;
    }
    const bool data =
        taper_node_calls(node, TAPER_OP(aten_lstm_data)) || taper_node_calls(node, TAPER_OP(aten_gru_data));
    r->lstm = layer == TAPER_LAYER_LSTM;
    r->weights_at = data ? 3 : 2;
    r->quantized = r->lstm ? (data ? TAPER_OP(aten_quantized_lstm_data) : TAPER_OP(aten_quantized_lstm_input))
                           : (data ? TAPER_OP(aten_quantized_gru_data) : TAPER_OP(aten_quantized_gru_input));
    return true;
}

// Returns the constant weight `index` of the layer, whose list of weights is constant or made by the graph. Returns
// NULL if the weight is not constant.
static taper_tensor *weight_of(const taper_compilation *compilation, const taper_node *node, size_t weights_at,
                               size_t index, size_t *count)
{
    const taper_node *list = taper_node_in(node, weights_at)->node;
    taper_val value = taper_val_none();
    *count = 0;
    if (list != NULL && list->kind == TAPER_NODE_LIST) {
        *count = list->input_count;
        const taper_val *item = index < *count ? taper_node_constant_in(list, index) : NULL;
        value = item != NULL ? *item : value;
    } else if (list != NULL && list->kind == TAPER_NODE_CONSTANT && list->constant.tag == TAPER_LIST &&
               !taper_is_written(compilation, list->constant)) {
        *count = list->constant.as.list->count;
        value = index < *count ? list->constant.as.list->items[index] : value;
    }
    return value.tag == TAPER_TENSOR && value.as.tensor->dtype == TAPER_F32 && !taper_is_written(compilation, value)
               ? value.as.tensor
               : NULL;
}

taper_tensor *taper_recurrent_weight(const taper_compilation *compilation, const taper_node *node)
{
    size_t count;
    recurrent r;
    return match(node, &r) ? weight_of(compilation, node, r.weights_at, 0, &count) : NULL;
}

bool taper_recurrent_is_quantizable(const taper_compilation *compilation, const taper_node *node)
{
    recurrent r;
    double biases, layers, train, both;
    if (!match(node, &r)) {
        return false;
    }
    const size_t at = r.weights_at;
    if (!taper_node_constant_is_number(node, at + 1, &biases) || biases == 0 ||
        !taper_node_constant_is_number(node, at + 2, &layers) || layers < 1 ||
        !taper_node_constant_is_number(node, at + 4, &train) || train != 0 ||
        !taper_node_constant_is_number(node, at + 5, &both)) {
        return false;
    }
    size_t count = 1;
    for (size_t i = 0; i < count; i++) {
        const taper_tensor *w = weight_of(compilation, node, at, i, &count);
        if (w == NULL || w->rank != (i % 4 < 2 ? 2 : 1) || taper_tensor_numel(w) == 0) {
            return false;
        }
    }
    return (double)count == 4 * layers * (both != 0 ? 2 : 1); // a layer with projections has another number of weights
}

// ---- rewriting recurrent layers

static taper_status pack_cell(const taper_quantization *q, taper_compilation *compilation, taper_tensor *const w[4],
                              taper_val *cell)
{
    taper_val args[5] = {taper_val_none(), taper_val_none(), TAPER_VAL(w[2]), TAPER_VAL(w[3]), taper_val_bool(false)};
    taper_status status = TAPER_OK;
    *cell = taper_val_none();
    for (size_t i = 0; status == TAPER_OK && i < 2; i++) {
        taper_val linear[2] = {taper_val_none(), TAPER_VAL(w[2 + i])};
        status = taper_quantize_weight(compilation, w[i], q->options.per_channel != 0, 0, &linear[0]);
        if (status == TAPER_OK) {
            status = taper_prepack(compilation, TAPER_OP(quantized_linear_prepack), linear, 2, &args[i]);
        }
        taper_val_release(linear[0]);
    }
    if (status == TAPER_OK && args[0].tag == TAPER_OBJECT && args[1].tag == TAPER_OBJECT) {
        status = taper_prepack(compilation, TAPER_OP(quantized_make_quantized_cell_params_dynamic), args, 5, cell);
    }
    taper_val_release(args[0]);
    taper_val_release(args[1]);
    return status;
}

// Inserts nodes that make the list of cells. *list is NULL if an operator refuses.
static taper_status make_cells(const taper_quantization *q, taper_compilation *compilation, taper_node *node,
                               size_t weights_at, const taper_type *type, taper_node **list)
{
    size_t count;
    taper_node *made;
    *list = NULL;
    (void)weight_of(compilation, node, weights_at, 0, &count);
    TAPER_TRY(taper_node_create(node->block->graph, TAPER_NODE_LIST, count / 4, 1, &made, compilation->error));
    made->type = type;
    made->outputs[0].type = type;
    made->debug = node->debug;
    made->instruction = node->instruction;
    taper_node_insert_before(made, node);
    for (size_t c = 0; c < count / 4; c++) {
        taper_tensor *w[4];
        taper_val cell;
        taper_ir_value *constant;
        for (size_t i = 0; i < 4; i++) {
            w[i] = weight_of(compilation, node, weights_at, 4 * c + i, &count);
        }
        TAPER_TRY(pack_cell(q, compilation, w, &cell));
        if (cell.tag != TAPER_OBJECT) {
            taper_val_release(cell);
            taper_node_remove(made);
            return TAPER_OK;
        }
        TAPER_TRY(taper_constant_before(made, cell, &constant, compilation->error));
        taper_node_set_input(made, c, constant);
    }
    *list = made;
    return TAPER_OK;
}

taper_status taper_rewrite_recurrent(const taper_quantization *q, taper_compilation *compilation, taper_node *node,
                                     taper_node **made)
{
    recurrent r;
    taper_node *cells, *op;
    taper_ir_value *constant;
    *made = NULL;
    if (!match(node, &r) || r.quantized == NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_op_before(compilation, node, r.quantized, &op));
    const taper_type *list_type = op->schema->args[r.weights_at].type;
    TAPER_TRY(make_cells(q, compilation, node, r.weights_at, list_type, &cells));
    if (cells == NULL) {
        taper_node_remove(op);
        return TAPER_OK;
    }
    taper_node_move_after(op, cells);
    for (size_t i = 0; i < node->input_count; i++) {
        taper_node_set_input(op, i, i == r.weights_at ? &cells->outputs[0] : taper_node_in(node, i));
    }
    if (r.lstm) { // sets the arguments dtype and use_dynamic
        TAPER_TRY(taper_constant_before(op, taper_val_int(TAPER_QI8), &constant, compilation->error));
        taper_node_set_input(op, node->input_count, constant);
        TAPER_TRY(taper_constant_before(op, taper_val_bool(true), &constant, compilation->error));
        taper_node_set_input(op, node->input_count + 1, constant);
    }
    *made = op;
    return TAPER_OK;
}
