// SPDX-License-Identifier: BSD-2-Clause
// Tests the emulation of libneuralnetworks.so at each API level: its results, the answer and log line for each misuse,
// its switches, and the functions of a level.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nnapi_fixture.h"

enum { FIRST = 27, LAST = 31 };

static void test_functions(void **state)
{
    (void)state;
    for (int level = FIRST; level <= LAST; level++) {
        nnapi n;
        nnapi_open(&n, level, NULL);
#define CHECK_PRESENT(since, result, name, arguments)                                                                  \
    if ((n.name != NULL) != (level >= since)) {                                                                        \
        fail_msg("level %d: %s, which is there since %d", level, #name, since);                                        \
    }
        NEURAL_NETWORKS_FUNCTIONS(CHECK_PRESENT)
        if (level >= 30) {
            assert_true(n._getDefaultLoopTimeout() < n._getMaximumLoopTimeout());
        }
        if (level >= 31) {
            assert_int_equal(n._getRuntimeFeatureLevel(), 31);
        }
        nnapi_close(&n);
    }
}

static void test_results(void **state)
{
    (void)state;
    for (int level = FIRST; level <= LAST; level++) {
        nnapi n;
        nnapi_open(&n, level, NULL);
        results_float(&n);
        results_quantized(&n);
        results_integers(&n);
        results_operations(&n);
        results_sizes(&n);
        results_memory(&n);
        nnapi_close(&n);
    }
}

static void test_misuse(void **state)
{
    (void)state;
    for (int level = FIRST; level <= LAST; level++) {
        nnapi n;
        nnapi_open(&n, level, NULL);
        misuse_models(&n);
        misuse_operations(&n);
        misuse_compilations(&n);
        misuse_executions(&n);
        misuse_memory(&n);
        misuse_devices(&n);
        misuse_lifetimes(&n);
        nnapi_close(&n);
        printf("level %d: %d wrong uses\n", level, n.wrongs);
        assert_true(n.wrongs >= 60);
    }
}

// Leaves one object of each kind unfreed; the library must log each of them.
static void test_leaks(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        nnapi n;
        ANeuralNetworksExecution *execution;
        nnapi_open(&n, 30, NULL);
        compiled c = compile_add(&n, 2);
        if (kind == 0) {
            n.Compilation_free(c.compilation); // the model is not freed
        } else {
            OK(n.Execution_create(c.compilation, &execution));
            if (kind == 1) {
                n.Execution_free(execution);
                ANeuralNetworksMemoryDesc *desc;
                free_compiled(&n, &c);
                OK(n.MemoryDesc_create(&desc));
            }
        }
        if (kind < 2) {
            nnapi_close_leaky(&n);
        } else { // all three objects are logged, in one line each
            const float x = 0.0f;
            assert_int_equal(n.Execution_setInput(execution, 9, NULL, &x, 4), ANEURALNETWORKS_BAD_DATA);
            free(nnapi_log());
            nnapi_unload(&n);
            char *text = nnapi_log();
            assert_string_equal(text, "unload: a execution was not freed\nunload: a compilation was not freed\n"
                                      "unload: a model was not freed\n");
            free(text);
        }
    }
}

// ---- switches

static int add_once(nnapi *n, const compiled *c, float *out)
{
    static const float x[6] = {1, 2, 3, 4, 5, 6};
    ANeuralNetworksExecution *execution;
    OK(n->Execution_create(c->compilation, &execution));
    OK(n->Execution_setInput(execution, 0, NULL, x, sizeof x));
    OK(n->Execution_setInput(execution, 1, NULL, x, sizeof x));
    OK(n->Execution_setOutput(execution, 0, NULL, out, sizeof x));
    const int code = run_execution(n, execution);
    n->Execution_free(execution);
    return code;
}

