// SPDX-License-Identifier: BSD-2-Clause
// Recordings: see recording.h. When one may be entered, and its replay.
#include "runtime/recording.h"

#include "platform/denormals.h"
#include "runtime/recording_parts.h"

// ---- entering

// What the stretch empties dies there, and when it did: nobody else holds it. *due: how many of the arena's storages
// that are, of those whose places steps of the stretch were given.
static bool dies_in_time(const taper_recording *r, const taper_replay *now, const taper_val *registers, size_t *due)
{
    const taper_emptied *end = &r->emptied[r->steps[r->step_count - 1].empty_end];
    const uint32_t last = now->births[r->last_birth].born;
    for (const taper_emptied *e = r->emptied; e < end; e++) {
        const taper_val value = registers[e->reg];
        if (value.tag != TAPER_TENSOR) {
            if (taper_val_is_object(value)) {
                return false; // tensors may be inside
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

// The arena holds what it held then, as long as it did.
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

static bool may_enter(taper_recording *r, const taper_session *session, const taper_val *registers)
{
    taper_replay now;
    if (session->profiling || session->observe != NULL || !taper_planner_replays(session->planner, &now) ||
        taper_planner_births(session->planner) != r->births ||
        (session->instruction_budget != 0 && session->instructions_left < r->instructions) ||
        !constants_stand(r, session->heap) || waits_for_packs(r)) {
        return false;
    }
    for (size_t i = 0; i < r->outside_count; i++) {
        if (!taper_guard_holds(&r->outside[i].guard, registers[r->outside[i].reg])) {
            return false;
        }
    }
    if (!lives_alike(r, &now, registers)) {
        return false;
    }
    if (r->arena != now.arena) {
        for (size_t i = 0; i < r->shell_count; i++) {
            r->shells[i].storage.data = now.arena + r->shells[i].offset;
        }
        r->arena = now.arena;
    }
    return true;
}

// ---- replay

static void put(const taper_recording *r, uint32_t use, uint32_t end, taper_val value)
{
    for (; use < end; use++) {
        *r->uses[use] = value;
    }
}

// What is made in each run goes to its register, what nobody wants any more goes.
static void finish(const taper_recording *r, taper_recorded_step *step, taper_val *registers)
{
    if (step->fresh) {
        put(r, step->use, step->use_end, step->ret);
        taper_val_replace(&registers[step->out], step->ret);
        step->ret = taper_val_none();
    }
    for (uint32_t i = step->empty; i < step->empty_end; i++) {
        taper_val_replace(&registers[r->emptied[i].reg], taper_val_none());
    }
}

// In bands; *last: the last of them, whose result is made; *blamed: the one that failed.
static taper_status run_together(taper_recorded_step *first, taper_session *session, taper_recorded_step **last,
                                 taper_recorded_step **blamed)
{
    taper_call *calls[TAPER_BANDS_MOST];
    size_t at = 0;
    for (size_t i = 0; i < first->bands->count; i++) {
        calls[i] = &first[i].call;
    }
    *last = first + first->bands->count - 1;
    if ((*last)->fresh) {
        taper_planner_skip(session->planner, (*last)->birth);
    }
    const taper_status status = taper_bands_run(first->bands, calls, &at);
    *blamed = first + at;
    session->recorder.banded += status == TAPER_OK ? first->bands->count : 0;
    return status;
}

static taper_status run_steps(const taper_recording *r, taper_session *session, taper_val *registers,
                              taper_replayed *replayed)
{
    enum { WORK_OF_A_STEP = 220 }; // as the interpreter counts an instruction and its call
    taper_run *run = &session->run;
    uint64_t before = 0;
    taper_status status = TAPER_OK;
    for (taper_recorded_step *step = r->steps; step < r->steps + r->step_count; step++) {
        if (atomic_load_explicit(&session->cancelled, memory_order_relaxed)) {
            run->work_left = 0; // at once
        }
        status = taper_run_spend(run, WORK_OF_A_STEP);
        if (status != TAPER_OK) {
            break;
        }
        if (step->product != run->flushes) {
            if (step->product) {
                before = taper_denormals_off();
            } else {
                taper_denormals_restore(before);
            }
            run->flushes = step->product;
        }
        run->current = step->in->op;
        if (step->fresh) {
            taper_planner_skip(session->planner, step->birth);
        }
        taper_recorded_step *last = step, *blamed = step;
        status = step->bands != NULL ? run_together(step, session, &last, &blamed) : TAPER_DECLINED;
        if (status == TAPER_DECLINED) {
            last = blamed = step;
            status = step->prepared->run(&step->call, step->prepared->data);
        }
        if (status != TAPER_OK || run->ended != TAPER_OK) {
            status = taper_run_outcome(run, status);
        }
        if (status != TAPER_OK) {
            if (last->fresh) {
                taper_val_replace(&last->ret, taper_val_none());
            }
            *replayed = (taper_replayed){blamed->in, blamed->call.args};
            break;
        }
        for (; step < last; step++) {
            if (step->tail) {
                finish(r, step, registers);
            }
        }
        if (step->tail) {
            finish(r, step, registers);
        }
    }
    if (run->flushes) {
        taper_denormals_restore(before);
        run->flushes = false;
    }
    run->current = NULL;
    return status;
}

static void await(taper_recorder *recorder, taper_recording *next)
{
    recorder->next = next;
    recorder->entry = next != NULL ? next->first : NULL;
}

taper_status taper_recorder_replay(const taper_frame_source *source, taper_val *registers, taper_replayed *replayed)
{
    taper_session *session = source->session;
    taper_recording *r = session->recorder.next;
    await(&session->recorder, r->next);
    if (!may_enter(r, session, registers)) {
        return TAPER_DECLINED;
    }
    for (size_t i = 0; i < r->outside_count; i++) {
        taper_outside *o = &r->outside[i];
        const taper_val value = registers[o->reg];
        if (value.tag != o->last.tag || value.as.i != o->last.as.i) {
            put(r, o->use, o->use_end, value);
            o->last = value;
        }
    }
    session->instructions_left -= session->instruction_budget != 0 ? r->instructions : 0;
    *replayed = (taper_replayed){NULL, NULL};
    TAPER_TRY(run_steps(r, session, registers, replayed));
    taper_planner_skip(session->planner, r->births_end);
    session->recorder.replayed += r->step_count;
    replayed->at = r->end;
    return TAPER_OK;
}

void taper_recorder_begin(taper_session *session)
{
    taper_recorder *recorder = &session->recorder;
    await(recorder, taper_planner_recordings(session->planner));
    recorder->banded = 0;
    recorder->traces = !session->model->reference && taper_planner_is_recording(session->planner);
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
