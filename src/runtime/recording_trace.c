// SPDX-License-Identifier: BSD-2-Clause
// Traces a run: while a plan is made from the run, its prepared calls are recorded.
#include "runtime/recording_trace.h"
#include "ops/list/op_table.h"

// Returns the next instruction that is not a TAPER_DO_CLEAR. The skipped instructions belong to the sequence.
static const taper_instruction *behind_clears(const taper_program *program, const taper_instruction *in)
{
    for (in = taper_behind(program, in); in->opcode == TAPER_DO_CLEAR; in++) {
    }
    return in;
}

void taper_trace_empty(const taper_session *session, taper_trace *t)
{
    for (size_t i = 0; i < t->step_count; i++) {
        taper_prepared_drop(session->heap, t->steps[i].prepared);
    }
    t->step_count = t->input_count = 0;
    t->expected = NULL;
}

void taper_recorder_trim(taper_session *session)
{
    taper_trace *t = session->recorder.trace;
    if (t == NULL) {
        return;
    }
    const taper_allocator *allocator = session->model->allocator;
    taper_trace_empty(session, t);
    taper_free(allocator, t->steps, t->step_capacity * sizeof *t->steps);
    taper_free(allocator, t->inputs, t->input_capacity * sizeof *t->inputs);
    taper_free(allocator, t->registers, t->register_capacity * sizeof *t->registers);
    taper_free(allocator, t, sizeof *t);
    session->recorder.trace = NULL;
}

static bool make_room(taper_trace *t, const taper_allocator *allocator, size_t registers, size_t inputs)
{
    const size_t before = t->register_capacity;
    if (TAPER_GROW(allocator, t->steps, t->step_capacity, t->step_count + 1, NULL) != TAPER_OK ||
        TAPER_GROW(allocator, t->inputs, t->input_capacity, t->input_count + inputs, NULL) != TAPER_OK ||
        TAPER_GROW(allocator, t->registers, t->register_capacity, registers, NULL) != TAPER_OK) {
        return false;
    }
    memset(t->registers + before, 0, (t->register_capacity - before) * sizeof *t->registers);
    return true;
}

static size_t origin_of(const taper_planner *planner, const taper_call *call)
{
    return call->arg_count != 0 && call->args[0].tag == TAPER_TENSOR
               ? taper_planner_birth_of(planner, call->args[0].as.tensor->storage)
               : SIZE_MAX;
}

static bool note(taper_session *session, const taper_program *program, const taper_instruction *in,
                 const taper_call *call)
{
    taper_trace *t = session->recorder.trace;
    const uint32_t *operands = program->operands + in->in;
    if (!make_room(t, session->model->allocator, program->register_count, in->in_count)) {
        return false;
    }
    const bool first = in != t->expected || t->births != t->births_end;
    t->stretch += first;
    uint32_t count = 0;
    for (size_t i = 0; i < in->in_count; i++) {
        taper_holder *h = taper_holder_of(t, operands[i]);
        if ((operands[i] & TAPER_OPERAND_CONSTANT) == 0 && h->stretch != t->stretch) {
            *h = (taper_holder){t->stretch, 0, HOLDS_INPUT};
            count++;
            taper_noted_input *input = &t->inputs[t->input_count++];
            *input = (taper_noted_input){.reg = operands[i] & TAPER_OPERAND_INDEX};
            // Cannot fail, because the call was prepared with this argument.
            (void)taper_guard_make(&input->guard, call->args[i]);
        }
    }
    taper_holder_of(t, program->operands[in->out])->stretch = t->stretch;
    t->steps[t->step_count++] = (taper_noted_step){.program = program,
                                                   .in = in,
                                                   .call = *call,
                                                   .prepared = *call->prepared,
                                                   .birth = (uint32_t)t->births,
                                                   .origin = origin_of(session->planner, call),
                                                   .first = first};
    (*call->prepared)->refs++;
    t->first = first ? t->step_count - 1 : t->first;
    t->steps[t->first].inputs += count;
    return true;
}

void taper_recorder_before(taper_session *session)
{
    taper_recorder *recorder = &session->recorder;
    if (recorder->trace == NULL) {
        recorder->trace = taper_alloc_zeroed(session->model->allocator, sizeof *recorder->trace);
        if (recorder->trace == NULL) {
            recorder->traces = false;
            return;
        }
    }
    recorder->trace->births = taper_planner_births(session->planner);
}

// Returns true if the instruction checks the rank of a value that the sequence uses. Such a check always passes,
// because the guards of the sequence compare this rank too.
static bool passes_for_good(taper_trace *t, const taper_program *program, const taper_instruction *in)
{
    const uint32_t *operands = program->operands + in->in;
    if (in != t->expected || t->births != t->births_end || in->opcode != TAPER_DO_OP || in->op == NULL ||
        in->op != TAPER_OP(taper_expect_rank) || (operands[0] & TAPER_OPERAND_CONSTANT) != 0) {
        return false;
    }
    bool known = taper_holder_of(t, operands[0])->stretch == t->stretch;
    for (size_t i = 1; i < in->in_count; i++) {
        known = known && (operands[i] & TAPER_OPERAND_CONSTANT) != 0;
    }
    return known;
}

void taper_recorder_note(taper_session *session, const taper_program *program, const taper_instruction *in,
                         const taper_call *call, taper_status status)
{
    taper_trace *t = session->recorder.trace;
    const taper_instruction *expected = NULL;
    const size_t births = taper_planner_births(session->planner);
    // Requires that the call created exactly one storage, the result's. If it had also converted an argument
    // (taper_settle), the call would have created another storage.
    if (status == TAPER_OK && *call->prepared != NULL && (*call->prepared)->replays && births == t->births + 1 &&
        taper_prepared_fits(*call->prepared, call)) {
        if (!note(session, program, in, call)) {
            session->recorder.traces = false;
            taper_trace_empty(session, t);
            return;
        }
        expected = behind_clears(program, in);
    } else if (status == TAPER_OK && births == t->births && passes_for_good(t, program, in)) {
        t->steps[t->step_count - 1].passed++;
        expected = behind_clears(program, in);
    }
    t->expected = expected;
    t->births_end = births;
}
