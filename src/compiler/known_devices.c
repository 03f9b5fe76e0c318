// SPDX-License-Identifier: BSD-2-Clause
// Tensors are on the CPU here, dense and strided: questions about that are answered. For running here, not for files.
#include <string.h>

#include "compiler/pass.h"
#include "ops/backend.h"

// Whether the model was given Vulkan to run on.
static bool has_vulkan(const taper_compilation *compilation)
{
    for (size_t i = 0; i < compilation->device_count; i++) {
        if (strcmp(compilation->devices[i]->backend->name, "vulkan") == 0) {
            return true;
        }
    }
    return false;
}

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    taper_val answer;
    if (TAPER_DEVICES && taper_node_calls(node, TAPER_OP(aten_is_vulkan_available))) {
        answer = taper_val_bool(has_vulkan(compilation));
    } else if (node->kind != TAPER_NODE_OP || node->input_count != 1) {
        return TAPER_OK;
    } else if (taper_node_has(node, TAPER_OP_ANSWERS_NO)) {
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
