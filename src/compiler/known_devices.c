// SPDX-License-Identifier: BSD-2-Clause
// Tensors are on the CPU here, dense and strided: questions about that are answered. For running here, not for files.
#include "compiler/pass.h"

static bool is_one_of(const taper_node *node, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (taper_node_is(node, names[i])) {
            return true;
        }
    }
    return false;
}

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    static const char *const no[] = {"prim::is_cuda", "prim::is_ipu",    "prim::is_meta",      "prim::is_mkldnn",
                                     "prim::is_mps",  "prim::is_nested", "prim::is_ort",       "prim::is_sparse",
                                     "prim::is_xpu",  "prim::is_vulkan", "prim::is_sparse_csr"};
    taper_val answer;
    if (node->kind != TAPER_NODE_OP || node->input_count != 1 || strncmp(node->op_name, "prim::", 6) != 0) {
        return TAPER_OK;
    }
    if (is_one_of(node, no, sizeof no / sizeof *no)) {
        answer = taper_val_bool(false);
    } else if (taper_node_is(node, "prim::is_cpu")) {
        answer = taper_val_bool(true);
    } else if (taper_node_is(node, "prim::device")) {
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
