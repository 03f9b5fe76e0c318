// SPDX-License-Identifier: BSD-2-Clause
// Prepared calls, see prepared.h. One block contains the guards and, after them, the data of the kernel.
#include "ops/call/prepared.h"

#include "ir/tensor.h"

enum { MOST_MADE = 64, STANDING = 64 };

static bool is_plain(const taper_tensor *tensor)
{
    return tensor->storage->kind == TAPER_STORAGE_OWNED || tensor->storage->kind == TAPER_STORAGE_PLANNED;
}

// Returns the kind of the tensor's memory, as far as prepared calls distinguish kinds.
static uint8_t memory_of(const taper_tensor *tensor)
{
    return is_plain(tensor)               ? TAPER_STORAGE_OWNED
           : taper_tensor_is_away(tensor) ? TAPER_STORAGE_DEVICE
                                          : TAPER_STORAGE_BORROWED;
}

// ---- guards: the expected forms of arguments

// Writes a list of ints, which are usually sizes, into the guard. Returns false for longer lists and for other lists,
// which are not compared.
static bool make_of_list(taper_guard *g, const taper_list *list)
{
    if (list->count > 2 * TAPER_GUARD_RANK) {
        return false;
    }
    g->rank = (uint8_t)list->count;
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].tag != TAPER_INT) {
            return false;
        }
        g->as.sizes[i] = list->items[i].as.i;
    }
    return true;
}

static bool list_holds(const taper_guard *g, const taper_list *list)
{
    bool same = list->count == g->rank;
    for (size_t i = 0; same && i < list->count; i++) {
        same = list->items[i].tag == TAPER_INT && list->items[i].as.i == g->as.sizes[i];
    }
    return same;
}

bool taper_guard_make(taper_guard *g, taper_val value)
{
    g->tag = (uint8_t)value.tag;
    if (value.tag == TAPER_LIST) {
        return make_of_list(g, value.as.list);
    }
    g->as.number = value.as.i;
    if (value.tag != TAPER_TENSOR) {
        return value.tag == TAPER_NONE || value.tag == TAPER_INT || value.tag == TAPER_DOUBLE ||
               value.tag == TAPER_BOOLEAN;
    }
    const taper_tensor *x = value.as.tensor;
    const taper_quantizer *q = x->quantizer;
    g->dtype = x->dtype;
    g->rank = x->rank;
    g->hidden_nhwc = x->hidden_nhwc;
    g->memory = memory_of(x);
    g->quantized = q != NULL;
    if (x->rank > TAPER_GUARD_RANK) {
        return false;
    }
    if (q != NULL) {
        g->scale = q->scale;
        g->zero_point = q->zero_point;
    }
    memcpy(g->as.sizes, x->sizes, x->rank * sizeof *x->sizes);
    memcpy(g->as.sizes + x->rank, x->strides, x->rank * sizeof *x->strides);
    return !x->wrapped_number && (q == NULL || q->scheme == TAPER_PER_TENSOR_AFFINE);
}

static bool quantizer_holds(const taper_guard *g, const taper_quantizer *q)
{
    return q->scheme == TAPER_PER_TENSOR_AFFINE && memcmp(&q->scale, &g->scale, sizeof q->scale) == 0 &&
           q->zero_point == g->zero_point;
}

bool taper_guard_holds(const taper_guard *g, taper_val value)
{
    if (value.tag != g->tag) {
        return false;
    }
    if (value.tag == TAPER_LIST) {
        return list_holds(g, value.as.list);
    }
    if (value.tag != TAPER_TENSOR) {
        return value.tag == TAPER_NONE || value.as.i == g->as.number;
    }
    const taper_tensor *x = value.as.tensor;
    if (x->dtype != g->dtype || x->rank != g->rank || x->hidden_nhwc != g->hidden_nhwc || memory_of(x) != g->memory ||
        x->wrapped_number || (x->quantizer != NULL) != g->quantized ||
        (x->quantizer != NULL && !quantizer_holds(g, x->quantizer))) {
        return false;
    }
    for (size_t d = 0; d < x->rank; d++) {
        if (x->sizes[d] != g->as.sizes[d] || x->strides[d] != g->as.sizes[x->rank + d]) {
            return false;
        }
    }
    return true;
}

// ---- constants among the arguments

// Returns true if the content of the value can change without being noticed by this file's checks: an object, or a list
// of objects.
static bool is_changeable(taper_val value)
{
    if (value.tag == TAPER_LIST) {
        return value.as.list->count != 0 && taper_val_is_object(value.as.list->items[0]);
    }
    return value.tag > TAPER_LIST && value.tag <= TAPER_OBJECT;
}

bool taper_prepared_stands(taper_prepared *prepared, const taper_call *call)
{
    const unsigned copies = taper_heap_copies(call->run->heap);
    if (copies != prepared->copies) {
        for (size_t i = 0; i < call->arg_count; i++) {
            const taper_tensor *const tensor = call->args[i].tag == TAPER_TENSOR ? call->args[i].as.tensor : NULL;
            if (tensor != NULL && taper_arg_is_constant(call, i) &&
                (tensor->reshaped ||
                 (i < STANDING && (prepared->standing >> i & 1) != 0 && !taper_tensor_stands(tensor)))) {
                return false;
            }
        }
        if (prepared->changeable) {
            return false;
        }
        prepared->copies = copies;
    }
    return true;
}

