// SPDX-License-Identifier: BSD-2-Clause
// Helpers of passes: they insert constants and calls before a node, find arguments by name, and replace nodes.
#include "compiler/pass.h"

bool taper_is_of_root(const taper_compilation *compilation, const taper_graph *graph)
{
    if (compilation->root.tag != TAPER_OBJECT || compilation->root.as.object->klass == NULL) {
        return false;
    }
    const char *name = compilation->root.as.object->klass->name, *dot = strrchr(graph->name, '.');
    return dot != NULL && strlen(name) == (size_t)(dot - graph->name) &&
           strncmp(graph->name, name, (size_t)(dot - graph->name)) == 0;
}

taper_status taper_constant_before(taper_node *before, taper_val value, taper_ir_value **made, taper_error *error)
{
    taper_node *node;
    TAPER_TRY(taper_node_constant(before->block->graph, value, &node, error));
    taper_node_insert_before(node, before);
    *made = &node->outputs[0];
    return TAPER_OK;
}

taper_status taper_visit_nodes(taper_compilation *compilation, taper_block *block,
                               taper_status (*visit)(taper_compilation *compilation, taper_node *node))
{
    for (taper_node *node = block->first, *next; node != NULL; node = next) {
        next = node->next;
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(taper_visit_nodes(compilation, node->blocks[b], visit));
        }
        TAPER_TRY(visit(compilation, node));
    }
    return TAPER_OK;
}

taper_status taper_functional_row(taper_compilation *compilation, const taper_node *node, const taper_op **op,
                                  const taper_schema **schema)
{
    *op = taper_row_functional(node->op);
    return *op != NULL ? taper_registry_schema(compilation->registry, *op, schema, compilation->error) : TAPER_OK;
}

taper_status taper_op_before(taper_compilation *compilation, taper_node *before, const taper_op *op, taper_node **node)
{
    const taper_schema *schema;
    *node = NULL;
    if (op == NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_registry_schema(compilation->registry, op, &schema, compilation->error));
    TAPER_TRY(taper_node_create(before->block->graph, TAPER_NODE_OP, schema->arg_count, schema->ret_count, node,
                                compilation->error));
    taper_node_set_op(*node, op, schema);
    (*node)->debug = before->debug;
    (*node)->instruction = before->instruction;
    taper_node_insert_before(*node, before);
    return TAPER_OK;
}

taper_ir_value *taper_node_argument(const taper_node *node, const char *name)
{
    for (size_t i = 0; node->kind == TAPER_NODE_OP && i < node->schema->arg_count && i < node->input_count; i++) {
        if (strcmp(node->schema->args[i].name, name) == 0) {
            return taper_node_in(node, i);
        }
    }
    return NULL;
}

bool taper_node_constant_equals(const taper_node *node, size_t index, double wanted)
{
    double number;
    return taper_node_constant_is_number(node, index, &number) && number == wanted;
}

static bool has_constant(const taper_node *node, size_t index, taper_tag tag)
{
    const taper_val *constant = taper_node_constant_in(node, index);
    return constant != NULL && constant->tag == tag;
}

bool taper_node_converts(const taper_node *node, double *dtype)
{
    if (node->kind != TAPER_NODE_OP) {
        return false;
    }
    if (taper_node_calls(node, TAPER_OP(aten_to_dtype))) {
        return taper_node_constant_is_number(node, 1, dtype) && has_constant(node, 2, TAPER_BOOLEAN) &&
               has_constant(node, 3, TAPER_BOOLEAN) && has_constant(node, 4, TAPER_NONE);
    }
    return taper_node_calls(node, TAPER_OP(aten__to_copy)) && taper_node_constant_is_number(node, 1, dtype) &&
           has_constant(node, 2, TAPER_NONE) && has_constant(node, 3, TAPER_NONE) &&
           has_constant(node, 4, TAPER_NONE) && has_constant(node, 5, TAPER_BOOLEAN) &&
           has_constant(node, 6, TAPER_NONE);
}

bool taper_nothing_written_since(const taper_node *node, const taper_node *first)
{
    enum { MOST_BETWEEN = 64 };
    const taper_node *at = node->previous;
    for (size_t i = 0; i < MOST_BETWEEN && at != NULL; i++, at = at->previous) {
        if (at->kind != TAPER_NODE_CONSTANT && !taper_node_is_pure(at) && !taper_node_only_raises(at)) {
            return false;
        }
        if (at == first) {
            return true;
        }
    }
    return false;
}

taper_status taper_constant_ints_before(taper_compilation *compilation, taper_node *before, const int64_t *numbers,
                                        size_t count, taper_ir_value **made)
{
    taper_list *list = taper_list_new(compilation->module->heap, &taper_type_int, count);
    if (list == NULL) {
        return taper_fail_memory(compilation->error);
    }
    for (size_t i = 0; i < count; i++) {
        list->items[i] = taper_val_int(numbers[i]);
    }
    list->count = count;
    TAPER_TRY(taper_constant_before(before, TAPER_VAL(list), made, compilation->error));
    (*made)->node->own.constant.frozen = true;
    return TAPER_OK;
}

void taper_node_replace(taper_node *old, taper_node *with)
{
    taper_value_replace_uses(&old->outputs[0], &with->outputs[0]);
    taper_node_remove(old);
}
