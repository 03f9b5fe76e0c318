// SPDX-License-Identifier: BSD-2-Clause
// Tests misuse of NNAPI with a finished model: compilations, executions, memory, devices, and freeing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "nnapi_fixture.h"

#define F32 ANEURALNETWORKS_TENSOR_FLOAT32

void misuse_compilations(nnapi *n)
{
    ANeuralNetworksCompilation *compilation;
    ANeuralNetworksExecution *execution;
    builder b = build(n);
    const uint32_t x = add_input(&b, F32, 0.0f, 0, SIZES(2));
    OPERATION(&b, RELU, add_result(&b, F32, 0.0f, 0, SIZES(2)), x);
    identify(&b);
    WRONG(BAD_STATE, "not finished", n->Compilation_create(b.model, &compilation));
    WRONG(UNEXPECTED_NULL, "model is NULL", n->Compilation_create(NULL, &compilation));
    WRONG(BAD_DATA, "nothing of this library", n->Compilation_create((ANeuralNetworksModel *)(void *)&b, &compilation));
    OK(n->Model_finish(b.model));
    WRONG(UNEXPECTED_NULL, "should go is NULL", n->Compilation_create(b.model, NULL));
    OK(n->Compilation_create(b.model, &compilation));
    WRONG(BAD_DATA, "preference 3", n->Compilation_setPreference(compilation, 3));
    WRONG(BAD_DATA, "preference -1", n->Compilation_setPreference(compilation, -1));
    WRONG(BAD_DATA, "should be a compilation is a model",
          n->Compilation_setPreference((ANeuralNetworksCompilation *)(void *)b.model, 0));
    WRONG(BAD_STATE, "not finished", n->Execution_create(compilation, &execution));
    const uint8_t token[ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN] = {1};
    if (n->level >= 29) {
        ANeuralNetworksBurst *burst;
        WRONG(BAD_STATE, "not finished", n->Burst_create(compilation, &burst));
        WRONG(UNEXPECTED_NULL, "no directory", n->Compilation_setCaching(compilation, NULL, token));
        WRONG(UNEXPECTED_NULL, "no token", n->Compilation_setCaching(compilation, "/tmp", NULL));
        WRONG(BAD_DATA, "no directory that", n->Compilation_setCaching(compilation, "/dev/null", token));
        OK(n->Compilation_setCaching(compilation, "/tmp", token));
    }
    if (n->level >= 30) {
        WRONG(BAD_DATA, "priority 1", n->Compilation_setPriority(compilation, 1));
        WRONG(BAD_DATA, "one device", n->Compilation_setTimeout(compilation, 1000));
    }
    OK(n->Compilation_setPreference(compilation, ANEURALNETWORKS_PREFER_LOW_POWER));
    OK(n->Compilation_finish(compilation));
    WRONG(BAD_STATE, "is finished", n->Compilation_finish(compilation));
    WRONG(BAD_STATE, "is finished", n->Compilation_setPreference(compilation, 0));
    WRONG(UNEXPECTED_NULL, "compilation is NULL", n->Compilation_finish(NULL));
    if (n->level >= 29) {
        WRONG(BAD_STATE, "is finished", n->Compilation_setCaching(compilation, "/tmp", token));
    }
    if (n->level >= 31) {
        uint32_t answer = 0;
        WRONG(BAD_DATA, "input 1 of 1", n->Compilation_getPreferredMemoryAlignmentForInput(compilation, 1, &answer));
        WRONG(UNEXPECTED_NULL, "NULL", n->Compilation_getPreferredMemoryPaddingForOutput(compilation, 0, NULL));
        OK(n->Compilation_getPreferredMemoryPaddingForInput(compilation, 0, &answer));
        OK(n->Compilation_getPreferredMemoryAlignmentForOutput(compilation, 0, &answer));
        assert_true(answer > 0);
    }
    n->Compilation_free(compilation);
    n->Model_free(b.model);
}

// ---- executions

typedef struct computing {
    nnapi *n;
    ANeuralNetworksExecution *execution;
    ANeuralNetworksBurst *burst;
    int code;
} computing;

static void *compute_there(void *argument)
{
    computing *c = argument;
    c->code =
        c->burst != NULL ? c->n->Execution_burstCompute(c->execution, c->burst) : run_execution(c->n, c->execution);
    return NULL;
}

