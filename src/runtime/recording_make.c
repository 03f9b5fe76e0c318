// SPDX-License-Identifier: BSD-2-Clause
// Making recordings. While a plan is recorded, a trace notes the calls that were prepared; once the plan is made, each
// stretch of them becomes a recording. Without memory there are none, and nothing fails.
#include "runtime/recording.h"
#include "runtime/recording_parts.h"

enum { LEAST_STEPS = 2 };

typedef struct noted_step {
    const taper_program *program;
    const taper_instruction *in;
    taper_call call;
    taper_prepared *prepared; // a reference
    uint32_t birth, uses;
    uint32_t inputs; // of the first one of a stretch: the stretch's
    bool first;      // of a stretch
    bool dies;       // its result is emptied in the stretch
} noted_step;

typedef struct noted_input {
    taper_guard guard;
    uint32_t reg, uses;
} noted_input;

// What a register holds, in the stretch of this number: the result of a step, or an input.
typedef struct holder {
    uint32_t stretch, index;
    enum { HOLDS_RESULT, HOLDS_INPUT, HOLDS_NOTHING } what;
} holder;

typedef struct taper_trace {
    noted_step *steps;
    noted_input *inputs;
    holder *registers;
    size_t step_count, step_capacity, input_count, input_capacity, register_capacity;
    uint32_t stretch;
    size_t first;              // step of the stretch
    size_t births, births_end; // before this instruction, behind the last noted one
    const taper_instruction *expected;
} taper_trace;

// ---- tracing

// What runs behind it.
static const taper_instruction *behind(const taper_program *program, const taper_instruction *in)
{
    return in->opcode == TAPER_DO_SEGMENT ? &program->code[in->target] : in + 1;
}

// Likewise: instructions that only empty registers are part of it.
static const taper_instruction *behind_clears(const taper_program *program, const taper_instruction *in)
{
    for (in = behind(program, in); in->opcode == TAPER_DO_CLEAR; in++) {
    }
    return in;
}

// Its memory stays.
static void empty_trace(const taper_session *session, taper_trace *t)
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
    empty_trace(session, t);
    taper_free(allocator, t->steps, t->step_capacity * sizeof *t->steps);
    taper_free(allocator, t->inputs, t->input_capacity * sizeof *t->inputs);
    taper_free(allocator, t->registers, t->register_capacity * sizeof *t->registers);
    taper_free(allocator, t, sizeof *t);
    session->recorder.trace = NULL;
}

