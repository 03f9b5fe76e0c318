// SPDX-License-Identifier: BSD-2-Clause
// Replaces relu_(x) by relu(x) if an operator of the same block made x as a new tensor, and all other users of x are
// earlier and kept no reference. Both forms must give the same dtype, sizes and strides for every x. Replaces
// append(list, x) by an item of the list if the list was made in the same block and was not used before. Nodes are
// visited in order, so the number of users visited shows which users are earlier.
#include "compiler/facts.h"
#include "ir/alias.h"

enum {
    MOST_USES = 64, // largest number of uses of a value that are examined for each node that writes to it
    FARTHEST = 256  // largest number of nodes between a list and an append
};

typedef struct walk {
    taper_compilation *compilation;
    uint32_t *passed; // number of uses already visited, by value id
    size_t value_count;
    taper_dtypes *dtypes;
} walk;

// ---- operators that write to a tensor

// Returns true if the functional form gives a tensor of x's dtype for every x. Some functional forms turn integers into
// floats. The dtypes of other tensor arguments are unknown.
static bool same_meaning(const walk *w, const taper_node *node)
{
    taper_dtype dtype;
    const taper_schema *schema = node->schema;
    for (size_t i = 1; i < schema->arg_count; i++) {
        const taper_type *type = schema->args[i].type;
        if (type->kind == TAPER_TYPE_TENSOR ||
            (type->kind == TAPER_TYPE_OPTIONAL && type->items[0]->kind == TAPER_TYPE_TENSOR)) {
            return false;
        }
    }
    if (!taper_node_has(node, TAPER_OP_ELEMENTWISE)) {
        return false;
    }
    switch (TAPER_FIELD(taper_node_facts(node), RESULT)) {
    case TAPER_RESULT_SAME:
        return true;
    case TAPER_RESULT_FLOAT:
        return !taper_takes_complex_number(node) && taper_known_dtype(w->dtypes, taper_node_in(node, 0), &dtype) &&
               taper_dtype_is_float(dtype);
    default:
        return false;
    }
}

// Returns true if `node` is the last user of `value`, and the earlier users kept no reference to it.
static bool is_last_user(const walk *w, const taper_node *node, const taper_ir_value *value)
{
    size_t uses = 0;
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        if (++uses > MOST_USES || (use->user != node && taper_use_hands_on_memory(use))) {
            return false;
        }
    }
    return value->id < w->value_count && w->passed[value->id] + 1 == uses;
}

static taper_status make_functional(const walk *w, taper_node *node)
{
    if (node->kind != TAPER_NODE_OP || !node->schema->in_place || node->output_count != 1 || !same_meaning(w, node)) {
        return TAPER_OK;
    }
    const taper_ir_value *value = taper_node_in(node, 0);
    if (value->block != node->block || !taper_value_is_fresh(value) || !is_last_user(w, node, value) ||
        taper_node_calls(value->node, TAPER_OP(aten_empty_strided))) {
        return TAPER_OK;
    }
    const taper_op *op;
    const taper_schema *schema = NULL;
    TAPER_TRY(taper_functional_row(w->compilation, node, &op, &schema));
    if (op != NULL) {
        taper_node_set_op(node, op, schema);
    }
    return TAPER_OK;
}

// ---- writes to lists

static bool is_append(const taper_node *node, const taper_node *list)
{
    return taper_node_calls(node, TAPER_OP(aten_append_t)) && taper_node_in(node, 0) == &list->outputs[0] &&
           taper_node_in(node, 1) != &list->outputs[0] && node->block == list->block &&
           (node->output_count == 0 || node->outputs[0].uses == NULL);
}

// Returns the next node after `at` that uses the list. Returns NULL if the search becomes too long, or reaches a node
// with blocks, which may use the list.
static taper_node *next_user(const taper_node *at, const taper_node *list)
{
    int steps = 0;
    for (taper_node *node = at->next; node != NULL && node->block_count == 0 && steps < FARTHEST; node = node->next) {
        steps++;
        for (size_t i = 0; i < node->input_count; i++) {
            if (taper_node_in(node, i) == &list->outputs[0]) {
                return node;
            }
        }
    }
    return NULL;
}

// Makes a list with the items of `count` appends, at the place of the last append.
static taper_status make_whole(const walk *w, taper_node *list, taper_node *last, size_t count)
{
    taper_node *whole;
    TAPER_TRY(taper_node_create(list->block->graph, TAPER_NODE_LIST, list->input_count + count, 1, &whole,
                                w->compilation->error));
    whole->type = list->type;
    whole->debug = list->debug;
    whole->instruction = list->instruction;
    whole->outputs[0].type = list->outputs[0].type;
    taper_node_insert_before(whole, last);
    for (size_t i = 0; i < list->input_count; i++) {
        taper_node_set_input(whole, i, taper_node_in(list, i));
    }
    size_t at = list->input_count;
    for (taper_node *node = list->next, *next; at < whole->input_count; node = next) {
        next = node->next;
        if (is_append(node, list)) {
            taper_node_set_input(whole, at++, taper_node_in(node, 1));
            taper_node_remove(node);
        }
    }
    taper_value_replace_uses(&list->outputs[0], &whole->outputs[0]);
    taper_node_remove(list);
    return TAPER_OK;
}

static taper_status fold_appends(const walk *w, taper_node *list, bool *folded)
{
    size_t count = 0;
    taper_node *last = list;
    for (taper_node *node = next_user(list, list); node != NULL && is_append(node, list);
         node = next_user(last, list)) {
        count++;
        last = node;
    }
    *folded = count != 0 && list->input_count + count <= TAPER_LIMIT_ARGUMENTS;
    return *folded ? make_whole(w, list, last, count) : TAPER_OK;
}

// ---- visiting the nodes of a graph

static void pass_by(const walk *w, const taper_ir_input *inputs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (inputs[i].value->id < w->value_count) {
            w->passed[inputs[i].value->id]++;
        }
    }
}

static taper_status visit_block(const walk *w, taper_block *block)
{
    for (taper_node *node = block->first, *next; node != NULL; node = next) {
        if (node->kind == TAPER_NODE_LIST) {
            const taper_node *previous = node->previous;
            bool folded;
            TAPER_TRY(fold_appends(w, node, &folded));
            if (folded) {
                next = previous != NULL ? previous->next : block->first;
                continue;
            }
        }
        next = node->next;
        for (size_t b = 0; b < node->block_count && node->kind != TAPER_NODE_SEGMENT; b++) {
            TAPER_TRY(visit_block(w, node->blocks[b]));
        }
        TAPER_TRY(make_functional(w, node));
        taper_dtypes_learn(w->dtypes, node);
        pass_by(w, node->inputs, node->input_count);
    }
    pass_by(w, block->results, block->result_count);
    return TAPER_OK;
}

taper_status taper_pass_remove_mutation(taper_compilation *compilation, taper_graph *graph)
{
    taper_dtypes dtypes;
    walk w = {.compilation = compilation, .value_count = graph->value_count, .dtypes = &dtypes};
    const size_t bytes = (w.value_count + 1) * sizeof *w.passed;
    taper_status status = taper_dtypes_create(compilation, graph, &dtypes);
    w.passed = taper_alloc_zeroed(compilation->allocator, bytes);
    if (status == TAPER_OK) {
        status = w.passed == NULL ? taper_fail_memory(compilation->error) : visit_block(&w, graph->body);
    }
    taper_free(compilation->allocator, w.passed, bytes);
    taper_dtypes_free(&dtypes);
    return status;
}
