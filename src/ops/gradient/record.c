// SPDX-License-Identifier: BSD-2-Clause
// Records calls of operators on the tape. Before a call it finds the nodes of the arguments, because the call may
// change them. After the call it saves what the formulas will read, and gives the results their histories.
#include "ir/tensor.h"
#include "ops/gradient/tape.h"

static bool has_gradient(const taper_tensor *tensor)
{
    return taper_dtype_is_float((taper_dtype)tensor->dtype) || taper_dtype_is_complex((taper_dtype)tensor->dtype);
}

static bool any_requires(const taper_call *call)
{
    for (size_t i = 0; i < call->arg_count; i++) {
        const size_t edges = taper_tape_items(call->args[i]);
        for (size_t k = 0; k < edges; k++) {
            const taper_tensor *const tensor = taper_tape_item(call->args[i], k);
            if (tensor != NULL && has_gradient(tensor) && taper_tape_requires(tensor)) {
                return true;
            }
        }
    }
    return false;
}

// ---- before the call

static TAPER_COLD taper_status refuse_out(const taper_call *call)
{
    TAPER_FAIL(call->run->error, TAPER_ERROR_ARGUMENT,
               "functions with out=... arguments don't support automatic differentiation, but one of the arguments "
               "requires grad.");
}

// Creates the node with its edges, and notes the index of each argument's first edge.
static taper_status make_node(taper_call *call, taper_tape_node **node)
{
    size_t edges = 0;
    for (size_t i = 0; i < call->arg_count; i++) {
        edges += taper_tape_items(call->args[i]);
    }
    TAPER_TRY(taper_tape_node_new(call->run, TAPER_TAPE_OP, edges, node));
    taper_tape_node *const n = *node;
    n->op = call->op;
    n->gradient = taper_gradient_find(call->op);
    n->kind = n->gradient == NULL ? TAPER_TAPE_UNKNOWN : TAPER_TAPE_OP;
    const uint32_t without = n->gradient != NULL ? taper_gradient_none(n->gradient) : 0;
    n->first_edges = taper_heap_alloc(n->heap, (call->arg_count + 1) * sizeof *n->first_edges);
    if (n->first_edges == NULL) {
        return taper_fail_memory(call->run->error);
    }
    n->arg_count = call->arg_count;
    size_t at = 0;
    for (size_t i = 0; i < call->arg_count; i++) {
        n->first_edges[i] = (uint32_t)at;
        const size_t count = taper_tape_items(call->args[i]);
        for (size_t k = 0; k < count; k++, at++) {
            taper_tensor *const tensor = taper_tape_item(call->args[i], k);
            const bool none = tensor == NULL || !has_gradient(tensor) || (i < 32 && (without >> i & 1) != 0);
            TAPER_TRY(none ? TAPER_OK : taper_tape_edge_of(call->run, tensor, &n->edges[at]));
        }
    }
    n->first_edges[call->arg_count] = (uint32_t)at;
    taper_tape_node_count(call->run->tape, n);
    return TAPER_OK;
}

static bool needs_argument_gradient(const taper_tape_node *node, size_t arg)
{
    for (size_t e = node->first_edges[arg]; e < node->first_edges[arg + 1]; e++) {
        if (node->edges[e].node != NULL) {
            return true;
        }
    }
    return false;
}

// Returns the values of a call that formulas for wanted gradients read.
static taper_gradient_reads values_read(const taper_tape_node *node)
{
    taper_gradient_reads bits = {.results = 0};
    taper_gradient_formula formula = {.end = NULL};
    while (node->gradient != NULL && taper_gradient_next(node->gradient, &formula)) {
        bool wanted = false;
        for (size_t i = 0; i < node->arg_count && i < 32; i++) {
            wanted = wanted || ((formula.targets >> i & 1) != 0 && needs_argument_gradient(node, i));
        }
        if (wanted) {
            taper_gradient_add_reads(&formula, &bits);
        }
    }
    taper_gradient_leave_factors(node->op,
                                 (needs_argument_gradient(node, 0) ? 1U : 0U) |
                                     (node->arg_count > 1 && needs_argument_gradient(node, 1) ? 2U : 0U),
                                 &bits);
    return bits;
}

