// SPDX-License-Identifier: BSD-2-Clause
// Loads the emulation of one API level in the way programs load Android's library, and makes small models for its
// tests.
#ifndef TAPER_TESTS_NNAPI_FIXTURE_H
#define TAPER_TESTS_NNAPI_FIXTURE_H

#include "backends/nnapi/neural_networks.h"

typedef struct nnapi {
    void *library;
    int level, wrongs; // API level, and number of misuses that the test has provoked so far
#define NNAPI_MEMBER(since, result, name, arguments) ANeuralNetworks##name##_fn name;
    NEURAL_NETWORKS_FUNCTIONS(NNAPI_MEMBER)
#undef NNAPI_MEMBER
} nnapi;

// Loads the emulation with an empty log. switches: value of TAPER_NNAPI_DOUBLE, or NULL.
void nnapi_open(nnapi *n, int level, const char *switches);
void nnapi_switch(const char *switches);
void nnapi_unload(nnapi *n);
void nnapi_close(nnapi *n);       // unloads the library; the log must be empty, also after unloading
void nnapi_close_leaky(nnapi *n); // unloads the library, which must log leaked objects
char *nnapi_log(void);            // returns what was logged since the last call; the caller frees it

// Checks that a call has returned `wanted` and logged one line that contains `needle`.
void nnapi_wrong(nnapi *n, int code, int wanted, const char *needle, const char *file, int line);
#define WRONG(wanted, needle, call) nnapi_wrong(n, call, ANEURALNETWORKS_##wanted, needle, __FILE__, __LINE__)
// Checks a call without a result that must log one line that contains `needle`.
#define WRONG_VOID(needle, call) ((call), nnapi_wrong(n, 0, 0, needle, __FILE__, __LINE__))
#define OK(call) assert_int_equal(call, ANEURALNETWORKS_NO_ERROR)

// ---- building a model

typedef struct builder {
    nnapi *n;
    ANeuralNetworksModel *model;
    uint32_t operands;
    uint32_t inputs[8], outputs[8], input_count, output_count;
} builder;

builder build(nnapi *n);
// These functions add an operand and return its index. The list of dimensions ends with -1.
uint32_t add_operand(builder *b, int32_t type, float scale, int32_t zero_point, const int32_t *sizes);
#define SIZES(...) ((const int32_t[]){__VA_ARGS__, -1})
#define SCALAR ((const int32_t[]){-1})
uint32_t add_input(builder *b, int32_t type, float scale, int32_t zero_point, const int32_t *sizes);
uint32_t add_result(builder *b, int32_t type, float scale, int32_t zero_point, const int32_t *sizes);
uint32_t add_constant(builder *b, int32_t type, float scale, int32_t zero_point, const int32_t *sizes, const void *data,
                      size_t length);
uint32_t add_int(builder *b, int32_t value);
uint32_t add_float(builder *b, float value);
uint32_t add_bool(builder *b, bool value);
uint32_t add_ints(builder *b, int32_t count, const int32_t *values);
void add_operation(builder *b, int32_t code, uint32_t count, const uint32_t *inputs, uint32_t output);
#define OPERATION(b, code, output, ...)                                                                                \
    add_operation(b, ANEURALNETWORKS_##code, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t),                     \
                  (const uint32_t[]){__VA_ARGS__}, output)
void identify(builder *b); // sets the inputs and outputs of the model

// A finished model with its compilation.
typedef struct compiled {
    ANeuralNetworksModel *model;
    ANeuralNetworksCompilation *compilation;
} compiled;
compiled compile(builder *b);
void free_compiled(nnapi *n, compiled *c);
// Compiles x + y for floats of sizes [2, 3], or with an unknown first dimension.
compiled compile_add(nnapi *n, int32_t first);
// Runs an execution with the function that the API level has for it, and returns its code.
int run_execution(nnapi *n, ANeuralNetworksExecution *execution);
// Runs a compiled model with one input and one output.
int run_once(nnapi *n, const compiled *c, const void *input, size_t input_size, void *output, size_t output_size);

// ---- the tests of double_misuse.c
void misuse_models(nnapi *n);
void misuse_operations(nnapi *n);
void misuse_compilations(nnapi *n);
void misuse_executions(nnapi *n);
void misuse_memory(nnapi *n);
void misuse_devices(nnapi *n);
void misuse_lifetimes(nnapi *n);

// ---- the tests of double_results.c
void results_float(nnapi *n);
void results_quantized(nnapi *n);
void results_integers(nnapi *n); // defined in double_results_quantized.c
void results_operations(nnapi *n);
void results_sizes(nnapi *n);
void results_memory(nnapi *n);

#endif