bool taper_call_has_constant_weights(const taper_call *call, const taper_tensor *weight, const taper_tensor *bias)
{
    bool all = taper_tensor_stands(weight) && taper_tensor_stands(bias);
    for (size_t i = 1; i < call->schema->arg_count; i++) {
        all = all && taper_arg_is_constant(call, i);
    }
    return all;
}

// ---- prepared calls

// Returns the only result if it is a new tensor, otherwise NULL.
static const taper_tensor *new_result(const taper_call *call)
{
    if (call->ret_count != 1 || call->rets[0].tag != TAPER_TENSOR || taper_ret_argument(call, 0) != NULL) {
        return NULL;
    }
    const taper_tensor *y = call->rets[0].as.tensor;
    const bool scales = y->quantizer != NULL && y->quantizer->scheme != TAPER_PER_TENSOR_AFFINE;
    return is_plain(y) && y->offset == 0 && !scales ? y : NULL;
}

static bool look_at_arguments(taper_prepared *made, const taper_call *call)
{
    for (size_t i = 0; i < call->arg_count; i++) {
        const taper_val value = call->args[i];
        if (taper_arg_is_constant(call, i)) {
            const bool standing = value.tag == TAPER_TENSOR && taper_tensor_stands(value.as.tensor);
            made->standing |= (uint64_t)(standing && i < STANDING) << (i % STANDING);
            made->changeable |= is_changeable(value) || (standing && i >= STANDING);
            continue;
        }
        taper_guard *g = &made->guards[made->guard_count++];
        *g = (taper_guard){.at = (uint32_t)i};
        if (!taper_guard_make(g, value)) {
            return false;
        }
    }
    return true;
}

void *taper_prepare(taper_call *call, taper_prepared_run run, size_t bytes)
{
    const taper_tensor *result = new_result(call);
    void *data = result != NULL ? taper_prepare_owner(call, run, NULL, bytes) : NULL;
    if (data != NULL) {
        taper_prepared *made = *call->prepared;
        made->replays = true;
        made->result = taper_tensor_local(result);
        made->result.storage = NULL;
        if (result->quantizer != NULL) {
            made->quantizer = *result->quantizer;
            made->result.quantizer = &made->quantizer;
        }
    }
    return data;
}

void *taper_prepare_owner(taper_call *call, taper_prepared_run run, void (*release)(void *data), size_t bytes)
{
    taper_heap *heap = call->run->heap;
    size_t guards = 0;
    if (call->prepared == NULL) {
        return NULL;
    }
    if (taper_prepared_waited(*call->prepared) && taper_prepared_fits(*call->prepared, call)) {
        return NULL; // the existing prepared call still fits; it only waited for its pack to get its permanent address
    }
    for (size_t i = 0; i < call->arg_count; i++) {
        guards += !taper_arg_is_constant(call, i);
    }
    const unsigned before = *call->prepared != NULL ? (*call->prepared)->made : 0;
    if (before == MOST_MADE) {
        return NULL; // the calls of this instruction always differ; the prepared call that exists may fit some of them
    }
    const size_t head = (sizeof(taper_prepared) + guards * sizeof(taper_guard) + 15) / 16 * 16;
    const bool replaces = *call->prepared != NULL && (*call->prepared)->refs == 1;
    taper_prepared_drop(heap, *call->prepared);
    taper_prepared *made = taper_heap_alloc_lasting(heap, head + bytes, replaces);
    *call->prepared = NULL;
    if (made == NULL) {
        return NULL;
    }
    memset(made, 0, head);
    made->run = run;
    made->refs = 1;
    made->bytes = head + bytes;
    made->made = before + 1;
    made->data = (char *)made + head;
    made->copies = taper_heap_copies(heap);
    if (!look_at_arguments(made, call)) {
        taper_prepared_drop(heap, made);
        return NULL;
    }
    made->release = release;
    memset(made->data, 0, bytes);
    *call->prepared = made;
    return made->data;
}

taper_status taper_ret_prepared_new(taper_call *call, taper_tensor **tensor)
{
    const taper_tensor *like = &(*call->prepared)->result;
    TAPER_TRY(taper_tensor_new(call->run->heap, (taper_dtype)like->dtype, like->rank, like->sizes, like->strides,
                               tensor, call->run->error));
    taper_ret(call, 0, TAPER_VAL(*tensor));
    (*tensor)->hidden_nhwc = like->hidden_nhwc;
    return like->quantizer != NULL ? taper_tensor_set_quantizer(*tensor, like->quantizer, call->run->error) : TAPER_OK;
}

bool taper_prepared_fits(taper_prepared *prepared, const taper_call *call)
{
    for (size_t i = 0; i < prepared->guard_count; i++) {
        if (!taper_guard_holds(&prepared->guards[i], call->args[prepared->guards[i].at])) {
            return false;
        }
    }
    return taper_prepared_stands(prepared, call);
}

taper_status taper_prepared_call(taper_call *call)
{
    const taper_prepared *prepared = *call->prepared;
    return prepared->run(call, prepared->data);
}

void taper_prepared_drop(taper_heap *heap, taper_prepared *prepared)
{
    if (prepared != NULL && --prepared->refs == 0) {
        if (TAPER_DEVICES && prepared->release != NULL) {
            prepared->release(prepared->data);
        }
        taper_heap_free_lasting(heap, prepared, prepared->bytes);
    }
}
