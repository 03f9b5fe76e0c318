// SPDX-License-Identifier: BSD-2-Clause
// Lowers sort and sorted of objects, which are ordered by the `__lt__` of their class. An operator cannot call a
// method, so the sort consists of loops around the inlined method: runs of one, two, four objects and so on are merged
// into another list. The sort is stable. No object is lost, even if `__lt__` is inconsistent or raises: a list that is
// sorted in place changes only at the end. overload.c calls this.
#include "frontend/torchscript/lower.h"
#include "ops/list/op_names.h"

enum { MOST_CARRIED = 3 };

static taper_status two(taper_ts_lowering *l, const taper_ts_node *node, const char *name, taper_ts_binding a,
                        taper_ts_binding b, taper_ts_binding *out)
{
    const taper_ts_binding args[2] = {a, b};
    return taper_ts_builtin(l, node, name, args, NULL, 2, out);
}

static taper_status one(taper_ts_lowering *l, const taper_ts_node *node, const char *name, taper_ts_binding list)
{
    taper_ts_binding ignored;
    return taper_ts_builtin(l, node, name, &list, NULL, 1, &ignored);
}

static taper_status number(taper_ts_lowering *l, int64_t value, taper_ts_binding *out)
{
    return taper_ts_bind_constant(l, taper_val_int(value), &taper_type_int, out);
}

// Begins a block of the node. The following statements are lowered into this block.
static taper_status start_block(taper_ts_lowering *l, taper_node *node, size_t params)
{
    taper_block **block = &node->blocks[node->block_count];
    TAPER_TRY(taper_block_create(l->graph, node, params, block, l->unit->error));
    node->block_count++;
    l->block = *block;
    return TAPER_OK;
}

// Sets the results of the block and continues in the block `outer`, which contains the node of the block.
static taper_status end_block(taper_ts_lowering *l, taper_block *outer, const taper_ts_binding *results, size_t count)
{
    taper_ir_value *values[MOST_CARRIED + 1];
    for (size_t i = 0; i < count; i++) {
        values[i] = results[i].value;
    }
    TAPER_TRY(taper_block_set_results(l->block, values, count, l->unit->error));
    l->block = outer;
    return TAPER_OK;
}

// Begins a loop, whose body ends at end_block. The loop runs at most `trips` times (NULL: no limit), while the
// condition is true. `carried`: values before the loop; `within`: the same variables in the body; `after`: after the
// loop.
static taper_status start_loop(taper_ts_lowering *l, const taper_ts_binding *trips, taper_ts_binding condition,
                               const taper_ts_binding *carried, size_t count, taper_ts_binding *within,
                               taper_ts_binding *after)
{
    taper_node *loop;
    taper_ts_binding all;
    if (trips == NULL) {
        TAPER_TRY(number(l, INT64_MAX, &all));
        trips = &all;
    }
    TAPER_TRY(taper_ts_add_node(l, TAPER_NODE_LOOP, count + 2, count, &loop));
    taper_node_set_input(loop, 0, trips->value);
    taper_node_set_input(loop, 1, condition.value);
    TAPER_TRY(start_block(l, loop, count + 1));
    for (size_t i = 0; i < count; i++) {
        const taper_type *type = carried[i].type;
        taper_node_set_input(loop, i + 2, carried[i].value);
        loop->outputs[i].type = type;
        within[i] = (taper_ts_binding){.value = &loop->blocks[0]->params[i + 1], .type = type};
        after[i] = (taper_ts_binding){.value = &loop->outputs[i], .type = type};
    }
    return TAPER_OK;
}

