// SPDX-License-Identifier: BSD-2-Clause
// The data that a trace records about a run (recording_trace.c). recording_make.c makes recordings from this data.
#ifndef TAPER_RUNTIME_RECORDING_TRACE_H
#define TAPER_RUNTIME_RECORDING_TRACE_H

#include "runtime/recording.h"
#include "runtime/recording_parts.h"

typedef struct taper_noted_step {
    const taper_program *program;
    const taper_instruction *in;
    taper_call call;
    taper_prepared *prepared; // the operator's prepared state, a reference that the step owns
    uint32_t birth, uses;
    uint32_t source; // index of the step that made argument 0; UINT32_MAX for none
    uint32_t varies; // number of arguments that are not constants; repetitions of argument 0 are counted once
    uint32_t passed; // number of checks after the step that always pass if the guards of the sequence pass
    uint32_t joined; // number of steps that run together: this step and the next ones
    double saved;    // bytes of memory traffic that are saved by running this step and later ones together
    size_t origin;   // number of the storage of argument 0; SIZE_MAX if it was not created in this run
    uint32_t inputs; // in the first step of a sequence: number of inputs of the sequence
    bool first;      // true for the first step of a sequence of steps
    bool dies;       // true if a later step of the same sequence frees the result
} taper_noted_step;

typedef struct taper_noted_input {
    taper_guard guard;
    uint32_t reg, uses;
} taper_noted_input;

// The content of a register during sequence number `stretch`: the result of a step, or an input.
typedef struct taper_holder {
    uint32_t stretch, index;
    enum { HOLDS_RESULT, HOLDS_INPUT, HOLDS_NOTHING } what;
} taper_holder;

typedef struct taper_trace {
    taper_noted_step *steps;
    taper_noted_input *inputs;
    taper_holder *registers;
    size_t step_count, step_capacity, input_count, input_capacity, register_capacity;
    uint32_t stretch;
    size_t first;              // index of the first step of the current sequence
    size_t births, births_end; // number of storages created before this instruction, and after the last recorded step
    const taper_instruction *expected;
} taper_trace;

// Removes all steps, and keeps the memory for the next trace.
void taper_trace_empty(const taper_session *session, taper_trace *t);

// Returns the instruction that runs after `in`.
static inline const taper_instruction *taper_behind(const taper_program *program, const taper_instruction *in)
{
    return in->opcode == TAPER_DO_SEGMENT ? &program->code[in->target] : in + 1;
}

static inline taper_holder *taper_holder_of(taper_trace *t, uint32_t operand)
{
    return &t->registers[operand & TAPER_OPERAND_INDEX];
}

#endif
