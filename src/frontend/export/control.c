// SPDX-License-Identifier: BSD-2-Clause
// Lowers higher-order operators: their graphs become blocks, or are inlined.
#include "frontend/export/parts.h"

static const taper_pt2_argument *at(const taper_export_lowering *l, const char *name, size_t position)
{
    return taper_export_argument(l->node, name, position);
}

static taper_status graph_at(taper_export_lowering *l, const char *name, size_t position, const taper_pt2_graph **graph)
{
    const taper_pt2_argument *argument = at(l, name, position);
    if (argument == NULL || argument->kind != TAPER_PT2_GRAPH) {
        return taper_export_refuse(l, "a graph was expected as %s", name);
    }
    *graph = argument->as.graph;
    return TAPER_OK;
}

// Appends the values of a list argument after the first *used values. Appends none if the argument is omitted.
static taper_status append_list(taper_export_lowering *l, const taper_export_scope *scope,
                                const taper_pt2_argument *list, taper_ir_value **values, size_t room, size_t *used)
{
    const size_t count = list != NULL && list->kind == TAPER_PT2_LIST ? list->count : 0;
    for (size_t i = 0; i < count; i++) {
        if (*used == room) {
            return taper_export_refuse(l, "its graph takes %zu values, more are given", room);
        }
        TAPER_TRY(taper_export_value(l, scope, &list->as.items[i], NULL, &values[(*used)++]));
    }
    return TAPER_OK;
}

static size_t length(const taper_pt2_argument *list)
{
    return list != NULL && list->kind == TAPER_PT2_LIST ? list->count : 0;
}

static taper_status expect(taper_export_lowering *l, size_t have, size_t want)
{
    return have == want
               ? TAPER_OK
               : taper_export_refuse(l, "one of its graphs takes or gives %zu values, %zu fit here", have, want);
}

// Records the results of the node, which are one tuple or several values.
static taper_status name_results(taper_export_lowering *l, taper_export_scope *scope, taper_ir_value *const *results,
                                 size_t count)
{
    const taper_pt2_node *node = l->node;
    if (node->output_count == 1 && node->outputs[0].kind == TAPER_PT2_LIST) {
        TAPER_TRY(expect(l, node->outputs[0].count, count));
        for (size_t i = 0; i < count; i++) {
            const taper_pt2_argument *item = &node->outputs[0].as.items[i];
            if (item->kind == TAPER_PT2_VALUE) {
                if (scope->values[item->as.value] != NULL) {
                    return taper_export_refuse(l, "two results have one name");
                }
                scope->values[item->as.value] = results[i];
            }
        }
        return TAPER_OK;
    }
    TAPER_TRY(expect(l, node->output_count, count));
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_export_name(l, scope, i, results[i]));
    }
    return TAPER_OK;
}

// ---- operators that only wrap a graph, which is inlined

static taper_status in_place(taper_export_lowering *l, taper_export_scope *scope)
{
    size_t where = 0;
    while (where < l->node->input_count && l->node->inputs[where].argument.kind != TAPER_PT2_GRAPH) {
        where++;
    }
    if (where == l->node->input_count) {
        return taper_export_refuse(l, "it has no graph");
    }
    const taper_pt2_graph *graph = l->node->inputs[where].argument.as.graph;
    // invoke_subgraph has a name as argument after the graph.
    where += where + 1 < l->node->input_count && l->node->inputs[where + 1].argument.kind == TAPER_PT2_STRING;
    TAPER_TRY(expect(l, graph->input_count, l->node->input_count - where - 1));
    taper_ir_value **values;
    TAPER_TRY(taper_emit_values(&l->emit, graph->input_count + graph->output_count, &values));
    for (size_t i = 0; i < graph->input_count; i++) {
        TAPER_TRY(taper_export_value(l, scope, &l->node->inputs[where + 1 + i].argument, NULL, &values[i]));
    }
    taper_ir_value **results = values + graph->input_count;
    TAPER_TRY(taper_export_graph(l, graph, values, results));
    return name_results(l, scope, results, graph->output_count);
}

