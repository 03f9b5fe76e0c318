// SPDX-License-Identifier: BSD-2-Clause
// Finds the values of a graph that may share memory. Uses union-find over the alias annotations of schemas.
#include "ir/alias.h"

#include "base/budget.h"
#include "ir/effects.h"

enum {
    WRITTEN = 1,
    RETURNED = 2,
    MOST_USES = 1024 // largest number of uses of a value that are read, because a pass may ask once for each use, in
                     // quadratic time
};

struct taper_aliases {
    const taper_allocator *allocator;
    uint32_t *parents; // parent of each value in the union-find forest, by value id; last entry: values that other code
                       // can reach
    uint8_t *facts;    // facts of each set, stored at the id of its root
    size_t count;
};

// ---- what values of a type can contain

static const taper_type *without_optional(const taper_type *type)
{
    return type->kind == TAPER_TYPE_OPTIONAL ? type->items[0] : type;
}

static bool is_plain_type(const taper_type *type)
{
    switch (without_optional(type)->kind) {
    case TAPER_TYPE_NONE:
    case TAPER_TYPE_INT:
    case TAPER_TYPE_FLOAT:
    case TAPER_TYPE_BOOL:
    case TAPER_TYPE_COMPLEX:
    case TAPER_TYPE_NUMBER:
    case TAPER_TYPE_STRING:
    case TAPER_TYPE_DEVICE:
        return true;
    default:
        return false;
    }
}

// Returns true if a value of the type may be anything, or contain anything.
static bool is_generic(const taper_type *type)
{
    switch (type->kind) {
    case TAPER_TYPE_ANY:
    case TAPER_TYPE_VARIABLE:
    case TAPER_TYPE_ANY_LIST:
    case TAPER_TYPE_ANY_TUPLE:
    case TAPER_TYPE_FUTURE:
    case TAPER_TYPE_UNION:
    case TAPER_TYPE_OPAQUE:
    case TAPER_TYPE_CLASS:
        return true;
    default:
        for (uint32_t i = 0; i < type->count; i++) {
            if (is_generic(type->items[i])) {
                return true;
            }
        }
        return false;
    }
}

static bool is_container(const taper_type *type)
{
    const taper_type *inner = without_optional(type);
    return inner->kind == TAPER_TYPE_LIST || inner->kind == TAPER_TYPE_DICT || inner->kind == TAPER_TYPE_TUPLE ||
           is_generic(inner);
}

static const taper_schema_arg *result_of(const taper_node *node, size_t index)
{
    return node->kind == TAPER_NODE_OP && index < node->schema->ret_count ? &node->schema->rets[index] : NULL;
}

static const taper_schema_arg *argument_of(const taper_node *node, size_t index)
{
    return index < node->schema->arg_count ? &node->schema->args[index] : NULL;
}

static bool holds_only_plain(const taper_ir_value *value);

bool taper_value_is_plain(const taper_ir_value *value)
{
    const taper_node *node = value->node;
    if (value->type != NULL && is_plain_type(value->type)) {
        return true;
    }
    if (node == NULL) {
        const taper_node *loop = value->block->parent;
        // Parameter 0 of a loop's body is the number of the iteration, which shares memory with nothing.
        return loop != NULL && loop->kind == TAPER_NODE_LOOP && value->index == 0;
    }
    if (node->kind == TAPER_NODE_CONSTANT) {
        const taper_val constant = node->constant;
        return !taper_val_is_object(constant) || constant.tag == TAPER_STRING || constant.tag == TAPER_COMPLEX ||
               node->own.constant.frozen;
    }
    if (node->kind == TAPER_NODE_LIST_UNPACK || taper_node_has(node, TAPER_OP_ITEM)) {
        return holds_only_plain(taper_node_in(node, 0));
    }
    const taper_schema_arg *ret = result_of(node, value->index);
    return node->kind == TAPER_NODE_ISINSTANCE || (ret != NULL && is_plain_type(ret->type));
}

// ---- nodes

bool taper_node_writes(const taper_node *node, size_t index)
{
    if (node->kind == TAPER_NODE_CALL) {
        return true;
    }
    if (node->kind != TAPER_NODE_OP) {
        return false;
    }
    const taper_schema_arg *argument = argument_of(node, index);
    return (argument != NULL && argument->written) || taper_node_updates_statistics(node);
}

// Returns true if the node stores an input in a container. Also returns true for self.set_(source): this call makes
// self a view of source, but the schema of set_ does not say so.
static bool stores_inputs(const taper_node *node)
{
    for (size_t i = 0; i < node->input_count; i++) {
        const taper_schema_arg *argument = argument_of(node, i);
        if (argument != NULL && argument->written && is_container(argument->type)) {
            return true;
        }
    }
    return taper_node_has(node, TAPER_OP_REPLACES);
}

