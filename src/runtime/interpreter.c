// SPDX-License-Identifier: BSD-2-Clause
// The interpreter: runs a program on the registers of a frame.
#include "ir/tensor.h"
#include "ops/backend.h"
#include "ops/gradient/tape.h"
#include "ops/lang/torchbind.h"
#include "runtime/device.h"
#include "runtime/recording.h"

typedef struct frame {
    const taper_frame_source *source;
    const taper_program *program;
    taper_val *registers;
    taper_val *scratch; // operands of the current instruction, copied to consecutive items
    int depth;
} frame;

static inline taper_val peek(const frame *f, uint32_t operand)
{
    const uint32_t at = operand & TAPER_OPERAND_INDEX;
    return (operand & TAPER_OPERAND_CONSTANT) != 0 ? f->source->constants[at] : f->registers[at];
}

static inline void empty(const frame *f, uint32_t operand)
{
    if ((operand & TAPER_OPERAND_LAST) != 0) {
        taper_val_replace(&f->registers[operand & TAPER_OPERAND_INDEX], taper_val_none());
    }
}

// Returns a reference to the value of an operand. At the last use, the register gives up its own reference.
static inline taper_val take(const frame *f, uint32_t operand)
{
    const uint32_t at = operand & TAPER_OPERAND_INDEX;
    if ((operand & TAPER_OPERAND_LAST) != 0) {
        const taper_val value = f->registers[at];
        f->registers[at] = taper_val_none();
        return value;
    }
    return taper_val_retain(peek(f, operand));
}

static inline void store(const frame *f, uint32_t operand, taper_val value)
{
    if ((operand & TAPER_OPERAND_LAST) != 0) { // moved out of the register, because no later instruction uses the value
        taper_val_release(value);
    } else {
        taper_val_replace(&f->registers[operand & TAPER_OPERAND_INDEX], value);
    }
}

// ---- budgets of a run

static TAPER_COLD taper_status out_of(const frame *f, const char *what)
{
    TAPER_FAIL(f->source->run->error, TAPER_ERROR_RESOURCE, "the run was stopped: its %s budget is spent", what);
}

enum { WORK_AN_INSTRUCTION = 20 };

static taper_status check_budget(const frame *f)
{
    taper_session *session = f->source->session;
    if (session == NULL) {
        return taper_run_spend(f->source->run, WORK_AN_INSTRUCTION);
    }
    if (session->instruction_budget != 0 && session->instructions_left-- == 0) {
        session->instructions_left = 0;
        return out_of(f, "instruction");
    }
    if (atomic_load_explicit(&session->cancelled, memory_order_relaxed)) {
        f->source->run->work_left = 0; // 0, so that the next report of work checks the limits
    }
    return taper_run_spend(f->source->run, WORK_AN_INSTRUCTION);
}

// ---- operators

static taper_status settle_args(taper_run *run, const taper_val *args, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_settle(run, args[i]));
    }
    return TAPER_OK;
}

// Returns true if the schema does not fix the type of an argument. Such an argument is passed without searching it for
// tensors: a list to which append adds an item, for example, is not searched.
static bool is_open(const taper_schema *schema, size_t at)
{
    const taper_type *type = at < schema->arg_count ? schema->args[at].type : NULL;
    return type != NULL && (type->kind == TAPER_TYPE_VARIABLE ||
                            ((type->kind == TAPER_TYPE_LIST || type->kind == TAPER_TYPE_OPTIONAL) &&
                             type->items[0]->kind == TAPER_TYPE_VARIABLE));
}

// Copies tensors from devices to the host for an operator that accepts tensors with hidden_nhwc.
static taper_status fetch_args(taper_run *run, const taper_schema *schema, const taper_val *args, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (args[i].tag == TAPER_TENSOR && taper_tensor_is_away(args[i].as.tensor)) {
            TAPER_TRY(is_open(schema, i) ? TAPER_OK : taper_tensor_fetch(args[i].as.tensor, run->error));
        } else if (args[i].tag == TAPER_LIST && !is_open(schema, i)) {
            TAPER_TRY(taper_run_fetch_items(run, args[i].as.list));
        }
    }
    return TAPER_OK;
}

static taper_call make_call(const frame *f, const taper_instruction *in, taper_val *args, taper_val *rets)
{
    return (taper_call){.run = f->source->run,
                        .op = in->op,
                        .param = taper_row_param(in->op),
                        .schema = in->schema,
                        .args = args,
                        .arg_count = in->in_count,
                        .rets = rets,
                        .ret_count = in->out_count,
                        .state = f->source->states != NULL ? &f->source->states[in->state] : NULL,
                        .prepared = f->source->prepared != NULL ? &f->source->prepared[in->state] : NULL,
                        .operands = f->program->operands + in->in,
                        .segment = in->segment};
}

