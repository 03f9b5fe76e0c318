// SPDX-License-Identifier: BSD-2-Clause
// add and the relu that alone looks at its sum become aten::_add_relu, in each of their forms. Neither Vulkan nor Metal
// has that operator.
#include "compiler/pass.h"

static taper_status visit(taper_compilation *compilation, taper_node *node)
{
    static const struct {
        const char *add, *relu, *name, *overload;
    } forms[] = {{"aten::add.Tensor", "aten::relu", "aten::_add_relu", "Tensor"},
                 {"aten::add.Tensor", "aten::relu_", "aten::_add_relu", "Tensor"},
                 {"aten::add_.Tensor", "aten::relu_", "aten::_add_relu_", "Tensor"}};
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        taper_node *add = taper_node_is(node, forms[i].relu) ? taper_node_in(node, 0)->node : NULL;
        if (add == NULL || !taper_node_is(add, forms[i].add) || add->block != node->block ||
            node->schema->out_count != 0 || !taper_value_used_once(&add->outputs[0])) {
            continue;
        }
        // The sum in place must be the relu's next neighbour: nobody may see what it wrote.
        if (strcmp(forms[i].add, "aten::add_.Tensor") == 0 && add->next != node) {
            continue;
        }
        taper_node *both;
        TAPER_TRY(taper_op_before(compilation, add, forms[i].name, forms[i].overload, &both));
        if (both == NULL) {
            return TAPER_OK;
        }
        for (size_t a = 0; a < add->input_count; a++) {
            taper_node_set_input(both, a, taper_node_in(add, a));
        }
        taper_node_replace(node, both);
        taper_node_remove(add);
        return TAPER_OK;
    }
    return TAPER_OK;
}

taper_status taper_pass_fuse_add_relu(taper_compilation *compilation, taper_graph *graph)
{
    return compilation->backend == TAPER_PORTABLE_CPU ? taper_visit_nodes(compilation, graph->body, visit) : TAPER_OK;
}