static bool has_alias_letter(const taper_node *node, uint8_t letter)
{
    for (size_t i = 0; i < node->schema->arg_count; i++) {
        if (node->schema->args[i].alias == letter) {
            return true;
        }
    }
    return false;
}

enum { MOST_ITEMS = 64 }; // largest number of items in a constant that are read

// Returns true for a list of numbers or strings. Other code cannot share its items, only the list itself.
static bool holds_only_plain(const taper_ir_value *value)
{
    const taper_node *node = value->node;
    if (node == NULL) {
        return false;
    }
    if (node->kind == TAPER_NODE_LIST) {
        return node->type != NULL && node->type->kind == TAPER_TYPE_LIST && is_plain_type(node->type->items[0]);
    }
    if (node->kind == TAPER_NODE_CONSTANT && node->constant.tag == TAPER_LIST) {
        const taper_list *list = node->constant.as.list;
        size_t i = 0;
        while (i < list->count && i < MOST_ITEMS &&
               (!taper_val_is_object(list->items[i]) || list->items[i].tag == TAPER_STRING)) {
            i++;
        }
        return i == list->count;
    }
    const taper_schema_arg *ret = result_of(node, value->index);
    return ret != NULL && ret->type->kind == TAPER_TYPE_LIST && is_plain_type(ret->type->items[0]);
}

// Returns true if this output of an operator may share memory with this input.
static bool may_share(const taper_node *node, size_t output, size_t input)
{
    const taper_schema_arg *ret = result_of(node, output), *argument = argument_of(node, input);
    if (taper_node_has(node, TAPER_OP_COPIES_ITEMS) && holds_only_plain(taper_node_in(node, input))) {
        return false;
    }
    if (taper_op_has(node->op, TAPER_OP_VIEW) || ret == NULL || argument == NULL || ret->wildcard ||
        is_generic(ret->type)) {
        return true;
    }
    if (ret->alias != 0) { // an alias letter that no argument has, as b in (b|a), may stand for any argument
        return ret->alias == argument->alias || !has_alias_letter(node, ret->alias);
    }
    return is_container(ret->type) && is_container(argument->type);
}

bool taper_value_is_fresh(const taper_ir_value *value)
{
    const taper_node *node = value->node;
    if (node == NULL || node->kind != TAPER_NODE_OP || taper_node_has(node, TAPER_OP_REPLACES)) {
        return false;
    }
    for (size_t i = 0; i < node->input_count; i++) {
        if (!taper_value_is_plain(taper_node_in(node, i)) && may_share(node, value->index, i)) {
            return false;
        }
    }
    return true;
}

// Returns true for an operator that the host registered, because such an operator may keep its arguments.
static bool is_registered(const taper_node *node)
{
    return taper_node_has(node, TAPER_OP_REGISTERED);
}

// Returns true if the node's result depends on the identity of input `index`. Returns false for a comparison with None.
static bool asks_identity(const taper_node *node, size_t index)
{
    if (!taper_node_has(node, TAPER_OP_ASKS_IDENTITY)) {
        return false;
    }
    const taper_val *other = index < 2 && node->input_count == 2 ? taper_node_constant_in(node, 1 - index) : NULL;
    return other == NULL || other->tag != TAPER_NONE;
}

static bool hands_on(const taper_value_use *use, bool object)
{
    const taper_node *user = use->user;
    if (user == NULL || user->kind != TAPER_NODE_OP) {
        return user == NULL || (user->kind != TAPER_NODE_ISINSTANCE && user->kind != TAPER_NODE_GET_ATTR &&
                                user->kind != TAPER_NODE_IF);
    }
    if (asks_identity(user, use->index)) {
        return true;
    }
    if (taper_node_writes(user, use->index) || stores_inputs(user) || is_registered(user)) {
        return true;
    }
    if (object && taper_node_has(user, TAPER_OP_NEW_VIEW)) {
        return false;
    }
    for (size_t o = 0; o < user->output_count; o++) {
        if (!taper_value_is_plain(&user->outputs[o]) && may_share(user, o, use->index)) {
            return true;
        }
    }
    return false;
}

static bool handed_on(const taper_ir_value *value, bool object)
{
    int count = 0;
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        if (++count > MOST_USES || hands_on(use, object)) {
            return true;
        }
    }
    return false;
}

bool taper_use_hands_on_memory(const taper_value_use *use)
{
    return hands_on(use, false);
}

bool taper_value_memory_handed_on(const taper_ir_value *value)
{
    return handed_on(value, false);
}