static taper_status save_tensor(taper_run *run, const taper_tensor *tensor, const taper_tape_edge *edge,
                                taper_val *saved)
{
    taper_tensor *shell;
    TAPER_TRY(taper_tape_shell(run, tensor, edge, &shell));
    *saved = TAPER_VAL(shell);
    return TAPER_OK;
}

static taper_status save_shape(taper_run *run, taper_val value, taper_val *saved);

static taper_status save_list(taper_run *run, const taper_tape_node *node, size_t arg, const taper_list *list,
                              taper_val *saved)
{
    taper_list *const copy = taper_list_new(run->tape->heap, list->element, list->count);
    if (copy == NULL) {
        return taper_fail_memory(run->error);
    }
    *saved = TAPER_VAL(copy);
    const bool tensors = node->first_edges[arg + 1] != node->first_edges[arg];
    size_t needed = 0; // number of factors that need a gradient; if it is 1, only the other factors' elements are read
    for (size_t e = 0; node->op == TAPER_OP(aten_einsum) && e < node->edge_count; e++) {
        needed += node->edges[e].node != NULL ? 1 : 0;
    }
    for (size_t i = 0; i < list->count; i++) {
        taper_val item = taper_val_none();
        if (needed == 1 && tensors && node->edges[node->first_edges[arg] + i].node != NULL) {
            TAPER_TRY(save_shape(run, list->items[i], &item));
        } else if (tensors && list->items[i].tag == TAPER_TENSOR) {
            TAPER_TRY(save_tensor(run, list->items[i].as.tensor, &node->edges[node->first_edges[arg] + i], &item));
        } else {
            item = taper_val_retain(list->items[i]);
        }
        copy->items[copy->count++] = item;
    }
    return TAPER_OK;
}

// Saves the sizes and the dtype of a tensor, or of the tensors in a list, as a tensor with one element of storage.
static taper_status save_shape(taper_run *run, taper_val value, taper_val *saved)
{
    static const int64_t strides[TAPER_MAX_RANK] = {0};
    taper_tensor *shell;
    if (value.tag == TAPER_LIST) {
        taper_list *const copy = taper_list_new(run->tape->heap, value.as.list->element, value.as.list->count);
        if (copy == NULL) {
            return taper_fail_memory(run->error);
        }
        *saved = TAPER_VAL(copy);
        for (size_t i = 0; i < value.as.list->count; i++) {
            taper_val item = taper_val_none();
            TAPER_TRY(save_shape(run, value.as.list->items[i], &item));
            copy->items[copy->count++] = item;
        }
        return TAPER_OK;
    }
    if (value.tag != TAPER_TENSOR) {
        *saved = taper_val_retain(value);
        return TAPER_OK;
    }
    TAPER_TRY(taper_tape_one_element(run));
    const taper_tensor *const like = value.as.tensor;
    TAPER_TRY(taper_tensor_view(run->tape->heap, run->tape->element, (taper_dtype)like->dtype, 0, like->rank,
                                like->sizes, strides, &shell, run->error));
    *saved = TAPER_VAL(shell);
    return TAPER_OK;
}

// Saves an argument as it is now. A list is copied, because the program may change it.
static taper_status save_argument(taper_call *call, taper_tape_node *node, size_t arg)
{
    const taper_val value = call->args[arg];
    if (value.tag == TAPER_TENSOR) {
        TAPER_TRY(taper_settle(call->run, value));
        return save_tensor(call->run, value.as.tensor, &node->edges[node->first_edges[arg]], &node->args[arg]);
    }
    if (value.tag == TAPER_LIST) {
        TAPER_TRY(taper_settle(call->run, value));
        return save_list(call->run, node, arg, value.as.list, &node->args[arg]);
    }
    node->args[arg] = taper_val_retain(value);
    return TAPER_OK;
}

static taper_status new_values(const taper_call *call, size_t count, taper_val **values)
{
    *values = count != 0 ? taper_heap_alloc(call->run->tape->heap, count * sizeof **values) : NULL;
    if (*values == NULL && count != 0) {
        return taper_fail_memory(call->run->error);
    }
    for (size_t i = 0; i < count; i++) {
        (*values)[i] = taper_val_none();
    }
    return TAPER_OK;
}

