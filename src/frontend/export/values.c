// SPDX-License-Identifier: BSD-2-Clause
// Makes values for the arguments of nodes, converted to the operator's types by Python's rules.
#include "frontend/export/parts.h"

#include "ir/tensor.h"

const taper_pt2_argument *taper_export_argument(const taper_pt2_node *node, const char *name, size_t position)
{
    for (size_t i = 0; i < node->input_count; i++) {
        if (strcmp(node->inputs[i].name, name) == 0) {
            return &node->inputs[i].argument;
        }
    }
    const bool unnamed = position < node->input_count && node->inputs[position].name[0] == '\0';
    return unnamed ? &node->inputs[position].argument : NULL;
}

const taper_type *taper_export_type(const taper_pt2_value *value)
{
    switch (value->type) {
    case TAPER_PT2_TYPE_INT:
        return &taper_type_int;
    case TAPER_PT2_TYPE_FLOAT:
        return &taper_type_float;
    case TAPER_PT2_TYPE_BOOL:
        return &taper_type_bool;
    case TAPER_PT2_TYPE_TENSOR:
        return &taper_type_tensor;
    default:
        return &taper_type_any;
    }
}

// Makes a tensor from a Python number. Type promotion treats the new tensor as a number.
static taper_status number_tensor(taper_export_lowering *l, const taper_pt2_argument *argument, taper_ir_value **value)
{
    const bool is_float = argument->kind == TAPER_PT2_FLOAT;
    const taper_dtype dtype = is_float ? TAPER_F64 : argument->kind == TAPER_PT2_INT ? TAPER_I64 : TAPER_BOOL;
    taper_tensor *tensor;
    TAPER_TRY(taper_tensor_new(l->emit.heap, dtype, 0, NULL, NULL, &tensor, l->emit.error));
    void *data = taper_tensor_mutable(tensor);
    if (is_float) {
        *(double *)data = argument->as.f;
    } else if (dtype == TAPER_I64) {
        *(int64_t *)data = argument->as.i;
    } else {
        *(uint8_t *)data = argument->as.i != 0;
    }
    tensor->wrapped_number = true;
    return taper_emit_constant(&l->emit, TAPER_VAL(tensor), value);
}

static taper_status dtype_value(taper_export_lowering *l, const taper_pt2_argument *argument, taper_ir_value **value)
{
    if (argument->kind == TAPER_PT2_DTYPE &&
        (argument->as.i < 0 || taper_dtype_size((taper_dtype)argument->as.i) == 0)) {
        return taper_export_refuse(l, "dtype %s is not supported", taper_pt2_dtype_name((int)argument->as.i));
    }
    return taper_emit_constant(&l->emit, taper_val_int(argument->as.i), value);
}

static taper_status list_value(taper_export_lowering *l, const taper_export_scope *scope,
                               const taper_pt2_argument *argument, const taper_type *type, taper_ir_value **value)
{
    const taper_type *of = NULL;
    if (type != NULL && type->kind == TAPER_TYPE_LIST) {
        of = type->items[0];
    } else if (argument->of == TAPER_PT2_VALUE) {
        of = &taper_type_tensor;
    } else if (argument->of == TAPER_PT2_FLOAT) {
        of = &taper_type_float;
    } else if (argument->of == TAPER_PT2_BOOL) {
        of = &taper_type_bool;
    } else if (argument->of == TAPER_PT2_STRING) {
        of = &taper_type_string;
    } else {
        of = &taper_type_int;
    }
    const taper_type *const items_type[] = {of}, *list;
    taper_ir_value **items;
    TAPER_TRY(taper_type_make(l->module->types, TAPER_TYPE_LIST, NULL, items_type, NULL, 1, &list, l->emit.error));
    TAPER_TRY(taper_emit_values(&l->emit, argument->count, &items));
    for (size_t i = 0; i < argument->count; i++) {
        TAPER_TRY(taper_export_value(l, scope, &argument->as.items[i], of, &items[i]));
    }
    return taper_emit_container(&l->emit, TAPER_NODE_LIST, list, items, argument->count, value);
}

// Makes a list with one item, for parameters such as int[2] stride=1.
static taper_status list_of_one(taper_export_lowering *l, const taper_export_scope *scope,
                                const taper_pt2_argument *argument, const taper_type *type, taper_ir_value **value)
{
    taper_ir_value *item;
    TAPER_TRY(taper_export_value(l, scope, argument, type->items[0], &item));
    return taper_emit_container(&l->emit, TAPER_NODE_LIST, type, &item, 1, value);
}

