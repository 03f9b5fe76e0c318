// SPDX-License-Identifier: BSD-2-Clause
// Makes a copy of a graph for inputs of known sizes. Nodes that ask for sizes become constants, and so do the nodes
// that depend only on constants. The new graph then contains only operators on tensors.
#include "compiler/pass.h"
#include "ir/infer.h"

typedef struct specializing {
    taper_compilation *compilation;
    taper_graph *graph;
    taper_shapes *shapes;
    size_t list_items; // number of items in all lists that were made from growing lists
    size_t steps;      // number of nodes visited in searches from lists and dicts to their users
} specializing;

// Returns true if every user reads the list, unpacks it, or copies its items.
static bool is_only_read(const taper_ir_value *list)
{
    for (const taper_value_use *use = list->uses; use != NULL; use = use->next) {
        const taper_node *user = use->user;
        const bool copies =
            user != NULL &&
            (user->kind == TAPER_NODE_LIST_UNPACK || taper_node_calls(user, TAPER_OP(aten_slice_t)) ||
             taper_node_calls(user, TAPER_OP(aten_list_t)) || taper_node_calls(user, TAPER_OP(aten_format)));
        if (!copies && !taper_use_only_reads_list(use)) {
            return false;
        }
    }
    return true;
}

// Replaces the node by a constant.
static taper_status replace(specializing *s, taper_node *node, taper_val value)
{
    taper_ir_value *made;
    TAPER_TRY(taper_constant_before(node, value, &made, s->compilation->error));
    taper_value_replace_uses(&node->outputs[0], made);
    taper_node_remove(node);
    return TAPER_OK;
}

static taper_status replace_by_ints(specializing *s, taper_node *node, const int64_t *numbers, size_t count)
{
    taper_ir_value *made;
    TAPER_TRY(taper_constant_ints_before(s->compilation, node, numbers, count, &made));
    made->node->own.constant.frozen = true;
    taper_value_replace_uses(&node->outputs[0], made);
    taper_node_remove(node);
    return TAPER_OK;
}

static const taper_list *constant_list(const taper_ir_value *value)
{
    const taper_node *constant = taper_value_constant(value);
    return constant != NULL && constant->constant.tag == TAPER_LIST && constant->own.constant.frozen
               ? constant->constant.as.list
               : NULL;
}

// ---- queries of ranks and sizes

static taper_status answer(specializing *s, taper_node *node, bool *done)
{
    const bool dim = taper_node_calls(node, TAPER_OP(aten_dim)), all = taper_node_calls(node, TAPER_OP(aten_size)),
               one = taper_node_calls(node, TAPER_OP(aten_size_int));
    if (!dim && !all && !one) {
        return TAPER_OK;
    }
    const taper_shape shape = taper_shapes_get(s->shapes, taper_node_in(node, 0));
    if (shape.rank < 0) {
        return TAPER_OK;
    }
    if (dim) {
        *done = true;
        return replace(s, node, taper_val_int(shape.rank));
    }
    if (one) {
        const taper_val *number = taper_node_constant_in(node, 1);
        const int64_t at =
            number != NULL && number->tag == TAPER_INT ? number->as.i + (number->as.i < 0 ? shape.rank : 0) : -1;
        *done = at >= 0 && at < shape.rank && shape.sizes[at] != TAPER_UNKNOWN;
        return *done ? replace(s, node, taper_val_int(shape.sizes[at])) : TAPER_OK;
    }
    for (int d = 0; d < shape.rank; d++) {
        if (shape.sizes[d] == TAPER_UNKNOWN) {
            return TAPER_OK;
        }
    }
    if (!is_only_read(&node->outputs[0])) {
        return TAPER_OK;
    }
    *done = true;
    return replace_by_ints(s, node, shape.sizes, (size_t)shape.rank);
}

// Replaces reads of single items of a list of sizes, if only some of the sizes are known.
static taper_status some_sizes(specializing *s, taper_node *node, bool *done)
{
    const bool item = taper_node_calls(node, TAPER_OP(aten___getitem___t));
    const taper_ir_value *list = item || node->kind == TAPER_NODE_LIST_UNPACK ? taper_node_in(node, 0) : NULL;
    if (list == NULL || list->node == NULL || !taper_node_calls(list->node, TAPER_OP(aten_size)) ||
        !is_only_read(list)) {
        return TAPER_OK;
    }
    const taper_shape shape = taper_shapes_get(s->shapes, taper_node_in(list->node, 0));
    if (item) {
        const taper_val *number = taper_node_constant_in(node, 1);
        const int64_t at =
            number != NULL && number->tag == TAPER_INT ? number->as.i + (number->as.i < 0 ? shape.rank : 0) : -1;
        *done = at >= 0 && at < shape.rank && shape.sizes[at] != TAPER_UNKNOWN;
        return *done ? replace(s, node, taper_val_int(shape.sizes[at])) : TAPER_OK;
    }
    for (size_t i = 0; shape.rank == (int)node->output_count && i < node->output_count; i++) {
        taper_ir_value *made;
        if (shape.sizes[i] != TAPER_UNKNOWN && node->outputs[i].uses != NULL) {
            TAPER_TRY(taper_constant_before(node, taper_val_int(shape.sizes[i]), &made, s->compilation->error));
            taper_value_replace_uses(&node->outputs[i], made);
        }
    }
    return TAPER_OK;
}

