// SPDX-License-Identifier: BSD-2-Clause
// Creates and frees the nodes of the tape, and finds the node of a tensor: the node that computed the tensor, or the
// leaf node of a tensor that was given.
#include "ops/gradient/tape.h"

#include "ir/storage.h"
#include "ir/tensor.h"

// Protects the nodes to which the histories of given tensors lead (tensors that no recorded call computed). Threads may
// use one tensor as an input at once.
static taper_spin leaf_lock = ATOMIC_FLAG_INIT;

// ---- creating and freeing nodes

static void free_array(const taper_tape_node *node, void *array, size_t count, size_t size)
{
    if (array != NULL) {
        taper_heap_free(node->heap, array, count * size);
    }
}

static void release_values(const taper_tape_node *node, taper_val *values, size_t count)
{
    for (size_t i = 0; values != NULL && i < count; i++) {
        taper_val_release(values[i]);
    }
    free_array(node, values, count, sizeof *values);
}

void taper_tape_node_empty(taper_tape_node *node)
{
    taper_val *const args = node->args, *const results = node->results, *const grads = node->grads;
    node->args = node->results = node->grads = NULL;
    release_values(node, args, node->arg_count);
    release_values(node, results, node->ret_count);
    release_values(node, grads, node->output_count);
    free_array(node, node->outputs, node->output_count, sizeof *node->outputs);
    free_array(node, node->first_edges, node->arg_count + 1, sizeof *node->first_edges);
    node->outputs = NULL;
    node->first_edges = NULL;
    if (node->leaf != NULL) {
        taper_tensor *const leaf = node->leaf;
        node->leaf = NULL;
        taper_spin_lock(&leaf_lock);
        if (leaf->history != NULL && leaf->history->leaf == &node->head.head) {
            leaf->history->leaf = NULL;
        }
        taper_spin_unlock(&leaf_lock);
        taper_obj_release(&leaf->head);
    }
}

static void unlink_node(taper_tape_node *node)
{
    if (node->tape == NULL) {
        return;
    }
    if (node->previous != NULL) {
        node->previous->next = node->next;
    } else {
        node->tape->first = node->next;
    }
    if (node->next != NULL) {
        node->next->previous = node->previous;
    }
    node->tape = NULL;
}

// Drops a reference without freeing the node. Adds the node to the work list if that was the last reference.
static void drop_edge(taper_tape_node *node, taper_tape_node **work)
{
    if (node != NULL && taper_refs_drop(&node->head.head.refs)) {
        node->work = *work;
        *work = node;
    }
}

// Frees nodes from a work list, and the nodes to which only their edges refer. A tape may be a million nodes deep, so
// this is a loop. The saved values of a node refer only to nodes to which its edges refer too.
static void free_nodes(taper_tape_node *work)
{
    while (work != NULL) {
        taper_tape_node *const node = work;
        taper_heap *const heap = node->heap;
        work = node->work;
        taper_tape_node_empty(node);
        unlink_node(node);
        for (size_t i = 0; i < node->edge_count; i++) {
            drop_edge(node->edges[i].node, &work);
        }
        drop_edge(node->inner, &work);
        free_array(node, node->edges, node->edge_count, sizeof *node->edges);
        taper_heap_free(heap, node, sizeof *node);
        taper_heap_forget(heap);
    }
}

static void destroy(taper_obj *obj)
{
    taper_tape_node *const node = (taper_tape_node *)obj;
    node->work = NULL;
    free_nodes(node);
}

