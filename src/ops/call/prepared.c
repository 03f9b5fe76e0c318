// SPDX-License-Identifier: BSD-2-Clause
// Prepared calls: see prepared.h. One block holds what to compare and, behind it, what the kernel keeps.
#include "ops/call/prepared.h"

// What an argument must be: a tensor of this kind, or this value.
typedef struct guard {
    uint8_t tag, dtype, rank;
    bool hidden_nhwc, plain; // its memory may be read over its end
    uint32_t at;
    union {
        int64_t number;
        int64_t *sizes; // and strides, behind the guards
    } as;
} guard;

enum { MOST_MADE = 64 };

struct taper_prepared {
    taper_prepared_run run;
    void (*release)(void *data); // NULL: nothing to do
    size_t bytes, guard_count;
    unsigned made; // how often it was made anew
    void *data;
    guard guards[];
};

static bool is_plain(const taper_tensor *tensor)
{
    return tensor->storage->kind == TAPER_STORAGE_OWNED || tensor->storage->kind == TAPER_STORAGE_PLANNED;
}

// sizes: room for those of a tensor, which is moved on.
static bool guard_make(guard *g, taper_val value, int64_t **sizes)
{
    g->tag = (uint8_t)value.tag;
    switch ((taper_tag)value.tag) {
    case TAPER_NONE:
        g->as.number = 0;
        return true;
    case TAPER_INT:
    case TAPER_DOUBLE:
    case TAPER_BOOLEAN:
        g->as.number = value.as.i;
        return true;
    case TAPER_TENSOR: {
        const taper_tensor *x = value.as.tensor;
        g->dtype = x->dtype;
        g->rank = x->rank;
        g->hidden_nhwc = x->hidden_nhwc;
        g->plain = is_plain(x);
        g->as.sizes = *sizes;
        *sizes += 2 * (size_t)x->rank;
        memcpy(g->as.sizes, x->sizes, x->rank * sizeof *x->sizes);
        memcpy(g->as.sizes + x->rank, x->strides, x->rank * sizeof *x->strides);
        return x->quantizer == NULL && !x->wrapped_number;
    }
    default:
        return false;
    }
}

static bool guard_holds(const guard *g, taper_val value)
{
    if (value.tag != g->tag) {
        return false;
    }
    if (value.tag != TAPER_TENSOR) {
        return value.tag == TAPER_NONE || value.as.i == g->as.number;
    }
    const taper_tensor *x = value.as.tensor;
    if (x->dtype != g->dtype || x->rank != g->rank || x->hidden_nhwc != g->hidden_nhwc || is_plain(x) != g->plain ||
        x->quantizer != NULL || x->wrapped_number) {
        return false;
    }
    for (size_t d = 0; d < x->rank; d++) {
        if (x->sizes[d] != g->as.sizes[d] || x->strides[d] != g->as.sizes[x->rank + d]) {
            return false;
        }
    }
    return true;
}

void *taper_prepare(taper_call *call, taper_prepared_run run, size_t bytes)
{
    return taper_prepare_owner(call, run, NULL, bytes);
}

void *taper_prepare_owner(taper_call *call, taper_prepared_run run, void (*release)(void *data), size_t bytes)
{
    size_t guards = 0, numbers = 0;
    if (call->prepared == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < call->arg_count; i++) {
        if (!taper_arg_is_constant(call, i)) {
            guards++;
            numbers += call->args[i].tag == TAPER_TENSOR ? 2 * (size_t)call->args[i].as.tensor->rank : 0;
        }
    }
    const unsigned before = *call->prepared != NULL ? (*call->prepared)->made : 0;
    if (before == MOST_MADE) {
        return NULL; // an instruction that is never called alike: the last one may fit some calls
    }
    const size_t head = (sizeof(taper_prepared) + guards * sizeof(guard) + numbers * sizeof(int64_t) + 15) / 16 * 16;
    taper_prepared_free(call->run->heap, *call->prepared);
    taper_prepared *made = taper_heap_alloc(call->run->heap, head + bytes);
    *call->prepared = NULL;
    if (made == NULL) {
        return NULL;
    }
    *made = (taper_prepared){.run = run, .bytes = head + bytes, .made = before + 1, .data = (char *)made + head};
    int64_t *sizes = (int64_t *)(void *)&made->guards[guards];
    for (size_t i = 0; i < call->arg_count; i++) {
        if (taper_arg_is_constant(call, i)) {
            continue;
        }
        guard *g = &made->guards[made->guard_count++];
        *g = (guard){.at = (uint32_t)i};
        if (!guard_make(g, call->args[i], &sizes)) {
            taper_prepared_free(call->run->heap, made);
            return NULL; // quantized, a list, an object
        }
    }
    made->release = release;
    memset(made->data, 0, bytes);
    *call->prepared = made;
    return made->data;
}

bool taper_prepared_fits(const taper_prepared *prepared, const taper_call *call)
{
    for (size_t i = 0; i < prepared->guard_count; i++) {
        if (!guard_holds(&prepared->guards[i], call->args[prepared->guards[i].at])) {
            return false;
        }
    }
    return true;
}

taper_status taper_prepared_call(taper_call *call)
{
    const taper_prepared *prepared = *call->prepared;
    return prepared->run(call, prepared->data);
}

void taper_prepared_free(taper_heap *heap, taper_prepared *prepared)
{
    if (prepared != NULL) {
        if (TAPER_DEVICES && prepared->release != NULL) {
            prepared->release(prepared->data);
        }
        taper_heap_free(heap, prepared, prepared->bytes);
    }
}
