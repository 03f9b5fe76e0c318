// SPDX-License-Identifier: BSD-2-Clause
// Recordings. A recording is a sequence of consecutive instructions that all ran prepared (ops/call/prepared.h) in the
// run that a memory plan was made from. It belongs to that plan. A run that replays the plan runs the steps of the
// recording one after the other. Their calls are made in advance and point to each other's results. A value that is
// created and freed inside the sequence is a shell: a tensor and its storage that are made once, at the plan's place in
// the arena. No other code ever holds a shell. A value that is used after the sequence is created in each run.
// Consecutive steps may run together, in bands (ops/call/bands.h).
//
// A recording is entered if nothing has changed. The plan must replay, and the number of storages created so far must
// be the same. The storages in the arena must be the expected ones, and must be freed at the same time. Arguments from
// outside must fit their guards, and constants must not have been written to. Otherwise the interpreter continues as
// usual. Runs that are profiled or observed use no recordings.
#ifndef TAPER_RUNTIME_RECORDING_H
#define TAPER_RUNTIME_RECORDING_H

#include "runtime/planner.h"
#include "runtime/session.h"

typedef struct taper_recording taper_recording; // recordings of one plan, in order, linked

// Call taper_recorder_begin after taper_planner_begin, and taper_recorder_end after the run. where: the result of
// taper_planner_end.
void taper_recorder_begin(taper_session *session);
void taper_recorder_end(taper_session *session, taper_recording **where);
// Call this before the plan is made. Chooses the calls that will run in bands (ops/call/bands.h), and holds the memory
// that they need.
void taper_recorder_join(taper_session *session);

// Call these while tracing, when an instruction begins, and after its kernel, if it has one.
void taper_recorder_before(taper_session *session);
void taper_recorder_note(taper_session *session, const taper_program *program, const taper_instruction *in,
                         const taper_call *call, taper_status status);

// The result of a replay: the next instruction. After a failure it is the instruction that failed, with its arguments,
// or NULL if none is to blame.
typedef struct taper_replayed {
    const taper_instruction *at;
    const taper_val *args;
} taper_replayed;
// Runs the steps of the recording at recorder->entry. Returns TAPER_DECLINED if nothing happened.
TAPER_MUST_USE taper_status taper_recorder_replay(const taper_frame_source *source, taper_val *registers,
                                                  taper_replayed *replayed);

#endif
