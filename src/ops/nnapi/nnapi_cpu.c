// SPDX-License-Identifier: BSD-2-Clause
// The values of a serialized NNAPI model while it runs: constants and inputs as float tensors, results back into the
// caller's tensors.
#include "ops/nnapi/nnapi_cpu.h"

#include <math.h>

#include "ops/engine/matmul.h"
#include "ops/engine/view_move.h"

static bool is_tensor_type(uint32_t type)
{
    return type == TAPER_NNAPI_TENSOR_FLOAT32 || type == TAPER_NNAPI_TENSOR_INT32 ||
           type == TAPER_NNAPI_TENSOR_QUANT8_ASYMM || type == TAPER_NNAPI_TENSOR_QUANT16_SYMM ||
           type == TAPER_NNAPI_TENSOR_QUANT16_ASYMM;
}

static size_t item_of(uint32_t type)
{
    switch (type) {
    case TAPER_NNAPI_TENSOR_QUANT8_ASYMM:
    case TAPER_NNAPI_BOOL:
        return 1;
    case TAPER_NNAPI_TENSOR_QUANT16_SYMM:
    case TAPER_NNAPI_TENSOR_QUANT16_ASYMM:
        return 2;
    default:
        return 4;
    }
}

// The number that element i of an operand's bytes stands for.
static float number_at(const taper_nnapi_operand *operand, const uint8_t *data, size_t i)
{
    int32_t whole;
    float real;
    int16_t half;
    switch (operand->type) {
    case TAPER_NNAPI_TENSOR_FLOAT32:
        memcpy(&real, data + 4 * i, 4);
        return real;
    case TAPER_NNAPI_TENSOR_QUANT8_ASYMM:
        return (float)((int32_t)data[i] - operand->zero_point) * operand->scale;
    case TAPER_NNAPI_TENSOR_QUANT16_SYMM:
    case TAPER_NNAPI_TENSOR_QUANT16_ASYMM:
        memcpy(&half, data + 2 * i, 2);
        return (float)(half - operand->zero_point) * operand->scale;
    default:
        memcpy(&whole, data + 4 * i, 4);
        return operand->scale != 0.0f ? (float)whole * operand->scale : (float)whole;
    }
}

// The bytes of a constant, checked against the buffer they lie in.
static taper_status constant_bytes(const taper_nnapi_run *state, uint32_t at, const uint8_t **data,
                                   taper_tensor **owner)
{
    const taper_nnapi_operand *operand = &state->model->operands[at];
    *owner = NULL;
    if (operand->source == TAPER_NNAPI_IMMEDIATE) {
        *data = operand->data;
        return TAPER_OK;
    }
    if (operand->source != TAPER_NNAPI_BUFFER) {
        TAPER_FAIL(state->run->error, TAPER_ERROR_FILE, "NNAPI operand %u is used before it is computed", at);
    }
    if (operand->buffer >= state->buffer_count || state->buffers[operand->buffer].tag != TAPER_TENSOR) {
        TAPER_FAIL(state->run->error, TAPER_ERROR_FILE, "NNAPI operand %u needs buffer %u, there are %zu", at,
                   operand->buffer, state->buffer_count);
    }
    taper_tensor *tensor = state->buffers[operand->buffer].as.tensor;
    const size_t bytes = (size_t)taper_tensor_numel(tensor) * taper_tensor_item(tensor);
    if (!taper_tensor_is_contiguous(tensor) || operand->offset > bytes || operand->bytes > bytes - operand->offset) {
        TAPER_FAIL(state->run->error, TAPER_ERROR_FILE, "NNAPI operand %u lies outside of buffer %u (%zu bytes)", at,
                   operand->buffer, bytes);
    }
    *data = (const uint8_t *)taper_tensor_data(tensor) + operand->offset;
    *owner = tensor;
    return TAPER_OK;
}

