// SPDX-License-Identifier: BSD-2-Clause
// What a recording is made of, for recording_make.c, which makes it, and recording.c, which replays it.
#ifndef TAPER_RUNTIME_RECORDING_PARTS_H
#define TAPER_RUNTIME_RECORDING_PARTS_H

#include "ops/call/bands.h"
#include "runtime/planner.h"
#include "runtime/program.h"

// A call, made before.
typedef struct taper_recorded_step {
    taper_call call;
    taper_val ret;
    taper_prepared *prepared; // a reference
    const taper_instruction *in;
    bool product; // runs with denormals off
    bool fresh;   // its result is made in each run, for register out and for uses of later steps
    bool tail;    // fresh, or it empties registers
    uint32_t out, birth;
    uint32_t use, use_end, empty, empty_end; // parts of uses and emptied
    const taper_bands *bands;                // it and those behind it are run together; NULL: it alone
} taper_recorded_step;

// A result that nobody outside sees.
typedef struct taper_shell {
    taper_tensor tensor;
    taper_storage storage;
    size_t offset; // in the arena
} taper_shell;

// A register that steps read and none of them has written.
typedef struct taper_outside {
    taper_guard guard;
    uint32_t reg, use, use_end;
    taper_val last; // what stands in the calls
} taper_outside;

typedef struct taper_emptied {
    uint32_t reg, step;
} taper_emptied;

typedef struct taper_recording {
    struct taper_recording *next;
    const taper_instruction *first, *end;
    size_t bytes, instructions;
    uint32_t births, last_birth, births_end; // of storages: before, the last of a step, behind
    bool waits;                              // perhaps: for packs
    unsigned copies;                         // taper_heap_copies when the constants were last looked at
    char *arena;                             // where the shells lie
    taper_recorded_step *steps;
    taper_shell *shells;
    taper_outside *outside;
    taper_val **uses; // arguments of calls that take a value made in each run
    taper_emptied *emptied;
    taper_bands *bands;
    size_t step_count, shell_count, outside_count;
} taper_recording;

// Whether it may be entered, as far as values tell: constants, guards and the arena are as they were, and no call waits
// for packs. Then its shells lie in the arena.
bool taper_recording_holds(taper_recording *r, const taper_heap *heap, const taper_replay *now,
                           const taper_val *registers);

#endif