static void set_all(nnapi *n, ANeuralNetworksExecution *execution, const float *x, float *out)
{
    OK(n->Execution_setInput(execution, 0, NULL, x, 24));
    OK(n->Execution_setInput(execution, 1, NULL, x, 24));
    OK(n->Execution_setOutput(execution, 0, NULL, out, 24));
}

static void let_run(nnapi *n)
{
    nnapi_switch(NULL);
    n->Model_free(NULL); // the emulation reads the switches in every call, also in this call
}

// Waits until an execution in another thread has started. The answer to an invalid call shows this.
static void await_run(nnapi *n, ANeuralNetworksExecution *execution, const float *x)
{
    for (bool running = false; !running;) {
        assert_int_equal(n->Execution_setInput(execution, 0, NULL, x, 24), ANEURALNETWORKS_BAD_STATE);
        char *text = nnapi_log();
        running = strstr(text, "is running") != NULL;
        free(text);
        usleep(1000);
    }
}

static void misuse_threads(nnapi *n, const compiled *c, const float *x)
{
    float out[6], other[6];
    computing there = {.n = n};
    pthread_t thread;
    ANeuralNetworksEvent *event;
    nnapi_switch("hold");
    OK(n->Execution_create(c->compilation, &there.execution));
    set_all(n, there.execution, x, out);
    assert_int_equal(pthread_create(&thread, NULL, compute_there, &there), 0);
    await_run(n, there.execution, x);
    WRONG(BAD_STATE, "is running", n->Execution_startCompute(there.execution, &event));
    WRONG(BAD_STATE, "is running", n->Execution_setInput(there.execution, 0, NULL, x, 24));
    let_run(n);
    assert_int_equal(pthread_join(thread, NULL), 0);
    OK(there.code);
    WRONG(BAD_STATE, "has run", n->Execution_startCompute(there.execution, &event));
    n->Execution_free(there.execution);
    if (n->level >= 29) {
        ANeuralNetworksExecution *second;
        ANeuralNetworksBurst *again;
        OK(n->Burst_create(c->compilation, &there.burst));
        OK(n->Execution_create(c->compilation, &there.execution));
        OK(n->Execution_create(c->compilation, &second));
        set_all(n, there.execution, x, out);
        set_all(n, second, x, other);
        nnapi_switch("hold");
        assert_int_equal(pthread_create(&thread, NULL, compute_there, &there), 0);
        await_run(n, there.execution, x);
        WRONG(BAD_STATE, "another execution runs", n->Execution_burstCompute(second, there.burst));
        WRONG_VOID("runs in the burst", n->Burst_free(there.burst));
        OK(n->Burst_create(c->compilation, &again));
        let_run(n);
        assert_int_equal(pthread_join(thread, NULL), 0);
        OK(there.code);
        OK(n->Execution_burstCompute(second, again));
        n->Execution_free(there.execution);
        n->Execution_free(second);
        n->Burst_free(again);
        there.burst = NULL;
    }
    // Frees an execution while it runs.
    nnapi_switch("hold");
    OK(n->Execution_create(c->compilation, &there.execution));
    set_all(n, there.execution, x, out);
    OK(n->Execution_startCompute(there.execution, &event));
    WRONG_VOID("is running", n->Execution_free(there.execution));
    let_run(n);
    OK(n->Event_wait(event));
    n->Event_free(event);
}