// ---- slicing, unpacking and joining of constant lists

static taper_status slice(specializing *s, taper_node *node, bool *done)
{
    const taper_list *list = constant_list(taper_node_in(node, 0));
    int64_t numbers[3] = {0, INT64_MAX, 1}, items[TAPER_MAX_RANK];
    size_t count = 0;
    if (list == NULL || list->count > TAPER_MAX_RANK || !is_only_read(&node->outputs[0])) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < 3; i++) {
        const taper_val *number = taper_node_constant_in(node, 1 + i);
        if (number == NULL || (number->tag != TAPER_INT && number->tag != TAPER_NONE)) {
            return TAPER_OK;
        }
        numbers[i] = number->tag == TAPER_INT ? number->as.i : numbers[i];
    }
    const int64_t size = (int64_t)list->count;
    for (size_t i = 0; i < 2; i++) {
        numbers[i] = numbers[i] < 0 ? numbers[i] + size : numbers[i];
        numbers[i] = numbers[i] < 0 ? 0 : numbers[i] > size ? size : numbers[i];
    }
    if (numbers[2] < 1 || numbers[2] > size) {
        return TAPER_OK;
    }
    for (int64_t i = numbers[0]; i < numbers[1]; i += numbers[2]) {
        if (list->items[i].tag != TAPER_INT) {
            return TAPER_OK;
        }
        items[count++] = list->items[i].as.i;
    }
    *done = true;
    return replace_by_ints(s, node, items, count);
}

static taper_status take_apart(specializing *s, taper_node *node, bool *done)
{
    const taper_list *list = constant_list(taper_node_in(node, 0));
    if (list == NULL || list->count != node->output_count) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (taper_val_is_object(list->items[i])) {
            return TAPER_OK;
        }
    }
    for (size_t i = 0; i < list->count; i++) {
        taper_ir_value *made;
        TAPER_TRY(taper_constant_before(node, list->items[i], &made, s->compilation->error));
        taper_value_replace_uses(&node->outputs[i], made);
    }
    taper_node_remove(node);
    *done = true;
    return TAPER_OK;
}

static taper_status join(specializing *s, taper_node *node, bool *done)
{
    int64_t numbers[TAPER_MAX_RANK];
    if (node->input_count > TAPER_MAX_RANK || node->input_count == 0 || !is_only_read(&node->outputs[0])) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < node->input_count; i++) {
        const taper_val *item = taper_node_constant_in(node, i);
        if (item == NULL || item->tag != TAPER_INT) {
            return TAPER_OK;
        }
        numbers[i] = item->as.i;
    }
    *done = true;
    return replace_by_ints(s, node, numbers, node->input_count);
}

// ---- lists that operators append to

// Returns the next node, from `node` on, whose first argument is this list or dict. *left counts down the users.
// Returns NULL after the last user, or if the searches of this graph take too many steps.
static taper_node *next_user(specializing *s, taper_node *node, const taper_ir_value *value, size_t *left)
{
    enum { EACH = 512 }; // largest number of steps for each value of the graph
    for (; node != NULL && *left != 0 && s->steps / EACH <= s->graph->value_count; node = node->next, s->steps++) {
        if (node->kind == TAPER_NODE_OP && node->input_count != 0 && taper_node_in(node, 0) == value) {
            --*left;
            return node;
        }
    }
    return NULL;
}

// Returns true if every user of the list is in its block and appends to it or only reads it. *users: number of users.
static bool only_grows(const taper_node *list, size_t *users)
{
    bool grows = false;
    *users = 0;
    for (const taper_value_use *use = list->outputs[0].uses; use != NULL; use = use->next, ++*users) {
        const taper_node *user = use->user;
        if (user == NULL || user->block != list->block || user->kind != TAPER_NODE_OP) {
            return false;
        }
        if (taper_node_calls(user, TAPER_OP(aten_append_t)) && use->index == 0 && user->outputs[0].uses == NULL) {
            grows = true;
            continue;
        }
        const bool cat = TAPER_FIELD(taper_node_facts(user), SHAPE) == TAPER_SHAPE_JOIN ||
                         TAPER_FIELD(taper_node_facts(user), SHAPE) == TAPER_SHAPE_STACK;
        if (!cat || use->index != 0 || !taper_node_is_pure(user)) {
            return false;
        }
    }
    return grows;
}

