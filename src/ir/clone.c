// SPDX-License-Identifier: BSD-2-Clause
// Copies a model's values for a session: see heap.h. The memo is a hash table with open addressing from the old object
// to the new one.
#include "ir/storage.h"
#include "ir/tensor.h"

typedef struct memo_entry {
    const taper_obj *from;
    // The copy, borrowed: the value that contains the copy keeps it alive. If `owned` is set, this entry keeps the copy
    // alive.
    taper_obj *to;
} memo_entry;

// Tells which tensors are copied. All other tensors are shared.
typedef enum clone_kind { CLONE_ALL, CLONE_HOST_CONSTANTS, CLONE_GRADIENTS } clone_kind;

struct taper_clone_memo {
    taper_heap *heap;
    taper_error *error;
    memo_entry *entries; // table; the `to` of an entry with `owned` is a reference that the memo holds until the end
    size_t count, capacity;
    clone_kind kind;
};

taper_status taper_clone_begin(taper_heap *heap, taper_clone_memo **memo, taper_error *error)
{
    *memo = taper_heap_alloc(heap, sizeof **memo);
    if (*memo == NULL) {
        return taper_fail_memory(error);
    }
    **memo = (taper_clone_memo){.heap = heap, .error = error};
    return TAPER_OK;
}

void taper_clone_end(taper_clone_memo *memo)
{
    if (memo == NULL) {
        return;
    }
    for (size_t i = 0; i < memo->capacity; i++) {
        if (memo->entries[i].to != NULL) {
            taper_obj_release(memo->entries[i].to);
        }
    }
    taper_heap *heap = memo->heap;
    taper_heap_free(heap, memo->entries, memo->capacity * sizeof *memo->entries);
    taper_heap_free(heap, memo, sizeof *memo);
}

