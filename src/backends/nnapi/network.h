// SPDX-License-Identifier: BSD-2-Clause
// A network as NNAPI has it: operands, some of them with values, and operations between them. It is made of nodes of a
// graph (translate.h), and then compiled for a device (compilation.h) or written into a file as PyTorch's converter
// writes it (serialize.h).
#ifndef TAPER_BACKENDS_NETWORK_H
#define TAPER_BACKENDS_NETWORK_H

#include "backends/nnapi/neural_networks.h"
#include "base/arena.h"
#include "ir/tensor_def.h"

typedef struct taper_network_operand {
    int32_t type; // ANEURALNETWORKS_…
    uint32_t rank;
    uint32_t sizes[TAPER_MAX_RANK]; // in NNAPI's order. 0: not known before the inputs are
    float scale;
    int32_t zero_point;
    const float *scales; // of each channel, along channel_dim; NULL: scale holds for all
    uint32_t channel_dim;
    // A constant's value, one of them; of others both are NULL.
    const void *immediate; // `bytes` bytes, in the network's arena
    taper_tensor *tensor;  // contiguous, as NNAPI wants it; a reference
    size_t bytes;
    uint32_t next; // immediates: 1 + the one before with the same hash; 0: there is none
    bool is_image; // sizes are [N, H, W, C] of what PyTorch has as [N, C, H, W]
} taper_network_operand;

typedef struct taper_network_operation {
    int32_t code; // ANEURALNETWORKS_…
    uint32_t in_count, out_count;
    const uint32_t *in, *out; // operands, in the arena
} taper_network_operation;

typedef struct taper_network {
    taper_arena arena;
    const taper_allocator *allocator;
    taper_network_operand *operands;
    taper_network_operation *operations;
    size_t operand_count, operation_count, operand_capacity, operation_capacity;
    uint32_t immediates[256];   // by hash: 1 + the last operand; 0: there is none
    uint32_t *inputs, *outputs; // operands, in the arena
    bool *output_images; // what is given is [N, H, W, C] of PyTorch's [N, C, H, W]; of inputs the operands say so
    uint32_t input_count, output_count;
} taper_network;

void taper_network_init(taper_network *network, const taper_allocator *allocator);
void taper_network_free(taper_network *network);

TAPER_MUST_USE taper_status taper_network_add_operand(taper_network *network, const taper_network_operand *operand,
                                                      uint32_t *number, taper_error *error);
// A scalar or a vector of int32; the same value is one operand.
TAPER_MUST_USE taper_status taper_network_add_immediate(taper_network *network, int32_t type, uint32_t rank,
                                                        const void *value, size_t bytes, uint32_t *number,
                                                        taper_error *error);
TAPER_MUST_USE taper_status taper_network_add_operation(taper_network *network, int32_t code, const uint32_t *in,
                                                        uint32_t in_count, const uint32_t *out, uint32_t out_count,
                                                        taper_error *error);
// Bytes of an element; 0: no type of tensors that is known here.
size_t taper_network_item(int32_t type);
bool taper_network_is_scalar(int32_t type);

#endif