taper_status taper_nnapi_real(taper_nnapi_run *state, uint32_t at, taper_tensor **tensor)
{
    if (state->values[at] != NULL) {
        *tensor = state->values[at];
        return TAPER_OK;
    }
    const taper_nnapi_operand *operand = &state->model->operands[at];
    taper_run *run = state->run;
    const uint8_t *data;
    taper_tensor *owner;
    if (!is_tensor_type(operand->type)) {
        TAPER_FAIL(run->error, TAPER_ERROR_UNSUPPORTED,
                   "NNAPI operand %u has type %u where a tensor of numbers is needed", at, operand->type);
    }
    TAPER_TRY(constant_bytes(state, at, &data, &owner));
    size_t count = 1, bytes;
    for (uint32_t d = 0; d < operand->rank; d++) {
        if (!taper_mul_size(count, (size_t)operand->sizes[d], &count)) {
            return taper_fail_memory(run->error);
        }
    }
    if (!taper_mul_size(count, item_of(operand->type), &bytes) || bytes != operand->bytes) {
        TAPER_FAIL(run->error, TAPER_ERROR_FILE, "NNAPI operand %u has %zu bytes, its sizes are %s", at, operand->bytes,
                   taper_shape_print(operand->rank, operand->sizes).text);
    }
    if (owner != NULL && owner->dtype == TAPER_F32 && operand->type == TAPER_NNAPI_TENSOR_FLOAT32 &&
        operand->offset % 4 == 0) {
        int64_t strides[TAPER_MAX_RANK];
        taper_strides_contiguous(operand->rank, operand->sizes, strides);
        TAPER_TRY(taper_tensor_alias(run->heap, owner, owner->offset + operand->offset / 4, operand->rank,
                                     operand->sizes, strides, tensor, run->error));
    } else {
        TAPER_TRY(taper_tensor_new(run->heap, TAPER_F32, operand->rank, operand->sizes, NULL, tensor, run->error));
        float *to = taper_tensor_mutable(*tensor);
        for (size_t i = 0; i < count; i++) {
            to[i] = number_at(operand, data, i);
        }
    }
    state->values[at] = *tensor;
    return TAPER_OK;
}

taper_status taper_nnapi_ints(taper_nnapi_run *state, uint32_t at, size_t limit, int64_t *numbers, size_t *count)
{
    const taper_nnapi_operand *operand = &state->model->operands[at];
    const uint8_t *data;
    taper_tensor *owner;
    TAPER_TRY(constant_bytes(state, at, &data, &owner));
    const size_t item = operand->type == TAPER_NNAPI_BOOL ? 1 : 4;
    const bool ints = operand->type == TAPER_NNAPI_INT32 || operand->type == TAPER_NNAPI_UINT32 ||
                      operand->type == TAPER_NNAPI_BOOL || operand->type == TAPER_NNAPI_TENSOR_INT32;
    *count = operand->bytes / item;
    if (!ints || operand->bytes % item != 0 || *count > limit) {
        TAPER_FAIL(state->run->error, TAPER_ERROR_FILE, "NNAPI operand %u should hold at most %zu ints", at, limit);
    }
    for (size_t i = 0; i < *count; i++) {
        int32_t number = data[i];
        if (item == 4) {
            memcpy(&number, data + 4 * i, 4);
        }
        numbers[i] = number;
    }
    return TAPER_OK;
}

taper_status taper_nnapi_number(taper_nnapi_run *state, uint32_t at, double *number)
{
    const taper_nnapi_operand *operand = &state->model->operands[at];
    if (operand->type == TAPER_NNAPI_FLOAT32) {
        const uint8_t *data;
        taper_tensor *owner;
        float real;
        TAPER_TRY(constant_bytes(state, at, &data, &owner));
        if (operand->bytes != sizeof real) {
            TAPER_FAIL(state->run->error, TAPER_ERROR_FILE, "NNAPI operand %u should hold one number", at);
        }
        memcpy(&real, data, sizeof real);
        *number = (double)real;
        return TAPER_OK;
    }
    int64_t whole = 0;
    size_t count;
    TAPER_TRY(taper_nnapi_ints(state, at, 1, &whole, &count));
    if (count != 1) {
        TAPER_FAIL(state->run->error, TAPER_ERROR_FILE, "NNAPI operand %u should hold one number", at);
    }
    *number = (double)whole;
    return TAPER_OK;
}

typedef struct integer_range {
    int32_t low, high;
} integer_range;

static bool quantized_range(uint32_t type, integer_range *range)
{
    switch (type) {
    case TAPER_NNAPI_TENSOR_QUANT8_ASYMM:
        *range = (integer_range){0, 255};
        return true;
    case TAPER_NNAPI_TENSOR_QUANT16_SYMM:
    case TAPER_NNAPI_TENSOR_QUANT16_ASYMM:
        *range = (integer_range){-32768, 32767};
        return true;
    default:
        return false;
    }
}