static size_t slot_of(const memo_entry *entries, size_t capacity, const taper_obj *from)
{
    size_t at = (size_t)(((uintptr_t)from >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (capacity - 1);
    while (entries[at].from != NULL && entries[at].from != from) {
        at = (at + 1) & (capacity - 1);
    }
    return at;
}

static taper_obj *lookup(const taper_clone_memo *memo, const taper_obj *from)
{
    return memo->capacity == 0 ? NULL : memo->entries[slot_of(memo->entries, memo->capacity, from)].to;
}

static taper_status enter(taper_clone_memo *memo, const taper_obj *from, taper_obj *to)
{
    if (2 * (memo->count + 1) > memo->capacity) {
        const size_t capacity = memo->capacity == 0 ? 64 : 2 * memo->capacity;
        memo_entry *entries = taper_heap_alloc(memo->heap, capacity * sizeof *entries);
        if (entries == NULL) {
            return taper_fail_memory(memo->error);
        }
        memset(entries, 0, capacity * sizeof *entries);
        for (size_t i = 0; i < memo->capacity; i++) {
            if (memo->entries[i].from != NULL) {
                entries[slot_of(entries, capacity, memo->entries[i].from)] = memo->entries[i];
            }
        }
        taper_heap_free(memo->heap, memo->entries, memo->capacity * sizeof *entries);
        memo->entries = entries;
        memo->capacity = capacity;
    }
    memo->entries[slot_of(memo->entries, memo->capacity, from)] = (memo_entry){from, to};
    memo->count++;
    taper_obj_retain(to);
    return TAPER_OK;
}

static taper_status clone(taper_clone_memo *memo, taper_val value, taper_val *copy, int depth);

// Returns true for a tensor over read-only memory of the host. Tensors with gradients are excluded, because the host
// asks for the gradient of the tensor itself and not of a copy. A write to an excluded tensor copies its memory anyway.
static bool is_host_constant(const taper_tensor *tensor)
{
    return tensor->storage->kind == TAPER_STORAGE_HOST && tensor->storage->read_only && !tensor->requires_grad &&
           tensor->history == NULL;
}

// Copies the scales and zero points as tensors over shared storages. Data that was prepared from the model's scales is
// then also found for the copies.
static taper_status clone_quantizer(taper_clone_memo *memo, const taper_quantizer *quantizer, taper_tensor *twin)
{
    taper_quantizer own = *quantizer;
    taper_val scales = taper_val_none(), zero_points = taper_val_none();
    taper_status status = TAPER_OK;
    if (quantizer->scales != NULL) {
        status = clone(memo, TAPER_VAL(quantizer->scales), &scales, 0);
        own.scales = scales.as.tensor;
    }
    if (status == TAPER_OK && quantizer->zero_points != NULL) {
        status = clone(memo, TAPER_VAL(quantizer->zero_points), &zero_points, 0);
        own.zero_points = zero_points.as.tensor;
    }
    if (status == TAPER_OK) {
        status = taper_tensor_set_quantizer(twin, &own, memo->error);
    }
    taper_val_release(scales);
    taper_val_release(zero_points);
    return status;
}

// Returns in *copy a tensor over the storage of `tensor` that does not require a gradient.
static taper_status detach(const taper_clone_memo *memo, const taper_tensor *tensor, taper_val *copy)
{
    taper_tensor *twin;
    TAPER_TRY(taper_tensor_alias(memo->heap, tensor, tensor->offset, tensor->rank, tensor->sizes, tensor->strides,
                                 &twin, memo->error));
    twin->requires_grad = false;
    *copy = TAPER_VAL(twin);
    return TAPER_OK;
}

static taper_status clone_tensor(taper_clone_memo *memo, taper_tensor *tensor, taper_val *copy)
{
    if (memo->kind == CLONE_GRADIENTS) {
        return detach(memo, tensor, copy);
    }
    TAPER_TRY(taper_tensor_fetch(tensor, memo->error)); // a storage on a device cannot be shared
    taper_storage *storage = (taper_storage *)lookup(memo, &tensor->storage->head);
    if (storage == NULL) {
        taper_storage *origin = tensor->storage->origin != NULL ? tensor->storage->origin : tensor->storage;
        TAPER_TRY(taper_storage_share(memo->heap, origin, &storage, memo->error));
        const taper_status status = enter(memo, &tensor->storage->head, &storage->head);
        taper_obj_release(&storage->head); // the memo keeps its own reference
        TAPER_TRY(status);
    }
    taper_tensor *twin;
    TAPER_TRY(taper_tensor_view(memo->heap, storage, (taper_dtype)tensor->dtype, tensor->offset, tensor->rank,
                                tensor->sizes, tensor->strides, &twin, memo->error));
    twin->requires_grad = tensor->requires_grad;
    const taper_status status = tensor->quantizer != NULL ? clone_quantizer(memo, tensor->quantizer, twin) : TAPER_OK;
    if (status != TAPER_OK) {
        taper_obj_release(&twin->head);
        return status;
    }
    *copy = TAPER_VAL(twin);
    return TAPER_OK;
}

// Returns a new empty container of the same kind as `value`.
static taper_obj *clone_shell(taper_heap *heap, taper_val value)
{
    switch (value.tag) {
    case TAPER_LIST:
        return (taper_obj *)taper_list_new(heap, value.as.list->element, value.as.list->count);
    case TAPER_TUPLE:
        return (taper_obj *)taper_tuple_new(heap, value.as.tuple->type, value.as.tuple->count);
    case TAPER_DICT:
        return (taper_obj *)taper_dict_new(heap, value.as.dict->key, value.as.dict->value);
    default:
        return (taper_obj *)taper_object_new(heap, value.as.object->klass, value.as.object->count);
    }
}

static taper_status fill_shell(taper_clone_memo *memo, taper_val value, taper_obj *shell, int depth)
{
    size_t count;
    const taper_val *items = taper_container_items((taper_container *)value.as.obj, &count);
    const size_t step = value.tag == TAPER_DICT ? 2 : 1;
    for (size_t i = 0; i < count; i += step) {
        taper_val item;
        TAPER_TRY(clone(memo, items[i], &item, depth + 1));
        if (value.tag == TAPER_LIST) {
            TAPER_TRY(taper_list_append((taper_list *)shell, item, memo->error));
        } else if (value.tag == TAPER_TUPLE) {
            ((taper_tuple *)shell)->items[i] = item;
        } else if (value.tag == TAPER_OBJECT) {
            ((taper_object *)shell)->slots[i] = item;
        } else {
            taper_val second;
            const taper_status status = clone(memo, items[i + 1], &second, depth + 1);
            if (status != TAPER_OK) {
                taper_val_release(item);
                return status;
            }
            TAPER_TRY(taper_dict_set((taper_dict *)shell, item, second, memo->error));
        }
    }
    return TAPER_OK;
}

static bool is_cloned(clone_kind kind, const taper_tensor *tensor)
{
    return kind == CLONE_ALL || (kind == CLONE_GRADIENTS ? tensor->requires_grad : is_host_constant(tensor));
}

// Returns true if the object itself is not copied and the search for tensors to copy does not enter it. Tensors with
// gradients are searched only in containers, not in modules and packed weights.
static bool stays(clone_kind kind, taper_val value)
{
    return value.tag == TAPER_TENSOR ? !is_cloned(kind, value.as.tensor)
                                     : value.tag == TAPER_OBJECT && kind == CLONE_GRADIENTS;
}

static taper_status clone(taper_clone_memo *memo, taper_val value, taper_val *copy, int depth)
{
    *copy = taper_val_none();
    if (depth > TAPER_LIMIT_VALUE_DEPTH) {
        TAPER_FAIL(memo->error, TAPER_ERROR_RESOURCE, "values are nested more than %d deep", TAPER_LIMIT_VALUE_DEPTH);
    }
    if (!taper_val_is_object(value) || value.tag == TAPER_STRING || value.tag == TAPER_COMPLEX ||
        value.tag == TAPER_GENERATOR) {
        *copy = taper_val_retain(value); // strings are immutable
        return TAPER_OK;
    }
    taper_obj *known = lookup(memo, value.as.obj);
    if (known != NULL) {
        taper_obj_retain(known);
        *copy = taper_val_of(known);
        return TAPER_OK;
    }
    if (stays(memo->kind, value)) {
        *copy = taper_val_retain(value);
        return TAPER_OK;
    }
    if (value.tag == TAPER_TENSOR) {
        TAPER_TRY(clone_tensor(memo, value.as.tensor, copy));
        const taper_status status = enter(memo, value.as.obj, copy->as.obj);
        if (status != TAPER_OK) {
            taper_val_release(*copy);
            *copy = taper_val_none();
        }
        return status;
    }
    taper_obj *shell = clone_shell(memo->heap, value);
    if (shell == NULL) {
        return taper_fail_memory(memo->error);
    }
    taper_status status = enter(memo, value.as.obj, shell);
    if (status == TAPER_OK) {
        status = fill_shell(memo, value, shell, depth);
    }
    if (status != TAPER_OK) {
        taper_obj_release(shell);
        return status;
    }
    *copy = taper_val_of(shell);
    return TAPER_OK;
}

taper_status taper_clone_value(taper_clone_memo *memo, taper_val value, taper_val *copy, taper_error *error)
{
    memo->error = error;
    return clone(memo, value, copy, 0);
}

// Returns true if the value contains a tensor that would be copied. *steps: number of lookups that are left. When none
// is left, the result is true, which only costs a needless copy.
static bool holds_cloned(clone_kind kind, taper_val value, int depth, size_t *steps)
{
    if (value.tag == TAPER_TENSOR) {
        return is_cloned(kind, value.as.tensor);
    }
    if (value.tag < TAPER_LIST || value.tag > TAPER_OBJECT || stays(kind, value)) {
        return false;
    }
    size_t count;
    const taper_val *items = taper_container_items((taper_container *)value.as.obj, &count);
    for (size_t i = 0; i < count; i++) {
        if (*steps == 0 || depth > TAPER_LIMIT_VALUE_DEPTH) {
            return true;
        }
        (*steps)--;
        if (holds_cloned(kind, items[i], depth + 1, steps)) {
            return true;
        }
    }
    return false;
}

static taper_status clone_some(taper_heap *heap, taper_clone_memo **memo, clone_kind kind, taper_val value,
                               taper_val *copy, taper_error *error)
{
    enum { MOST_STEPS = 100000 };
    size_t steps = MOST_STEPS;
    *copy = value;
    const taper_obj *known = *memo != NULL && taper_val_is_object(value) ? lookup(*memo, value.as.obj) : NULL;
    const bool holds = known == NULL && holds_cloned(kind, value, 0, &steps);
    if (known == value.as.obj || (known == NULL && !holds && (steps == MOST_STEPS || kind != CLONE_GRADIENTS))) {
        return TAPER_OK;
    }
    if (*memo == NULL) {
        TAPER_TRY(taper_clone_begin(heap, memo, error));
        (*memo)->kind = kind;
    }
    if (known == NULL && !holds) { // records the value, so that it is not searched again
        return enter(*memo, value.as.obj, value.as.obj);
    }
    TAPER_TRY(taper_clone_value(*memo, value, copy, error));
    taper_val_release(*copy); // the memo keeps its own reference
    return TAPER_OK;
}

taper_status taper_clone_constants(taper_heap *heap, taper_clone_memo **memo, taper_val value, taper_val *guarded,
                                   taper_error *error)
{
    return clone_some(heap, memo, CLONE_HOST_CONSTANTS, value, guarded, error);
}

taper_status taper_clone_detached(taper_heap *heap, taper_clone_memo **memo, taper_val value, taper_val *detached,
                                  taper_error *error)
{
    return clone_some(heap, memo, CLONE_GRADIENTS, value, detached, error);
}
