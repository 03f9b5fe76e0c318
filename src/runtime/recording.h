// SPDX-License-Identifier: BSD-2-Clause
// Recordings. A recording is a sequence of consecutive instructions that all ran prepared (ops/call/prepared.h) in the
// run from which a memory plan was made. The recording belongs to that plan. A run that replays the plan runs the steps
// of the recording one after the other. Their calls are made in advance and point to each other's results. If a value
// is created and freed inside the sequence, it is a "shell": a tensor and its storage that are made only once, at the
// plan's offset in the arena. No other code ever holds a shell. A value that is used after the sequence is created in
// each run. Consecutive steps may run together in bands of rows that fit in the cache (ops/call/bands.h).
//
// A recording is used only if nothing has changed. The plan must replay, and the number of storages created so far must
// be the same. The storages in the arena must be the expected ones, and must be freed at the same time. Arguments from
// outside must pass their guards, and constants must not have been written to. Otherwise the interpreter continues as
// usual. Runs that are profiled or observed do not use recordings.
#ifndef TAPER_RUNTIME_RECORDING_H
#define TAPER_RUNTIME_RECORDING_H

#include "runtime/planner.h"
#include "runtime/session.h"

typedef struct taper_recording taper_recording; // linked list of the recordings of one plan, in order

// Call taper_recorder_begin after taper_planner_begin, and taper_recorder_end after the run. where: result of
// taper_planner_end.
void taper_recorder_begin(taper_session *session);
void taper_recorder_end(taper_session *session, taper_recording **where);
// Chooses the calls that will run together in bands (ops/call/bands.h), and keeps the memory that they need from being
// reused. Call this before the plan is made.
void taper_recorder_join(taper_session *session);

// Call these functions in a run from which recordings will be made (a traced run): taper_recorder_before when an
// instruction begins, and taper_recorder_note after its kernel, if it has one.
void taper_recorder_before(taper_session *session);
void taper_recorder_note(taper_session *session, const taper_program *program, const taper_instruction *in,
                         const taper_call *call, taper_status status);

// The place where a replay ended. After success, `at` is the instruction that runs next. After a failure, `at` is the
// instruction that failed and `args` are its arguments; `at` is NULL if no instruction caused the failure.
typedef struct taper_replayed {
    const taper_instruction *at;
    const taper_val *args;
} taper_replayed;
// Runs the steps of the recording at recorder->entry. Returns TAPER_DECLINED if it did nothing.
TAPER_MUST_USE taper_status taper_recorder_replay(const taper_frame_source *source, taper_val *registers,
                                                  taper_replayed *replayed);

#endif
