// SPDX-License-Identifier: BSD-2-Clause
// Appends nodes to a graph (emit.h). After a failure of a function of this file the graph may contain an incomplete
// node, so the caller must drop the graph.
#include "ops/call/emit.h"

#include "ir/effects.h"

taper_status taper_emit_node(const taper_emitter *e, taper_node_kind kind, size_t inputs, size_t outputs,
                             taper_node **node)
{
    TAPER_TRY(taper_node_create(e->graph, kind, inputs, outputs, node, e->error));
    (*node)->debug = e->debug;
    (*node)->instruction = e->instruction;
    taper_node_append(e->block, *node);
    return TAPER_OK;
}

taper_status taper_emit_constant(const taper_emitter *e, taper_val value, taper_ir_value **made)
{
    taper_node *node;
    TAPER_TRY(taper_node_constant(e->graph, value, &node, e->error));
    node->debug = e->debug;
    node->instruction = e->instruction;
    taper_node_append(e->block, node);
    *made = &node->outputs[0];
    return TAPER_OK;
}

taper_status taper_emit_text(const taper_emitter *e, const char *text, taper_ir_value **made)
{
    taper_string *string = taper_string_new(e->heap, text, strlen(text));
    return string != NULL ? taper_emit_constant(e, TAPER_VAL(string), made) : taper_fail_memory(e->error);
}

taper_status taper_emit_values(const taper_emitter *e, size_t count, taper_ir_value ***values)
{
    *values = taper_arena_array(&e->graph->arena, count, sizeof **values);
    return *values == NULL && count != 0 ? taper_fail_memory(e->error) : TAPER_OK;
}

taper_status taper_emit_container(const taper_emitter *e, taper_node_kind kind, const taper_type *type,
                                  taper_ir_value *const *items, size_t count, taper_ir_value **made)
{
    taper_node *node;
    TAPER_TRY(taper_emit_node(e, kind, count, 1, &node));
    node->type = kind == TAPER_NODE_TUPLE && type->name == NULL ? NULL : type;
    node->outputs[0].type = type;
    for (size_t i = 0; i < count; i++) {
        taper_node_set_input(node, i, items[i]);
    }
    *made = &node->outputs[0];
    return TAPER_OK;
}

taper_status taper_emit_int_list(const taper_emitter *e, const int64_t *numbers, size_t count, taper_ir_value **made)
{
    taper_ir_value **items;
    TAPER_TRY(taper_emit_values(e, count, &items));
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_emit_constant(e, taper_val_int(numbers[i]), &items[i]));
    }
    return taper_emit_container(e, TAPER_NODE_LIST, &taper_type_list_int, items, count, made);
}

taper_status taper_emit_call(const taper_emitter *e, const taper_op *op, taper_ir_value *const *args, size_t count,
                             taper_ir_value **made)
{
    const taper_schema *schema;
    taper_node *node;
    if (op == NULL) {
        TAPER_FAIL(e->error, TAPER_ERROR_UNSUPPORTED, "an operator that the model needs is left out of this build");
    }
    TAPER_TRY(taper_registry_schema(e->registry, op, &schema, e->error));
    taper_ir_value **values;
    TAPER_TRY(taper_emit_values(e, schema->arg_count, &values));
    for (size_t i = 0; i < schema->arg_count; i++) {
        values[i] = i < count ? args[i] : NULL;
        if (values[i] == NULL) {
            TAPER_TRY(taper_emit_constant(e, taper_val_retain(schema->args[i].default_value), &values[i]));
        }
    }
    TAPER_TRY(taper_node_create(e->graph, TAPER_NODE_OP, schema->arg_count, schema->ret_count, &node, e->error));
    taper_node_set_op(node, op, schema);
    node->debug = e->debug;
    node->instruction = e->instruction;
    for (size_t i = 0; i < schema->arg_count; i++) {
        taper_node_set_input(node, i, values[i]);
    }
    for (size_t i = 0; i < schema->ret_count; i++) {
        node->outputs[i].type = schema->rets[i].type;
    }
    taper_node_append(e->block, node);
    *made = node->output_count != 0 ? &node->outputs[0] : NULL;
    return TAPER_OK;
}

taper_status taper_emit_assert(taper_emitter *e, taper_ir_value *condition, const char *text)
{
    taper_ir_value *message, *raised;
    taper_node *branch;
    taper_block *const block = e->block;
    TAPER_TRY(taper_emit_node(e, TAPER_NODE_IF, 1, 0, &branch));
    taper_node_set_input(branch, 0, condition);
    branch->block_count = 2;
    TAPER_TRY(taper_block_create(e->graph, branch, 0, &branch->blocks[0], e->error));
    TAPER_TRY(taper_block_create(e->graph, branch, 0, &branch->blocks[1], e->error));
    e->block = branch->blocks[1];
    taper_status status = taper_emit_text(e, text, &message);
    if (status == TAPER_OK) {
        status = TAPER_EMIT_CALL(e, TAPER_OP(prim_RaiseException), &raised, message);
    }
    e->block = block;
    return status;
}

taper_status taper_emit_expect(taper_emitter *e, const taper_op *compare, taper_ir_value *a, taper_ir_value *b,
                               const char *text)
{
    taper_ir_value *same;
    TAPER_TRY(TAPER_EMIT_CALL(e, compare, &same, a, b));
    return taper_emit_assert(e, same, text);
}

taper_status taper_emit_expect_sizes(taper_emitter *e, taper_ir_value *x, size_t rank, const int64_t *sizes,
                                     const char *text)
{
    taper_ir_value *have, *want;
    bool open = false;
    for (size_t d = 0; d < rank; d++) {
        open = open || sizes[d] == 0;
    }
    if (!open) {
        TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_size), &have, x));
        TAPER_TRY(taper_emit_int_list(e, sizes, rank, &want));
        return taper_emit_expect(e, TAPER_OP(aten_eq_int_list), have, want, text);
    }
    TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_dim), &have, x));
    TAPER_TRY(taper_emit_constant(e, taper_val_int((int64_t)rank), &want));
    TAPER_TRY(taper_emit_expect(e, TAPER_OP(aten_eq_int), have, want, text));
    for (size_t d = 0; d < rank; d++) {
        if (sizes[d] != 0) {
            TAPER_TRY(taper_emit_constant(e, taper_val_int((int64_t)d), &want));
            TAPER_TRY(TAPER_EMIT_CALL(e, TAPER_OP(aten_size_int), &have, x, want));
            TAPER_TRY(taper_emit_constant(e, taper_val_int(sizes[d]), &want));
            TAPER_TRY(taper_emit_expect(e, TAPER_OP(aten_eq_int), have, want, text));
        }
    }
    return TAPER_OK;
}
