// SPDX-License-Identifier: BSD-2-Clause
// Runs an execution, operation by operation. Each operation writes to its own memory. The results are copied at the
// end.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model.h"

int double_begin_run(execution_body *execution)
{
    const model_body *model = execution->compilation->model;
    if (execution->state != EXECUTION_OPEN && !(execution->state == EXECUTION_DONE && execution->reusable)) {
        return double_misuse(ANEURALNETWORKS_BAD_STATE, "the execution %s",
                             execution->state == EXECUTION_RUNNING ? "is running" : "has run");
    }
    for (uint32_t i = 0; i < model->input_count; i++) {
        const argument *in = &execution->inputs[i];
        if (!in->set || (!in->omitted && !tensor_sized(&in->t))) {
            return double_misuse(ANEURALNETWORKS_BAD_DATA, "input %u %s", i,
                                 in->set ? "has unknown sizes" : "is not set");
        }
        if (in->memory != NULL && !in->memory->filled) {
            (void)double_misuse(0, "nothing was written to the memory of input %u yet", i);
            return ANEURALNETWORKS_OP_FAILED;
        }
    }
    for (uint32_t i = 0; i < model->output_count; i++) {
        const argument *out = &execution->outputs[i];
        if (!out->set || out->omitted) {
            return double_misuse(ANEURALNETWORKS_BAD_DATA, "output %u is not set", i);
        }
        if (DOUBLE_LEVEL < 29 && !tensor_sized(&out->t)) {
            return double_misuse(ANEURALNETWORKS_BAD_DATA, "output %u has unknown sizes, before level 29", i);
        }
    }
    const int code = double_check_values(model);
    if (code == ANEURALNETWORKS_NO_ERROR) {
        execution->state = EXECUTION_RUNNING;
    }
    return code;
}

typedef struct run {
    const execution_body *execution;
    const model_body *model;
    tensor *values, *arguments; // values: tensor of each operand; arguments: tensors of the current operation
    bool *owned;                // for each operand: true if the run owns the operand's data
    char why[256];              // text of a misuse that only the run could detect
} run;

static int run_operation(run *r, uint32_t at)
{
    const operation *op = &r->model->operations[at];
    const operation_kernel *kernel = double_kernel(op->code);
    tensor *in = r->arguments, *out = in + op->in_count;
    for (uint32_t k = 0; k < op->in_count; k++) {
        in[k] = r->values[op->in[k]];
        if (in[k].omitted && !double_may_omit(op->row, op->in_count, k)) {
            snprintf(r->why, sizeof r->why, "operation %u (%d) needs its input %u", at, op->code, k);
            return ANEURALNETWORKS_OP_FAILED;
        }
    }
    for (uint32_t k = 0; k < op->out_count; k++) {
        out[k] = r->values[op->out[k]];
    }
    call c = {DOUBLE_LEVEL, op->code, .in = in, .in_count = op->in_count, .out = out, .out_count = op->out_count};
    if (in[0].rank > op->row->rank || !kernel->prepare(&c)) {
        snprintf(r->why, sizeof r->why, "operation %u (%d): %s", at, op->code, c.why);
        return ANEURALNETWORKS_OP_FAILED;
    }
    for (uint32_t k = 0; k < op->out_count; k++) {
        const tensor *declared = &r->values[op->out[k]];
        for (uint32_t d = 0; d < declared->rank; d++) {
            if (declared->rank != out[k].rank || (declared->sizes[d] != 0 && declared->sizes[d] != out[k].sizes[d])) {
                snprintf(r->why, sizeof r->why, "operation %u (%d): output %u has other sizes than the model says", at,
                         op->code, k);
                return ANEURALNETWORKS_OP_FAILED;
            }
        }
        const size_t count = tensor_count(&out[k]), width = type_width(out[k].type);
        if (count == SIZE_MAX || count > UINT32_MAX / width) {
            snprintf(r->why, sizeof r->why, "operation %u (%d): output %u has more than 4 GiB", at, op->code, k);
            return ANEURALNETWORKS_OP_FAILED;
        }
        out[k].data = calloc(count, width);
        r->values[op->out[k]] = out[k];
        r->owned[op->out[k]] = true;
        if (out[k].data == NULL) {
            return ANEURALNETWORKS_OUT_OF_MEMORY;
        }
    }
    kernel->run(&c);
    return ANEURALNETWORKS_NO_ERROR;
}

