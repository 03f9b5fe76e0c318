// SPDX-License-Identifier: BSD-2-Clause
// Implements the layers over backends that layer.h describes.
#include "tests/backend/layer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

const char *const layer_call_names[LAYER_CALLS] = {"open",   "close", "claim", "plan",  "record", "run",
                                                   "forget", "store", "keep",  "fetch", "drop"};

enum { MOST_LAYERS = 4 };

// A device of a layer: the device of the backend below, and the layer's state.
typedef struct layer_state {
    taper_device inner;
    max_align_t data[];
} layer_state;

typedef struct layer_plan {
    taper_segment inner; // segment of the backend below this layer
} layer_plan;

typedef struct layer_recording {
    char note[LAYER_NOTE];
    max_align_t data[];
} layer_recording;

static layer *layer_of(const taper_device *device)
{
    return (layer *)(uintptr_t)device->backend;
}

static taper_device *below(const taper_device *device)
{
    return &((layer_state *)device->state)->inner;
}

static taper_status before(layer *l, const layer_event *event)
{
    return l->before != NULL ? l->before(l, event) : TAPER_OK;
}

static taper_status after(layer *l, layer_event *event, taper_status status)
{
    event->status = status;
    if (l->after != NULL) {
        l->after(l, event);
    }
    return status;
}

// ---- device memory, whose calls pass through the layers

typedef struct held {
    taper_memory *memory;
    taper_status (*fetch)(taper_memory *memory, taper_tensor *to, taper_error *error);
    void (*drop)(taper_memory *memory);
    layer *layers[MOST_LAYERS]; // the innermost layer first
    taper_device *devices[MOST_LAYERS];
    size_t count;
    struct held *next;
} held;

static held *all_held;
static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;

static held **find_held(const taper_memory *memory)
{
    held **at = &all_held;
    while (*at != NULL && (*at)->memory != memory) {
        at = &(*at)->next;
    }
    return at;
}

static held copy_held(const taper_memory *memory, bool forget)
{
    pthread_mutex_lock(&held_lock);
    held **at = find_held(memory), *found = *at;
    if (found == NULL) {
        fprintf(stderr, "layer: memory that is not alive\n");
        abort();
    }
    const held copy = *found;
    if (forget) {
        *at = found->next;
        free(found);
    }
    pthread_mutex_unlock(&held_lock);
    return copy;
}

static taper_status held_fetch(taper_memory *memory, taper_tensor *to, taper_error *error)
{
    const held h = copy_held(memory, false);
    layer_event event = {.call = LAYER_FETCH, .tensor = to, .memory = memory, .error = error};
    taper_status status = TAPER_OK;
    size_t at = h.count;
    while (status == TAPER_OK && at > 0) {
        event.device = h.devices[--at];
        status = before(h.layers[at], &event);
    }
    if (status == TAPER_OK) {
        status = h.fetch(memory, to, error);
    }
    for (; at < h.count; at++) {
        event.device = h.devices[at];
        (void)after(h.layers[at], &event, status);
    }
    return status;
}

static void held_drop(taper_memory *memory)
{
    const held h = copy_held(memory, true);
    layer_event event = {.call = LAYER_DROP, .memory = memory};
    for (size_t at = h.count; at > 0; at--) {
        event.device = h.devices[at - 1];
        (void)before(h.layers[at - 1], &event);
    }
    h.drop(memory);
    for (size_t at = 0; at < h.count; at++) {
        event.device = h.devices[at];
        (void)after(h.layers[at], &event, TAPER_OK);
    }
}

static void hold(layer *l, taper_device *device, taper_memory *memory)
{
    pthread_mutex_lock(&held_lock);
    held *h = *find_held(memory);
    if (h == NULL) {
        h = calloc(1, sizeof *h);
        if (h == NULL) {
            abort();
        }
        *h = (held){.memory = memory, .fetch = memory->fetch, .drop = memory->drop, .next = all_held};
        all_held = h;
        memory->fetch = held_fetch;
        memory->drop = held_drop;
    }
    bool known = false;
    for (size_t i = 0; i < h->count; i++) {
        known |= h->layers[i] == l;
    }
    if (!known && h->count < MOST_LAYERS) {
        h->layers[h->count] = l;
        h->devices[h->count++] = device;
    }
    pthread_mutex_unlock(&held_lock);
    if (!known) {
        const layer_event event = {.call = LAYER_KEEP, .device = device, .memory = memory};
        (void)before(l, &event);
    }
}

// ---- the functions of a layer

static taper_status layer_open(taper_device *device, const char **why, taper_error *error)
{
    layer *l = layer_of(device);
    layer_event event = {.call = LAYER_OPEN, .device = device, .error = error};
    taper_device *inner = below(device);
    *inner = *device;
    inner->backend = l->inner;
    inner->state = ((layer_state *)device->state)->data;
    taper_status status = before(l, &event);
    if (status == TAPER_OK && l->inner->open != NULL) {
        status = l->inner->open(inner, why, error);
    }
    return after(l, &event, status);
}