#include "runtime/interpreter_bytes.h"

// Runs the kernel of the instruction. If the kernel declines, runs the operator's own kernel, unless the program has
// instructions for that case.
static taper_status run_kernel(const frame *f, const taper_instruction *in, taper_call *call)
{
    taper_run *run = f->source->run;
    taper_session *session = f->source->session;
    const bool profiling = session != NULL && session->profiling;
    const double start = profiling ? taper_clock() : 0;
    run->current = in->op;
    run->kernel = NULL;
    run->flops = 0;
    taper_profile_parts parts = {.session = (taper_session *)(uintptr_t)session};
    if (TAPER_DEVICES && profiling && in->segment != NULL) {
        parts.site = &session->profile[in->state];
        run->part = taper_profile_add_part;
        run->part_user = &parts;
    }
    taper_status status = in->segment != NULL ? in->kernel(call) : taper_call_kernel(call, in->kernel);
    run->part = NULL;
    if (status == TAPER_DECLINED && in->segment == NULL) {
        run->kernel = NULL;
        status = taper_call_kernel(call, taper_row_kernel(in->op));
    }
    run->current = NULL;
    if (session != NULL && session->recorder.traces) {
        taper_recorder_note(session, f->program, in, call, status);
    }
    if (TAPER_DEVICES && profiling && in->segment != NULL && in->segment->device->backend->measured != NULL) {
        taper_profile_site *site = &session->profile[in->state];
        site->why = status == TAPER_DECLINED ? run->why : NULL;
        site->instruction = in;
    }
    if (profiling && status == TAPER_OK) {
        taper_profile_site *site = &session->profile[in->state];
        site->instruction = in;
        site->kernel = run->kernel != NULL                      ? run->kernel
                       : in->kernel == taper_row_kernel(in->op) ? "reference"
                       : TAPER_DEVICES && in->segment != NULL   ? in->segment->device->backend->name
                                                                : taper_host_name();
        site->flops = run->flops;
        site->calls++;
        site->seconds += taper_clock() - start - parts.seconds; // parts of the call have their own items in the profile
        count_bytes(site, call);
    }
    return status;
}

#ifdef TAPER_WITH_GRADIENTS
typedef struct place {
    const frame *f;
    const taper_instruction *in;
} place;

static taper_status run_at(const void *user, taper_call *call)
{
    const place *const at = user;
    return run_kernel(at->f, at->in, call);
}

// Runs the kernel, and records the call on the tape if the run records for gradients.
static taper_status run_for_gradients(const frame *f, const taper_instruction *in, taper_call *call)
{
    const place at = {f, in};
    return f->source->run->tape == NULL ? run_kernel(f, in, call) : taper_tape_run(call, run_at, &at);
}
#else
static inline taper_status run_for_gradients(const frame *f, const taper_instruction *in, taper_call *call)
{
    return run_kernel(f, in, call);
}
#endif

static bool is_observed(const frame *f)
{
    return f->source->session != NULL && f->source->session->observe != NULL;
}

// Offers the call of a segment to its backend. *declined is true if nothing happened and the original nodes must run.
static taper_status do_segment(const frame *f, const taper_instruction *in, bool *declined)
{
    const uint32_t *operands = f->program->operands + in->in;
    taper_val *args = f->scratch, *rets = f->scratch + in->in_count;
    for (size_t i = 0; i < in->in_count; i++) {
        args[i] = peek(f, operands[i]);
    }
    for (size_t i = 0; i < in->out_count; i++) {
        rets[i] = taper_val_none();
    }
    taper_call call = make_call(f, in, args, rets);
    if (TAPER_DEVICES) {
        f->source->run->failed = NULL;
    }
    taper_status status = run_kernel(f, in, &call);
    *declined = status == TAPER_DECLINED;
    if (status == TAPER_OK && is_observed(f)) {
        status = taper_interpret_show(f->source, in->node, rets, in->out_count);
    }
    for (size_t i = 0; i < in->out_count; i++) {
        if (status == TAPER_OK) {
            store(f, f->program->operands[in->out + i], rets[i]);
        } else {
            taper_val_release(rets[i]);
        }
    }
    if (status != TAPER_OK && !*declined) {
        taper_interpret_blame(f->source, in, args);
        return status;
    }
    return TAPER_OK;
}

