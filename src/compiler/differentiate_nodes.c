// SPDX-License-Identifier: BSD-2-Clause
// Makes the nodes that compute gradients, from the outputs of a request back to its inputs, as the tape visits its
// nodes (ops/gradient/visit.c).
#include "compiler/differentiate_formulas.h"
#include "ops/list/op_table.h"

// ---- gradients of values

static bool is_owned(const taper_ahead *a, const taper_ir_value *value)
{
    return taper_ahead_has(a, value, TAPER_AHEAD_OWNED);
}

// Returns true if an element-wise node of this visit made the gradient as a new tensor, and nothing uses it yet. Such a
// gradient may also be summed to the shape of an argument, because sum_to returns its argument or a new tensor.
static bool is_new(const taper_ahead_maker *m, const taper_ir_value *grad)
{
    const taper_ir_value *value = grad;
    bool alone = value->uses == NULL && value->id >= m->first;
    if (alone && taper_node_calls(value->node, TAPER_OP(taper_sum_to))) {
        value = taper_node_in(value->node, 0);
        alone = value->id >= m->first && taper_value_used_once(value);
    }
    return alone && taper_value_is_fresh(value) &&
           (taper_node_has(value->node, TAPER_OP_ELEMENTWISE) ||
            taper_node_calls(value->node, TAPER_OP(taper_sum_product)));
}

// Adds `grad` to the gradient of a value. The sum is written to one of the two tensors if nothing else reads this
// tensor, as on the tape.
static taper_status add_grad(const taper_ahead_maker *m, taper_ir_value *value, taper_ir_value *grad)
{
    taper_ahead *const a = m->a;
    value = taper_ahead_root(value);
    if (!taper_ahead_has(a, value, TAPER_AHEAD_WANTED)) {
        return TAPER_OK;
    }
    taper_ir_value **const slot = &a->grads[value->id];
    const bool owned = is_owned(a, value), new = is_new(m, grad);
    if (*slot == NULL) {
        *slot = grad;
        taper_ahead_mark(a, value, new ? TAPER_AHEAD_OWNED : 0);
        return TAPER_OK;
    }
    const taper_val args[2] = {taper_ahead_symbol(!owned && new ? grad : *slot),
                               taper_ahead_symbol(!owned && new ? *slot : grad)};
    const taper_op *const add = owned || new ? TAPER_OP(aten_add__Tensor) : TAPER_OP(aten_add_Tensor);
    TAPER_TRY(taper_ahead_call(m, add, args, 2, slot));
    taper_ahead_mark(a, value, TAPER_AHEAD_OWNED);
    return TAPER_OK;
}

static taper_status zeros_like(const taper_ahead_maker *m, taper_ir_value *value, taper_ir_value **made)
{
    taper_val shape;
    TAPER_TRY(taper_ahead_shape(m->a, value, &shape));
    return taper_ahead_call(m, TAPER_OP(aten_zeros_like), &shape, 1, made);
}

// Gives a value a gradient that may be written to.
static taper_status own_grad(const taper_ahead_maker *m, taper_ir_value *value)
{
    taper_ir_value **const slot = &m->a->grads[value->id];
    if (is_owned(m->a, value)) {
        return TAPER_OK;
    }
    taper_ahead_mark(m->a, value, TAPER_AHEAD_OWNED);
    if (*slot == NULL) {
        return zeros_like(m, value, slot);
    }
    const taper_val args[2] = {taper_ahead_symbol(*slot), taper_val_int(0)};
    return taper_ahead_call(m, TAPER_OP(aten_clone), args, 2, slot);
}

// Adds the gradient of an argument to the gradient of the argument's value. If the argument is a list, adds the
// gradient of each item to the item's gradient.
static taper_status hand_on(const taper_ahead_maker *m, size_t arg, taper_val grad)
{
    taper_ir_value *const value = taper_node_in(m->node, arg);
    const taper_node *const list = value->node != NULL && value->node->kind == TAPER_NODE_LIST ? value->node : NULL;
    taper_ir_value *found = taper_ahead_value(grad);
    if (list == NULL) {
        return found != NULL ? add_grad(m, value, found) : TAPER_OK;
    }
    if (found != NULL) {
        taper_node *unpack;
        TAPER_TRY(taper_node_create(m->before->block->graph, TAPER_NODE_LIST_UNPACK, 1, list->input_count, &unpack,
                                    m->a->compilation->error));
        taper_node_set_input(unpack, 0, found);
        taper_node_insert_before(unpack, m->before);
        for (size_t i = 0; i < list->input_count; i++) {
            TAPER_TRY(add_grad(m, taper_node_in(list, i), &unpack->outputs[i]));
        }
        return TAPER_OK;
    }
    for (size_t i = 0; grad.tag == TAPER_LIST && i < list->input_count && i < grad.as.list->count; i++) {
        found = taper_ahead_value(grad.as.list->items[i]);
        TAPER_TRY(found != NULL ? add_grad(m, taper_node_in(list, i), found) : TAPER_OK);
    }
    return TAPER_OK;
}

