// SPDX-License-Identifier: BSD-2-Clause
// Computes gradients from a tape. Nodes are visited from the last one recorded to the first, so every gradient of a
// node's results is complete when the node is visited. Only nodes on a path to an input whose gradient was requested
// are visited.
#include <stdlib.h>

#include "ir/tensor_def.h"
#include "ops/gradient/engine.h"
#include "platform/platform.h"

// ---- the nodes that are visited

static taper_status add_node(taper_engine *e, taper_tape_node *node)
{
    if (node->visited) {
        return TAPER_OK;
    }
    if (e->count == e->capacity) {
        const size_t capacity = taper_max_size(64, 2 * e->capacity);
        taper_tape_node **const nodes = taper_heap_alloc(e->run->tape->heap, capacity * sizeof *nodes);
        if (nodes == NULL) {
            return taper_fail_memory(e->run->error);
        }
        if (e->count != 0) {
            memcpy(nodes, e->nodes, e->count * sizeof *nodes);
            taper_heap_free(e->run->tape->heap, e->nodes, e->capacity * sizeof *nodes);
        }
        e->nodes = nodes;
        e->capacity = capacity;
    }
    node->visited = true;
    node->wanted = false;
    taper_obj_retain(&node->head.head);
    e->nodes[e->count++] = node;
    return TAPER_OK;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = (*(taper_tape_node *const *)a)->number, y = (*(taper_tape_node *const *)b)->number;
    return x < y ? -1 : x > y;
}

// Collects the nodes on which the outputs depend, in the order of recording, and marks the nodes on which the gradient
// of a target depends.
static taper_status collect(taper_engine *e)
{
    for (size_t at = 0; at < e->count; at++) { // the list grows while it is read
        TAPER_TRY(taper_run_spend(e->run, 20));
        const taper_tape_node *const node = e->nodes[at];
        for (size_t i = 0; i < node->edge_count; i++) {
            TAPER_TRY(node->edges[i].node != NULL ? add_node(e, node->edges[i].node) : TAPER_OK);
        }
    }
    if (e->count != 0) {
        qsort(e->nodes, e->count, sizeof *e->nodes, by_number);
    }
    for (size_t t = 0; t < e->target_count; t++) {
        taper_tape_node *const node = e->targets[t].node;
        if (node != NULL && node->visited) {
            node->wanted = true;
        }
    }
    for (size_t at = 0; at < e->count; at++) {
        taper_tape_node *const node = e->nodes[at];
        node->wanted = node->wanted || (e->request->inputs == NULL && node->kind == TAPER_TAPE_LEAF);
        for (size_t i = 0; i < node->edge_count && !node->wanted; i++) {
            node->wanted = node->edges[i].node != NULL && node->edges[i].node->wanted;
        }
    }
    return TAPER_OK;
}

static void drop_grads(taper_tape_node *node)
{
    for (size_t i = 0; node->grads != NULL && i < node->output_count; i++) {
        taper_val_release(node->grads[i]);
    }
    if (node->grads != NULL) {
        taper_heap_free(node->heap, node->grads, node->output_count * sizeof *node->grads);
        node->grads = NULL;
    }
}

// Returns true if the saved value has elements that a formula reads. A saved tensor has a history only if a formula
// reads its elements.
static bool has_elements(taper_val value)
{
    for (size_t i = 0; value.tag == TAPER_LIST && i < value.as.list->count; i++) {
        if (has_elements(value.as.list->items[i])) {
            return true;
        }
    }
    return value.tag == TAPER_TENSOR && value.as.tensor->history != NULL;
}

static void free_values(taper_tape_node *node, taper_val *values, size_t count)
{
    for (size_t i = 0; values != NULL && i < count; i++) {
        if (has_elements(values[i])) {
            taper_val_replace(&values[i], taper_val_none());
            node->freed = true;
        }
    }
}

