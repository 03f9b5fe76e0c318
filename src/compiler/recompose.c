// SPDX-License-Identifier: BSD-2-Clause
// Visits the nodes of a graph. See recompose.h.
#include "compiler/recompose.h"

enum { MOST_DEPTH = 4 };

// ---- writes in place

static bool is_float(const taper_ir_value *value, int depth);

// Returns true if all tensor arguments of the node, from index `from` on, are float32 (is_float).
static bool takes_floats(const taper_node *node, size_t from, int depth)
{
    for (size_t i = from; i < node->input_count && i < node->schema->arg_count; i++) {
        const taper_type *type = node->schema->args[i].type;
        if ((type->kind == TAPER_TYPE_TENSOR ||
             (type->kind == TAPER_TYPE_OPTIONAL && type->items[0]->kind == TAPER_TYPE_TENSOR)) &&
            !is_float(taper_node_in(node, i), depth + 1)) {
            return false;
        }
    }
    return true;
}

// Returns true if a few operators before the value show that it is a new float32 tensor.
static bool is_float(const taper_ir_value *value, int depth)
{
    const taper_node *node = value->node;
    if (node == NULL || node->kind != TAPER_NODE_OP || depth == MOST_DEPTH || node->input_count == 0) {
        return false;
    }
    if (taper_node_calls(node, TAPER_OP(quantized_decomposed_dequantize_per_tensor)) ||
        taper_node_calls(node, TAPER_OP(quantized_decomposed_dequantize_per_tensor_tensor))) {
        return taper_constant_float_dtype(node, 6);
    }
    const uint64_t facts = taper_node_facts(node);
    const unsigned layer = TAPER_FIELD(facts, LAYER);
    if (node->schema->out_count != 0 || node->schema->in_place) {
        return false;
    }
    return layer >= TAPER_LAYER_CONV1 && layer <= TAPER_LAYER_LINEAR
               ? is_float(taper_node_in(node, 0),
                          depth + 1) // the other arguments have this dtype, or the operator raises
               : (facts & TAPER_OP_ELEMENTWISE) != 0 && TAPER_FIELD(facts, QUANTIZED) != TAPER_QUANTIZED_NONE &&
                     takes_floats(node, 0, depth);
}

// Replaces relu_(x) by relu(x) if x is a new float tensor that no other node uses.
static taper_status make_anew(taper_compilation *compilation, taper_node *node)
{
    const taper_op *op;
    const taper_schema *schema;
    if (node->kind != TAPER_NODE_OP || !node->schema->in_place || node->output_count != 1 || node->input_count == 0 ||
        !taper_node_has(node, TAPER_OP_ELEMENTWISE) || !taper_value_used_once(taper_node_in(node, 0)) ||
        taper_node_in(node, 0)->block != node->block || !is_float(taper_node_in(node, 0), 0)) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_functional_row(compilation, node, &op, &schema));
    if (op != NULL && takes_floats(node, 1, 0)) {
        taper_node_set_op(node, op, schema);
    }
    return TAPER_OK;
}

// ---- the pass

static bool has_quantize(const taper_block *block)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (taper_node_calls(node, TAPER_OP(quantized_decomposed_dequantize_per_tensor)) ||
            taper_node_calls(node, TAPER_OP(quantized_decomposed_dequantize_per_tensor_tensor))) {
            return true;
        }
        for (size_t b = 0; b < node->block_count; b++) {
            if (has_quantize(node->blocks[b])) {
                return true;
            }
        }
    }
    return false;
}

// Visits all nodes of a block. During the visit, nodes are only inserted, before and after the current node, and no
// node is removed.
static taper_status walk(taper_recomposer *r, taper_block *block)
{
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(walk(r, node->blocks[b]));
        }
        if (taper_recompose_again(r, node)) {
            taper_ir_value *same;
            TAPER_TRY(taper_recompose_take(r, taper_node_in(node, 0), &same));
            TAPER_TRY(taper_recompose_replace(r, &node->outputs[0], same));
        } else {
            TAPER_TRY(taper_recompose_node(r, node));
        }
    }
    return TAPER_OK;
}

taper_status taper_pass_recompose(taper_compilation *compilation, taper_graph *graph)
{
    // A selective build without these operators cannot use this pass.
    if (!TAPER_HAS_OP(quantized_decomposed_dequantize_per_tensor) || !TAPER_HAS_OP(aten_dequantize_self) ||
        !TAPER_HAS_OP(aten__make_per_tensor_quantized_tensor) || !TAPER_HAS_OP(aten_quantize_per_tensor) ||
        !TAPER_HAS_OP(aten_contiguous) || !has_quantize(graph->body) || taper_ranks_change(compilation)) {
        return TAPER_OK;
    }
    taper_recomposer r = {.compilation = compilation, .graph = graph};
    TAPER_TRY(taper_visit_nodes(compilation, graph->body, make_anew));
    TAPER_TRY(taper_written_storages_find(compilation));
    TAPER_TRY(taper_aliases_create(graph, &r.aliases, compilation->error));
    const taper_status status = walk(&r, graph->body);
    taper_aliases_destroy(r.aliases);
    taper_free(compilation->allocator, r.values, r.capacity * sizeof *r.values);
    TAPER_TRY(status);
    return taper_pass_dead_code(compilation, graph); // removes the replaced nodes
}