static int32_t quantize(const taper_nnapi_operand *operand, integer_range range, float number)
{
    const float steps = nearbyintf(number / operand->scale) + (float)operand->zero_point;
    return steps != steps || steps < (float)range.low ? range.low
           : steps > (float)range.high                ? range.high
                                                      : (int32_t)steps;
}

taper_status taper_nnapi_put(taper_nnapi_run *state, uint32_t at, taper_tensor *tensor)
{
    const taper_nnapi_operand *operand = &state->model->operands[at];
    integer_range range = {0, 0};
    if (quantized_range(operand->type, &range)) {
        if (!(operand->scale > 0.0f)) {
            taper_tensor_drop(tensor);
            TAPER_FAIL(state->run->error, TAPER_ERROR_FILE, "NNAPI operand %u has the scale %g", at,
                       (double)operand->scale);
        }
        float *x = taper_tensor_mutable(tensor);
        const int64_t count = taper_tensor_numel(tensor);
        for (int64_t i = 0; i < count; i++) {
            x[i] = (float)(quantize(operand, range, x[i]) - operand->zero_point) * operand->scale;
        }
    }
    taper_tensor_drop(state->values[at]);
    state->values[at] = tensor;
    return TAPER_OK;
}

// ---- inputs and outputs

static taper_status read_input(taper_nnapi_run *state, uint32_t at, const taper_tensor *input)
{
    const taper_nnapi_operand *operand = &state->model->operands[at];
    taper_run *run = state->run;
    const bool quant8 = operand->type == TAPER_NNAPI_TENSOR_QUANT8_ASYMM;
    const bool quant16 =
        operand->type == TAPER_NNAPI_TENSOR_QUANT16_SYMM || operand->type == TAPER_NNAPI_TENSOR_QUANT16_ASYMM;
    const bool fits = quant8    ? input->dtype == TAPER_QU8 || input->dtype == TAPER_U8
                      : quant16 ? input->dtype == TAPER_I16
                                : input->dtype == (operand->type == TAPER_NNAPI_TENSOR_INT32 ? TAPER_I32 : TAPER_F32);
    bool shape = operand->rank == input->rank;
    for (uint32_t d = 0; shape && d < operand->rank; d++) {
        shape = operand->sizes[d] == 0 || operand->sizes[d] == input->sizes[d];
    }
    if (!is_tensor_type(operand->type) || !fits || !shape || !taper_tensor_is_contiguous(input)) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "the NNAPI model expects a contiguous input of sizes %s (NNAPI type %u), got %s %s",
                   taper_shape_print(operand->rank, operand->sizes).text, operand->type,
                   taper_dtype_torch_name((taper_dtype)input->dtype), TAPER_SHAPE(input));
    }
    taper_tensor *value = NULL;
    TAPER_TRY(taper_tensor_new(run->heap, TAPER_F32, input->rank, input->sizes, NULL, &value, run->error));
    float *to = taper_tensor_mutable(value);
    const size_t count = (size_t)taper_tensor_numel(input);
    for (size_t i = 0; i < count; i++) {
        to[i] = number_at(operand, taper_tensor_data(input), i);
    }
    taper_tensor_drop(state->values[at]);
    state->values[at] = value;
    return TAPER_OK;
}

// target gets value's sizes, contiguous, on a storage that may be written.
static taper_status resize_output(taper_run *run, taper_tensor *target, const taper_tensor *value)
{
    const bool same = target->rank == value->rank && !target->hidden_nhwc &&
                      memcmp(target->sizes, value->sizes, value->rank * sizeof *value->sizes) == 0;
    if (same && taper_tensor_is_contiguous(target)) {
        return taper_storage_write(target->storage, run->error);
    }
    taper_tensor *fresh = NULL;
    TAPER_TRY(
        taper_tensor_new(run->heap, (taper_dtype)target->dtype, value->rank, value->sizes, NULL, &fresh, run->error));
    taper_storage *old = target->storage;
    target->storage = fresh->storage;
    fresh->storage = old;
    target->offset = 0;
    target->hidden_nhwc = false;
    target->rank = value->rank;
    memcpy(target->sizes, fresh->sizes, sizeof target->sizes);
    memcpy(target->strides, fresh->strides, sizeof target->strides);
    taper_tensor_drop(fresh);
    return TAPER_OK;
}