// Frees the tensors that a node saved. A node that saved only sizes and numbers can be visited again. Also frees the
// tensors of `inner`, the node of a write to a view, unless the outputs depend on that node directly. If they do, the
// computation visits that node later.
static void free_saved(taper_tape_node *node)
{
    free_values(node, node->args, node->arg_count);
    free_values(node, node->results, node->ret_count);
    node->freed = node->freed || node->kind == TAPER_TAPE_SLICES;
    if (node->inner != NULL && !node->inner->visited) {
        free_saved(node->inner);
    }
}

static taper_status visit_all(taper_engine *e)
{
    taper_status status = TAPER_OK;
    for (size_t at = e->count; at-- != 0;) {
        taper_tape_node *const node = e->nodes[at];
        if (node->grads != NULL && node->wanted && status == TAPER_OK) {
            status = taper_engine_visit(e, node);
            if (status == TAPER_OK && !e->request->keep && taper_engine_passes_on(node)) {
                free_saved(node);
            }
        }
        drop_grads(node);
    }
    return status;
}

// ---- a request for gradients

static taper_val given_grad(const taper_tape_request *request, size_t output)
{
    return request->grad_outputs != NULL && output < request->grad_outputs->count ? request->grad_outputs->items[output]
                                                                                  : taper_val_none();
}

// Fails if an output has no given gradient and more than one element. This check comes before all others, as in
// PyTorch.
static taper_status check_outputs(const taper_engine *e)
{
    const taper_list *const outputs = e->request->outputs;
    for (size_t i = 0; i < outputs->count; i++) {
        if (outputs->items[i].tag != TAPER_TENSOR) {
            TAPER_FAIL(e->run->error, TAPER_ERROR_ARGUMENT, "output %zu is not a tensor", i);
        }
        const taper_tensor *const output = outputs->items[i].as.tensor;
        if (taper_tape_requires(output)) {
            TAPER_TRY(taper_tape_check_first(e->run, output, given_grad(e->request, i)));
        }
    }
    return TAPER_OK;
}

static taper_status add_outputs(taper_engine *e)
{
    const taper_tape_request *const r = e->request;
    for (size_t i = 0; i < r->outputs->count; i++) {
        taper_tape_edge edge;
        TAPER_TRY(taper_tape_edge_of(e->run, r->outputs->items[i].as.tensor, &edge));
        if (edge.node == NULL) {
            TAPER_FAIL(e->run->error, TAPER_ERROR_ARGUMENT,
                       "element %zu of tensors does not require grad and does not have a grad_fn", i);
        }
        const taper_status status = add_node(e, edge.node);
        taper_tape_node_release(edge.node); // the list of nodes has a reference of its own
        TAPER_TRY(status);
    }
    return TAPER_OK;
}

static taper_status start_outputs(taper_engine *e)
{
    const taper_tape_request *const r = e->request;
    for (size_t i = 0; i < r->outputs->count; i++) {
        taper_tensor *const output = r->outputs->items[i].as.tensor;
        const taper_val given = given_grad(r, i);
        taper_val grad;
        taper_tape_edge edge;
        TAPER_TRY(taper_tape_first(&e->caller, output, given, &grad));
        taper_status status = taper_tape_edge_of(e->run, output, &edge);
        if (status != TAPER_OK) {
            taper_val_release(grad);
            return status;
        }
        status = taper_engine_add(e, &edge, grad);
        taper_tape_node_release(edge.node);
        TAPER_TRY(status);
    }
    return TAPER_OK;
}

static taper_status add_targets(taper_engine *e)
{
    const taper_list *const inputs = e->request->inputs;
    for (size_t i = 0; inputs != NULL && i < inputs->count; i++) {
        taper_tape_edge edge = {.node = NULL};
        if (inputs->items[i].tag == TAPER_TENSOR) {
            TAPER_TRY(taper_tape_edge_of(e->run, inputs->items[i].as.tensor, &edge));
        }
        if (edge.node == NULL &&
            (inputs->items[i].tag != TAPER_TENSOR || !taper_tape_requires(inputs->items[i].as.tensor))) {
            TAPER_FAIL(e->run->error, TAPER_ERROR_ARGUMENT, "One of the differentiated Tensors does not require grad");
        }
        e->targets[i] = (taper_engine_target){edge.node, edge.output};
    }
    return TAPER_OK;
}