// Saves a copy of the tensor that the call will overwrite.
static taper_status save_original(taper_call *call, taper_tape_node *node)
{
    taper_tensor *const self = call->args[0].as.tensor, *copy, *shell;
    TAPER_TRY(taper_settle(call->run, call->args[0]));
    TAPER_TRY(
        taper_tensor_new(node->heap, (taper_dtype)self->dtype, self->rank, self->sizes, NULL, &copy, call->run->error));
    taper_status status = taper_run_copy(call->run, copy, self);
    if (status == TAPER_OK) {
        status = taper_tape_shell(call->run, copy, &node->edges[0], &shell);
        node->args[0] = status == TAPER_OK ? TAPER_VAL(shell) : taper_val_none();
    }
    taper_obj_release(&copy->head);
    return status;
}

static bool shares_storage(taper_val value, const taper_storage *storage)
{
    const size_t count = taper_tape_items(value);
    for (size_t k = 0; k < count; k++) {
        const taper_tensor *const tensor = taper_tape_item(value, k);
        if (tensor != NULL && tensor->storage == storage) {
            return true;
        }
    }
    return false;
}

// Saves what the call will overwrite: argument 0, or its sizes, and other arguments over the same storage. A gradient
// that needs these other arguments fails, because the call has modified them.
static taper_status save_overwritten(taper_call *call, taper_tape_node *node)
{
    const taper_gradient_reads bits = values_read(node);
    if ((bits.arguments & 1) != 0) {
        TAPER_TRY(save_original(call, node));
    } else if ((bits.shapes & 1) != 0) {
        TAPER_TRY(save_shape(call->run, call->args[0], &node->args[0]));
    }
    for (size_t i = 1; i < call->arg_count && i < 32; i++) {
        if ((bits.arguments >> i & 1) != 0 && shares_storage(call->args[i], call->args[0].as.tensor->storage)) {
            TAPER_TRY(save_argument(call, node, i));
        }
    }
    return TAPER_OK;
}

static taper_status note(taper_call *call, taper_tape_call *noted)
{
    const bool writes = taper_tape_writes(call);
    TAPER_TRY(writes && !taper_op_has(call->op, TAPER_OP_SELF)
                  ? taper_tape_check_writable(call, call->args[0].as.tensor)
                  : TAPER_OK);
    TAPER_TRY(make_node(call, &noted->node));
    taper_tape_node *const node = noted->node;
    TAPER_TRY(new_values(call, call->arg_count, &node->args));
    if (!writes) {
        return TAPER_OK;
    }
    taper_history *const history = call->args[0].as.tensor->history;
    if (history != NULL && history->base != NULL) {
        TAPER_TRY(taper_tape_edge_of(call->run, history->base, &noted->base));
    }
    return save_overwritten(call, node);
}

static bool is_tensors(const taper_type *type)
{
    return type != NULL &&
           (type->kind == TAPER_TYPE_TENSOR || ((type->kind == TAPER_TYPE_LIST || type->kind == TAPER_TYPE_OPTIONAL) &&
                                                type->items[0]->kind == TAPER_TYPE_TENSOR));
}

// Returns false for operators whose results have no gradient, and for operators that return no tensor.
static bool is_recorded(const taper_call *call)
{
    const taper_gradient *const gradient = taper_gradient_find(call->op);
    if (gradient != NULL) {
        return !taper_gradient_is_none(gradient);
    }
    for (size_t i = 0; call->schema != NULL && i < call->schema->ret_count; i++) {
        if (is_tensors(call->schema->rets[i].type)) {
            return true;
        }
    }
    return false;
}

bool taper_tape_records(const taper_call *call)
{
    return call->run->tape != NULL && !call->run->tape->off && any_requires(call);
}

