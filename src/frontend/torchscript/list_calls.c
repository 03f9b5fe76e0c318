// SPDX-License-Identifier: BSD-2-Clause
// For `taper ops`: lowers calls as nodes, and prepares the called functions as PyTorch prepares them to run.
#include "frontend/torchscript/list.h"
#include "ir/graph_copy.h"

taper_status taper_ts_call_apart(taper_ts_lowering *l, taper_ts_function *f, const taper_ts_binding *args,
                                 taper_ts_binding *out)
{
    taper_node *call;
    if (f->prepared == 0) {
        TAPER_TRY(taper_ts_prepare(l, f));
    }
    const taper_graph *graph = l->prepared[f->prepared - 1].graph;
    TAPER_TRY(taper_ts_add_node(l, TAPER_NODE_CALL, f->parameter_count, 1, &call));
    call->name = graph->name;
    call->own.prepared = f->prepared;
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        taper_ir_value *const value = args[i].value;
        if (value != NULL && value->type == NULL) {
            value->type = taper_ts_actual(&args[i]);
        }
        taper_node_set_input(call, i, value);
    }
    const taper_type *type = NULL;
    if (f->returns != NULL) {
        TAPER_TRY(taper_ts_type(l->unit, f->file, f->returns, &type));
    }
    type = type != NULL ? type : graph->body->results[0].value->type;
    call->outputs[0].type = type;
    *out = (taper_ts_binding){.value = &call->outputs[0], .type = type};
    return TAPER_OK;
}

// ---- inlining

// Replaces the call by the body of the function. Constants remain at the start of the graph.
static taper_status inline_call(taper_ts_lowering *l, taper_copier *copier, taper_node *call)
{
    const taper_graph *from = l->prepared[call->own.prepared - 1].graph;
    const taper_block *body = from->body;
    TAPER_TRY(taper_ts_charge(l, 8 * (size_t)from->node_count));
    copier->count = 0;
    TAPER_TRY(taper_copier_make_room(copier, from));
    for (uint32_t i = 0; i < body->param_count; i++) {
        taper_stands_for(copier, &body->params[i], taper_node_in(call, i));
    }
    for (const taper_node *node = body->first; node != NULL; node = node->next) {
        taper_node *copy;
        if (node->kind == TAPER_NODE_CONSTANT) {
            taper_ir_value *constant;
            TAPER_TRY(taper_ts_constant(l, taper_val_retain(node->constant), &constant));
            taper_stands_for(copier, &node->outputs[0], constant);
            continue;
        }
        TAPER_TRY(taper_copy_node(copier, node, &copy));
        taper_node_insert_before(copy, call);
    }
    taper_value_replace_uses(&call->outputs[0], taper_copy_of(copier, body->results[0].value));
    taper_node_remove(call);
    return TAPER_OK;
}

// Inlines the calls in a list of nodes. depth: number of blocks around these nodes. *deepest: raised to the largest
// depth reached.
static taper_status inline_calls(taper_ts_lowering *l, taper_copier *copier, taper_node *node, int depth, int *deepest)
{
    *deepest = depth > *deepest ? depth : *deepest;
    for (taper_node *next; node != NULL; node = next) {
        next = node->next;
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(inline_calls(l, copier, node->blocks[b]->first, depth + 1, deepest));
        }
        if (node->kind == TAPER_NODE_CALL && node->own.prepared != 0) {
            const int inside = depth + l->prepared[node->own.prepared - 1].depth;
            if (inside > TAPER_LIMIT_INLINE_DEPTH) {
                TAPER_FAIL(l->unit->error, TAPER_ERROR_RESOURCE, "calls and blocks are nested too deep");
            }
            *deepest = inside > *deepest ? inside : *deepest;
            TAPER_TRY(inline_call(l, copier, node));
        }
    }
    return TAPER_OK;
}

// Simplifies the graph to the form in which PyTorch's compiler leaves it, and inlines its calls.
static taper_status finish(taper_ts_lowering *l, int *depth)
{
    bool changed;
    taper_copier copier = {.allocator = l->unit->allocator, .to = l->graph, .error = l->unit->error};
    TAPER_TRY(taper_ts_list_constants(l, &changed));
    TAPER_TRY(taper_ts_list_live(l, false));
    *depth = 0;
    const taper_status status = inline_calls(l, &copier, l->graph->body->first, 0, depth);
    taper_copier_free(&copier);
    return status;
}

taper_status taper_ts_finish_listed(taper_ts_lowering *l)
{
    int depth;
    TAPER_TRY(finish(l, &depth));
    return taper_ts_list_overloads(l);
}

taper_status taper_ts_finish_prepared(taper_ts_lowering *l, int *depth)
{
    bool changed;
    TAPER_TRY(finish(l, depth));
    TAPER_TRY(taper_ts_list_peephole(l, &changed));
    TAPER_TRY(changed ? taper_ts_list_live(l, true) : TAPER_OK);
    TAPER_TRY(taper_ts_list_constants(l, &changed));
    return changed ? taper_ts_list_live(l, false) : TAPER_OK;
}
