// SPDX-License-Identifier: BSD-2-Clause
// Memory of tensors that remain on the device: see gpu_held.h. Some released memory is kept for the next results.
#include "backends/gpu/gpu_held.h"

#include <string.h>

#include "ir/graph.h"
#include "ir/tensor.h"

enum { MOST_SPARES = 16 };

static bool is_seen(const taper_gpu_buffer *buffer)
{
    return buffer->data != NULL && buffer->cached;
}

bool taper_gpu_sees(const taper_gpu_range *from, const taper_gpu_range *to)
{
    return is_seen(from->buffer) && to->buffer->data != NULL;
}

taper_status taper_gpu_transfer(taper_gpu_state *s, const taper_gpu_range *from, const taper_gpu_range *to)
{
    TAPER_TRY(from->buffer->coherent ? TAPER_OK : s->api->invalidate(s->gpu, from->buffer));
    memcpy((char *)to->buffer->data + to->offset, (const char *)from->buffer->data + from->offset, (size_t)from->bytes);
    return to->buffer->coherent ? TAPER_OK : s->api->flush(s->gpu, to->buffer);
}

// ---- copies to the host

static taper_status copy_numbers(const void *numbers, taper_tensor *to, taper_error *error)
{
    taper_storage storage = {.kind = TAPER_STORAGE_HOST, .data = (void *)(uintptr_t)numbers, .bytes = SIZE_MAX / 2};
    taper_tensor from = {.storage = &storage, .dtype = TAPER_F32, .rank = to->rank};
    memcpy(from.sizes, to->sizes, to->rank * sizeof *to->sizes);
    taper_strides_contiguous(to->rank, to->sizes, from.strides);
    return taper_tensor_copy(to, &from, error);
}

// Copies through memory that the host reads fast, in pieces.
static taper_status fetch_staged(taper_gpu_state *s, const taper_gpu_range *all, taper_tensor *to, taper_error *error)
{
    taper_gpu_buffer staging;
    TAPER_TRY(s->api->buffer_new(s->gpu, all->bytes, TAPER_GPU_FOR_DOWNLOAD, &staging));
    const taper_gpu_range range = {&staging, 0, all->bytes};
    taper_status status = s->api->copy(s->gpu, all, &range, 1);
    if (status == TAPER_OK) {
        status = s->api->invalidate(s->gpu, &staging);
    }
    if (status == TAPER_OK) {
        status = copy_numbers(staging.data, to, error);
    }
    s->api->buffer_free(s->gpu, &staging);
    return status;
}

static taper_status fetch(taper_memory *memory, taper_tensor *to, taper_error *error)
{
    const taper_gpu_held *held = (const taper_gpu_held *)memory;
    taper_gpu_state *s = held->state;
    const taper_gpu_range all = {&held->buffer, 0, held->buffer.bytes};
    if (is_seen(&held->buffer) &&
        held->buffer.coherent) { // the host can copy from this memory even if the device is lost
        return copy_numbers(held->buffer.data, to, error);
    }
    taper_mutex_lock(s->lock);
    const taper_status status = fetch_staged(s, &all, to, error);
    taper_mutex_unlock(s->lock);
    return taper_gpu_status(status, error);
}

// ---- memory of tensors that remain on the device

static void free_held(taper_gpu_state *s, taper_gpu_held *held)
{
    s->api->buffer_free(s->gpu, &held->buffer);
    taper_free(s->allocator, held, sizeof *held);
}

static void drop(taper_memory *memory)
{
    taper_gpu_held *held = (taper_gpu_held *)memory;
    taper_gpu_state *s = held->state;
    taper_mutex_lock(s->lock);
    if (s->spare_count < MOST_SPARES) {
        held->next = s->spares;
        s->spares = held;
        s->spare_count++;
        held = NULL;
    } else { // drops the oldest released memory
        taper_gpu_held **last = &s->spares;
        while ((*last)->next != NULL) {
            last = &(*last)->next;
        }
        taper_gpu_held *const oldest = *last;
        *last = NULL;
        held->next = s->spares;
        s->spares = held;
        held = oldest;
    }
    if (held != NULL) {
        free_held(s, held);
    }
    taper_mutex_unlock(s->lock);
}

void taper_gpu_free_spares(taper_gpu_state *s)
{
    while (s->spares != NULL) {
        taper_gpu_held *held = s->spares;
        s->spares = held->next;
        free_held(s, held);
    }
    s->spare_count = 0;
}

static taper_gpu_held *take_spare(taper_gpu_state *s, uint64_t bytes)
{
    taper_gpu_held **at = &s->spares;
    while (*at != NULL && (*at)->buffer.bytes != bytes) {
        at = &(*at)->next;
    }
    taper_gpu_held *held = *at;
    if (held != NULL) {
        *at = held->next;
        s->spare_count--;
    }
    return held;
}

static taper_status make(taper_gpu_state *s, uint64_t bytes, taper_gpu_held **made)
{
    taper_gpu_held *held = taper_alloc_zeroed(s->allocator, sizeof *held);
    if (held == NULL) {
        return TAPER_ERROR_RESOURCE;
    }
    const taper_status status = s->api->buffer_new(s->gpu, bytes, TAPER_GPU_FOR_DEVICE, &held->buffer);
    if (status != TAPER_OK) {
        taper_free(s->allocator, held, sizeof *held);
        return status;
    }
    *made = held;
    return TAPER_OK;
}

taper_status taper_gpu_hold(const taper_device *device, uint64_t bytes, taper_gpu_held **held)
{
    taper_gpu_state *s = device->state;
    taper_mutex_lock(s->lock);
    *held = take_spare(s, bytes);
    const taper_status status = *held != NULL ? TAPER_OK : make(s, bytes, held);
    taper_mutex_unlock(s->lock);
    if (status == TAPER_OK) {
        (*held)->memory = (taper_memory){.owner = device->owner, .fetch = fetch, .drop = drop};
        (*held)->state = s;
        (*held)->next = NULL;
    }
    return status;
}

// ---- results that remain on the device

static bool is_of_device(const taper_node *node, const taper_device *device)
{
    return node != NULL && node->kind == TAPER_NODE_SEGMENT && node->segment != NULL && node->segment->device == device;
}

static bool stays(const taper_ir_value *value, const taper_device *device, bool results_stay, int depth)
{
    enum { MOST_TUPLES = 4 }; // largest number of levels of nested tuples
    for (const taper_value_use *use = value->uses; use != NULL; use = use->next) {
        const taper_node *user = use->user;
        const bool inside = is_of_device(user, device) || is_of_device(use->block->parent, device);
        const bool result = results_stay && user == NULL && use->block->parent == NULL;
        const bool kept = user != NULL && user->kind == TAPER_NODE_SET_ATTR;
        const bool packed = results_stay && user != NULL && user->kind == TAPER_NODE_TUPLE && depth < MOST_TUPLES;
        if (!inside && !result && !kept && !(packed && stays(&user->outputs[0], device, true, depth + 1))) {
            return false;
        }
    }
    return value->uses != NULL;
}

bool taper_gpu_result_stays(const taper_segment *segment, size_t number, bool results_stay)
{
    return stays(&segment->node->outputs[number], segment->device, results_stay, 0);
}
