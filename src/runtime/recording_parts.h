// SPDX-License-Identifier: BSD-2-Clause
// The structs of a recording, for recording_make.c, which makes recordings, and recording.c, which replays them.
#ifndef TAPER_RUNTIME_RECORDING_PARTS_H
#define TAPER_RUNTIME_RECORDING_PARTS_H

#include "ops/call/bands.h"
#include "runtime/planner.h"
#include "runtime/program.h"

// One step: a call that was made in advance.
typedef struct taper_recorded_step {
    taper_call call;
    taper_val ret;
    taper_prepared *prepared; // the operator's prepared state, a reference that the step owns
    const taper_instruction *in;
    bool product; // true if denormals must be switched off during the call
    bool fresh;   // true if the result is created in each run, for register `out` and for later steps that use it
    bool tail;    // true if `fresh`, or if the step empties registers
    uint32_t out, birth;
    uint32_t use, use_end, empty, empty_end; // ranges of indices in the arrays `uses` and `emptied` of the recording
    const taper_bands *bands; // bands in which this step runs together with the next steps; NULL for none
} taper_recorded_step;

// A tensor for a result that no code outside of the recording sees.
typedef struct taper_shell {
    taper_tensor tensor;
    taper_storage storage;
    size_t offset; // offset in the arena, in bytes
} taper_shell;

// A register that steps read and that no step of the recording writes.
typedef struct taper_outside {
    taper_guard guard;
    uint32_t reg, use, use_end;
    taper_val last; // value of the register, as the arguments of the calls contain it now
} taper_outside;

typedef struct taper_emptied {
    uint32_t reg, step;
} taper_emptied;

typedef struct taper_recording {
    struct taper_recording *next;
    const taper_instruction *first, *end;
    size_t bytes, instructions;
    // Numbers of the storages that the first and the last step create, and the number that follows.
    uint32_t births, last_birth, births_end;
    bool waits;      // false if no call waits for packed weights any more
    unsigned copies; // value of taper_heap_copies at the last check of the constants
    char *arena;     // start of the arena to which the shells point
    taper_recorded_step *steps;
    taper_shell *shells;
    taper_outside *outside;
    taper_val **uses; // pointers to the arguments of calls that use a value created in each run
    taper_emptied *emptied;
    taper_bands *bands;
    size_t step_count, shell_count, outside_count;
} taper_recording;

// Returns true if the values allow the recording to be used: constants, guards and the arena are unchanged, and no call
// waits for packed weights. The tensors that replays reuse (shells) then point into the current arena.
bool taper_recording_holds(taper_recording *r, const taper_heap *heap, const taper_replay *now,
                           const taper_val *registers);

#endif