static int compute(run *r)
{
    const model_body *model = r->model;
    for (uint32_t i = 0; i < model->operand_count; i++) {
        r->values[i] = double_tensor(&model->operands[i]);
    }
    for (uint32_t i = 0; i < model->input_count; i++) {
        const argument *in = &r->execution->inputs[i];
        tensor *to = &r->values[model->inputs[i]];
        set_sizes(to, in->t.rank, in->t.sizes);
        to->data = in->bytes;
        to->omitted = in->omitted;
    }
    for (uint32_t i = 0; i < model->output_count; i++) {
        const argument *out = &r->execution->outputs[i];
        set_sizes(&r->values[model->outputs[i]], out->t.rank, out->t.sizes);
    }
    int code = ANEURALNETWORKS_NO_ERROR;
    for (uint32_t i = 0; i < model->operation_count && code == ANEURALNETWORKS_NO_ERROR; i++) {
        code = run_operation(r, model->order[i]);
    }
    return code;
}

static void spoil_last(const tensor *t)
{
    const size_t last = tensor_count(t) - 1;
    if (t->type == ANEURALNETWORKS_TENSOR_FLOAT32) {
        ((float *)t->data)[last] += 1.0f;
    } else if (t->type == ANEURALNETWORKS_TENSOR_INT32) {
        ((uint32_t *)t->data)[last] += 1;
    } else {
        ((uint8_t *)t->data)[last] ^= 1;
    }
}

// Copies the results to their buffers. If a buffer is too small, the sizes of the results are still available.
static int deliver(run *r, execution_body *execution, bool wrong)
{
    int code = ANEURALNETWORKS_NO_ERROR;
    for (uint32_t i = 0; i < r->model->output_count; i++) {
        const tensor *from = &r->values[r->model->outputs[i]];
        argument *to = &execution->outputs[i];
        const size_t bytes = tensor_count(from) * type_width(from->type);
        set_sizes(&to->t, from->rank, from->sizes);
        if (bytes > to->length) {
            code = ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
            continue;
        }
        if (wrong) {
            spoil_last(from);
        }
        memcpy(to->bytes, from->data, bytes);
        if (to->memory != NULL) {
            to->memory->filled = true;
        }
    }
    return code;
}

int double_run(execution_body *execution, const char *function)
{
    const model_body *model = execution->compilation->model;
    const unsigned slowness = double_slowness();
    const bool wrong = double_is_wrong();
    bool dead = false;
    size_t most = 1;
    if ((execution->compilation->devices & 1) != 0) {
        double_count_run();
        dead = double_is_lost();
    }
    for (uint32_t i = 0; i < model->operation_count; i++) {
        const size_t count = (size_t)model->operations[i].in_count + model->operations[i].out_count;
        most = count > most ? count : most;
    }
    double_hold(execution);
    while (double_holds()) {
        double_wait();
    }
    double_leave();
    if (slowness != 0) {
        nanosleep(&(struct timespec){(time_t)(slowness / 1000), (long)(slowness % 1000) * 1000000}, NULL);
    }
    run r = {.execution = execution, .model = model};
    r.values = calloc(model->operand_count + most, sizeof *r.values);
    r.owned = calloc(model->operand_count + (size_t)1, sizeof *r.owned);
    int code = dead ? ANEURALNETWORKS_DEAD_OBJECT : ANEURALNETWORKS_OUT_OF_MEMORY;
    if (!dead && r.values != NULL && r.owned != NULL) {
        r.arguments = r.values + model->operand_count;
        code = compute(&r);
        code = code == ANEURALNETWORKS_NO_ERROR ? deliver(&r, execution, wrong) : code;
    }
    for (uint32_t i = 0; r.values != NULL && r.owned != NULL && i < model->operand_count; i++) {
        if (r.owned[i]) {
            free(r.values[i].data);
        }
    }
    free(r.values);
    free(r.owned);
    double_resume(function);
    if (r.why[0] != '\0') {
        (void)double_misuse(code, "%s", r.why);
    }
    execution->state = EXECUTION_DONE;
    execution->result = code;
    double_drop(execution);
    double_wake();
    return code;
}
