// SPDX-License-Identifier: BSD-2-Clause
// Values of a model's operands. Values of up to 128 bytes are copied. For longer values, a hash detects changes until
// the model has been finished, compiled and run.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model.h"

static uint64_t hash_bytes(const void *data, size_t length)
{
    const uint8_t *bytes = data;
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ bytes[i]) * 1099511628211u;
    }
    return hash;
}

// Returns true if the memory is mapped, so that reading it does not crash the process.
static bool is_mapped(const void *data, size_t length)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const uintptr_t first = (uintptr_t)data / page * page, last = (uintptr_t)data + length;
    unsigned char resident;
    for (uintptr_t at = first; at < last; at += page) {
        if (mincore((void *)at, 1, &resident) != 0) {
            return false;
        }
    }
    return true;
}

tensor double_tensor(const operand *from)
{
    tensor t = from->t;
    t.channel_scales = from->scales;
    t.omitted = from->value == VALUE_OMITTED;
    t.data = (void *)(uintptr_t)(from->value == VALUE_COPIED ? from->copy : from->data);
    return t;
}

static int find_operand(ANeuralNetworksModel *model, int32_t index, operand **of)
{
    model_body *body;
    const int code = double_find_open_model(model, &body);
    if (code != ANEURALNETWORKS_NO_ERROR) {
        return code;
    }
    if (index < 0 || (uint32_t)index >= body->operand_count) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "operand %d of %u", index, body->operand_count);
    }
    *of = &body->operands[index];
    return ANEURALNETWORKS_NO_ERROR;
}

// Checks that a value of this size can be given to the operand now.
static int check_settable(const operand *of, int32_t index, size_t length)
{
    if (of->value != VALUE_NONE) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "operand %d has a value already", index);
    }
    if (of->is_input || of->is_output || of->is_written) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "operand %d is %s", index,
                             of->is_input    ? "an input of the model"
                             : of->is_output ? "an output of the model"
                                             : "written by an operation");
    }
    if (!tensor_sized(&of->t)) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "operand %d has unknown dimensions", index);
    }
    const size_t needed = tensor_count(&of->t) * type_width(of->t.type);
    if (length != needed) {
        return double_misuse(ANEURALNETWORKS_BAD_DATA, "operand %d has %zu bytes, not %zu", index, needed, length);
    }
    return ANEURALNETWORKS_NO_ERROR;
}

int ANeuralNetworksModel_setOperandValue(ANeuralNetworksModel *model, int32_t index, const void *buffer, size_t length)
{
    ENTER;
    operand *of;
    TRY(find_operand(model, index, &of));
    if (buffer == NULL) {
        if (length != 0) {
            MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "%zu bytes at NULL", length);
        }
        if (of->value != VALUE_NONE || of->is_input || of->is_output || of->is_written) {
            MISUSE(ANEURALNETWORKS_BAD_DATA, "operand %d is used already", index);
        }
        of->value = VALUE_OMITTED;
        LEAVE(ANEURALNETWORKS_NO_ERROR);
    }
    TRY(check_settable(of, index, length));
    of->length = length;
    if (length > ANEURALNETWORKS_MAX_SIZE_OF_IMMEDIATELY_COPIED_VALUES) {
        if ((uintptr_t)buffer % type_width(of->t.type) != 0) {
            MISUSE(ANEURALNETWORKS_BAD_DATA, "the value of operand %d is not aligned", index);
        }
        of->value = VALUE_REFERENCED;
        of->data = buffer;
        of->hash = hash_bytes(buffer, length);
        LEAVE(ANEURALNETWORKS_NO_ERROR);
    }
    of->copy = malloc(length);
    if (of->copy == NULL) {
        LEAVE(ANEURALNETWORKS_OUT_OF_MEMORY);
    }
    memcpy(of->copy, buffer, length);
    of->value = VALUE_COPIED;
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

