// SPDX-License-Identifier: BSD-2-Clause
// Replaces nodes whose result already exists: x + 0, not not x, x is None if x cannot be None, casts to the type that a
// value already has, and results of an If that are equal in both blocks. peephole_containers.c replaces items that are
// read from new lists, tuples and dicts. peephole_tensors.c handles views that are undone, unnecessary copies and known
// sizes. Nodes that become constant are folded at once, because checks of one layer can give facts about the next
// layer.
#include "compiler/peephole.h"

static bool is_int(const taper_node *node, size_t index, int64_t number)
{
    const taper_val *value = taper_node_constant_in(node, index);
    return value != NULL && value->tag == TAPER_INT && value->as.i == number;
}

static bool is_bool(const taper_node *node, size_t index, bool flag)
{
    const taper_val *value = taper_node_constant_in(node, index);
    return value != NULL && value->tag == TAPER_BOOLEAN && value->as.b == flag;
}

// Returns the index of the input that the node returns unchanged, or -1 if there is no such input. Only operators on
// ints and bools are examined.
static int unchanged_number(const taper_node *node)
{
    if (taper_node_calls(node, TAPER_OP(aten_add_int))) {
        return is_int(node, 1, 0) ? 0 : is_int(node, 0, 0) ? 1 : -1;
    }
    if (taper_node_calls(node, TAPER_OP(aten_mul_int))) {
        return is_int(node, 1, 1) ? 0 : is_int(node, 0, 1) ? 1 : -1;
    }
    if (taper_node_calls(node, TAPER_OP(aten_sub_int))) {
        return is_int(node, 1, 0) ? 0 : -1;
    }
    if (taper_node_calls(node, TAPER_OP(aten_floordiv_int))) {
        return is_int(node, 1, 1) ? 0 : -1;
    }
    if (taper_node_calls(node, TAPER_OP(aten___and___bool))) {
        return is_bool(node, 1, true) ? 0 : is_bool(node, 0, true) ? 1 : -1;
    }
    if (taper_node_calls(node, TAPER_OP(aten___or___bool))) {
        return is_bool(node, 1, false) ? 0 : is_bool(node, 0, false) ? 1 : -1;
    }
    // True for a conversion to the kind that the input already has.
    const taper_type_kind kind =
        node->input_count == 1 ? taper_known_type_kind(taper_node_in(node, 0)) : TAPER_TYPE_ANY;
    const taper_op *const conversion = kind == TAPER_TYPE_INT     ? TAPER_OP(aten_Int_Scalar)
                                       : kind == TAPER_TYPE_FLOAT ? TAPER_OP(aten_Float_Scalar)
                                                                  : NULL;
    return conversion != NULL && taper_node_calls(node, conversion) ? 0 : -1;
}

static taper_status numbers(taper_peephole *p, taper_node *node, bool *done)
{
    (void)p;
    const int at = unchanged_number(node);
    if (at >= 0) {
        return taper_peephole_replace(node, taper_node_in(node, (size_t)at), done);
    }
    if (taper_node_calls(node, TAPER_OP(aten___not__))) {
        const taper_node *inner = taper_peephole_maker(node, 0, TAPER_OP(aten___not__));
        if (inner != NULL) {
            return taper_peephole_replace(node, taper_node_in(inner, 0), done);
        }
    }
    return TAPER_OK;
}

static taper_status none_tests(taper_peephole *p, taper_node *node, bool *done)
{
    const bool is = taper_node_calls(node, TAPER_OP(aten___is__));
    if (is || taper_node_calls(node, TAPER_OP(aten___isnot__))) {
        if (taper_node_in(node, 0) == taper_node_in(node, 1) &&
            taper_known_type_kind(taper_node_in(node, 0)) != TAPER_TYPE_FLOAT) { // NaN is not equal to itself
            return taper_peephole_constant(p, node, taper_val_bool(is), done);
        }
        for (size_t i = 0; i < 2; i++) {
            const taper_val *constant = taper_node_constant_in(node, i);
            if (constant != NULL && constant->tag == TAPER_NONE && taper_known_not_none(taper_node_in(node, 1 - i))) {
                return taper_peephole_constant(p, node, taper_val_bool(!is), done);
            }
        }
        return TAPER_OK;
    }
    const bool unchecked = taper_node_calls(node, TAPER_OP(prim_unchecked_cast)) ||
                           taper_node_calls(node, TAPER_OP(prim_unchecked_unwrap_optional));
    if (unchecked ||
        (taper_node_calls(node, TAPER_OP(aten__unwrap_optional)) && taper_known_not_none(taper_node_in(node, 0)))) {
        return taper_peephole_replace(node, taper_node_in(node, 0), done);
    }
    return TAPER_OK;
}

