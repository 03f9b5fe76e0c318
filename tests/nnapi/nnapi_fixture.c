// SPDX-License-Identifier: BSD-2-Clause
// Implements nnapi_fixture.h.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nnapi_fixture.h"

static char log_path[64];

void nnapi_switch(const char *switches)
{
    if (switches == NULL) {
        unsetenv("TAPER_NNAPI_DOUBLE");
    } else {
        setenv("TAPER_NNAPI_DOUBLE", switches, 1);
    }
}

void nnapi_open(nnapi *n, int level, const char *switches)
{
    char path[512];
    memset(n, 0, sizeof *n);
    n->level = level;
    snprintf(log_path, sizeof log_path, "/tmp/taper_nnapi_double.%ld", (long)getpid());
    unlink(log_path);
    setenv("TAPER_NNAPI_DOUBLE_LOG", log_path, 1);
    nnapi_switch(switches);
    snprintf(path, sizeof path, "%s/%d/libneuralnetworks.so", NNAPI_DOUBLES, level);
    n->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (n->library == NULL) {
        fail_msg("%s", dlerror());
    }
#define NNAPI_LOAD(since, result, name, arguments) *(void **)&n->name = dlsym(n->library, "ANeuralNetworks" #name);
    NEURAL_NETWORKS_FUNCTIONS(NNAPI_LOAD)
#undef NNAPI_LOAD
}

char *nnapi_log(void)
{
    char *text = calloc(1, 65536);
    FILE *file = fopen(log_path, "r");
    assert_non_null(text);
    if (file != NULL) {
        assert_true(fread(text, 1, 65535, file) < 65535);
        fclose(file);
        unlink(log_path);
    }
    return text;
}

void nnapi_unload(nnapi *n)
{
    assert_int_equal(dlclose(n->library), 0);
    n->library = NULL;
}

void nnapi_close(nnapi *n)
{
    nnapi_unload(n);
    char *text = nnapi_log();
    if (text[0] != '\0') {
        fail_msg("level %d: %s", n->level, text);
    }
    free(text);
}

void nnapi_close_leaky(nnapi *n)
{
    nnapi_unload(n);
    nnapi_wrong(n, 0, 0, "unload: ", __FILE__, __LINE__);
}

void nnapi_wrong(nnapi *n, int code, int wanted, const char *needle, const char *file, int line)
{
    char *text = nnapi_log();
    const char *end = strchr(text, '\n');
    if (code != wanted || end == NULL || end[1] != '\0' || strstr(text, needle) == NULL) {
        fail_msg("%s:%d: level %d: %d, not %d; '%s' of: %s", file, line, n->level, code, wanted, needle, text);
    }
    free(text);
    n->wrongs++;
}

// ---- building models

builder build(nnapi *n)
{
    builder b = {.n = n};
    OK(n->Model_create(&b.model));
    return b;
}

uint32_t add_operand(builder *b, int32_t type, float scale, int32_t zero_point, const int32_t *sizes)
{
    uint32_t dimensions[8], rank = 0;
    for (; sizes[rank] >= 0; rank++) {
        dimensions[rank] = (uint32_t)sizes[rank];
    }
    const ANeuralNetworksOperandType of = {type, rank, rank > 0 ? dimensions : NULL, scale, zero_point};
    OK(b->n->Model_addOperand(b->model, &of));
    return b->operands++;
}

uint32_t add_input(builder *b, int32_t type, float scale, int32_t zero_point, const int32_t *sizes)
{
    return b->inputs[b->input_count++] = add_operand(b, type, scale, zero_point, sizes);
}

uint32_t add_result(builder *b, int32_t type, float scale, int32_t zero_point, const int32_t *sizes)
{
    return b->outputs[b->output_count++] = add_operand(b, type, scale, zero_point, sizes);
}

uint32_t add_constant(builder *b, int32_t type, float scale, int32_t zero_point, const int32_t *sizes, const void *data,
                      size_t length)
{
    const uint32_t made = add_operand(b, type, scale, zero_point, sizes);
    OK(b->n->Model_setOperandValue(b->model, (int32_t)made, data, length));
    return made;
}

uint32_t add_int(builder *b, int32_t value)
{
    return add_constant(b, ANEURALNETWORKS_INT32, 0.0f, 0, SCALAR, &value, sizeof value);
}

uint32_t add_float(builder *b, float value)
{
    return add_constant(b, ANEURALNETWORKS_FLOAT32, 0.0f, 0, SCALAR, &value, sizeof value);
}

uint32_t add_bool(builder *b, bool value)
{
    const uint8_t byte = value;
    return add_constant(b, ANEURALNETWORKS_BOOL, 0.0f, 0, SCALAR, &byte, sizeof byte);
}

uint32_t add_ints(builder *b, int32_t count, const int32_t *values)
{
    return add_constant(b, ANEURALNETWORKS_TENSOR_INT32, 0.0f, 0, SIZES(count), values, (size_t)count * sizeof *values);
}

void add_operation(builder *b, int32_t code, uint32_t count, const uint32_t *inputs, uint32_t output)
{
    OK(b->n->Model_addOperation(b->model, code, count, inputs, 1, &output));
}

void identify(builder *b)
{
    OK(b->n->Model_identifyInputsAndOutputs(b->model, b->input_count, b->inputs, b->output_count, b->outputs));
}

compiled compile(builder *b)
{
    compiled c = {.model = b->model};
    identify(b);
    const int code = b->n->Model_finish(b->model);
    if (code != ANEURALNETWORKS_NO_ERROR) {
        fail_msg("level %d: finish gave %d: %s", b->n->level, code, nnapi_log());
    }
    OK(b->n->Compilation_create(c.model, &c.compilation));
    OK(b->n->Compilation_finish(c.compilation));
    return c;
}

void free_compiled(nnapi *n, compiled *c)
{
    n->Compilation_free(c->compilation);
    n->Model_free(c->model);
}

compiled compile_add(nnapi *n, int32_t first)
{
    builder b = build(n);
    const uint32_t x = add_input(&b, ANEURALNETWORKS_TENSOR_FLOAT32, 0.0f, 0, SIZES(first, 3));
    const uint32_t y = add_input(&b, ANEURALNETWORKS_TENSOR_FLOAT32, 0.0f, 0, SIZES(first, 3));
    const uint32_t fuse = add_int(&b, ANEURALNETWORKS_FUSED_NONE);
    OPERATION(&b, ADD, add_result(&b, ANEURALNETWORKS_TENSOR_FLOAT32, 0.0f, 0, SIZES(first, 3)), x, y, fuse);
    return compile(&b);
}

int run_execution(nnapi *n, ANeuralNetworksExecution *execution)
{
    if (n->Execution_compute != NULL) {
        return n->Execution_compute(execution);
    }
    ANeuralNetworksEvent *event;
    int code = n->Execution_startCompute(execution, &event);
    if (code == ANEURALNETWORKS_NO_ERROR) {
        code = n->Event_wait(event);
        n->Event_free(event);
    }
    return code;
}

int run_once(nnapi *n, const compiled *c, const void *input, size_t input_size, void *output, size_t output_size)
{
    ANeuralNetworksExecution *execution;
    OK(n->Execution_create(c->compilation, &execution));
    OK(n->Execution_setInput(execution, 0, NULL, input, input_size));
    OK(n->Execution_setOutput(execution, 0, NULL, output, output_size));
    const int code = run_execution(n, execution);
    n->Execution_free(execution);
    return code;
}