static taper_status autocast(taper_export_lowering *l, taper_export_scope *scope)
{
    const taper_pt2_argument *device = at(l, "device_type", 0), *dtype = at(l, "dtype", 1),
                             *enabled = at(l, "enabled", 2);
    const bool on = enabled == NULL || enabled->kind != TAPER_PT2_BOOL || enabled->as.i != 0;
    const int outer = l->autocast;
    if (device == NULL || device->kind != TAPER_PT2_STRING || strcmp(device->as.text, "cpu") != 0) {
        return in_place(l, scope); // the graph is inlined without casts, because this autocast is not for the CPU
    }
    const bool given = dtype != NULL && dtype->kind == TAPER_PT2_DTYPE;
    l->autocast = !on ? 0 : given ? (int)dtype->as.i : TAPER_BF16;
    if (on && l->autocast != TAPER_BF16 && l->autocast != TAPER_F16) {
        return taper_export_refuse(l, "autocast of the CPU is to bfloat16 or float16");
    }
    TAPER_TRY(in_place(l, scope));
    l->autocast = outer;
    return TAPER_OK;
}

// Lowers an operator with effects, which takes a token as its first argument and returns a token before its results.
static taper_status with_effects(taper_export_lowering *l, taper_export_scope *scope)
{
    const taper_pt2_node *node = l->node;
    if (node->input_count < 2 || node->inputs[1].argument.kind != TAPER_PT2_OPERATOR || node->output_count == 0) {
        return taper_export_refuse(l, "a token and an operator were expected");
    }
    taper_pt2_node inner = *node;
    taper_ir_value *token;
    inner.target = node->inputs[1].argument.as.text;
    if (strstr(inner.target, "higher_order") != NULL) {
        return taper_export_refuse(l, "%.100s within it is not supported", inner.target);
    }
    inner.inputs += 2;
    inner.input_count -= 2;
    inner.outputs++;
    inner.output_count--;
    while (inner.output_count != 0) { // the file names an output even for an operator without results
        const taper_pt2_argument *last = &inner.outputs[inner.output_count - 1];
        if (last->kind != TAPER_PT2_NONE && (last->kind != TAPER_PT2_VALUE || scope->used[last->as.value])) {
            break;
        }
        inner.output_count--;
    }
    TAPER_TRY(taper_export_value(l, scope, &node->inputs[0].argument, NULL, &token));
    TAPER_TRY(taper_export_name(l, scope, 0, token));
    return taper_export_node(l, scope, &inner);
}

// ---- cond

static taper_status branch(taper_export_lowering *l, taper_node *node, size_t number, const taper_pt2_graph *graph,
                           taper_ir_value *const *operands, size_t count)
{
    taper_block *const outer = l->emit.block;
    taper_ir_value **results;
    TAPER_TRY(expect(l, graph->input_count, count));
    TAPER_TRY(expect(l, graph->output_count, node->output_count));
    TAPER_TRY(taper_emit_values(&l->emit, graph->output_count, &results));
    TAPER_TRY(taper_block_create(l->emit.graph, node, 0, &node->blocks[number], l->emit.error));
    l->emit.block = node->blocks[number];
    TAPER_TRY(taper_export_graph(l, graph, operands, results));
    l->emit.block = outer;
    for (size_t i = 0; i < graph->output_count; i++) {
        node->outputs[i].type = results[i]->type;
    }
    return taper_block_set_results(node->blocks[number], results, graph->output_count, l->emit.error);
}

static taper_status as_bool(taper_export_lowering *l, taper_ir_value **value)
{
    const bool tensor = (*value)->type != NULL && (*value)->type->kind == TAPER_TYPE_TENSOR;
    return tensor ? TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_Bool_Tensor), value, *value) : TAPER_OK;
}

static taper_status cond(taper_export_lowering *l, taper_export_scope *scope)
{
    const taper_pt2_argument *predicate = at(l, "pred", 0), *list = at(l, "operands", 3);
    const taper_pt2_graph *graphs[2];
    taper_ir_value *condition, **operands, **results;
    taper_node *node;
    if (predicate == NULL) {
        return taper_export_refuse(l, "it has no condition");
    }
    TAPER_TRY(graph_at(l, "true_fn", 1, &graphs[0]));
    TAPER_TRY(graph_at(l, "false_fn", 2, &graphs[1]));
    TAPER_TRY(taper_export_value(l, scope, predicate, NULL, &condition));
    TAPER_TRY(as_bool(l, &condition));
    size_t used = 0;
    TAPER_TRY(taper_emit_values(&l->emit, length(list), &operands));
    TAPER_TRY(append_list(l, scope, list, operands, length(list), &used));
    TAPER_TRY(taper_emit_node(&l->emit, TAPER_NODE_IF, 1, graphs[0]->output_count, &node));
    taper_node_set_input(node, 0, condition);
    node->block_count = 2;
    for (size_t i = 0; i < 2; i++) {
        TAPER_TRY(branch(l, node, i, graphs[i], operands, used));
    }
    TAPER_TRY(taper_emit_values(&l->emit, node->output_count, &results));
    for (size_t i = 0; i < node->output_count; i++) {
        results[i] = &node->outputs[i];
    }
    return name_results(l, scope, results, node->output_count);
}

