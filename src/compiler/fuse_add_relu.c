// SPDX-License-Identifier: BSD-2-Clause
// Replaces `add` and a `relu` that is the only user of the sum by `aten::_add_relu`, for all forms of both operators.
// The sum must be known to be float, because PyTorch's kernel supports few dtypes and clamps the sum to the range of
// the first summand's dtype. The fused operator turns infinity into the largest number and NaN into 0, as PyTorch does
// after this fusion. The pass runs only for devices with such an operator; GPUs have no such operator.
#include "compiler/facts.h"

static taper_status fuse(taper_compilation *compilation, const taper_dtypes *dtypes, taper_node *node)
{
    taper_node *add = node->kind == TAPER_NODE_OP && node->input_count == 1 ? taper_node_in(node, 0)->node : NULL;
    taper_dtype sum, summand;
    if (TAPER_FIELD(taper_node_facts(node), FUNCTION) != TAPER_FUNCTION_RELU || add == NULL ||
        TAPER_FIELD(taper_node_facts(add), FUNCTION) != TAPER_FUNCTION_ADD || add->block != node->block ||
        node->schema->out_count != 0 || add->schema->out_count != 0 || !taper_value_used_once(&add->outputs[0])) {
        return TAPER_OK;
    }
    // An addition in place must be directly before the relu, so that no other node sees the sum.
    const bool in_place = add->schema->in_place;
    if (in_place && (!node->schema->in_place || add->next != node)) {
        return TAPER_OK;
    }
    if (!taper_known_dtype(dtypes, &add->outputs[0], &sum) || (sum != TAPER_F32 && sum != TAPER_F64) ||
        !taper_known_dtype(dtypes, taper_node_in(add, 0), &summand) || summand != sum) {
        return TAPER_OK;
    }
    taper_node *both;
    TAPER_TRY(taper_op_before(compilation, add,
                              in_place ? TAPER_OP(aten__add_relu__Tensor) : TAPER_OP(aten__add_relu_Tensor), &both));
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

static void learn_block(taper_dtypes *dtypes, const taper_block *block)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            learn_block(dtypes, node->blocks[b]);
        }
        taper_dtypes_learn(dtypes, node);
    }
}

static taper_status fuse_block(taper_compilation *compilation, const taper_dtypes *dtypes, taper_block *block)
{
    for (taper_node *node = block->first, *next; node != NULL; node = next) {
        next = node->next;
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(fuse_block(compilation, dtypes, node->blocks[b]));
        }
        TAPER_TRY(fuse(compilation, dtypes, node));
    }
    return TAPER_OK;
}

taper_status taper_pass_fuse_add_relu(taper_compilation *compilation, taper_graph *graph)
{
    taper_dtypes dtypes;
    if (compilation->preparer == NULL || !compilation->preparer->adds_relu) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_dtypes_create(compilation, graph, &dtypes));
    learn_block(&dtypes, graph->body); // must precede the fusion, which makes values that are not in `dtypes`
    const taper_status status = fuse_block(compilation, &dtypes, graph->body);
    taper_dtypes_free(&dtypes);
    return status;
}