// ---- nodes

// The gradients of a node's results, or of the items of its list.
typedef struct results {
    taper_ir_value *values[TAPER_AHEAD_ITEMS]; // results, or items that an unpacking node gives
    taper_val grads[TAPER_AHEAD_ITEMS];
    size_t count, present;
    bool by_index; // true if items are read by their index
} results;

static void read_results(taper_ahead *a, taper_node *node, results *r)
{
    const taper_ir_value *const list = taper_ahead_result_list(node);
    taper_ir_value *outputs = node->outputs;
    r->count = node->output_count;
    r->by_index = false;
    r->present = 0;
    for (const taper_value_use *use = list != NULL ? list->uses : NULL; use != NULL; use = use->next) {
        const bool unpacks = use->user != NULL && use->user->kind == TAPER_NODE_LIST_UNPACK;
        if (unpacks && outputs == node->outputs) {
            outputs = use->user->outputs;
            r->count = use->user->output_count;
        } else if (use->user != NULL && taper_node_calls(use->user, TAPER_OP(aten___getitem___t))) {
            r->by_index = true;
            r->present += taper_ahead_has(a, &use->user->outputs[0], TAPER_AHEAD_WANTED) &&
                                  a->grads[use->user->outputs[0].id] != NULL
                              ? 1
                              : 0;
        } else if (use->user == NULL || taper_ahead_has(a, &use->user->outputs[0], TAPER_AHEAD_REACHED)) {
            taper_ahead_decline(a, "the items of a list are read in another way");
        }
    }
    if (r->count > TAPER_AHEAD_ITEMS) {
        taper_ahead_decline(a, "a list has too many items");
        r->count = 0;
    }
    for (size_t i = 0; i < r->count; i++) {
        taper_ir_value *const grad = outputs[i].id < a->value_count ? a->grads[outputs[i].id] : NULL;
        r->values[i] = &outputs[i];
        r->grads[i] = grad != NULL ? taper_ahead_symbol(grad) : taper_val_none();
        r->present += grad != NULL ? 1 : 0;
    }
}

static taper_status add_to_view(const taper_ahead_maker *m, taper_ir_value *view, taper_ir_value *grad)
{
    taper_ir_value *sum;
    const taper_val args[2] = {taper_ahead_symbol(view), taper_ahead_symbol(grad)};
    return taper_ahead_call(m, TAPER_OP(aten_add__Tensor), args, 2, &sum);
}

// Adds a gradient to item `index` of the list of views.
static taper_status add_to_item(const taper_ahead_maker *m, taper_ir_value *views, taper_val index,
                                taper_ir_value *grad)
{
    taper_ir_value *view;
    const taper_val args[2] = {taper_ahead_symbol(views), index};
    TAPER_TRY(taper_ahead_call(m, TAPER_OP(aten___getitem___t), args, 2, &view));
    return add_to_view(m, view, grad);
}

