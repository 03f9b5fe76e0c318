// SPDX-License-Identifier: BSD-2-Clause
// Reads a serialized NNAPI model. serialized.h describes the layout.
#include "frontend/nnapi/serialized.h"

typedef struct counts {
    uint32_t version, operands, values, operations, inputs, outputs;
} counts;

static taper_status read_words(taper_reader *reader, uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TAPER_TRY(taper_read_u32(reader, &words[i]));
    }
    return TAPER_OK;
}

// Allocates an array of `count` items. Fails if the rest of the blob cannot contain that many items of least_bytes
// bytes each.
static taper_status room_for(taper_arena *arena, const taper_reader *reader, uint32_t count, size_t least_bytes,
                             size_t item_size, void **room)
{
    if (count > taper_reader_left(reader) / least_bytes) {
        TAPER_FAIL(reader->error, TAPER_ERROR_FILE, "%s: a count of %u does not fit into the %zu bytes that are left",
                   reader->what, count, taper_reader_left(reader));
    }
    *room = taper_arena_array(arena, count, item_size);
    return *room == NULL ? taper_fail_memory(reader->error) : TAPER_OK;
}

static taper_status read_operands(taper_arena *arena, taper_reader *reader, uint32_t count, taper_nnapi_model *model)
{
    void *room;
    TAPER_TRY(room_for(arena, reader, count, 16, sizeof *model->operands, &room));
    model->operands = room;
    model->operand_count = count;
    for (uint32_t i = 0; i < count; i++) {
        taper_nnapi_operand *operand = &model->operands[i];
        uint32_t words[4];
        TAPER_TRY(read_words(reader, words, 4));
        operand->type = words[0];
        operand->rank = words[1];
        memcpy(&operand->scale, &words[2], sizeof operand->scale);
        memcpy(&operand->zero_point, &words[3], sizeof operand->zero_point);
        operand->source = TAPER_NNAPI_NOTHING;
        if (operand->type >= TAPER_NNAPI_TYPES || operand->rank > TAPER_MAX_RANK) {
            TAPER_FAIL(reader->error, TAPER_ERROR_FILE,
                       "%s: operand %u has type %u and %u dimensions, which is not possible", reader->what, i,
                       operand->type, operand->rank);
        }
    }
    return TAPER_OK;
}

// Reads the headers of the values. Their data comes later in the blob. (*which)[i]: number of the operand that has
// value i.
static taper_status read_values(taper_arena *arena, taper_reader *reader, uint32_t count, taper_nnapi_model *model,
                                uint32_t **which)
{
    void *room;
    TAPER_TRY(room_for(arena, reader, count, 12, sizeof **which, &room));
    *which = room;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t words[3];
        TAPER_TRY(read_words(reader, words, 3));
        if (words[0] >= model->operand_count || model->operands[words[0]].source != TAPER_NNAPI_NOTHING) {
            TAPER_FAIL(reader->error, TAPER_ERROR_FILE,
                       "%s: value %u is for operand %u, which does not exist or has one", reader->what, i, words[0]);
        }
        if (words[1] != TAPER_NNAPI_IMMEDIATE && words[1] != TAPER_NNAPI_BUFFER) {
            TAPER_FAIL(reader->error, TAPER_ERROR_UNSUPPORTED,
                       "%s: value %u has source %u, only immediates and buffers are supported", reader->what, i,
                       words[1]);
        }
        (*which)[i] = words[0];
        model->operands[words[0]].source = (int)words[1];
        model->operands[words[0]].bytes = words[2];
    }
    return TAPER_OK;
}

static taper_status read_operations(taper_arena *arena, taper_reader *reader, uint32_t count, taper_nnapi_model *model)
{
    void *room;
    TAPER_TRY(room_for(arena, reader, count, 12, sizeof *model->operations, &room));
    model->operations = room;
    model->operation_count = count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t words[3];
        TAPER_TRY(read_words(reader, words, 3));
        model->operations[i].code = words[0];
        model->operations[i].in_count = words[1];
        model->operations[i].out_count = words[2];
    }
    return TAPER_OK;
}

