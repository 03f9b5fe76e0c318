// SPDX-License-Identifier: BSD-2-Clause
// Runs whole models on the device "nnapi", with the emulation of one API level (see nnapi_driver_test.c). The results
// must be the same as on the CPU, even if the driver fails.
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <taper/taper_inspect.h>

#include "backends/nnapi/neural_networks.h"
#include "tests/api/listening.h"
#include "tests/api/load_text.h"
#include "tests/nnapi/double_world.h"

// ---- every committed model

enum { RUNS = 8, MOST_CALLS = 8 };

static void every_model(listening *w, int runs)
{
    for (size_t first = 0; first < test_call_count; first += test_group(first)) {
        hold_against_cpu(w, first, "nnapi", runs);
    }
}

static void models(void **state)
{
    (void)state;
    listening w;
    double_switch(NULL);
    open_listening(&w, NULL);
    every_model(&w, RUNS);
    printf("level %d: %zu networks compiled, %zu segments kept by the device, %zu by the CPU\n", double_level(),
           count_heard(&w, "the driver compiled"), count_heard(&w, ": the device runs this segment from now on: "),
           count_heard(&w, ": the CPU runs this segment: "));
    assert_true(count_heard(&w, "the driver compiled") >= 4);
    close_listening(&w);
    double_is_silent();
}

// ---- one model with a network that is compiled at each level

static const test_call small = {"s02_traced.ptl", "forward", "f1,3,10,12", TAPER_OK, false};

static size_t find_small(void)
{
    size_t first = 0;
    while (first < test_call_count && strcmp(test_calls[first].file, small.file) != 0) {
        first++;
    }
    assert_true(first < test_call_count);
    return first;
}

// Loads the model for the device and runs it several times. Returns the last status.
static taper_status run_small(listening *w, const char *device, int runs)
{
    taper_model *model;
    taper_session *session;
    taper_value *result;
    taper_status status = device_load(w->context, small.file, device, NULL, &model, w->error);
    if (status != TAPER_OK) {
        return status;
    }
    assert_int_equal(taper_session_create(model, NULL, &session, w->error), TAPER_OK);
    for (int run = 0; run < runs && status == TAPER_OK; run++) {
        status = test_run(w->context, session, &test_calls[find_small()], &result, w->error);
        taper_value_release(result);
    }
    taper_session_destroy(session);
    taper_model_release(model);
    return status;
}

// Makes each function of the driver fail, at its first call and at later calls.
static void failures(void **state)
{
    (void)state;
    static const char *const names[] = {
#define NAME(level, result, name, arguments) #name,
        NEURAL_NETWORKS_FUNCTIONS(NAME)
#undef NAME
    };
    int failed = 0;
    for (size_t f = 0; f < sizeof names / sizeof *names; f++) {
        for (int call = 1; call <= 3; call += 2) {
            char text[160];
            listening w;
            snprintf(text, sizeof text, "fail=ANeuralNetworks%s:%d:OP_FAILED", names[f], call);
            double_switch(text);
            open_listening(&w, NULL);
            hold_against_cpu(&w, find_small(), "nnapi", 3);
            snprintf(text, sizeof text, "ANeuralNetworks%s failed: OP_FAILED", names[f]);
            const size_t said = count_heard(&w, text);
            assert_true(said <= 1);
            failed += (int)said;
            if (said == 1 && count_heard(&w, "cannot be used: ") == 0) { // the context must not use the device again
                assert_int_equal(count_heard(&w, "nnapi: the device does not work any more, the CPU goes on"), 1);
                hold_against_cpu(&w, find_small(), "nnapi", 1);
                assert_int_equal(count_heard(&w, "nnapi does not work any more: the CPU runs the model"), 1);
                assert_int_equal(count_heard(&w, text), 1);
            }
            close_listening(&w);
            if (said == 1) { // the device name ends with "!", so the failure must be an error
                open_listening(&w, NULL);
                double_switch(NULL);
                snprintf(text, sizeof text, "fail=ANeuralNetworks%s:%d:OP_FAILED", names[f], call);
                double_switch(text);
                const taper_status status = run_small(&w, "nnapi!", 3);
                assert_true(status == TAPER_ERROR_DEVICE || status == TAPER_ERROR_UNSUPPORTED);
                snprintf(text, sizeof text, "ANeuralNetworks%s failed: OP_FAILED", names[f]);
                if (strstr(taper_error_message(w.error), text) == NULL) {
                    fail_msg("%s: %s", text, taper_error_message(w.error));
                }
                close_listening(&w);
            }
        }
    }
    printf("level %d: %d calls failed\n", double_level(), failed);
    assert_true(failed >= (double_level() < 29 ? 15 : 25));
    double_switch(NULL);
    double_is_silent();
}