static holder *holder_of(taper_trace *t, uint32_t operand)
{
    return &t->registers[operand & TAPER_OPERAND_INDEX];
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
        holder *h = holder_of(t, operands[i]);
        if ((operands[i] & TAPER_OPERAND_CONSTANT) == 0 && h->stretch != t->stretch) {
            *h = (holder){t->stretch, 0, HOLDS_INPUT};
            count++;
            noted_input *input = &t->inputs[t->input_count++];
            *input = (noted_input){.reg = operands[i] & TAPER_OPERAND_INDEX};
            (void)taper_guard_make(&input->guard, call->args[i]); // it was made for the call
        }
    }
    holder_of(t, program->operands[in->out])->stretch = t->stretch;
    t->steps[t->step_count++] = (noted_step){.program = program,
                                             .in = in,
                                             .call = *call,
                                             .prepared = *call->prepared,
                                             .birth = (uint32_t)t->births,
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

void taper_recorder_note(taper_session *session, const taper_program *program, const taper_instruction *in,
                         const taper_call *call, taper_status status)
{
    taper_trace *t = session->recorder.trace;
    const taper_instruction *expected = NULL;
    const size_t births = taper_planner_births(session->planner);
    // One storage was born, the result's: an argument that was revealed had one as well.
    if (status == TAPER_OK && *call->prepared != NULL && (*call->prepared)->replays && births == t->births + 1 &&
        taper_prepared_fits(*call->prepared, call)) {
        if (!note(session, program, in, call)) {
            session->recorder.traces = false;
            empty_trace(session, t);
            return;
        }
        expected = behind_clears(program, in);
    }
    t->expected = expected;
    t->births_end = births;
}

// ---- from the trace to recordings

typedef struct making {
    const taper_session *session;
    taper_trace *trace;
    noted_step *steps; // of the stretch
    noted_input *inputs;
    size_t step_count, input_count, arg_count, emptied_count, shell_count, use_count, instructions;
    taper_recording *to; // NULL: counting
    taper_val *args;     // of to, the next ones
} making;

// The register is emptied behind step i.
static void empties(making *m, size_t i, uint32_t operand)
{
    holder *h = holder_of(m->trace, operand);
    const bool known = h->stretch == m->trace->stretch;
    if (known && h->what == HOLDS_RESULT) {
        m->steps[h->index].dies = true;
    } else if (!known || h->what == HOLDS_INPUT) {
        if (m->to != NULL) {
            m->to->emptied[m->emptied_count] = (taper_emptied){operand & TAPER_OPERAND_INDEX, (uint32_t)i};
        }
        m->emptied_count++;
    }
    *h = (holder){m->trace->stretch, 0, HOLDS_NOTHING};
}

// Argument at of step i. False: nobody knows what it is.
static bool argument(making *m, size_t i, size_t at, uint32_t operand)
{
    taper_recording *r = m->to;
    taper_val *arg = r != NULL ? m->args + at : NULL;
    holder *h = holder_of(m->trace, operand);
    if ((operand & TAPER_OPERAND_CONSTANT) != 0) {
        if (r != NULL) {
            *arg = m->session->constants[operand & TAPER_OPERAND_INDEX];
        }
        return true;
    }
    if (h->stretch != m->trace->stretch) {
        *h = (holder){m->trace->stretch, (uint32_t)m->input_count++, HOLDS_INPUT};
    }
    if (h->what == HOLDS_NOTHING || (h->what == HOLDS_RESULT && h->index >= i)) {
        return false;
    }
    if (r == NULL) {
        ++*(h->what == HOLDS_RESULT ? &m->steps[h->index].uses : &m->inputs[h->index].uses);
    } else if (h->what == HOLDS_RESULT && !r->steps[h->index].fresh) {
        *arg = TAPER_VAL(r->steps[h->index].call.shell);
    } else {
        r->uses[(*(h->what == HOLDS_RESULT ? &r->steps[h->index].use_end : &r->outside[h->index].use_end))++] = arg;
    }
    return true;
}

// Goes through the stretch: counts, or fills in arguments and what is emptied. False: it cannot be kept.
static bool walk(making *m)
{
    m->trace->stretch++;
    m->input_count = m->arg_count = m->emptied_count = m->instructions = 0;
    for (size_t i = 0; i < m->step_count; i++) {
        const noted_step *s = &m->steps[i];
        const taper_program *program = s->program;
        const uint32_t *operands = program->operands + s->in->in;
        const size_t emptied = m->emptied_count;
        for (size_t k = 0; k < s->in->in_count; k++) {
            if (!argument(m, i, k, operands[k])) {
                return false;
            }
        }
        for (size_t k = 0; s->in->opcode == TAPER_DO_OP && k < s->in->in_count; k++) {
            if ((operands[k] & TAPER_OPERAND_LAST) != 0) {
                empties(m, i, operands[k]);
            }
        }
        const uint32_t out = program->operands[s->in->out];
        *holder_of(m->trace, out) = (holder){m->trace->stretch, (uint32_t)i, HOLDS_RESULT};
        if ((out & TAPER_OPERAND_LAST) != 0) {
            empties(m, i, out);
        }
        const taper_instruction *next = behind(program, s->in);
        for (; next->opcode == TAPER_DO_CLEAR; next++) {
            for (size_t k = 0; k < next->in_count; k++) {
                empties(m, i, program->operands[next->in + k]);
            }
            m->instructions++;
        }
        m->instructions++;
        m->arg_count += s->in->in_count;
        if (m->to != NULL) {
            taper_step *step = &m->to->steps[i];
            step->call.args = m->args;
            m->args += s->in->in_count;
            step->empty = (uint32_t)emptied;
            step->empty_end = (uint32_t)m->emptied_count;
            step->tail = step->fresh || step->empty != step->empty_end;
            m->to->end = next;
        }
    }
    return true;
}

// A shell of the memory that the plan gives to a birth.
static void make_shell(taper_shell *shell, const noted_step *step, const taper_birth *birth, taper_heap *heap)
{
    shell->tensor = taper_tensor_local(&step->prepared->result);
    shell->tensor.head.heap = heap;
    shell->tensor.storage = &shell->storage;
    taper_refs_init(&shell->storage.head.refs);
    shell->storage.head.tag = TAPER_STORAGE;
    shell->storage.head.heap = heap;
    shell->storage.kind = TAPER_STORAGE_PLANNED;
    shell->storage.bytes = birth->bytes;
    shell->offset = birth->offset;
}

static void make_step(taper_step *to, noted_step *from, taper_shell *shell, uint32_t *use)
{
    to->call = from->call;
    to->prepared = from->prepared;
    from->prepared = NULL;
    to->in = from->in;
    to->product = taper_op_has(from->call.op, TAPER_OP_PRODUCT);
    to->fresh = shell == NULL;
    to->birth = from->birth;
    to->out = from->program->operands[from->in->out] & TAPER_OPERAND_INDEX;
    to->call.rets = &to->ret;
    to->call.prepared = &to->prepared;
    to->use = to->use_end = *use;
    if (shell != NULL) {
        to->call.shell = &shell->tensor;
        to->ret = TAPER_VAL(&shell->tensor);
    } else {
        *use += from->uses;
    }
}

// Takes so much of a block; NULL: only the size is wanted.
static void *part(taper_recording *block, size_t *at, size_t count, size_t size)
{
    void *taken = block != NULL ? (char *)block + *at : NULL;
    *at += (count * size + 15) / 16 * 16; // counts of what lies in memory already
    return taken;
}

static size_t lay_out(making *m, taper_recording *block)
{
    taper_recording none, *r = block != NULL ? block : &none;
    size_t at = 0;
    (void)part(block, &at, 1, sizeof *r);
    r->steps = part(block, &at, m->step_count, sizeof *r->steps);
    r->shells = part(block, &at, m->shell_count, sizeof *r->shells);
    r->outside = part(block, &at, m->input_count, sizeof *r->outside);
    m->args = part(block, &at, m->arg_count, sizeof *m->args);
    r->uses = part(block, &at, m->use_count, sizeof *r->uses);
    r->emptied = part(block, &at, m->emptied_count, sizeof *r->emptied);
    return at;
}

static taper_recording *make(making *m, const taper_allocator *allocator, const taper_birth *births)
{
    m->to = NULL;
    m->shell_count = m->use_count = 0;
    if (m->step_count < LEAST_STEPS || !walk(m)) {
        return NULL;
    }
    for (size_t i = 0; i < m->step_count; i++) {
        noted_step *s = &m->steps[i];
        s->dies = s->dies && births[s->birth].died != UINT32_MAX;
        m->shell_count += s->dies;
        m->use_count += s->dies ? 0 : s->uses;
    }
    for (size_t i = 0; i < m->input_count; i++) {
        m->use_count += m->inputs[i].uses;
    }
    const size_t bytes = lay_out(m, NULL);
    taper_recording *r = taper_alloc_zeroed(allocator, bytes);
    if (r == NULL) {
        return NULL;
    }
    (void)lay_out(m, r);
    r->first = m->steps[0].in;
    r->bytes = bytes;
    r->instructions = m->instructions;
    r->step_count = m->step_count;
    r->outside_count = m->input_count;
    r->births = m->steps[0].birth;
    r->last_birth = m->steps[m->step_count - 1].birth;
    r->births_end = r->last_birth + 1;
    uint32_t use = 0;
    for (size_t i = 0; i < m->step_count; i++) {
        taper_shell *shell = m->steps[i].dies ? &r->shells[r->shell_count++] : NULL;
        if (shell != NULL) {
            make_shell(shell, &m->steps[i], &births[m->steps[i].birth], m->session->heap);
        }
        make_step(&r->steps[i], &m->steps[i], shell, &use);
    }
    for (size_t i = 0; i < m->input_count; i++) {
        const noted_input *input = &m->inputs[i];
        r->outside[i] = (taper_outside){.guard = input->guard, .reg = input->reg, .use = use, .use_end = use};
        r->outside[i].last.tag = TAPER_UNDEFINED;
        use += input->uses;
    }
    m->to = r;
    (void)walk(m);
    return r;
}

void taper_recorder_end(taper_session *session, taper_recording **where)
{
    taper_recorder *recorder = &session->recorder;
    taper_trace *t = recorder->trace;
    size_t birth_count, input = 0;
    const taper_birth *births = taper_planner_latest(session->planner, &birth_count);
    taper_recording **last = where;
    for (size_t i = 0, end; where != NULL && t != NULL && i < t->step_count; i = end) {
        for (end = i + 1; end < t->step_count && !t->steps[end].first; end++) {
        }
        making m = {
            .session = session, .trace = t, .steps = &t->steps[i], .inputs = &t->inputs[input], .step_count = end - i};
        input += t->steps[i].inputs;
        *last = make(&m, session->model->allocator, births);
        if (*last != NULL) {
            recorder->calls++;
            last = &(*last)->next;
        }
    }
    recorder->entry = NULL;
    recorder->traces = false;
    if (where != NULL) {
        taper_recorder_trim(session);
    } else if (t != NULL) {
        empty_trace(session, t); // the next run will want it, if this one failed
    }
}
