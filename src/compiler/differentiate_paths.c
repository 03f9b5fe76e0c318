// SPDX-License-Identifier: BSD-2-Clause
// Finds the nodes between the inputs and the outputs of a request for gradients. The tape decides while a program runs;
// this file decides before the run, and declines wherever it cannot know that the nodes would give the same results and
// errors.
#include "compiler/differentiate.h"
#include "compiler/facts.h"
#include "ops/list/op_table.h"

enum { MOST_USES = 64 }; // largest number of uses of a list that are read

// ---- from the outputs back

static void reach(const taper_ahead *a, const taper_node *node)
{
    for (size_t i = 0; i < node->input_count; i++) {
        taper_ahead_mark(a, taper_node_in(node, i), TAPER_AHEAD_REACHED);
        taper_ahead_mark(a, taper_ahead_root(taper_node_in(node, i)), TAPER_AHEAD_REACHED);
    }
    for (size_t b = 0; b < node->block_count; b++) {
        for (const taper_node *inner = node->blocks[b]->first; inner != NULL; inner = inner->next) {
            reach(a, inner);
        }
        for (size_t i = 0; i < node->blocks[b]->result_count; i++) {
            taper_ahead_mark(a, node->blocks[b]->results[i].value, TAPER_AHEAD_REACHED);
        }
    }
}

// Returns true if the node, or a node in its blocks, writes to a value with the fact (a bit TAPER_AHEAD_).
static bool writes_to(const taper_ahead *a, const taper_node *node, unsigned fact)
{
    for (size_t i = 0; i < node->input_count; i++) {
        if (taper_node_writes(node, i) && taper_ahead_has(a, taper_ahead_root(taper_node_in(node, i)), fact)) {
            return true;
        }
    }
    for (size_t b = 0; b < node->block_count; b++) {
        for (const taper_node *inner = node->blocks[b]->first; inner != NULL; inner = inner->next) {
            if (writes_to(a, inner, fact)) {
                return true;
            }
        }
    }
    return false;
}

static void reach_back(const taper_ahead *a)
{
    for (size_t i = 0; i < a->outputs->input_count; i++) {
        taper_ahead_mark(a, taper_node_in(a->outputs, i), TAPER_AHEAD_REACHED);
        taper_ahead_mark(a, taper_ahead_root(taper_node_in(a->outputs, i)), TAPER_AHEAD_REACHED);
    }
    for (const taper_node *node = a->ask->previous; node != NULL; node = node->previous) {
        if (taper_ahead_any_output(a, node, TAPER_AHEAD_REACHED) || writes_to(a, node, TAPER_AHEAD_REACHED)) {
            reach(a, node);
        }
    }
}

// ---- one node

// Returns true if the operator certainly gives floats. An argument that names a dtype is considered. Sets *stops to
// true if the operator certainly gives no floats, so that its results need no gradient.
static bool gives_floats(const taper_ahead *a, const taper_node *node, bool *stops)
{
    double number;
    *stops = false;
    if (taper_node_calls(node, TAPER_OP(aten_type_as)) || taper_node_calls(node, TAPER_OP(aten_to_other))) {
        return taper_ahead_has(a, taper_ahead_root(taper_node_in(node, 1)), TAPER_AHEAD_NEEDS);
    }
    for (size_t i = 0; i < node->schema->arg_count && i < node->input_count; i++) {
        if (strcmp(node->schema->args[i].name, "dtype") != 0) {
            continue;
        }
        const taper_val *const constant = taper_node_constant_in(node, i);
        if (constant != NULL && constant->tag == TAPER_NONE) {
            continue;
        }
        if (taper_node_constant_is_number(node, i, &number)) {
            *stops = !taper_dtype_is_float((taper_dtype)number) && !taper_dtype_is_complex((taper_dtype)number);
            return true;
        }
        const taper_node *const asked = taper_node_in(node, i)->node;
        return asked != NULL && taper_node_calls(asked, TAPER_OP(prim_dtype)) &&
               taper_ahead_has(a, taper_ahead_root(taper_node_in(asked, 0)), TAPER_AHEAD_NEEDS);
    }
    return true;
}

// Returns true for a tensor that the host or other code may also have under another name.
static bool is_outside(const taper_ir_value *value)
{
    const taper_node *const maker = value->node;
    return maker == NULL || maker->kind != TAPER_NODE_OP || taper_node_has(maker, TAPER_OP_ITEM);
}