bool taper_value_object_handed_on(const taper_ir_value *value)
{
    return handed_on(value, true);
}

// Returns true if the user only reads items of the container. The user may be an operator that returns items, but not
// one that returns the container.
static bool reads_items(const taper_value_use *use)
{
    const taper_node *user = use->user;
    if (user == NULL || user->kind != TAPER_NODE_OP) {
        return user != NULL && user->kind == TAPER_NODE_LIST_UNPACK;
    }
    const taper_schema_arg *argument = argument_of(user, use->index);
    if (argument == NULL || argument->written || taper_op_has(user->op, TAPER_OP_VIEW) || user->schema->varret ||
        stores_inputs(user)) {
        return false;
    }
    const taper_type *type = without_optional(argument->type);
    if (type->kind != TAPER_TYPE_LIST && type->kind != TAPER_TYPE_DICT) {
        return false;
    }
    for (size_t o = 0; o < user->schema->ret_count; o++) {
        const taper_type *ret = without_optional(user->schema->rets[o].type);
        // If the type of a result is a type variable, the result is an item, because the argument is a list or dict
        // whose item type is this variable.
        if (!is_plain_type(ret) && ret->kind != TAPER_TYPE_TENSOR && ret->kind != TAPER_TYPE_VARIABLE) {
            return false;
        }
    }
    return true;
}

bool taper_value_is_only_read(const taper_ir_value *container)
{
    int count = 0;
    for (const taper_value_use *use = container->uses; use != NULL; use = use->next) {
        if (++count > MOST_USES || !reads_items(use)) {
            return false;
        }
    }
    return true;
}

// ---- sets of values that may share memory

static uint32_t root_of(const taper_aliases *a, uint32_t at)
{
    while (a->parents[at] != at) {
        a->parents[at] = a->parents[a->parents[at]];
        at = a->parents[at];
    }
    return at;
}

static uint32_t index_of(const taper_aliases *a, const taper_ir_value *value)
{
    return value->id < a->count - 1 ? value->id : (uint32_t)(a->count - 1);
}

// Joins the sets of x and y. If y is NULL, joins the set of x with the set of values that other code can reach.
static void join(const taper_aliases *a, const taper_ir_value *x, const taper_ir_value *y)
{
    if (taper_value_is_plain(x) || (y != NULL && taper_value_is_plain(y))) {
        return;
    }
    const uint32_t from = root_of(a, index_of(a, x));
    const uint32_t to = root_of(a, y != NULL ? index_of(a, y) : (uint32_t)(a->count - 1));
    a->parents[from] = to;
    a->facts[to] |= a->facts[from];
}

static void mark(const taper_aliases *a, const taper_ir_value *value, uint8_t fact)
{
    a->facts[root_of(a, index_of(a, value))] |= fact;
}

static void look_at_op(const taper_aliases *a, const taper_node *node)
{
    for (size_t i = 0; i < node->input_count && is_registered(node); i++) {
        join(a, taper_node_in(node, i), NULL);
    }
    const bool stores = stores_inputs(node);
    for (size_t i = 0; i < node->input_count; i++) {
        if ((taper_node_writes(node, i) || asks_identity(node, i)) && !taper_value_is_plain(taper_node_in(node, i))) {
            mark(a, taper_node_in(node, i), WRITTEN); // a test of identity counts as a write, because its result could
                                                      // differ for a copy
        }
        if (stores) {
            join(a, taper_node_in(node, i), taper_node_in(node, 0));
        }
    }
    for (size_t o = 0; o < node->output_count; o++) {
        for (size_t i = 0; i < node->input_count && !taper_value_is_plain(&node->outputs[o]); i++) {
            if (may_share(node, o, i)) {
                join(a, &node->outputs[o], taper_node_in(node, i));
            }
        }
    }
}

// Joins each value with the input of the same index, for example each result with its source.
static void join_each(const taper_aliases *a, const taper_ir_value *values, size_t count, const taper_ir_input *inputs)
{
    for (size_t i = 0; i < count; i++) {
        join(a, &values[i], inputs[i].value);
    }
}

