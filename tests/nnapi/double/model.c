// SPDX-License-Identifier: BSD-2-Clause
// Models under construction: operands, operations, inputs and outputs. values.c sets values; shapes.c implements
// finish.
#include <stdlib.h>
#include <string.h>

#include "model.h"

static void destroy_model(void *body)
{
    model_body *model = body;
    for (uint32_t i = 0; i < model->operand_count; i++) {
        operand *of = &model->operands[i];
        free(of->copy);
        free(of->scales);
        if (of->memory != NULL) {
            double_drop(of->memory);
        }
    }
    for (uint32_t i = 0; i < model->operation_count; i++) {
        free(model->operations[i].in);
    }
    free(model->operands);
    free(model->operations);
    free(model->order);
    free(model->inputs);
    free(model);
}

int ANeuralNetworksModel_create(ANeuralNetworksModel **model)
{
    ENTER;
    if (model == NULL) {
        MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "where the model should go is NULL");
    }
    model_body *body = calloc(1, sizeof *body);
    *model = body != NULL ? double_object(DOUBLE_MODEL, body, destroy_model) : NULL;
    if (*model == NULL) {
        free(body);
        LEAVE(ANEURALNETWORKS_OUT_OF_MEMORY);
    }
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

void ANeuralNetworksModel_free(ANeuralNetworksModel *model)
{
    (void)double_enter(__func__);
    model_body *body;
    if (double_end(model, DOUBLE_MODEL, &body) == ANEURALNETWORKS_NO_ERROR) {
        if (body->head.holders > 1) { // the API calls this a misuse: the model "must outlive the compilation"
            (void)double_misuse(0, "a compilation still uses the model");
        }
        double_drop(body);
    }
    double_leave();
}

int double_find_open_model(const ANeuralNetworksModel *model, model_body **body)
{
    const int code = double_find(model, DOUBLE_MODEL, body);
    if (code == ANEURALNETWORKS_NO_ERROR && ((*body)->finished || (*body)->invalid)) {
        return double_misuse(ANEURALNETWORKS_BAD_STATE, "the model is %s", (*body)->finished ? "finished" : "invalid");
    }
    return code;
}

int ANeuralNetworksModel_addOperand(ANeuralNetworksModel *model, const ANeuralNetworksOperandType *type)
{
    ENTER;
    model_body *body;
    tensor t;
    TRY(double_find_open_model(model, &body));
    if (type == NULL) {
        MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "the type is NULL");
    }
    TRY(double_read_type(type, &t));
    // The array is enlarged when the count is a power of two.
    if ((body->operand_count & (body->operand_count - 1)) == 0) {
        const size_t room = body->operand_count == 0 ? 1 : (size_t)body->operand_count * 2;
        operand *more = realloc(body->operands, room * sizeof *more);
        if (more == NULL) {
            LEAVE(ANEURALNETWORKS_OUT_OF_MEMORY);
        }
        body->operands = more;
    }
    body->operands[body->operand_count++] = (operand){.t = t};
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

static int check_indices(const model_body *model, const char *what, const uint32_t *indices, uint32_t count)
{
    if (count == 0 || indices == NULL) {
        return double_misuse(indices == NULL ? ANEURALNETWORKS_UNEXPECTED_NULL : ANEURALNETWORKS_BAD_DATA, "no %s",
                             what);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (indices[i] >= model->operand_count) {
            return double_misuse(ANEURALNETWORKS_BAD_DATA, "%s %u is operand %u of %u", what, i, indices[i],
                                 model->operand_count);
        }
    }
    return ANEURALNETWORKS_NO_ERROR;
}