static void misuse_types_of_arguments(nnapi *n, const compiled *c, const float *x)
{
    const uint32_t good[2] = {2, 3}, bad[2] = {2, 4}, one[1] = {6};
    ANeuralNetworksOperandType type = {F32, 2, bad, 0.0f, 0};
    ANeuralNetworksExecution *execution;
    OK(n->Execution_create(c->compilation, &execution));
    WRONG(BAD_DATA, "size 4; the model says 3", n->Execution_setInput(execution, 0, &type, x, 32));
    type = (ANeuralNetworksOperandType){F32, 1, one, 0.0f, 0};
    WRONG(BAD_DATA, "1 dimensions; the model says 2", n->Execution_setInput(execution, 0, &type, x, 24));
    type = (ANeuralNetworksOperandType){ANEURALNETWORKS_TENSOR_INT32, 2, good, 0.0f, 0};
    WRONG(BAD_DATA, "the model says 3", n->Execution_setInput(execution, 0, &type, x, 24));
    type = (ANeuralNetworksOperandType){F32, 2, good, 0.5f, 0};
    WRONG(BAD_DATA, "scale 0.5", n->Execution_setOutput(execution, 0, &type, (void *)(uintptr_t)x, 24));
    n->Execution_free(execution);
    compiled open = compile_add(n, 0);
    OK(n->Execution_create(open.compilation, &execution));
    OK(n->Execution_setInput(execution, 0, NULL, x, 24));
    OK(n->Execution_setInput(execution, 1, NULL, x, 24));
    float out[6];
    OK(n->Execution_setOutput(execution, 0, NULL, out, sizeof out));
    WRONG(BAD_DATA, "input 0 has unknown sizes", run_execution(n, execution));
    n->Execution_free(execution);
    OK(n->Execution_create(open.compilation, &execution));
    type = (ANeuralNetworksOperandType){F32, 2, good, 0.0f, 0};
    OK(n->Execution_setInput(execution, 0, &type, x, 24));
    const uint32_t three[2] = {3, 3};
    const float more[9] = {0};
    type = (ANeuralNetworksOperandType){F32, 2, three, 0.0f, 0};
    OK(n->Execution_setInput(execution, 1, &type, more, sizeof more));
    type.dimensions = good;
    OK(n->Execution_setOutput(execution, 0, n->level < 29 ? &type : NULL, out, sizeof out));
    WRONG(OP_FAILED, "do not fit together", run_execution(n, execution));
    n->Execution_free(execution);
    if (n->level < 29) {
        OK(n->Execution_create(open.compilation, &execution));
        OK(n->Execution_setInput(execution, 0, &type, x, 24));
        OK(n->Execution_setInput(execution, 1, &type, x, 24));
        OK(n->Execution_setOutput(execution, 0, NULL, out, sizeof out));
        WRONG(BAD_DATA, "before level 29", run_execution(n, execution));
        n->Execution_free(execution);
    }
    free_compiled(n, &open);
}

