// SPDX-License-Identifier: BSD-2-Clause
// Visits one node of a tape: runs the formulas of its operator, or passes a gradient through a view or a write to a
// view.
#include "ir/tensor_def.h"
#include "ops/gradient/engine.h"

static TAPER_COLD taper_status refuse_unknown(const taper_engine *e, const taper_tape_node *node)
{
    const taper_schema *schema;
    TAPER_TRY(taper_registry_schema(e->run->registry, node->op, &schema, e->run->error));
    TAPER_FAIL(e->run->error, TAPER_ERROR_UNSUPPORTED,
               "the gradient of %s%s%s is not supported: detach its arguments if no gradient needs it", schema->name,
               *schema->overload != '\0' ? "." : "", schema->overload);
}

static TAPER_COLD taper_status refuse_freed(const taper_engine *e)
{
    TAPER_FAIL(e->run->error, TAPER_ERROR_ARGUMENT,
               "Trying to backward through the graph a second time (or directly access saved tensors after they have "
               "already been freed). Saved intermediate values of the graph are freed when you call .backward() or "
               "autograd.grad(). Specify retain_graph=True if you need to backward through the graph a second time or "
               "if you need to access saved tensors after calling backward.");
}

// Fails if the bytes of a saved tensor were written to after it was saved.
static taper_status check_saved(const taper_engine *e, taper_val value)
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

// Returns true if the gradient of the view before the write is wanted. This is so if the gradient of the base before
// the write is wanted.
static bool view_is_wanted(const void *user)
{
    const slices *const s = user;
    return edge_is_wanted(&s->outer->edges[0]);
}

// Receives the gradient of edge `edge` of a node. Takes over the reference.
typedef taper_status receiver(taper_engine *e, taper_tape_node *node, size_t edge, taper_val grad, void *user);

static taper_status to_edge(taper_engine *e, taper_tape_node *node, size_t edge, taper_val grad, void *user)
{
    (void)user;
    return taper_engine_add(e, &node->edges[edge], grad);
}

// Hands the gradient of an argument, a tensor or a list, to the argument's edges.
static taper_status hand_on(taper_engine *e, taper_tape_node *node, size_t arg, taper_val grad, receiver *receive,
                            void *user)
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

// If `link` is set, gives the node's own results their history; otherwise takes the history away. A formula that reads
// these results needs their history while the gradient is itself recorded.
static taper_status link_results(const taper_engine *e, taper_tape_node *node, bool link)
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

// If the only target of the formula is a list of at most `limit` items, notes for which items the gradient is wanted
// and returns the number of items. Otherwise returns 0.
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

static taper_status run_formula(taper_engine *e, taper_tape_node *node, const taper_gradient_formula *formula,
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
static taper_status own_grad(taper_engine *e, const taper_tape_node *node)
{
    const taper_tape_edge *const edge = &node->edges[0];
    taper_val made;
    TAPER_TRY(taper_engine_need_grads(e, edge->node));
    taper_val *const slot = &edge->node->grads[edge->output];
    if (slot->tag == TAPER_TENSOR && taper_engine_owns(e, *slot)) {
        return TAPER_OK;
    }
    if (slot->tag == TAPER_TENSOR) {
        TAPER_TRY(taper_engine_call(e, TAPER_OP(aten_clone), (taper_val[]){*slot, taper_val_int(0)}, 2, &made));
    } else {
        TAPER_TRY(taper_engine_zeros(e, &node->base, &made));
    }
    taper_val_replace(slot, made);
    return TAPER_OK;
}

// An operator that cuts views out of its argument: the gradients of the views are added to the same views of the
// argument's gradient. This takes one pass over the elements of the views, and no other tensor of the argument's size.
static taper_status visit_cut(taper_engine *e, taper_tape_node *node)
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
            status = taper_engine_call(e, TAPER_OP(aten_add__Tensor), (taper_val[]){view, node->grads[i]}, 2, &sum);
            taper_val_release(status == TAPER_OK ? sum : taper_val_none());
        }
    }
    taper_val_release(views);
    return status;
}

// Returns true if the node cuts its whole argument into pieces, all pieces have gradients, and the argument has no
// gradient yet. The formula then puts the pieces together in one pass.
static bool is_whole(const taper_tape_node *node)
{
    const taper_tape_edge *const edge = &node->edges[0];
    bool whole =
        node->output_count > 1 && (edge->node->grads == NULL || edge->node->grads[edge->output].tag == TAPER_NONE);
    for (size_t i = 0; whole && i < node->output_count; i++) {
        whole = node->grads[i].tag == TAPER_TENSOR;
    }
    return whole;
}

