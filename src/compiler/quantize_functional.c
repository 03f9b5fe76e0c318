// SPDX-License-Identifier: BSD-2-Clause
// Replaces x += y and similar operators in place by their functional forms if x has no other users, because quantized
// operators (steps, quantization.h) have no in-place forms. The pass remove_mutation does not change operators on two
// tensors, because that pass does not know the dtypes. Here the first run has shown that both tensors are float.
#include "compiler/quantization.h"

static bool is_float(const taper_quantization *q, const taper_ir_value *value)
{
    return value->id < q->value_count && q->values[value->id].is_float;
}

// Returns true if the operator may become a quantized operator (a step, quantization.h), or an activation that is
// merged into such an operator.
static bool may_be_step(const taper_op *op)
{
    const uint64_t facts = taper_op_facts(op);
    return (facts & TAPER_OP_ELEMENTWISE) != 0 && TAPER_FIELD(facts, QUANTIZED) != TAPER_QUANTIZED_NONE;
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
    const taper_op *op;
    TAPER_TRY(taper_functional_row(compilation, node, &op, &schema));
    if (op == NULL || !may_be_step(op) ||
        (schema->arg_count > 1 && schema->args[1].type->kind == TAPER_TYPE_TENSOR &&
         !is_float(q, taper_node_in(node, 1)))) {
        return TAPER_OK;
    }
    taper_node_set_op(node, op, schema);
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