void misuse_executions(nnapi *n)
{
    const float x[7] = {1, 2, 3, 4, 5, 6, 7};
    float out[7];
    ANeuralNetworksExecution *execution;
    ANeuralNetworksEvent *event;
    compiled c = compile_add(n, 2);
    WRONG(UNEXPECTED_NULL, "compilation is NULL", n->Execution_create(NULL, &execution));
    WRONG(UNEXPECTED_NULL, "should go is NULL", n->Execution_create(c.compilation, NULL));
    OK(n->Execution_create(c.compilation, &execution));
    WRONG(BAD_DATA, "input 2 of 2", n->Execution_setInput(execution, 2, NULL, x, 24));
    WRONG(BAD_DATA, "input -1 of 2", n->Execution_setInput(execution, -1, NULL, x, 24));
    WRONG(BAD_DATA, "output 1 of 1", n->Execution_setOutput(execution, 1, NULL, out, 24));
    WRONG(BAD_DATA, "24 bytes, not 28", n->Execution_setInput(execution, 0, NULL, x, 28));
    WRONG(BAD_DATA, "24 bytes, not 20", n->Execution_setOutput(execution, 0, NULL, out, 20));
    WRONG(UNEXPECTED_NULL, "at NULL", n->Execution_setInput(execution, 0, NULL, NULL, 24));
    WRONG(UNEXPECTED_NULL, "at NULL", n->Execution_setOutput(execution, 0, NULL, NULL, 24));
    WRONG(BAD_DATA, "not aligned", n->Execution_setInput(execution, 0, NULL, (const char *)x + 1, 24));
    WRONG(UNEXPECTED_NULL, "memory is NULL", n->Execution_setInputFromMemory(execution, 0, NULL, NULL, 0, 24));
    WRONG(UNEXPECTED_NULL, "execution is NULL", n->Execution_setInput(NULL, 0, NULL, x, 24));
    WRONG(BAD_DATA, "input 0 is not set", n->Execution_startCompute(execution, &event));
    OK(n->Execution_setInput(execution, 0, NULL, x, 24));
    WRONG(BAD_STATE, "input 0 is set already", n->Execution_setInput(execution, 0, NULL, x, 24));
    OK(n->Execution_setInput(execution, 1, NULL, NULL, 0));
    WRONG(BAD_DATA, "output 0 is not set", n->Execution_startCompute(execution, &event));
    OK(n->Execution_setOutput(execution, 0, NULL, out, 24));
    WRONG(UNEXPECTED_NULL, "should go is NULL", n->Execution_startCompute(execution, NULL));
    uint32_t rank;
    if (n->level >= 29) {
        uint64_t duration;
        WRONG(BAD_STATE, "has not run", n->Execution_getOutputOperandRank(execution, 0, &rank));
        WRONG(BAD_DATA, "one device", n->Execution_setMeasureTiming(execution, true));
        WRONG(BAD_DATA, "duration 7", n->Execution_getDuration(execution, 7, &duration));
        WRONG(BAD_STATE, "not measured", n->Execution_getDuration(execution, 0, &duration));
    }
    WRONG(OP_FAILED, "needs its input 1", run_execution(n, execution)); // one input is omitted
    if (n->level >= 29) {
        WRONG(BAD_STATE, "failed", n->Execution_getOutputOperandRank(execution, 0, &rank));
    }
    n->Execution_free(execution);
    OK(n->Execution_create(c.compilation, &execution));
    set_all(n, execution, x, out);
    OK(run_execution(n, execution));
    WRONG(BAD_STATE, "has run", n->Execution_setInput(execution, 0, NULL, x, 24));
    WRONG(BAD_STATE, "has run", n->Execution_setOutput(execution, 0, NULL, out, 24));
    WRONG(BAD_STATE, "has run", run_execution(n, execution));
    if (n->level >= 29) {
        WRONG(BAD_DATA, "output 1", n->Execution_getOutputOperandRank(execution, 1, &rank));
        WRONG(UNEXPECTED_NULL, "NULL", n->Execution_getOutputOperandDimensions(execution, 0, NULL));
    }
    if (n->level >= 31) {
        WRONG(BAD_STATE, "has begun", n->Execution_setReusable(execution, true));
    }
    n->Execution_free(execution);
    if (n->level >= 30) {
        const ANeuralNetworksEvent *nothing[1] = {NULL};
        OK(n->Execution_create(c.compilation, &execution));
        WRONG(BAD_DATA, "one device", n->Execution_setTimeout(execution, 1000));
        set_all(n, execution, x, out);
        WRONG(UNEXPECTED_NULL, "1 events", n->Execution_startComputeWithDependencies(execution, NULL, 1, 0, &event));
        WRONG(UNEXPECTED_NULL, "event is NULL",
              n->Execution_startComputeWithDependencies(execution, nothing, 1, 0, &event));
        WRONG(BAD_DATA, "one device", n->Execution_startComputeWithDependencies(execution, NULL, 0, 1000, &event));
        WRONG(BAD_DATA, "descriptor -1", n->Event_createFromSyncFenceFd(-1, &event));
        OK(n->Execution_startComputeWithDependencies(execution, NULL, 0, 0, &event));
        int fd = 0;
        assert_int_equal(n->Event_getSyncFenceFd(event, &fd), ANEURALNETWORKS_BAD_DATA);
        assert_int_equal(fd, -1);
        OK(n->Event_wait(event));
        n->Event_free(event);
        n->Execution_free(execution);
    }
    if (n->level >= 31) { // tests a reusable execution, and an execution with padded buffers
        OK(n->Execution_create(c.compilation, &execution));
        OK(n->Execution_setReusable(execution, true));
        OK(n->Execution_enableInputAndOutputPadding(execution, true));
        WRONG(BAD_DATA, "24 bytes, not 20", n->Execution_setInput(execution, 0, NULL, x, 20));
        OK(n->Execution_setInput(execution, 0, NULL, x, 28));
        WRONG(BAD_STATE, "are set", n->Execution_enableInputAndOutputPadding(execution, false));
        OK(n->Execution_setInput(execution, 1, NULL, x, 24));
        OK(n->Execution_setOutput(execution, 0, NULL, out, 28));
        OK(n->Execution_compute(execution));
        WRONG(BAD_STATE, "has run", n->Execution_setInput(execution, 0, NULL, x, 24));
        OK(n->Execution_compute(execution));
        n->Execution_free(execution);
    }
    misuse_types_of_arguments(n, &c, x);
    misuse_threads(n, &c, x);
    free_compiled(n, &c);
}

// ---- memory objects

