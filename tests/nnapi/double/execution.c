// SPDX-License-Identifier: BSD-2-Clause
// Executions: their inputs and outputs before a run, and their results after it. run.c computes; start.c has events and
// bursts.
#include <stdlib.h>
#include <string.h>

#include "model.h"

static void drop_arguments(argument *arguments, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (arguments[i].memory != NULL) {
            double_drop(arguments[i].memory);
        }
    }
    free(arguments);
}

static void destroy_execution(void *body)
{
    execution_body *execution = body;
    const model_body *model = execution->compilation->model;
    drop_arguments(execution->inputs, model->input_count);
    drop_arguments(execution->outputs, model->output_count);
    double_drop(execution->compilation);
    free(execution);
}

int ANeuralNetworksExecution_create(ANeuralNetworksCompilation *compilation, ANeuralNetworksExecution **execution)
{
    ENTER;
    compilation_body *of;
    if (execution == NULL) {
        MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "where the execution should go is NULL");
    }
    *execution = NULL;
    TRY(double_find(compilation, DOUBLE_COMPILATION, &of));
    if (!of->finished) {
        MISUSE(ANEURALNETWORKS_BAD_STATE, "the compilation is not finished");
    }
    const model_body *model = of->model;
    execution_body *body = calloc(1, sizeof *body);
    argument *inputs = calloc(model->input_count + (size_t)1, sizeof *inputs);
    argument *outputs = calloc(model->output_count + (size_t)1, sizeof *outputs);
    *execution = body != NULL && inputs != NULL && outputs != NULL
                     ? double_object(DOUBLE_EXECUTION, body, destroy_execution)
                     : NULL;
    if (*execution == NULL) {
        free(body);
        free(inputs);
        free(outputs);
        LEAVE(ANEURALNETWORKS_OUT_OF_MEMORY);
    }
    double_hold(of);
    body->compilation = of;
    body->inputs = inputs;
    body->outputs = outputs;
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

void ANeuralNetworksExecution_free(ANeuralNetworksExecution *execution)
{
    (void)double_enter(__func__);
    execution_body *body;
    if (double_end(execution, DOUBLE_EXECUTION, &body) == ANEURALNETWORKS_NO_ERROR) {
        if (body->state == EXECUTION_RUNNING) {
            (void)double_misuse(0, "the execution is running");
        }
        double_drop(body);
    }
    double_leave();
}

// Finds an execution that has not run and can be set up. A reusable execution cannot be changed between runs.
static int find_open(const ANeuralNetworksExecution *execution, execution_body **body)
{
    const int code = double_find(execution, DOUBLE_EXECUTION, body);
    if (code == ANEURALNETWORKS_NO_ERROR && (*body)->state != EXECUTION_OPEN) {
        return double_misuse(ANEURALNETWORKS_BAD_STATE, "the execution %s",
                             (*body)->state == EXECUTION_RUNNING ? "is running" : "has run");
    }
    return code;
}

typedef struct placement {
    int32_t index;
    bool output;
    const ANeuralNetworksOperandType *type;
    void *bytes;
    memory_body *memory;
    size_t offset, length;
} placement;

