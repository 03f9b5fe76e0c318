// SPDX-License-Identifier: BSD-2-Clause
// Computes gradients from a tape. Nodes are visited from the last one recorded to the first, so every gradient of a
// node's results is complete when the node is visited. Only nodes on a path to an asked input are visited.
#include <stdlib.h>

#include "ir/tensor.h"
#include "ops/gradient/tape.h"

typedef struct target {
    taper_tape_node *node; // a reference; NULL for an input that needs no gradient
    uint32_t output;
} target;

typedef struct engine {
    taper_run *run;
    const taper_tape_request *request;
    taper_tape_caller caller;
    taper_tape_node **nodes; // all nodes that the outputs depend on
    size_t count, capacity;
    target *targets;
    taper_val *found; // for each target: its gradient, or None
    size_t target_count;
} engine;

static taper_status call(engine *e, const char *name, const char *overload, taper_val *args, size_t count,
                         taper_val *result)
{
    const taper_op *const op = taper_row_find(name, overload);
    const taper_schema *schema;
    taper_val full[16];
    if (op == NULL) {
        TAPER_FAIL(e->run->error, TAPER_ERROR_UNSUPPORTED, "this build lacks %s, which gradients need", name);
    }
    TAPER_TRY(taper_registry_schema(e->run->registry, op, &schema, e->run->error));
    for (size_t i = 0; i < schema->arg_count && i < sizeof full / sizeof *full; i++) {
        full[i] = i < count ? args[i] : schema->args[i].default_value;
    }
    *result = taper_val_none();
    return taper_tape_call_op(&e->caller, op, full, schema->arg_count, result, 1);
}

// ---- the nodes that are visited

