// SPDX-License-Identifier: BSD-2-Clause
// sort and sorted of objects, ordered by the `__lt__` of their class. An operator cannot call a method, so the sort is
// two loops around the inlined method: neighbours that are out of order change places. It is stable, and whatever
// `__lt__` says no object is lost. Called by overload.c.
#include "frontend/torchscript/lower.h"
#include "ops/list/op_names.h"

static taper_status two(taper_ts_lowering *l, const taper_ts_node *node, const char *name, taper_ts_binding a,
                        taper_ts_binding b, taper_ts_binding *out)
{
    const taper_ts_binding args[2] = {a, b};
    return taper_ts_builtin(l, node, name, args, NULL, 2, out);
}

static taper_status put(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding list, taper_ts_binding at,
                        taper_ts_binding item)
{
    const taper_ts_binding args[3] = {list, at, item};
    taper_ts_binding ignored;
    return taper_ts_builtin(l, node, TAPER_NAME_SET_ITEM, args, NULL, 3, &ignored);
}

// `for index in range(trips)` around what is lowered until end_loop.
static taper_status start_loop(taper_ts_lowering *l, taper_ts_binding trips, taper_ts_binding *index)
{
    taper_node *loop;
    taper_ts_binding go;
    TAPER_TRY(taper_ts_bind_constant(l, taper_val_bool(true), &taper_type_bool, &go));
    TAPER_TRY(taper_ts_add_node(l, TAPER_NODE_LOOP, 2, 0, &loop));
    taper_node_set_input(loop, 0, trips.value);
    taper_node_set_input(loop, 1, go.value);
    TAPER_TRY(taper_block_create(l->graph, loop, 1, &loop->blocks[0], l->unit->error));
    loop->block_count = 1;
    TAPER_TRY(taper_block_set_results(loop->blocks[0], &go.value, 1, l->unit->error));
    l->block = loop->blocks[0];
    *index = (taper_ts_binding){.value = &l->block->params[0], .type = &taper_type_int};
    return TAPER_OK;
}

// list[at] and its neighbour, in order.
static taper_status order(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding list, taper_ts_binding at,
                          taper_ts_binding reverse)
{
    taper_ts_binding one, next, first, second, less, step, item[2];
    TAPER_TRY(taper_ts_bind_constant(l, taper_val_int(1), &taper_type_int, &one));
    TAPER_TRY(two(l, node, TAPER_NAME_ADD, at, one, &next));
    // The later one goes first when it is less; in reverse, when the other is.
    TAPER_TRY(two(l, node, TAPER_NAME_ADD, at, reverse, &first));
    TAPER_TRY(two(l, node, TAPER_NAME_SUB, next, reverse, &second));
    TAPER_TRY(two(l, node, TAPER_NAME_GETITEM, list, first, &item[0]));
    TAPER_TRY(two(l, node, TAPER_NAME_GETITEM, list, second, &item[1]));
    TAPER_TRY(taper_ts_call_method(l, node, item[1], TAPER_ATOM_LT, &item[0], 1, &less));
    TAPER_TRY(taper_ts_builtin(l, node, TAPER_NAME_INT, &less, NULL, 1, &step));
    TAPER_TRY(two(l, node, TAPER_NAME_ADD, at, step, &first));
    TAPER_TRY(two(l, node, TAPER_NAME_SUB, next, step, &second));
    TAPER_TRY(two(l, node, TAPER_NAME_GETITEM, list, first, &item[0]));
    TAPER_TRY(two(l, node, TAPER_NAME_GETITEM, list, second, &item[1]));
    TAPER_TRY(put(l, node, list, at, item[0]));
    return put(l, node, list, next, item[1]);
}

static taper_status sort(taper_ts_lowering *l, const taper_ts_node *node, taper_ts_binding list, taper_ts_binding flag)
{
    taper_block *const outer = l->block;
    taper_ts_binding reverse, count, left, pass, at, one;
    TAPER_TRY(taper_ts_builtin(l, node, TAPER_NAME_INT, &flag, NULL, 1, &reverse));
    TAPER_TRY(taper_ts_builtin(l, node, TAPER_NAME_LEN, &list, NULL, 1, &count));
    TAPER_TRY(taper_ts_bind_constant(l, taper_val_int(1), &taper_type_int, &one));
    TAPER_TRY(two(l, node, TAPER_NAME_SUB, count, one, &left));
    TAPER_TRY(start_loop(l, left, &pass));
    TAPER_TRY(two(l, node, TAPER_NAME_SUB, left, pass, &left));
    TAPER_TRY(start_loop(l, left, &at));
    TAPER_TRY(order(l, node, list, at, reverse));
    l->block = outer;
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
    taper_ts_binding list = args->items[0], reverse;
    if (args->count == 2) {
        reverse = args->items[1];
    } else {
        TAPER_TRY(taper_ts_bind_constant(l, taper_val_bool(false), &taper_type_bool, &reverse));
    }
    if (copies) {
        TAPER_TRY(taper_ts_builtin(l, node, TAPER_NAME_COPY, &args->items[0], NULL, 1, &list));
    }
    TAPER_TRY(sort(l, node, list, reverse));
    *out = list;
    return copies ? TAPER_OK : taper_ts_bind_constant(l, taper_val_none(), &taper_type_none, out);
}