// Visits an operator that cuts views out of its argument: adds the gradients of the views to the same views of the
// argument's gradient.
static taper_status visit_cut(const taper_ahead_maker *m, const results *r)
{
    taper_ahead *const a = m->a;
    taper_ir_value *const self = taper_ahead_root(taper_node_in(m->node, 0)), *views;
    taper_val args[TAPER_AHEAD_ARGUMENTS];
    TAPER_TRY(own_grad(m, self));
    args[0] = taper_ahead_symbol(a->grads[self->id]);
    for (size_t i = 1; i < m->node->input_count; i++) {
        args[i] = taper_ahead_symbol(taper_node_in(m->node, i));
        taper_ahead_check_elements(a, taper_node_in(m->node, i));
    }
    TAPER_TRY(taper_ahead_call(m, m->node->op, args, m->node->input_count, &views));
    const taper_ir_value *const list = taper_ahead_result_list(m->node);
    if (list == NULL) {
        return add_to_view(m, views, taper_ahead_value(r->grads[0]));
    }
    for (size_t i = 0; i < r->count && r->values[0] != list; i++) {
        taper_ir_value *const grad = taper_ahead_value(r->grads[i]);
        TAPER_TRY(grad != NULL ? add_to_item(m, views, taper_val_int((int64_t)i), grad) : TAPER_OK);
    }
    for (const taper_value_use *use = list->uses; use != NULL && r->by_index; use = use->next) {
        const taper_node *const user = use->user;
        const bool reads = user != NULL && taper_node_calls(user, TAPER_OP(aten___getitem___t)) &&
                           taper_ahead_has(a, &user->outputs[0], TAPER_AHEAD_WANTED);
        taper_ir_value *const grad = reads ? a->grads[user->outputs[0].id] : NULL;
        TAPER_TRY(grad != NULL ? add_to_item(m, views, taper_ahead_symbol(taper_node_in(user, 1)), grad) : TAPER_OK);
    }
    return TAPER_OK;
}

static taper_status run_formulas(const taper_ahead_maker *m, results *r, uint32_t wanted)
{
    taper_gradient_formula formula = {.end = NULL};
    const taper_gradient *const gradient = taper_gradient_find(m->node->op);
    while (taper_gradient_next(gradient, &formula)) {
        taper_gradient_reads reads = {.results = 0};
        if ((formula.targets & wanted) == 0) {
            continue;
        }
        taper_gradient_add_reads(&formula, &reads);
        for (size_t i = 0; i < r->count; i++) {
            if (r->grads[i].tag == TAPER_NONE && (reads.grads == UINT32_MAX || (reads.grads >> i & 1) != 0)) {
                taper_ir_value *zeros;
                TAPER_TRY(zeros_like(m, r->values[i], &zeros));
                r->grads[i] = taper_ahead_symbol(zeros);
            }
        }
        taper_val found[32];
        taper_status status = taper_ahead_run_formula(m, &formula, wanted, r->grads, r->count, found);
        size_t at = 0;
        for (size_t i = 0; i < 32; i++) {
            if ((formula.targets >> i & 1) != 0) {
                status = status == TAPER_OK && (wanted >> i & 1) != 0 ? hand_on(m, i, found[at]) : status;
                taper_val_release(found[at++]);
            }
        }
        TAPER_TRY(status);
    }
    return TAPER_OK;
}

static taper_status visit(taper_ahead *a, taper_node *node)
{
    const taper_gradient *const gradient = node->kind == TAPER_NODE_OP ? taper_gradient_find(node->op) : NULL;
    if (gradient == NULL || taper_gradient_is_none(gradient) || !taper_ahead_any_output(a, node, TAPER_AHEAD_REACHED)) {
        return TAPER_OK;
    }
    const uint32_t wanted = taper_ahead_wanted(a, node, TAPER_AHEAD_WANTED);
    const taper_ahead_maker m = {.a = a, .before = a->ask, .node = node, .first = a->block->graph->value_count};
    results r;
    if (wanted == 0) {
        return TAPER_OK;
    }
    read_results(a, node, &r);
    if (r.present == 0 || a->why != NULL) {
        return TAPER_OK;
    }
    const taper_ir_value *const list = taper_ahead_result_list(node);
    const bool whole = list != NULL && !r.by_index && r.count > 1 && r.present == r.count &&
                       a->grads[taper_ahead_root(taper_node_in(node, 0))->id] == NULL;
    if (taper_gradient_cuts(node->op) && !whole) {
        return visit_cut(&m, &r);
    }
    if (r.by_index || (list != NULL && r.values[0] == list) || node->input_count > 32 || node->output_count > 16) {
        taper_ahead_decline(a, "the number of the results of an operator is not known");
        return TAPER_OK;
    }
    return run_formulas(&m, &r, wanted);
}

// ---- the request

// Starts with the gradients of the outputs: the gradients that the request gives, or tensors of ones.
static taper_status start(const taper_ahead_maker *m)
{
    const taper_ahead *const a = m->a;
    for (size_t i = 0; i < a->outputs->input_count; i++) {
        const bool given = a->grads_given != NULL && i < a->grads_given->input_count;
        taper_ir_value *const output = taper_node_in(a->outputs, i), *grad;
        const taper_val args[2] = {taper_ahead_symbol(output),
                                   given ? taper_ahead_symbol(taper_node_in(a->grads_given, i)) : taper_val_none()};
        TAPER_TRY(taper_ahead_call(m, TAPER_OP(taper_first_gradient), args, 2, &grad));
        TAPER_TRY(add_grad(m, output, grad));
    }
    return TAPER_OK;
}