static void switches(void **state)
{
    (void)state;
    listening w;
    const bool lists = double_level() >= 29;
    open_listening(&w, NULL);
    double_switch("refuse=3"); // makes the device refuse convolutions
    hold_against_cpu(&w, find_small(), "nnapi", 3);
    assert_int_equal(count_heard(&w, lists ? "the device does not support an operation CONV_2D"
                                           : "the CPU runs this segment: the driver refuses the network"),
                     1);
    assert_int_equal(count_heard(&w, "does not work any more"), 0);
    assert_int_equal(run_small(&w, "nnapi!", 1), TAPER_ERROR_UNSUPPORTED);
    assert_non_null(strstr(taper_error_message(w.error), lists ? "device nnapi declined: the device does not support"
                                                               : "declined: the driver refuses the network"));
    close_listening(&w);
    // With the device "nnapi", the CPU takes over from the slow device. With "nnapi!", the slow device runs the model.
    for (int slow = 0; slow < 2; slow++) {
        open_listening(&w, NULL);
        double_switch("slow=100"); // makes the device slower than the CPU, even on a busy machine
        if (slow == 0) {
            hold_against_cpu(&w, find_small(), "nnapi", RUNS);
            static const char line[] = ": the CPU runs this segment from now on: the device took ";
            assert_int_equal(count_heard(&w, line), 1);
            assert_true(strtod(strstr(w.heard, line) + sizeof line - 1, NULL) >= 100);
        } else {
            assert_int_equal(run_small(&w, "nnapi!", RUNS), TAPER_OK);
            assert_int_equal(count_heard(&w, "the CPU runs this segment"), 0);
        }
        close_listening(&w);
    }
    open_listening(&w, NULL);
    double_switch("lost=2");
    hold_against_cpu(&w, find_small(), "nnapi", 3);
    assert_int_equal(count_heard(&w, "failed: DEAD_OBJECT"), 1);
    close_listening(&w);
    open_listening(&w, NULL);
    double_switch("garbage_sizes");
    every_model(&w, 2);
    close_listening(&w);
    double_switch("no_devices");
    open_listening(&w, NULL);
    hold_against_cpu(&w, find_small(), "nnapi", 1);
    assert_int_equal(count_heard(&w, "device nnapi is not there: NNAPI has no devices here: the CPU runs the model"),
                     lists);
    close_listening(&w);
    double_switch(NULL);
    double_is_silent();
}

// ---- devices and options

static void expect_load(listening *w, const char *device, const char *options, taper_status wanted, const char *words)
{
    taper_model *model;
    w->length = 0;
    w->heard[0] = '\0';
    const taper_status status = device_load(w->context, small.file, device, options, &model, w->error);
    const char *said = wanted == TAPER_OK ? w->heard : taper_error_message(w->error);
    if (status != wanted || strstr(said, words) == NULL) {
        fail_msg("%s, %s: status %d, %s", device, options != NULL ? options : "", (int)status, said);
    }
    taper_model_release(model);
}

