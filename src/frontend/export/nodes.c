// SPDX-License-Identifier: BSD-2-Clause
// Lowers graphs, their nodes, and calls of operators that Taper has.
#include "frontend/export/parts.h"

#include <stdarg.h>
#include <stdio.h>

#include "ir/effects.h"

enum { MOST_LISTS = 3 }; // largest nesting depth of lists in arguments

static const char operators[] = "torch.ops.", higher_order[] = "torch.ops.higher_order.";

taper_status taper_export_refuse(const taper_export_lowering *l, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const taper_pt2_node *node = l->node;
    if (node == NULL) {
        return taper_fail(l->emit.error, TAPER_ERROR_UNSUPPORTED, "the exported program: %s", text);
    }
    return taper_fail(l->emit.error, TAPER_ERROR_UNSUPPORTED, "the exported program, %.100s%s%.100s: %s", node->target,
                      node->name != NULL ? " as " : "", node->name != NULL ? node->name : "", text);
}

taper_status taper_export_note_missing(taper_export_lowering *l, const char *name, const char *overload)
{
    taper_needs *missing = l->missing;
    TAPER_TRY(taper_charge(l->module->allocator, missing->count, l->emit.error));
    for (size_t i = 0; i < missing->count; i++) {
        if (strcmp(missing->items[i].name, name) == 0 && strcmp(missing->items[i].overload, overload) == 0) {
            missing->items[i].calls++;
            return TAPER_OK;
        }
    }
    const char *kept_name = taper_arena_string(&l->module->arena, name, strlen(name));
    const char *kept_overload = taper_arena_string(&l->module->arena, overload, strlen(overload));
    if (kept_name == NULL || kept_overload == NULL) {
        return taper_fail_memory(l->emit.error);
    }
    TAPER_TRY(TAPER_GROW(missing->allocator, missing->items, missing->capacity, missing->count + 1, l->emit.error));
    missing->items[missing->count++] = (taper_need){kept_name, kept_overload, 1};
    return TAPER_OK;
}

// ---- nodes that call an operator of the operator list

static bool is_number(const taper_export_scope *scope, const taper_pt2_argument *argument)
{
    if (argument->kind == TAPER_PT2_VALUE) {
        const unsigned type = scope->graph->values[argument->as.value].type;
        return type == TAPER_PT2_TYPE_INT || type == TAPER_PT2_TYPE_FLOAT || type == TAPER_PT2_TYPE_BOOL;
    }
    return argument->kind == TAPER_PT2_INT || argument->kind == TAPER_PT2_FLOAT || argument->kind == TAPER_PT2_BOOL ||
           argument->kind == TAPER_PT2_COMPLEX;
}

// If the node passes a number for a tensor argument, selects the overload that takes a number there, if it exists:
// add.Tensor(x, 2) becomes add.Scalar(x, 2).
static taper_status overload_for_numbers(taper_export_lowering *l, const taper_export_scope *scope, const taper_op **op,
                                         const taper_schema **schema)
{
    enum { MOST = 16 };
    const taper_schema *from = *schema;
    bool numbers[MOST] = {false}, any = false;
    for (size_t i = 0; i < from->arg_count && i < MOST; i++) {
        const taper_pt2_argument *given = taper_export_argument(l->node, from->args[i].name, i);
        numbers[i] = given != NULL && from->args[i].type->kind == TAPER_TYPE_TENSOR && is_number(scope, given);
        any |= numbers[i];
    }
    for (const taper_op *other = any ? taper_row_first(from->name) : NULL; other != NULL;
         other = taper_row_next(other)) {
        const taper_schema *to;
        TAPER_TRY(taper_registry_schema(l->emit.registry, other, &to, l->emit.error));
        bool fits = to->arg_count == from->arg_count && to->in_place == from->in_place && to->out_count == 0;
        for (size_t i = 0; fits && i < to->arg_count; i++) {
            fits = strcmp(to->args[i].name, from->args[i].name) == 0 &&
                   (i < MOST && numbers[i] ? to->args[i].type->kind == TAPER_TYPE_NUMBER
                                           : taper_type_equal(to->args[i].type, from->args[i].type));
        }
        if (fits) {
            *op = other;
            *schema = to;
            return TAPER_OK;
        }
    }
    return TAPER_OK;
}