// Notes the tensors from outside that an operator with a derivative uses, itself or through a list. The host may have
// passed a tensor twice, so two of these values may be the same tensor.
static void note_outside(taper_ahead *a, const taper_node *node)
{
    for (size_t i = 0; i < node->input_count; i++) {
        taper_ir_value *const value = taper_ahead_root(taper_node_in(node, i));
        const taper_node *const maker = value->node;
        if (maker != NULL && maker->kind == TAPER_NODE_LIST && node->kind != TAPER_NODE_LIST &&
            !taper_ahead_has(a, value, TAPER_AHEAD_USED)) {
            taper_ahead_mark(a, value, TAPER_AHEAD_USED);
            note_outside(a, maker);
        }
        if (!is_outside(value) ||
            (maker != NULL && (maker->kind == TAPER_NODE_CONSTANT || maker->kind == TAPER_NODE_LIST)) ||
            taper_value_is_plain(value) || taper_ahead_has(a, value, TAPER_AHEAD_USED)) {
            continue;
        }
        taper_ahead_mark(a, value, TAPER_AHEAD_USED);
        if (a->other_count == TAPER_AHEAD_OTHERS) {
            taper_ahead_decline(a, "it uses too many tensors from outside");
            return;
        }
        a->others[a->other_count++] = value;
    }
}

static void visit_flag(taper_ahead *a, const taper_node *node)
{
    taper_ir_value *const root = taper_ahead_root(taper_node_in(node, 0));
    const taper_val *const flag = node->input_count > 1 ? taper_node_constant_in(node, 1) : NULL;
    const bool on = flag != NULL && flag->tag == TAPER_BOOLEAN && flag->as.b;
    if (!on) {
        taper_ahead_decline(
            a, taper_ahead_has(a, root, TAPER_AHEAD_NEEDS) || flag == NULL ? "the flag requires_grad changes" : NULL);
        return;
    }
    // The host may already have set requires_grad on a tensor that it passes, so earlier users count too. If two values
    // may be the same tensor, the flag could be set through the other value.
    if (root->block != a->block || taper_ahead_has(a, root, TAPER_AHEAD_USED | TAPER_AHEAD_HELD) ||
        (root->node != NULL && !is_outside(root) && taper_ahead_may_be_argument(root->node))) {
        taper_ahead_decline(a, "an input was used before its flag requires_grad was set");
    }
    taper_ahead_mark(a, root, TAPER_AHEAD_NEEDS);
    a->started = true;
}

// Returns true for a list of numbers or strings.
static bool holds_numbers(const taper_type *type)
{
    const taper_type_kind item = type->kind == TAPER_TYPE_LIST ? (taper_type_kind)type->items[0]->kind : TAPER_TYPE_ANY;
    return item == TAPER_TYPE_INT || item == TAPER_TYPE_FLOAT || item == TAPER_TYPE_BOOL || item == TAPER_TYPE_STRING;
}

// Handles an operator without derivatives that takes a value which needs a gradient.
static void visit_unknown(taper_ahead *a, const taper_node *node)
{
    const unsigned result = TAPER_FIELD(taper_node_facts(node), RESULT);
    bool plain = true;
    for (size_t i = 0; i < node->output_count; i++) {
        const bool listed = i < node->schema->ret_count && holds_numbers(node->schema->rets[i].type);
        plain = plain && (listed || taper_value_is_plain(&node->outputs[i]));
    }
    plain = plain || result == TAPER_RESULT_BOOL ||
            result == TAPER_RESULT_I64; // bool and int64 results need no gradient either
    if (taper_node_calls(node, TAPER_OP(aten___getitem___t))) {
        const taper_node *const maker = taper_node_in(node, 0)->node;
        if (maker != NULL && taper_ahead_result_list(maker) != NULL && taper_node_constant_in(node, 1) != NULL) {
            taper_ahead_mark(a, &node->outputs[0], TAPER_AHEAD_NEEDS);
            return;
        }
    }
    if (!plain && taper_ahead_any_output(a, node, TAPER_AHEAD_REACHED)) {
        taper_ahead_decline(a, "the gradient of an operator is not known");
    }
    a->escaped = a->escaped || !taper_node_is_pure(node);
}

// Returns, as bits, the results whose gradients the formulas for the wanted arguments read.
static uint32_t results_with_gradient(const taper_gradient *gradient, uint32_t wanted)
{
    taper_gradient_formula formula = {.end = NULL};
    uint32_t bits = 0;
    while (taper_gradient_next(gradient, &formula)) {
        if ((formula.targets & wanted) != 0) {
            taper_gradient_reads reads = {.results = 0};
            taper_gradient_add_reads(&formula, &reads);
            bits |= reads.grads;
        }
    }
    return bits;
}

