// SPDX-License-Identifier: BSD-2-Clause
// Lowers arithmetic on symbolic sizes: Python's operators and PyTorch's sym_ functions on integers, floats and bools.
#include "frontend/export/parts.h"

typedef struct symbol_row {
    const char *target, *name; // name of Python's function; name of the operator whose overloads take the same types
    uint8_t operands;
} symbol_row;

static const symbol_row rows[] = {
    {"_operator.add", "aten::add", 2},     {"_operator.sub", "aten::sub", 2},
    {"_operator.mul", "aten::mul", 2},     {"_operator.floordiv", "aten::floordiv", 2},
    {"_operator.truediv", "aten::div", 2}, {"_operator.mod", "aten::remainder", 2},
    {"_operator.pow", "aten::pow", 2},     {"_operator.eq", "aten::eq", 2},
    {"_operator.ne", "aten::ne", 2},       {"_operator.lt", "aten::lt", 2},
    {"_operator.le", "aten::le", 2},       {"_operator.gt", "aten::gt", 2},
    {"_operator.ge", "aten::ge", 2},       {"_operator.and_", "aten::__and__", 2},
    {"_operator.or_", "aten::__or__", 2},  {"_operator.xor", "aten::__xor__", 2},
    {"_operator.neg", "aten::neg", 1},     {"_operator.not_", "aten::__not__", 1},
    {"builtins.abs", "prim::abs", 1},      {"builtins.max", "prim::max", 2},
    {"builtins.min", "prim::min", 2},      {"math.ceil", "aten::ceil", 1},
    {"math.floor", "aten::floor", 1},      {"math.trunc", "aten::Int", 1},
    {"math.sqrt", "aten::sqrt", 1},        {"builtins.round", "aten::round", 1},
    {"torch.sym_int", "aten::Int", 1},     {"torch.sym_float", "aten::Float", 1},
    {"torch.sym_not", "aten::__not__", 1}, {"torch.sym_max", "prim::max", 2},
    {"torch.sym_min", "prim::min", 2},     {"torch._sym_sqrt", "aten::sqrt", 1},
    {"torch.sym_sqrt", "aten::sqrt", 1},
};

static const taper_type *type_of(const taper_ir_value *value)
{
    const taper_node *constant = taper_value_constant(value);
    if (constant == NULL) {
        return value->type != NULL ? value->type : &taper_type_int;
    }
    return constant->constant.tag == TAPER_DOUBLE    ? &taper_type_float
           : constant->constant.tag == TAPER_BOOLEAN ? &taper_type_bool
                                                     : &taper_type_int;
}

// Finds the overload for operands of these types. If `floats` is true, finds the overload for floats instead.
static taper_status find_overload(taper_export_lowering *l, const char *name, taper_ir_value *const *operands,
                                  size_t count, bool floats, const taper_op **found)
{
    *found = NULL;
    for (const taper_op *op = taper_row_first(name); op != NULL; op = taper_row_next(op)) {
        const taper_schema *schema;
        TAPER_TRY(taper_registry_schema(l->emit.registry, op, &schema, l->emit.error));
        bool fits = schema->arg_count >= count && schema->out_count == 0 && schema->ret_count == 1;
        for (size_t i = 0; fits && i < schema->arg_count; i++) {
            const unsigned kind = floats ? TAPER_TYPE_FLOAT : i < count ? type_of(operands[i])->kind : 0;
            fits = i < count ? schema->args[i].type->kind == kind : schema->args[i].has_default;
        }
        if (fits) {
            *found = op;
            return TAPER_OK;
        }
    }
    return TAPER_OK;
}

static taper_status as_float(taper_export_lowering *l, taper_ir_value **operand)
{
    const unsigned kind = type_of(*operand)->kind;
    if (kind == TAPER_TYPE_FLOAT) {
        return TAPER_OK;
    }
    const taper_op *op = kind == TAPER_TYPE_BOOL ? TAPER_OP(aten_Float_bool) : TAPER_OP(aten_Float_int);
    return TAPER_EMIT_CALL(&l->emit, op, operand, *operand);
}

taper_status taper_export_compute(taper_export_lowering *l, const char *name, taper_ir_value **operands, size_t count,
                                  taper_ir_value **result)
{
    const taper_op *op;
    TAPER_TRY(find_overload(l, name, operands, count, false, &op));
    if (op == NULL) {
        TAPER_TRY(find_overload(l, name, operands, count, true, &op));
        for (size_t i = 0; op != NULL && i < count; i++) {
            TAPER_TRY(as_float(l, &operands[i]));
        }
    }
    if (op == NULL) {
        return taper_export_refuse(l, "it is not supported of numbers of these types");
    }
    return taper_emit_call(&l->emit, op, operands, count, result);
}

