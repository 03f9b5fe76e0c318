// SPDX-License-Identifier: BSD-2-Clause
// Lowers assignments and control flow to static single assignment form. Changes of variables in a block are undone at
// its end. The outputs of an if are the variables that a branch sets and that have a value after both branches. A loop
// carries the variables that its body sets and that have a value before the loop.
#include "frontend/torchscript/lower.h"
#include "ops/list/op_names.h"

void taper_ts_undo(taper_ts_lowering *l, size_t mark)
{
    while (l->trail_count > mark) {
        l->trail_count--;
        l->frame->locals[l->trail[l->trail_count].slot] = l->trail[l->trail_count].before;
    }
}

// ---- assignments

static taper_status assign(taper_ts_lowering *l, taper_ts_node *target, taper_ts_binding value)
{
    if (target->kind == TAPER_TS_NAME) {
        return taper_ts_set_local(l, target->slot, value);
    }
    if (target->kind == TAPER_TS_TUPLE_OF) {
        size_t count = 0, i = 0;
        for (const taper_ts_node *t = target->child; t != NULL; t = t->next) {
            count++;
        }
        taper_ts_binding *items = taper_alloc(l->unit->allocator, (count + 1) * sizeof *items);
        if (items == NULL) {
            return taper_fail_memory(l->unit->error);
        }
        taper_status status = taper_ts_unpack(l, target, value, count, items);
        for (taper_ts_node *t = target->child; status == TAPER_OK && t != NULL; t = t->next) {
            status = assign(l, t, items[i++]);
        }
        taper_free(l->unit->allocator, items, (count + 1) * sizeof *items);
        return status;
    }
    if (target->kind != TAPER_TS_ATTRIBUTE) {
        return taper_ts_refuse(l, target, "nothing can be assigned to this");
    }
    taper_ts_binding object;
    taper_ts_definition *class = NULL;
    taper_ts_attribute *attribute = NULL;
    int64_t slot = -1;
    TAPER_TRY(taper_ts_value(l, target->child, NULL, &object));
    TAPER_TRY(taper_ts_find_type(l->unit, object.type, &class));
    if (class != NULL && class->kind == TAPER_TS_A_CLASS) {
        TAPER_TRY(taper_ts_find_attribute(l->unit, class, target->atom, &attribute, &slot));
    }
    if (slot < 0) {
        return taper_ts_refuse(l, target, "there is no attribute %s to assign to", l->unit->atoms.names[target->atom]);
    }
    taper_node *set;
    TAPER_TRY(taper_ts_convert(l, target, value, attribute->resolved, -1, &value));
    TAPER_TRY(taper_ts_add_node(l, TAPER_NODE_SET_ATTR, 2, 0, &set));
    taper_node_set_input(set, 0, object.value);
    taper_node_set_input(set, 1, value.value);
    set->own.slot = slot;
    return TAPER_OK;
}

static taper_status assignment(taper_ts_lowering *l, taper_ts_node *node)
{
    taper_ts_node *target = node->child, *source = target->next;
    const taper_type *type = NULL;
    taper_ts_binding value;
    if (source->next != NULL) {
        TAPER_TRY(taper_ts_type(l->unit, l->frame->function->file, source->next, &type));
    }
    // The right side of an assignment may be a function: "_0 = __torch__.f" binds the variable to the function.
    TAPER_TRY(taper_ts_lower(l, source, type, &value));
    if (type != NULL && value.value != NULL) {
        TAPER_TRY(taper_ts_convert(l, node, value, type, -1, &value));
        value.actual = value.actual != NULL ? value.actual : value.type;
        value.type = type;
    }
    if (value.value == NULL && target->kind != TAPER_TS_NAME) {
        return taper_ts_refuse(l, node, "a value was expected here");
    }
    return assign(l, target, value);
}

// ---- if statements

typedef struct merge {
    uint32_t slot;
    taper_ts_binding values[2];
} merge;

typedef struct merges {
    merge *items;
    size_t count, capacity;
} merges;

// Adds the variables that the branch has set since `mark` to the merges, and gives them the values from before the
// branch again. seen[slot]: 1 + index of the variable in m->items, or 0 if the variable is not in m->items.
static taper_status collect(taper_ts_lowering *l, size_t mark, int branch, merges *m, uint32_t *seen)
{
    for (size_t i = mark; i < l->trail_count; i++) {
        const uint32_t slot = l->trail[i].slot;
        if (seen[slot] == 0) {
            TAPER_TRY(TAPER_GROW(l->unit->allocator, m->items, m->capacity, m->count + 1, l->unit->error));
            // The trail's oldest change of a variable in this branch contains the variable's value before the if. Until
            // the other branch is visited, the value before the if is also the value after that branch.
            m->items[m->count] = (merge){.slot = slot};
            m->items[m->count].values[1 - branch] = l->trail[i].before;
            seen[slot] = (uint32_t)++m->count;
        }
        m->items[seen[slot] - 1].values[branch] = l->frame->locals[slot];
    }
    taper_ts_undo(l, mark);
    return TAPER_OK;
}