static taper_status make_list(taper_engine *e, taper_val *found)
{
    taper_list *const list = taper_list_new(e->run->heap, &taper_type_optional_tensor, e->target_count);
    if (list == NULL) {
        return taper_fail_memory(e->run->error);
    }
    *found = TAPER_VAL(list);
    for (size_t t = 0; t < e->target_count; t++) {
        if (e->found[t].tag == TAPER_NONE && !e->request->allow_unused) {
            taper_val_release(*found);
            *found = taper_val_none();
            TAPER_FAIL(e->run->error, TAPER_ERROR_ARGUMENT,
                       "One of the differentiated Tensors appears to not have been used in the graph. Set "
                       "allow_unused=True if this is the desired behavior.");
        }
        list->items[list->count++] = taper_val_retain(e->found[t]);
    }
    return TAPER_OK;
}

static taper_status compute(taper_engine *e)
{
    TAPER_TRY(check_outputs(e));
    TAPER_TRY(add_outputs(e));
    TAPER_TRY(add_targets(e));
    TAPER_TRY(collect(e));
    taper_status status = start_outputs(e);
    if (status != TAPER_OK) {
        for (size_t at = 0; at < e->count; at++) {
            drop_grads(e->nodes[at]);
        }
        return status;
    }
    return visit_all(e);
}

static taper_status find_gradients(taper_run *run, const taper_tape_request *request, taper_val *found)
{
    taper_heap *const heap = run->tape->heap;
    taper_engine e = {.run = run,
                      .request = request,
                      .caller = {run, request->create},
                      .target_count = request->inputs != NULL ? request->inputs->count : 0};
    const size_t count = taper_max_size(e.target_count, 1);
    *found = taper_val_none();
    e.targets = taper_heap_alloc(heap, count * sizeof *e.targets);
    e.found = taper_heap_alloc(heap, count * sizeof *e.found);
    taper_status status = TAPER_OK;
    if (e.targets == NULL || e.found == NULL) {
        status = taper_fail_memory(run->error);
        e.target_count = 0;
    }
    for (size_t t = 0; t < e.target_count; t++) {
        e.targets[t] = (taper_engine_target){.node = NULL};
        e.found[t] = taper_val_none();
    }
    const bool off = run->tape->off;
    run->tape->off = off && !request->create;
    status = status == TAPER_OK ? compute(&e) : status;
    run->tape->off = off;
    if (status == TAPER_OK && request->inputs != NULL) {
        status = make_list(&e, found);
    }
    for (size_t t = 0; t < e.target_count; t++) {
        taper_tape_node_release(e.targets[t].node);
        taper_val_release(e.found[t]);
    }
    for (size_t at = 0; at < e.count; at++) {
        e.nodes[at]->visited = false;
        taper_tape_node_release(e.nodes[at]);
    }
    if (e.targets != NULL) {
        taper_heap_free(heap, e.targets, count * sizeof *e.targets);
    }
    if (e.found != NULL) {
        taper_heap_free(heap, e.found, count * sizeof *e.found);
    }
    if (e.capacity != 0) {
        taper_heap_free(heap, e.nodes, e.capacity * sizeof *e.nodes);
    }
    return status;
}

taper_status taper_tape_gradients(taper_run *run, const taper_tape_request *request, taper_val *found)
{
    taper_mutex *const lock = run->tape->lock;
    if (lock != NULL) {
        taper_mutex_lock(lock);
    }
    const taper_status status = find_gradients(run, request, found);
    if (lock != NULL) {
        taper_mutex_unlock(lock);
    }
    return status;
}