static void misuse_descriptors(nnapi *n, const compiled *c)
{
    ANeuralNetworksMemoryDesc *desc;
    ANeuralNetworksMemory *memory;
    ANeuralNetworksExecution *execution;
    const float x[6] = {0};
    float out[6];
    const uint32_t wrong[2] = {2, 5};
    OK(n->MemoryDesc_create(&desc));
    WRONG(UNEXPECTED_NULL, "should go is NULL", n->MemoryDesc_create(NULL));
    WRONG(BAD_DATA, "no roles", n->MemoryDesc_finish(desc));
    WRONG(BAD_DATA, "input 2 of 2", n->MemoryDesc_addInputRole(desc, c->compilation, 2, 1.0f));
    WRONG(BAD_DATA, "frequency 0", n->MemoryDesc_addInputRole(desc, c->compilation, 0, 0.0f));
    WRONG(BAD_DATA, "frequency 2", n->MemoryDesc_addOutputRole(desc, c->compilation, 0, 2.0f));
    OK(n->MemoryDesc_addInputRole(desc, c->compilation, 0, 1.0f));
    WRONG(BAD_DATA, "role already", n->MemoryDesc_addInputRole(desc, c->compilation, 0, 1.0f));
    WRONG(BAD_DATA, "contradict", n->MemoryDesc_setDimensions(desc, 2, wrong));
    WRONG(UNEXPECTED_NULL, "at NULL", n->MemoryDesc_setDimensions(desc, 2, NULL));
    WRONG(BAD_STATE, "not finished", n->Memory_createFromDesc(desc, &memory));
    OK(n->MemoryDesc_finish(desc));
    WRONG(BAD_STATE, "is finished", n->MemoryDesc_finish(desc));
    WRONG(BAD_STATE, "is finished", n->MemoryDesc_addInputRole(desc, c->compilation, 1, 1.0f));
    OK(n->Memory_createFromDesc(desc, &memory));
    n->MemoryDesc_free(desc);
    OK(n->Execution_create(c->compilation, &execution));
    WRONG(BAD_DATA, "this role", n->Execution_setInputFromMemory(execution, 1, NULL, memory, 0, 0));
    WRONG(BAD_DATA, "this role", n->Execution_setOutputFromMemory(execution, 0, NULL, memory, 0, 0));
    WRONG(BAD_DATA, "length 24", n->Execution_setInputFromMemory(execution, 0, NULL, memory, 0, 24));
    OK(n->Execution_setInput(execution, 1, NULL, x, 24));
    OK(n->Execution_setOutput(execution, 0, NULL, out, 24));
    OK(n->Execution_setInputFromMemory(execution, 0, NULL, memory, 0, 0));
    WRONG(OP_FAILED, "nothing was written", n->Execution_compute(execution));
    n->Execution_free(execution);
    n->Memory_free(memory);
}

