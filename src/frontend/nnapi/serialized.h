// SPDX-License-Identifier: BSD-2-Clause
// The serialized model that PyTorch's NNAPI converter writes into an int32 tensor, as little-endian 32-bit words:
// 1. version (1), numbers of operands, values, operations, inputs, outputs
// 2. operands: type, number of dimensions, scale (float), zero point
// 3. values: operand, source (0 immediate, 2 numbered buffer), bytes
// 4. operations: code, numbers of inputs and outputs
// 5. the dimensions of every operand (0: known at run time)
// 6. the data of every value, padded to 4 bytes; for a buffer: number, offset, length
// 7. operands of every operation, inputs first
// 8. operands that are the model's inputs, then its outputs
#ifndef TAPER_FRONTEND_NNAPI_SERIALIZED_H
#define TAPER_FRONTEND_NNAPI_SERIALIZED_H

#include "base/arena.h"
#include "base/reader.h"
#include "ir/tensor_def.h"

typedef enum taper_nnapi_type {
    TAPER_NNAPI_FLOAT32 = 0,
    TAPER_NNAPI_INT32 = 1,
    TAPER_NNAPI_UINT32 = 2,
    TAPER_NNAPI_TENSOR_FLOAT32 = 3,
    TAPER_NNAPI_TENSOR_INT32 = 4,
    TAPER_NNAPI_TENSOR_QUANT8_ASYMM = 5,
    TAPER_NNAPI_BOOL = 6,
    TAPER_NNAPI_TENSOR_QUANT16_SYMM = 7,
    TAPER_NNAPI_TENSOR_QUANT16_ASYMM = 12,
    TAPER_NNAPI_TYPES = 13
} taper_nnapi_type;

typedef enum taper_nnapi_source {
    TAPER_NNAPI_NOTHING = -1, // no value in the file: an operation computes it, or it is an input of the model
    TAPER_NNAPI_IMMEDIATE = 0,
    TAPER_NNAPI_BUFFER = 2
} taper_nnapi_source;

typedef struct taper_nnapi_operand {
    uint32_t type;
    uint32_t rank;
    int64_t sizes[TAPER_MAX_RANK];
    float scale;
    int32_t zero_point;
    int source;              // a taper_nnapi_source
    const uint8_t *data;     // data of an IMMEDIATE value, borrowed from the blob
    size_t bytes;            // size of the value in bytes
    uint32_t buffer, offset; // for source BUFFER: number of the buffer, and offset in the buffer in bytes
} taper_nnapi_operand;

typedef struct taper_nnapi_operation {
    uint32_t code;
    uint32_t in_count, out_count;
    const uint32_t *in, *out; // numbers of the operands that are inputs and outputs
} taper_nnapi_operation;

typedef struct taper_nnapi_model {
    taper_nnapi_operand *operands;
    taper_nnapi_operation *operations;
    uint32_t *inputs, *outputs;
    uint32_t operand_count, operation_count, input_count, output_count;
    // Range of words in the serialized model that contains the dimensions of all operands.
    size_t sizes_begin, sizes_end;
} taper_nnapi_model;

// Parses a model and checks all indices and sizes. All memory is allocated from `arena`. The blob must outlive the
// model.
TAPER_MUST_USE taper_status taper_nnapi_parse(taper_arena *arena, const void *blob, size_t size,
                                              taper_nnapi_model *model, taper_error *error);

#endif