static int find_signature(const model_body *body, operation *op)
{
    static const int last_codes[] = {28, 37, 95, 101, 101}; // last operation code of each API level from 27 to 31
    if (op->code < 0 || op->code > last_codes[DOUBLE_LEVEL - 27]) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "operation %d, which level %d does not have", op->code,
                             DOUBLE_LEVEL);
    }
    const size_t count = (size_t)op->in_count + op->out_count;
    tensor *tensors = malloc(count * sizeof *tensors);
    if (tensors == NULL) {
        return ANEURALNETWORKS_OUT_OF_MEMORY;
    }
    for (size_t i = 0; i < count; i++) {
        tensors[i] = body->operands[op->in[i]].t;
    }
    bool known;
    op->row = double_signature(op->code, tensors, op->in_count, tensors + op->in_count, op->out_count, &known);
    free(tensors);
    return known && op->row == NULL ? ANEURALNETWORKS_BAD_DATA : ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_addOperation(ANeuralNetworksModel *model, ANeuralNetworksOperationType type,
                                      uint32_t inputCount, const uint32_t *inputs, uint32_t outputCount,
                                      const uint32_t *outputs)
{
    ENTER;
    model_body *body;
    TRY(double_find_open_model(model, &body));
    TRY(check_indices(body, "input", inputs, inputCount));
    TRY(check_indices(body, "output", outputs, outputCount));
    for (uint32_t i = 0; i < outputCount; i++) {
        const operand *out = &body->operands[outputs[i]];
        bool twice = false;
        for (uint32_t k = 0; k < i; k++) {
            twice = twice || outputs[k] == outputs[i];
        }
        if (out->value != VALUE_NONE || out->is_input || out->is_written || twice) {
            MISUSE(ANEURALNETWORKS_BAD_DATA, "output %u is operand %u, which %s", i, outputs[i],
                   out->value != VALUE_NONE ? "has a value"
                   : out->is_input          ? "is an input of the model"
                                            : "another operation writes");
        }
    }
    operation *more = realloc(body->operations, ((size_t)body->operation_count + 1) * sizeof *more);
    uint32_t *indices = malloc(((size_t)inputCount + outputCount) * sizeof *indices);
    body->operations = more != NULL ? more : body->operations;
    if (more == NULL || indices == NULL) {
        free(indices);
        LEAVE(ANEURALNETWORKS_OUT_OF_MEMORY);
    }
    memcpy(indices, inputs, inputCount * sizeof *inputs);
    memcpy(indices + inputCount, outputs, outputCount * sizeof *outputs);
    operation op = {type, indices, indices + inputCount, inputCount, outputCount, NULL};
    const int code = find_signature(body, &op);
    if (code != ANEURALNETWORKS_NO_ERROR) {
        free(indices);
        LEAVE(code);
    }
    for (uint32_t i = 0; i < outputCount; i++) {
        body->operands[outputs[i]].is_written = true;
    }
    body->operations[body->operation_count++] = op;
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

int ANeuralNetworksModel_identifyInputsAndOutputs(ANeuralNetworksModel *model, uint32_t inputCount,
                                                  const uint32_t *inputs, uint32_t outputCount, const uint32_t *outputs)
{
    ENTER;
    model_body *body;
    TRY(double_find_open_model(model, &body));
    if (body->identified) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "inputs and outputs were identified before");
    }
    // A model of constants has no inputs, but the pointer to the inputs must not be NULL.
    if (inputCount > 0 || inputs == NULL) {
        TRY(check_indices(body, "input", inputs, inputCount));
    }
    TRY(check_indices(body, "output", outputs, outputCount));
    for (uint32_t i = 0; i < inputCount; i++) {
        const operand *in = &body->operands[inputs[i]];
        for (uint32_t k = 0; k < i; k++) {
            if (inputs[k] == inputs[i]) {
                MISUSE(ANEURALNETWORKS_BAD_DATA, "operand %u is an input twice", inputs[i]);
            }
        }
        if (in->value != VALUE_NONE || in->is_written) {
            MISUSE(ANEURALNETWORKS_BAD_DATA, "input %u is operand %u, which %s", i, inputs[i],
                   in->value != VALUE_NONE ? "has a value" : "an operation writes");
        }
    }
    for (uint32_t i = 0; i < outputCount; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (outputs[k] == outputs[i]) {
                MISUSE(ANEURALNETWORKS_BAD_DATA, "operand %u is an output twice", outputs[i]);
            }
        }
        for (uint32_t k = 0; k < inputCount; k++) {
            if (inputs[k] == outputs[i]) {
                MISUSE(ANEURALNETWORKS_BAD_DATA, "operand %u is an input and an output", outputs[i]);
            }
        }
        if (body->operands[outputs[i]].value != VALUE_NONE) {
            MISUSE(ANEURALNETWORKS_BAD_DATA, "output %u is operand %u, which has a value", i, outputs[i]);
        }
    }
    body->inputs = malloc(((size_t)inputCount + outputCount) * sizeof *inputs);
    if (body->inputs == NULL) {
        LEAVE(ANEURALNETWORKS_OUT_OF_MEMORY);
    }
    body->outputs = body->inputs + inputCount;
    body->input_count = inputCount;
    body->output_count = outputCount;
    for (uint32_t i = 0; i < inputCount; i++) {
        body->inputs[i] = inputs[i];
        body->operands[inputs[i]].is_input = true;
    }
    for (uint32_t i = 0; i < outputCount; i++) {
        body->outputs[i] = outputs[i];
        body->operands[outputs[i]].is_output = true;
    }
    body->identified = true;
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

