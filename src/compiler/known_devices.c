// SPDX-License-Identifier: BSD-2-Clause
// Tensors are on the CPU here, dense and strided: questions about that are answered. For running here, not for files.
#include "compiler/pass.h"

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    taper_val answer;
    if (node->kind != TAPER_NODE_OP || node->input_count != 1) {
        return TAPER_OK;
    }
    if (taper_node_has(node, TAPER_OP_ANSWERS_NO)) {
        answer = taper_val_bool(false);
    } else if (taper_node_calls(node, TAPER_OP(prim_is_cpu))) {
        answer = taper_val_bool(true);
    } else if (taper_node_calls(node, TAPER_OP(prim_device))) {
        answer = taper_val_device(0, -1);
    } else {
        return TAPER_OK;
    }
    taper_ir_value *value;
    TAPER_TRY(taper_constant_before(node, answer, &value, compilation->error));
    taper_value_replace_uses(&node->outputs[0], value);
    taper_node_remove(node);
    return TAPER_OK;
}

taper_status taper_pass_known_devices(taper_compilation *compilation, taper_graph *graph)
{
    return taper_visit_nodes(compilation, graph->body, visit);
}
