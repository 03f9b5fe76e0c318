// SPDX-License-Identifier: BSD-2-Clause
// Handles programs exported inside autocast for the CPU. Some operators get their floats in the lower dtype, some in
// float32, some in the widest dtype of their arguments. The exported graph does not contain these casts, because
// PyTorch makes them when operators are called.
#include "frontend/export/parts.h"

// Returns true if autocast casts the argument, which must be a tensor of floats other than float64. Sets *dtype to the
// dtype of the tensor, or to TAPER_F64 if the argument is no tensor with a known dtype.
static bool castable(const taper_export_scope *scope, const taper_pt2_argument *argument, int *dtype)
{
    const taper_pt2_meta *meta =
        argument->kind == TAPER_PT2_VALUE ? scope->graph->values[argument->as.value].meta : NULL;
    *dtype = meta != NULL ? meta->dtype : TAPER_F64;
    return *dtype == TAPER_F32 || *dtype == TAPER_F16 || *dtype == TAPER_BF16;
}

// Returns the next argument of a node, or NULL at the end. Items of lists are returned one by one. *input and *item are
// the position.
static const taper_pt2_argument *nth(const taper_pt2_node *node, size_t *input, size_t *item)
{
    while (*input < node->input_count) {
        const taper_pt2_argument *argument = &node->inputs[*input].argument;
        if (argument->kind != TAPER_PT2_LIST) {
            ++*input;
            return argument;
        }
        if (*item < argument->count) {
            return &argument->as.items[(*item)++];
        }
        *item = 0;
        ++*input;
    }
    return NULL;
}

// Fails if autocast has no rule for the operator but has rules for the operators that it consists of, because autocast
// then casts inside of it. An operator counts as such a composition if the dtype of its result is neither the dtype of
// an argument nor given as an argument. A product also counts, unless all of its floats already have the lower dtype.
static taper_status check_others(taper_export_lowering *l, const taper_export_scope *scope, const taper_op *op)
{
    const taper_pt2_node *node = l->node;
    int dtype, result = TAPER_F64;
    bool floats = false, lower = true, found = false;
    if (node->output_count == 0 || !castable(scope, &node->outputs[0], &result)) {
        result = -1;
    }
    size_t input = 0, item = 0;
    for (const taper_pt2_argument *a = nth(node, &input, &item); a != NULL; a = nth(node, &input, &item)) {
        if (castable(scope, a, &dtype)) {
            floats = true;
            lower &= dtype == l->autocast;
            found |= dtype == result;
        }
        found |= a->kind == TAPER_PT2_DTYPE;
    }
    const bool product = op != NULL && taper_op_has(op, TAPER_OP_PRODUCT) && !lower;
    return floats && ((result >= 0 && !found) || product)
               ? taper_export_refuse(l, "it is inside CPU autocast, which casts inside of it: export without "
                                        "autocast, or after run_decompositions()")
               : TAPER_OK;
}

// Copies the values of the node's arguments to `kept`. If `back` is set, copies the values from `kept` to the scope
// instead.
static void exchange(const taper_pt2_node *node, taper_export_scope *scope, taper_ir_value **kept, bool back)
{
    size_t input = 0, item = 0, i = 0;
    for (const taper_pt2_argument *a = nth(node, &input, &item); a != NULL; a = nth(node, &input, &item), i++) {
        if (a->kind == TAPER_PT2_VALUE && back) {
            scope->values[a->as.value] = kept[i];
        } else if (a->kind == TAPER_PT2_VALUE) {
            kept[i] = scope->values[a->as.value];
        }
    }
}

taper_status taper_export_autocast(taper_export_lowering *l, taper_export_scope *scope, const taper_op *op,
                                   const char *name, taper_ir_value ***kept)
{
    // PyTorch casts all overloads of a name in the same way. An operator in place has another name and is not cast.
    const taper_op *row = op != NULL ? op : taper_row_first(name);
    const unsigned what =
        row != NULL && !taper_row_is_in_place(row) ? TAPER_FIELD(taper_op_facts(row), AUTOCAST) : TAPER_AUTOCAST_NONE;
    *kept = NULL;
    if (what == TAPER_AUTOCAST_NONE) {
        return check_others(l, scope, op);
    }
    int to = what == TAPER_AUTOCAST_FLOAT32 ? TAPER_F32 : l->autocast, dtype;
    size_t input = 0, item = 0, count = 0;
    for (const taper_pt2_argument *a = nth(l->node, &input, &item); a != NULL; a = nth(l->node, &input, &item)) {
        count++;
        to = what == TAPER_AUTOCAST_WIDEST && castable(scope, a, &dtype) && dtype == TAPER_F32 ? TAPER_F32 : to;
    }
    TAPER_TRY(taper_charge(l->module->allocator, 3 * (uint64_t)count, l->emit.error));
    TAPER_TRY(taper_emit_values(&l->emit, count + 1, kept));
    exchange(l->node, scope, *kept, false);
    input = item = 0;
    for (const taper_pt2_argument *a = nth(l->node, &input, &item); a != NULL; a = nth(l->node, &input, &item)) {
        taper_ir_value *wanted, *value;
        if (!castable(scope, a, &dtype) || dtype == to) {
            continue;
        }
        TAPER_TRY(taper_emit_constant(&l->emit, taper_val_int(to), &wanted));
        TAPER_TRY(taper_export_value(l, scope, a, &taper_type_tensor, &value));
        TAPER_TRY(TAPER_EMIT_CALL(&l->emit, TAPER_OP(aten_to_dtype), &scope->values[a->as.value], value, wanted));
    }
    return TAPER_OK;
}

void taper_export_uncast(const taper_export_lowering *l, taper_export_scope *scope, taper_ir_value **kept)
{
    exchange(l->node, scope, kept, true);
}
