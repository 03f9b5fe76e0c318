// SPDX-License-Identifier: BSD-2-Clause
// For `taper ops`: removes unused nodes, as PyTorch's dead code elimination does. Calls are not removed.
#include "frontend/torchscript/list.h"
#include "ir/alias.h"
#include "ir/effects.h"

enum { DEAD = 0, EFFECT = 1, LIVE = 2 }; // marks of a node, stored in its member `instruction`

typedef struct marking {
    taper_ts_lowering *lowering;
    taper_aliases *aliases;
    uint8_t *values, *sets; // values: true for each live value, by id; sets: true for each alias set with a live value
    // For each alias set: true if an operator read one of its values from a container whose origin is unknown.
    uint8_t *anywhere;
    bool grown;
    bool writes_stay;
} marking;

static void mark_value(marking *m, const taper_ir_value *value)
{
    if (!m->values[value->id]) {
        m->values[value->id] = true;
        m->sets[taper_aliases_set(m->aliases, value)] = true;
        m->grown = true;
    }
}

static void mark_node(marking *m, taper_node *node)
{
    for (; node != NULL && node->instruction != LIVE; node = node->block->parent) {
        node->instruction = LIVE;
        m->grown = true;
        for (size_t i = 0; i < node->input_count; i++) {
            mark_value(m, taper_node_in(node, i));
        }
    }
}

static bool writes(const taper_node *node, size_t input)
{
    return node->kind == TAPER_NODE_OP && input < node->schema->arg_count && node->schema->args[input].written;
}

enum { MOST_USES = 256 };

static bool is_made_here(const taper_ir_value *value)
{
    const taper_node *node = value->node;
    if (node == NULL || node->kind != TAPER_NODE_OP) {
        return node != NULL &&
               (node->kind == TAPER_NODE_OBJECT || node->kind == TAPER_NODE_LIST || node->kind == TAPER_NODE_DICT);
    }
    const taper_schema_arg *ret = value->index < node->schema->ret_count ? &node->schema->rets[value->index] : NULL;
    return ret != NULL && ret->alias == 0 && !ret->wildcard &&
           (ret->type->kind == TAPER_TYPE_LIST || ret->type->kind == TAPER_TYPE_DICT);
}

// Returns true if the user only reads or changes the contents of the object, list or dict, and returns nothing except
// these contents.
static bool looks_inside(const taper_value_use *use)
{
    const taper_node *user = use->user;
    if (user == NULL || user->kind == TAPER_NODE_SET_ATTR || user->kind == TAPER_NODE_GET_ATTR) {
        return user != NULL && use->index == 0;
    }
    if (user->kind != TAPER_NODE_OP || use->index >= user->schema->arg_count) {
        return false;
    }
    const taper_schema_arg *argument = &user->schema->args[use->index];
    bool inside = argument->type->kind == TAPER_TYPE_LIST || argument->type->kind == TAPER_TYPE_DICT;
    for (size_t i = 0; inside && i < user->schema->ret_count; i++) {
        const taper_schema_arg *ret = &user->schema->rets[i];
        inside = ret->alias == 0 || ret->alias != argument->alias;
    }
    return inside;
}

// Returns true if the function makes this object, list or dict for itself, so that writing to it has no effect outside.
static bool is_own(const taper_ir_value *value)
{
    int count = 0;
    bool own = is_made_here(value);
    for (const taper_value_use *use = value->uses; own && use != NULL; use = use->next) {
        own = ++count <= MOST_USES && looks_inside(use);
    }
    return own;
}

// Returns true if the node has an effect outside of the function. Writing to memory that other code may reach is such
// an effect.
static bool has_effect(const marking *m, const taper_node *node)
{
    if (node->kind == TAPER_NODE_CALL) {
        return true;
    }
    if (node->kind == TAPER_NODE_SET_ATTR) {
        return m->writes_stay || !is_own(taper_node_in(node, 0));
    }
    for (size_t i = 0; i < node->input_count; i++) {
        const uint32_t set = taper_aliases_set(m->aliases, taper_node_in(node, i));
        if (writes(node, i) && (m->writes_stay || ((m->anywhere[set] || set == taper_aliases_outside(m->aliases)) &&
                                                   !is_own(taper_node_in(node, i))))) {
            return true;
        }
    }
    return node->kind == TAPER_NODE_OP && taper_op_has(node->op, TAPER_OP_EFFECT);
}

// Returns true for a tuple whose items are all immutable.
static bool is_plain(const taper_ir_value *value)
{
    const taper_type *type = value->type;
    bool plain = type != NULL && type->kind == TAPER_TYPE_TUPLE;
    for (uint32_t i = 0; plain && i < type->count; i++) {
        const taper_type *item = type->items[i];
        plain = item->kind == TAPER_TYPE_INT || item->kind == TAPER_TYPE_FLOAT || item->kind == TAPER_TYPE_BOOL ||
                item->kind == TAPER_TYPE_STRING;
    }
    return plain || taper_value_is_plain(value);
}

