// SPDX-License-Identifier: BSD-2-Clause
// What a trace notes of a run (recording_trace.c), of which recordings are made (recording_make.c).
#ifndef TAPER_RUNTIME_RECORDING_TRACE_H
#define TAPER_RUNTIME_RECORDING_TRACE_H

#include "runtime/recording.h"
#include "runtime/recording_parts.h"

typedef struct taper_noted_step {
    const taper_program *program;
    const taper_instruction *in;
    taper_call call;
    taper_prepared *prepared; // a reference
    uint32_t birth, uses;
    uint32_t source; // the step that made argument 0; UINT32_MAX: none
    uint32_t varies; // arguments that are no constants, the same one counted once
    uint32_t passed; // checks behind it, which what the stretch's guards compare has passed for good
    uint32_t joined; // so many steps from this one on are run together
    double saved;    // by joints from here on
    size_t origin;   // the birth that argument 0 lies in; SIZE_MAX: none of this run
    uint32_t inputs; // of the first one of a stretch: the stretch's
    bool first;      // of a stretch
    bool dies;       // its result is emptied in the stretch
} taper_noted_step;

typedef struct taper_noted_input {
    taper_guard guard;
    uint32_t reg, uses;
} taper_noted_input;

// What a register holds, in the stretch of this number: the result of a step, or an input.
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
    size_t first;              // step of the stretch
    size_t births, births_end; // before this instruction, behind the last noted one
    const taper_instruction *expected;
} taper_trace;

// Its memory stays.
void taper_trace_empty(const taper_session *session, taper_trace *t);

// What runs behind it.
static inline const taper_instruction *taper_behind(const taper_program *program, const taper_instruction *in)
{
    return in->opcode == TAPER_DO_SEGMENT ? &program->code[in->target] : in + 1;
}

static inline taper_holder *taper_holder_of(taper_trace *t, uint32_t operand)
{
    return &t->registers[operand & TAPER_OPERAND_INDEX];
}

#endif
