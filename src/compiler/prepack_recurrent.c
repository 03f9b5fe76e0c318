// SPDX-License-Identifier: BSD-2-Clause
// Replaces GRU and LSTM layers with constant weights by calls of the device's operators on an object of packed weights,
// if the device has such operators. The operators support only one form of the layers, which this file checks. Other
// layers are not changed.
#include "compiler/prepack.h"

#include "ir/tensor_def.h"

// Number of these arguments: params, has_biases, num_layers, dropout, train, bidirectional, batch_first.
enum { ARGUMENTS = 7 };

static bool is_bool(taper_val value, bool wanted)
{
    return value.tag == TAPER_BOOLEAN && value.as.b == wanted;
}

static bool they_run(const taper_compilation *compilation, const taper_val *args)
{
    const taper_val params = args[0];
    if (params.tag != TAPER_LIST || params.as.list->count == 0 || taper_is_written(compilation, params) ||
        !is_bool(args[1], true) || args[2].tag != TAPER_INT || args[3].tag != TAPER_DOUBLE || args[3].as.f != 0.0 ||
        !is_bool(args[4], false) || !is_bool(args[5], false) || !is_bool(args[6], true)) {
        return false;
    }
    for (size_t i = 0; i < params.as.list->count; i++) {
        const taper_val weight = params.as.list->items[i];
        if (weight.tag != TAPER_TENSOR || weight.as.tensor->dtype != TAPER_F32 ||
            taper_is_written(compilation, weight)) {
            return false;
        }
    }
    return true;
}

// Reads the constant arguments of the layer into `args`, which borrow them. Returns false if one of them is not
// constant.
static bool constant_arguments(const taper_node *node, taper_val *args)
{
    static const char *const names[ARGUMENTS] = {"params", "has_biases",    "num_layers", "dropout",
                                                 "train",  "bidirectional", "batch_first"};
    for (size_t i = 0; i < ARGUMENTS; i++) {
        const taper_ir_value *value = taper_node_argument(node, names[i]);
        const taper_node *constant = value != NULL ? taper_value_constant(value) : NULL;
        if (constant == NULL) {
            return false;
        }
        args[i] = constant->constant;
    }
    return true;
}

static taper_status set_states(taper_compilation *compilation, taper_node *node, taper_node *run, bool two_states)
{
    taper_ir_value *states = taper_node_argument(node, "hx");
    taper_node *unpack;
    if (!two_states) {
        taper_node_set_input(run, 1, states);
        return TAPER_OK;
    }
    TAPER_TRY(taper_node_create(node->block->graph, TAPER_NODE_LIST_UNPACK, 1, 2, &unpack, compilation->error));
    unpack->debug = node->debug;
    unpack->instruction = node->instruction;
    taper_node_set_input(unpack, 0, states);
    taper_node_insert_before(unpack, run);
    taper_node_set_input(run, 1, &unpack->outputs[0]);
    taper_node_set_input(run, 2, &unpack->outputs[1]);
    return TAPER_OK;
}

taper_status taper_prepack_recurrent(taper_compilation *compilation, taper_node *node)
{
    const uint64_t facts = taper_node_facts(node);
    const bool lstm = TAPER_FIELD(facts, LAYER) == TAPER_LAYER_LSTM, gru = TAPER_FIELD(facts, LAYER) == TAPER_LAYER_GRU;
    taper_val args[ARGUMENTS], object;
    taper_node *run;
    taper_ir_value *packed;
    if (!(lstm || gru)) {
        return TAPER_OK;
    }
    const taper_op_layer kind = lstm ? TAPER_LAYER_LSTM : TAPER_LAYER_GRU;
    const taper_op *packs = taper_prepack_row(compilation, TAPER_OP_PACKS, kind),
                   *runs = taper_prepack_row(compilation, TAPER_OP_PACKED, kind);
    if (runs == NULL || taper_node_argument(node, "hx") == NULL || !constant_arguments(node, args) ||
        !they_run(compilation, args)) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_prepack_object(compilation, packs, args, ARGUMENTS, &object));
    if (object.tag != TAPER_OBJECT) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_constant_before(node, object, &packed, compilation->error));
    TAPER_TRY(taper_op_before(compilation, node, runs, &run));
    taper_node_set_input(run, 0, taper_node_argument(node, "input"));
    TAPER_TRY(set_states(compilation, node, run, lstm));
    taper_node_set_input(run, lstm ? 3 : 2, packed);
    for (size_t i = 0; i < node->output_count; i++) {
        taper_value_replace_uses(&node->outputs[i], &run->outputs[i]);
    }
    taper_node_remove(node);
    return TAPER_OK;
}
