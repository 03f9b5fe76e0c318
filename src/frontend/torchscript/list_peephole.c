// SPDX-License-Identifier: BSD-2-Clause
// For `taper ops`: simplifies a function with inlined calls as PyTorch's peephole pass does. The pass uses types; the
// length, items, sums and slices of lists and dicts that the function makes and never changes; and neutral numbers.
#include "frontend/torchscript/list.h"
#include "ir/alias.h"
#include "ir/effects.h"
#include "ops/list/op_names.h"
#include "ops/list/op_table.h"

typedef struct peephole {
    taper_ts_lowering *lowering;
    size_t looks;
    bool changed;
} peephole;

enum { MOST_USES = 256 };

static void replace(peephole *p, taper_node *node, taper_ir_value *with)
{
    taper_value_replace_uses(&node->outputs[0], with);
    taper_node_remove(node);
    p->changed = true;
}

// ---- simplification by types

// Returns true if the value can be None although its type does not say so: the gradient of a tensor (x.grad).
static bool is_none_of_type(const taper_ir_value *value)
{
    return value->node != NULL && taper_node_calls(value->node, TAPER_OP(prim_grad));
}

static taper_status none_test(peephole *p, taper_node *node, bool is)
{
    if (is_none_of_type(taper_node_in(node, 0)) || is_none_of_type(taper_node_in(node, 1))) {
        return TAPER_OK;
    }
    const taper_type *a = taper_ts_type_in_graph(taper_node_in(node, 0)),
                     *b = taper_ts_type_in_graph(taper_node_in(node, 1));
    const bool none = a != NULL && a->kind == TAPER_TYPE_NONE, other = b != NULL && b->kind == TAPER_TYPE_NONE;
    if ((none && other) || (none && !taper_ts_may_be_none(b)) || (other && !taper_ts_may_be_none(a))) {
        taper_ir_value *value;
        TAPER_TRY(taper_ts_constant(p->lowering, taper_val_bool((none && other) == is), &value));
        replace(p, node, value);
    }
    return TAPER_OK;
}

// Replaces int(tensor(n)), which traces contain, by n.
static void number_behind(peephole *p, taper_node *node)
{
    static const char *const casts[] = {
#define CAST(name) name,
#include "ops/list/own_names.h"
    };
    const taper_node *made = taper_node_in(node, 0)->node;
    if (made == NULL || !taper_node_calls(made, TAPER_OP(prim_NumToTensor_Scalar))) {
        return;
    }
    const taper_type *number = taper_ts_type_in_graph(taper_node_in(made, 0)), *to = node->outputs[0].type;
    for (size_t i = 0; number != NULL && to != NULL && i < sizeof casts / sizeof *casts; i++) {
        if (strcmp(casts[i], node->schema->name) == 0 && (number == to || to->kind == TAPER_TYPE_NUMBER)) {
            replace(p, node, taper_node_in(made, 0));
            return;
        }
    }
}

// Replaces a result of an If that is True in one branch and False in the other by the condition of the If.
static void of_branch(peephole *p, taper_node *node)
{
    for (size_t i = 0; node->kind == TAPER_NODE_IF && i < node->output_count; i++) {
        const taper_node *then = taper_value_constant(node->blocks[0]->results[i].value);
        const taper_node *otherwise = taper_value_constant(node->blocks[1]->results[i].value);
        if (node->outputs[i].uses != NULL && then != NULL && otherwise != NULL && then->constant.tag == TAPER_BOOLEAN &&
            otherwise->constant.tag == TAPER_BOOLEAN && then->constant.as.b && !otherwise->constant.as.b) {
            taper_value_replace_uses(&node->outputs[i], taper_node_in(node, 0));
            p->changed = true;
        }
    }
}