// Makes a check that the host has not passed an input a second time, as another tensor that the program uses.
static taper_status check_apart(const taper_ahead_maker *m, taper_ir_value *input)
{
    const taper_ahead *const a = m->a;
    taper_val others[TAPER_AHEAD_OTHERS], args[2];
    size_t count = 0;
    if (taper_value_is_fresh(input)) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < a->other_count; i++) {
        if (a->others[i] != input) {
            others[count++] = taper_ahead_symbol(a->others[i]);
        }
    }
    if (count == 0) {
        return TAPER_OK;
    }
    taper_ir_value *list;
    taper_node *check;
    TAPER_TRY(taper_ahead_list(m, others, count, &taper_type_list_tensor, &list));
    args[0] = taper_ahead_symbol(input);
    args[1] = taper_ahead_symbol(list);
    return taper_ahead_call_all(m, TAPER_OP(taper_check_apart), args, 2, &check);
}

static taper_status finish(const taper_ahead_maker *m)
{
    taper_ahead *const a = m->a;
    taper_val found[TAPER_AHEAD_ITEMS];
    if (a->inputs->input_count > TAPER_AHEAD_ITEMS) {
        taper_ahead_decline(a, "there are too many inputs");
        return TAPER_OK;
    }
    for (size_t i = 0; i < a->inputs->input_count; i++) {
        taper_ir_value *const input = taper_ahead_root(taper_node_in(a->inputs, i));
        const taper_ir_value *const grad = a->grads[input->id];
        found[i] = grad != NULL ? taper_ahead_symbol(grad) : taper_val_none();
        if (grad == NULL && !a->allows_unused) {
            taper_ahead_decline(a, "an input is not used");
        }
        TAPER_TRY(check_apart(m, input));
    }
    return taper_ahead_list(m, found, a->inputs->input_count, a->ask->schema->rets[0].type, &a->made);
}

// Returns the number of the last node that was made and uses the value, apart from the node `apart`. Later nodes have
// larger numbers.
static uint32_t last_made_user(const taper_ahead *a, const taper_ir_value *value, const taper_node *apart)
{
    uint32_t last = 0;
    size_t count = 0;
    for (const taper_value_use *use = value->uses; use != NULL && count < TAPER_AHEAD_MOST; use = use->next, count++) {
        const taper_node *const user = use->user;
        if (user != NULL && user != apart && user->output_count != 0 && user->outputs[0].id >= a->value_count) {
            last = user->outputs[0].id > last ? user->outputs[0].id : last;
        }
    }
    return last;
}

// A second value for a tensor's sizes is not needed if the tensor's elements are read after the last use of this second
// value, or only a few nodes before it. This function removes such second values.
static void leave_shapes(const taper_ahead *a)
{
    enum { FEW = 16 };
    for (size_t i = 0; i < a->value_count; i++) {
        taper_ir_value *const shape = a->shapes[i];
        taper_ir_value *const tensor = shape != NULL ? taper_node_in(shape->node, 0) : NULL;
        if (tensor != NULL && last_made_user(a, tensor, shape->node) != 0 &&
            last_made_user(a, tensor, shape->node) + FEW > last_made_user(a, shape, NULL)) {
            taper_value_replace_uses(shape, tensor);
            taper_node_remove(shape->node);
        }
    }
}

taper_status taper_ahead_make_nodes(taper_ahead *a)
{
    const taper_ahead_maker m = {.a = a, .before = a->ask, .first = UINT32_MAX};
    taper_ir_value *mark;
    taper_node *const last = a->ask->previous;
    TAPER_TRY(taper_constant_before(a->ask, taper_val_none(), &mark, a->compilation->error));
    a->before = mark->node;
    TAPER_TRY(start(&m));
    for (taper_node *node = last; node != NULL && a->why == NULL; node = node->previous) {
        TAPER_TRY(visit(a, node));
    }
    TAPER_TRY(a->why == NULL ? finish(&m) : TAPER_OK);
    leave_shapes(a);
    return TAPER_OK;
}