// ---- while_loop

static taper_status evaluate(taper_export_lowering *l, const taper_pt2_graph *graph, taper_ir_value *const *values,
                             taper_ir_value **condition)
{
    TAPER_TRY(expect(l, graph->output_count, 1));
    TAPER_TRY(taper_export_graph(l, graph, values, condition));
    return as_bool(l, condition);
}

static taper_status while_loop(taper_export_lowering *l, taper_export_scope *scope)
{
    const taper_pt2_argument *carried = at(l, "carried_inputs", 2), *more = at(l, "additional_inputs", 3);
    const taper_pt2_graph *test, *body;
    TAPER_TRY(graph_at(l, "cond_fn", 0, &test));
    TAPER_TRY(graph_at(l, "body_fn", 1, &body));
    const size_t count = length(carried), all = count + length(more);
    taper_ir_value **values, **results, *condition, *trips;
    size_t used = 0;
    TAPER_TRY(taper_emit_values(&l->emit, all, &values));
    TAPER_TRY(taper_emit_values(&l->emit, count + 1, &results));
    TAPER_TRY(append_list(l, scope, carried, values, all, &used));
    TAPER_TRY(append_list(l, scope, more, values, all, &used));
    TAPER_TRY(expect(l, test->input_count, all));
    TAPER_TRY(expect(l, body->input_count, all));
    TAPER_TRY(expect(l, body->output_count, count));
    TAPER_TRY(evaluate(l, test, values, &condition));
    TAPER_TRY(taper_emit_constant(&l->emit, taper_val_int(INT64_MAX), &trips));
    taper_node *node;
    taper_block *const outer = l->emit.block;
    TAPER_TRY(taper_emit_node(&l->emit, TAPER_NODE_LOOP, count + 2, count, &node));
    taper_node_set_input(node, 0, trips);
    taper_node_set_input(node, 1, condition);
    TAPER_TRY(taper_block_create(l->emit.graph, node, count + 1, &node->blocks[0], l->emit.error));
    node->block_count = 1;
    node->blocks[0]->params[0].type = &taper_type_int;
    for (size_t i = 0; i < count; i++) {
        taper_node_set_input(node, 2 + i, values[i]);
        node->blocks[0]->params[1 + i].type = node->outputs[i].type = values[i]->type;
        values[i] = &node->blocks[0]->params[1 + i];
    }
    l->emit.block = node->blocks[0];
    TAPER_TRY(taper_export_graph(l, body, values, results + 1));
    for (size_t i = 0; i < count; i++) {
        values[i] = results[1 + i];
    }
    TAPER_TRY(evaluate(l, test, values, &results[0]));
    l->emit.block = outer;
    TAPER_TRY(taper_block_set_results(node->blocks[0], results, count + 1, l->emit.error));
    for (size_t i = 0; i < count; i++) {
        results[i] = &node->outputs[i];
    }
    return name_results(l, scope, results, count);
}

// ---- scan and map: a loop over the first dimension, whose results are stacked

typedef struct stacking {
    const taper_pt2_graph *graph;
    // Numbers of values that the graph takes: carried from one iteration to the next, slices of the inputs, and
    // constants.
    size_t carried, over, more;
    size_t stacked; // number of results after the carried values; each is a stack of the values of all iterations
} stacking;