static taper_status visit_types(peephole *p, taper_node *node)
{
    of_branch(p, node);
    if (node->kind != TAPER_NODE_OP || node->output_count != 1) {
        return TAPER_OK;
    }
    if (taper_node_calls(node, TAPER_OP(aten___is__)) || taper_node_calls(node, TAPER_OP(aten___isnot__))) {
        return none_test(p, node, taper_node_calls(node, TAPER_OP(aten___is__)));
    }
    if (taper_node_calls(node, TAPER_OP(prim_unchecked_cast))) {
        const taper_type *from = taper_ts_type_in_graph(taper_node_in(node, 0)), *to = node->outputs[0].type;
        if (from != NULL && to != NULL && taper_ts_subtype(p->lowering, from, to)) {
            replace(p, node, taper_node_in(node, 0));
        }
    } else if (node->input_count == 1) {
        number_behind(p, node);
    }
    return TAPER_OK;
}

// ---- lists and dicts

// Returns the LIST or DICT node of this function that made the value, if nothing changes the container later. Returns
// NULL otherwise, or if the value has more than MOST_USES uses.
static const taper_node *made_here(peephole *p, const taper_ir_value *value, taper_node_kind kind)
{
    const taper_node *made = value->node;
    int count = 0;
    if (made == NULL || made->kind != kind) {
        return NULL;
    }
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        const taper_node *user = use->user;
        p->looks++;
        if (user == NULL && use->block->parent == NULL) {
            continue; // the use returns the value
        }
        if (++count > MOST_USES || user == NULL) {
            return NULL;
        }
        const taper_type *formal = user->kind == TAPER_NODE_OP && use->index < user->schema->arg_count
                                       ? user->schema->args[use->index].type
                                       : NULL;
        const bool looks = formal != NULL && (formal->kind == TAPER_TYPE_LIST || formal->kind == TAPER_TYPE_DICT) &&
                           !taper_node_writes(user, use->index);
        if (!looks && user->kind != TAPER_NODE_LIST_UNPACK) {
            return NULL;
        }
    }
    return made;
}

static bool int_in(const taper_node *node, size_t index, int64_t otherwise, int64_t *number)
{
    const taper_node *constant = taper_value_constant(taper_node_in(node, index));
    if (constant == NULL || (constant->constant.tag != TAPER_INT && constant->constant.tag != TAPER_NONE)) {
        return false;
    }
    *number = constant->constant.tag == TAPER_INT ? constant->constant.as.i : otherwise;
    return true;
}

// Makes a list from the concatenation of lists a and b (NULL: only a). The new list has every `step`-th item, beginning
// with item `start`.
static taper_status list_of(peephole *p, taper_node *node, const taper_node *a, const taper_node *b, int64_t start,
                            int64_t step, size_t count)
{
    taper_node *list;
    taper_ts_lowering *l = p->lowering;
    TAPER_TRY(taper_ts_charge(l, count));
    TAPER_TRY(taper_node_create(l->graph, TAPER_NODE_LIST, count, 1, &list, l->unit->error));
    list->type = list->outputs[0].type = node->outputs[0].type;
    list->debug = node->debug;
    taper_node_insert_before(list, node);
    for (size_t i = 0; i < count; i++) {
        const bool second = b != NULL && i >= a->input_count;
        taper_node_set_input(list, i,
                             second ? taper_node_in(b, i - a->input_count)
                                    : taper_node_in(a, (size_t)(start + (int64_t)i * step)));
    }
    replace(p, node, &list->outputs[0]);
    return TAPER_OK;
}

static taper_status of_list(peephole *p, taper_node *node, const taper_node *list)
{
    const int64_t size = list->input_count;
    int64_t at, end, step;
    if (taper_node_calls(node, TAPER_OP(aten_len_t))) {
        taper_ir_value *length;
        TAPER_TRY(taper_ts_constant(p->lowering, taper_val_int(size), &length));
        replace(p, node, length);
    } else if (taper_node_calls(node, TAPER_OP(aten___getitem___t)) && int_in(node, 1, size, &at)) {
        at = at < 0 ? at + size : at;
        if (at >= 0 && at < size) {
            replace(p, node, taper_node_in(list, (size_t)at));
        }
    } else if (taper_node_calls(node, TAPER_OP(aten_add_t))) {
        const taper_node *other = made_here(p, taper_node_in(node, 1), TAPER_NODE_LIST);
        if (other != NULL) {
            return list_of(p, node, list, other, 0, 1, (size_t)size + other->input_count);
        }
    } else if (taper_node_calls(node, TAPER_OP(aten_slice_t)) && int_in(node, 1, 0, &at) &&
               int_in(node, 2, INT64_MAX, &end) && int_in(node, 3, 1, &step) && step > 0) {
        at = taper_min_i64(at < 0 ? taper_max_i64(at + size, 0) : at, size);
        end = taper_min_i64(end < 0 ? taper_max_i64(end + size, 0) : end, size);
        const int64_t count = end > at ? (end - at - 1) / step + 1 : 0;
        return list_of(p, node, list, NULL, at, step, (size_t)count);
    }
    return TAPER_OK;
}