// ---- results of an If

static bool same_number(const taper_ir_value *a, const taper_ir_value *b)
{
    const taper_node *x = taper_value_constant(a), *y = taper_value_constant(b);
    return x != NULL && y != NULL && !taper_val_is_object(x->constant) && x->constant.tag == y->constant.tag &&
           (x->constant.tag == TAPER_NONE || x->constant.as.i == y->constant.as.i);
}

static taper_status branches(taper_peephole *p, taper_node *node)
{
    for (size_t i = 0; i < node->output_count; i++) {
        taper_ir_value *yes = node->blocks[0]->results[i].value, *no = node->blocks[1]->results[i].value, *value = NULL;
        const taper_node *a = taper_value_constant(yes), *b = taper_value_constant(no);
        if (node->outputs[i].uses == NULL) {
            continue;
        }
        if (yes == no) { // both blocks give the same value from outside the If
            value = yes;
        } else if (same_number(yes, no)) {
            TAPER_TRY(taper_constant_before(node, a->constant, &value, p->compilation->error));
        } else if (a != NULL && b != NULL && a->constant.tag == TAPER_BOOLEAN && b->constant.tag == TAPER_BOOLEAN &&
                   a->constant.as.b && !b->constant.as.b &&
                   taper_known_type_kind(taper_node_in(node, 0)) == TAPER_TYPE_BOOL) {
            value = taper_node_in(node, 0);
        }
        if (value != NULL) {
            taper_value_replace_uses(&node->outputs[i], value);
        }
    }
    return TAPER_OK;
}

static taper_status visit_block(taper_peephole *p, taper_block *block)
{
    for (taper_node *node = block->first, *next; node != NULL; node = next) {
        const taper_node *previous = node->previous;
        bool done = false;
        // Visits the nodes of the taken block next, because they may decide conditions of later nodes.
        if (taper_take_branch(node)) {
            next = previous != NULL ? previous->next : block->first;
            continue;
        }
        next = node->next;
        if (node->kind == TAPER_NODE_SEGMENT) {
            continue;
        }
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(visit_block(p, node->blocks[b]));
        }
        if (node->kind == TAPER_NODE_IF) {
            taper_dtypes_learn(&p->dtypes, node);
            TAPER_TRY(branches(p, node));
            continue;
        }
        TAPER_TRY(taper_fold_node(p->compilation, node, &done));
        if (!done) {
            TAPER_TRY(taper_peephole_containers(p, node, &done));
        }
        if (!done && node->kind == TAPER_NODE_OP) {
            TAPER_TRY(numbers(p, node, &done));
        }
        if (!done && node->kind == TAPER_NODE_OP) {
            TAPER_TRY(none_tests(p, node, &done));
        }
        if (!done && node->kind == TAPER_NODE_OP) {
            TAPER_TRY(taper_peephole_tensors(p, node, &done));
        }
        if (!done) {
            taper_dtypes_learn(&p->dtypes, node);
        }
    }
    return TAPER_OK;
}

taper_status taper_pass_peephole(taper_compilation *compilation, taper_graph *graph)
{
    taper_peephole p = {.compilation = compilation, .graph = graph, .ranks_change = taper_ranks_change(compilation)};
    taper_status status = taper_dtypes_create(compilation, graph, &p.dtypes);
    if (status == TAPER_OK) {
        status = visit_block(&p, graph->body);
    }
    taper_dtypes_free(&p.dtypes);
    taper_aliases_destroy(p.aliases);
    return status;
}
