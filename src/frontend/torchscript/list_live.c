// SPDX-License-Identifier: BSD-2-Clause
// What `taper ops` does not list because PyTorch removes it. PyTorch lists the root's methods as the file has them,
// with the functions they call as it prepares those to run: inlined, with what is known of the arguments decided, and,
// where anything was decided, without what nobody looks at then, writes to unseen tensors included. So what a call
// takes and gives is kept as long as nothing was decided in the function that calls.
#include "frontend/torchscript/lower.h"
#include "ir/alias.h"
#include "ir/effects.h"
#include "ops/list/op_names.h"

enum { OPAQUE = -1, DEAD = 0, EFFECT = 1, LIVE = 2 }; // slot of a GET_ATTR that is none; `instruction` of a node

static taper_status add_opaque(taper_ts_lowering *l, taper_ir_value *value, taper_node **node)
{
    TAPER_TRY(taper_ts_add_node(l, TAPER_NODE_GET_ATTR, 1, 1, node));
    taper_node_set_input(*node, 0, value);
    (*node)->number = OPAQUE;
    return TAPER_OK;
}

taper_status taper_ts_opaque(taper_ts_lowering *l, taper_ts_binding *value)
{
    taper_node *node;
    if (value->value == NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(add_opaque(l, value->value, &node));
    node->outputs[0].type = value->type;
    value->value = &node->outputs[0];
    value->actual = NULL;
    return TAPER_OK;
}

taper_status taper_ts_keep(taper_ts_lowering *l, taper_ts_binding value)
{
    if (value.value == NULL || taper_value_constant(value.value) != NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(TAPER_GROW(l->unit->allocator, l->kept, l->kept_capacity, l->kept_count + 1, l->unit->error));
    TAPER_TRY(add_opaque(l, value.value, &l->kept[l->kept_count]));
    l->kept_count++;
    return TAPER_OK;
}

uint32_t taper_ts_folded(const taper_ts_lowering *l, const taper_ts_binding *args, size_t count)
{
    uint32_t level = l->frame->level;
    for (size_t i = 0; i < count; i++) {
        level = args[i].level != 0 && args[i].level < level ? args[i].level : level;
    }
    taper_ts_frame *frame = l->frame;
    while (frame->level > level) {
        frame = frame->outer;
    }
    frame->folded = true;
    return level == l->frame->level ? 0 : level;
}

void taper_ts_drop_kept(taper_ts_lowering *l, size_t kept_before)
{
    while (l->kept_count > kept_before) {
        taper_node_remove(l->kept[--l->kept_count]);
    }
}

bool taper_ts_is_opaque(const taper_node *node)
{
    return node->kind == TAPER_NODE_GET_ATTR && node->number == OPAQUE;
}

taper_status taper_ts_end_frame(taper_ts_lowering *l, const taper_ts_begin *begin)
{
    taper_ts_frame *frame = l->frame;
    if (!l->listing || frame->level == 0) {
        return TAPER_OK;
    }
    taper_node *result = NULL;
    bool changed;
    if (frame->result.value != NULL) { // it may become another value
        TAPER_TRY(add_opaque(l, frame->result.value, &result));
    }
    taper_node *first = begin->last != NULL ? begin->last->next : l->block->first;
    TAPER_TRY(taper_ts_peephole(l, first, begin->values, begin->kept, &changed));
    if (result != NULL) {
        frame->result.value = taper_node_in(result, 0);
        taper_node_remove(result);
    }
    if (frame->folded || changed) {
        taper_ts_drop_kept(l, begin->kept);
    }
    return TAPER_OK;
}

// ---- what calls know

// Whether anything in the statements may change a list; *looks: at how many parts of them.
static bool changes_lists(const taper_ts_lowering *l, const taper_ts_node *node, size_t *looks)
{
    static const char *const names[] = {"append", "extend",  "insert", "pop",       "clear",  "remove",
                                        "sort",   "reverse", "add_",   "_set_item", "Delete", "mul_"};
    for (; node != NULL; node = node->next, ++*looks) {
        for (size_t i = 0; node->kind == TAPER_TS_ATTRIBUTE && i < sizeof names / sizeof *names; i++) {
            if (strcmp(l->unit->atoms.names[node->atom], names[i]) == 0) {
                return true;
            }
        }
        if (changes_lists(l, node->child, looks)) {
            return true;
        }
    }
    return false;
}

// A list that a function of this level made, in a function that changes none.
static taper_status is_own_list(taper_ts_lowering *l, const taper_ts_binding *b, bool *own)
{
    size_t looks = 0;
    const taper_node *made = b->value != NULL ? b->value->node : NULL;
    *own = made != NULL && made->kind == TAPER_NODE_LIST && made->input_count != 0 &&
           made->number == (int64_t)l->frame->level && !changes_lists(l, l->frame->function->body, &looks);
    return taper_ts_charge(l, looks);
}

// Items of lists that nobody has changed, and that were passed to the function or are its own.
static const taper_node *passed_list(const taper_ts_binding *b, bool own)
{
    enum { MOST_USES = 256 };
    const taper_node *made = b->value != NULL ? b->value->node : NULL;
    int count = 0;
    if (made == NULL || made->kind != TAPER_NODE_LIST || (b->level == 0 && !own) || b->type == NULL ||
        b->type->kind != TAPER_TYPE_LIST) {
        return NULL;
    }
    for (const taper_value_use *use = made->outputs[0].uses; use != NULL; use = use->next) {
        if (++count > MOST_USES || use->user == NULL || taper_node_writes(use->user, use->index)) {
            return NULL;
        }
    }
    return made;
}

static bool is_int(const taper_ts_binding *b, int64_t *number)
{
    const taper_node *node = b->value != NULL ? taper_value_constant(b->value) : NULL;
    *number = node != NULL && node->constant.tag == TAPER_INT ? node->constant.as.i : -1;
    return node != NULL && node->constant.tag == TAPER_INT;
}

static taper_status known_item(taper_ts_lowering *l, const char *name, const taper_ts_binding *args, size_t count,
                               taper_ts_binding *out)
{
    bool own = false;
    if (strcmp(name, TAPER_NAME_LEN) == 0 || strcmp(name, TAPER_NAME_GETITEM) == 0) {
        TAPER_TRY(is_own_list(l, &args[0], &own));
    }
    const taper_node *list = passed_list(&args[0], own);
    const int64_t items = list != NULL ? list->input_count : 0;
    int64_t at;
    if (list == NULL) {
        return TAPER_OK;
    }
    if (count == 1 && strcmp(name, TAPER_NAME_LEN) == 0) {
        return taper_ts_bind_constant(l, taper_val_int(items), &taper_type_int, out);
    }
    if (count == 2 && strcmp(name, TAPER_NAME_GETITEM) == 0 && is_int(&args[1], &at)) {
        at = at < 0 ? at + items : at;
        if (at >= 0 && at < items) {
            *out = (taper_ts_binding){.value = taper_node_in(list, (size_t)at), .type = args[0].type->items[0]};
        }
    }
    return TAPER_OK;
}

// n + 0, n - 0, n * 1, n // 1
static void known_number(const char *name, const taper_ts_binding *args, taper_ts_binding *out)
{
    static const struct {
        const char *name;
        int64_t neutral;
        bool commutes;
    } rows[] = {
#define NEUTRAL(name, number, commutes) {name, number, commutes},
#include "ops/list/own_names.h"
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t other = 0; other < 2 && strcmp(rows[i].name, name) == 0; other++) {
            int64_t number;
            if (args[other].type == &taper_type_int && is_int(&args[1 - other], &number) && number == rows[i].neutral &&
                (other == 0 || rows[i].commutes)) {
                *out = args[other];
            }
        }
    }
}

taper_status taper_ts_known_in_call(taper_ts_lowering *l, const char *name, const taper_ts_arguments *args, bool *known,
                                    taper_ts_binding *out)
{
    const taper_node *made = args->count != 0 && args->items[0].value != NULL ? args->items[0].value->node : NULL;
    taper_ts_binding found = {.value = NULL};
    if (args->count == 0 || args->count > 2 || l->frame->level == 0) {
        return TAPER_OK;
    }
    if (args->count == 1 && made != NULL && strcmp(name, TAPER_NAME_DIM) == 0) {
        const unsigned layer = TAPER_FIELD(taper_node_facts(made), LAYER);
        if (layer >= TAPER_LAYER_CONV1 && layer <= TAPER_LAYER_CONV3) {
            const int64_t rank = 3 + layer - TAPER_LAYER_CONV1;
            TAPER_TRY(taper_ts_bind_constant(l, taper_val_int(rank), &taper_type_int, &found));
        }
    }
    TAPER_TRY(known_item(l, name, args->items, args->count, &found));
    if (args->count == 2) {
        known_number(name, args->items, &found);
    }
    if (found.value != NULL) {
        found.level = taper_ts_folded(l, args->items, args->count);
        *out = found;
        *known = true;
    }
    return TAPER_OK;
}

// ---- what is left, as PyTorch's elimination of dead code finds it

typedef struct marking {
    taper_ts_lowering *lowering;
    taper_aliases *aliases;
    uint8_t *values, *sets; // live: by id; by set of values that may share memory
    uint8_t *anywhere;      // sets with a value that an operator took out of a container, wherever that is from
    bool grown;
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

// What others can see: also a write to what they may hold.
static bool has_effect(const marking *m, const taper_node *node)
{
    if (node->kind == TAPER_NODE_SET_ATTR || node->kind == TAPER_NODE_CALL || taper_ts_is_opaque(node)) {
        return true;
    }
    for (size_t i = 0; node->kind == TAPER_NODE_OP && i < node->schema->arg_count && i < node->input_count; i++) {
        const uint32_t set = taper_aliases_set(m->aliases, taper_node_in(node, i));
        if (node->schema->args[i].written && (m->anywhere[set] || set == taper_aliases_outside(m->aliases))) {
            return true;
        }
    }
    return node->kind == TAPER_NODE_OP && taper_op_has(node->op, TAPER_OP_EFFECT);
}

// Which sets have values from anywhere.
static void mark_anywhere(marking *m, const taper_block *block)
{
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        node->instruction = DEAD;
        for (size_t b = 0; b < node->block_count; b++) {
            mark_anywhere(m, node->blocks[b]);
        }
        for (size_t i = 0; node->kind == TAPER_NODE_OP && i < node->schema->ret_count && i < node->output_count; i++) {
            if (node->schema->rets[i].wildcard && !taper_value_is_plain(&node->outputs[i])) {
                m->anywhere[taper_aliases_set(m->aliases, &node->outputs[i])] = true;
            }
        }
    }
}

// Marks nodes that have effects, or nodes in them that have. Returns whether there are any.
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
    for (size_t i = 0; node->kind == TAPER_NODE_OP && i < node->schema->arg_count && i < node->input_count; i++) {
        if (node->schema->args[i].written && m->sets[taper_aliases_set(m->aliases, taper_node_in(node, i))]) {
            return true;
        }
    }
    return false;
}