static bool same_binding(const taper_ts_binding *a, const taper_ts_binding *b)
{
    return a->value == b->value && a->definition == b->definition && a->nested == b->nested;
}

// Makes the outputs of the if, and gives the variables the values that they have after the if.
static taper_status join(taper_ts_lowering *l, const merges *m, taper_block *const *blocks, taper_ir_value *condition)
{
    size_t outputs = 0;
    const taper_type **types = taper_alloc(l->unit->allocator, (m->count + 1) * sizeof *types);
    taper_ir_value **results = taper_alloc(l->unit->allocator, (m->count + 1) * 2 * sizeof *results);
    uint32_t *slots = taper_alloc(l->unit->allocator, (m->count + 1) * sizeof *slots);
    taper_status status =
        types == NULL || results == NULL || slots == NULL ? taper_fail_memory(l->unit->error) : TAPER_OK;
    for (size_t i = 0; status == TAPER_OK && i < m->count; i++) {
        const taper_ts_binding *values = m->items[i].values;
        taper_ts_binding after = {.value = NULL};
        if (same_binding(&values[0], &values[1])) {
            after = values[0]; // only facts that hold after both branches are kept
            status = taper_ts_unify(l, values[0].type, values[1].type, &after.type);
            after.actual = values[0].actual == values[1].actual ? values[0].actual : NULL;
        } else if (values[0].value != NULL && values[1].value != NULL) {
            status = taper_ts_unify(l, values[0].type, values[1].type, &types[outputs]);
            const bool known = values[0].type != NULL && values[1].type != NULL;
            if (status == TAPER_OK && (types[outputs] != NULL || !known)) {
                results[outputs] = values[0].value;
                results[m->count + 1 + outputs] = values[1].value;
                slots[outputs++] = m->items[i].slot;
                continue;
            }
        }
        if (status == TAPER_OK) {
            status = taper_ts_set_local(l, m->items[i].slot, after);
        }
    }
    taper_node *node = NULL;
    if (status == TAPER_OK) {
        status = taper_ts_add_node(l, TAPER_NODE_IF, 1, outputs, &node);
    }
    if (status == TAPER_OK) {
        taper_node_set_input(node, 0, condition);
        node->block_count = 2;
    }
    for (size_t b = 0; status == TAPER_OK && b < 2; b++) {
        node->blocks[b] = blocks[b];
        blocks[b]->parent = node;
        status = taper_block_set_results(blocks[b], results + b * (m->count + 1), outputs, l->unit->error);
    }
    for (size_t i = 0; status == TAPER_OK && i < outputs; i++) {
        node->outputs[i].type = types[i];
        status = taper_ts_set_local(l, slots[i], (taper_ts_binding){.value = &node->outputs[i], .type = types[i]});
    }
    taper_free(l->unit->allocator, (void *)types, (m->count + 1) * sizeof *types);
    taper_free(l->unit->allocator, results, (m->count + 1) * 2 * sizeof *results);
    taper_free(l->unit->allocator, slots, (m->count + 1) * sizeof *slots);
    return status;
}

static taper_status branches(taper_ts_lowering *l, taper_ts_node *node, taper_ir_value *condition, merges *m,
                             uint32_t *seen)
{
    taper_block *const outer = l->block;
    taper_block *blocks[2];
    taper_ts_node *body = node->child->next;
    for (int b = 0; b < 2; b++, body = body->next) {
        const size_t mark = l->trail_count;
        TAPER_TRY(taper_block_create(l->graph, NULL, 0, &blocks[b], l->unit->error));
        l->block = blocks[b];
        const taper_status status = taper_ts_statements(l, body);
        l->block = outer;
        TAPER_TRY(status);
        if (l->frame->returned) {
            return taper_ts_refuse(l, node, "a return within an if, which is within a loop, with or nested function");
        }
        TAPER_TRY(collect(l, mark, b, m, seen));
    }
    return join(l, m, blocks, condition);
}