// Checks that the schema has all arguments of the node.
static taper_status check_names(taper_export_lowering *l, const taper_schema *schema)
{
    const taper_pt2_node *node = l->node;
    for (size_t k = 0; k < node->input_count; k++) {
        bool found = node->inputs[k].name[0] == '\0' && k < schema->arg_count;
        for (size_t i = 0; i < schema->arg_count && !found; i++) {
            found = strcmp(node->inputs[k].name, schema->args[i].name) == 0;
        }
        if (!found && node->inputs[k].argument.kind != TAPER_PT2_NONE) {
            return taper_export_refuse(l, "this build knows no argument %.100s of it", node->inputs[k].name);
        }
    }
    return TAPER_OK;
}

// Unpacks a list of tensors and records its items under the names that the file gives them.
static taper_status name_items(taper_export_lowering *l, taper_export_scope *scope, const taper_pt2_argument *list,
                               taper_ir_value *value)
{
    taper_node *unpack;
    TAPER_TRY(taper_emit_node(&l->emit, TAPER_NODE_LIST_UNPACK, 1, list->count, &unpack));
    taper_node_set_input(unpack, 0, value);
    for (size_t i = 0; i < list->count; i++) {
        unpack->outputs[i].type =
            value->type != NULL && value->type->kind == TAPER_TYPE_LIST ? value->type->items[0] : &taper_type_tensor;
        const taper_pt2_argument *item = &list->as.items[i];
        if (item->kind == TAPER_PT2_VALUE) {
            if (scope->values[item->as.value] != NULL) {
                return taper_export_refuse(l, "%.100s has a value already", scope->graph->values[item->as.value].name);
            }
            scope->values[item->as.value] = &unpack->outputs[i];
        }
    }
    return TAPER_OK;
}

taper_status taper_export_call(taper_export_lowering *l, taper_export_scope *scope, const taper_op *op,
                               const char *formal_name, const char *given_name, bool loose)
{
    const taper_schema *schema;
    TAPER_TRY(taper_registry_schema(l->emit.registry, op, &schema, l->emit.error));
    TAPER_TRY(overload_for_numbers(l, scope, &op, &schema));
    if (!loose) {
        TAPER_TRY(check_names(l, schema));
    }
    taper_ir_value **values;
    TAPER_TRY(taper_emit_values(&l->emit, schema->arg_count, &values));
    for (size_t i = 0; i < schema->arg_count; i++) {
        const taper_schema_arg *formal = &schema->args[i];
        const bool renamed = formal_name != NULL && strcmp(formal->name, formal_name) == 0;
        const taper_pt2_argument *given = taper_export_argument(l->node, renamed ? given_name : formal->name, i);
        // If an argument became optional after the file was written, the file may omit it. The argument is then None.
        const bool none = given == NULL && !formal->has_default && formal->type->kind == TAPER_TYPE_OPTIONAL;
        if (given == NULL && !formal->has_default && !none) {
            return taper_export_refuse(l, "argument %s is missing", formal->name);
        }
        TAPER_TRY(given != NULL
                      ? taper_export_value(l, scope, given, formal->type, &values[i])
                      : taper_emit_constant(&l->emit, none ? taper_val_none() : taper_val_retain(formal->default_value),
                                            &values[i]));
    }
    taper_node *node;
    TAPER_TRY(
        taper_node_create(l->emit.graph, TAPER_NODE_OP, schema->arg_count, schema->ret_count, &node, l->emit.error));
    taper_node_set_op(node, op, schema);
    node->debug = l->emit.debug;
    for (size_t i = 0; i < schema->arg_count; i++) {
        taper_node_set_input(node, i, values[i]);
    }
    taper_node_append(l->emit.block, node);
    if (!loose && l->node->output_count > schema->ret_count) {
        return taper_export_refuse(l, "it gives %u results here, the program takes %zu", schema->ret_count,
                                   l->node->output_count);
    }
    for (size_t i = 0; i < schema->ret_count; i++) {
        node->outputs[i].type = schema->rets[i].type;
        const bool list = i < l->node->output_count && l->node->outputs[i].kind == TAPER_PT2_LIST;
        TAPER_TRY(list ? name_items(l, scope, &l->node->outputs[i], &node->outputs[i])
                       : taper_export_name(l, scope, i, &node->outputs[i]));
    }
    return TAPER_OK;
}

