// SPDX-License-Identifier: BSD-2-Clause
// Recordings. A recording is a stretch of instructions, one behind the other, that were all run prepared
// (ops/call/prepared.h) in the run that a memory plan was made of. It goes with that plan. In a run that replays the
// plan its steps are run one after the other: calls are made before and point at each other's results, and a value that
// is born and dies inside the stretch is a shell: a tensor and its storage made once, at the place that the plan gives
// it in the arena. Nobody else ever holds a shell. What is looked at behind the stretch is made anew in each run. Steps
// that follow one another may be run together, in bands (ops/call/bands.h).
//
// It is entered when everything is as it was: the plan replays, as many storages were born, those that live in the
// arena are expected there and die when they did, arguments from outside hold against their guards, nobody wrote to
// constants. Otherwise the interpreter goes on as ever. Runs that are profiled or observed replay none.
#ifndef TAPER_RUNTIME_RECORDING_H
#define TAPER_RUNTIME_RECORDING_H

#include "runtime/planner.h"
#include "runtime/session.h"

typedef struct taper_recording taper_recording; // those of a plan, in order, linked

// Around a run, inside the planner's. where: what taper_planner_end said.
void taper_recorder_begin(taper_session *session);
void taper_recorder_end(taper_session *session, taper_recording **where);
// Before the plan is made: which calls will be made in bands (ops/call/bands.h), and what has to stay for that.
void taper_recorder_join(taper_session *session);

// While tracing: an instruction begins; its kernel, if it has one, has run.
void taper_recorder_before(taper_session *session);
void taper_recorder_note(taper_session *session, const taper_program *program, const taper_instruction *in,
                         const taper_call *call, taper_status status);

// Of a replay: the instruction to go on with; if it failed, the one to be blamed and its arguments, NULL: none.
typedef struct taper_replayed {
    const taper_instruction *at;
    const taper_val *args;
} taper_replayed;
// At recorder->entry: runs the steps. TAPER_DECLINED: nothing happened.
TAPER_MUST_USE taper_status taper_recorder_replay(const taper_frame_source *source, taper_val *registers,
                                                  taper_replayed *replayed);

#endif