static bool same_key(taper_val a, taper_val b)
{
    return a.tag == TAPER_INT ? b.tag == TAPER_INT && a.as.i == b.as.i
                              : b.tag == TAPER_STRING && a.as.string->length == b.as.string->length &&
                                    memcmp(a.as.string->data, b.as.string->data, a.as.string->length) == 0;
}

// Finds the length of a dict, or the value of a constant key, if all keys are different constant ints or strings.
static taper_status of_dict(peephole *p, taper_node *node, const taper_node *dict, bool length)
{
    const taper_node *wanted = length ? NULL : taper_value_constant(taper_node_in(node, 1));
    taper_ir_value *found = NULL;
    if (length) {
        TAPER_TRY(taper_ts_constant(p->lowering, taper_val_int(dict->input_count / 2), &found));
    }
    for (size_t i = 0; i < dict->input_count; i += 2) {
        const taper_node *key = taper_value_constant(taper_node_in(dict, i));
        if (key == NULL || (key->constant.tag != TAPER_INT && key->constant.tag != TAPER_STRING)) {
            return TAPER_OK;
        }
        for (size_t k = 0; k < i; k += 2) {
            if (i > 2 * MOST_USES || same_key(key->constant, taper_value_constant(taper_node_in(dict, k))->constant)) {
                return TAPER_OK;
            }
        }
        found = wanted != NULL && same_key(key->constant, wanted->constant) ? taper_node_in(dict, i + 1) : found;
    }
    if (found != NULL) {
        replace(p, node, found);
    }
    return TAPER_OK;
}

static taper_status visit_lists(peephole *p, taper_node *node)
{
    const taper_node *made;
    if (node->kind == TAPER_NODE_LIST_UNPACK) {
        made = made_here(p, taper_node_in(node, 0), TAPER_NODE_LIST);
        if (made != NULL && made->input_count == node->output_count && node->output_count != 0) {
            for (size_t i = 1; i < node->output_count; i++) {
                taper_value_replace_uses(&node->outputs[i], taper_node_in(made, i));
            }
            replace(p, node, taper_node_in(made, 0));
        }
    } else if (node->kind == TAPER_NODE_OP && node->input_count != 0) {
        made = made_here(p, taper_node_in(node, 0), TAPER_NODE_LIST);
        if (made != NULL) {
            return of_list(p, node, made);
        }
        const bool length =
            taper_node_calls(node, TAPER_OP(aten_len_Dict_int)) || taper_node_calls(node, TAPER_OP(aten_len_Dict_str));
        made = length || taper_node_calls(node, TAPER_OP(aten___getitem___Dict_int)) ||
                       taper_node_calls(node, TAPER_OP(aten___getitem___Dict_str))
                   ? made_here(p, taper_node_in(node, 0), TAPER_NODE_DICT)
                   : NULL;
        if (made != NULL) {
            return of_dict(p, node, made, length);
        }
    }
    return TAPER_OK;
}

// ---- operators on numbers

// If an operand of an operator on two ints is constant, returns the constant, otherwise NULL. If the operator commutes,
// the constant becomes the second operand.
static const taper_node *int_constant(taper_node *node, bool commutes)
{
    for (size_t i = 0; i < 2; i++) {
        if (taper_ts_type_in_graph(taper_node_in(node, i)) != &taper_type_int) {
            return NULL;
        }
    }
    if (commutes && taper_value_constant(taper_node_in(node, 0)) != NULL) {
        taper_ir_value *const first = taper_node_in(node, 0);
        taper_node_set_input(node, 0, taper_node_in(node, 1));
        taper_node_set_input(node, 1, first);
    }
    return taper_value_constant(taper_node_in(node, 1));
}

