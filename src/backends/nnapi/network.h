// SPDX-License-Identifier: BSD-2-Clause
// A network of NNAPI: operands, some of which have values, and operations between them. It is made from nodes of a
// graph (translate.h). Then it is compiled for a device (compilation.h), or written to a file in the format of
// PyTorch's converter (serialize.h).
#ifndef TAPER_BACKENDS_NETWORK_H
#define TAPER_BACKENDS_NETWORK_H

#include "backends/nnapi/neural_networks.h"
#include "base/arena.h"
#include "ir/tensor_def.h"

typedef struct taper_network_operand {
    int32_t type; // type of the operand, a code ANEURALNETWORKS_…
    uint32_t rank;
    uint32_t sizes[TAPER_MAX_RANK]; // sizes in NNAPI's order; 0 until the inputs are known
    float scale;
    int32_t zero_point;
    const float *scales; // scales along channel_dim, or NULL if `scale` applies to all elements
    uint32_t channel_dim;
    // The value of a constant: either immediate or tensor is set. For other operands both are NULL.
    const void *immediate; // `bytes` bytes, allocated in the network's arena
    taper_tensor *tensor;  // tensor that is contiguous in NNAPI's order; owned reference
    size_t bytes;
    uint32_t next; // 1 + the number of the previous immediate operand with the same hash, or 0 if there is none
    bool is_image; // true if sizes are [N, H, W, C] of a tensor that is [N, C, H, W] in PyTorch
} taper_network_operand;

typedef struct taper_network_operation {
    int32_t code; // operation, a code ANEURALNETWORKS_…
    uint32_t in_count, out_count;
    // Numbers of the operands that the operation reads (in) and writes (out), allocated in the arena.
    const uint32_t *in, *out;
} taper_network_operation;

typedef struct taper_network {
    taper_arena arena;
    const taper_allocator *allocator;
    taper_network_operand *operands;
    taper_network_operation *operations;
    size_t operand_count, operation_count, operand_capacity, operation_capacity;
    // For each hash, 1 + the number of the last immediate operand with this hash, or 0 if there is none.
    uint32_t immediates[256];
    uint32_t *inputs, *outputs; // numbers of the operands that are inputs and outputs, allocated in the arena
    // True for each output whose sizes in the network are [N, H, W, C], while PyTorch's are [N, C, H, W]. For inputs,
    // is_image of the operands says this.
    bool *output_images;
    uint32_t input_count, output_count;
} taper_network;

void taper_network_init(taper_network *network, const taper_allocator *allocator);
void taper_network_free(taper_network *network);

TAPER_MUST_USE taper_status taper_network_add_operand(taper_network *network, const taper_network_operand *operand,
                                                      uint32_t *number, taper_error *error);
// Adds a scalar, or a vector of int32. Equal values share an operand.
TAPER_MUST_USE taper_status taper_network_add_immediate(taper_network *network, int32_t type, uint32_t rank,
                                                        const void *value, size_t bytes, uint32_t *number,
                                                        taper_error *error);
TAPER_MUST_USE taper_status taper_network_add_operation(taper_network *network, int32_t code, const uint32_t *in,
                                                        uint32_t in_count, const uint32_t *out, uint32_t out_count,
                                                        taper_error *error);
// Returns the number of bytes of an element, or 0 for an unsupported type.
size_t taper_network_item(int32_t type);
bool taper_network_is_scalar(int32_t type);

#endif