taper_status taper_ts_condition(taper_ts_lowering *l, taper_ts_node *node, taper_ts_binding *condition,
                                taper_ts_node **taken)
{
    TAPER_TRY(taper_ts_value(l, node->child, NULL, condition));
    if (condition->type != NULL && condition->type->kind != TAPER_TYPE_BOOL) {
        TAPER_TRY(taper_ts_builtin(l, node, TAPER_NAME_BOOL, condition, NULL, 1, condition));
    }
    const taper_node *known = taper_value_constant(condition->value);
    *taken = NULL;
    if (known != NULL && known->constant.tag == TAPER_BOOLEAN) {
        *taken = known->constant.as.b ? node->child->next : node->child->next->next;
    }
    return TAPER_OK;
}

static taper_status lower_if(taper_ts_lowering *l, taper_ts_node *node)
{
    taper_ts_binding condition;
    taper_ts_node *taken;
    TAPER_TRY(taper_ts_condition(l, node, &condition, &taken));
    if (taken != NULL) {
        return taper_ts_statements(l, taken);
    }
    merges m = {.items = NULL};
    TAPER_TRY(taper_ts_charge(l, l->frame->function->slots));
    const size_t bytes = ((size_t)l->frame->function->slots + 1) * sizeof(uint32_t);
    uint32_t *seen = taper_alloc_zeroed(l->unit->allocator, bytes);
    const taper_status status =
        seen == NULL ? taper_fail_memory(l->unit->error) : branches(l, node, condition.value, &m, seen);
    taper_free(l->unit->allocator, seen, bytes);
    taper_free(l->unit->allocator, m.items, m.capacity * sizeof *m.items);
    return status;
}

// ---- loops

static taper_status add_assigned(taper_ts_lowering *l, const taper_ts_node *target, merges *m, bool *seen)
{
    if (target->kind == TAPER_TS_TUPLE_OF) {
        for (const taper_ts_node *item = target->child; item != NULL; item = item->next) {
            TAPER_TRY(add_assigned(l, item, m, seen));
        }
    } else if (target->kind == TAPER_TS_NAME && !seen[target->slot]) {
        seen[target->slot] = true;
        TAPER_TRY(TAPER_GROW(l->unit->allocator, m->items, m->capacity, m->count + 1, l->unit->error));
        m->items[m->count++] = (merge){.slot = target->slot};
    }
    return TAPER_OK;
}

// Collects the variables that the statements set, also in nested blocks.
static taper_status assigned(taper_ts_lowering *l, const taper_ts_node *block, merges *m, bool *seen)
{
    for (const taper_ts_node *node = block->child; node != NULL; node = node->next) {
        const taper_ts_node *first = node->child, *second = first != NULL ? first->next : NULL;
        switch ((taper_ts_kind)node->kind) {
        case TAPER_TS_ASSIGN:
            TAPER_TRY(add_assigned(l, first, m, seen));
            break;
        case TAPER_TS_BRANCH:
            TAPER_TRY(assigned(l, second, m, seen));
            TAPER_TRY(assigned(l, second->next, m, seen));
            break;
        case TAPER_TS_COUNTED:
            TAPER_TRY(add_assigned(l, first, m, seen));
            TAPER_TRY(assigned(l, second->next, m, seen));
            break;
        case TAPER_TS_SCOPE:
            if (second->next != NULL) {
                TAPER_TRY(add_assigned(l, second->next, m, seen));
            }
            TAPER_TRY(assigned(l, second, m, seen));
            break;
        case TAPER_TS_REPEAT:
            TAPER_TRY(assigned(l, second, m, seen));
            break;
        default:
            break;
        }
    }
    return TAPER_OK;
}

typedef struct loop_form {
    taper_ir_value *trips, *condition;
    taper_ts_node *target; // variable of a for; NULL for a while
    taper_ts_node *test;   // condition of a while
    taper_ts_node *body;
    const taper_type *item_type;
    taper_ir_value *list; // the list of `for x in list`, or NULL for other loops
} loop_form;

