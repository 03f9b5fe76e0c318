// SPDX-License-Identifier: BSD-2-Clause
// Handles values that leave a session: results of runs, attributes, and values that are passed to another model.
#include "ir/tensor.h"
#include "runtime/session.h"

// Before a value leaves, its tensors with hidden_nhwc become contiguous and its tensors on a device are copied to the
// host, except results that may stay on a device. Each container is visited once, so neither the depth of a value nor
// shared contents matter. Containers of the session are marked and put on a stack. Containers of the host must not be
// written to, because other sessions may read them too, so a table contains those that were found. The attributes of
// objects are settled when they are requested.
typedef struct settling {
    taper_session *session;
    bool in_run;
    taper_error *error;
    taper_container *stack;         // stack of the session's containers that are still to be visited
    taper_container **met;          // containers of the host, in the order in which they were found
    size_t count, looked, capacity; // number of containers in `met`; number of these that were visited; items allocated
    // Hash table with 2 * capacity entries: 1 + index in `met`, or 0 if the entry is free.
    uint32_t *places;
} settling;

static size_t place_of(const settling *s, const taper_container *container)
{
    const size_t mask = 2 * s->capacity - 1;
    size_t at = (size_t)(((uintptr_t)container >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 20) & mask;
    while (s->places[at] != 0 && s->met[s->places[at] - 1] != container) {
        at = (at + 1) & mask;
    }
    return at;
}

static void free_met(settling *s)
{
    taper_heap_free(s->session->heap, (void *)s->met, s->capacity * sizeof *s->met);
    taper_heap_free(s->session->heap, s->places, 2 * s->capacity * sizeof *s->places);
}

static taper_status grow_met(settling *s)
{
    enum { FIRST = 32 };
    settling grown = *s;
    grown.capacity = s->capacity == 0 ? FIRST : 2 * s->capacity;
    if (grown.capacity > UINT32_MAX / 2) {
        return taper_fail_memory(s->error);
    }
    grown.met = taper_heap_alloc(s->session->heap, grown.capacity * sizeof *grown.met);
    grown.places = taper_heap_alloc(s->session->heap, 2 * grown.capacity * sizeof *grown.places);
    if (grown.met == NULL || grown.places == NULL) {
        free_met(&grown);
        return taper_fail_memory(s->error);
    }
    memset(grown.places, 0, 2 * grown.capacity * sizeof *grown.places);
    for (size_t i = 0; i < s->count; i++) {
        grown.met[i] = s->met[i];
        grown.places[place_of(&grown, s->met[i])] = (uint32_t)(i + 1);
    }
    free_met(s);
    *s = grown;
    return TAPER_OK;
}

static taper_status meet(settling *s, taper_container *container)
{
    if (s->count == s->capacity) {
        TAPER_TRY(grow_met(s));
    }
    const size_t at = place_of(s, container);
    if (s->places[at] == 0) {
        s->met[s->count++] = container;
        s->places[at] = (uint32_t)s->count;
    }
    return TAPER_OK;
}

static taper_status settle_value(settling *s, taper_val value)
{
    taper_session *const session = s->session;
    if (value.tag == TAPER_TENSOR) {
        if (TAPER_DEVICES && s->in_run && session->run.results_stay && taper_tensor_is_away(value.as.tensor)) {
            return TAPER_OK;
        }
        return s->in_run ? taper_run_settle(&session->run, value.as.tensor)
                         : taper_tensor_settle(value.as.tensor, s->error);
    }
    if (value.tag < TAPER_LIST || value.tag > TAPER_DICT) {
        return TAPER_OK;
    }
    taper_container *container = (taper_container *)value.as.obj;
    if (container->head.heap != session->heap) {
        return meet(s, container);
    }
    if (container->scan != session->looks) {
        container->scan = session->looks;
        container->work = s->stack;
        s->stack = container;
    }
    return TAPER_OK;
}

taper_status taper_session_settle(taper_session *session, bool in_run, taper_val value, taper_error *error)
{
    settling s = {.session = session, .in_run = in_run, .error = error};
    session->looks++;
    taper_status status = settle_value(&s, value);
    while (status == TAPER_OK && (s.stack != NULL || s.looked < s.count)) {
        taper_container *top = s.stack;
        if (top != NULL) {
            s.stack = top->work;
        } else {
            top = s.met[s.looked++];
        }
        size_t count;
        const taper_val *items = taper_container_items(top, &count);
        for (size_t i = 0; status == TAPER_OK && i < count; i++) {
            status = settle_value(&s, items[i]);
        }
    }
    free_met(&s);
    return status;
}

taper_status taper_session_box(taper_session *session, bool in_run, taper_val result, taper_value **boxed,
                               taper_error *error)
{
    const taper_status status = taper_session_settle(session, in_run, result, error);
    *boxed = status == TAPER_OK ? taper_box_new(session->heap, result) : NULL;
    if (*boxed == NULL) {
        taper_val_release(result);
        return status != TAPER_OK ? status : taper_fail_memory(error);
    }
    return TAPER_OK;
}