static void visit_differentiable(taper_ahead *a, taper_node *node, const taper_gradient *gradient)
{
    bool stops;
    const uint32_t needs = taper_ahead_wanted(a, node, TAPER_AHEAD_NEEDS);
    if (taper_gradient_is_none(gradient)) {
        bool creates, keeps;
        if (taper_node_calls(node, TAPER_OP(aten_grad)) && // the node is an earlier request
            (!taper_ahead_read_flags(node, &creates, &keeps) || !keeps ||
             (creates && taper_ahead_any_output(a, node, TAPER_AHEAD_REACHED)))) {
            taper_ahead_decline(a, "an earlier request frees what it read, or is itself differentiated");
        }
        return;
    }
    if (needs == 0) {
        return;
    }
    if (!gives_floats(a, node, &stops)) {
        taper_ahead_decline(a, "a dtype is not known");
        return;
    }
    if (stops) {
        return;
    }
    if (taper_gradient_is_composed(gradient)) {
        a->composes = a->composes || taper_ahead_any_output(a, node, TAPER_AHEAD_REACHED);
    }
    const uint32_t results = taper_gradient_is_composed(gradient) ? UINT32_MAX : results_with_gradient(gradient, needs);
    for (size_t i = 0; i < node->output_count && i < 32; i++) {
        taper_ahead_mark(a, &node->outputs[i], (results >> i & 1) != 0 ? TAPER_AHEAD_NEEDS : 0);
    }
}

static void visit_op(taper_ahead *a, taper_node *node)
{
    const taper_gradient *const gradient = taper_gradient_find(node->op);
    bool needs = false, writes = false;
    if (taper_node_calls(node, TAPER_OP(aten_requires_grad_))) {
        visit_flag(a, node);
        return;
    }
    if (taper_ahead_returns_argument(node)) {
        return;
    }
    for (size_t i = 0; i < node->input_count; i++) {
        needs = needs || taper_ahead_has(a, taper_ahead_root(taper_node_in(node, i)), TAPER_AHEAD_NEEDS);
        writes = writes || taper_node_writes(node, i);
    }
    if (writes && !taper_ahead_separate(a, node)) {
        if (a->started) {
            taper_ahead_note_writes(a, node);
        }
        if (needs && taper_ahead_writes_tensor(node)) { // PyTorch may forbid this write
            taper_ahead_decline(a, "a write goes to a tensor that others use");
        }
    }
    if (needs && gradient == NULL) {
        visit_unknown(a, node);
    } else if (needs && node->schema->out_count != 0) {
        taper_ahead_decline(a, "an operator writes to its argument out");
    } else if (needs) {
        visit_differentiable(a, node, gradient);
    }
    if (gradient != NULL && !taper_gradient_is_none(gradient) && taper_ahead_any_output(a, node, TAPER_AHEAD_REACHED)) {
        note_outside(a, node);
    }
    for (size_t i = 0; i < node->input_count && taper_ahead_may_be_argument(node); i++) {
        taper_ahead_mark(a, taper_ahead_root(taper_node_in(node, i)), TAPER_AHEAD_USED);
    }
}

// Returns true if the node, or a node in its blocks, takes a value with the fact (a bit TAPER_AHEAD_).
static bool takes(const taper_ahead *a, const taper_node *node, unsigned fact)
{
    for (size_t i = 0; i < node->input_count; i++) {
        if (taper_ahead_has(a, taper_ahead_root(taper_node_in(node, i)), fact)) {
            return true;
        }
    }
    for (size_t b = 0; b < node->block_count; b++) {
        for (const taper_node *inner = node->blocks[b]->first; inner != NULL; inner = inner->next) {
            if (takes(a, inner, fact)) {
                return true;
            }
        }
        for (size_t i = 0; i < node->blocks[b]->result_count; i++) {
            if (taper_ahead_has(a, taper_ahead_root(node->blocks[b]->results[i].value), fact)) {
                return true;
            }
        }
    }
    return false;
}

static bool sets_flag(const taper_node *node)
{
    for (size_t b = 0; b < node->block_count; b++) {
        for (const taper_node *inner = node->blocks[b]->first; inner != NULL; inner = inner->next) {
            if (taper_node_calls(inner, TAPER_OP(aten_requires_grad_)) || sets_flag(inner)) {
                return true;
            }
        }
    }
    return false;
}

