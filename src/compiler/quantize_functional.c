// SPDX-License-Identifier: BSD-2-Clause
// x += y and the like become sums of their own where nobody else looks at x: steps have no in-place forms. The pass
// remove_mutation leaves those of two tensors alone, as these may have any dtypes; here the first run has shown them to
// be floats.
#include "compiler/quantization.h"

static bool is_float(const taper_quantization *q, const taper_ir_value *value)
{
    return value->id < q->value_count && q->values[value->id].is_float;
}

// "aten::add" for aten::add_.Tensor, when it takes the same arguments.
static const taper_op *functional_form(const taper_node *node)
{
    static const char *const names[] = {"add",         "mul",     "relu", "relu6",      "hardtanh", "hardswish",
                                        "hardsigmoid", "sigmoid", "tanh", "leaky_relu", "elu",      "clamp"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = node->schema->name; // "aten::add_"
        const size_t length = strlen(names[i]);
        if (strncmp(name, "aten::", 6) == 0 && strncmp(name + 6, names[i], length) == 0 &&
            strcmp(name + 6 + length, "_") == 0) {
            char functional[32] = "aten::";
            return taper_row_find(strcat(functional, names[i]), node->schema->overload);
        }
    }
    return NULL;
}

static taper_status visit(const taper_quantization *q, taper_compilation *compilation, taper_node *node)
{
    const taper_schema *schema;
    if (node->kind != TAPER_NODE_OP || !node->schema->in_place || node->input_count == 0 || node->output_count != 1) {
        return TAPER_OK;
    }
    const taper_ir_value *x = taper_node_in(node, 0);
    if (!is_float(q, x) || !taper_value_used_once(x) || !taper_value_is_fresh(x) || x->block != node->block) {
        return TAPER_OK;
    }
    const taper_op *op = functional_form(node);
    if (op == NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_registry_schema(compilation->registry, op, &schema, compilation->error));
    if (schema->arg_count != node->input_count ||
        (strcmp(schema->overload, "Tensor") == 0 && !is_float(q, taper_node_in(node, 1)))) {
        return TAPER_OK;
    }
    node->op = op;
    node->op_name = schema->text;
    node->schema = schema;
    return TAPER_OK;
}

static taper_status visit_block(const taper_quantization *q, taper_compilation *compilation, taper_block *block)
{
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(visit_block(q, compilation, node->blocks[b]));
        }
        TAPER_TRY(visit(q, compilation, node));
    }
    return TAPER_OK;
}

taper_status taper_make_functional(const taper_quantization *q, taper_compilation *compilation, taper_graph *graph)
{
    return visit_block(q, compilation, graph->body);
}
