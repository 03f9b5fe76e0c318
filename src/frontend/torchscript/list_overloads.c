// SPDX-License-Identifier: BSD-2-Clause
// For `taper ops`: selects the overload of operators on numbers after functions were inlined.
#include "frontend/torchscript/list.h"
#include "ir/effects.h"
#include "ops/list/op_names.h"
#include "ops/list/op_table.h"

const taper_type *taper_ts_type_in_graph(const taper_ir_value *value)
{
    const taper_node *constant = taper_value_constant(value);
    switch (constant != NULL ? constant->constant.tag : TAPER_UNDEFINED) {
    case TAPER_NONE:
        return &taper_type_none;
    case TAPER_INT:
        return &taper_type_int;
    case TAPER_DOUBLE:
        return &taper_type_float;
    case TAPER_BOOLEAN:
        return &taper_type_bool;
    case TAPER_STRING:
        return &taper_type_string;
    default:
        return value->type;
    }
}

static bool is_number(const taper_type *type)
{
    return type->kind == TAPER_TYPE_INT || type->kind == TAPER_TYPE_FLOAT || type->kind == TAPER_TYPE_BOOL ||
           type->kind == TAPER_TYPE_COMPLEX || type->kind == TAPER_TYPE_NUMBER;
}

// Finds the overload for the actual types. Inside a function, the declared types may have selected the overload for any
// two numbers. PyTorch selects the overload again after inlining.
static taper_status find_overload(taper_ts_lowering *l, taper_node *node)
{
    bool fits = node->schema->arg_count == 2 && node->input_count == 2;
    for (size_t i = 0; fits && i < 2; i++) {
        fits = node->schema->args[i].type == &taper_type_number;
    }
    for (const taper_op *op = fits ? taper_row_first(node->schema->name) : NULL; op != NULL; op = taper_row_next(op)) {
        const taper_schema *schema;
        TAPER_TRY(taper_registry_schema(l->unit->registry, op, &schema, l->unit->error));
        fits = schema->arg_count == 2 && !schema->vararg;
        for (size_t i = 0; fits && i < 2; i++) {
            const taper_type *type = taper_ts_type_in_graph(taper_node_in(node, i));
            fits = type != NULL && is_number(schema->args[i].type) && taper_ts_subtype(l, type, schema->args[i].type);
        }
        if (fits) {
            taper_node_set_op(node, op, schema);
            return TAPER_OK;
        }
    }
    return TAPER_OK;
}

static taper_status find_overloads(taper_ts_lowering *l, const taper_block *block)
{
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(find_overloads(l, node->blocks[b]));
        }
        if (node->kind == TAPER_NODE_OP) {
            TAPER_TRY(find_overload(l, node));
        }
    }
    return TAPER_OK;
}

taper_status taper_ts_list_overloads(taper_ts_lowering *l)
{
    return find_overloads(l, l->graph->body);
}