taper_status taper_tape_before(taper_call *call, taper_tape_call *noted)
{
    *noted = (taper_tape_call){.node = NULL};
    if (call->arg_count != 0 && call->args[0].tag == TAPER_TENSOR) {
        noted->version = call->args[0].as.tensor->storage->version;
    }
    TAPER_TRY(taper_tape_check_flag(call));
    if (call->run->tape->off || !is_recorded(call) || !any_requires(call)) {
        return TAPER_OK;
    }
    if (call->schema != NULL && call->schema->out_count != 0) {
        return refuse_out(call);
    }
    if (taper_gradient_find(call->op) == NULL && !taper_tape_writes(call)) {
        noted->later = true;
        return TAPER_OK;
    }
    const taper_status status = note(call, noted);
    if (status != TAPER_OK) {
        taper_tape_node_release(noted->base.node);
        taper_tape_node_release(noted->node);
    }
    return status;
}

// ---- after the call

// Saves what formulas read, after the call. The gradient of as_strided reads only sizes, strides and offset of the
// argument, so writes to its elements do not matter.
static taper_status save(taper_call *call, taper_tape_node *node)
{
    static const taper_tape_edge no_edge = {.node = NULL}; // no history, because a node must not refer to itself
    const taper_gradient_reads bits = values_read(node);
    for (size_t i = 0; i < call->arg_count && i < 32; i++) {
        if ((bits.arguments >> i & 1) != 0 && node->args[i].tag == TAPER_NONE) {
            TAPER_TRY(save_argument(call, node, i));
            if (call->op == TAPER_OP(aten_as_strided) && node->args[i].tag == TAPER_TENSOR) {
                taper_history_drop(node->args[i].as.tensor);
            }
        } else if ((bits.shapes >> i & 1) != 0 && node->args[i].tag == TAPER_NONE) {
            TAPER_TRY(save_shape(call->run, call->args[i], &node->args[i]));
        }
    }
    TAPER_TRY(new_values(call, call->ret_count, &node->results));
    node->ret_count = call->ret_count;
    for (size_t i = 0; i < call->ret_count && i < 16; i++) {
        if ((bits.results >> i & 1) != 0 && call->rets[i].tag == TAPER_TENSOR) {
            TAPER_TRY(taper_settle(call->run, call->rets[i]));
            TAPER_TRY(save_tensor(call->run, call->rets[i].as.tensor, &no_edge, &node->results[i]));
        }
    }
    return TAPER_OK;
}

static taper_status save_places(const taper_call *call, taper_tape_node *node)
{
    node->outputs = taper_heap_alloc(node->heap, node->output_count * sizeof *node->outputs);
    if (node->outputs == NULL) {
        return taper_fail_memory(call->run->error);
    }
    size_t at = 0;
    for (size_t i = 0; i < call->ret_count; i++) {
        const size_t count = taper_tape_items(call->rets[i]);
        for (size_t k = 0; k < count; k++) {
            const taper_tensor *const tensor = taper_tape_item(call->rets[i], k);
            node->outputs[at++] = tensor != NULL ? taper_tape_place_of(tensor) : (taper_tape_place){.rank = 0};
        }
        at += count == 0 ? 1 : 0;
    }
    return TAPER_OK;
}

// Returns the number of outputs: one for each item of a list with tensors, and one for each other result.
static size_t count_outputs(const taper_call *call)
{
    size_t count = 0;
    for (size_t i = 0; i < call->ret_count; i++) {
        count += taper_max_size(taper_tape_items(call->rets[i]), 1);
    }
    return count;
}

// Gives the new results their histories.
static taper_status set_results(const taper_call *call, taper_tape_node *node)
{
    size_t at = 0;
    for (size_t i = 0; i < call->ret_count; i++) {
        const taper_val value = call->rets[i];
        const size_t count = taper_tape_items(value);
        for (size_t k = 0; k < count; k++, at++) {
            taper_tensor *const tensor = taper_tape_item(value, k);
            if (tensor != NULL && has_gradient(tensor) && !taper_tape_is_given(call, tensor)) {
                TAPER_TRY(taper_history_set(tensor, &node->head.head, (uint32_t)at, call->run->error));
            }
        }
        at += count == 0 ? 1 : 0;
    }
    return TAPER_OK;
}