static taper_status add_node(engine *e, taper_tape_node *node)
{
    if (node->visit == e->run->tape->visits) {
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
    node->visit = e->run->tape->visits;
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

// Collects the nodes on which the outputs depend, in the order of recording, and marks those that a target depends on.
static taper_status collect(engine *e)
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
        if (node != NULL && node->visit == e->run->tape->visits) {
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

// ---- gradients of a node's results

static taper_status need_grads(const engine *e, taper_tape_node *node)
{
    if (node->grads != NULL) {
        return TAPER_OK;
    }
    node->grads = taper_heap_alloc(node->heap, node->output_count * sizeof *node->grads);
    if (node->grads == NULL) {
        return taper_fail_memory(e->run->error);
    }
    for (size_t i = 0; i < node->output_count; i++) {
        node->grads[i] = taper_val_none();
    }
    return TAPER_OK;
}

// Returns true if nothing else refers to the gradient, so that it may be written to. A gradient that will itself be
// differentiated is never written to.
static bool is_own(const engine *e, taper_val grad)
{
    const taper_tensor *const tensor = grad.as.tensor;
    return !e->caller.records && taper_refs_count(&tensor->head.refs) == 1 &&
           taper_refs_count(&tensor->storage->head.refs) == 1 && !tensor->storage->read_only &&
           (tensor->storage->kind == TAPER_STORAGE_OWNED || tensor->storage->kind == TAPER_STORAGE_PLANNED) &&
           taper_tensor_is_contiguous(tensor);
}

static bool same_form(const taper_tensor *a, const taper_tensor *b)
{
    return a->dtype == b->dtype && a->rank == b->rank && memcmp(a->sizes, b->sizes, a->rank * sizeof *a->sizes) == 0;
}

// Adds two gradients. Takes over the reference to grad, also on failure.
static taper_status sum_of(engine *e, taper_val slot, taper_val grad, taper_val *sum)
{
    taper_status status;
    if (is_own(e, slot) && same_form(slot.as.tensor, grad.as.tensor)) {
        status = call(e, "aten::add_", "Tensor", (taper_val[]){slot, grad}, 2, sum);
    } else if (is_own(e, grad) && same_form(slot.as.tensor, grad.as.tensor)) {
        status = call(e, "aten::add_", "Tensor", (taper_val[]){grad, slot}, 2, sum);
    } else {
        status = call(e, "aten::add", "Tensor", (taper_val[]){slot, grad}, 2, sum);
    }
    taper_val_release(grad);
    return status;
}

// Adds a gradient to that of a node's result. Takes over the reference.
static taper_status add_grad(engine *e, const taper_tape_edge *edge, taper_val grad)
{
    if (grad.tag != TAPER_TENSOR || edge->node == NULL || !edge->node->wanted) {
        taper_val_release(grad);
        return TAPER_OK;
    }
    taper_status status = need_grads(e, edge->node);
    taper_val *const slot = status == TAPER_OK ? &edge->node->grads[edge->output] : NULL;
    if (slot != NULL && slot->tag == TAPER_TENSOR) {
        taper_val sum = taper_val_none();
        status = sum_of(e, *slot, grad, &sum);
        grad = sum;
    }
    if (status != TAPER_OK) {
        taper_val_release(grad);
        return status;
    }
    taper_val_replace(slot, grad);
    return TAPER_OK;
}

static taper_status ints(const engine *e, const int64_t *numbers, size_t count, taper_val *list)
{
    taper_list *const made = taper_list_new(e->run->tape->heap, &taper_type_int, count);
    if (made == NULL) {
        return taper_fail_memory(e->run->error);
    }
    for (size_t i = 0; i < count; i++) {
        made->items[made->count++] = taper_val_int(numbers[i]);
    }
    *list = TAPER_VAL(made);
    return TAPER_OK;
}

static taper_status zeros(engine *e, const taper_tape_place *place, taper_val *made)
{
    taper_val sizes;
    TAPER_TRY(ints(e, place->sizes, place->rank, &sizes));
    const taper_status status = call(e, "aten::zeros", "", (taper_val[]){sizes, taper_val_int(place->dtype)}, 2, made);
    taper_val_release(sizes);
    return status;
}

// Replaces missing gradients of an operator with several results by zeros.
static taper_status fill_grads(engine *e, taper_tape_node *node)
{
    for (size_t i = 0; node->output_count > 1 && i < node->output_count; i++) {
        if (node->grads[i].tag == TAPER_NONE && node->outputs != NULL) {
            TAPER_TRY(zeros(e, &node->outputs[i], &node->grads[i]));
        }
    }
    return TAPER_OK;
}

// ---- one node

static TAPER_COLD taper_status refuse_unknown(const engine *e, const taper_tape_node *node)
{
    const taper_schema *schema;
    TAPER_TRY(taper_registry_schema(e->run->registry, node->op, &schema, e->run->error));
    TAPER_FAIL(e->run->error, TAPER_ERROR_UNSUPPORTED,
               "the gradient of %s%s%s is not supported: detach its arguments if no gradient needs it", schema->name,
               *schema->overload != '\0' ? "." : "", schema->overload);
}

static TAPER_COLD taper_status refuse_freed(const engine *e)
{
    TAPER_FAIL(e->run->error, TAPER_ERROR_ARGUMENT,
               "Trying to backward through the graph a second time (or directly access saved tensors after they have "
               "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
               "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
               "if you need to access saved tensors after calling backward.");
}

// Fails if the bytes of a saved tensor were written to after it was saved.
static taper_status check_saved(const engine *e, taper_val value)
{
    if (value.tag == TAPER_LIST) {
        for (size_t i = 0; i < value.as.list->count; i++) {
            TAPER_TRY(check_saved(e, value.as.list->items[i]));
        }
        return TAPER_OK;
    }
    const taper_tensor *const tensor = value.tag == TAPER_TENSOR ? value.as.tensor : NULL;
    if (tensor == NULL || tensor->history == NULL || tensor->history->version == tensor->storage->version) {
        return TAPER_OK;
    }
    taper_text sizes = taper_text_make(&taper_allocator_system);
    for (size_t i = 0; i < tensor->rank; i++) {
        taper_text_format(&sizes, "%s%lld", i != 0 ? ", " : "", (long long)tensor->sizes[i]);
    }
    const taper_status status =
        taper_fail(e->run->error, TAPER_ERROR_ARGUMENT,
                   "one of the variables needed for gradient computation has been modified by an inplace operation: "
                   "[%s [%s]] is at version %u; expected version %u instead.",
                   taper_dtype_name((taper_dtype)tensor->dtype), taper_text_get(&sizes),
                   (unsigned)tensor->storage->version, (unsigned)tensor->history->version);
    taper_text_free(&sizes);
    return status;
}

static bool edge_is_wanted(const taper_tape_edge *edge)
{
    return edge->node != NULL && edge->node->wanted;
}

static bool argument_is_wanted(const taper_tape_node *node, size_t arg)
{
    for (size_t i = node->first_edges[arg]; i < node->first_edges[arg + 1]; i++) {
        if (edge_is_wanted(&node->edges[i])) {
            return true;
        }
    }
    return false;
}

typedef struct slices {
    taper_tape_node *outer;
    taper_val of_self; // gradient of the view before the write, or None
} slices;

// Returns true if the gradient of the view before the write is wanted, which is that of the base before the write.
static bool view_is_wanted(const void *user)
{
    const slices *const s = user;
    return edge_is_wanted(&s->outer->edges[0]);
}

// Receives the gradient of edge `edge` of a node. Takes over the reference.
typedef taper_status receiver(engine *e, taper_tape_node *node, size_t edge, taper_val grad, void *user);

static taper_status to_edge(engine *e, taper_tape_node *node, size_t edge, taper_val grad, void *user)
{
    (void)user;
    return add_grad(e, &node->edges[edge], grad);
}

// Hands the gradient of an argument, a tensor or a list, to the argument's edges.
static taper_status hand_on(engine *e, taper_tape_node *node, size_t arg, taper_val grad, receiver *receive, void *user)
{
    const size_t first = node->first_edges[arg], count = node->first_edges[arg + 1] - first;
    if (grad.tag == TAPER_TENSOR && count == 1) {
        return receive(e, node, first, taper_val_retain(grad), user);
    }
    for (size_t i = 0; grad.tag == TAPER_LIST && i < count && i < grad.as.list->count; i++) {
        TAPER_TRY(receive(e, node, first + i, taper_val_retain(grad.as.list->items[i]), user));
    }
    return TAPER_OK;
}

// A formula that reads the node's own results gives them their history while the gradient is itself recorded.
static taper_status link_results(const engine *e, taper_tape_node *node, bool link)
{
    for (size_t i = 0; e->caller.records && i < node->ret_count; i++) {
        if (node->results[i].tag == TAPER_TENSOR) {
            taper_tensor *const shell = node->results[i].as.tensor;
            const uint32_t version = shell->history->version;
            TAPER_TRY(taper_history_set(shell, link ? &node->head.head : NULL, (uint32_t)i, e->run->error));
            shell->history->version = version;
        }
    }
    return TAPER_OK;
}

// If the only target of the formula is a list of at most `limit` items, notes which of their gradients are wanted and
// returns their number. Otherwise returns 0.
static size_t mask_items(const taper_tape_node *node, const taper_gradient_formula *formula, bool *items, size_t limit)
{
    size_t arg = 0;
    if ((formula->targets & (formula->targets - 1)) != 0) {
        return 0;
    }
    while ((formula->targets >> arg & 1) == 0) {
        arg++;
    }
    const size_t first = node->first_edges[arg], count = node->first_edges[arg + 1] - first;
    if (node->args[arg].tag != TAPER_LIST || count > limit) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        items[i] = edge_is_wanted(&node->edges[first + i]);
    }
    return count;
}

static taper_status run_formula(engine *e, taper_tape_node *node, const taper_gradient_formula *formula,
                                uint32_t wanted, receiver *receive, void *user)
{
    enum { FEW = 64 };
    taper_val found[32];
    bool items[FEW];
    const size_t item_count = mask_items(node, formula, items, FEW);
    const taper_formula_values values = {.args = node->args,
                                         .results = node->results,
                                         .grads = node->grads,
                                         .grad_count = node->output_count,
                                         .wanted = wanted,
                                         .items = item_count != 0 ? items : NULL,
                                         .item_count = item_count,
                                         .call = taper_tape_call_op,
                                         .user = &e->caller,
                                         .heap = e->run->tape->heap,
                                         .registry = e->run->registry,
                                         .error = e->run->error};
    taper_status status = taper_formula_run(formula, &values, found);
    size_t at = 0;
    for (uint32_t i = 0; i < 32; i++) {
        if ((formula->targets >> i & 1) == 0) {
            continue;
        }
        if (status == TAPER_OK && (wanted >> i & 1) != 0) {
            status = hand_on(e, node, i, found[at], receive, user);
        }
        taper_val_release(found[at++]);
    }
    return status;
}

// Makes the gradient of argument 0 a tensor that may be written to: zeros if there is none yet.
static taper_status own_grad(engine *e, const taper_tape_node *node)
{
    const taper_tape_edge *const edge = &node->edges[0];
    taper_val made;
    TAPER_TRY(need_grads(e, edge->node));
    taper_val *const slot = &edge->node->grads[edge->output];
    if (slot->tag == TAPER_TENSOR && is_own(e, *slot)) {
        return TAPER_OK;
    }
    if (slot->tag == TAPER_TENSOR) {
        TAPER_TRY(call(e, "aten::clone", "", (taper_val[]){*slot, taper_val_int(0)}, 2, &made));
    } else {
        TAPER_TRY(zeros(e, &node->base, &made));
    }
    taper_val_replace(slot, made);
    return TAPER_OK;
}

// An operator that cuts views out of its argument: the gradients of the views are added to the same views of the
// argument's gradient. This takes one pass over the elements of the views, and no other tensor of the argument's size.
static taper_status visit_cut(engine *e, taper_tape_node *node)
{
    taper_val args[TAPER_TAPE_CUT_ARGS], views, sum;
    TAPER_TRY(own_grad(e, node));
    memcpy(args, node->args, node->arg_count * sizeof *args);
    args[0] = node->edges[0].node->grads[node->edges[0].output];
    views = taper_val_none();
    TAPER_TRY(taper_tape_call_op(&e->caller, node->op, args, node->arg_count, &views, 1));
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < node->output_count && status == TAPER_OK; i++) {
        const taper_val view = views.tag == TAPER_LIST ? views.as.list->items[i] : views;
        if (node->grads[i].tag == TAPER_TENSOR) {
            status = call(e, "aten::add_", "Tensor", (taper_val[]){view, node->grads[i]}, 2, &sum);
            taper_val_release(status == TAPER_OK ? sum : taper_val_none());
        }
    }
    taper_val_release(views);
    return status;
}

// Computes the gradients of the arguments of a call.
static taper_status visit_call(engine *e, taper_tape_node *node, receiver *receive, void *user)
{
    if (node->kind == TAPER_TAPE_UNKNOWN) {
        return refuse_unknown(e, node);
    }
    if (node->freed) {
        return refuse_freed(e);
    }
    if (node->cuts && !e->caller.records && receive == to_edge) {
        return visit_cut(e, node);
    }
    uint32_t wanted = 0;
    for (size_t i = 0; i < node->arg_count && i < 32; i++) {
        const bool through = receive != to_edge && i == 0; // the view that was written to
        wanted |= (through ? view_is_wanted(user) : argument_is_wanted(node, i)) ? UINT32_C(1) << i : 0;
        TAPER_TRY(check_saved(e, node->args[i]));
    }
    for (size_t i = 0; i < node->ret_count; i++) {
        TAPER_TRY(check_saved(e, node->results[i]));
    }
    TAPER_TRY(fill_grads(e, node));
    TAPER_TRY(link_results(e, node, true));
    taper_status status = TAPER_OK;
    for (size_t f = 0; status == TAPER_OK && f < node->gradient->count; f++) {
        const taper_gradient_formula *const formula = taper_gradient_formula_at(node->gradient, f);
        const uint32_t targets = formula->targets & wanted;
        uint32_t given = 0; // arguments that have edges
        for (uint32_t i = 0; i < node->arg_count && i < 32; i++) {
            given |= node->first_edges[i + 1] != node->first_edges[i] ? UINT32_C(1) << i : 0;
        }
        if ((targets & given) != 0) {
            status = run_formula(e, node, formula, targets & given, receive, user);
        }
    }
    const taper_status unlinked = link_results(e, node, false);
    return status != TAPER_OK ? status : unlinked;
}

// Returns the elements of `whole`, a gradient with the sizes of a base, that belong to a view of the base. The result
// is a view if the base is contiguous; otherwise `whole` is first brought into the strides of the base.
static taper_status place_args(engine *e, const taper_tape_node *node, taper_val *lists)
{
    TAPER_TRY(ints(e, node->view.sizes, node->view.rank, &lists[0]));
    const taper_status status = ints(e, node->view.strides, node->view.rank, &lists[1]);
    if (status != TAPER_OK) {
        taper_val_release(lists[0]);
    }
    return status;
}

// Brings a gradient into the strides of the base. *laid_out receives a reference.
static taper_status lay_out(engine *e, const taper_tape_node *node, taper_val grad, taper_val *laid_out)
{
    int64_t strides[TAPER_MAX_RANK];
    taper_strides_contiguous(node->base.rank, node->base.sizes, strides);
    bool same = true;
    for (size_t i = 0; i < node->base.rank; i++) {
        same = same && (node->base.sizes[i] == 1 || node->base.strides[i] == strides[i]);
    }
    if (same) {
        return call(e, "aten::contiguous", "", &grad, 1, laid_out);
    }
    taper_val sizes, lists[2] = {taper_val_none(), taper_val_none()}, empty;
    TAPER_TRY(ints(e, node->base.sizes, node->base.rank, &sizes));
    taper_status status = ints(e, node->base.strides, node->base.rank, &lists[0]);
    if (status == TAPER_OK) {
        status = call(e, "aten::empty_strided", "", (taper_val[]){sizes, lists[0], taper_val_int(node->base.dtype)}, 3,
                      &empty);
        taper_val_release(lists[0]);
    }
    taper_val_release(sizes);
    TAPER_TRY(status);
    status = call(e, "aten::copy_", "", (taper_val[]){empty, grad}, 2, laid_out);
    taper_val_release(empty);
    return status;
}

static taper_status slice_of(engine *e, const taper_tape_node *node, taper_val whole, taper_val *slice)
{
    taper_val lists[2];
    TAPER_TRY(place_args(e, node, lists));
    const taper_status status =
        call(e, "aten::as_strided", "",
             (taper_val[]){whole, lists[0], lists[1], taper_val_int(node->view.offset - node->base.offset)}, 4, slice);
    taper_val_release(lists[0]);
    taper_val_release(lists[1]);
    return status;
}

// Returns `whole` with other elements at the place of the view.
static taper_status with_slice(engine *e, const taper_tape_node *node, taper_val whole, taper_val slice,
                               taper_val *made)
{
    taper_val lists[2];
    TAPER_TRY(place_args(e, node, lists));
    const taper_status status = call(
        e, "aten::as_strided_scatter", "",
        (taper_val[]){whole, slice, lists[0], lists[1], taper_val_int(node->view.offset - node->base.offset)}, 5, made);
    taper_val_release(lists[0]);
    taper_val_release(lists[1]);
    return status;
}

static taper_status visit_view(engine *e, taper_tape_node *node)
{
    taper_val whole, made;
    TAPER_TRY(zeros(e, &node->base, &whole));
    taper_val laid_out;
    taper_status status = lay_out(e, node, whole, &laid_out);
    taper_val_release(whole);
    TAPER_TRY(status);
    status = with_slice(e, node, laid_out, node->grads[0], &made);
    taper_val_release(laid_out);
    TAPER_TRY(status);
    return add_grad(e, &node->edges[0], made);
}

static taper_status to_slices(engine *e, taper_tape_node *node, size_t edge, taper_val grad, void *user)
{
    slices *const s = user;
    (void)node;
    if (edge == 0) {
        taper_val_replace(&s->of_self, grad);
        return TAPER_OK;
    }
    return add_grad(e, &s->outer->edges[edge], grad);
}

// A write to a view: the gradient of the base goes to the base before the write, except for the view's elements. These
// go through the write.
static taper_status visit_slices(engine *e, taper_tape_node *node)
{
    slices s = {.outer = node, .of_self = taper_val_none()};
    taper_tape_node *const inner = node->inner;
    taper_val whole, slice, made;
    if (inner == NULL || node->freed) {
        return refuse_freed(e);
    }
    TAPER_TRY(lay_out(e, node, node->grads[0], &whole));
    taper_status status = slice_of(e, node, whole, &slice);
    if (status == TAPER_OK) {
        inner->output_count = 1;
        status = need_grads(e, inner);
        if (status == TAPER_OK) {
            taper_val_replace(&inner->grads[0], slice);
            status = visit_call(e, inner, to_slices, &s);
            taper_val_replace(&inner->grads[0], taper_val_none());
        } else {
            taper_val_release(slice);
        }
    }
    if (status == TAPER_OK && edge_is_wanted(&node->edges[0])) {
        taper_val filler = s.of_self;
        if (filler.tag == TAPER_NONE) {
            status = zeros(e, &node->view, &filler);
            s.of_self = status == TAPER_OK ? filler : taper_val_none();
        }
        status = status == TAPER_OK ? with_slice(e, node, whole, filler, &made) : status;
        status = status == TAPER_OK ? add_grad(e, &node->edges[0], made) : status;
    }
    taper_val_release(s.of_self);
    taper_val_release(whole);
    return status;
}

// Adds the gradient of a leaf to the sum that aten::backward leaves in it.
static taper_status visit_leaf(engine *e, taper_tape_node *node)
{
    if (e->request->inputs != NULL) {
        return TAPER_OK;
    }
    taper_val sum = taper_val_retain(node->grads[0]);
    if (node->sum.tag == TAPER_TENSOR) {
        taper_val_release(sum);
        TAPER_TRY(call(e, "aten::add", "Tensor", (taper_val[]){node->sum, node->grads[0]}, 2, &sum));
    }
    taper_val_replace(&node->sum, sum);
    return TAPER_OK;
}

static taper_status visit(engine *e, taper_tape_node *node)
{
    bool passes_on = node->kind == TAPER_TAPE_LEAF;
    for (size_t t = 0; t < e->target_count; t++) {
        if (e->targets[t].node == node) {
            taper_val_replace(&e->found[t], taper_val_retain(node->grads[e->targets[t].output]));
        }
    }
    for (size_t i = 0; i < node->edge_count && !passes_on; i++) {
        passes_on = edge_is_wanted(&node->edges[i]);
    }
    if (!passes_on) {
        return TAPER_OK;
    }
    switch ((taper_tape_kind)node->kind) {
    case TAPER_TAPE_LEAF:
        return visit_leaf(e, node);
    case TAPER_TAPE_VIEW:
        return visit_view(e, node);
    case TAPER_TAPE_SLICES:
        return visit_slices(e, node);
    default:
        return visit_call(e, node, to_edge, NULL);
    }
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

static void free_saved(taper_tape_node *node)
{
    for (size_t i = 0; node->args != NULL && i < node->arg_count; i++) {
        taper_val_replace(&node->args[i], taper_val_none());
    }
    for (size_t i = 0; node->results != NULL && i < node->ret_count; i++) {
        taper_val_replace(&node->results[i], taper_val_none());
    }
    node->freed = node->freed || node->kind == TAPER_TAPE_OP || node->kind == TAPER_TAPE_SLICES;
    if (node->inner != NULL) {
        free_saved(node->inner);
    }
}

static taper_status visit_all(engine *e)
{
    taper_status status = TAPER_OK;
    for (size_t at = e->count; at-- != 0;) {
        taper_tape_node *const node = e->nodes[at];
        if (node->grads != NULL && node->wanted && status == TAPER_OK) {
            status = visit(e, node);
            if (status == TAPER_OK && !e->request->keep && node->kind != TAPER_TAPE_LEAF) {
                free_saved(node);
            }
        }
        drop_grads(node);
    }
    return status;
}

// ---- a request

static taper_status first_grad(engine *e, const taper_tensor *output, taper_val given, taper_val *grad)
{
    if (given.tag == TAPER_TENSOR) {
        const taper_tensor *const g = given.as.tensor;
        bool same = g->rank == output->rank;
        for (size_t i = 0; same && i < g->rank; i++) {
            same = g->sizes[i] == output->sizes[i];
        }
        if (!same) {
            TAPER_FAIL(e->run->error, TAPER_ERROR_ARGUMENT,
                       "Mismatch in shape: a grad_output and its output have different sizes");
        }
        *grad = taper_val_retain(given);
        return TAPER_OK;
    }
    if (taper_tensor_numel(output) != 1) {
        TAPER_FAIL(e->run->error, TAPER_ERROR_ARGUMENT, "grad can be implicitly created only for scalar outputs");
    }
    return call(e, "aten::ones_like", "", (taper_val[]){TAPER_VAL((taper_tensor *)(uintptr_t)output)}, 1, grad);
}

static taper_status add_outputs(engine *e)
{
    const taper_tape_request *const r = e->request;
    for (size_t i = 0; i < r->outputs->count; i++) {
        if (r->outputs->items[i].tag != TAPER_TENSOR) {
            TAPER_FAIL(e->run->error, TAPER_ERROR_ARGUMENT, "output %zu is not a tensor", i);
        }
        taper_tape_edge edge;
        TAPER_TRY(taper_tape_edge_of(e->run, r->outputs->items[i].as.tensor, &edge));
        if (edge.node == NULL) {
            TAPER_FAIL(e->run->error, TAPER_ERROR_ARGUMENT,
                       "element %zu of tensors does not require grad and does not have a grad_fn", i);
        }
        const taper_status status = add_node(e, edge.node);
        taper_tape_node_release(edge.node); // the list of nodes refers to it
        TAPER_TRY(status);
    }
    return TAPER_OK;
}

static taper_status start_outputs(engine *e)
{
    const taper_tape_request *const r = e->request;
    for (size_t i = 0; i < r->outputs->count; i++) {
        taper_tensor *const output = r->outputs->items[i].as.tensor;
        const taper_val given =
            r->grad_outputs != NULL && i < r->grad_outputs->count ? r->grad_outputs->items[i] : taper_val_none();
        taper_val grad;
        taper_tape_edge edge;
        TAPER_TRY(first_grad(e, output, given, &grad));
        taper_status status = taper_tape_edge_of(e->run, output, &edge);
        if (status != TAPER_OK) {
            taper_val_release(grad);
            return status;
        }
        status = add_grad(e, &edge, grad);
        taper_tape_node_release(edge.node);
        TAPER_TRY(status);
    }
    return TAPER_OK;
}

static taper_status add_targets(engine *e)
{
    const taper_list *const inputs = e->request->inputs;
    for (size_t i = 0; inputs != NULL && i < inputs->count; i++) {
        taper_tape_edge edge = {.node = NULL};
        if (inputs->items[i].tag == TAPER_TENSOR) {
            TAPER_TRY(taper_tape_edge_of(e->run, inputs->items[i].as.tensor, &edge));
        }
        if (edge.node == NULL) {
            TAPER_FAIL(e->run->error, TAPER_ERROR_ARGUMENT, "One of the differentiated Tensors does not require grad");
        }
        e->targets[i] = (target){edge.node, edge.output};
    }
    return TAPER_OK;
}

static taper_status make_list(engine *e, taper_val *found)
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

static taper_status compute(engine *e)
{
    TAPER_TRY(add_targets(e));
    TAPER_TRY(add_outputs(e));
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

taper_status taper_tape_gradients(taper_run *run, const taper_tape_request *request, taper_val *found)
{
    taper_heap *const heap = run->tape->heap;
    engine e = {.run = run,
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
        e.targets[t] = (target){.node = NULL};
        e.found[t] = taper_val_none();
    }
    run->tape->visits++;
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
