// SPDX-License-Identifier: BSD-2-Clause
// The structs of a recording, for recording_make.c, which makes it, and recording.c, which replays it.
#ifndef TAPER_RUNTIME_RECORDING_PARTS_H
#define TAPER_RUNTIME_RECORDING_PARTS_H

#include "ops/call/bands.h"
#include "runtime/planner.h"
#include "runtime/program.h"

// A call that was made in advance.
typedef struct taper_recorded_step {
    taper_call call;
    taper_val ret;
    taper_prepared *prepared; // owned reference
    const taper_instruction *in;
    bool product; // true to run with denormals off
    bool fresh;   // true if its result is created in each run, for register out and for uses of later steps
    bool tail;    // true if fresh, or if it empties registers
    uint32_t out, birth;
    uint32_t use, use_end, empty, empty_end; // ranges of uses and emptied
    const taper_bands *bands; // this step and the following ones run together; NULL for a step that runs alone
} taper_recorded_step;

// A result that no code outside the recording sees.
typedef struct taper_shell {
    taper_tensor tensor;
    taper_storage storage;
    size_t offset; // bytes from the start of the arena
} taper_shell;

// A register that steps read and that none of them has written.
typedef struct taper_outside {
    taper_guard guard;
    uint32_t reg, use, use_end;
    taper_val last; // the value that the calls contain now
} taper_outside;

typedef struct taper_emptied {
    uint32_t reg, step;
} taper_emptied;

typedef struct taper_recording {
    struct taper_recording *next;
    const taper_instruction *first, *end;
    size_t bytes, instructions;
    uint32_t births, last_birth, births_end; // numbers of births: before the recording, of its last step, and after it
    bool waits;                              // false if no call can wait for packs any more
    unsigned copies;                         // taper_heap_copies at the last check of the constants
    char *arena;                             // the arena that the shells point into
    taper_recorded_step *steps;
    taper_shell *shells;
    taper_outside *outside;
    taper_val **uses; // arguments of calls that use a value created in each run
    taper_emptied *emptied;
    taper_bands *bands;
    size_t step_count, shell_count, outside_count;
} taper_recording;

// Returns true if the recording may be entered as far as values tell: constants, guards and the arena are unchanged,
// and no call waits for packs. The shells then point into the current arena.
bool taper_recording_holds(taper_recording *r, const taper_heap *heap, const taper_replay *now,
                           const taper_val *registers);

#endif