static int place(execution_body *body, const placement *at)
{
    const model_body *model = body->compilation->model;
    const uint32_t count = at->output ? model->output_count : model->input_count;
    const char *what = at->output ? "output" : "input";
    if (at->index < 0 || (uint32_t)at->index >= count) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "%s %d of %u", what, at->index, count);
    }
    const uint32_t which = (at->output ? model->outputs : model->inputs)[at->index];
    argument *to = &(at->output ? body->outputs : body->inputs)[at->index];
    argument made = {.set = true, .bytes = at->bytes, .memory = at->memory, .length = at->length};
    int code = double_refine_type(at->type, &model->operands[which].t, &made.t);
    if (code != ANEURALNETWORKS_NO_ERROR) {
        return code;
    }
    if (at->memory != NULL) {
        const memory_role role = {body->compilation->head.id, (uint32_t)at->index, at->output};
        code = double_check_region(at->memory, &role, at->offset, &made.length, made.t.type);
        if (code != ANEURALNETWORKS_NO_ERROR) {
            return code;
        }
        if (at->output ? !at->memory->writable : !at->memory->readable) {
            return double_misuse(ANEURALNETWORKS_BAD_DATA, "the memory cannot be %s", at->output ? "written" : "read");
        }
        made.bytes = at->memory->bytes + at->offset;
    } else if (at->bytes == NULL) {
        if (at->length != 0) {
            return double_misuse(ANEURALNETWORKS_UNEXPECTED_NULL, "%zu bytes at NULL", at->length);
        }
        made.omitted = true;
    } else if ((uintptr_t)at->bytes % type_width(made.t.type) != 0) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "%s %d is not aligned", what, at->index);
    }
    const size_t needed = tensor_count(&made.t) * type_width(made.t.type);
    if (!made.omitted && tensor_sized(&made.t) && (body->padded ? made.length < needed : made.length != needed)) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "%s %d has %zu bytes, not %zu", what, at->index, needed,
                             made.length);
    }
    if (to->set) {
        return double_misuse(ANEURALNETWORKS_BAD_STATE, "%s %d is set already", what, at->index);
    }
    if (made.memory != NULL) {
        double_hold(made.memory);
    }
    *to = made;
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksExecution_setInput(ANeuralNetworksExecution *execution, int32_t index,
                                      const ANeuralNetworksOperandType *type, const void *buffer, size_t length)
{
    ENTER;
    execution_body *body;
    TRY(find_open(execution, &body));
    LEAVE(place(body, &(placement){index, false, type, (void *)(uintptr_t)buffer, NULL, 0, length}));
}

int ANeuralNetworksExecution_setOutput(ANeuralNetworksExecution *execution, int32_t index,
                                       const ANeuralNetworksOperandType *type, void *buffer, size_t length)
{
    ENTER;
    execution_body *body;
    TRY(find_open(execution, &body));
    LEAVE(place(body, &(placement){index, true, type, buffer, NULL, 0, length}));
}

int ANeuralNetworksExecution_setInputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
                                                const ANeuralNetworksOperandType *type,
                                                const ANeuralNetworksMemory *memory, size_t offset, size_t length)
{
    ENTER;
    execution_body *body;
    memory_body *of;
    TRY(find_open(execution, &body));
    TRY(double_find(memory, DOUBLE_MEMORY, &of));
    LEAVE(place(body, &(placement){index, false, type, NULL, of, offset, length}));
}

int ANeuralNetworksExecution_setOutputFromMemory(ANeuralNetworksExecution *execution, int32_t index,
                                                 const ANeuralNetworksOperandType *type,
                                                 const ANeuralNetworksMemory *memory, size_t offset, size_t length)
{
    ENTER;
    execution_body *body;
    memory_body *of;
    TRY(find_open(execution, &body));
    TRY(double_find(memory, DOUBLE_MEMORY, &of));
    LEAVE(place(body, &(placement){index, true, type, NULL, of, offset, length}));
}

#if DOUBLE_LEVEL >= 29
// Finds an execution that has run and checks the index of its output.
static int find_output(const ANeuralNetworksExecution *execution, int32_t index, const void *answer,
                       execution_body **body)
{
    const int code = double_find(execution, DOUBLE_EXECUTION, body);
    if (code != ANEURALNETWORKS_NO_ERROR) {
        return code;
    }
    if (answer == NULL) {
        return double_misuse(ANEURALNETWORKS_UNEXPECTED_NULL, "where the answer should go is NULL");
    }
    if ((*body)->state != EXECUTION_DONE) {
        return double_misuse(ANEURALNETWORKS_BAD_STATE, "the execution has not run");
    }
    if (index < 0 || (uint32_t)index >= (*body)->compilation->model->output_count) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "output %d", index);
    }
    return (*body)->result == ANEURALNETWORKS_NO_ERROR || (*body)->result == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE
               ? (*body)->result
               : double_misuse(ANEURALNETWORKS_BAD_STATE, "the execution failed");
}

