// SPDX-License-Identifier: BSD-2-Clause
// Turns each call in the formula of a derivative into a node.
#include "compiler/differentiate_formulas.h"

#include "ops/list/op_table.h"

// ---- values of the program as values of formulas

taper_val taper_ahead_symbol(const taper_ir_value *value)
{
    return (taper_val){.tag = TAPER_UNDEFINED, .as.obj = (taper_obj *)(uintptr_t)value};
}

taper_ir_value *taper_ahead_value(taper_val symbol)
{
    return symbol.tag == TAPER_UNDEFINED ? (taper_ir_value *)(uintptr_t)symbol.as.obj : NULL;
}

static bool has_symbols(const taper_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (taper_ahead_value(list->items[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static taper_status input_of(const taper_ahead_maker *m, taper_val value, taper_ir_value **input);

taper_status taper_ahead_list(const taper_ahead_maker *m, const taper_val *items, size_t count, const taper_type *type,
                              taper_ir_value **made)
{
    taper_node *list;
    taper_ir_value *item;
    TAPER_TRY(taper_node_create(m->before->block->graph, TAPER_NODE_LIST, count, 1, &list, m->a->compilation->error));
    list->type = list->outputs[0].type = type;
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(input_of(m, items[i], &item));
        taper_node_set_input(list, i, item);
    }
    taper_node_insert_before(list, m->before);
    *made = &list->outputs[0];
    return TAPER_OK;
}

// An argument of a call in a formula stands for a value of the program. This function finds or makes that value.
static taper_status input_of(const taper_ahead_maker *m, taper_val value, taper_ir_value **input)
{
    if (taper_ahead_value(value) != NULL) {
        *input = taper_ahead_value(value);
        return TAPER_OK;
    }
    if (value.tag == TAPER_LIST && has_symbols(value.as.list)) {
        const bool ints = value.as.list->element == &taper_type_int;
        return taper_ahead_list(m, value.as.list->items, value.as.list->count,
                                ints ? &taper_type_list_int : &taper_type_list_tensor, input);
    }
    TAPER_TRY(taper_constant_before(m->before, taper_val_retain(value), input, m->a->compilation->error));
    (*input)->node->own.constant.frozen = value.tag == TAPER_LIST;
    return TAPER_OK;
}

taper_status taper_ahead_call_all(const taper_ahead_maker *m, const taper_op *op, const taper_val *args, size_t count,
                                  taper_node **made)
{
    taper_node *node;
    if (op == NULL) {
        TAPER_FAIL(m->a->compilation->error, TAPER_ERROR_UNSUPPORTED, "this build lacks an operator of gradients");
    }
    taper_ir_value *inputs[TAPER_AHEAD_ARGUMENTS];
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(input_of(m, args[i], &inputs[i]));
    }
    TAPER_TRY(taper_op_before(m->a->compilation, m->before, op, &node));
    for (size_t i = 0; i < node->input_count; i++) {
        if (i < count) {
            taper_node_set_input(node, i, inputs[i]);
            continue;
        }
        taper_ir_value *input;
        TAPER_TRY(taper_constant_before(node, taper_val_retain(node->schema->args[i].default_value), &input,
                                        m->a->compilation->error));
        taper_node_set_input(node, i, input);
    }
    *made = node;
    return TAPER_OK;
}

taper_status taper_ahead_call(const taper_ahead_maker *m, const taper_op *op, const taper_val *args, size_t count,
                              taper_ir_value **result)
{
    taper_node *node;
    TAPER_TRY(taper_ahead_call_all(m, op, args, count, &node));
    *result = &node->outputs[0];
    return TAPER_OK;
}

static bool is_one(taper_val value)
{
    const taper_ir_value *const symbol = taper_ahead_value(value);
    const taper_node *const constant = symbol != NULL ? taper_value_constant(symbol) : NULL;
    const taper_val number = constant != NULL ? constant->constant : value;
    return number.tag == TAPER_INT && number.as.i == 1;
}

// Returns true if the node has one tensor argument, and its result has the sizes and dtype of this tensor whenever the
// tensor is float.
static bool keeps_shape(const taper_node *node)
{
    size_t tensors = 0;
    for (size_t i = 0; i < node->schema->arg_count; i++) {
        const taper_type *const type = node->schema->args[i].type;
        tensors += type->kind == TAPER_TYPE_TENSOR ||
                           (type->kind == TAPER_TYPE_OPTIONAL && type->items[0]->kind == TAPER_TYPE_TENSOR)
                       ? 1
                       : 0;
    }
    const unsigned result = TAPER_FIELD(taper_node_facts(node), RESULT);
    return tensors == 1 && taper_node_has(node, TAPER_OP_ELEMENTWISE) && result == TAPER_RESULT_FLOAT;
}

// Returns true if an operator of a composition has no derivative although it may need one.
static bool hides(const taper_op *op)
{
    const taper_gradient *const gradient = taper_gradient_find(op);
    return op != TAPER_OP(aten_detach) && op != TAPER_OP(aten_ones_like) &&
           (gradient == NULL || taper_gradient_is_none(gradient));
}

// Makes the node for a call in a formula.
static taper_status make_formula_call(void *user, const taper_op *op, taper_val *args, size_t arg_count,
                                      taper_val *rets, size_t ret_count)
{
    const taper_ahead_maker *const m = user;
    taper_node *node;
    if ((op == TAPER_OP(aten_mul_Scalar) && is_one(args[1])) ||
        (op == TAPER_OP(taper_sum_to) && !m->composes && keeps_shape(m->node))) {
        rets[0] = args[0];
        return TAPER_OK;
    }
    if (m->composes && hides(op)) {
        taper_ahead_decline(m->a, "the steps of an operator are not known");
    }
    TAPER_TRY(taper_ahead_call_all(m, op, args, arg_count, &node));
    for (size_t i = 0; i < ret_count; i++) {
        rets[i] = taper_ahead_symbol(&node->outputs[i]);
    }
    return TAPER_OK;
}

// ---- what formulas read

void taper_ahead_check_elements(taper_ahead *a, taper_ir_value *value)
{
    value = taper_ahead_root(value);
    if (taper_value_is_plain(value)) {
        return;
    }
    if (value->node != NULL && value->node->kind == TAPER_NODE_LIST) {
        if (value->node->input_count > TAPER_AHEAD_MOST) {
            taper_ahead_decline(a, "a list has too many items");
            return;
        }
        for (size_t i = 0; i < value->node->input_count; i++) {
            if (taper_node_in(value->node, i)->node != value->node) {
                taper_ahead_check_elements(a, taper_node_in(value->node, i));
            }
        }
        return;
    }
    if (taper_ahead_has(a, value, TAPER_AHEAD_OVERWRITTEN) || a->written[taper_aliases_set(a->aliases, value)]) {
        taper_ahead_decline(a, "a tensor that a gradient reads is overwritten");
    }
}

taper_status taper_ahead_shape(taper_ahead *a, taper_ir_value *value, taper_val *shape)
{
    value = taper_ahead_root(value);
    taper_ir_value **const known = value->id < a->value_count ? &a->shapes[value->id] : NULL;
    if (value->node == NULL || value->block != a->block || value->node->kind == TAPER_NODE_CONSTANT || known == NULL) {
        *shape = taper_ahead_symbol(value);
        return TAPER_OK;
    }
    if (*known == NULL) {
        const taper_ahead_maker m = {.a = a, .before = value->node->next};
        const taper_val tensor = taper_ahead_symbol(value);
        TAPER_TRY(taper_ahead_call(&m, TAPER_OP(taper_shape_of), &tensor, 1, known));
    }
    *shape = taper_ahead_symbol(*known);
    return TAPER_OK;
}

// Finds the value that formulas get in place of an argument if they read only the argument's sizes.
static taper_status shape_of_argument(const taper_ahead_maker *m, size_t arg, taper_val *shape)
{
    taper_ir_value *const value = taper_node_in(m->node, arg);
    const taper_type *const type = m->node->schema->args[arg].type;
    *shape = taper_ahead_symbol(value);
    if (!taper_value_is_plain(value) && m->a->written[taper_aliases_set(m->a->aliases, taper_ahead_root(value))]) {
        taper_ahead_decline(m->a, "a tensor whose sizes a gradient reads is written to");
    }
    if (type->kind == TAPER_TYPE_TENSOR) {
        return taper_ahead_shape(m->a, value, shape);
    }
    if (type->kind != TAPER_TYPE_LIST || type->items[0]->kind != TAPER_TYPE_TENSOR || value->node == NULL ||
        value->node->kind != TAPER_NODE_LIST || value->node->input_count > TAPER_AHEAD_ITEMS) {
        return TAPER_OK;
    }
    taper_val items[TAPER_AHEAD_ITEMS];
    taper_ir_value *list;
    for (size_t i = 0; i < value->node->input_count; i++) {
        TAPER_TRY(taper_ahead_shape(m->a, taper_node_in(value->node, i), &items[i]));
    }
    TAPER_TRY(taper_ahead_list(m, items, value->node->input_count, &taper_type_list_tensor, &list));
    *shape = taper_ahead_symbol(list);
    return TAPER_OK;
}

// ---- formulas

// If the only target of the formula is a list, notes for which of its items the gradient is wanted, and returns the
// number of items in the list. Otherwise returns 0.
static size_t mask_items(const taper_ahead_maker *m, uint32_t targets, bool *items)
{
    size_t arg = 0;
    while ((targets >> arg & 1) == 0) {
        arg++;
    }
    const taper_node *const list = taper_node_in(m->node, arg)->node;
    if ((targets & (targets - 1)) != 0 || list == NULL || list->kind != TAPER_NODE_LIST ||
        list->input_count > TAPER_AHEAD_ITEMS) {
        return 0;
    }
    for (size_t i = 0; i < list->input_count; i++) {
        items[i] = taper_ahead_has(m->a, taper_ahead_root(taper_node_in(list, i)), TAPER_AHEAD_WANTED);
    }
    return list->input_count;
}

taper_status taper_ahead_run_formula(const taper_ahead_maker *m, const taper_gradient_formula *formula, uint32_t wanted,
                                     const taper_val *grads, size_t grad_count, taper_val *found)
{
    taper_val args[32], shapes[32], results[16];
    bool items[TAPER_AHEAD_ITEMS];
    const taper_node *const node = m->node;
    taper_gradient_reads reads = {.results = 0};
    taper_gradient_add_reads(formula, &reads);
    taper_gradient_leave_factors(node->op, wanted, &reads);
    for (size_t i = 0; i < node->input_count && i < 32; i++) {
        args[i] = shapes[i] = taper_ahead_symbol(taper_node_in(node, i));
        if ((reads.shapes >> i & 1) != 0 && !m->composes) {
            TAPER_TRY(shape_of_argument(m, i, &shapes[i]));
            args[i] = (reads.arguments >> i & 1) == 0 ? shapes[i] : args[i];
        }
        if ((reads.arguments >> i & 1) != 0 && !m->composes) {
            taper_ahead_check_elements(m->a, taper_node_in(node, i));
        }
    }
    for (size_t i = 0; i < node->output_count && i < 16; i++) {
        results[i] = taper_ahead_symbol(&node->outputs[i]);
        if ((reads.results >> i & 1) != 0) {
            taper_ahead_check_elements(m->a, &node->outputs[i]);
        }
    }
    const size_t item_count = m->composes ? 0 : mask_items(m, formula->targets, items);
    const taper_formula_values values = {.args = args,
                                         .shapes = shapes,
                                         .results = results,
                                         .grads = grads,
                                         .grad_count = grad_count,
                                         .wanted = wanted,
                                         .items = item_count != 0 ? items : NULL,
                                         .item_count = item_count,
                                         .call = make_formula_call,
                                         .user = (void *)(uintptr_t)m,
                                         .heap = m->a->compilation->module->heap,
                                         .registry = m->a->compilation->registry,
                                         .error = m->a->compilation->error};
    return taper_formula_run(formula, &values, found);
}

// Replaces linalg_norm by the norm of vectors. The two are equal for one dimension, or if neither an order nor
// dimensions are given.
static taper_status norm_of_vectors(const taper_ahead_maker *m, taper_node *node, bool *done)
{
    *done = false;
    if (!taper_node_calls(node, TAPER_OP(aten_linalg_norm))) {
        return TAPER_OK;
    }
    const taper_val *const ord = taper_node_constant_in(node, 1), *const dims = taper_node_constant_in(node, 2);
    const taper_node *const list = taper_node_in(node, 2)->node;
    const bool one = (dims != NULL && dims->tag == TAPER_LIST && dims->as.list->count == 1) ||
                     (list != NULL && list->kind == TAPER_NODE_LIST && list->input_count == 1);
    const bool all = dims != NULL && dims->tag == TAPER_NONE && ord != NULL && ord->tag == TAPER_NONE;
    *done = ord != NULL && (one || all);
    if (!*done) {
        return TAPER_OK;
    }
    taper_val args[5];
    for (size_t i = 0; i < 5; i++) {
        args[i] = taper_ahead_symbol(taper_node_in(node, i));
    }
    args[1] = ord->tag == TAPER_NONE ? taper_val_int(2) : args[1];
    taper_ir_value *with;
    TAPER_TRY(taper_ahead_call(m, TAPER_OP(aten_linalg_vector_norm), args, 5, &with));
    taper_value_replace_uses(&node->outputs[0], with);
    return TAPER_OK;
}

taper_status taper_ahead_compose(taper_ahead *a, taper_node *node)
{
    bool done;
    const taper_ahead_maker m = {.a = a, .before = node, .node = node, .composes = true};
    const taper_gradient *const gradient = taper_gradient_find(node->op);
    if (node->schema->out_count != 0 || node->schema->in_place || node->input_count > 32 || node->output_count > 16) {
        taper_ahead_decline(a, "a composition would write to an argument");
        return TAPER_OK;
    }
    TAPER_TRY(norm_of_vectors(&m, node, &done));
    if (done) {
        return TAPER_OK;
    }
    taper_gradient_formula formula = {.end = NULL};
    taper_ir_value *with[32] = {NULL};
    taper_status status = TAPER_OK;
    while (status == TAPER_OK && taper_gradient_next(gradient, &formula)) {
        taper_val found[32];
        size_t at = 0;
        status = taper_ahead_run_formula(&m, &formula, UINT32_MAX, NULL, 0, found);
        for (size_t i = 0; i < 32; i++) {
            if ((formula.targets >> i & 1) != 0) {
                with[i] = taper_ahead_value(found[at]);
                taper_val_release(found[at++]);
            }
        }
    }
    for (size_t i = 0; i < node->output_count && status == TAPER_OK && a->why == NULL; i++) {
        if (with[i] != NULL) {
            taper_value_replace_uses(&node->outputs[i], with[i]);
        }
    }
    return status;
}
