// SPDX-License-Identifier: BSD-2-Clause
// The objects to which the emulation's handles refer.
#ifndef TAPER_TESTS_NNAPI_MODEL_H
#define TAPER_TESTS_NNAPI_MODEL_H

#include <pthread.h>

#include "cpu.h"
#include "double.h"

// ---- signatures of operations (signatures.c)

typedef struct signature {
    int32_t code;
    // First API level with these arguments, and the first level with each type of the first input; 0 if no level has
    // the type.
    int level, float_level, quant_level, int_level;
    uint32_t rank; // largest allowed rank of the first input
    const char *in, *out;
} signature;

// Returns the signature that matches the operands of an operation, or NULL after logging a misuse. *known is false if
// the emulation does not compute the operation. Such an operation is not checked and has no signature.
const signature *double_signature(int32_t code, const tensor *in, uint32_t in_count, const tensor *out,
                                  uint32_t out_count, bool *known);
// Returns true if preparing the operation needs the data of this input and not only its sizes.
bool double_is_parameter(const signature *row, uint32_t in_count, uint32_t input);
bool double_may_omit(const signature *row, uint32_t in_count, uint32_t input);
// Checks the quantization of an operation's results and biases (scales.c). Returns NO_ERROR, or logs a misuse.
int double_check_scales(const signature *row, const tensor *in, uint32_t in_count, const tensor *out,
                        uint32_t out_count);

// ---- memory (memory.c)

typedef struct memory_role {
    uint32_t compilation, index; // id of the compilation, and index of its input or output
    bool output;
} memory_role;

typedef struct memory_body {
    double_body head;
    uint8_t *bytes;
    size_t size, mapped; // size of the memory, and of its mapping; mapped is 0 for memory of a descriptor
    bool readable, writable, filled;
    memory_role *roles; // roles for which a descriptor's memory may be used; NULL for any role
    uint32_t role_count;
} memory_body;

// Checks that a region of the memory may be used for the role; role may be NULL. If offset and length are both 0 and
// the memory was made from a descriptor, sets *length to the size of the memory.
int double_check_region(const memory_body *memory, const memory_role *role, size_t offset, size_t *length,
                        int32_t type);

// ---- models

typedef enum value_kind { VALUE_NONE, VALUE_COPIED, VALUE_REFERENCED, VALUE_MEMORY, VALUE_OMITTED } value_kind;

typedef struct operand {
    tensor t; // type and sizes, without data; the operand owns its channel scales
    value_kind value;
    const void *data;
    void *copy; // copy of the value, which the operand owns
    float *scales;
    size_t length;
    uint64_t hash; // hash of a referenced value at the time when it was set
    memory_body *memory;
    bool is_input, is_output, is_written;
} operand;

typedef struct operation {
    int32_t code;
    uint32_t *in, *out; // numbers of the operands, in one block of memory
    uint32_t in_count, out_count;
    const signature *row; // signature; NULL if the operation is unknown
} operation;

typedef struct model_body {
    double_body head;
    operand *operands;
    operation *operations;
    uint32_t *order; // operations in an order in which each comes after the operations whose results it takes
    uint32_t operand_count, operation_count, input_count, output_count;
    uint32_t *inputs, *outputs;
    bool identified, finished, invalid;
} model_body;

// Finds a model that exists and is not finished. Otherwise logs a misuse.
int double_find_open_model(const ANeuralNetworksModel *model, model_body **body);

// Copies an operand type (types.c). An invalid type is a misuse.
int double_read_type(const ANeuralNetworksOperandType *type, tensor *t);
// Reads the type that a caller gives for an input or output of an execution. This type may only add sizes that the
// model's type leaves open.
int double_refine_type(const ANeuralNetworksOperandType *type, const tensor *of, tensor *t);

// Sorts the operations into an order in which they can run (shapes.c).
int double_order_operations(model_body *model);
// Prepares each operation whose arguments are known, and compares the sizes of its results with the sizes in the model.
int double_check_shapes(const model_body *model);
// Checks that the values to which the model refers still exist and have not changed.
int double_check_values(const model_body *model);
tensor double_tensor(const operand *from); // returns the tensor of an operand, with the data of a constant

// ---- compilations, executions

typedef struct compilation_body {
    double_body head;
    model_body *model;
    uint32_t devices; // bits of the devices for which it is compiled
    uint32_t device_count;
    bool finished, cached, chosen; // chosen: true if the caller chose the devices
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

// Checks that the execution may run, and sets its state to RUNNING.
int double_begin_run(execution_body *execution);
// Releases the lock, computes, and takes the lock again. Sets the state to DONE and stores the result in the execution.
int double_run(execution_body *execution, const char *function);

#endif
