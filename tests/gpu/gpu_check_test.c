// SPDX-License-Identifier: BSD-2-Clause
// Tests the check of drivers before their results are used: the first run of a recording is compared with the CPU,
// unless an earlier process has compared it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/gpu/gpu_fixture.h"

// A driver that computes wrong results must be detected in the first run. The results of this run and of later runs are
// then computed on the CPU.
static void wrong_numbers(void **state)
{
    (void)state;
    for (gpu_wrong how = GPU_WRONG; how <= GPU_WRONG_NOW_AND_THEN; how++) {
        listening w;
        open_failing(&w);
        gpu_fail(GPU_OPEN, 0);
        gpu_answer(how);
        hold_against_cpu(&w, find_small(), device, 4);
        assert_int_equal(count_heard(&w, how == GPU_WRONG ? "differ from the CPU's" : "two results"), 1);
        assert_int_equal(gpu_calls(GPU_RUN), 2);
        gpu_answer(GPU_RIGHT);
        close_failing(&w);
    }
}

static void end_memory(void *user)
{
    test_allocator *const allocator = user;
    // Lets all allocations after the device's run fail; these allocations belong to the CPU's run.
    allocator->fail_all = gpu_calls(GPU_RUN) == 2;
    allocator->fail_at = allocator->fail_all ? 1 : 0;
}

// If the CPU's run fails at first, nothing was compared, so the next run must be compared.
static void compared_later(void **state)
{
    (void)state;
    listening w;
    taper_model *model;
    taper_session *session;
    taper_value *result;
    open_failing(&w);
    gpu_fail(GPU_OPEN, 0);
    gpu_answer(GPU_WRONG);
    assert_int_equal(device_load(w.context, small.file, device, NULL, &model, w.error), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, w.error), TAPER_OK);
    gpu_after_runs(end_memory, &w.allocator);
    assert_int_equal(test_run(w.context, session, &test_calls[find_small()], &result, w.error), TAPER_ERROR_RESOURCE);
    gpu_after_runs(NULL, NULL);
    w.allocator.fail_at = 0;
    assert_int_equal(count_heard(&w, "differ from the CPU's"), 0);
    assert_int_equal(test_run(w.context, session, &test_calls[find_small()], &result, w.error), TAPER_OK);
    assert_int_equal(count_heard(&w, "differ from the CPU's"), 1);
    gpu_answer(GPU_RIGHT);
    taper_value_release(result);
    taper_session_destroy(session);
    taper_model_release(model);
    close_failing(&w);
}

// A correct driver is remembered for later processes, which need neither a second run nor a run on the CPU. Memory that
// the CPU needed for the comparison is freed: the weights remain only on the device.
static void verdicts(void **state)
{
    char dir[] = "/tmp/taper_gpu_XXXXXX", command[64];
    (void)state;
    assert_non_null(mkdtemp(dir));
    for (int time = 0; time < 2; time++) {
        listening w;
        taper_model *model;
        taper_session *session;
        taper_value *result;
        open_listening(&w, dir);
        assert_int_equal(set_failing_gpu(w.context, w.error), TAPER_OK);
        gpu_fail(GPU_OPEN, 0);
        assert_int_equal(device_load(w.context, small.file, GPU_DEVICE "!", NULL, &model, w.error), TAPER_OK);
        assert_int_equal(taper_session_create(model, NULL, &session, w.error), TAPER_OK);
        assert_int_equal(test_run(w.context, session, &test_calls[find_small()], &result, w.error), TAPER_OK);
        assert_int_equal(gpu_calls(GPU_RUN), time == 0 ? 2 : 1);
        taper_memory_info memory = {.struct_size = sizeof memory};
        taper_session_memory(session, &memory);
        assert_int_equal(memory.packed_bytes, 0);
        taper_value_release(result);
        taper_session_destroy(session);
        taper_model_release(model);
        close_failing(&w);
    }
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

// In the comparison, the CPU must free each value after its last use. All values of a network together need several
// times as much memory as the values in use at one time.
static void lets_go(void **state)
{
    (void)state;
    listening w;
    taper_model *model;
    taper_session *session;
    taper_value *result;
    static const test_call call = {"classifier.ptl", "forward", "f1,3,512,512", TAPER_OK, false};
    open_failing(&w);
    gpu_fail(GPU_OPEN, 0);
    assert_int_equal(device_load(w.context, call.file, GPU_DEVICE "!", NULL, &model, w.error), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, w.error), TAPER_OK);
    assert_int_equal(test_run(w.context, session, &call, &result, w.error), TAPER_OK);
    // The peak is 48 MB; if no value were freed, the peak would be 154 MB.
    assert_in_range(atomic_load(&w.allocator.peak), 1, 96 << 20);
    taper_value_release(result);
    taper_session_destroy(session);
    taper_model_release(model);
    close_failing(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_numbers),
        cmocka_unit_test(compared_later),
        cmocka_unit_test(verdicts),
        cmocka_unit_test(lets_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
