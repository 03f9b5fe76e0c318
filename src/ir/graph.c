// SPDX-License-Identifier: BSD-2-Clause
// Creates, links and frees graphs, blocks, nodes and values.
#include "ir/graph.h"

typedef struct taper_constant_ref {
    struct taper_constant_ref *next;
    taper_val value;
} taper_constant_ref;

taper_status taper_graph_create(const taper_allocator *allocator, const char *name, size_t params, taper_graph **graph,
                                taper_error *error)
{
    *graph = taper_alloc_zeroed(allocator, sizeof **graph);
    if (*graph == NULL) {
        return taper_fail_memory(error);
    }
    taper_arena_init(&(*graph)->arena, allocator);
    (*graph)->name = taper_arena_string(&(*graph)->arena, name, strlen(name));
    taper_status status = (*graph)->name == NULL ? taper_fail_memory(error) : TAPER_OK;
    if (status == TAPER_OK) {
        status = taper_block_create(*graph, NULL, params, &(*graph)->body, error);
    }
    if (status != TAPER_OK) {
        taper_graph_destroy(*graph);
        *graph = NULL;
    }
    return status;
}

void taper_graph_destroy(taper_graph *graph)
{
    if (graph == NULL) {
        return;
    }
    for (taper_constant_ref *ref = graph->constant_refs; ref != NULL; ref = ref->next) {
        taper_val_release(ref->value);
    }
    const taper_allocator *allocator = graph->arena.allocator;
    taper_arena_free(&graph->arena);
    taper_free(allocator, graph, sizeof *graph);
}

static void init_value(taper_graph *graph, taper_ir_value *value, taper_node *node, taper_block *block, size_t index)
{
    value->node = node;
    value->block = block;
    value->index = (uint32_t)index;
    value->id = graph->value_count++;
}

taper_status taper_node_create(taper_graph *graph, taper_node_kind kind, size_t inputs, size_t outputs,
                               taper_node **node, taper_error *error)
{
    taper_node *n = taper_arena_alloc(&graph->arena, sizeof *n);
    *node = NULL;
    if (n == NULL) {
        return taper_fail_memory(error);
    }
    n->inputs = taper_arena_array(&graph->arena, inputs, sizeof *n->inputs);
    n->outputs = taper_arena_array(&graph->arena, outputs, sizeof *n->outputs);
    if (n->inputs == NULL || n->outputs == NULL) {
        return taper_fail_memory(error);
    }
    n->kind = (uint8_t)kind;
    n->input_count = (uint32_t)inputs;
    n->output_count = (uint32_t)outputs;
    n->debug = -1;
    for (size_t i = 0; i < outputs; i++) {
        init_value(graph, &n->outputs[i], n, NULL, i);
    }
    graph->node_count++;
    *node = n;
    return TAPER_OK;
}

taper_status taper_node_constant(taper_graph *graph, taper_val value, taper_node **node, taper_error *error)
{
    taper_constant_ref *ref = NULL;
    taper_status status = taper_node_create(graph, TAPER_NODE_CONSTANT, 0, 1, node, error);
    if (status == TAPER_OK && taper_val_is_object(value)) {
        ref = taper_arena_alloc(&graph->arena, sizeof *ref);
        status = ref == NULL ? taper_fail_memory(error) : TAPER_OK;
    }
    if (status != TAPER_OK) {
        taper_val_release(value);
        return status;
    }
    if (ref != NULL) {
        ref->value = value;
        ref->next = graph->constant_refs;
        graph->constant_refs = ref;
    }
    (*node)->constant = value;
    return TAPER_OK;
}

taper_heap *taper_graph_heap(const taper_graph *graph)
{
    taper_heap *heap = NULL;
    for (const taper_constant_ref *ref = graph->constant_refs; ref != NULL && heap == NULL; ref = ref->next) {
        heap = ref->value.as.obj->heap;
    }
    return heap;
}

taper_status taper_block_create(taper_graph *graph, taper_node *parent, size_t params, taper_block **block,
                                taper_error *error)
{
    taper_block *b = taper_arena_alloc(&graph->arena, sizeof *b);
    *block = NULL;
    if (b == NULL) {
        return taper_fail_memory(error);
    }
    b->params = taper_arena_array(&graph->arena, params, sizeof *b->params);
    if (b->params == NULL) {
        return taper_fail_memory(error);
    }
    b->graph = graph;
    b->parent = parent;
    b->param_count = (uint32_t)params;
    for (size_t i = 0; i < params; i++) {
        init_value(graph, &b->params[i], NULL, b, i);
    }
    *block = b;
    return TAPER_OK;
}

