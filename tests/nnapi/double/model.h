// SPDX-License-Identifier: BSD-2-Clause
// What is behind the double's handles.
#ifndef TAPER_TESTS_NNAPI_MODEL_H
#define TAPER_TESTS_NNAPI_MODEL_H

#include <pthread.h>

#include "cpu.h"
#include "double.h"

// ---- operations' signatures (signatures.c)

typedef struct signature {
    int32_t code;
    int level, float_level, quant_level, int_level; // of these arguments, and of the first input's type; 0: never
    uint32_t rank;                                  // of the first input, at most
    const char *in, *out;
} signature;

// The signature that an operation's operands fit; NULL: misuse, which was logged. *known: whether the double computes
// the operation at all (an operation it does not know is not checked, and has no signature either).
const signature *double_signature(int32_t code, const tensor *in, uint32_t in_count, const tensor *out,
                                  uint32_t out_count, bool *known);
// Whether an input's data is needed to prepare the operation, not only its sizes.
bool double_is_parameter(const signature *row, uint32_t in_count, uint32_t input);
bool double_may_omit(const signature *row, uint32_t in_count, uint32_t input);
// What quantization an operation's results and biases may have (scales.c): NO_ERROR, or misuse.
int double_check_scales(const signature *row, const tensor *in, uint32_t in_count, const tensor *out,
                        uint32_t out_count);

// ---- memory (memory.c)

typedef struct memory_role {
    uint32_t compilation, index; // the compilation body's id
    bool output;
} memory_role;

typedef struct memory_body {
    double_body head;
    uint8_t *bytes;
    size_t size, mapped; // mapped 0: memory of a descriptor
    bool readable, writable, filled;
    memory_role *roles; // of a descriptor's memory; NULL: any
    uint32_t role_count;
} memory_body;

// Whether a region may be used: of a role only where role is not NULL. *length becomes the memory's own where both
// offset and length are 0 and it is a descriptor's.
int double_check_region(const memory_body *memory, const memory_role *role, size_t offset, size_t *length,
                        int32_t type);

// ---- models

typedef enum value_kind { VALUE_NONE, VALUE_COPIED, VALUE_REFERENCED, VALUE_MEMORY, VALUE_OMITTED } value_kind;

typedef struct operand {
    tensor t; // without data, but its channel scales are the operand's
    value_kind value;
    const void *data;
    void *copy; // owned
    float *scales;
    size_t length;
    uint64_t hash; // of what is referred to, as it was when it was set
    memory_body *memory;
    bool is_input, is_output, is_written;
} operand;

typedef struct operation {
    int32_t code;
    uint32_t *in, *out; // one block
    uint32_t in_count, out_count;
    const signature *row; // NULL: unknown
} operation;

typedef struct model_body {
    double_body head;
    operand *operands;
    operation *operations;
    uint32_t *order; // of the operations: each behind those whose results it takes
    uint32_t operand_count, operation_count, input_count, output_count;
    uint32_t *inputs, *outputs;
    bool identified, finished, invalid;
} model_body;

// The model, if it is there and can be changed.
int double_find_open_model(const ANeuralNetworksModel *model, model_body **body);

// Operand types (types.c). Copies; misuse where the type cannot be.
int double_read_type(const ANeuralNetworksOperandType *type, tensor *t);
// The type given for an input or output of an execution: it may add sizes to the model's, nothing else.
int double_refine_type(const ANeuralNetworksOperandType *type, const tensor *of, tensor *t);

// (shapes.c)
int double_order_operations(model_body *model);
// Prepares every operation whose arguments are known, and holds its results' sizes against the model's.
int double_check_shapes(const model_body *model);
// Whether values that the model refers to are still there and what they were.
int double_check_values(const model_body *model);
tensor double_tensor(const operand *from); // with the data of a constant

// ---- compilations, executions

typedef struct compilation_body {
    double_body head;
    model_body *model;
    uint32_t devices; // bits
    uint32_t device_count;
    bool finished, cached, chosen; // chosen: the caller named devices
} compilation_body;

typedef struct argument {
    tensor t;
    bool set, omitted;
    void *bytes;
    memory_body *memory;
    size_t length;
} argument;

typedef enum execution_state { EXECUTION_OPEN, EXECUTION_RUNNING, EXECUTION_DONE } execution_state;

typedef struct execution_body {
    double_body head;
    compilation_body *compilation;
    argument *inputs, *outputs;
    execution_state state;
    bool reusable, padded, timed;
    int result;
} execution_body;

// Checks what a run needs and makes the state RUNNING.
int double_begin_run(execution_body *execution);
// Leaves the lock, computes, and takes the lock again. The state is DONE then, and the result the execution's.
int double_run(execution_body *execution, const char *function);

#endif