// Ends one of the two branches that take an item from a run. Results of the branch are the positions in both runs, the
// item, and true if the run that the item came from has more items.
static taper_status take(taper_ts_lowering *l, const taper_ts_node *node, taper_block *outer, taper_ts_binding at[2],
                         size_t from, taper_ts_binding item, taper_ts_binding end)
{
    taper_ts_binding step, results[4] = {at[0], at[1], item};
    TAPER_TRY(number(l, 1, &step));
    TAPER_TRY(two(l, node, TAPER_NAME_ADD, at[from], step, &results[from]));
    TAPER_TRY(two(l, node, TAPER_NAME_LT, results[from], end, &results[3]));
    return end_block(l, outer, results, 4);
}

// Merges two sorted runs and appends them to `to`. The runs are the items of `list` from at[0] to `middle`, and from
// at[1], which equals `middle`, to `end`.
static taper_status merge(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding list, taper_ts_binding to,
                          taper_ts_binding low, taper_ts_binding middle, taper_ts_binding end)
{
    taper_block *const outer = l->block;
    taper_ts_binding at[2] = {low, middle}, after[2], in[2], items[2], less, goes_on, step, rest, ignored;
    TAPER_TRY(two(l, node, TAPER_NAME_LT, middle, end, &goes_on));
    TAPER_TRY(start_loop(l, NULL, goes_on, at, 2, in, after));
    taper_block *const body = l->block;
    for (size_t i = 0; i < 2; i++) {
        TAPER_TRY(two(l, node, TAPER_NAME_GETITEM, list, in[i], &items[i]));
    }
    TAPER_TRY(taper_ts_call_method(l, node, items[1], TAPER_ATOM_LT, &items[0], 1, &less));
    taper_node *choice;
    TAPER_TRY(taper_ts_add_node(l, TAPER_NODE_IF, 1, 4, &choice));
    taper_node_set_input(choice, 0, less.value);
    TAPER_TRY(start_block(l, choice, 0));
    TAPER_TRY(take(l, node, body, in, 1, items[1], end));
    TAPER_TRY(start_block(l, choice, 0));
    TAPER_TRY(take(l, node, body, in, 0, items[0], middle));
    const taper_type *const types[4] = {&taper_type_int, &taper_type_int, items[0].type, &taper_type_bool};
    taper_ts_binding chosen[4];
    for (size_t i = 0; i < 4; i++) {
        choice->outputs[i].type = types[i];
        chosen[i] = (taper_ts_binding){.value = &choice->outputs[i], .type = types[i]};
    }
    TAPER_TRY(two(l, node, TAPER_NAME_APPEND, to, chosen[2], &ignored));
    TAPER_TRY(end_block(l, outer, (taper_ts_binding[]){chosen[3], chosen[0], chosen[1]}, 3));
    TAPER_TRY(number(l, 1, &step));
    for (size_t i = 0; i < 2; i++) { // appends the remaining items of the run that still has items
        const taper_ts_binding part[4] = {list, after[i], i == 0 ? middle : end, step};
        TAPER_TRY(taper_ts_builtin(l, node, TAPER_NAME_SLICE, part, NULL, 4, &rest));
        TAPER_TRY(two(l, node, TAPER_NAME_EXTEND, to, rest, &ignored));
    }
    return TAPER_OK;
}

// Merges pairs of runs into runs of twice the width, in a new list.
static taper_status merge_runs(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding list,
                               taper_ts_binding width, taper_ts_binding count, taper_ts_binding *merged)
{
    taper_block *const outer = l->block;
    taper_ts_binding start, always, low, after, middle, results[2];
    TAPER_TRY(taper_ts_make_container(l, TAPER_NODE_LIST, list.type, NULL, 0, merged));
    TAPER_TRY(number(l, 0, &start));
    TAPER_TRY(taper_ts_bind_constant(l, taper_val_bool(true), &taper_type_bool, &always));
    TAPER_TRY(start_loop(l, NULL, always, &start, 1, &low, &after));
    taper_ts_binding ends[2], from = low;
    for (size_t i = 0; i < 2; i++, from = middle) {
        TAPER_TRY(two(l, node, TAPER_NAME_ADD, from, width, &middle));
        TAPER_TRY(two(l, node, TAPER_NAME_MIN, middle, count, &middle));
        ends[i] = middle;
    }
    TAPER_TRY(merge(l, node, list, *merged, low, ends[0], ends[1]));
    TAPER_TRY(two(l, node, TAPER_NAME_LT, ends[1], count, &results[0]));
    results[1] = ends[1];
    return end_block(l, outer, results, 2);
}