// Of a loop, carried values that its body looks at stay, even if only to compute themselves.
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
        do { // a loop's body until nothing new is found
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
                taper_value_replace_uses(&node->outputs[i], nothing); // results that nobody looks at
            }
            taper_node_remove(node);
        }
    }
}

// ---- overloads

const taper_type *taper_ts_type_in_graph(const taper_ir_value *value)
{
    const taper_node *constant = taper_value_constant(value);
    while (value->node != NULL && taper_ts_is_opaque(value->node)) {
        value = taper_node_in(value->node, 0);
        constant = taper_value_constant(value);
    }
    switch (constant != NULL ? constant->constant.tag : TAPER_NONE) {
    case TAPER_INT:
        return &taper_type_int;
    case TAPER_DOUBLE:
        return &taper_type_float;
    case TAPER_BOOLEAN:
        return &taper_type_bool;
    case TAPER_STRING:
        return &taper_type_string;
    default:
        return value->type;
    }
}

static bool is_number(const taper_type *type)
{
    return type->kind == TAPER_TYPE_INT || type->kind == TAPER_TYPE_FLOAT || type->kind == TAPER_TYPE_BOOL ||
           type->kind == TAPER_TYPE_COMPLEX || type->kind == TAPER_TYPE_NUMBER;
}