static taper_status write_output(taper_nnapi_run *state, uint32_t at, taper_tensor *target)
{
    const taper_nnapi_operand *operand = &state->model->operands[at];
    taper_run *run = state->run;
    taper_tensor *value;
    integer_range range = {0, 0};
    TAPER_TRY(taper_nnapi_real(state, at, &value));
    const bool quant8 =
        operand->type == TAPER_NNAPI_TENSOR_QUANT8_ASYMM && (target->dtype == TAPER_QU8 || target->dtype == TAPER_U8);
    const bool quant16 = quantized_range(operand->type, &range) && target->dtype == TAPER_I16 && !quant8;
    const bool real = operand->type == TAPER_NNAPI_TENSOR_FLOAT32 && target->dtype == TAPER_F32;
    if (!quant8 && !quant16 && !real) {
        TAPER_FAIL(run->error, TAPER_ERROR_ARGUMENT,
                   "an output of the NNAPI model has NNAPI type %u, the tensor for it is %s", operand->type,
                   taper_dtype_torch_name((taper_dtype)target->dtype));
    }
    TAPER_TRY(resize_output(run, target, value));
    const float *from = taper_tensor_data(value);
    void *to = taper_tensor_mutable(target);
    const int64_t count = taper_tensor_numel(value);
    for (int64_t i = 0; i < count; i++) {
        if (real) {
            ((float *)to)[i] = from[i];
        } else if (quant8) {
            ((uint8_t *)to)[i] = (uint8_t)quantize(operand, (integer_range){0, 255}, from[i]);
        } else {
            ((int16_t *)to)[i] = (int16_t)quantize(operand, range, from[i]);
        }
    }
    return TAPER_OK;
}

static taper_status execute(taper_nnapi_run *state, const taper_list *inputs, const taper_list *outputs)
{
    const taper_nnapi_model *model = state->model;
    taper_error *error = state->run->error;
    if (inputs->count != model->input_count || outputs->count != model->output_count) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the NNAPI model has %u inputs and %u outputs, got %zu and %zu",
                   model->input_count, model->output_count, inputs->count, outputs->count);
    }
    for (uint32_t i = 0; i < model->input_count; i++) {
        if (inputs->items[i].tag != TAPER_TENSOR) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "input %u of the NNAPI model is not a Tensor but %s", i,
                       taper_val_kind_name(inputs->items[i]));
        }
        TAPER_TRY(taper_run_settle(state->run, inputs->items[i].as.tensor));
        TAPER_TRY(read_input(state, model->inputs[i], inputs->items[i].as.tensor));
    }
    for (uint32_t i = 0; i < model->operation_count; i++) {
        const taper_status status = taper_nnapi_operate(state, &model->operations[i]);
        if (status != TAPER_OK) {
            taper_error_prefix(error, "NNAPI operation %u (code %u): ", i, model->operations[i].code);
            return status;
        }
    }
    for (uint32_t i = 0; i < model->output_count; i++) {
        if (outputs->items[i].tag != TAPER_TENSOR) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "output %u of the NNAPI model is not a Tensor but %s", i,
                       taper_val_kind_name(outputs->items[i]));
        }
        TAPER_TRY(write_output(state, model->outputs[i], outputs->items[i].as.tensor));
    }
    return TAPER_OK;
}

taper_status taper_nnapi_execute(taper_run *run, const taper_nnapi_model *model, const taper_list *buffers,
                                 const taper_list *inputs, const taper_list *outputs)
{
    taper_nnapi_run state = {.run = run, .model = model, .buffers = buffers->items, .buffer_count = buffers->count};
    size_t bytes;
    if (!taper_mul_size(model->operand_count, sizeof *state.values, &bytes)) {
        return taper_fail_memory(run->error);
    }
    if (bytes != 0) {
        state.values = taper_heap_alloc(run->heap, bytes);
        if (state.values == NULL) {
            return taper_fail_memory(run->error);
        }
        memset(state.values, 0, bytes);
    }
    const taper_status status = execute(&state, inputs, outputs);
    for (uint32_t i = 0; i < model->operand_count; i++) {
        taper_tensor_drop(state.values[i]);
    }
    if (bytes != 0) {
        taper_heap_free(run->heap, state.values, bytes);
    }
    return status;
}