// Gives the base of a view, after a write to the view, a node that contains the node of the write.
static taper_status set_base(const taper_call *call, taper_tape_call *noted)
{
    taper_tensor *const self = call->args[0].as.tensor, *const base = self->history->base;
    taper_tape_node *const inner = noted->node, *node;
    if (self->dtype != base->dtype) {
        TAPER_FAIL(call->run->error, TAPER_ERROR_UNSUPPORTED,
                   "gradients through a write to a view of another dtype are not supported: write to a copy");
    }
    TAPER_TRY(taper_tape_node_new(call->run, TAPER_TAPE_SLICES, inner->edge_count, &node));
    node->output_count = 1;
    node->edges[0] = noted->base;
    noted->base.node = NULL;
    for (size_t e = 1; e < inner->edge_count; e++) {
        node->edges[e] = inner->edges[e];
        if (node->edges[e].node != NULL) {
            taper_obj_retain(&node->edges[e].node->head.head);
        }
    }
    taper_tape_node_count(call->run->tape, node);
    node->view = taper_tape_place_of(self);
    node->base = taper_tape_place_of(base);
    node->inner = inner;
    noted->node = NULL;
    taper_status status = taper_history_set(base, &node->head.head, 0, call->run->error);
    if (status == TAPER_OK) {
        // Marks the view's history as out of date: the next reader makes a new one from the history of the base
        self->history->version = self->storage->version - 1;
        self->history->written = true;
    }
    taper_tape_node_release(node);
    return status;
}

// Updates histories after a write to argument 0.
static taper_status set_written(const taper_call *call, taper_tape_call *noted)
{
    taper_tensor *const self = call->args[0].as.tensor;
    const bool shape = taper_op_has(call->op, TAPER_OP_RESIZES) && noted->node->gradient != NULL;
    if (!shape && self->history != NULL && self->history->base != NULL) {
        return set_base(call, noted);
    }
    return taper_history_set(self, &noted->node->head.head, 0, call->run->error);
}

// Saves the arguments of an operator that cuts its tensor into views, except the tensor.
static taper_status save_cut(taper_call *call, taper_tape_node *node)
{
    node->cuts =
        taper_gradient_cuts(call->op) && call->arg_count <= TAPER_TAPE_CUT_ARGS && call->args[0].tag == TAPER_TENSOR;
    if (!node->cuts) {
        return TAPER_OK;
    }
    node->base = taper_tape_place_of(call->args[0].as.tensor);
    for (size_t i = 1; i < call->arg_count; i++) {
        if (node->args[i].tag == TAPER_NONE) {
            TAPER_TRY(save_argument(call, node, i));
        }
    }
    return TAPER_OK;
}

// Returns true if the call created a tensor that may have a gradient.
static bool gives_gradient(const taper_call *call)
{
    for (size_t i = 0; i < call->ret_count; i++) {
        const size_t count = taper_tape_items(call->rets[i]);
        for (size_t k = 0; k < count; k++) {
            const taper_tensor *const tensor = taper_tape_item(call->rets[i], k);
            if (tensor != NULL && has_gradient(tensor) && !taper_tape_is_given(call, tensor)) {
                return true;
            }
        }
    }
    return false;
}

static taper_status record(taper_call *call, taper_tape_call *noted)
{
    taper_tape_node *const node = noted->node;
    TAPER_TRY(save(call, node));
    TAPER_TRY(save_cut(call, node));
    node->output_count = count_outputs(call);
    TAPER_TRY(node->output_count > 1 ? save_places(call, node) : TAPER_OK);
    if (taper_tape_writes(call)) {
        return set_written(call, noted);
    }
    return set_results(call, node);
}

taper_status taper_tape_after(taper_call *call, taper_tape_call *noted, taper_status status)
{
    if (status == TAPER_OK && call->schema != NULL && call->schema->out_count == 0 && is_recorded(call)) {
        status = taper_tape_note_views(call);
    }
    if (noted->later && status == TAPER_OK && gives_gradient(call)) {
        status = note(call, noted);
    }
    if (noted->node != NULL && status == TAPER_OK) {
        status = record(call, noted);
    }
    status = status == TAPER_OK ? taper_tape_note_data(call, noted) : status;
    taper_tape_node_release(noted->base.node);
    taper_tape_node_release(noted->node);
    return status;
}