static void layer_close(taper_device *device)
{
    layer *l = layer_of(device);
    layer_event event = {.call = LAYER_CLOSE, .device = device};
    (void)before(l, &event);
    if (l->inner->close != NULL) {
        l->inner->close(below(device));
    }
    (void)after(l, &event, TAPER_OK);
}

static taper_status layer_claim(taper_device *device, taper_region *region, taper_claim *claim, taper_error *error)
{
    layer *l = layer_of(device);
    layer_event event = {.call = LAYER_CLAIM, .device = device, .region = region, .claim = claim, .error = error};
    taper_status status = before(l, &event);
    if (status == TAPER_OK) {
        status = l->inner->claim(below(device), region, claim, error);
    }
    return after(l, &event, status);
}

static taper_status layer_plan_segment(taper_device *device, taper_segment *segment, taper_arena *arena,
                                       taper_error *error)
{
    layer *l = layer_of(device);
    layer_event event = {.call = LAYER_PLAN, .device = device, .segment = segment, .error = error};
    layer_plan *plan = taper_arena_alloc(arena, sizeof *plan);
    if (plan == NULL) {
        return taper_fail_memory(error);
    }
    taper_status status = before(l, &event);
    if (status == TAPER_OK) {
        plan->inner = *segment;
        plan->inner.device = below(device);
        status = l->inner->plan(plan->inner.device, &plan->inner, arena, error);
        taper_device *const own = segment->device;
        *segment = plan->inner;
        segment->device = own;
        segment->plan = plan;
    }
    return after(l, &event, status);
}

static taper_status layer_record(const taper_segment *segment, taper_call *call, void *recording)
{
    layer *l = layer_of(segment->device);
    layer_recording *r = recording;
    const layer_plan *plan = segment->plan;
    layer_event event = {.call = LAYER_RECORD,
                         .device = segment->device,
                         .run_segment = segment,
                         .args = call,
                         .note = r->note,
                         .error = call->run->error};
    taper_status status = before(l, &event);
    if (status == TAPER_OK) {
        call->segment = &plan->inner;
        status = l->inner->record(&plan->inner, call, r->data);
        call->segment = segment;
    }
    return after(l, &event, status);
}

static taper_status layer_run(const taper_segment *segment, taper_call *call, void *recording)
{
    layer *l = layer_of(segment->device);
    layer_recording *r = recording;
    const layer_plan *plan = segment->plan;
    layer_event event = {.call = LAYER_RUN,
                         .device = segment->device,
                         .run_segment = segment,
                         .args = call,
                         .note = r != NULL ? r->note : NULL,
                         .error = call->run->error};
    taper_status status = before(l, &event);
    if (status == TAPER_OK) {
        call->segment = &plan->inner;
        status = l->inner->run(&plan->inner, call, r != NULL ? r->data : NULL);
        call->segment = segment;
        for (size_t i = 0; i < call->ret_count; i++) {
            if (call->rets[i].tag == TAPER_TENSOR && taper_tensor_is_away(call->rets[i].as.tensor)) {
                hold(l, segment->device, call->rets[i].as.tensor->storage->memory);
            }
        }
    }
    return after(l, &event, status);
}

static void layer_forget(const taper_segment *segment, void *recording)
{
    layer *l = layer_of(segment->device);
    layer_recording *r = recording;
    const layer_plan *plan = segment->plan;
    layer_event event = {.call = LAYER_FORGET, .device = segment->device, .run_segment = segment, .note = r->note};
    (void)before(l, &event);
    l->inner->forget(&plan->inner, r->data);
    (void)after(l, &event, TAPER_OK);
}

static taper_status layer_store(taper_device *device, taper_run *run, const taper_tensor *from, taper_memory **memory)
{
    layer *l = layer_of(device);
    layer_event event = {.call = LAYER_STORE, .device = device, .tensor = from, .error = run->error};
    taper_status status = before(l, &event);
    if (status == TAPER_OK) {
        status = l->inner->store(below(device), run, from, memory);
        if (status == TAPER_OK) {
            hold(l, device, *memory);
            event.memory = *memory;
        }
    }
    return after(l, &event, status);
}

static taper_kernel layer_kernel(taper_device *device, const taper_op *op)
{
    return layer_of(device)->inner->kernel(below(device), op);
}

void layer_init(layer *l, const taper_backend *inner)
{
    const bool records = inner->recording_bytes != 0;
    *l = (layer){.inner = inner};
    l->table = (taper_backend){.struct_size = sizeof l->table,
                               .name = inner->name,
                               .kind = inner->kind,
                               .state_bytes = sizeof(layer_state) + inner->state_bytes,
                               .recording_bytes = records ? sizeof(layer_recording) + inner->recording_bytes : 0,
                               .open = layer_open,
                               .close = layer_close,
                               .claim = layer_claim,
                               .plan = layer_plan_segment,
                               .record = records ? layer_record : NULL,
                               .run = layer_run,
                               .forget = records ? layer_forget : NULL,
                               .kernel = inner->kernel != NULL ? layer_kernel : NULL,
                               .store = inner->store != NULL ? layer_store : NULL};
}