static taper_status loop_body(taper_ts_lowering *l, const loop_form *loop, taper_node *node, merges *m)
{
    taper_block *block = node->blocks[0], *const outer = l->block;
    const size_t mark = l->trail_count;
    l->block = block;
    for (size_t i = 0; i < m->count; i++) {
        TAPER_TRY(
            taper_ts_set_local(l, m->items[i].slot,
                               (taper_ts_binding){.value = &block->params[1 + i], .type = m->items[i].values[0].type}));
    }
    if (loop->target != NULL) {
        taper_ts_binding item = {.value = &block->params[0], .type = &taper_type_int};
        if (loop->list != NULL) {
            taper_ts_binding args[2] = {{.value = loop->list, .type = loop->item_type}, item};
            TAPER_TRY(taper_ts_builtin(l, loop->target, TAPER_NAME_GETITEM, args, NULL, 2, &item));
        }
        TAPER_TRY(assign(l, loop->target, item));
    }
    const bool closed = l->frame->closed;
    l->frame->closed = true;
    TAPER_TRY(taper_ts_statements(l, loop->body));
    l->frame->closed = closed;
    if (l->frame->returned) {
        return taper_ts_refuse(l, loop->body, "a return within a loop");
    }
    taper_ts_binding next = {.value = loop->condition};
    if (loop->test != NULL) {
        TAPER_TRY(taper_ts_value(l, loop->test, NULL, &next));
    }
    taper_ir_value **results = taper_alloc(l->unit->allocator, (m->count + 1) * sizeof *results);
    if (results == NULL) {
        return taper_fail_memory(l->unit->error);
    }
    results[0] = next.value;
    for (size_t i = 0; i < m->count; i++) {
        const taper_ts_binding *after = &l->frame->locals[m->items[i].slot];
        // If the variable has no value after the body, for example because branches disagree on its type, it keeps the
        // value from before this iteration.
        results[1 + i] = after->value != NULL ? after->value : &block->params[1 + i];
        m->items[i].values[1] = *after;
    }
    const taper_status status = taper_block_set_results(block, results, m->count + 1, l->unit->error);
    taper_free(l->unit->allocator, results, (m->count + 1) * sizeof *results);
    taper_ts_undo(l, mark);
    l->block = outer;
    return status;
}

static taper_status run_loop(taper_ts_lowering *l, const loop_form *loop, merges *m)
{
    taper_node *node;
    TAPER_TRY(taper_ts_add_node(l, TAPER_NODE_LOOP, m->count + 2, m->count, &node));
    taper_node_set_input(node, 0, loop->trips);
    taper_node_set_input(node, 1, loop->condition);
    for (size_t i = 0; i < m->count; i++) {
        taper_node_set_input(node, 2 + i, m->items[i].values[0].value);
    }
    TAPER_TRY(taper_block_create(l->graph, node, m->count + 1, &node->blocks[0], l->unit->error));
    node->block_count = 1;
    TAPER_TRY(loop_body(l, loop, node, m));
    for (size_t i = 0; i < m->count; i++) {
        taper_ts_binding after = {.value = &node->outputs[i]};
        TAPER_TRY(taper_ts_unify(l, m->items[i].values[0].type, m->items[i].values[1].type, &after.type));
        node->outputs[i].type = after.type;
        TAPER_TRY(taper_ts_set_local(l, m->items[i].slot, after));
    }
    return TAPER_OK;
}

static taper_status lower_loop(taper_ts_lowering *l, const loop_form *loop)
{
    merges m = {.items = NULL};
    TAPER_TRY(taper_ts_charge(l, l->frame->function->slots));
    const size_t bytes = (size_t)l->frame->function->slots + 1;
    bool *seen = taper_alloc_zeroed(l->unit->allocator, bytes);
    taper_status status = seen == NULL ? taper_fail_memory(l->unit->error) : assigned(l, loop->body, &m, seen);
    size_t kept = 0;
    // Only variables with a value before the loop are carried. All other variables are local to the body.
    for (size_t i = 0; status == TAPER_OK && i < m.count; i++) {
        const taper_ts_binding *before = &l->frame->locals[m.items[i].slot];
        if (before->value != NULL) {
            m.items[kept] = m.items[i];
            m.items[kept++].values[0] = *before;
        }
    }
    m.count = kept;
    if (status == TAPER_OK) {
        status = run_loop(l, loop, &m);
    }
    taper_free(l->unit->allocator, seen, bytes);
    taper_free(l->unit->allocator, m.items, m.capacity * sizeof *m.items);
    return status;
}

static taper_status lower_for(taper_ts_lowering *l, taper_ts_node *node)
{
    taper_ts_node *source = node->child->next;
    loop_form loop = {.target = node->child, .body = source->next};
    taper_ts_binding value;
    const bool range = source->kind == TAPER_TS_CALL && source->child->kind == TAPER_TS_NAME &&
                       source->child->atom == TAPER_ATOM_RANGE;
    if (range) {
        taper_ts_node *count = source->child->next;
        if (count == NULL || count->next != NULL) {
            return taper_ts_refuse(l, source, "range() is known with one argument only");
        }
        TAPER_TRY(taper_ts_value(l, count, NULL, &value));
        TAPER_TRY(taper_ts_convert(l, count, value, &taper_type_int, -1, &value));
    } else {
        taper_ts_binding list;
        TAPER_TRY(taper_ts_value(l, source, NULL, &list));
        loop.list = list.value;
        loop.item_type = list.type;
        TAPER_TRY(taper_ts_builtin(l, source, TAPER_NAME_LEN, &list, NULL, 1, &value));
    }
    loop.trips = value.value;
    TAPER_TRY(taper_ts_constant(l, taper_val_bool(true), &loop.condition));
    return lower_loop(l, &loop);
}