taper_status taper_tape_node_new(taper_run *run, taper_tape_kind kind, size_t edges, taper_tape_node **node)
{
    taper_tape *const tape = run->tape;
    taper_tape_node *const made = taper_heap_alloc(tape->heap, sizeof *made);
    *node = NULL;
    if (made == NULL) {
        return taper_fail_memory(run->error);
    }
    memset(made, 0, sizeof *made);
    if (edges != 0) {
        made->edges = taper_heap_alloc(tape->heap, edges * sizeof *made->edges);
        if (made->edges == NULL) {
            taper_heap_free(tape->heap, made, sizeof *made);
            return taper_fail_memory(run->error);
        }
        memset(made->edges, 0, edges * sizeof *made->edges);
    }
    taper_heap_adopt(tape->heap, &made->head.head, TAPER_BLOB);
    made->head.destroy = destroy;
    made->heap = tape->heap;
    made->edge_count = edges;
    made->kind = (uint8_t)kind;
    if (!tape->keeps) {
        made->tape = tape;
        made->next = tape->first;
        if (tape->first != NULL) {
            tape->first->previous = made;
        }
        tape->first = made;
    }
    *node = made;
    return TAPER_OK;
}

void taper_tape_node_count(taper_tape *tape, taper_tape_node *node)
{
    for (size_t i = 0; i < node->edge_count; i++) { // edges may lead to nodes of another tape, whose numbers may be
                                                    // larger
        const taper_tape_node *const to = node->edges[i].node;
        tape->numbers = to != NULL && to->number > tape->numbers ? to->number : tape->numbers;
    }
    node->number = ++tape->numbers;
}

void taper_tape_end(taper_tape *tape)
{
    taper_tape_node *work = NULL;
    for (taper_tape_node *node = tape->first; node != NULL; node = node->next) {
        taper_obj_retain(&node->head.head); // keeps each node until the loop below has passed it
    }
    while (tape->first != NULL) {
        taper_tape_node *const node = tape->first;
        node->freed = true;
        taper_tape_node_empty(node);
        unlink_node(node);
        for (size_t i = 0; i < node->edge_count; i++) {
            drop_edge(node->edges[i].node, &work);
            node->edges[i].node = NULL;
        }
        drop_edge(node->inner, &work);
        node->inner = NULL;
        drop_edge(node, &work);
    }
    free_nodes(work);
    if (tape->element != NULL) {
        taper_obj_release(&tape->element->head);
        tape->element = NULL;
    }
    tape->off = tape->rests;
}

// ---- the nodes of tensors

taper_status taper_tape_one_element(taper_run *run)
{
    enum { LARGEST = 16 }; // bytes of a complex number of two doubles
    taper_tape *const tape = run->tape;
    if (tape->element != NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_storage_new(tape->heap, LARGEST, &tape->element, run->error));
    memset(tape->element->data, 0, LARGEST);
    return TAPER_OK;
}

taper_tape_place taper_tape_place_of(const taper_tensor *tensor)
{
    taper_tape_place place = {.offset = tensor->offset, .dtype = tensor->dtype, .rank = tensor->rank};
    memcpy(place.sizes, tensor->sizes, sizeof place.sizes);
    memcpy(place.strides, tensor->strides, sizeof place.strides);
    return place;
}

// Returns a reference to the node of a given tensor, or NULL if it has none. Call it with the lock held.
static taper_tape_node *known_leaf(const taper_tensor *tensor)
{
    taper_obj *const known = tensor->history != NULL ? tensor->history->leaf : NULL;
    return known != NULL && taper_refs_try_add(&known->refs) ? (taper_tape_node *)known : NULL;
}

// Finds or creates the node of a tensor that was given and not computed.
static taper_status leaf_edge(taper_run *run, taper_tensor *tensor, taper_tape_edge *edge)
{
    taper_tape_node *node;
    taper_spin_lock(&leaf_lock);
    edge->node = known_leaf(tensor);
    taper_spin_unlock(&leaf_lock);
    if (edge->node != NULL) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_tape_node_new(run, TAPER_TAPE_LEAF, 0, &node));
    taper_tape_node_count(run->tape, node);
    node->output_count = 1;
    taper_spin_lock(&leaf_lock);
    taper_history *const history = taper_history_need(tensor);
    taper_tape_node *const other = known_leaf(tensor); // node that another thread may have made meanwhile
    if (history != NULL && other == NULL) {
        taper_obj_retain(&tensor->head);
        node->leaf = tensor;
        history->leaf = &node->head.head;
        edge->node = node;
    }
    taper_spin_unlock(&leaf_lock);
    if (edge->node != NULL) {
        return TAPER_OK;
    }
    taper_tape_node_release(node);
    edge->node = other;
    return other != NULL ? TAPER_OK : taper_fail_memory(run->error);
}