static taper_status read_dimensions(taper_reader *reader, taper_nnapi_model *model)
{
    for (uint32_t i = 0; i < model->operand_count; i++) {
        for (uint32_t d = 0; d < model->operands[i].rank; d++) {
            uint32_t size;
            TAPER_TRY(taper_read_u32(reader, &size));
            model->operands[i].sizes[d] = (int64_t)size;
        }
    }
    return TAPER_OK;
}

static taper_status read_value_data(taper_reader *reader, uint32_t count, const uint32_t *which,
                                    taper_nnapi_model *model)
{
    for (uint32_t i = 0; i < count; i++) {
        taper_nnapi_operand *operand = &model->operands[which[i]];
        const uint8_t *data;
        TAPER_TRY(taper_read_bytes(reader, operand->bytes, &data));
        const size_t padding = (4 - operand->bytes % 4) % 4;
        const uint8_t *skipped;
        TAPER_TRY(taper_read_bytes(reader, padding, &skipped));
        if (operand->source == TAPER_NNAPI_IMMEDIATE) {
            operand->data = data;
            continue;
        }
        if (operand->bytes != 12) {
            TAPER_FAIL(reader->error, TAPER_ERROR_FILE,
                       "%s: the reference to a buffer takes 12 bytes, value %u has %zu", reader->what, i,
                       operand->bytes);
        }
        operand->buffer = taper_load_u32(data);
        operand->offset = taper_load_u32(data + 4);
        operand->bytes = taper_load_u32(data + 8);
    }
    return TAPER_OK;
}

static taper_status read_operand_list(taper_arena *arena, taper_reader *reader, uint32_t count,
                                      const taper_nnapi_model *model, uint32_t **list)
{
    void *room;
    TAPER_TRY(room_for(arena, reader, count, 4, sizeof **list, &room));
    *list = room;
    TAPER_TRY(read_words(reader, *list, count));
    for (uint32_t i = 0; i < count; i++) {
        if ((*list)[i] >= model->operand_count) {
            TAPER_FAIL(reader->error, TAPER_ERROR_FILE, "%s: there is no operand %u", reader->what, (*list)[i]);
        }
    }
    return TAPER_OK;
}

taper_status taper_nnapi_parse(taper_arena *arena, const void *blob, size_t size, taper_nnapi_model *model,
                               taper_error *error)
{
    taper_reader reader = taper_reader_make(blob, size, 0, "the serialized NNAPI model", error);
    uint32_t head[6], *which = NULL;
    memset(model, 0, sizeof *model);
    TAPER_TRY(read_words(&reader, head, 6));
    const counts n = {head[0], head[1], head[2], head[3], head[4], head[5]};
    if (n.version != 1) {
        TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "the serialized NNAPI model has version %u, only 1 is known",
                   n.version);
    }
    TAPER_TRY(read_operands(arena, &reader, n.operands, model));
    TAPER_TRY(read_values(arena, &reader, n.values, model, &which));
    TAPER_TRY(read_operations(arena, &reader, n.operations, model));
    model->sizes_begin = (size - taper_reader_left(&reader)) / 4;
    TAPER_TRY(read_dimensions(&reader, model));
    model->sizes_end = (size - taper_reader_left(&reader)) / 4;
    TAPER_TRY(read_value_data(&reader, n.values, which, model));
    for (uint32_t i = 0; i < n.operations; i++) {
        uint32_t *in = NULL, *out = NULL;
        TAPER_TRY(read_operand_list(arena, &reader, model->operations[i].in_count, model, &in));
        TAPER_TRY(read_operand_list(arena, &reader, model->operations[i].out_count, model, &out));
        model->operations[i].in = in;
        model->operations[i].out = out;
    }
    TAPER_TRY(read_operand_list(arena, &reader, n.inputs, model, &model->inputs));
    TAPER_TRY(read_operand_list(arena, &reader, n.outputs, model, &model->outputs));
    model->input_count = n.inputs;
    model->output_count = n.outputs;
    if (taper_reader_left(&reader) != 0) {
        TAPER_FAIL(error, TAPER_ERROR_FILE, "the serialized NNAPI model has %zu bytes more than it should",
                   taper_reader_left(&reader));
    }
    return TAPER_OK;
}
