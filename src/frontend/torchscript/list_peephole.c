// SPDX-License-Identifier: BSD-2-Clause
// For `taper ops`: what PyTorch's peephole pass finds out about lists and dicts that a function makes and nobody
// changes: their length and items, sums and parts of them; and the constants and branches that follow. It runs at the
// end of each function that is called, on its nodes with those of the functions that it calls itself.
#include "frontend/torchscript/lower.h"
#include "ir/alias.h"
#include "ir/effects.h"
#include "ops/call/fold.h"
#include "ops/list/op_table.h"

typedef struct peephole {
    taper_ts_lowering *lowering;
    uint32_t first; // values from this id on are of the function
    size_t kept;    // nodes that keep values from being removed, from this number on
    size_t looks;
    bool changed;
} peephole;

enum { MOST_USES = 256 };

// A LIST or DICT of the function which, by now, is only looked at.
static const taper_node *made_here(peephole *p, const taper_ir_value *value, taper_node_kind kind)
{
    const taper_node *made = value->node;
    int count = 0;
    if (made == NULL || made->kind != kind || value->id < p->first) {
        return NULL;
    }
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        const taper_node *user = use->user;
        p->looks++;
        if (++count > MOST_USES || user == NULL) {
            return NULL;
        }
        const taper_type *formal = user->kind == TAPER_NODE_OP && use->index < user->schema->arg_count
                                       ? user->schema->args[use->index].type
                                       : NULL;
        const bool looks = formal != NULL && (formal->kind == TAPER_TYPE_LIST || formal->kind == TAPER_TYPE_DICT) &&
                           !taper_node_writes(user, use->index);
        if (!looks && user->kind != TAPER_NODE_LIST_UNPACK && !taper_ts_is_opaque(user)) {
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

static void replace(peephole *p, taper_node *node, taper_ir_value *with)
{
    taper_value_replace_uses(&node->outputs[0], with);
    taper_node_remove(node);
    p->changed = true;
}

// A list of items of one list and then of another, NULL: none; from `start` on in steps.
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

// The length, or the item of a constant key, where all keys are constant ints or texts and no two the same.
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

bool taper_ts_never_runs(const taper_ir_value *trips, const taper_ir_value *condition)
{
    const taper_node *count = taper_value_constant(trips), *begin = taper_value_constant(condition);
    return (count != NULL && count->constant.tag == TAPER_INT && count->constant.as.i <= 0) ||
           (begin != NULL && begin->constant.tag == TAPER_BOOLEAN && !begin->constant.as.b);
}

static bool branch_is_known(const taper_node *node)
{
    const taper_node *condition = node->kind == TAPER_NODE_IF ? taper_value_constant(taper_node_in(node, 0)) : NULL;
    return condition != NULL && condition->constant.tag == TAPER_BOOLEAN;
}

// Of a branch whose condition is known, or of a loop that never runs.
static void take_branch(peephole *p, taper_node *node)
{
    p->changed = true;
    for (size_t i = 0; node->kind == TAPER_NODE_LOOP && i < node->output_count; i++) {
        taper_value_replace_uses(&node->outputs[i], taper_node_in(node, 2 + i));
    }
    if (node->kind == TAPER_NODE_LOOP) {
        taper_node_remove(node);
        return;
    }
    taper_block *taken = node->blocks[taper_value_constant(taper_node_in(node, 0))->constant.as.b ? 0 : 1];
    for (size_t i = 0; i < node->output_count; i++) {
        taper_value_replace_uses(&node->outputs[i], taken->results[i].value);
    }
    taper_block_inline_before(taken, node);
    taper_node_remove(node);
}

// Results of a branch that are its condition.
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

static taper_status visit(peephole *p, taper_node *node)
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
        taper_ir_value *inputs[TAPER_FOLD_INPUTS], *value;
        taper_val result;
        for (size_t i = 0; i < node->input_count && i < TAPER_FOLD_INPUTS; i++) {
            inputs[i] = taper_node_in(node, i);
        }
        if (node->output_count == 1 &&
            taper_ts_fold(p->lowering, node->op, node->schema, inputs, node->input_count, &result)) {
            TAPER_TRY(taper_ts_constant(p->lowering, result, &value));
            replace(p, node, value);
        }
    }
    return TAPER_OK;
}

static taper_status visit_from(peephole *p, taper_node *node)
{
    for (taper_node *next; node != NULL; node = next, p->looks++) {
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(visit_from(p, node->blocks[b]->first));
        }
        if (branch_is_known(node) ||
            (node->kind == TAPER_NODE_LOOP && taper_ts_never_runs(taper_node_in(node, 0), taper_node_in(node, 1)))) {
            taper_ts_drop_kept(p->lowering, p->kept); // some may stand in the other branch
            next = node->next;
            take_branch(p, node);
        } else {
            next = node->next;
            of_branch(p, node);
            TAPER_TRY(visit(p, node));
        }
    }
    return TAPER_OK;
}

taper_status taper_ts_peephole(taper_ts_lowering *l, taper_node *first, uint32_t first_value, size_t kept,
                               bool *changed)
{
    peephole p = {.lowering = l, .first = first_value, .kept = kept};
    TAPER_TRY(visit_from(&p, first));
    *changed = p.changed;
    return taper_ts_charge(l, p.looks);
}
