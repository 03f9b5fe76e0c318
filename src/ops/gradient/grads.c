// SPDX-License-Identifier: BSD-2-Clause
// Gradients of the results of nodes. A result that is used several times has several gradients, which are added.
#include "ir/tensor_def.h"
#include "ops/gradient/engine.h"

taper_status taper_engine_call(taper_engine *e, const taper_op *op, taper_val *args, size_t count, taper_val *result)
{
    const taper_schema *schema;
    taper_val full[16];
    if (op == NULL) {
        TAPER_FAIL(e->run->error, TAPER_ERROR_UNSUPPORTED, "this build lacks an operator that gradients need");
    }
    TAPER_TRY(taper_registry_schema(e->run->registry, op, &schema, e->run->error));
    for (size_t i = 0; i < schema->arg_count && i < sizeof full / sizeof *full; i++) {
        full[i] = i < count ? args[i] : schema->args[i].default_value;
    }
    *result = taper_val_none();
    return taper_tape_call_op(&e->caller, op, full, schema->arg_count, result, 1);
}

taper_status taper_engine_need_grads(const taper_engine *e, taper_tape_node *node)
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

bool taper_engine_owns(const taper_engine *e, taper_val grad)
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
static taper_status sum_of(taper_engine *e, taper_val slot, taper_val grad, taper_val *sum)
{
    taper_status status;
    if (taper_engine_owns(e, slot) && same_form(slot.as.tensor, grad.as.tensor)) {
        status = taper_engine_call(e, TAPER_OP(aten_add__Tensor), (taper_val[]){slot, grad}, 2, sum);
    } else if (taper_engine_owns(e, grad) && same_form(slot.as.tensor, grad.as.tensor)) {
        status = taper_engine_call(e, TAPER_OP(aten_add__Tensor), (taper_val[]){grad, slot}, 2, sum);
    } else {
        status = taper_engine_call(e, TAPER_OP(aten_add_Tensor), (taper_val[]){slot, grad}, 2, sum);
    }
    taper_val_release(grad);
    return status;
}

taper_status taper_engine_add(taper_engine *e, const taper_tape_edge *edge, taper_val grad)
{
    if (grad.tag != TAPER_TENSOR || edge->node == NULL || !edge->node->wanted) {
        taper_val_release(grad);
        return TAPER_OK;
    }
    taper_status status = taper_engine_need_grads(e, edge->node);
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

taper_status taper_engine_ints(const taper_engine *e, const int64_t *numbers, size_t count, taper_val *list)
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

taper_status taper_engine_zeros(taper_engine *e, const taper_tape_place *place, taper_val *made)
{
    taper_val sizes;
    TAPER_TRY(taper_engine_ints(e, place->sizes, place->rank, &sizes));
    const taper_status status =
        taper_engine_call(e, TAPER_OP(aten_zeros), (taper_val[]){sizes, taper_val_int(place->dtype)}, 2, made);
    taper_val_release(sizes);
    return status;
}

taper_status taper_engine_fill(taper_engine *e, taper_tape_node *node)
{
    for (size_t i = 0; node->output_count > 1 && i < node->output_count; i++) {
        if (node->grads[i].tag == TAPER_NONE && node->outputs != NULL) {
            TAPER_TRY(taper_engine_zeros(e, &node->outputs[i], &node->grads[i]));
        }
    }
    return TAPER_OK;
}