static void look_at_node(const taper_aliases *a, const taper_node *node)
{
    switch ((taper_node_kind)node->kind) {
    case TAPER_NODE_CONSTANT:
    case TAPER_NODE_GET_ATTR:
    case TAPER_NODE_OBJECT:
        join(a, &node->outputs[0], NULL);
        break;
    case TAPER_NODE_SET_ATTR:
        join(a, taper_node_in(node, 1), NULL);
        break;
    case TAPER_NODE_OP:
        look_at_op(a, node);
        break;
    case TAPER_NODE_IF:
        join_each(a, node->outputs, node->output_count, node->blocks[0]->results);
        join_each(a, node->outputs, node->output_count, node->blocks[1]->results);
        break;
    case TAPER_NODE_LOOP:
        join_each(a, node->outputs, node->output_count, node->inputs + 2);
        join_each(a, node->outputs, node->output_count, node->blocks[0]->results + 1);
        for (size_t i = 0; i < node->output_count; i++) {
            join(a, &node->outputs[i], &node->blocks[0]->params[i + 1]);
        }
        break;
    case TAPER_NODE_SEGMENT:
        join_each(a, node->outputs, node->output_count, node->blocks[1]->results);
        break;
    case TAPER_NODE_CALL:
        for (size_t i = 0; i < node->input_count; i++) {
            join(a, taper_node_in(node, i), NULL);
        }
        for (size_t i = 0; i < node->output_count; i++) {
            join(a, &node->outputs[i], NULL);
        }
        a->facts[root_of(a, (uint32_t)(a->count - 1))] |= WRITTEN;
        break;
    case TAPER_NODE_LIST:
        if (holds_only_plain(&node->outputs[0])) {
            break;
        }
        // fall through
    default: // containers, and operators that take values out of containers
        for (size_t o = 0; o < node->output_count; o++) {
            for (size_t i = 0; i < node->input_count; i++) {
                join(a, &node->outputs[o], taper_node_in(node, i));
            }
        }
    }
}

// Joins and marks the values of a block. The cost, one step for each pair of input and output, is charged first. When
// the budget is spent, the remaining nodes are skipped, and taper_aliases_create fails.
static void look_at_block(const taper_aliases *a, const taper_block *block)
{
    for (const taper_node *node = block->first; node != NULL; node = node->next) {
        if (!taper_spend(a->allocator, 10 + 8 * (uint64_t)(node->input_count + 1) * (node->output_count + 1))) {
            return;
        }
        for (size_t b = 0; b < node->block_count; b++) {
            look_at_block(a, node->blocks[b]);
        }
        look_at_node(a, node);
    }
}

taper_status taper_aliases_create(const taper_graph *graph, taper_aliases **aliases, taper_error *error)
{
    const taper_allocator *allocator = graph->arena.allocator;
    taper_aliases *a = taper_alloc_zeroed(allocator, sizeof *a);
    *aliases = a;
    if (a == NULL) {
        return taper_fail_memory(error);
    }
    a->allocator = allocator;
    a->count = (size_t)graph->value_count + 1;
    a->parents = taper_alloc(allocator, a->count * sizeof *a->parents);
    a->facts = taper_alloc_zeroed(allocator, a->count);
    if (a->parents == NULL || a->facts == NULL) {
        taper_aliases_destroy(a);
        *aliases = NULL;
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < a->count; i++) {
        a->parents[i] = (uint32_t)i;
    }
    for (size_t i = 0; i < graph->body->param_count; i++) {
        join(a, &graph->body->params[i], NULL);
    }
    look_at_block(a, graph->body);
    const taper_status status = taper_charge(allocator, 0, error);
    if (status != TAPER_OK) {
        taper_aliases_destroy(a);
        *aliases = NULL;
        return status;
    }
    for (size_t i = 0; i < graph->body->result_count; i++) {
        mark(a, graph->body->results[i].value, RETURNED);
    }
    return TAPER_OK;
}

void taper_aliases_destroy(taper_aliases *aliases)
{
    if (aliases != NULL) {
        taper_free(aliases->allocator, aliases->parents, aliases->count * sizeof *aliases->parents);
        taper_free(aliases->allocator, aliases->facts, aliases->count);
        taper_free(aliases->allocator, aliases, sizeof *aliases);
    }
}

uint32_t taper_aliases_set(const taper_aliases *aliases, const taper_ir_value *value)
{
    return root_of(aliases, index_of(aliases, value));
}

uint32_t taper_aliases_outside(const taper_aliases *aliases)
{
    return root_of(aliases, (uint32_t)(aliases->count - 1));
}

size_t taper_aliases_count(const taper_aliases *aliases)
{
    return aliases->count;
}

bool taper_aliases_written(const taper_aliases *aliases, const taper_ir_value *value)
{
    return (aliases->facts[taper_aliases_set(aliases, value)] & WRITTEN) != 0;
}

bool taper_aliases_escapes(const taper_aliases *aliases, const taper_ir_value *value)
{
    const uint32_t set = taper_aliases_set(aliases, value);
    return set == taper_aliases_outside(aliases) || (aliases->facts[set] & RETURNED) != 0;
}

bool taper_aliases_outside_written(const taper_aliases *aliases)
{
    return (aliases->facts[taper_aliases_outside(aliases)] & WRITTEN) != 0;
}