int ANeuralNetworksExecution_getOutputOperandRank(ANeuralNetworksExecution *execution, int32_t index, uint32_t *rank)
{
    ENTER;
    execution_body *body;
    const int code = find_output(execution, index, rank, &body);
    if (code == ANEURALNETWORKS_NO_ERROR || code == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE) {
        *rank = double_has_garbage_sizes() ? 0x7fffffff : body->outputs[index].t.rank;
    }
    LEAVE(code);
}

int ANeuralNetworksExecution_getOutputOperandDimensions(ANeuralNetworksExecution *execution, int32_t index,
                                                        uint32_t *dimensions)
{
    ENTER;
    execution_body *body;
    const int code = find_output(execution, index, dimensions, &body);
    if (code == ANEURALNETWORKS_NO_ERROR || code == ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE) {
        for (uint32_t i = 0; i < body->outputs[index].t.rank; i++) {
            dimensions[i] = double_has_garbage_sizes() ? 0x40000001u : body->outputs[index].t.sizes[i];
        }
    }
    LEAVE(code);
}

int ANeuralNetworksExecution_setMeasureTiming(ANeuralNetworksExecution *execution, bool measure)
{
    ENTER;
    execution_body *body;
    TRY(find_open(execution, &body));
    if (!body->compilation->chosen || body->compilation->device_count != 1) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "times are measured of a compilation for one device");
    }
    body->timed = measure;
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

int ANeuralNetworksExecution_getDuration(const ANeuralNetworksExecution *execution, int32_t durationCode,
                                         uint64_t *duration)
{
    ENTER;
    execution_body *body;
    TRY(double_find(execution, DOUBLE_EXECUTION, &body));
    if (duration == NULL) {
        MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "where the answer should go is NULL");
    }
    if (durationCode < 0 || durationCode > (DOUBLE_LEVEL >= 30 ? 3 : 1)) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "duration %d", durationCode);
    }
    if (body->state != EXECUTION_DONE || !body->timed) {
        MISUSE(ANEURALNETWORKS_BAD_STATE, "the execution %s", body->timed ? "has not run" : "is not measured");
    }
    *duration = 1000u + 1000000u * (uint64_t)double_slowness();
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}
#endif

#if DOUBLE_LEVEL >= 30
int ANeuralNetworksExecution_setTimeout(ANeuralNetworksExecution *execution, uint64_t duration)
{
    ENTER;
    execution_body *body;
    (void)duration;
    TRY(find_open(execution, &body));
    if (!body->compilation->chosen || body->compilation->device_count != 1) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "a time limit is for a compilation for one device");
    }
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

int ANeuralNetworksExecution_setLoopTimeout(ANeuralNetworksExecution *execution, uint64_t duration)
{
    ENTER;
    execution_body *body;
    (void)duration;
    TRY(find_open(execution, &body));
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}
#endif

#if DOUBLE_LEVEL >= 31
// An execution can be set to reusable only before its first run.
int ANeuralNetworksExecution_setReusable(ANeuralNetworksExecution *execution, bool reusable)
{
    ENTER;
    execution_body *body;
    TRY(double_find(execution, DOUBLE_EXECUTION, &body));
    if (body->state != EXECUTION_OPEN) {
        MISUSE(ANEURALNETWORKS_BAD_STATE, "the execution has begun");
    }
    body->reusable = reusable;
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

// Padding must be enabled before the inputs and outputs are set.
int ANeuralNetworksExecution_enableInputAndOutputPadding(ANeuralNetworksExecution *execution, bool enable)
{
    ENTER;
    execution_body *body;
    TRY(double_find(execution, DOUBLE_EXECUTION, &body));
    if (body->state != EXECUTION_OPEN) {
        MISUSE(ANEURALNETWORKS_BAD_STATE, "the execution has begun");
    }
    const model_body *model = body->compilation->model;
    for (uint32_t i = 0; i < model->input_count + model->output_count; i++) {
        if (i < model->input_count ? body->inputs[i].set : body->outputs[i - model->input_count].set) {
            MISUSE(ANEURALNETWORKS_BAD_STATE, "inputs or outputs are set");
        }
    }
    body->padded = enable;
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}
#endif