static taper_status lower_while(taper_ts_lowering *l, taper_ts_node *node)
{
    loop_form loop = {.test = node->child, .body = node->child->next};
    taper_ts_binding condition;
    TAPER_TRY(taper_ts_value(l, node->child, NULL, &condition));
    loop.condition = condition.value;
    TAPER_TRY(taper_ts_constant(l, taper_val_int(INT64_MAX), &loop.trips));
    return lower_loop(l, &loop);
}

// Lowers `with x as y`: calls x.__enter__() before the block and x.__exit__() after it.
static taper_status lower_with(taper_ts_lowering *l, taper_ts_node *node)
{
    taper_ts_node *body = node->child->next, *target = body->next;
    taper_ts_binding object, entered, none, ignored;
    TAPER_TRY(taper_ts_value(l, node->child, NULL, &object));
    TAPER_TRY(taper_ts_call_method(l, node, object, TAPER_ATOM_ENTER, NULL, 0, &entered));
    if (target != NULL) {
        TAPER_TRY(assign(l, target, entered));
    }
    const bool closed = l->frame->closed;
    l->frame->closed = true;
    TAPER_TRY(taper_ts_statements(l, body));
    l->frame->closed = closed;
    TAPER_TRY(taper_ts_bind_constant(l, taper_val_none(), &taper_type_none, &none));
    const taper_ts_binding args[3] = {none, none, none};
    return taper_ts_call_method(l, node, object, TAPER_ATOM_EXIT, args, 3, &ignored);
}

// ---- statements

static taper_status lower_return(taper_ts_lowering *l, taper_ts_node *node)
{
    taper_ts_frame *f = l->frame;
    const taper_type *type = NULL;
    if (f->function->returns != NULL) {
        TAPER_TRY(taper_ts_type(l->unit, f->function->file, f->function->returns, &type));
    }
    f->returned = true;
    if (node->child == NULL) {
        return taper_ts_bind_constant(l, taper_val_none(), &taper_type_none, &f->result);
    }
    TAPER_TRY(taper_ts_value(l, node->child, type, &f->result));
    return TAPER_OK;
}

static taper_status statement(taper_ts_lowering *l, taper_ts_node *node)
{
    taper_ts_binding ignored;
    if (l->frame->returned) {
        return taper_ts_refuse(l, node, "code behind a return");
    }
    l->at = node->at;
    switch ((taper_ts_kind)node->kind) {
    case TAPER_TS_ASSIGN:
        return assignment(l, node);
    case TAPER_TS_DECLARE:
        return TAPER_OK;
    case TAPER_TS_EXPRESSION:
        return taper_ts_lower(l, node->child, NULL, &ignored);
    case TAPER_TS_BRANCH:
        return lower_if(l, node);
    case TAPER_TS_COUNTED:
        return lower_for(l, node);
    case TAPER_TS_REPEAT:
        return lower_while(l, node);
    case TAPER_TS_SCOPE:
        return lower_with(l, node);
    case TAPER_TS_GIVE:
        return lower_return(l, node);
    case TAPER_TS_NESTED:
        return taper_ts_set_local(l, node->slot, (taper_ts_binding){.nested = node->as.function});
    default:
        return taper_ts_refuse(l, node, "this is no statement");
    }
}

taper_status taper_ts_statements_from(taper_ts_lowering *l, taper_ts_node *node)
{
    for (; node != NULL; node = node->next) {
        size_t things = 0;
        if (node->kind != TAPER_TS_BRANCH || l->frame->closed || l->frame->returned ||
            !taper_ts_returns(node, &things)) {
            TAPER_TRY(taper_ts_charge(l, things));
            TAPER_TRY(statement(l, node));
            continue;
        }
        l->at = node->at;
        TAPER_TRY(taper_ts_charge(l, things));
        TAPER_TRY(taper_ts_returning_if(l, node));
        if (l->frame->returned) {
            break;
        }
    }
    return TAPER_OK;
}

taper_status taper_ts_statements(taper_ts_lowering *l, const taper_ts_node *block)
{
    TAPER_TRY(taper_ts_deeper(l, block));
    TAPER_TRY(taper_ts_statements_from(l, block->child));
    l->depth--;
    return TAPER_OK;
}
