// SPDX-License-Identifier: BSD-2-Clause
// What passes share: constants and calls put before a node, arguments by name, replacing a node.
#include "compiler/pass.h"

#include <float.h>
#include <math.h>

bool taper_node_constant_is_number(const taper_node *node, size_t index, double *number)
{
    const taper_val *value = taper_node_constant_in(node, index);
    if (value == NULL || (value->tag != TAPER_INT && value->tag != TAPER_DOUBLE && value->tag != TAPER_BOOLEAN)) {
        return false;
    }
    *number = value->tag == TAPER_DOUBLE ? value->as.f : (double)value->as.i;
    return true;
}

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
    char name[64];
    const taper_schema *here = node->schema;
    const size_t length = strlen(here->name);
    *op = NULL;
    if (length < 2 || length >= sizeof name || here->name[length - 1] != '_') {
        return TAPER_OK;
    }
    memcpy(name, here->name, length - 1);
    name[length - 1] = '\0';
    const taper_op *found = taper_row_find(name, here->overload);
    if (found == NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_registry_schema(compilation->registry, found, schema, compilation->error));
    bool same = (*schema)->arg_count == here->arg_count && (*schema)->ret_count == 1;
    for (size_t i = 0; same && i < here->arg_count; i++) {
        same = taper_type_equal((*schema)->args[i].type, here->args[i].type);
    }
    *op = same ? found : NULL;
    return TAPER_OK;
}

// Bounds are floats, as those of the kernels and objects that take them.
static bool constant_bounds(const taper_node *node, double bounds[2])
{
    bool any = false;
    for (size_t i = 0; i < 2 && 1 + i < node->input_count; i++) {
        const taper_val *value = taper_node_constant_in(node, 1 + i);
        if (value == NULL) {
            return false;
        }
        if (value->tag == TAPER_NONE) {
            continue;
        }
        if (!taper_node_constant_is_number(node, 1 + i, &bounds[i]) ||
            !(fabs(bounds[i]) <= FLT_MAX || isinf(bounds[i]))) {
            return false;
        }
        any = true;
    }
    return any; // without either the operator raises
}

bool taper_node_bounds(const taper_node *node, double bounds[2])
{
    bounds[0] = -(double)INFINITY;
    bounds[1] = (double)INFINITY;
    if (node->kind != TAPER_NODE_OP || node->schema->out_count != 0) {
        return false;
    }
    switch (TAPER_FIELD(taper_node_facts(node), FUNCTION)) {
    case TAPER_FUNCTION_RELU6:
        bounds[1] = 6;
        bounds[0] = 0;
        return true;
    case TAPER_FUNCTION_RELU:
        bounds[0] = 0;
        return true;
    case TAPER_FUNCTION_CLAMP:
        return constant_bounds(node, bounds);
    default:
        return false;
    }
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
    (*made)->node->number = TAPER_CONSTANT_FROZEN;
    return TAPER_OK;
}

void taper_node_replace(taper_node *old, taper_node *with)
{
    taper_value_replace_uses(&old->outputs[0], &with->outputs[0]);
    taper_node_remove(old);
}
