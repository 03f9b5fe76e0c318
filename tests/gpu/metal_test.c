// SPDX-License-Identifier: BSD-2-Clause
// Simulates each failure that Metal can report (tests/apple/metal/kernels.h). The result must be correct, one log line
// must name the failure, and nothing may be leaked.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "metal/kernels.h"
#include "tests/api/listening.h"
#include "tests/gpu/failing_gpu.h"

static const char model_file[] = "classifier.ptl";

static size_t find_call(void)
{
    for (size_t i = 0; i < test_call_count; i++) {
        if (strcmp(test_calls[i].file, model_file) == 0 && test_calls[i].status == TAPER_OK) {
            return i;
        }
    }
    fail_msg("there is no call of %s", model_file);
    return 0;
}

static void open_metal(listening *w)
{
    open_listening(w, NULL);
    assert_int_equal(set_failing_gpu(w->context, w->error), TAPER_OK);
    gpu_fail(GPU_OPEN, 0);
}

static void close_metal(listening *w)
{
    metal_fault_now = METAL_RIGHT;
    close_listening(w);
    assert_int_equal(gpu_alive(), 0);
    assert_int_equal(metal_alive(), 0);
}

static void refusals(void **state)
{
    static const struct {
        metal_fault fault;
        const char *line;
    } all[] = {
        {METAL_NO_DEVICE, "no such device"},
        {METAL_NO_QUEUE, "no queue"},
        {METAL_NO_BUFFER, "newBufferWithLength"},
        {METAL_NO_LIBRARY, "program_source:1:1: error: the compiler was made to fail"},
        {METAL_NO_FUNCTION, "a constant was made to fail"},
        {METAL_NO_PIPELINE, "a pipeline was made to fail"},
        {METAL_FEW_THREADS, "fewer threads"},
        {METAL_NO_ENCODER, "computeCommandEncoder"},
        {METAL_ERROR, "a command was made to fail"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        listening w;
        open_metal(&w);
        metal_fault_now = all[i].fault;
        hold_against_cpu(&w, find_call(), "metal", 3);
        if (count_heard(&w, all[i].line) != 1) {
            fail_msg("\"%s\" was told %zu times: %s", all[i].line, count_heard(&w, all[i].line), w.heard);
        }
        close_metal(&w);
    }
}

// An app in the background may not use the GPU. When it is in the foreground again, it must use the GPU again.
static void background(void **state)
{
    (void)state;
    listening w;
    taper_model *model;
    taper_session *session;
    open_metal(&w);
    assert_int_equal(device_load(w.context, model_file, "metal", NULL, &model, w.error), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, w.error), TAPER_OK);
    taper_value *results[6];
    for (size_t run = 0; run < 6; run++) {
        const size_t before = gpu_calls(GPU_RUN);
        metal_fault_now = run == 2 || run == 3 ? METAL_NOT_PERMITTED : METAL_RIGHT;
        assert_int_equal(test_run(w.context, session, &test_calls[find_call()], &results[run], w.error), TAPER_OK);
        assert_true(device_alike(results[run], results[0]));
        if (run >= 4 && gpu_calls(GPU_RUN) == before) {
            fail_msg("the device is left alone after it was not permitted: %s", w.heard);
        }
    }
    for (size_t run = 0; run < 6; run++) {
        taper_value_release(results[run]);
    }
    taper_session_destroy(session);
    taper_model_release(model);
    close_metal(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(refusals), cmocka_unit_test(background)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