static taper_status do_op(const frame *f, const taper_instruction *in)
{
    const uint32_t *operands = f->program->operands + in->in;
    taper_val *args = f->scratch;
    taper_val *rets = f->scratch + in->in_count;
    for (size_t i = 0; i < in->in_count; i++) {
        args[i] = peek(f, operands[i]);
    }
    for (size_t i = 0; i < in->out_count; i++) {
        rets[i] = taper_val_none();
    }
    taper_run *run = f->source->run;
    taper_status status = TAPER_OK;
    if (!taper_op_has(in->op, TAPER_OP_NHWC)) {
        status = settle_args(run, args, in->in_count);
    } else if (TAPER_DEVICES && f->source->model->device != NULL) {
        status = fetch_args(run, in->schema, args, in->in_count);
    }
    if (status == TAPER_OK) {
        taper_call call = make_call(f, in, args, rets);
        status = run_for_gradients(f, in, &call);
    }
    if (status == TAPER_OK && is_observed(f)) {
        status = taper_interpret_show(f->source, in->node, rets, in->out_count);
    }
    if (status != TAPER_OK) {
        for (size_t i = 0; i < in->out_count; i++) {
            taper_val_release(rets[i]);
        }
        taper_interpret_blame(f->source, in, args);
        return status;
    }
    for (size_t i = 0; i < in->in_count; i++) {
        empty(f, operands[i]);
    }
    operands = f->program->operands + in->out;
    for (size_t i = 0; i < in->out_count; i++) {
        store(f, operands[i], rets[i]);
    }
    return TAPER_OK;
}

static taper_status call_method(const frame *f, const taper_node *node, taper_val *in, size_t count, taper_val *out)
{
    const taper_function *function;
    TAPER_TRY(taper_interpret_callee(f->source, node, in[0], &function));
    return function != NULL ? taper_interpret(f->source, function, in, count, f->depth + 1, out)
                            : taper_torchbind_call(f->source->run, in[0].as.object, node->name, in + 1, count - 1, out);
}

static taper_status do_node(const frame *f, const taper_instruction *in)
{
    const uint32_t *operands = f->program->operands + in->in;
    taper_val *args = f->scratch;
    taper_val *rets = f->scratch + in->in_count;
    for (size_t i = 0; i < in->in_count; i++) {
        args[i] = peek(f, operands[i]);
    }
    for (size_t i = 0; i < in->out_count; i++) {
        rets[i] = taper_val_none();
    }
    taper_status status = in->kind == TAPER_NODE_CALL
                              ? call_method(f, in->node, args, in->in_count, rets)
                              : taper_interpret_node(f->source, in->node, args, in->in_count, rets, in->out_count);
    if (status == TAPER_OK && is_observed(f)) {
        status = taper_interpret_show(f->source, in->node, rets, in->out_count);
    }
    for (size_t i = 0; status == TAPER_OK && i < in->in_count; i++) {
        empty(f, operands[i]);
    }
    operands = f->program->operands + in->out;
    for (size_t i = 0; i < in->out_count; i++) {
        if (status == TAPER_OK) {
            store(f, operands[i], rets[i]);
        } else {
            taper_val_release(rets[i]);
        }
    }
    return status;
}

// ---- moves and jumps

static void do_move(const frame *f, const taper_instruction *in)
{
    const uint32_t *from = f->program->operands + in->in, *to = f->program->operands + in->out;
    // Reads all values before writing any, because two registers may exchange values.
    for (size_t i = 0; i < in->in_count; i++) {
        f->scratch[i] = taper_val_retain(peek(f, from[i]));
    }
    for (size_t i = 0; i < in->in_count; i++) {
        empty(f, from[i]);
    }
    for (size_t i = 0; i < in->in_count; i++) {
        store(f, to[i], f->scratch[i]);
    }
}

static taper_status truth(const frame *f, taper_val value, bool *flag)
{
    if (value.tag == TAPER_BOOLEAN || value.tag == TAPER_INT) {
        *flag = value.as.i != 0;
        return TAPER_OK;
    }
    TAPER_FAIL(f->source->run->error, TAPER_ERROR_FILE, "%s: a condition is not a bool but %s", f->program->graph->name,
               taper_val_kind_name(value));
}

static taper_status test_loop(const frame *f, const taper_instruction *in, bool *go_on)
{
    const uint32_t *operands = f->program->operands + in->in;
    const taper_val most = peek(f, operands[0]);
    taper_val *counter = &f->registers[operands[2] & TAPER_OPERAND_INDEX];
    bool condition;
    TAPER_TRY(truth(f, peek(f, operands[1]), &condition));
    if (most.tag != TAPER_INT || counter->tag != TAPER_INT) {
        TAPER_FAIL(f->source->run->error, TAPER_ERROR_FILE, "%s: a loop's number of trips is not an int",
                   f->program->graph->name);
    }
    *go_on = condition && counter->as.i < most.as.i;
    if (*go_on) {
        store(f, f->program->operands[in->out], *counter);
        counter->as.i++;
    }
    return TAPER_OK;
}