static void switch_refuse(nnapi *n)
{
    bool supported[2] = {true, true};
    ANeuralNetworksCompilation *compilation;
    builder b = build(n);
    const uint32_t x = add_input(&b, ANEURALNETWORKS_TENSOR_FLOAT32, 0.0f, 0, SIZES(4));
    const uint32_t y = add_operand(&b, ANEURALNETWORKS_TENSOR_FLOAT32, 0.0f, 0, SIZES(4));
    OPERATION(&b, RELU, y, x);
    OPERATION(&b, LOGISTIC, add_result(&b, ANEURALNETWORKS_TENSOR_FLOAT32, 0.0f, 0, SIZES(4)), y);
    identify(&b);
    OK(n->Model_finish(b.model));
    nnapi_switch("refuse=3,19");
    if (n->level >= 29) {
        ANeuralNetworksDevice *device;
        OK(n->_getDevice(0, &device));
        OK(n->Model_getSupportedOperationsForDevices(b.model, (const ANeuralNetworksDevice *const *)&device, 1,
                                                     supported));
        assert_false(supported[0]);
        assert_true(supported[1]);
    }
    OK(n->Compilation_create(b.model, &compilation));
    assert_int_equal(n->Compilation_finish(compilation), ANEURALNETWORKS_BAD_DATA);
    n->Compilation_free(compilation);
    // The API has L2_NORMALIZATION, but the emulation does not compute it.
    nnapi_switch(NULL);
    n->Model_free(b.model);
    b = build(n);
    const uint32_t z = add_input(&b, ANEURALNETWORKS_TENSOR_FLOAT32, 0.0f, 0, SIZES(4));
    OPERATION(&b, L2_NORMALIZATION, add_result(&b, ANEURALNETWORKS_TENSOR_FLOAT32, 0.0f, 0, SIZES(4)), z);
    identify(&b);
    OK(n->Model_finish(b.model));
    OK(n->Compilation_create(b.model, &compilation));
    assert_int_equal(n->Compilation_finish(compilation), ANEURALNETWORKS_BAD_DATA);
    n->Compilation_free(compilation);
    n->Model_free(b.model);
}

static void test_switches(void **state)
{
    (void)state;
    for (int level = FIRST; level <= LAST; level++) {
        nnapi n;
        float out[6];
        ANeuralNetworksModel *model = NULL;
        nnapi_open(&n, level, "fail=ANeuralNetworksModel_create:2:RESOURCE_EXHAUSTED_TRANSIENT");
        OK(n.Model_create(&model));
        n.Model_free(model);
        assert_int_equal(n.Model_create(&model), ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT);
        OK(n.Model_create(&model));
        n.Model_free(model);
        nnapi_switch(NULL);
        compiled c = compile_add(&n, 2);
        nnapi_switch("lost=3;wrong");
        for (int run = 1; run <= 4; run++) {
            assert_int_equal(add_once(&n, &c, out), run < 3 ? ANEURALNETWORKS_NO_ERROR : ANEURALNETWORKS_DEAD_OBJECT);
            if (run < 3) {
                assert_true(out[4] == 10.0f && out[5] == 13.0f); // only the last element is wrong by one
            }
        }
        ANeuralNetworksCompilation *again;
        OK(n.Compilation_create(c.model, &again));
        assert_int_equal(n.Compilation_finish(again), ANEURALNETWORKS_DEAD_OBJECT);
        n.Compilation_free(again);
        // The reference device is not lost, only the accelerator is: the model can still be compiled for it and run.
        if (level >= 29) {
            ANeuralNetworksDevice *device;
            compiled other = {.model = c.model};
            OK(n._getDevice(1, &device));
            OK(n.Compilation_createForDevices(c.model, (const ANeuralNetworksDevice *const *)&device, 1,
                                              &other.compilation));
            OK(n.Compilation_finish(other.compilation));
            OK(add_once(&n, &other, out));
            n.Compilation_free(other.compilation);
        }
        struct timespec before, after;
        nnapi_switch("slow=20");
        clock_gettime(CLOCK_MONOTONIC, &before);
        OK(add_once(&n, &c, out));
        clock_gettime(CLOCK_MONOTONIC, &after);
        assert_true((after.tv_sec - before.tv_sec) * 1000000000LL + after.tv_nsec - before.tv_nsec >= 20000000);
        assert_true(out[5] == 12.0f);
        if (level >= 29) {
            ANeuralNetworksExecution *execution;
            uint32_t rank = 0, sizes[2] = {2, 3}, count = 9;
            const float x[6] = {0};
            nnapi_switch("garbage_sizes");
            OK(n.Execution_create(c.compilation, &execution));
            OK(n.Execution_setInput(execution, 0, NULL, x, sizeof x));
            OK(n.Execution_setInput(execution, 1, NULL, x, sizeof x));
            OK(n.Execution_setOutput(execution, 0, NULL, out, sizeof out));
            OK(n.Execution_compute(execution));
            OK(n.Execution_getOutputOperandRank(execution, 0, &rank));
            OK(n.Execution_getOutputOperandDimensions(execution, 0, sizes));
            assert_true(rank > 8 && sizes[0] > 1000000 && sizes[1] > 1000000);
            n.Execution_free(execution);
            nnapi_switch("no_devices");
            OK(n._getDeviceCount(&count));
            assert_int_equal(count, 0);
        }
        nnapi_switch(NULL);
        free_compiled(&n, &c);
        switch_refuse(&n);
        nnapi_close(&n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions), cmocka_unit_test(test_results),  cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_leaks),     cmocka_unit_test(test_switches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
