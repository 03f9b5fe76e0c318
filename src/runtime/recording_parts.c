// SPDX-License-Identifier: BSD-2-Clause
// Checks that nothing has changed since a recording was made, and destroys recordings.
#include "runtime/recording_parts.h"

#include "ops/call/prepared.h"

// Returns true if each tensor in a register that the sequence empties is freed when the register is emptied, as the
// recording assumes. *due: number of storages in the arena that are freed before the last step.
static bool dies_in_time(const taper_recording *r, const taper_replay *now, const taper_val *registers, size_t *due)
{
    const taper_emptied *end = &r->emptied[r->steps[r->step_count - 1].empty_end];
    const uint32_t last = now->births[r->last_birth].born;
    for (const taper_emptied *e = r->emptied; e < end; e++) {
        const taper_val value = registers[e->reg];
        if (value.tag != TAPER_TENSOR) {
            if (taper_val_is_object(value)) {
                return false; // the value may contain tensors
            }
            continue;
        }
        const taper_storage *storage = value.as.tensor->storage;
        if (storage->kind != TAPER_STORAGE_PLANNED || storage->plan_run != now->run) {
            continue;
        }
        const uint32_t died = now->births[storage->plan_slot].died;
        if (taper_refs_count(&value.as.obj->refs) != 1 || taper_refs_count(&storage->head.refs) != 1 ||
            died < now->births[r->steps[e->step].birth].born) {
            return false;
        }
        *due += died < last;
    }
    return true;
}

// Returns true if the arena contains exactly the expected storages, and they will be freed as planned.
static bool lives_alike(const taper_recording *r, const taper_replay *now, const taper_val *registers)
{
    const uint32_t first = now->births[r->births].born, last = now->births[r->last_birth].born;
    size_t due = 0, dying = 0;
    for (size_t i = 0; i < now->live_count; i++) {
        const uint32_t died = now->births[now->live[i]].died;
        if (died < first) {
            return false;
        }
        due += died < last;
    }
    return dies_in_time(r, now, registers, &dying) && due == dying;
}

static bool constants_stand(taper_recording *r, const taper_heap *heap)
{
    const unsigned copies = taper_heap_copies(heap);
    for (size_t i = 0; i < r->step_count && r->copies != copies; i++) {
        if (!taper_prepared_stands(r->steps[i].prepared, &r->steps[i].call)) {
            return false;
        }
    }
    r->copies = copies;
    return true;
}

static bool waits_for_packs(taper_recording *r)
{
    for (size_t i = 0; i < r->step_count && r->waits; i++) {
        if (taper_prepared_waits(r->steps[i].prepared)) {
            return true;
        }
    }
    r->waits = false;
    return false;
}

bool taper_recording_holds(taper_recording *r, const taper_heap *heap, const taper_replay *now,
                           const taper_val *registers)
{
    if (!constants_stand(r, heap) || waits_for_packs(r)) {
        return false;
    }
    for (size_t i = 0; i < r->outside_count; i++) {
        if (!taper_guard_holds(&r->outside[i].guard, registers[r->outside[i].reg])) {
            return false;
        }
    }
    if (!lives_alike(r, now, registers)) {
        return false;
    }
    if (r->arena != now->arena) {
        for (size_t i = 0; i < r->shell_count; i++) {
            r->shells[i].storage.data = now->arena + r->shells[i].offset;
        }
        r->arena = now->arena;
    }
    return true;
}

void taper_recording_destroy(const taper_allocator *allocator, taper_heap *heap, taper_recording *recordings)
{
    while (recordings != NULL) {
        taper_recording *r = recordings;
        recordings = r->next;
        for (size_t i = 0; i < r->step_count; i++) {
            taper_prepared_drop(heap, r->steps[i].prepared);
        }
        taper_free(allocator, r, r->bytes);
    }
}