// Runs a recording instead of the instructions from *in on. Returns TAPER_DECLINED if nothing happened.
static taper_status replay(const frame *f, const taper_instruction **in)
{
    taper_replayed replayed;
    const taper_status status = taper_recorder_replay(f->source, f->registers, &replayed);
    if (status == TAPER_OK) {
        *in = replayed.at;
    } else if (status != TAPER_DECLINED && replayed.at != NULL) {
        taper_interpret_blame(f->source, replayed.at, replayed.args);
    }
    return status;
}

static taper_status run(const frame *f, taper_val *result)
{
    const taper_instruction *code = f->program->code;
    const uint32_t *operands = f->program->operands;
    taper_recorder *recorder = f->source->session != NULL ? &f->source->session->recorder : NULL;
    size_t pc = 0;
    for (;;) {
        const taper_instruction *in = &code[pc];
        if (recorder != NULL && recorder->traces) {
            taper_recorder_before(f->source->session);
        } else if (recorder != NULL && in == recorder->entry) {
            const taper_status status = replay(f, &in);
            pc = (size_t)(in - code);
            if (status == TAPER_OK) {
                continue;
            }
            if (status != TAPER_DECLINED) {
                return status;
            }
        }
        pc++;
        TAPER_TRY(check_budget(f));
        switch ((taper_opcode)in->opcode) {
        case TAPER_DO_OP:
            TAPER_TRY(do_op(f, in));
            break;
        case TAPER_DO_NODE:
            TAPER_TRY(do_node(f, in));
            break;
        case TAPER_DO_SEGMENT: {
            bool declined = false;
            TAPER_TRY(do_segment(f, in, &declined));
            if (!declined) {
                pc = in->target;
            }
            break;
        }
        case TAPER_DO_SEGMENT_DONE:
            if (TAPER_DEVICES && f->source->prepared != NULL) {
                taper_segment_done_plain(in->segment, f->source->run, f->source->prepared[in->state]);
            }
            break;
        case TAPER_DO_MOVE:
            do_move(f, in);
            break;
        case TAPER_DO_JUMP:
            pc = in->target;
            break;
        case TAPER_DO_BRANCH: {
            bool flag = false;
            TAPER_TRY(truth(f, peek(f, operands[in->in]), &flag));
            empty(f, operands[in->in]);
            if (!flag) {
                pc = in->target;
            }
            break;
        }
        case TAPER_DO_LOOP_BEGIN:
            store(f, operands[in->out], taper_val_int(0));
            break;
        case TAPER_DO_LOOP_TEST: {
            bool go_on = false;
            TAPER_TRY(test_loop(f, in, &go_on));
            if (!go_on) {
                pc = in->target;
            }
            break;
        }
        case TAPER_DO_CLEAR:
            for (size_t i = 0; i < in->in_count; i++) {
                taper_val_replace(&f->registers[operands[in->in + i]], taper_val_none());
            }
            break;
        case TAPER_DO_RETURN:
            *result = take(f, operands[in->in]);
            return TAPER_OK;
        }
    }
}

taper_status taper_interpret(const taper_frame_source *source, const taper_function *function, const taper_val *args,
                             size_t arg_count, int depth, taper_val *result)
{
    const taper_program *program = &function->program;
    taper_run *r = source->run;
    *result = taper_val_none();
    if (depth > TAPER_LIMIT_CALL_DEPTH) {
        TAPER_FAIL(r->error, TAPER_ERROR_RESOURCE, "methods call each other more than %d deep", TAPER_LIMIT_CALL_DEPTH);
    }
    if (arg_count != program->param_count) {
        TAPER_FAIL(r->error, TAPER_ERROR_ARGUMENT, "%s takes %zu arguments (self included), got %zu",
                   function->source->name, program->param_count, arg_count);
    }
    const size_t count = program->register_count + program->scratch_count;
    const size_t bytes = (count + 1) * sizeof(taper_val);
    taper_val *registers = taper_heap_alloc(r->heap, bytes);
    if (registers == NULL) {
        return taper_fail_memory(r->error);
    }
    memset(registers, 0, bytes); // all registers become None
    const frame f = {source, program, registers, registers + program->register_count, depth};
    for (size_t i = 0; i < arg_count; i++) {
        registers[program->graph->body->params[i].reg] = taper_val_retain(args[i]);
    }
    const taper_status status = run(&f, result);
    for (size_t i = 0; i < program->register_count; i++) {
        taper_val_release(registers[i]);
    }
    taper_heap_free(r->heap, registers, bytes);
    return status;
}