// Splits "torch.ops.aten.add.Tensor" into "aten::add" and "Tensor".
static bool split_target(const char *target, char *name, size_t room, const char **overload)
{
    const char *space = target + sizeof operators - 1, *dot = strchr(space, '.');
    const char *last = dot != NULL ? strchr(dot + 1, '.') : NULL;
    if (last == NULL || (size_t)(last - space) + 2 > room) {
        return false;
    }
    (void)snprintf(name, room, "%.*s::%.*s", (int)(dot - space), space, (int)(last - dot - 1), dot + 1);
    *overload = strcmp(last + 1, "default") == 0 ? "" : last + 1;
    return true;
}

// Sets placeholders for the results of a missing operator, so that the listing of missing operators can continue.
static taper_status give_nothing(taper_export_lowering *l, taper_export_scope *scope)
{
    for (size_t i = 0; i < l->node->output_count; i++) {
        const taper_pt2_argument *out = &l->node->outputs[i];
        taper_ir_value *none;
        TAPER_TRY(taper_emit_constant(&l->emit, taper_val_none(), &none));
        for (size_t k = 0; out->kind == TAPER_PT2_LIST && k < out->count; k++) {
            if (out->as.items[k].kind == TAPER_PT2_VALUE) {
                scope->values[out->as.items[k].as.value] = none;
            }
        }
        TAPER_TRY(taper_export_name(l, scope, i, none));
    }
    return TAPER_OK;
}

// Lowers the node as a call of an operator. op: the operator, or NULL if there is none with this name and overload.
static taper_status lower_operator(taper_export_lowering *l, taper_export_scope *scope, const taper_op *op,
                                   const char *name, const char *overload)
{
    bool done = false;
    const char *target = l->node->target + sizeof operators - 1;
    TAPER_TRY(taper_export_special(l, scope, target, &done));
    if (!done) {
        TAPER_TRY(taper_export_composed(l, scope, target, &done));
    }
    if (done) {
        return TAPER_OK;
    }
    if (op == NULL) {
        TAPER_TRY(taper_export_note_missing(l, name, overload));
        return give_nothing(l, scope);
    }
    return taper_export_call(l, scope, op, NULL, NULL, false);
}

static taper_status lower_node(taper_export_lowering *l, taper_export_scope *scope)
{
    const char *target = l->node->target;
    if (strncmp(target, higher_order, sizeof higher_order - 1) == 0) {
        return taper_export_control(l, scope, target + sizeof higher_order - 1);
    }
    bool done = false;
    TAPER_TRY(taper_export_symbol(l, scope, target, &done));
    char name[200];
    const char *overload;
    if (done) {
        return TAPER_OK;
    }
    if (strncmp(target, operators, sizeof operators - 1) != 0 || !split_target(target, name, sizeof name, &overload)) {
        TAPER_TRY(taper_export_note_missing(l, target, ""));
        return give_nothing(l, scope);
    }
    const taper_op *op = taper_row_find(name, overload);
    taper_ir_value **kept = NULL;
    if (l->autocast != 0) {
        TAPER_TRY(taper_export_autocast(l, scope, op, name, &kept));
    }
    TAPER_TRY(lower_operator(l, scope, op, name, overload));
    if (kept != NULL) {
        taper_export_uncast(l, scope, kept);
    }
    return TAPER_OK;
}

taper_status taper_export_node(taper_export_lowering *l, taper_export_scope *scope, const taper_pt2_node *node)
{
    const taper_pt2_node *outer = l->node;
    l->node = node;
    TAPER_TRY(lower_node(l, scope));
    l->node = outer;
    return TAPER_OK;
}

// ---- graphs