// Returns true if all users of the list are operators that read its tensors and return tensors.
static bool is_argument(const taper_node *list)
{
    size_t count = 0;
    for (const taper_value_use *use = list->outputs[0].uses; use != NULL; use = use->next) {
        const taper_node *const user = use->user;
        if (++count > MOST_USES || user == NULL || user->kind != TAPER_NODE_OP || user->schema->vararg ||
            taper_node_writes(user, use->index) || taper_node_has(user, TAPER_OP_ITEM)) {
            return false;
        }
        for (size_t i = 0; i < user->schema->ret_count; i++) {
            const taper_type *const type = user->schema->rets[i].type;
            if (type->kind != TAPER_TYPE_TENSOR &&
                !(type->kind == TAPER_TYPE_LIST && type->items[0]->kind == TAPER_TYPE_TENSOR)) {
                return false;
            }
        }
    }
    return true;
}

// Returns true if the value may contain a tensor that needs a gradient, although nothing has marked the value: a
// container or an object, unless it is a constant or a list that is made as an argument.
static bool may_contain(const taper_ahead *a, const taper_ir_value *value)
{
    const taper_node *const maker = value->node;
    const bool op = maker != NULL && maker->kind == TAPER_NODE_OP && value->index < maker->schema->ret_count;
    const taper_type *const type = value->type != NULL ? value->type
                                   : op                ? maker->schema->rets[value->index].type
                                                       : NULL;
    return !taper_value_is_plain(value) && (type == NULL || type->kind != TAPER_TYPE_TENSOR) &&
           !taper_ahead_has(a, value, TAPER_AHEAD_NEEDS) &&
           !(maker != NULL && (maker->kind == TAPER_NODE_CONSTANT || taper_ahead_result_list(maker) != NULL ||
                               (maker->kind == TAPER_NODE_LIST && is_argument(maker))));
}

// Returns true if the node, or a node in its blocks, takes a value that may contain a tensor which needs a gradient.
static bool may_read_container(const taper_ahead *a, const taper_node *node)
{
    for (size_t i = 0; i < node->input_count; i++) {
        if (may_contain(a, taper_ahead_root(taper_node_in(node, i)))) {
            return true;
        }
    }
    for (size_t b = 0; b < node->block_count; b++) {
        for (const taper_node *inner = node->blocks[b]->first; inner != NULL; inner = inner->next) {
            if (may_read_container(a, inner)) {
                return true;
            }
        }
    }
    return false;
}

static void visit_other(taper_ahead *a, const taper_node *node)
{
    if (a->started) {
        taper_ahead_note_writes(a, node);
    }
    if (sets_flag(node)) {
        taper_ahead_decline(a, "a branch sets the flag requires_grad");
    }
    if (!takes(a, node, TAPER_AHEAD_NEEDS)) {
        return;
    }
    if (node->kind == TAPER_NODE_LIST_UNPACK && taper_node_in(node, 0)->node != NULL &&
        taper_ahead_result_list(taper_node_in(node, 0)->node) != NULL) {
        for (size_t i = 0; i < node->output_count; i++) {
            taper_ahead_mark(a, &node->outputs[i], TAPER_AHEAD_NEEDS);
        }
        return;
    }
    if (node->kind == TAPER_NODE_LIST) {
        taper_ahead_mark(a, &node->outputs[0], TAPER_AHEAD_NEEDS);
        if (node->input_count <= TAPER_AHEAD_MOST && is_argument(node)) {
            return;
        }
    }
    if (taper_ahead_any_output(a, node, TAPER_AHEAD_REACHED) || writes_to(a, node, TAPER_AHEAD_REACHED) ||
        taper_ahead_writes_tensor(node)) {
        taper_ahead_decline(a, "a branch, a loop or a container is between the inputs and the outputs");
    }
    a->escaped = a->escaped || (!taper_node_is_pure(node) && !taper_node_only_raises(node));
}

// Notes the values that the node, or a node in its blocks, puts into a container or an attribute. If such a value gets
// its flag requires_grad later, a reader of the container gets a value that needs a gradient.
static void note_held(const taper_ahead *a, const taper_node *node)
{
    const bool holds = node->kind == TAPER_NODE_LIST || node->kind == TAPER_NODE_DICT ||
                       node->kind == TAPER_NODE_TUPLE || node->kind == TAPER_NODE_SET_ATTR ||
                       taper_ahead_writes_container(node);
    for (size_t i = 0; holds && i < node->input_count; i++) {
        taper_ahead_mark(a, taper_ahead_root(taper_node_in(node, i)), TAPER_AHEAD_HELD);
    }
    for (size_t b = 0; b < node->block_count; b++) {
        for (const taper_node *inner = node->blocks[b]->first; inner != NULL; inner = inner->next) {
            note_held(a, inner);
        }
    }
}

// ---- all nodes