void misuse_memory(nnapi *n)
{
    char path[] = "/tmp/taper_nnapi_XXXXXX";
    const int fd = mkstemp(path);
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const float x[6] = {0};
    float out[6];
    ANeuralNetworksMemory *memory, *locked;
    ANeuralNetworksExecution *execution;
    assert_true(fd >= 0);
    unlink(path);
    assert_int_equal(ftruncate(fd, (off_t)page), 0);
    WRONG(UNEXPECTED_NULL, "should go is NULL", n->Memory_createFromFd(page, PROT_READ, fd, 0, NULL));
    WRONG(BAD_DATA, "0 bytes", n->Memory_createFromFd(0, PROT_READ, fd, 0, &memory));
    WRONG(BAD_DATA, "descriptor -1", n->Memory_createFromFd(page, PROT_READ, -1, 0, &memory));
    WRONG(BAD_DATA, "of a file of", n->Memory_createFromFd(page + 1, PROT_READ, fd, 0, &memory));
    WRONG(BAD_DATA, "of a file of", n->Memory_createFromFd(1, PROT_READ, fd, page, &memory));
    WRONG(BAD_DATA, "of a file of", n->Memory_createFromFd(SIZE_MAX, PROT_READ, fd, page, &memory));
    WRONG(UNMAPPABLE, "offset 8", n->Memory_createFromFd(8, PROT_READ, fd, 8, &memory));
    WRONG(BAD_DATA, "protection 0", n->Memory_createFromFd(page, 0, fd, 0, &memory));
    WRONG(BAD_DATA, "protection", n->Memory_createFromFd(page, PROT_READ | PROT_EXEC, fd, 0, &memory));
    OK(n->Memory_createFromFd(page, PROT_READ | PROT_WRITE, fd, 0, &memory));
    OK(n->Memory_createFromFd(page, PROT_READ, fd, 0, &locked));
    builder b = build(n);
    const uint32_t in = add_input(&b, F32, 0.0f, 0, SIZES(2, 3)), y = add_operand(&b, F32, 0.0f, 0, SIZES(2, 3));
    WRONG(UNEXPECTED_NULL, "memory is NULL", n->Model_setOperandValueFromMemory(b.model, (int32_t)y, NULL, 0, 24));
    WRONG(BAD_DATA, "bytes from", n->Model_setOperandValueFromMemory(b.model, (int32_t)y, memory, page, 24));
    WRONG(BAD_DATA, "bytes from", n->Model_setOperandValueFromMemory(b.model, (int32_t)y, memory, SIZE_MAX, 24));
    WRONG(BAD_DATA, "not aligned", n->Model_setOperandValueFromMemory(b.model, (int32_t)y, memory, 2, 24));
    WRONG(BAD_DATA, "not 28", n->Model_setOperandValueFromMemory(b.model, (int32_t)y, memory, 0, 28));
    OK(n->Model_setOperandValueFromMemory(b.model, (int32_t)y, memory, 0, 24));
    OPERATION(&b, ADD, add_result(&b, F32, 0.0f, 0, SIZES(2, 3)), in, y, add_int(&b, 0));
    compiled c = compile(&b);
    OK(n->Execution_create(c.compilation, &execution));
    WRONG(BAD_DATA, "bytes from", n->Execution_setInputFromMemory(execution, 0, NULL, memory, page - 20, 24));
    WRONG(BAD_DATA, "not aligned", n->Execution_setInputFromMemory(execution, 0, NULL, memory, 1, 24));
    WRONG(BAD_DATA, "cannot be written", n->Execution_setOutputFromMemory(execution, 0, NULL, locked, 0, 24));
    OK(n->Execution_setInput(execution, 0, NULL, x, 24));
    OK(n->Execution_setOutput(execution, 0, NULL, out, 24));
    assert_int_equal(pwrite(fd, &(const float){1.0f}, 4, 0), 4); // changes a weight in the file
    ANeuralNetworksEvent *event;
    WRONG(BAD_DATA, "were changed", n->Execution_startCompute(execution, &event));
    n->Execution_free(execution);
    WRONG_VOID("still uses the memory", n->Memory_free(memory));
    free_compiled(n, &c);
    n->Memory_free(locked);
    close(fd);
    if (n->level >= 29) {
        WRONG(UNEXPECTED_NULL, "no buffer", n->Memory_createFromAHardwareBuffer(NULL, &memory));
    }
    if (n->level >= 30) {
        compiled added = compile_add(n, 2);
        misuse_descriptors(n, &added);
        free_compiled(n, &added);
    }
}

// ---- devices