// Marks the alias sets that contain values of unknown origin.
static void mark_anywhere(marking *m, const taper_block *block)
{
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        node->instruction = DEAD;
        for (size_t b = 0; b < node->block_count; b++) {
            mark_anywhere(m, node->blocks[b]);
        }
        for (size_t i = 0; node->kind == TAPER_NODE_OP && i < node->schema->ret_count && i < node->output_count; i++) {
            if (node->schema->rets[i].wildcard && !is_plain(&node->outputs[i])) {
                m->anywhere[taper_aliases_set(m->aliases, &node->outputs[i])] = true;
            }
        }
    }
}

// Marks the nodes of the block and of its nested blocks that have effects. Returns true if there are any.
static bool mark_effects(const marking *m, const taper_block *block)
{
    bool any = false;
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        bool effect = has_effect(m, node);
        for (size_t b = 0; b < node->block_count; b++) {
            effect |= mark_effects(m, node->blocks[b]);
        }
        node->instruction = effect ? EFFECT : DEAD;
        any |= effect;
    }
    return any;
}

static bool is_live(const marking *m, const taper_node *node)
{
    for (size_t i = 0; i < node->output_count; i++) {
        if (m->values[node->outputs[i].id]) {
            return true;
        }
    }
    for (size_t i = 0; i < node->input_count; i++) {
        const taper_ir_value *value = taper_node_in(node, i);
        if (writes(node, i) && (is_own(value) ? m->values[value->id] : m->sets[taper_aliases_set(m->aliases, value)])) {
            return true;
        }
    }
    if (node->kind == TAPER_NODE_SET_ATTR && m->values[taper_node_in(node, 0)->id]) {
        return true;
    }
    return false;
}

// Marks the results of the block as live. In a loop, carried values that the body reads remain, even if they are used
// only to compute themselves.
static void mark_results(marking *m, const taper_block *block)
{
    const taper_node *parent = block->parent;
    const size_t first = parent != NULL && parent->kind == TAPER_NODE_LOOP ? 1 : 0;
    if (first != 0) {
        mark_value(m, block->results[0].value);
    }
    for (size_t i = first; i < block->result_count; i++) {
        if (parent == NULL || m->values[parent->outputs[i - first].id] ||
            (first != 0 && block->params[i].uses != NULL)) {
            mark_value(m, block->results[i].value);
        }
    }
}

static taper_status mark_block(marking *m, const taper_block *block)
{
    size_t nodes = 0;
    mark_results(m, block);
    for (taper_node *node = block->last; node != NULL; node = node->previous, nodes += 8) {
        if (node->instruction == EFFECT) {
            mark_node(m, node);
        }
    }
    TAPER_TRY(taper_ts_charge(m->lowering, nodes));
    for (taper_node *node = block->last; node != NULL; node = node->previous) {
        const bool grown = m->grown;
        do { // visits the body of a loop again until nothing more is marked
            m->grown = false;
            for (size_t b = 0; b < node->block_count; b++) {
                TAPER_TRY(mark_block(m, node->blocks[b]));
            }
        } while (m->grown && node->kind == TAPER_NODE_LOOP);
        m->grown = grown || m->grown;
        if (is_live(m, node)) {
            mark_node(m, node);
        }
    }
    return TAPER_OK;
}

static void sweep(const taper_block *block, taper_ir_value *nothing)
{
    for (taper_node *node = block->last, *previous; node != NULL; node = previous) {
        previous = node->previous;
        for (size_t b = 0; b < node->block_count; b++) {
            sweep(node->blocks[b], nothing);
        }
        if (node->instruction != LIVE && node != nothing->node) {
            for (size_t i = 0; i < node->output_count; i++) {
                taper_value_replace_uses(&node->outputs[i], nothing); // the results of this node are not used
            }
            taper_node_remove(node);
        }
    }
}

taper_status taper_ts_list_live(taper_ts_lowering *l, bool writes_stay)
{
    marking m = {.lowering = l, .writes_stay = writes_stay};
    taper_ir_value *nothing;
    TAPER_TRY(taper_ts_constant(l, taper_val_none(), &nothing));
    TAPER_TRY(taper_aliases_create(l->graph, &m.aliases, l->unit->error));
    const size_t count = taper_aliases_count(m.aliases);
    m.values = taper_alloc_zeroed(l->unit->allocator, count);
    m.sets = taper_alloc_zeroed(l->unit->allocator, count);
    m.anywhere = taper_alloc_zeroed(l->unit->allocator, count);
    taper_status status =
        m.values == NULL || m.sets == NULL || m.anywhere == NULL ? taper_fail_memory(l->unit->error) : TAPER_OK;
    if (status == TAPER_OK) {
        mark_anywhere(&m, l->graph->body);
        (void)mark_effects(&m, l->graph->body);
        status = mark_block(&m, l->graph->body);
    }
    if (status == TAPER_OK) {
        sweep(l->graph->body, nothing);
    }
    memset(l->pooled, 0, sizeof l->pooled); // the cached constants may have been removed
    taper_free(l->unit->allocator, m.values, count);
    taper_free(l->unit->allocator, m.sets, count);
    taper_free(l->unit->allocator, m.anywhere, count);
    taper_aliases_destroy(m.aliases);
    return status;
}