// Creates a node for a view whose base was written to since the view was made.
static taper_status view_edge(taper_run *run, taper_tensor *tensor, taper_tape_edge *edge)
{
    taper_history *const history = tensor->history;
    taper_tape_edge of;
    TAPER_TRY(taper_tape_edge_of(run, history->base, &of));
    if (of.node == NULL) { // requires_grad_ makes a leaf of a view whose base has no gradient
        return tensor->requires_grad ? leaf_edge(run, tensor, edge) : taper_history_set(tensor, NULL, 0, run->error);
    }
    taper_tape_node *node;
    taper_status status = taper_tape_check_view(run, tensor, false);
    status = status == TAPER_OK ? taper_tape_node_new(run, TAPER_TAPE_VIEW, 1, &node) : status;
    if (status != TAPER_OK) {
        taper_tape_node_release(of.node);
        return status;
    }
    node->edges[0] = of;
    taper_tape_node_count(run->tape, node);
    node->output_count = 1;
    node->view = taper_tape_place_of(tensor);
    node->base = taper_tape_place_of(history->base);
    status = taper_history_set(tensor, &node->head.head, 0, run->error);
    if (status != TAPER_OK) {
        taper_tape_node_release(node);
        return status;
    }
    edge->node = node;
    return TAPER_OK;
}

taper_status taper_tape_edge_of(taper_run *run, taper_tensor *tensor, taper_tape_edge *edge)
{
    *edge = (taper_tape_edge){.node = NULL};
    const taper_history *const history = tensor->history;
    if (history != NULL && history->base != NULL && history->version != tensor->storage->version) {
        return view_edge(run, tensor, edge);
    }
    if (history != NULL && history->node != NULL) {
        edge->node = (taper_tape_node *)history->node;
        edge->output = history->output;
        taper_obj_retain(&edge->node->head.head);
        return TAPER_OK;
    }
    // A view that was made while nothing was recorded needs a gradient if its base does, but the gradient does not
    // reach the base.
    return tensor->requires_grad ? leaf_edge(run, tensor, edge) : TAPER_OK;
}

taper_status taper_tape_shell(taper_run *run, const taper_tensor *tensor, const taper_tape_edge *edge,
                              taper_tensor **shell)
{
    TAPER_TRY(taper_tensor_alias(run->tape->heap, tensor, tensor->offset, tensor->rank, tensor->sizes, tensor->strides,
                                 shell, run->error));
    (*shell)->wrapped_number = tensor->wrapped_number;
    const taper_status status =
        taper_history_set(*shell, edge->node != NULL ? &edge->node->head.head : NULL, edge->output, run->error);
    if (status != TAPER_OK) {
        taper_obj_release(&(*shell)->head);
        *shell = NULL;
    }
    return status;
}

// Returns a tensor with the sizes and the dtype of the argument. All its elements are one zero in memory.
TAPER_KERNEL(taper_op_shape_of)
{
    static const int64_t strides[TAPER_MAX_RANK] = {0};
    taper_tensor *self, *zero, *shape;
    TAPER_TRY(taper_arg_tensor(call, 0, &self));
    TAPER_TRY(taper_tensor_zeros(call->run->heap, (taper_dtype)self->dtype, 0, NULL, &zero, call->run->error));
    const taper_status status = taper_tensor_view(call->run->heap, zero->storage, (taper_dtype)self->dtype, 0,
                                                  self->rank, self->sizes, strides, &shape, call->run->error);
    taper_obj_release(&zero->head);
    TAPER_TRY(status);
    taper_ret(call, 0, TAPER_VAL(shape));
    return TAPER_OK;
}
