// SPDX-License-Identifier: BSD-2-Clause
// Replays recordings, which recording.h describes.
#include "runtime/recording.h"

#include "platform/denormals.h"
#include "runtime/recording_parts.h"

static bool may_enter(taper_recording *r, const taper_session *session, const taper_val *registers)
{
    taper_replay now;
    return !session->profiling && session->observe == NULL && taper_planner_replays(session->planner, &now) &&
           taper_planner_births(session->planner) == r->births &&
           (session->instruction_budget == 0 || session->instructions_left >= r->instructions) &&
           taper_recording_holds(r, session->heap, &now, registers);
}

static void put(const taper_recording *r, uint32_t use, uint32_t end, taper_val value)
{
    for (; use < end; use++) {
        *r->uses[use] = value;
    }
}

// Moves a result that is created in each run to its register, and empties registers whose last use was this step.
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

// Runs steps together in bands. *last: last of these steps, which creates the result; *blamed: step that failed.
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
    // work in nanoseconds that a step reports, as the interpreter does for an instruction and its call
    enum { WORK_OF_A_STEP = 220 };
    taper_run *run = &session->run;
    uint64_t before = 0;
    taper_status status = TAPER_OK;
    for (taper_recorded_step *step = r->steps; step < r->steps + r->step_count; step++) {
        if (atomic_load_explicit(&session->cancelled, memory_order_relaxed)) {
            run->work_left = 0; // 0, so that the next report of work checks the limits
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
    recorder->traces =
        !session->model->reference && !session->model->takes_gradients && taper_planner_is_recording(session->planner);
}
