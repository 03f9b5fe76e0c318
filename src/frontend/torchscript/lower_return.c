// SPDX-License-Identifier: BSD-2-Clause
// Lowers an if that contains a return. PyTorch's compiler writes no such if, because it converts returns to flags, but
// sources of another origin may contain one. The statements after the if are lowered in each branch that does not
// return. Then both branches return, and the output of the if is the result of the function.
#include "frontend/torchscript/lower.h"

bool taper_ts_returns(const taper_ts_node *node, size_t *things)
{
    if (node->kind != TAPER_TS_BRANCH) {
        return node->kind == TAPER_TS_GIVE;
    }
    for (const taper_ts_node *body = node->child->next; body != NULL; body = body->next) {
        for (const taper_ts_node *inner = body->child; inner != NULL; inner = inner->next) {
            if (++*things != 0 && taper_ts_returns(inner, things)) {
                return true;
            }
        }
    }
    return false;
}

// Lowers the statements that follow the if, inside one branch of the if, and converts the result to the declared type.
static taper_status run_rest(taper_ts_lowering *l, const taper_ts_node *node)
{
    taper_ts_frame *f = l->frame;
    taper_ts_rest *const whole = f->rest;
    const taper_type *type = NULL;
    TAPER_TRY(taper_ts_deeper(l, node));
    while (!f->returned && f->rest != NULL) {
        taper_ts_node *next = f->rest->next;
        f->rest = f->rest->outer;
        TAPER_TRY(taper_ts_statements_from(l, next));
    }
    f->rest = whole;
    l->depth--;
    if (f->function->returns != NULL) {
        TAPER_TRY(taper_ts_type(l->unit, f->function->file, f->function->returns, &type));
    }
    if (f->returned) {
        return taper_ts_convert(l, node, f->result, type, -1, &f->result);
    }
    if (type != NULL && type->kind != TAPER_TYPE_NONE) {
        return taper_ts_refuse(l, node, "the function does not return a value on every path");
    }
    return taper_ts_bind_constant(l, taper_val_none(), &taper_type_none, &f->result);
}

taper_status taper_ts_returning_if(taper_ts_lowering *l, taper_ts_node *node)
{
    taper_ts_frame *f = l->frame;
    taper_ts_rest rest = {.next = node->next, .outer = f->rest};
    taper_block *const outer = l->block, *blocks[2];
    taper_ts_binding condition, given[2];
    taper_ts_node *body;
    taper_node *made;
    TAPER_TRY(taper_ts_condition(l, node, &condition, &body));
    if (body != NULL) {
        f->rest = &rest;
        TAPER_TRY(taper_ts_statements(l, body));
        f->rest = rest.outer;
        return TAPER_OK;
    }
    body = node->child->next;
    for (int b = 0; b < 2; b++, body = body->next) {
        const size_t mark = l->trail_count;
        TAPER_TRY(taper_block_create(l->graph, NULL, 0, &blocks[b], l->unit->error));
        l->block = blocks[b];
        f->rest = &rest;
        f->returned = false;
        TAPER_TRY(taper_ts_statements(l, body));
        TAPER_TRY(run_rest(l, node));
        taper_ts_undo(l, mark);
        given[b] = f->result;
    }
    l->block = outer;
    f->rest = rest.outer;
    f->returned = true;
    f->result = (taper_ts_binding){.value = NULL};
    TAPER_TRY(taper_ts_unify(l, given[0].type, given[1].type, &f->result.type));
    if (f->result.type == NULL && given[0].type != NULL && given[1].type != NULL) {
        return taper_ts_refuse(l, node, "the function returns values of different types");
    }
    TAPER_TRY(taper_ts_add_node(l, TAPER_NODE_IF, 1, 1, &made));
    taper_node_set_input(made, 0, condition.value);
    made->block_count = 2;
    for (size_t b = 0; b < 2; b++) {
        made->blocks[b] = blocks[b];
        blocks[b]->parent = made;
        TAPER_TRY(taper_block_set_results(blocks[b], &given[b].value, 1, l->unit->error));
    }
    made->outputs[0].type = f->result.type;
    f->result.value = &made->outputs[0];
    return TAPER_OK;
}