static taper_status choose(taper_export_lowering *l, taper_ir_value *const *operands, taper_ir_value **result)
{
    taper_node *node;
    TAPER_TRY(taper_emit_node(&l->emit, TAPER_NODE_IF, 1, 1, &node));
    taper_node_set_input(node, 0, operands[0]);
    node->block_count = 2;
    for (size_t i = 0; i < 2; i++) {
        TAPER_TRY(taper_block_create(l->emit.graph, node, 0, &node->blocks[i], l->emit.error));
        TAPER_TRY(taper_block_set_results(node->blocks[i], &operands[1 + i], 1, l->emit.error));
    }
    *result = &node->outputs[0];
    (*result)->type = type_of(operands[1]);
    return TAPER_OK;
}

static taper_status operand(taper_export_lowering *l, const taper_export_scope *scope, size_t at,
                            taper_ir_value **value)
{
    if (at >= l->node->input_count) {
        return taper_export_refuse(l, "it has too few arguments");
    }
    return taper_export_value(l, scope, &l->node->inputs[at].argument, NULL, value);
}

static taper_status sum(taper_export_lowering *l, const taper_export_scope *scope, taper_ir_value **result)
{
    const taper_pt2_argument *list = l->node->input_count != 0 ? &l->node->inputs[0].argument : NULL;
    if (list == NULL || list->kind != TAPER_PT2_LIST || list->count == 0) {
        return taper_export_refuse(l, "a list was expected");
    }
    TAPER_TRY(taper_export_value(l, scope, &list->as.items[0], NULL, result));
    for (size_t i = 1; i < list->count; i++) {
        taper_ir_value *pair[2] = {*result};
        TAPER_TRY(taper_export_value(l, scope, &list->as.items[i], NULL, &pair[1]));
        TAPER_TRY(taper_export_compute(l, "aten::add", pair, 2, result));
    }
    return TAPER_OK;
}

// Returns true if the target is a power that is an int in Python. aten::pow returns a float for ints, so the caller
// then converts its result with aten::Int.
static bool whole_power(const char *target, taper_ir_value *const *operands)
{
    if (strcmp(target, "_operator.pow") != 0 || type_of(operands[0])->kind != TAPER_TYPE_INT ||
        type_of(operands[1])->kind != TAPER_TYPE_INT) {
        return false;
    }
    const taper_node *exponent = taper_value_constant(operands[1]);
    // An exponent that is not constant cannot be negative: a guard of PyTorch ensures this.
    return exponent == NULL || exponent->constant.as.i >= 0;
}

// Applies a target to these operands. *result remains NULL if the target is not supported.
taper_status taper_export_apply(taper_export_lowering *l, const char *target, taper_ir_value **operands, size_t count,
                                taper_ir_value **result)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(rows[i].target, target) != 0 || rows[i].operands != count) {
            continue;
        }
        // True for rounding of an integer, which does not change the integer.
        const bool whole = count == 1 && type_of(operands[0])->kind == TAPER_TYPE_INT &&
                           (strncmp(target, "math.", 5) == 0 || strcmp(target, "torch.sym_int") == 0 ||
                            strcmp(target, "builtins.round") == 0) &&
                           strcmp(target, "math.sqrt") != 0;
        const bool power = whole_power(target, operands);
        *result = operands[0];
        if (!whole) {
            TAPER_TRY(taper_export_compute(l, rows[i].name, operands, count, result));
        }
        return power ? taper_export_compute(l, "aten::Int", result, 1, result) : TAPER_OK;
    }
    if (strcmp(target, "torch.sym_ite") == 0 && count == 3) {
        return choose(l, operands, result);
    }
    return TAPER_OK;
}

taper_status taper_export_symbol(taper_export_lowering *l, taper_export_scope *scope, const char *target, bool *done)
{
    enum { MOST = 3 };
    taper_ir_value *operands[MOST], *result = NULL;
    const size_t count = l->node->input_count;
    if (strcmp(target, "torch.sym_sum") == 0) {
        TAPER_TRY(sum(l, scope, &result));
    } else if (count <= MOST && strncmp(target, "torch.ops.", 10) != 0) {
        for (size_t i = 0; i < count; i++) {
            TAPER_TRY(operand(l, scope, i, &operands[i]));
        }
        TAPER_TRY(taper_export_apply(l, target, operands, count, &result));
    }
    *done = result != NULL;
    return result != NULL ? taper_export_name(l, scope, 0, result) : TAPER_OK;
}