#if DOUBLE_LEVEL >= 28
int ANeuralNetworksModel_relaxComputationFloat32toFloat16(ANeuralNetworksModel *model, bool allow)
{
    ENTER;
    model_body *body;
    TRY(double_find_open_model(model, &body));
    (void)allow; // ignored, because this device always computes exactly
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}
#endif

// Checks that each operand has a value and each output is written.
static int check_operands(const model_body *body)
{
    for (uint32_t i = 0; i < body->output_count; i++) {
        if (!body->operands[body->outputs[i]].is_written) {
            return double_misuse(ANEURALNETWORKS_BAD_DATA, "no operation writes output %u", i);
        }
    }
    for (uint32_t i = 0; i < body->operand_count; i++) { // includes operands that no operation reads
        const operand *of = &body->operands[i];
        if (of->value == VALUE_NONE && !of->is_input && !of->is_written) {
            return double_misuse(ANEURALNETWORKS_BAD_DATA, "operand %u has no value", i);
        }
    }
    for (uint32_t i = 0; i < body->operation_count; i++) {
        const operation *op = &body->operations[i];
        for (uint32_t k = 0; k < op->in_count; k++) {
            const operand *in = &body->operands[op->in[k]];
            if (in->value == VALUE_OMITTED && op->row != NULL && !double_may_omit(op->row, op->in_count, k)) {
                return double_misuse(ANEURALNETWORKS_BAD_DATA, "operation %u (%d) needs its input %u", i, op->code, k);
            }
        }
    }
    for (uint32_t i = 0; i < body->operand_count; i++) {
        if (body->operands[i].t.type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL &&
            body->operands[i].scales == NULL) {
            return double_misuse(ANEURALNETWORKS_BAD_DATA, "operand %u has no scales per channel", i);
        }
    }
    return ANEURALNETWORKS_NO_ERROR;
}

static int check_model(model_body *body)
{
    if (!body->identified) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "inputs and outputs are not identified");
    }
    int code = check_operands(body);
    code = code == ANEURALNETWORKS_NO_ERROR ? double_check_values(body) : code;
    code = code == ANEURALNETWORKS_NO_ERROR ? double_order_operations(body) : code;
    return code == ANEURALNETWORKS_NO_ERROR ? double_check_shapes(body) : code;
}

int ANeuralNetworksModel_finish(ANeuralNetworksModel *model)
{
    ENTER;
    model_body *body;
    TRY(double_find_open_model(model, &body));
    const int code = check_model(body);
    body->finished = code == ANEURALNETWORKS_NO_ERROR;
    body->invalid = code == ANEURALNETWORKS_BAD_DATA; // after this error the model cannot be finished again
    LEAVE(code);
}