// Functions choose an operator of any two numbers by the types that they declare; inlined, PyTorch finds that of the
// types they were called with.
static taper_status find_overload(taper_ts_lowering *l, taper_node *node)
{
    bool fits = node->schema->arg_count == 2 && node->input_count == 2;
    for (size_t i = 0; fits && i < 2; i++) {
        fits = node->schema->args[i].type == &taper_type_number;
    }
    for (const taper_op *op = fits ? taper_row_first(node->schema->name) : NULL; op != NULL; op = taper_row_next(op)) {
        const taper_schema *schema;
        TAPER_TRY(taper_registry_schema(l->unit->registry, op, &schema, l->unit->error));
        fits = schema->arg_count == 2 && !schema->vararg;
        for (size_t i = 0; fits && i < 2; i++) {
            const taper_type *type = taper_ts_type_in_graph(taper_node_in(node, i));
            fits = type != NULL && is_number(schema->args[i].type) && taper_ts_subtype(l, type, schema->args[i].type);
        }
        if (fits) {
            taper_node_set_op(node, op, schema);
            return TAPER_OK;
        }
    }
    return TAPER_OK;
}

static taper_status find_overloads(taper_ts_lowering *l, const taper_block *block)
{
    for (taper_node *node = block->first; node != NULL; node = node->next) {
        for (size_t b = 0; b < node->block_count; b++) {
            TAPER_TRY(find_overloads(l, node->blocks[b]));
        }
        if (node->kind == TAPER_NODE_OP) {
            TAPER_TRY(find_overload(l, node));
        }
    }
    return TAPER_OK;
}

taper_status taper_ts_remove_dead(taper_ts_lowering *l)
{
    marking m = {.lowering = l};
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
        status = find_overloads(l, l->graph->body);
    }
    taper_free(l->unit->allocator, m.values, count);
    taper_free(l->unit->allocator, m.sets, count);
    taper_free(l->unit->allocator, m.anywhere, count);
    taper_aliases_destroy(m.aliases);
    return status;
}