void misuse_devices(nnapi *n)
{
    if (n->level < 29) {
        return;
    }
    ANeuralNetworksDevice *devices[3] = {NULL, NULL, NULL};
    ANeuralNetworksCompilation *compilation;
    uint32_t count = 0;
    const char *name;
    int32_t type;
    int64_t level = 0;
    bool supported[1] = {false};
    OK(n->_getDeviceCount(&count));
    assert_int_equal(count, 2);
    WRONG(UNEXPECTED_NULL, "NULL", n->_getDeviceCount(NULL));
    WRONG(BAD_DATA, "device 2", n->_getDevice(2, &devices[0]));
    WRONG(UNEXPECTED_NULL, "NULL", n->_getDevice(0, NULL));
    OK(n->_getDevice(0, &devices[0]));
    OK(n->_getDevice(1, &devices[1]));
    WRONG(UNEXPECTED_NULL, "device is NULL", n->Device_getName(NULL, &name));
    WRONG(UNEXPECTED_NULL, "NULL", n->Device_getType(devices[0], NULL));
    WRONG(BAD_DATA, "is none", n->Device_getVersion((ANeuralNetworksDevice *)(void *)&count, &name));
    OK(n->Device_getName(devices[0], &name));
    assert_string_equal(name, "double-accelerator");
    OK(n->Device_getType(devices[1], &type));
    assert_int_equal(type, ANEURALNETWORKS_DEVICE_CPU);
    OK(n->Device_getFeatureLevel(devices[1], &level));
    assert_int_equal(level, n->level);
    const ANeuralNetworksDevice *twice[2] = {devices[0], devices[0]};
    compiled c = compile_add(n, 2);
    const ANeuralNetworksDevice *const *list = (const ANeuralNetworksDevice *const *)devices;
    WRONG(BAD_DATA, "twice", n->Compilation_createForDevices(c.model, twice, 2, &compilation));
    WRONG(BAD_DATA, "empty", n->Compilation_createForDevices(c.model, list, 0, &compilation));
    WRONG(UNEXPECTED_NULL, "list", n->Compilation_createForDevices(c.model, NULL, 1, &compilation));
    WRONG(UNEXPECTED_NULL, "device is NULL", n->Compilation_createForDevices(c.model, list, 3, &compilation));
    WRONG(UNEXPECTED_NULL, "NULL", n->Model_getSupportedOperationsForDevices(c.model, list, 2, NULL));
    WRONG(UNEXPECTED_NULL, "list", n->Model_getSupportedOperationsForDevices(c.model, NULL, 2, supported));
    OK(n->Model_getSupportedOperationsForDevices(c.model, list, 2, supported));
    assert_true(supported[0]);
    builder b = build(n);
    WRONG(BAD_STATE, "not finished", n->Model_getSupportedOperationsForDevices(b.model, list, 2, supported));
    n->Model_free(b.model);
    OK(n->Compilation_createForDevices(c.model, list, 1, &compilation));
    OK(n->Compilation_finish(compilation));
    // Times are available only if a single device was chosen.
    const float x[6] = {0};
    float out[6];
    uint64_t duration = 0;
    ANeuralNetworksExecution *execution;
    OK(n->Execution_create(compilation, &execution));
    OK(n->Execution_setMeasureTiming(execution, true));
    set_all(n, execution, x, out);
    WRONG(BAD_STATE, "has not run", n->Execution_getDuration(execution, 0, &duration));
    OK(n->Execution_compute(execution));
    OK(n->Execution_getDuration(execution, ANEURALNETWORKS_DURATION_IN_DRIVER, &duration));
    assert_true(duration > 0);
    n->Execution_free(execution);
    // Uses a burst of another compilation.
    ANeuralNetworksBurst *burst;
    OK(n->Burst_create(compilation, &burst));
    OK(n->Execution_create(c.compilation, &execution));
    set_all(n, execution, x, out);
    WRONG(BAD_DATA, "another compilation", n->Execution_burstCompute(execution, burst));
    n->Execution_free(execution);
    n->Burst_free(burst);
    n->Compilation_free(compilation);
    free_compiled(n, &c);
}

// ---- freeing

void misuse_lifetimes(nnapi *n)
{
    const ANeuralNetworksOperandType scalar = {ANEURALNETWORKS_INT32, 0, NULL, 0.0f, 0};
    const float x[6] = {0};
    float out[6];
    ANeuralNetworksExecution *execution;
    ANeuralNetworksEvent *event;
    n->Model_free(NULL);
    n->Compilation_free(NULL);
    n->Execution_free(NULL);
    n->Event_free(NULL);
    n->Memory_free(NULL);
    builder b = build(n);
    n->Model_free(b.model);
    WRONG(BAD_DATA, "was freed", n->Model_addOperand(b.model, &scalar));
    WRONG_VOID("was freed", n->Model_free(b.model));
    compiled c = compile_add(n, 2);
    OK(n->Execution_create(c.compilation, &execution));
    set_all(n, execution, x, out);
    WRONG_VOID("still uses the model", n->Model_free(c.model));
    WRONG_VOID("still uses the compilation", n->Compilation_free(c.compilation));
    OK(n->Execution_startCompute(execution, &event));
    OK(n->Event_wait(event));
    OK(n->Event_wait(event));
    n->Event_free(event);
    n->Execution_free(execution);
    WRONG(BAD_DATA, "execution was freed", n->Execution_setInput(execution, 0, NULL, x, 24));
    WRONG(BAD_DATA, "compilation was freed", n->Execution_create(c.compilation, &execution));
    WRONG(BAD_DATA, "event was freed", n->Event_wait(event));
    WRONG_VOID("event was freed", n->Event_free(event));
    WRONG_VOID("compilation was freed", n->Compilation_free(c.compilation));
}
