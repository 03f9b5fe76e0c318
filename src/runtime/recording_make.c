// SPDX-License-Identifier: BSD-2-Clause
// Makes recordings. After a plan is made from a traced run, each sequence of prepared calls becomes a recording. If
// memory is missing, there are no recordings, and nothing fails.
#include "ir/tensor.h"
#include "runtime/recording_trace.h"

enum { LEAST_STEPS = 2 };

typedef struct making {
    const taper_session *session;
    taper_trace *trace;
    taper_noted_step *steps; // first step of the sequence
    taper_noted_input *inputs;
    size_t step_count, noted_inputs, input_count, arg_count, emptied_count, shell_count, use_count, band_count,
        instructions;
    taper_recording *to; // recording to fill; NULL in the first pass, which only counts
    taper_val *args;     // next free arguments in `to`
} making;

// Records that the register of the operand is emptied after step i.
static void empties(making *m, size_t i, uint32_t operand)
{
    taper_holder *h = taper_holder_of(m->trace, operand);
    const bool known = h->stretch == m->trace->stretch;
    if (known && h->what == HOLDS_RESULT) {
        m->steps[h->index].dies = true;
    } else if (!known || h->what == HOLDS_INPUT) {
        if (m->to != NULL) {
            m->to->emptied[m->emptied_count] = (taper_emptied){operand & TAPER_OPERAND_INDEX, (uint32_t)i};
        }
        m->emptied_count++;
    }
    *h = (taper_holder){m->trace->stretch, 0, HOLDS_NOTHING};
}

// Records argument number `at` of step i. Returns false if its value is unknown.
static bool argument(making *m, size_t i, size_t at, uint32_t operand)
{
    taper_recording *r = m->to;
    taper_val *arg = r != NULL ? m->args + at : NULL;
    taper_holder *h = taper_holder_of(m->trace, operand);
    if ((operand & TAPER_OPERAND_CONSTANT) != 0) {
        if (r != NULL) {
            *arg = m->session->constants[operand & TAPER_OPERAND_INDEX];
        }
        return true;
    }
    if (h->stretch != m->trace->stretch) {
        *h = (taper_holder){m->trace->stretch, (uint32_t)m->input_count++, HOLDS_INPUT};
    }
    if (h->what == HOLDS_NOTHING || (h->what == HOLDS_RESULT && h->index >= i)) {
        return false;
    }
    if (r == NULL) {
        ++*(h->what == HOLDS_RESULT ? &m->steps[h->index].uses : &m->inputs[h->index].uses);
        m->steps[i].source = at == 0 && h->what == HOLDS_RESULT ? h->index : m->steps[i].source;
        const uint32_t first = m->steps[i].program->operands[m->steps[i].in->in];
        m->steps[i].varies += at == 0 || (operand & TAPER_OPERAND_INDEX) != (first & TAPER_OPERAND_INDEX);
    } else if (h->what == HOLDS_RESULT && !r->steps[h->index].fresh) {
        *arg = TAPER_VAL(r->steps[h->index].call.shell);
    } else {
        r->uses[(*(h->what == HOLDS_RESULT ? &r->steps[h->index].use_end : &r->outside[h->index].use_end))++] = arg;
    }
    return true;
}

// Records the registers that are emptied after step i: by TAPER_DO_CLEAR, and by checks that always pass in a replay.
// Returns the first instruction after all of them.
static const taper_instruction *behind_step(making *m, size_t i)
{
    const taper_noted_step *s = &m->steps[i];
    const taper_instruction *next = taper_behind(s->program, s->in);
    for (size_t checks = s->passed; next->opcode == TAPER_DO_CLEAR || checks > 0; next++, m->instructions++) {
        const bool clears = next->opcode == TAPER_DO_CLEAR;
        for (size_t k = 0; k < next->in_count; k++) {
            const uint32_t operand = s->program->operands[next->in + k];
            if (clears || (operand & TAPER_OPERAND_LAST) != 0) {
                empties(m, i, operand);
            }
        }
        checks -= !clears;
    }
    return next;
}