// ---- uses of values

static void unlink_use(taper_ir_input *input)
{
    if (input->value == NULL) {
        return;
    }
    taper_value_use *use = &input->use;
    if (use->previous != NULL) {
        use->previous->next = use->next;
    } else {
        input->value->uses = use->next;
    }
    if (use->next != NULL) {
        use->next->previous = use->previous;
    }
    input->value = NULL;
}

static void link_use(taper_ir_input *input, taper_ir_value *value)
{
    input->value = value;
    if (value != NULL) {
        input->use.previous = NULL;
        input->use.next = value->uses;
        if (value->uses != NULL) {
            value->uses->previous = &input->use;
        }
        value->uses = &input->use;
    }
}

void taper_node_set_input(taper_node *node, size_t index, taper_ir_value *value)
{
    taper_ir_input *input = &node->inputs[index];
    unlink_use(input);
    input->use = (taper_value_use){.user = node, .block = node->block, .index = (uint32_t)index};
    link_use(input, value);
}

taper_status taper_block_set_results(taper_block *block, taper_ir_value *const *values, size_t count,
                                     taper_error *error)
{
    for (size_t i = 0; i < block->result_count; i++) {
        unlink_use(&block->results[i]);
    }
    if (count > block->result_count) {
        block->results = taper_arena_array(&block->graph->arena, count, sizeof *block->results);
        if (block->results == NULL) {
            block->result_count = 0;
            return taper_fail_memory(error);
        }
    }
    block->result_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        block->results[i].use = (taper_value_use){.user = NULL, .block = block, .index = (uint32_t)i};
        link_use(&block->results[i], values[i]);
    }
    return TAPER_OK;
}

void taper_value_replace_uses(taper_ir_value *old, taper_ir_value *with)
{
    while (old->uses != NULL) {
        const taper_value_use *use = old->uses;
        taper_ir_input *input = use->user != NULL ? &use->user->inputs[use->index] : &use->block->results[use->index];
        unlink_use(input);
        link_use(input, with);
    }
}

// ---- order of nodes

static void set_block(taper_node *node, taper_block *block)
{
    node->block = block;
    for (size_t i = 0; i < node->output_count; i++) {
        node->outputs[i].block = block;
    }
    for (size_t i = 0; i < node->input_count; i++) {
        node->inputs[i].use.block = block;
    }
}

void taper_node_append(taper_block *block, taper_node *node)
{
    set_block(node, block);
    node->previous = block->last;
    node->next = NULL;
    if (block->last != NULL) {
        block->last->next = node;
    } else {
        block->first = node;
    }
    block->last = node;
}

void taper_node_insert_before(taper_node *node, taper_node *before)
{
    taper_block *block = before->block;
    set_block(node, block);
    node->next = before;
    node->previous = before->previous;
    if (before->previous != NULL) {
        before->previous->next = node;
    } else {
        block->first = node;
    }
    before->previous = node;
}

static void unlink_node(taper_node *node)
{
    taper_block *block = node->block;
    if (node->previous != NULL) {
        node->previous->next = node->next;
    } else {
        block->first = node->next;
    }
    if (node->next != NULL) {
        node->next->previous = node->previous;
    } else {
        block->last = node->previous;
    }
    node->previous = node->next = NULL;
}

// Calls itself for the blocks in a node. The frontend limits how deeply blocks are nested.
static void drop_uses(taper_node *node)
{
    for (size_t i = 0; i < node->input_count; i++) {
        unlink_use(&node->inputs[i]);
    }
    for (size_t b = 0; b < node->block_count; b++) {
        taper_block *block = node->blocks[b];
        for (size_t i = 0; i < block->result_count; i++) {
            unlink_use(&block->results[i]);
        }
        for (taper_node *inner = block->first; inner != NULL; inner = inner->next) {
            drop_uses(inner);
        }
    }
}

void taper_node_remove(taper_node *node)
{
    drop_uses(node);
    unlink_node(node);
}

void taper_node_move(taper_node *node, taper_block *block)
{
    unlink_node(node);
    taper_node_append(block, node);
}

void taper_node_move_after(taper_node *node, taper_node *after)
{
    unlink_node(node);
    if (after->next != NULL) {
        taper_node_insert_before(node, after->next);
    } else {
        taper_node_append(after->block, node);
    }
}

void taper_block_inline_before(taper_block *block, taper_node *before)
{
    while (block->first != NULL) {
        taper_node *node = block->first;
        unlink_node(node);
        taper_node_insert_before(node, before);
    }
}