// Computes the gradients of the arguments of a call.
static taper_status visit_call(taper_engine *e, taper_tape_node *node, receiver *receive, void *user)
{
    if (node->kind == TAPER_TAPE_UNKNOWN) {
        return refuse_unknown(e, node);
    }
    if (node->freed) {
        return refuse_freed(e);
    }
    if (node->cuts && !e->caller.records && receive == to_edge && !is_whole(node)) {
        return visit_cut(e, node);
    }
    uint32_t wanted = 0;
    for (size_t i = 0; i < node->arg_count && i < 32; i++) {
        const bool through = receive != to_edge && i == 0; // true for the argument that is the view that was written to
        wanted |= (through ? view_is_wanted(user) : argument_is_wanted(node, i)) ? UINT32_C(1) << i : 0;
        TAPER_TRY(check_saved(e, node->args[i]));
    }
    for (size_t i = 0; i < node->ret_count; i++) {
        TAPER_TRY(check_saved(e, node->results[i]));
    }
    TAPER_TRY(taper_engine_fill(e, node));
    TAPER_TRY(link_results(e, node, true));
    taper_status status = TAPER_OK;
    taper_gradient_formula formula = {.end = NULL};
    while (status == TAPER_OK && taper_gradient_next(node->gradient, &formula)) {
        const uint32_t targets = formula.targets & wanted;
        uint32_t given = 0; // arguments that have edges
        for (uint32_t i = 0; i < node->arg_count && i < 32; i++) {
            given |= node->first_edges[i + 1] != node->first_edges[i] ? UINT32_C(1) << i : 0;
        }
        if ((targets & given) != 0) {
            status = run_formula(e, node, &formula, targets & given, receive, user);
        }
    }
    const taper_status unlinked = link_results(e, node, false);
    return status != TAPER_OK ? status : unlinked;
}

// Makes the lists of the view's sizes and strides.
static taper_status place_args(taper_engine *e, const taper_tape_node *node, taper_val *lists)
{
    TAPER_TRY(taper_engine_ints(e, node->view.sizes, node->view.rank, &lists[0]));
    const taper_status status = taper_engine_ints(e, node->view.strides, node->view.rank, &lists[1]);
    if (status != TAPER_OK) {
        taper_val_release(lists[0]);
    }
    return status;
}

// Copies a gradient to a tensor with the strides of the base, at offset 0. *laid_out receives a reference.
static taper_status lay_out(taper_engine *e, const taper_tape_node *node, taper_val grad, taper_val *laid_out)
{
    int64_t strides[TAPER_MAX_RANK];
    taper_strides_contiguous(node->base.rank, node->base.sizes, strides);
    bool same = true;
    for (size_t i = 0; i < node->base.rank; i++) {
        same = same && (node->base.sizes[i] == 1 || node->base.strides[i] == strides[i]);
    }
    if (same && grad.as.tensor->offset == 0) {
        return taper_engine_call(e, TAPER_OP(aten_contiguous), &grad, 1, laid_out);
    }
    if (same) {
        return taper_engine_call(e, TAPER_OP(aten_clone), (taper_val[]){grad, taper_val_int(0)}, 2, laid_out);
    }
    taper_val sizes, steps, empty;
    TAPER_TRY(taper_engine_ints(e, node->base.sizes, node->base.rank, &sizes));
    taper_status status = taper_engine_ints(e, node->base.strides, node->base.rank, &steps);
    if (status == TAPER_OK) {
        status = taper_engine_call(e, TAPER_OP(aten_empty_strided),
                                   (taper_val[]){sizes, steps, taper_val_int(node->base.dtype)}, 3, &empty);
        taper_val_release(steps);
    }
    taper_val_release(sizes);
    TAPER_TRY(status);
    status = taper_engine_call(e, TAPER_OP(aten_copy_), (taper_val[]){empty, grad}, 2, laid_out);
    taper_val_release(empty);
    return status;
}

// Returns the view's elements of `whole`, a gradient in the strides of the base.
static taper_status slice_of(taper_engine *e, const taper_tape_node *node, taper_val whole, taper_val *slice)
{
    taper_val lists[2];
    TAPER_TRY(place_args(e, node, lists));
    const taper_status status = taper_engine_call(
        e, TAPER_OP(aten_as_strided),
        (taper_val[]){whole, lists[0], lists[1], taper_val_int(node->view.offset - node->base.offset)}, 4, slice);
    taper_val_release(lists[0]);
    taper_val_release(lists[1]);
    return status;
}

// Returns `whole` with the elements of `slice` at the place of the view.
static taper_status with_slice(taper_engine *e, const taper_tape_node *node, taper_val whole, taper_val slice,
                               taper_val *made)
{
    taper_val lists[2];
    TAPER_TRY(place_args(e, node, lists));
    const taper_status status = taper_engine_call(
        e, TAPER_OP(aten_as_strided_scatter),
        (taper_val[]){whole, slice, lists[0], lists[1], taper_val_int(node->view.offset - node->base.offset)}, 5, made);
    taper_val_release(lists[0]);
    taper_val_release(lists[1]);
    return status;
}

// Returns the gradient of the base: zeros, with the gradients of the view's elements added to them.
static taper_status add_overlapping(taper_engine *e, const taper_tape_node *node, taper_val zeros, taper_val *made)
{
    taper_val lists[2];
    TAPER_TRY(place_args(e, node, lists));
    const taper_status status = taper_engine_call(
        e, TAPER_OP(taper_strided_gradient),
        (taper_val[]){node->grads[0], zeros, lists[0], lists[1], taper_val_int(node->view.offset - node->base.offset)},
        5, made);
    taper_val_release(lists[0]);
    taper_val_release(lists[1]);
    return status;
}