// Gives each reader of a growing list of tensors its own list, with the items appended so far.
static taper_status grown_lists(specializing *s, taper_node *list)
{
    enum { MOST = 512 };
    taper_ir_value *items[MOST];
    size_t count = list->input_count, appends = 0, users;
    if (list->type == NULL || list->type->kind != TAPER_TYPE_LIST || list->type->items[0]->kind != TAPER_TYPE_TENSOR ||
        count > MOST || !only_grows(list, &users)) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < count; i++) {
        items[i] = taper_node_in(list, i);
    }
    for (taper_node *node = next_user(s, list->next, &list->outputs[0], &users); node != NULL;
         node = next_user(s, node->next, &list->outputs[0], &users)) {
        if (taper_node_calls(node, TAPER_OP(aten_append_t))) {
            if (count == MOST) {
                return TAPER_OK;
            }
            items[count++] = taper_node_in(node, 1);
            appends++;
            continue;
        }
        // All lists that this pass makes have together at most as many items as the graph has nodes, plus a constant.
        if (s->list_items + count > (size_t)s->graph->node_count + MOST * 64) {
            return TAPER_OK;
        }
        s->list_items += count;
        taper_node *own;
        TAPER_TRY(taper_node_create(s->graph, TAPER_NODE_LIST, count, 1, &own, s->compilation->error));
        own->type = own->outputs[0].type = list->type;
        own->debug = list->debug;
        own->instruction = list->instruction;
        taper_node_insert_before(own, node);
        for (size_t i = 0; i < count; i++) {
            taper_node_set_input(own, i, items[i]);
        }
        taper_node_set_input(node, 0, &own->outputs[0]);
    }
    if (users != 0) {
        return TAPER_OK;
    }
    for (taper_node *node = list->next, *next; appends != 0; node = next) { // the list has no more readers
        next = node->next;
        if (taper_node_calls(node, TAPER_OP(aten_append_t)) && taper_node_in(node, 0) == &list->outputs[0]) {
            taper_node_remove(node);
            appends--;
        }
    }
    return TAPER_OK;
}

// ---- dicts that are filled and read in one block

static bool is_key(const taper_node *node)
{
    const taper_val *key = taper_node_constant_in(node, 1);
    return key != NULL && key->tag == TAPER_STRING;
}

static bool is_plain_dict(const taper_node *dict, size_t *users)
{
    *users = 0;
    for (const taper_value_use *use = dict->outputs[0].uses; use != NULL; use = use->next) {
        const taper_node *user = use->user;
        if (user == NULL && use->block == dict->block->graph->body) {
            continue; // the dict is returned
        }
        if (user == NULL || user->block != dict->block || use->index != 0 || !is_key(user) ||
            (!taper_node_calls(user, TAPER_OP(aten__set_item_str)) &&
             !taper_node_calls(user, TAPER_OP(aten___getitem___Dict_str)))) {
            return false;
        }
        ++*users;
    }
    return true;
}

// Replaces each read of a key by the value that was last stored for it.
static taper_status plain_dict(specializing *s, taper_node *dict)
{
    enum { MOST = 64 };
    const taper_node *stores[MOST];
    size_t count = 0, left, sets = 0;
    bool kept = false;
    if (!taper_node_calls(dict, TAPER_OP(aten_dict)) || !is_plain_dict(dict, &left)) {
        return TAPER_OK;
    }
    for (taper_node *node = next_user(s, dict->next, &dict->outputs[0], &left), *next; node != NULL;
         node = next_user(s, next, &dict->outputs[0], &left)) {
        next = node->next;
        const taper_val key = *taper_node_constant_in(node, 1);
        size_t at = 0;
        while (at < count && !taper_val_same(*taper_node_constant_in(stores[at], 1), key)) {
            at++;
        }
        if (taper_node_calls(node, TAPER_OP(aten__set_item_str))) {
            if (at == MOST) {
                return TAPER_OK;
            }
            stores[at] = node;
            count += at == count;
            sets++;
        } else if (at < count) {
            taper_value_replace_uses(&node->outputs[0], taper_node_in(stores[at], 2));
            taper_node_remove(node);
        } else {
            kept = true; // the key is missing, so the read raises
        }
    }
    kept = kept || left != 0;
    for (const taper_value_use *use = dict->outputs[0].uses; use != NULL; use = use->next) {
        kept = kept || use->user == NULL;
    }
    for (taper_node *node = dict->next, *next; sets != 0 && !kept; node = next) { // the dict has no more readers
        next = node->next;
        if (taper_node_calls(node, TAPER_OP(aten__set_item_str)) && taper_node_in(node, 0) == &dict->outputs[0]) {
            taper_node_remove(node);
            sets--;
        }
    }
    return TAPER_OK;
}