// Visits the steps of the sequence. The first pass counts arguments and emptied registers, and the second pass records
// them. Returns false if the sequence cannot be recorded.
static bool walk(making *m)
{
    m->trace->stretch++;
    m->input_count = m->arg_count = m->emptied_count = m->instructions = 0;
    for (size_t i = 0; i < m->step_count; i++) {
        const taper_noted_step *s = &m->steps[i];
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
        *taper_holder_of(m->trace, out) = (taper_holder){m->trace->stretch, (uint32_t)i, HOLDS_RESULT};
        if ((out & TAPER_OPERAND_LAST) != 0) {
            empties(m, i, out);
        }
        const taper_instruction *next = behind_step(m, i);
        m->instructions++;
        m->arg_count += s->in->in_count;
        if (m->to != NULL) {
            taper_recorded_step *step = &m->to->steps[i];
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

static bool count(making *m)
{
    m->to = NULL;
    for (size_t i = 0; i < m->step_count; i++) {
        m->steps[i].uses = m->steps[i].varies = 0;
        m->steps[i].source = UINT32_MAX;
        m->steps[i].dies = false;
    }
    for (size_t i = 0; i < m->noted_inputs; i++) {
        m->inputs[i].uses = 0;
    }
    return walk(m);
}

// ---- bands: chains of calls that run together

// Collects the chain of calls from step i on in which each call is the only user of the previous call's result. Returns
// the number of calls.
static size_t chain_at(const making *m, const taper_birth *births, size_t i, taper_prepared **calls)
{
    size_t count = 0;
    for (; count < TAPER_BANDS_MOST && i < m->step_count; count++, i++) {
        const taper_noted_step *s = &m->steps[i];
        if (count != 0 && (s->source != i - 1 || s[-1].uses != 1 || s[-1].varies != 1 || !s[-1].dies ||
                           births[s[-1].birth].died == UINT32_MAX)) {
            break;
        }
        calls[count] = s->prepared;
    }
    return count;
}

// Decides which steps run together in bands, from the last step to the first. Joins the steps whose joining keeps the
// most bytes in the cache.
static void choose_joints(making *m, const taper_birth *births)
{
    taper_prepared *calls[TAPER_BANDS_MOST];
    taper_bands bands;
    for (size_t i = m->step_count; i-- > 0;) {
        taper_noted_step *s = &m->steps[i];
        const size_t most = chain_at(m, births, i, calls);
        s->joined = 1;
        s->saved = i + 1 < m->step_count ? s[1].saved : 0;
        for (size_t count = 2; count <= most; count++) {
            const double own = taper_bands_plan(&m->session->run, calls, count, &bands);
            const double saved = own + (i + count < m->step_count ? s[count].saved : 0);
            if (own > 0 && saved > s->saved) {
                s->saved = saved;
                s->joined = (uint32_t)count;
            }
        }
    }
}

static void join(making *m, taper_planner *planner)
{
    choose_joints(m, taper_planner_recorded(planner));
    for (size_t i = 0; i < m->step_count;) {
        const taper_noted_step *s = &m->steps[i];
        const size_t last = i + s->joined - 1;
        // The first call's argument is still read when the last call's result is written, so the memory of this
        // argument must not be reused before the last result is written.
        if (last != i && s->origin != SIZE_MAX) {
            taper_planner_hold(planner, s->origin, m->steps[last].birth);
        }
        for (i++; i <= last; i++) {
            m->steps[i].joined = 0;
        }
    }
}

// Returns true if the steps may run together. In such a run, the last result is created while the values that earlier
// steps would free still exist, so it must not be in the memory of such a value. Only the argument of the first call is
// known to be safe, because `join` has kept its memory.
static bool may_join(const taper_recording *r, const taper_noted_step *noted, size_t first, size_t last)
{
    const uint32_t reg = noted[first].program->operands[noted[first].in->in] & TAPER_OPERAND_INDEX;
    bool may = true;
    for (uint32_t i = r->steps[first].empty; may && r->steps[last].fresh && i < r->steps[last].empty; i++) {
        may = r->emptied[i].reg == reg;
    }
    return may;
}

static void use_bands(taper_recording *r, const taper_noted_step *noted, const taper_run *run)
{
    for (size_t i = 0, made = 0; i < r->step_count; i++) {
        taper_prepared *calls[TAPER_BANDS_MOST];
        for (size_t k = 0; k < noted[i].joined; k++) {
            calls[k] = r->steps[i + k].prepared;
        }
        if (noted[i].joined > 1 && may_join(r, noted, i, i + noted[i].joined - 1) &&
            taper_bands_plan(run, calls, noted[i].joined, &r->bands[made]) > 0) {
            taper_bands_keep_scratch(run, &r->bands[made]);
            r->steps[i].bands = &r->bands[made++];
        }
    }
}

// ---- recordings

// Makes a shell, the tensor that each replay reuses for a value (recording.h), with the memory that the plan gives to
// the value's storage (birth).
static void make_shell(taper_shell *shell, const taper_noted_step *step, const taper_birth *birth, taper_heap *heap)
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

static void make_step(taper_recorded_step *to, taper_noted_step *from, taper_shell *shell, uint32_t *use)
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

// Takes space for `count` items from a block and advances *at. If `block` is NULL, only advances *at.
static void *part(taper_recording *block, size_t *at, size_t count, size_t size)
{
    void *taken = block != NULL ? (char *)block + *at : NULL;
    *at += (count * size + 15) / 16 * 16; // cannot overflow, because all these items exist in memory
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
    r->bands = part(block, &at, m->band_count, sizeof *r->bands);
    return at;
}

static taper_recording *make(making *m, const taper_allocator *allocator, const taper_birth *births)
{
    m->shell_count = m->use_count = m->band_count = 0;
    if (m->step_count < LEAST_STEPS || !count(m)) {
        return NULL;
    }
    for (size_t i = 0; i < m->step_count; i++) {
        taper_noted_step *s = &m->steps[i];
        s->dies = s->dies && births[s->birth].died != UINT32_MAX;
        m->shell_count += s->dies;
        m->band_count += s->joined > 1;
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
    r->waits = true;
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
        const taper_noted_input *input = &m->inputs[i];
        r->outside[i] = (taper_outside){.guard = input->guard, .reg = input->reg, .use = use, .use_end = use};
        r->outside[i].last.tag = TAPER_UNDEFINED;
        use += input->uses;
    }
    m->to = r;
    (void)walk(m);
    use_bands(r, m->steps, &m->session->run);
    return r;
}

// Returns the sequence that begins with step i. Advances *inputs past its inputs.
static making stretch_at(const taper_session *session, size_t i, size_t *inputs)
{
    taper_trace *t = session->recorder.trace;
    size_t end = i + 1;
    while (end < t->step_count && !t->steps[end].first) {
        end++;
    }
    *inputs += t->steps[i].inputs;
    return (making){.session = session,
                    .trace = t,
                    .steps = &t->steps[i],
                    .inputs = &t->inputs[*inputs - t->steps[i].inputs],
                    .noted_inputs = t->steps[i].inputs,
                    .step_count = end - i};
}

void taper_recorder_join(taper_session *session)
{
    const taper_trace *t = session->recorder.trace;
    size_t input = 0;
    if (t == NULL || !taper_planner_is_recording(session->planner)) {
        return;
    }
    for (size_t i = 0; i < t->step_count;) {
        making m = stretch_at(session, i, &input);
        if (m.step_count >= LEAST_STEPS && count(&m)) {
            join(&m, session->planner);
        }
        i += m.step_count;
    }
}

void taper_recorder_end(taper_session *session, taper_recording **where)
{
    taper_recorder *recorder = &session->recorder;
    taper_trace *t = recorder->trace;
    size_t birth_count, input = 0;
    const taper_birth *births = taper_planner_latest(session->planner, &birth_count);
    taper_recording **last = where;
    for (size_t i = 0, end; where != NULL && t != NULL && i < t->step_count; i = end) {
        making m = stretch_at(session, i, &input);
        end = i + m.step_count;
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
        taper_trace_empty(session, t); // emptied only here, because the run after a failed run still needs the trace
    }
}