static void names(void **state)
{
    (void)state;
    listening w;
    double_switch(NULL);
    open_listening(&w, NULL);
    expect_load(&w, "nnapi!", NULL, TAPER_OK, "");
    expect_load(&w, "nnapi:0!", "", TAPER_OK, "");
    expect_load(&w, "nnapi!", "relax_f32_to_f16=1,preference=low_power,level=29", TAPER_OK, "");
    expect_load(&w, "nnapi!", "relax", TAPER_ERROR_ARGUMENT, "device option \"relax\" is none of preference=");
    expect_load(&w, "nnapi", "level=12", TAPER_ERROR_ARGUMENT, "device option \"level=12\" is none of");
    expect_load(&w, "cpu", "level=27", TAPER_ERROR_ARGUMENT, "device cpu has no option level");
    expect_load(&w, "nnapi", "level=\x01", TAPER_ERROR_ARGUMENT, "is none of preference=");
    if (double_level() >= 29) {
        expect_load(&w, "nnapi:double-reference!", NULL, TAPER_OK, "");
        expect_load(&w, "nnapi:1!", NULL, TAPER_OK, "");
        static const char which[] = "is not among NNAPI's devices here: double-accelerator double-reference";
        expect_load(&w, "nnapi:double-2", NULL, TAPER_OK, which);
        expect_load(&w, "nnapi:double-2!", NULL, TAPER_ERROR_UNSUPPORTED, which);
        expect_load(&w, "nnapi:2!", NULL, TAPER_ERROR_UNSUPPORTED, which);
        expect_load(&w, "nnapi:double-reference!", "level=28", TAPER_ERROR_UNSUPPORTED, "no list of devices");
    } else {
        expect_load(&w, "nnapi:double-reference", NULL, TAPER_OK, "NNAPI has no list of devices before level 29");
        expect_load(&w, "nnapi:1!", NULL, TAPER_ERROR_UNSUPPORTED, "NNAPI has no list of devices before level 29");
    }
    taper_model *model = NULL; // NNAPI has no operation for this model, so with "!" loading must fail
    assert_int_equal(device_load(w.context, "s04_containers.pt", "nnapi!", NULL, &model, w.error),
                     TAPER_ERROR_UNSUPPORTED);
    assert_non_null(strstr(taper_error_message(w.error), "can do no part of the model"));
    hold_against_cpu(&w, find_small(), double_level() >= 29 ? "nnapi:double-reference!" : "nnapi!", 3);
    close_listening(&w);
    double_is_silent();
}

// The profile must show which device ran each operator. After the first runs, nothing may be allocated.
static void profile(void **state)
{
    (void)state;
    listening w;
    taper_model *model;
    taper_session *session;
    taper_value *result;
    char kernel[64];
    size_t rows = 0;
    double_switch(NULL);
    open_listening(&w, ".");
    snprintf(kernel, sizeof kernel, "nnapi: %s", double_level() >= 29 ? "double-accelerator" : "default");
    assert_int_equal(device_load(w.context, small.file, "nnapi!", NULL, &model, w.error), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, w.error), TAPER_OK);
    assert_int_equal(taper_profile_set(session, 1, w.error), TAPER_OK);
    for (int run = 0; run < RUNS; run++) {
        assert_int_equal(test_run(w.context, session, &test_calls[find_small()], &result, w.error), TAPER_OK);
        taper_value_release(result);
    }
    for (size_t i = 0; i < taper_profile_count(session); i++) {
        taper_profile_item item = {.struct_size = sizeof item};
        assert_int_equal(taper_profile_get(session, i, &item, w.error), TAPER_OK);
        rows += item.calls == RUNS && strcmp(item.kernel, kernel) == 0;
    }
    assert_true(rows >= 1);
    taper_memory_info memory = {.struct_size = sizeof memory};
    taper_session_memory(session, &memory);
    assert_int_equal(memory.allocator_calls, 0);
    taper_session_destroy(session);
    taper_model_release(model);
    close_listening(&w);
    double_is_silent();
}

// ---- files made by PyTorch's converter

enum { FOR_NNAPI, PLAIN, FOR_VULKAN };

static const char *device_of(listening *w, int which, const char *device, uint32_t barred, const char *precision)
{
    static const char *const files[] = {"../../data/nnapi/conv_and_relu_flexible_float_nhwc.ptl", "s02_traced.ptl",
                                        "s13_vulkan.ptl"};
    char path[1024];
    taper_model *model;
    load_text said;
    assert_int_equal(load_text_read(&said, device, NULL, precision, w->error), TAPER_OK);
    said.options.compiler = taper_compiler();
    said.options.barred_devices = barred;
    test_path(files[which], path, sizeof path);
    if (taper_model_load(w->context, path, &said.options, &model, w->error) != TAPER_OK) {
        return taper_error_message(w->error);
    }
    const bool nnapi = strcmp(taper_model_device(model), "nnapi") == 0;
    taper_model_release(model);
    return nnapi ? "nnapi" : "cpu";
}