int ANeuralNetworksModel_setOperandValueFromMemory(ANeuralNetworksModel *model, int32_t index,
                                                   const ANeuralNetworksMemory *memory, size_t offset, size_t length)
{
    ENTER;
    operand *of;
    memory_body *body;
    TRY(find_operand(model, index, &of));
    TRY(double_find(memory, DOUBLE_MEMORY, &body));
    TRY(check_settable(of, index, length));
    if (body->roles != NULL) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "memory of a descriptor cannot hold a model's values");
    }
    TRY(double_check_region(body, NULL, offset, &length, of->t.type));
    if (!body->readable) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "the memory cannot be read");
    }
    double_hold(body);
    of->memory = body;
    of->value = VALUE_MEMORY;
    of->data = body->bytes + offset;
    of->length = length;
    of->hash = hash_bytes(of->data, length);
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}

#if DOUBLE_LEVEL >= 29
int ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(
    ANeuralNetworksModel *model, int32_t index, const ANeuralNetworksSymmPerChannelQuantParams *channelQuant)
{
    ENTER;
    operand *of;
    TRY(find_operand(model, index, &of));
    if (channelQuant == NULL || channelQuant->scales == NULL) {
        MISUSE(ANEURALNETWORKS_UNEXPECTED_NULL, "no scales");
    }
    if (of->t.type != ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "operand %d has type %d", index, of->t.type);
    }
    if (of->scales != NULL) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "operand %d has scales already", index);
    }
    if (channelQuant->channelDim >= of->t.rank || channelQuant->scaleCount != of->t.sizes[channelQuant->channelDim]) {
        MISUSE(ANEURALNETWORKS_BAD_DATA, "%u scales for dimension %u", channelQuant->scaleCount,
               channelQuant->channelDim);
    }
    for (uint32_t i = 0; i < channelQuant->scaleCount; i++) {
        if (!(channelQuant->scales[i] > 0.0f)) {
            MISUSE(ANEURALNETWORKS_BAD_DATA, "scale %u is %g", i, (double)channelQuant->scales[i]);
        }
    }
    of->scales = malloc(channelQuant->scaleCount * sizeof *of->scales);
    if (of->scales == NULL) {
        LEAVE(ANEURALNETWORKS_OUT_OF_MEMORY);
    }
    memcpy(of->scales, channelQuant->scales, channelQuant->scaleCount * sizeof *of->scales);
    of->t.channel_dim = channelQuant->channelDim;
    LEAVE(ANEURALNETWORKS_NO_ERROR);
}
#endif

#if DOUBLE_LEVEL >= 30
int ANeuralNetworksModel_setOperandValueFromModel(ANeuralNetworksModel *model, int32_t index,
                                                  const ANeuralNetworksModel *value)
{
    ENTER;
    operand *of;
    model_body *body;
    TRY(find_operand(model, index, &of));
    TRY(double_find(value, DOUBLE_MODEL, &body));
    if (!body->finished) {
        MISUSE(ANEURALNETWORKS_BAD_STATE, "the value is not finished");
    }
    MISUSE(ANEURALNETWORKS_BAD_DATA, "operand %d is no model; models within models are not known here", index);
}
#endif

int double_check_values(const model_body *model)
{
    for (uint32_t i = 0; i < model->operand_count; i++) {
        const operand *of = &model->operands[i];
        if (of->value != VALUE_REFERENCED && of->value != VALUE_MEMORY) {
            continue;
        }
        if (of->value == VALUE_REFERENCED && !is_mapped(of->data, of->length)) {
            return double_misuse(ANEURALNETWORKS_BAD_DATA, "the %zu bytes that operand %u refers to are gone",
                                 of->length, i);
        }
        if (hash_bytes(of->data, of->length) != of->hash) {
            return double_misuse(ANEURALNETWORKS_BAD_DATA, "the %zu bytes that operand %u refers to were changed",
                                 of->length, i);
        }
    }
    return ANEURALNETWORKS_NO_ERROR;
}