static taper_status stack_loop(taper_export_lowering *l, taper_export_scope *scope, const stacking *s,
                               taper_ir_value **values)
{
    taper_ir_value **results, **lists, *trips, *yes, *zero, *ignored;
    taper_node *node;
    const size_t all = s->carried + s->over + s->more;
    TAPER_TRY(expect(l, s->graph->input_count, all));
    TAPER_TRY(expect(l, s->graph->output_count, s->carried + s->stacked));
    if (s->over == 0) {
        return taper_export_refuse(l, "it goes over no tensor");
    }
    TAPER_TRY(taper_emit_values(&l->emit, s->carried + s->stacked + 1, &results));
    TAPER_TRY(taper_emit_values(&l->emit, s->stacked, &lists));
    TAPER_TRY(taper_emit_constant(&l->emit, taper_val_int(0), &zero));
    TAPER_TRY(taper_emit_constant(&l->emit, taper_val_bool(true), &yes));
    TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_size_int), &trips, values[s->carried], zero));
    for (size_t i = 0; i < s->stacked; i++) {
        TAPER_TRY(taper_emit_container(&l->emit, TAPER_NODE_LIST, &taper_type_list_tensor, NULL, 0, &lists[i]));
    }
    taper_block *const outer = l->emit.block;
    TAPER_TRY(taper_emit_node(&l->emit, TAPER_NODE_LOOP, s->carried + 2, s->carried, &node));
    taper_node_set_input(node, 0, trips);
    taper_node_set_input(node, 1, yes);
    TAPER_TRY(taper_block_create(l->emit.graph, node, s->carried + 1, &node->blocks[0], l->emit.error));
    node->block_count = 1;
    node->blocks[0]->params[0].type = &taper_type_int;
    l->emit.block = node->blocks[0];
    for (size_t i = 0; i < s->carried; i++) {
        taper_node_set_input(node, 2 + i, values[i]);
        node->blocks[0]->params[1 + i].type = node->outputs[i].type = values[i]->type;
        values[i] = &node->blocks[0]->params[1 + i];
    }
    for (size_t i = s->carried; i < s->carried + s->over; i++) {
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_select_int), &values[i], values[i], zero,
                                  &node->blocks[0]->params[0]));
    }
    TAPER_TRY(taper_export_graph(l, s->graph, values, results + 1));
    for (size_t i = 0; i < s->stacked; i++) {
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_append_t), &ignored, lists[i], results[1 + s->carried + i]));
    }
    TAPER_TRY(taper_emit_constant(&l->emit, taper_val_bool(true), &results[0]));
    l->emit.block = outer;
    TAPER_TRY(taper_block_set_results(node->blocks[0], results, s->carried + 1, l->emit.error));
    for (size_t i = 0; i < s->carried; i++) {
        results[i] = &node->outputs[i];
    }
    for (size_t i = 0; i < s->stacked; i++) {
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_stack), &results[s->carried + i], lists[i], zero));
    }
    return name_results(l, scope, results, s->carried + s->stacked);
}

static taper_status loop_over(taper_export_lowering *l, taper_export_scope *scope, const taper_pt2_argument *carried,
                              const taper_pt2_argument *over, const taper_pt2_argument *more)
{
    stacking s = {.carried = length(carried), .over = length(over), .more = length(more)};
    TAPER_TRY(graph_at(l, carried != NULL ? "combine_fn" : "f", 0, &s.graph));
    if (s.graph->output_count < s.carried) {
        return expect(l, s.graph->output_count, s.carried);
    }
    s.stacked = s.graph->output_count - s.carried;
    taper_ir_value **values;
    const size_t all = s.carried + s.over + s.more;
    size_t used = 0;
    TAPER_TRY(taper_emit_values(&l->emit, all, &values));
    TAPER_TRY(append_list(l, scope, carried, values, all, &used));
    TAPER_TRY(append_list(l, scope, over, values, all, &used));
    TAPER_TRY(append_list(l, scope, more, values, all, &used));
    return stack_loop(l, scope, &s, values);
}

static taper_status scan(taper_export_lowering *l, taper_export_scope *scope)
{
    return loop_over(l, scope, at(l, "init", 1), at(l, "xs", 2), at(l, "additional_inputs", 3));
}

static taper_status map(taper_export_lowering *l, taper_export_scope *scope)
{
    return loop_over(l, scope, NULL, at(l, "xs", 1), at(l, "pos_args", 2));
}

typedef struct control_row {
    const char *name;
    taper_status (*lower)(taper_export_lowering *l, taper_export_scope *scope);
} control_row;

static const control_row rows[] = {
    {"cond", cond},
    {"while_loop", while_loop},
    {"scan", scan},
    {"map_impl", map},
    {"map", map},
    {"wrap_with_set_grad_enabled", in_place},
    {"wrap_with_autocast", autocast},
    {"wrap", in_place},
    {"checkpoint", in_place},
    {"tag_activation_checkpoint", in_place},
    {"wrap_activation_checkpoint", in_place},
    {"invoke_subgraph", in_place},
    {"strict_mode", in_place},
    {"hints_wrapper", in_place},
    {"with_effects", with_effects},
};

taper_status taper_export_control(taper_export_lowering *l, taper_export_scope *scope, const char *target)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].name, target) == 0) {
            return rows[i].lower(l, scope);
        }
    }
    return taper_export_refuse(l, "the higher-order operator is not supported: export without it, or after "
                                  "run_decompositions()");
}