// Merges two sums into one, such as (n + a) - b.
static taper_status merge_sums(peephole *p, taper_node *node, int64_t number)
{
    taper_node *before = taper_node_in(node, 0)->node;
    const taper_op *const add = TAPER_OP(aten_add_int), *const sub = TAPER_OP(aten_sub_int);
    if ((node->op != add && node->op != sub) || before == NULL || before->kind != TAPER_NODE_OP ||
        (before->op != add && before->op != sub)) {
        return TAPER_OK;
    }
    const taper_node *other = int_constant(before, before->op == add);
    taper_ir_value *sum;
    if (other == NULL) {
        return TAPER_OK;
    }
    const uint64_t a = (uint64_t)number, b = (uint64_t)other->constant.as.i;
    TAPER_TRY(taper_ts_constant(p->lowering, taper_val_int((int64_t)(node->op == before->op ? a + b : a - b)), &sum));
    taper_node_set_input(node, 0, taper_node_in(before, 0));
    taper_node_set_input(node, 1, sum);
    p->changed = true;
    return TAPER_OK;
}

// Replaces n + 0, n - 0, n * 1 and n // 1 by n.
static taper_status known_numbers(peephole *p, taper_node *node)
{
    static const struct {
        const char *name;
        int64_t neutral;
        bool commutes;
    } rows[] = {
#define NEUTRAL(name, number, commutes) {name, number, commutes},
#include "ops/list/own_names.h"
    };
    size_t i = 0;
    while (i < sizeof rows / sizeof *rows && strcmp(rows[i].name, node->schema->name) != 0) {
        i++;
    }
    const taper_node *constant = i != sizeof rows / sizeof *rows ? int_constant(node, rows[i].commutes) : NULL;
    if (constant == NULL) {
        return TAPER_OK;
    }
    if (constant->constant.as.i == rows[i].neutral) {
        replace(p, node, taper_node_in(node, 0));
        return TAPER_OK;
    }
    return merge_sums(p, node, constant->constant.as.i);
}

// Replaces a node that asks for the rank of a convolution's result by a constant.
static taper_status known_rank(peephole *p, taper_node *node)
{
    const taper_node *made = taper_node_in(node, 0)->node;
    const unsigned layer = made != NULL ? TAPER_FIELD(taper_node_facts(made), LAYER) : 0;
    if (layer >= TAPER_LAYER_CONV1 && layer <= TAPER_LAYER_CONV3 && strcmp(node->schema->name, TAPER_NAME_DIM) == 0) {
        taper_ir_value *rank;
        TAPER_TRY(taper_ts_constant(p->lowering, taper_val_int(3 + layer - TAPER_LAYER_CONV1), &rank));
        replace(p, node, rank);
    }
    return TAPER_OK;
}

static taper_status visit_numbers(peephole *p, taper_node *node)
{
    if (node->kind == TAPER_NODE_OP && node->input_count == 2 && node->output_count == 1) {
        return known_numbers(p, node);
    }
    if (node->kind == TAPER_NODE_OP && node->input_count == 1) {
        return known_rank(p, node);
    }
    return TAPER_OK;
}

// ---- the pass

static taper_status walk(peephole *p, taper_node *node, taper_status (*visit)(peephole *p, taper_node *node))
{
    for (taper_node *next; node != NULL; node = next, p->looks++) {
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(walk(p, node->blocks[b]->first, visit));
        }
        next = node->next;
        TAPER_TRY(visit(p, node));
    }
    return TAPER_OK;
}

taper_status taper_ts_list_peephole(taper_ts_lowering *l, bool *changed)
{
    static taper_status (*const visits[])(peephole * p, taper_node * node) = {visit_types, visit_lists, visit_numbers};
    peephole p = {.lowering = l};
    for (size_t i = 0; i < sizeof visits / sizeof *visits; i++) {
        TAPER_TRY(walk(&p, l->graph->body->first, visits[i]));
    }
    *changed = p.changed;
    return taper_ts_charge(l, p.looks);
}
