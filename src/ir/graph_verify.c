// SPDX-License-Identifier: BSD-2-Clause
// Checks that a graph is consistent. It runs after the frontend and after every pass.
#include "ir/graph.h"

typedef struct verifier {
    const taper_graph *graph;
    uint8_t *defined; // for each value, by id: 1 while the value is in scope
    taper_error *error;
} verifier;

static taper_status wrong(const verifier *v, const taper_node *node, const char *what)
{
    TAPER_FAIL(v->error, TAPER_ERROR_INTERNAL, "graph %s: %s (%s)", v->graph->name, what,
               node != NULL ? taper_node_kind_name((taper_node_kind)node->kind) : "block");
}

static taper_status check_inputs(const verifier *v, const taper_node *node, const taper_ir_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (inputs[i].value == NULL || inputs[i].value->id >= v->graph->value_count ||
            !v->defined[inputs[i].value->id]) {
            return wrong(v, node, "a value is used where it is not defined");
        }
    }
    return TAPER_OK;
}

static void scope(const verifier *v, const taper_block *block, uint8_t in)
{
    for (size_t i = 0; i < block->param_count; i++) {
        v->defined[block->params[i].id] = in;
    }
    if (in == 0) {
        for (const taper_node *node = block->first; node != NULL; node = node->next) {
            for (size_t i = 0; i < node->output_count; i++) {
                v->defined[node->outputs[i].id] = 0;
            }
        }
    }
}

static taper_status check_block(const verifier *v, const taper_block *block, int depth)
{
    if (depth > TAPER_LIMIT_BLOCK_DEPTH + 1) {
        return wrong(v, NULL, "blocks are nested too deep");
    }
    scope(v, block, 1);
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        TAPER_TRY(check_inputs(v, node, node->inputs, node->input_count));
        if (node->block != block) {
            return wrong(v, node, "a node stands in the wrong block");
        }
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(check_block(v, node->blocks[b], depth + 1));
        }
        const bool counts = node->kind == TAPER_NODE_IF ? node->block_count == 2 && node->input_count == 1 &&
                                                              node->blocks[0]->result_count == node->output_count &&
                                                              node->blocks[1]->result_count == node->output_count
                            : node->kind == TAPER_NODE_SEGMENT
                                ? node->block_count >= 2 && node->segment != NULL &&
                                      taper_node_last_block(node)->result_count == node->output_count &&
                                      node->blocks[1]->result_count == node->output_count
                            : node->kind == TAPER_NODE_LOOP
                                ? node->block_count == 1 && node->input_count == node->output_count + 2 &&
                                      node->blocks[0]->param_count == node->output_count + 1 &&
                                      node->blocks[0]->result_count == node->output_count + 1
                                : node->block_count == 0 && (node->kind != TAPER_NODE_OP || node->op != NULL);
        if (!counts) {
            return wrong(v, node, "its counts do not fit");
        }
        for (size_t i = 0; i < node->output_count; i++) {
            v->defined[node->outputs[i].id] = 1;
        }
    }
    TAPER_TRY(check_inputs(v, NULL, block->results, block->result_count));
    if (block->parent != NULL) {
        scope(v, block, 0);
    }
    return TAPER_OK;
}

taper_status taper_graph_verify(const taper_graph *graph, taper_error *error)
{
    const taper_allocator *allocator = graph->arena.allocator;
    verifier v = {graph, taper_alloc_zeroed(allocator, (size_t)graph->value_count + 1), error};
    if (v.defined == NULL) {
        return taper_fail_memory(error);
    }
    const taper_status status = check_block(&v, graph->body, 0);
    taper_free(allocator, v.defined, (size_t)graph->value_count + 1);
    return status;
}