// Computes a pure operator on constants if the result is not a tensor, or is a tensor with one element. Traced models
// convert sizes to such tensors.
static taper_status fold(specializing *s, taper_node *node, bool *done)
{
    taper_val args[TAPER_FOLD_INPUTS], result;
    bool tensors = false;
    if (node->input_count > TAPER_FOLD_INPUTS || node->output_count != 1) {
        return TAPER_OK;
    }
    for (size_t i = 0; i < node->input_count; i++) {
        const taper_val *arg = taper_node_constant_in(node, i);
        if (arg == NULL || (arg->tag == TAPER_TENSOR && taper_tensor_numel(arg->as.tensor) != 1)) {
            return TAPER_OK;
        }
        tensors = tensors || arg->tag == TAPER_TENSOR;
        args[i] = *arg;
    }
    const bool made = taper_node_calls(node, TAPER_OP(prim_NumToTensor_Scalar)) ||
                      taper_node_calls(node, TAPER_OP(prim_NumToTensor_bool)),
               small = made || (tensors && taper_node_has(node, TAPER_OP_ELEMENTWISE));
    if (small && taper_node_is_pure(node)) { // the result has one element
        bool view;
        if (taper_fold_tensor(s->compilation->registry, s->compilation->module->heap, node->op, args, node->input_count,
                              sizeof(double), &result, &view)) {
            *done = true;
            return replace(s, node, result);
        }
        return TAPER_OK;
    }
    if (!tensors) {
        TAPER_TRY(taper_fold_node(s->compilation, node, done));
        return TAPER_OK;
    }
    if (taper_node_is_pure(node) && taper_fold(s->compilation->registry, s->compilation->module->heap, node->op,
                                               node->schema, args, node->input_count, &result)) {
        *done = true;
        return replace(s, node, result);
    }
    return TAPER_OK;
}

static taper_status walk(specializing *s, taper_block *block);

static taper_status look_at(specializing *s, taper_node *node, bool *done)
{
    if (node->kind == TAPER_NODE_OP) {
        TAPER_TRY(answer(s, node, done));
        TAPER_TRY(*done ? TAPER_OK : plain_dict(s, node));
        if (!*done && taper_node_calls(node, TAPER_OP(aten_slice_t))) {
            TAPER_TRY(slice(s, node, done));
        }
        TAPER_TRY(*done ? TAPER_OK : some_sizes(s, node, done));
        return *done ? TAPER_OK : fold(s, node, done);
    }
    if (node->kind == TAPER_NODE_LIST) {
        TAPER_TRY(join(s, node, done));
        return *done ? TAPER_OK : grown_lists(s, node);
    }
    if (node->kind == TAPER_NODE_LIST_UNPACK) {
        TAPER_TRY(take_apart(s, node, done));
        return *done ? TAPER_OK : some_sizes(s, node, done);
    }
    return TAPER_OK;
}

static taper_status walk(specializing *s, taper_block *block)
{
    for (taper_node *node = block->first, *next; node != NULL; node = next) {
        taper_node *const previous = node->previous;
        bool done = false;
        next = node->next;
        if (taper_take_branch(node)) { // the nodes of the branch are now in place of the If
            next = previous != NULL ? previous->next : block->first;
            continue;
        }
        TAPER_TRY(look_at(s, node, &done));
        if (done) {
            continue;
        }
        next = node->next; // the node that was next may have been removed
        taper_shapes_learn(s->shapes, node, NULL, NULL);
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(walk(s, node->blocks[b]));
        }
    }
    return TAPER_OK;
}

taper_status taper_specialize(taper_compilation *compilation, taper_graph *graph, const taper_shape *params,
                              size_t count, taper_shapes **shapes)
{
    specializing s = {.compilation = compilation, .graph = graph};
    const size_t values = (size_t)graph->value_count + 1;
    s.shapes = taper_arena_alloc(&graph->arena, sizeof *s.shapes);
    taper_shape *all = taper_arena_array(&graph->arena, values, sizeof *all);
    if (s.shapes == NULL || all == NULL) {
        return taper_fail_memory(compilation->error);
    }
    for (size_t i = 0; i < values; i++) {
        all[i] = taper_shape_unknown();
    }
    *s.shapes = (taper_shapes){.of = all, .count = values};
    for (size_t i = 0; i < count && i < graph->body->param_count; i++) {
        all[graph->body->params[i].id] = params[i];
    }
    TAPER_TRY(walk(&s, graph->body));
    *shapes = s.shapes;
    return taper_pass_dead_code(compilation, graph);
}
