// SPDX-License-Identifier: BSD-2-Clause
// Packed constants: see gpu_weights.h.
#include "backends/gpu/gpu_weights.h"

#include <string.h>

#include "base/half.h"

static void name_of(const taper_gpu_key *key, taper_gpu_weights *w)
{
    for (size_t i = 0; i < TAPER_GPU_KEY_TENSORS; i++) {
        const taper_tensor *t = key->tensors[i];
        if (t != NULL) {
            w->names[i].data = t->storage->data;
            w->names[i].offset = t->offset;
            memcpy(w->names[i].sizes, t->sizes, sizeof t->sizes);
            memcpy(w->names[i].strides, t->strides, sizeof t->strides);
        }
    }
    memcpy(w->numbers, key->numbers, sizeof w->numbers);
    w->kind = key->kind;
}

static bool is_same(const taper_gpu_weights *a, const taper_gpu_weights *b)
{
    return a->kind == b->kind && memcmp(a->numbers, b->numbers, sizeof a->numbers) == 0 &&
           memcmp(a->names, b->names, sizeof a->names) == 0;
}

// Fills constants as floats, and converts them if the device uses halves.
static taper_status fill_buffer(const taper_gpu_state *s, void *to, uint64_t bytes, void (*fill)(void *user, float *to),
                                void *user)
{
    const size_t count = (size_t)(bytes / sizeof(uint16_t));
    uint16_t *halves = to;
    if (!s->half) {
        memset(to, 0, (size_t)bytes);
        fill(user, to);
        return TAPER_OK;
    }
    float *floats = taper_alloc_zeroed(s->allocator, count * sizeof *floats);
    if (floats == NULL) {
        return TAPER_ERROR_RESOURCE;
    }
    fill(user, floats);
    for (size_t i = 0; i < count; i++) {
        halves[i] = taper_float_to_f16(floats[i]);
    }
    taper_free(s->allocator, floats, count * sizeof *floats);
    return TAPER_OK;
}

// Fills the buffer directly if the host can access it, otherwise through memory that the host can access.
static taper_status upload(taper_gpu_state *s, taper_gpu_buffer *to, uint64_t bytes,
                           void (*fill)(void *user, float *to), void *user)
{
    taper_gpu_buffer staging = {0};
    taper_gpu_buffer *seen = to;
    if (to->data == NULL) {
        TAPER_TRY(s->api->buffer_new(s->gpu, bytes, TAPER_GPU_FOR_UPLOAD, &staging));
        seen = &staging;
    }
    taper_status status = fill_buffer(s, seen->data, bytes, fill, user);
    if (status == TAPER_OK) {
        status = s->api->flush(s->gpu, seen);
    }
    if (status == TAPER_OK && seen == &staging) {
        status = s->api->copy(s->gpu, &(taper_gpu_range){&staging, 0, bytes}, &(taper_gpu_range){to, 0, bytes}, 1);
    }
    s->api->buffer_free(s->gpu, &staging);
    return status;
}

static taper_status make(taper_gpu_state *s, taper_gpu_weights *w, uint64_t bytes, void (*fill)(void *user, float *to),
                         void *user)
{
    TAPER_TRY(s->api->buffer_new(s->gpu, bytes, TAPER_GPU_FOR_DEVICE, &w->buffer));
    const taper_status status = upload(s, &w->buffer, bytes, fill, user);
    if (status != TAPER_OK) {
        s->api->buffer_free(s->gpu, &w->buffer);
    }
    return status;
}

taper_status taper_gpu_weights_get(taper_gpu_state *s, const taper_gpu_key *key, uint64_t bytes,
                                   void (*fill)(void *user, float *to), void *user, taper_gpu_weights **weights,
                                   taper_error *error)
{
    taper_gpu_weights *wanted = taper_alloc_zeroed(s->allocator, sizeof *wanted);
    if (wanted == NULL) {
        return taper_fail_memory(error);
    }
    name_of(key, wanted);
    taper_mutex_lock(s->lock);
    taper_gpu_weights *found = s->weights;
    while (found != NULL && !(found->buffer.bytes == bytes && is_same(found, wanted))) {
        found = found->next;
    }
    taper_status status = TAPER_OK;
    if (found == NULL) {
        status = make(s, wanted, bytes, fill, user);
        if (status == TAPER_OK) {
            wanted->next = s->weights;
            s->weights = found = wanted;
            s->weight_count++;
            s->weight_bytes += bytes;
            wanted = NULL;
        }
    }
    if (status == TAPER_OK) {
        found->users++;
        *weights = found;
    }
    taper_mutex_unlock(s->lock);
    taper_free(s->allocator, wanted, sizeof *wanted);
    return taper_gpu_status(status, error);
}

void taper_gpu_weights_release(taper_gpu_state *s, taper_gpu_weights *weights)
{
    taper_mutex_lock(s->lock);
    if (--weights->users == 0) {
        taper_gpu_weights **at = &s->weights;
        while (*at != weights) {
            at = &(*at)->next;
        }
        *at = weights->next;
        s->weight_count--;
        s->weight_bytes -= weights->buffer.bytes;
        s->api->buffer_free(s->gpu, &weights->buffer);
        taper_free(s->allocator, weights, sizeof *weights);
    }
    taper_mutex_unlock(s->lock);
}