// Records the origin of the node, for errors during a run: its module, its operator, and the lines of Python.
static taper_status place(taper_export_lowering *l)
{
    taper_module *module = l->module;
    const taper_pt2_node *node = l->node;
    if (module->debug_count == l->place_capacity) {
        const size_t capacity = l->place_capacity == 0 ? 64 : 2 * l->place_capacity;
        taper_module_debug *grown = taper_arena_array(&module->arena, capacity, sizeof *grown);
        if (grown == NULL) {
            return taper_fail_memory(l->emit.error);
        }
        if (module->debug_count != 0) {
            memcpy(grown, module->debug, module->debug_count * sizeof *grown);
        }
        module->debug = grown;
        l->place_capacity = capacity;
    }
    taper_text text = taper_text_make(module->allocator);
    const bool below = node->module != NULL && node->module[0] != '\0';
    taper_text_format(&text, "top(ExportedProgram)::<unknown>%s%s::forward.%s", below ? "." : "",
                      below ? node->module : "", node->target);
    if (node->stack_trace != NULL) {
        taper_text_format(&text, "\n%s", node->stack_trace);
    }
    const char *kept = text.failed ? NULL : taper_arena_string(&module->arena, taper_text_get(&text), text.length);
    taper_text_free(&text);
    if (kept == NULL) {
        return taper_fail_memory(l->emit.error);
    }
    l->emit.debug = (int32_t)module->debug_count;
    module->debug[module->debug_count++] = (taper_module_debug){l->emit.debug, kept};
    return TAPER_OK;
}

static void note_used(taper_export_scope *scope, const taper_pt2_argument *argument, int depth)
{
    if (argument->kind == TAPER_PT2_VALUE) {
        scope->used[argument->as.value] = true;
    }
    for (size_t i = 0; argument->kind == TAPER_PT2_LIST && depth < MOST_LISTS && i < argument->count; i++) {
        note_used(scope, &argument->as.items[i], depth + 1);
    }
}

static taper_status find_used(taper_export_lowering *l, taper_export_scope *scope)
{
    const taper_pt2_graph *graph = scope->graph;
    scope->used = taper_arena_array(&l->emit.graph->arena, graph->value_count + 1, sizeof *scope->used);
    if (scope->used == NULL) {
        return taper_fail_memory(l->emit.error);
    }
    TAPER_TRY(taper_charge(l->module->allocator, graph->node_count, l->emit.error));
    memset(scope->used, 0, (graph->value_count + 1) * sizeof *scope->used);
    for (size_t i = 0; i < graph->node_count; i++) {
        for (size_t k = 0; k < graph->nodes[i].input_count; k++) {
            note_used(scope, &graph->nodes[i].inputs[k].argument, 0);
        }
    }
    for (size_t i = 0; i < graph->output_count; i++) {
        note_used(scope, &graph->outputs[i], 0);
    }
    return TAPER_OK;
}

taper_status taper_export_graph(taper_export_lowering *l, const taper_pt2_graph *graph, taper_ir_value *const *inputs,
                                taper_ir_value **outputs)
{
    const taper_pt2_node *outer = l->node;
    const int32_t debug = l->emit.debug;
    taper_export_scope scope = {.graph = graph};
    if (++l->depth > TAPER_LIMIT_BLOCK_DEPTH) {
        return taper_export_refuse(l, "graphs are nested deeper than %d", TAPER_LIMIT_BLOCK_DEPTH);
    }
    TAPER_TRY(taper_emit_values(&l->emit, graph->value_count, &scope.values));
    TAPER_TRY(find_used(l, &scope));
    for (size_t i = 0; i < graph->input_count; i++) {
        const taper_pt2_argument *input = &graph->inputs[i];
        if (input->kind == TAPER_PT2_VALUE) {
            if (scope.values[input->as.value] != NULL) {
                return taper_export_refuse(l, "two inputs are named %.100s", graph->values[input->as.value].name);
            }
            scope.values[input->as.value] = inputs[i];
        }
    }
    for (size_t i = 0; i < graph->node_count; i++) {
        l->node = &graph->nodes[i];
        TAPER_TRY(taper_charge(l->module->allocator, 20, l->emit.error));
        TAPER_TRY(place(l));
        TAPER_TRY(lower_node(l, &scope));
    }
    l->node = outer;
    l->emit.debug = debug;
    for (size_t i = 0; i < graph->output_count; i++) {
        TAPER_TRY(taper_export_value(l, &scope, &graph->outputs[i], NULL, &outputs[i]));
    }
    l->depth--;
    return TAPER_OK;
}
