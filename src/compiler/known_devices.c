// SPDX-License-Identifier: BSD-2-Clause
// Answers questions of the model about the device and layout of tensors: all tensors are on the CPU, dense and strided.
// This pass is only for graphs that run on this machine, not for files.
#include <string.h>

#include "compiler/pass.h"
#include "ops/backend.h"

// Returns true if the host gave the model a device of that name.
static bool has_device(const taper_compilation *compilation, const char *name)
{
    for (size_t i = 0; i < compilation->device_count; i++) {
        if (strcmp(compilation->devices[i]->backend->name, name) == 0) {
            return true;
        }
    }
    return false;
}

// Returns the name of the device if the node asks whether that device is available, otherwise NULL.
static const char *asked_for(const taper_node *node)
{
    for (const taper_preparer *whose = taper_preparers; whose->name != NULL; whose++) {
        if (whose->asks != NULL && taper_node_calls(node, whose->asks)) {
            return whose->name;
        }
    }
    return NULL;
}

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    taper_val answer;
    const char *const asked = TAPER_DEVICES ? asked_for(node) : NULL;
    if (asked != NULL) {
        answer = taper_val_bool(has_device(compilation, asked));
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
