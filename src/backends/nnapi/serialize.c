// SPDX-License-Identifier: BSD-2-Clause
// Writes networks in the format of PyTorch's converter.
#include "backends/nnapi/serialize.h"

#include "ir/tensor.h"

#include <string.h>

enum { VERSION = 1, IMMEDIATE = 0, NUMBERED_BUFFER = 2, WORD = 4 };

typedef struct writer {
    int32_t *words; // destination; NULL while words are only counted
    size_t count;
} writer;

static void put(writer *w, int64_t word)
{
    if (w->words != NULL) {
        const uint32_t value = (uint32_t)word;
        uint8_t bytes[WORD] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
        memcpy(&w->words[w->count], bytes, WORD);
    }
    w->count++;
}

static void put_single(writer *w, float single)
{
    uint32_t word;
    memcpy(&word, &single, sizeof word);
    put(w, word);
}

// Writes a value in little-endian words. Bytes are padded to a word with zeros.
static void put_immediate(writer *w, const taper_network_operand *o)
{
    const uint8_t *bytes = o->immediate;
    for (size_t i = 0; i < o->bytes; i += WORD) {
        uint32_t word = 0;
        if (taper_network_item(o->type) == WORD) {
            memcpy(&word, bytes + i, WORD);
        } else {
            for (size_t b = 0; b < WORD && i + b < o->bytes; b++) {
                word |= (uint32_t)bytes[i + b] << (8 * b);
            }
        }
        put(w, word);
    }
}

static bool is_constant(const taper_network_operand *o)
{
    return o->immediate != NULL || o->tensor != NULL;
}

static void put_values(writer *w, const taper_network *network)
{
    for (size_t i = 0; i < network->operand_count; i++) {
        const taper_network_operand *o = &network->operands[i];
        if (is_constant(o)) {
            put(w, (int64_t)i);
            put(w, o->tensor != NULL ? NUMBERED_BUFFER : IMMEDIATE);
            put(w, o->tensor != NULL ? 3 * WORD : (int64_t)o->bytes);
        }
    }
}

static void put_data(writer *w, const taper_network *network)
{
    int64_t buffer = 0;
    for (size_t i = 0; i < network->operand_count; i++) {
        const taper_network_operand *o = &network->operands[i];
        if (o->tensor != NULL) {
            put(w, buffer++);
            put(w, 0);
            put(w, (int64_t)o->bytes);
        } else if (o->immediate != NULL) {
            put_immediate(w, o);
        }
    }
}

static size_t count_values(const taper_network *network)
{
    size_t values = 0;
    for (size_t i = 0; i < network->operand_count; i++) {
        values += is_constant(&network->operands[i]);
    }
    return values;
}

size_t taper_network_sizes_word(const taper_network *network)
{
    return 6 + 4 * network->operand_count + 3 * count_values(network) + 3 * network->operation_count;
}

static void put_network(writer *w, const taper_network *network)
{
    const size_t values = count_values(network);
    const size_t counts[] = {
        VERSION, network->operand_count, values, network->operation_count, network->input_count, network->output_count};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        put(w, (int64_t)counts[i]);
    }
    for (size_t i = 0; i < network->operand_count; i++) {
        const taper_network_operand *o = &network->operands[i];
        put(w, o->type);
        put(w, o->rank);
        put_single(w, o->scale);
        put(w, o->zero_point);
    }
    put_values(w, network);
    for (size_t i = 0; i < network->operation_count; i++) {
        put(w, network->operations[i].code);
        put(w, network->operations[i].in_count);
        put(w, network->operations[i].out_count);
    }
    for (size_t i = 0; i < network->operand_count; i++) {
        for (uint32_t d = 0; d < network->operands[i].rank; d++) {
            put(w, network->operands[i].sizes[d]);
        }
    }
    put_data(w, network);
    for (size_t i = 0; i < network->operation_count; i++) {
        const taper_network_operation *op = &network->operations[i];
        for (uint32_t a = 0; a < op->in_count; a++) {
            put(w, op->in[a]);
        }
        for (uint32_t a = 0; a < op->out_count; a++) {
            put(w, op->out[a]);
        }
    }
    for (uint32_t i = 0; i < network->input_count; i++) {
        put(w, network->inputs[i]);
    }
    for (uint32_t i = 0; i < network->output_count; i++) {
        put(w, network->outputs[i]);
    }
}

static taper_status list_buffers(const taper_network *network, taper_heap *heap, taper_list **buffers,
                                 taper_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < network->operand_count; i++) {
        count += network->operands[i].tensor != NULL;
    }
    taper_list *list = taper_list_new(heap, &taper_type_tensor, count);
    if (list == NULL) {
        return taper_fail_memory(error);
    }
    for (size_t i = 0; i < network->operand_count; i++) {
        if (network->operands[i].tensor != NULL) {
            list->items[list->count++] = taper_val_retain(TAPER_VAL(network->operands[i].tensor));
        }
    }
    *buffers = list;
    return TAPER_OK;
}

taper_status taper_network_serialize(const taper_network *network, taper_heap *heap, taper_tensor **blob,
                                     taper_list **buffers, taper_error *error)
{
    writer w = {.words = NULL};
    for (size_t i = 0; i < network->operand_count; i++) {
        if (network->operands[i].scales != NULL) {
            TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "PyTorch's format has no scales of channels");
        }
        if (network->operands[i].bytes > INT32_MAX) {
            TAPER_FAIL(error, TAPER_ERROR_UNSUPPORTED, "PyTorch's format has no weights of more than 2 GB");
        }
    }
    put_network(&w, network);
    const int64_t size = (int64_t)w.count;
    TAPER_TRY(taper_tensor_new(heap, TAPER_I32, 1, &size, NULL, blob, error));
    w = (writer){.words = taper_tensor_mutable(*blob)};
    put_network(&w, network);
    const taper_status status = list_buffers(network, heap, buffers, error);
    if (status != TAPER_OK) {
        taper_obj_release(&(*blob)->head);
    }
    return status;
}