// Marks the values that need a gradient because of an input, for which nodes will be made.
static void want(taper_ahead *a, const taper_node *node)
{
    bool wanted = false;
    for (size_t i = 0; i < node->output_count; i++) {
        if (taper_ahead_has(a, &node->outputs[i], TAPER_AHEAD_ASKED)) {
            taper_ahead_mark(a, &node->outputs[i], TAPER_AHEAD_WANTED);
            taper_ahead_decline(
                a, taper_ahead_has(a, &node->outputs[i], TAPER_AHEAD_NEEDS) ? NULL : "an input may need no gradient");
        }
    }
    if (node->kind == TAPER_NODE_OP && taper_gradient_find(node->op) != NULL) {
        wanted = taper_ahead_wanted(a, node, TAPER_AHEAD_WANTED) != 0;
    } else {
        wanted = takes(a, node, TAPER_AHEAD_WANTED);
    }
    for (size_t i = 0; i < node->output_count && wanted; i++) {
        if (taper_ahead_has(a, &node->outputs[i], TAPER_AHEAD_NEEDS)) {
            taper_ahead_mark(a, &node->outputs[i], TAPER_AHEAD_WANTED);
        }
    }
}

// Declines the request if an input is read from a container twice, because both reads give the same tensor.
static void check_reads(taper_ahead *a, const taper_ir_value *input)
{
    for (size_t i = 0; i < a->other_count; i++) {
        const taper_node *const x = input->node, *const y = a->others[i]->node;
        if (x == NULL || y == NULL || a->others[i] == input || x->kind != TAPER_NODE_OP || y->kind != TAPER_NODE_OP ||
            taper_node_in(x, 0) != taper_node_in(y, 0)) {
            continue;
        }
        const taper_val *const a_key = taper_node_constant_in(x, 1), *const b_key = taper_node_constant_in(y, 1);
        const bool strings = a_key != NULL && b_key != NULL && a_key->tag == TAPER_STRING && b_key->tag == TAPER_STRING;
        if (!strings || strcmp(a_key->as.string->data, b_key->as.string->data) == 0) {
            taper_ahead_decline(a, "an input is read from a container twice");
        }
    }
}

static void check_ends(taper_ahead *a)
{
    for (size_t i = 0; i < a->outputs->input_count; i++) {
        if (!taper_ahead_has(a, taper_ahead_root(taper_node_in(a->outputs, i)), TAPER_AHEAD_NEEDS)) {
            taper_ahead_decline(a, "an output may need no gradient");
        }
    }
    for (size_t i = 0; i < a->inputs->input_count; i++) {
        const taper_ir_value *const input = taper_ahead_root(taper_node_in(a->inputs, i));
        if (!taper_ahead_has(a, input, TAPER_AHEAD_NEEDS)) {
            taper_ahead_decline(a, "an input may need no gradient");
        }
        check_reads(a, input);
    }
}

taper_status taper_ahead_find_paths(taper_ahead *a)
{
    for (size_t i = 0; i < a->inputs->input_count; i++) {
        const taper_ir_value *const input = taper_ahead_root(taper_node_in(a->inputs, i));
        taper_ahead_mark(a, input, TAPER_AHEAD_ASKED);
        if (input->block != a->block ||
            (input->node != NULL && !is_outside(input) && taper_ahead_may_be_argument(input->node))) {
            taper_ahead_decline(a, "an input is from another block, or may be another tensor");
        }
    }
    reach_back(a);
    for (taper_node *node = a->block->first; node != a->ask && a->why == NULL; node = node->next) {
        if (a->escaped &&
            (taper_ahead_any_output(a, node, TAPER_AHEAD_REACHED) || writes_to(a, node, TAPER_AHEAD_REACHED)) &&
            may_read_container(a, node)) {
            taper_ahead_decline(a, "a container holds a value that needs a gradient");
        } else if (node->kind == TAPER_NODE_OP) {
            visit_op(a, node);
        } else if (node->kind != TAPER_NODE_CONSTANT) {
            visit_other(a, node);
        }
        note_held(a, node);
        for (size_t i = 0; i < node->output_count; i++) {
            taper_ahead_mark(a, &node->outputs[i], TAPER_AHEAD_SEEN);
        }
    }
    for (size_t i = 0; i < a->block->param_count; i++) {
        const taper_ir_value *const param = &a->block->params[i];
        taper_ahead_mark(a, param, taper_ahead_has(a, param, TAPER_AHEAD_ASKED) ? TAPER_AHEAD_WANTED : 0);
    }
    for (taper_node *node = a->block->first; node != a->ask && a->why == NULL; node = node->next) {
        want(a, node);
    }
    check_ends(a);
    return TAPER_OK;
}