// These files run on NNAPI by default, unless the host selects another device. The results must be the same as on the
// CPU.
static void converted(void **state)
{
    (void)state;
    listening w;
    double_switch(NULL);
    open_listening(&w, NULL);
    assert_string_equal(device_of(&w, FOR_NNAPI, NULL, 0, NULL), "nnapi");
    const uint32_t gpus = TAPER_DEVICE_BIT(TAPER_DEVICE_VULKAN) | TAPER_DEVICE_BIT(TAPER_DEVICE_METAL);
    assert_string_equal(device_of(&w, FOR_NNAPI, NULL, gpus, NULL), "nnapi");
    assert_string_equal(device_of(&w, FOR_NNAPI, NULL, TAPER_DEVICE_BIT(TAPER_DEVICE_NNAPI), NULL), "cpu");
    assert_string_equal(device_of(&w, FOR_NNAPI, NULL, UINT32_MAX, NULL), "cpu");
    assert_string_equal(device_of(&w, FOR_NNAPI, "cpu", gpus, NULL), "cpu");
    assert_string_equal(device_of(&w, FOR_NNAPI, NULL, 0, "bf16"), "cpu");
    assert_string_equal(device_of(&w, PLAIN, NULL, 0, NULL), "cpu");
    assert_string_equal(device_of(&w, FOR_VULKAN, NULL, gpus, NULL), "cpu");
    assert_int_equal(count_heard(&w, "the file is prepared for "), 0);
    close_listening(&w);
    double_switch("no_devices");
    open_listening(&w, NULL);
    assert_string_equal(device_of(&w, FOR_NNAPI, NULL, 0, NULL), double_level() >= 29 ? "cpu" : "nnapi");
    assert_int_equal(
        count_heard(&w, "the file is prepared for nnapi (is not there: NNAPI has no devices here): the CPU"),
        double_level() >= 29 ? 1 : 0);
    close_listening(&w);
    double_switch(NULL);
    double_is_silent();
}

// ---- threads, memory

typedef struct runner {
    listening *w;
    taper_model *model;
    const taper_value *wanted;
    pthread_t thread;
    int wrong;
} runner;

static void *run_thread(void *user)
{
    runner *r = user;
    taper_session *session;
    r->wrong = taper_session_create(r->model, NULL, &session, NULL) != TAPER_OK;
    for (int run = 0; run < 12 && r->wrong == 0; run++) {
        taper_value *result = NULL;
        r->wrong += test_run(r->w->context, session, &test_calls[find_small()], &result, NULL) != TAPER_OK ||
                    !device_alike(result, r->wanted);
        taper_value_release(result);
    }
    taper_session_destroy(session);
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        listening w;
        taper_model *plain, *model;
        taper_session *session;
        taper_value *wanted;
        runner runners[4];
        double_switch(NULL);
        double_switch(lost != 0 ? "lost=7" : NULL);
        open_listening(&w, NULL);
        assert_int_equal(device_load(w.context, small.file, NULL, NULL, &plain, w.error), TAPER_OK);
        assert_int_equal(device_load(w.context, small.file, "nnapi", NULL, &model, w.error), TAPER_OK);
        assert_int_equal(taper_session_create(plain, NULL, &session, w.error), TAPER_OK);
        assert_int_equal(test_run(w.context, session, &test_calls[find_small()], &wanted, w.error), TAPER_OK);
        for (int i = 0; i < 4; i++) {
            runners[i] = (runner){.w = &w, .model = model, .wanted = wanted};
            assert_int_equal(pthread_create(&runners[i].thread, NULL, run_thread, &runners[i]), 0);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(runners[i].thread, NULL);
            assert_int_equal(runners[i].wrong, 0);
        }
        assert_int_equal(count_heard(&w, "the device does not work any more"), lost);
        taper_value_release(wanted);
        taper_session_destroy(session);
        taper_model_release(plain);
        taper_model_release(model);
        close_listening(&w);
    }
    double_switch(NULL);
    double_is_silent();
}

static taper_status load_and_run(taper_context *context, const void *what, taper_error *error)
{
    taper_model *model;
    taper_session *session = NULL;
    taper_status status = device_load(context, small.file, "nnapi", NULL, &model, error);
    (void)what;
    if (status == TAPER_OK) {
        status = taper_session_create(model, NULL, &session, error);
    }
    for (int run = 0; run < RUNS && status == TAPER_OK; run++) {
        taper_value *result = NULL;
        status = test_run(context, session, &test_calls[find_small()], &result, error);
        taper_value_release(result);
    }
    taper_session_destroy(session);
    taper_model_release(model);
    return status;
}

static void no_memory(void **state)
{
    (void)state;
    double_switch(NULL);
    test_each_allocation_fails("s02_traced.ptl on nnapi", load_and_run, NULL);
    double_is_silent();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models),  cmocka_unit_test(failures),  cmocka_unit_test(switches), cmocka_unit_test(names),
        cmocka_unit_test(profile), cmocka_unit_test(converted), cmocka_unit_test(threads),  cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
