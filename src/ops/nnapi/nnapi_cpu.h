// SPDX-License-Identifier: BSD-2-Clause
// Runs serialized NNAPI models on the CPU. All arithmetic is in float: quantized operands are read as the numbers that
// they stand for, and results are rounded to the numbers that their quantization can hold.
#ifndef TAPER_OPS_NNAPI_CPU_H
#define TAPER_OPS_NNAPI_CPU_H

#include "ops/call/call.h"
#include "ops/nnapi/nnapi_blob.h"

typedef struct taper_nnapi_run {
    taper_run *run;
    const taper_nnapi_model *model;
    const taper_val *buffers; // tensors
    size_t buffer_count;
    taper_tensor **values; // float32, by operand; owned
} taper_nnapi_run;

// inputs and outputs are lists of tensors; outputs are resized and filled.
TAPER_MUST_USE taper_status taper_nnapi_execute(taper_run *run, const taper_nnapi_model *model,
                                                const taper_list *buffers, const taper_list *inputs,
                                                const taper_list *outputs);

// ---- for the operations (nnapi_cpu_ops.c)
// An operand's numbers, contiguous float32; borrowed.
TAPER_MUST_USE taper_status taper_nnapi_real(taper_nnapi_run *state, uint32_t operand, taper_tensor **tensor);
// A constant's ints, at most limit.
TAPER_MUST_USE taper_status taper_nnapi_ints(taper_nnapi_run *state, uint32_t operand, size_t limit, int64_t *numbers,
                                             size_t *count);
TAPER_MUST_USE taper_status taper_nnapi_number(taper_nnapi_run *state, uint32_t operand,
                                               double *number); // a constant scalar
// Gives the result's reference over.
TAPER_MUST_USE taper_status taper_nnapi_put(taper_nnapi_run *state, uint32_t operand, taper_tensor *tensor);

TAPER_MUST_USE taper_status taper_nnapi_operate(taper_nnapi_run *state, const taper_nnapi_operation *operation);

#endif
