// SPDX-License-Identifier: BSD-2-Clause
// Builds networks: operands, values, operations.
#include "backends/nnapi/network.h"

#include <string.h>

void taper_network_init(taper_network *network, const taper_allocator *allocator)
{
    *network = (taper_network){.allocator = allocator};
    taper_arena_init(&network->arena, allocator);
}

void taper_network_free(taper_network *network)
{
    for (size_t i = 0; i < network->operand_count; i++) {
        if (network->operands[i].tensor != NULL) {
            taper_obj_release(&network->operands[i].tensor->head);
        }
    }
    taper_free(network->allocator, network->operands, network->operand_capacity * sizeof *network->operands);
    taper_free(network->allocator, network->operations, network->operation_capacity * sizeof *network->operations);
    taper_arena_free(&network->arena);
    *network = (taper_network){.allocator = network->allocator};
}

taper_status taper_network_add_operand(taper_network *network, const taper_network_operand *operand, uint32_t *number,
                                       taper_error *error)
{
    if (network->operand_count >= INT32_MAX / 64) {
        TAPER_FAIL(error, TAPER_ERROR_RESOURCE, "a network of more than %d operands", INT32_MAX / 64);
    }
    TAPER_TRY(TAPER_GROW(network->allocator, network->operands, network->operand_capacity, network->operand_count + 1,
                         error));
    *number = (uint32_t)network->operand_count;
    network->operands[network->operand_count++] = *operand;
    return TAPER_OK;
}

static uint8_t hash(const void *value, size_t bytes)
{
    uint32_t sum = 2166136261U;
    for (size_t i = 0; i < bytes; i++) {
        sum = (sum ^ ((const uint8_t *)value)[i]) * 16777619U;
    }
    return (uint8_t)(sum ^ sum >> 8 ^ sum >> 16 ^ sum >> 24);
}

taper_status taper_network_add_immediate(taper_network *network, int32_t type, uint32_t rank, const void *value,
                                         size_t bytes, uint32_t *number, taper_error *error)
{
    uint32_t *const last = &network->immediates[hash(value, bytes)];
    for (uint32_t at = *last; at != 0; at = network->operands[at - 1].next) {
        const taper_network_operand *o = &network->operands[at - 1];
        if (o->type == type && o->rank == rank && o->bytes == bytes && memcmp(o->immediate, value, bytes) == 0) {
            *number = at - 1;
            return TAPER_OK;
        }
    }
    void *copy = taper_arena_alloc(&network->arena, bytes);
    if (copy == NULL) {
        return taper_fail_memory(error);
    }
    memcpy(copy, value, bytes);
    taper_network_operand o = {.type = type, .rank = rank, .immediate = copy, .bytes = bytes, .next = *last};
    if (rank == 1) {
        o.sizes[0] = (uint32_t)(bytes / sizeof(int32_t));
    }
    TAPER_TRY(taper_network_add_operand(network, &o, number, error));
    *last = *number + 1;
    return TAPER_OK;
}

taper_status taper_network_add_operation(taper_network *network, int32_t code, const uint32_t *in, uint32_t in_count,
                                         const uint32_t *out, uint32_t out_count, taper_error *error)
{
    TAPER_TRY(TAPER_GROW(network->allocator, network->operations, network->operation_capacity,
                         network->operation_count + 1, error));
    uint32_t *copy = taper_arena_array(&network->arena, (size_t)in_count + out_count, sizeof *copy);
    if (copy == NULL) {
        return taper_fail_memory(error);
    }
    memcpy(copy, in, in_count * sizeof *in);
    memcpy(copy + in_count, out, out_count * sizeof *out);
    network->operations[network->operation_count++] = (taper_network_operation){
        .code = code, .in_count = in_count, .out_count = out_count, .in = copy, .out = copy + in_count};
    return TAPER_OK;
}

bool taper_network_is_scalar(int32_t type)
{
    return type == ANEURALNETWORKS_FLOAT32 || type == ANEURALNETWORKS_INT32 || type == ANEURALNETWORKS_UINT32 ||
           type == ANEURALNETWORKS_BOOL || type == ANEURALNETWORKS_FLOAT16;
}

size_t taper_network_item(int32_t type)
{
    switch (type) {
    case ANEURALNETWORKS_FLOAT32:
    case ANEURALNETWORKS_INT32:
    case ANEURALNETWORKS_UINT32:
    case ANEURALNETWORKS_TENSOR_FLOAT32:
    case ANEURALNETWORKS_TENSOR_INT32:
        return 4;
    case ANEURALNETWORKS_TENSOR_QUANT16_SYMM:
    case ANEURALNETWORKS_TENSOR_QUANT16_ASYMM:
    case ANEURALNETWORKS_TENSOR_FLOAT16:
    case ANEURALNETWORKS_FLOAT16:
        return 2;
    case ANEURALNETWORKS_BOOL:
    case ANEURALNETWORKS_TENSOR_BOOL8:
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL:
        return 1;
    default:
        return 0;
    }
}