// Reverses the list if the bool if_so is true. If if_so is NULL, does nothing.
static taper_status turn(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding list,
                         const taper_ts_binding *if_so)
{
    taper_block *const outer = l->block;
    taper_ts_binding times, always;
    if (if_so == NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_ts_builtin(l, node, TAPER_NAME_INT, if_so, NULL, 1, &times));
    TAPER_TRY(taper_ts_bind_constant(l, taper_val_bool(true), &taper_type_bool, &always));
    TAPER_TRY(start_loop(l, &times, always, NULL, 0, NULL, NULL));
    TAPER_TRY(one(l, node, TAPER_NAME_REVERSE, list));
    return end_block(l, outer, &always, 1);
}

// Makes a sorted list of the items. reverse: bool that is true if the largest item is first; may be NULL. If `reverse`
// is true, the list is reversed before and after sorting, so that equal items keep their order.
static taper_status sort(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding list,
                         const taper_ts_binding *reverse, taper_ts_binding *out)
{
    taper_block *const outer = l->block;
    taper_ts_binding count, more, carried[2], in[2], after[2], results[3];
    TAPER_TRY(taper_ts_builtin(l, node, TAPER_NAME_COPY, &list, NULL, 1, &carried[0]));
    TAPER_TRY(turn(l, node, carried[0], reverse));
    TAPER_TRY(taper_ts_builtin(l, node, TAPER_NAME_LEN, &list, NULL, 1, &count));
    TAPER_TRY(number(l, 1, &carried[1]));
    TAPER_TRY(two(l, node, TAPER_NAME_LT, carried[1], count, &more));
    TAPER_TRY(start_loop(l, NULL, more, carried, 2, in, after));
    TAPER_TRY(merge_runs(l, node, in[0], in[1], count, &results[1]));
    TAPER_TRY(two(l, node, TAPER_NAME_ADD, in[1], in[1], &results[2]));
    TAPER_TRY(two(l, node, TAPER_NAME_LT, results[2], count, &results[0]));
    TAPER_TRY(end_block(l, outer, results, 3));
    TAPER_TRY(turn(l, node, after[0], reverse));
    *out = after[0];
    return TAPER_OK;
}

taper_status taper_ts_sort_objects(taper_ts_lowering *l, const taper_ts_node *node, const char *name,
                                   const taper_ts_arguments *args, bool *done, taper_ts_binding *out)
{
    const taper_type *type = args->count != 0 ? args->items[0].type : NULL;
    const bool copies = strcmp(name, TAPER_NAME_SORTED) == 0;
    taper_ts_definition *class;
    if ((!copies && strcmp(name, TAPER_NAME_SORT) != 0) || args->count > 2 || type == NULL ||
        type->kind != TAPER_TYPE_LIST || type->count != 1) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_ts_find_type(l->unit, type->items[0], &class));
    if (class == NULL || class->kind != TAPER_TS_A_CLASS || taper_ts_method(class, TAPER_ATOM_LT) == NULL) {
        return TAPER_OK;
    }
    *done = true;
    taper_ts_binding ignored;
    TAPER_TRY(sort(l, node, args->items[0], args->count == 2 ? &args->items[1] : NULL, out));
    if (copies) {
        return TAPER_OK;
    }
    TAPER_TRY(one(l, node, TAPER_NAME_CLEAR, args->items[0]));
    TAPER_TRY(two(l, node, TAPER_NAME_EXTEND, args->items[0], *out, &ignored));
    return taper_ts_bind_constant(l, taper_val_none(), &taper_type_none, out);
}