static taper_status visit_view(taper_engine *e, taper_tape_node *node)
{
    taper_val whole, made;
    TAPER_TRY(taper_engine_zeros(e, &node->base, &whole));
    taper_val laid_out;
    taper_status status = lay_out(e, node, whole, &laid_out);
    taper_val_release(whole);
    TAPER_TRY(status);
    status = taper_tape_overlaps(&node->view) ? add_overlapping(e, node, laid_out, &made)
                                              : with_slice(e, node, laid_out, node->grads[0], &made);
    taper_val_release(laid_out);
    TAPER_TRY(status);
    return taper_engine_add(e, &node->edges[0], made);
}

static taper_status to_slices(taper_engine *e, taper_tape_node *node, size_t edge, taper_val grad, void *user)
{
    slices *const s = user;
    (void)node;
    if (edge == 0) {
        taper_val_replace(&s->of_self, grad);
        return TAPER_OK;
    }
    return taper_engine_add(e, &s->outer->edges[edge], grad);
}

// Computes the gradients of a write to a view. The gradient of the view's elements is passed to the derivative of the
// write. The base before the write receives the gradient of the written base, except in the view's elements: these
// receive the gradient that the derivative of the write gives for their old values.
static taper_status visit_slices(taper_engine *e, taper_tape_node *node)
{
    slices s = {.outer = node, .of_self = taper_val_none()};
    taper_tape_node *const inner = node->inner;
    taper_val whole, slice, made;
    if (inner == NULL || node->freed) {
        return refuse_freed(e);
    }
    TAPER_TRY(lay_out(e, node, node->grads[0], &whole));
    taper_status status = slice_of(e, node, whole, &slice);
    if (status == TAPER_OK && edge_is_wanted(&node->edges[0])) {
        // PyTorch writes to the slice, so its elements must not overlap
        status = taper_check_expanded(slice.as.tensor, e->run->error);
        taper_val_release(status == TAPER_OK ? taper_val_none() : slice);
    }
    if (status == TAPER_OK) {
        taper_val *const own = inner->grads; // restored below, because `inner` may be visited for itself too
        inner->output_count = 1;
        inner->grads = &slice;
        status = visit_call(e, inner, to_slices, &s);
        taper_val_release(slice);
        inner->grads = own;
    }
    if (status == TAPER_OK && edge_is_wanted(&node->edges[0])) {
        taper_val filler = s.of_self;
        if (filler.tag == TAPER_NONE) {
            status = taper_engine_zeros(e, &node->view, &filler);
            s.of_self = status == TAPER_OK ? filler : taper_val_none();
        }
        status = status == TAPER_OK ? with_slice(e, node, whole, filler, &made) : status;
        status = status == TAPER_OK ? taper_engine_add(e, &node->edges[0], made) : status;
    }
    taper_val_release(s.of_self);
    taper_val_release(whole);
    return status;
}

// Adds the gradient of a leaf to the sum that aten::backward leaves in it. The sum is written in place, as in PyTorch,
// unless it will itself be differentiated.
static taper_status visit_leaf(taper_engine *e, const taper_tape_node *node)
{
    taper_history *const history = node->leaf != NULL ? node->leaf->history : NULL;
    // requires_grad may have been cleared after the leaf was recorded
    if (e->request->inputs != NULL || history == NULL || !node->leaf->requires_grad) {
        return TAPER_OK;
    }
    const taper_val grad = node->grads[0];
    const bool creates = e->caller.records, adds = history->grad != NULL;
    taper_val sum = taper_val_none();
    if (adds) {
        TAPER_TRY(taper_engine_call(e, creates ? TAPER_OP(aten_add_Tensor) : TAPER_OP(aten_add__Tensor),
                                    (taper_val[]){TAPER_VAL(history->grad), grad}, 2, &sum));
    } else if (taper_engine_owns(e, grad)) {
        sum = taper_val_retain(grad);
    } else {
        TAPER_TRY(taper_engine_call(e, TAPER_OP(aten_clone), (taper_val[]){grad, taper_val_int(0)}, 2, &sum));
    }
    taper_tensor *const old = history->grad;
    history->grad = sum.as.tensor;
    if (old != NULL) {
        taper_obj_release(&old->head);
    }
    return TAPER_OK;
}

bool taper_engine_passes_on(const taper_tape_node *node)
{
    bool passes_on = node->kind == TAPER_TAPE_LEAF;
    for (size_t i = 0; i < node->edge_count && !passes_on; i++) {
        passes_on = edge_is_wanted(&node->edges[i]);
    }
    return passes_on;
}

taper_status taper_engine_visit(taper_engine *e, taper_tape_node *node)
{
    for (size_t t = 0; t < e->target_count; t++) {
        if (e->targets[t].node == node) {
            taper_val_replace(&e->found[t], taper_val_retain(node->grads[e->targets[t].output]));
        }
    }
    if (!taper_engine_passes_on(node)) {
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