static taper_status constant(taper_export_lowering *l, taper_val value, taper_ir_value **made)
{
    return taper_emit_constant(&l->emit, value, made);
}

// Gets the value that a node has made, converted to the type of the parameter.
static taper_status made_value(taper_export_lowering *l, const taper_export_scope *scope, size_t number,
                               unsigned wanted, taper_ir_value **value)
{
    const taper_pt2_value *named = &scope->graph->values[number];
    *value = scope->values[number];
    if (*value == NULL) {
        return taper_export_refuse(l, "%.100s has no value yet", named->name);
    }
    const bool is_int = named->type == TAPER_PT2_TYPE_INT;
    if (wanted == TAPER_TYPE_TENSOR && (is_int || named->type == TAPER_PT2_TYPE_FLOAT)) {
        return TAPER_EMIT_CALL(&l->emit, TAPER_OP(prim_NumToTensor_Scalar), value, *value);
    }
    return wanted == TAPER_TYPE_FLOAT && is_int ? TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_Float_int), value, *value)
                                                : TAPER_OK;
}

taper_status taper_export_value(taper_export_lowering *l, const taper_export_scope *scope,
                                const taper_pt2_argument *argument, const taper_type *type, taper_ir_value **value)
{
    while (type != NULL && type->kind == TAPER_TYPE_OPTIONAL) {
        type = type->items[0];
    }
    const unsigned wanted = type != NULL ? type->kind : TAPER_TYPE_ANY;
    const bool is_number =
        argument->kind == TAPER_PT2_INT || argument->kind == TAPER_PT2_FLOAT || argument->kind == TAPER_PT2_BOOL;
    if (wanted == TAPER_TYPE_TENSOR && is_number) {
        return number_tensor(l, argument, value);
    }
    if (wanted == TAPER_TYPE_LIST && argument->kind != TAPER_PT2_LIST && argument->kind != TAPER_PT2_NONE) {
        return list_of_one(l, scope, argument, type, value);
    }
    switch (argument->kind) {
    case TAPER_PT2_NONE:
        return constant(l, taper_val_none(), value);
    case TAPER_PT2_VALUE:
        return made_value(l, scope, argument->as.value, wanted, value);
    case TAPER_PT2_INT:
        return constant(l,
                        wanted == TAPER_TYPE_FLOAT  ? taper_val_double((double)argument->as.i)
                        : wanted == TAPER_TYPE_BOOL ? taper_val_bool(argument->as.i != 0)
                                                    : taper_val_int(argument->as.i),
                        value);
    case TAPER_PT2_FLOAT:
        return constant(l, taper_val_double(argument->as.f), value);
    case TAPER_PT2_BOOL:
        return constant(
            l, wanted == TAPER_TYPE_INT ? taper_val_int(argument->as.i) : taper_val_bool(argument->as.i != 0), value);
    case TAPER_PT2_COMPLEX: {
        taper_complex *number = taper_complex_new(l->emit.heap, argument->as.complex[0], argument->as.complex[1]);
        return number != NULL ? constant(l, TAPER_VAL(number), value) : taper_fail_memory(l->emit.error);
    }
    case TAPER_PT2_STRING:
        return taper_emit_text(&l->emit, argument->as.text, value);
    case TAPER_PT2_DTYPE:
    case TAPER_PT2_MEMORY_FORMAT:
    case TAPER_PT2_LAYOUT:
        return dtype_value(l, argument, value);
    case TAPER_PT2_DEVICE: // the program runs on the CPU, whatever the device of the export
        return constant(l, taper_val_device(0, -1), value);
    case TAPER_PT2_LIST:
        return list_value(l, scope, argument, type, value);
    default:
        return taper_export_refuse(l, "an argument of a kind that no operator takes");
    }
}

taper_status taper_export_name(taper_export_lowering *l, taper_export_scope *scope, size_t index, taper_ir_value *value)
{
    const taper_pt2_node *node = l->node;
    if (index >= node->output_count || node->outputs[index].kind != TAPER_PT2_VALUE) {
        return TAPER_OK;
    }
    const size_t number = node->outputs[index].as.value;
    if (scope->values[number] != NULL) {
        return taper_export_refuse(l, "%.100s has a value already", scope->graph->values[number].name);
    }
    scope->values[number] = value;
    return TAPER_OK;
}
