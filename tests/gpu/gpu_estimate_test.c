// SPDX-License-Identifier: BSD-2-Clause
// Tests how estimates and measurements decide where segments run. Segments that seem much slower on the device than on
// the CPU are not tried. The first runs are measured and correct the estimate, and the result is stored for the next
// process.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <taper/taper_inspect.h>

#include "tests/api/listening.h"
#include "tests/gpu/failing_gpu.h"

#ifndef GPU_DEVICE
#define GPU_DEVICE "vulkan:llvmpipe"
#endif

static const char by_estimate[] = "the CPU runs this segment: by the estimate the CPU is faster";

// Operations per second of a device that is much slower than any CPU, and of a device that is much faster.
static const double slow = 1e8, fast = 1e15;

static const test_call large = {"classifier.ptl", "forward", "f1,3,256,256", TAPER_OK, false};
static const test_call middle = {"classifier.ptl", "forward", "f1,3,192,192", TAPER_OK, false};

typedef struct opened {
    taper_model *model;
    taper_session *session;
} opened;

static void open_device(listening *w, const char *dir, const char *device, double most, opened *o)
{
    open_listening(w, dir);
    assert_int_equal(set_failing_gpu(w->context, w->error), TAPER_OK);
    gpu_fail(GPU_OPEN, 0);
    gpu_estimate(true, most);
    assert_int_equal(device_load(w->context, large.file, device, NULL, &o->model, w->error), TAPER_OK);
    assert_int_equal(taper_session_create(o->model, NULL, &o->session, w->error), TAPER_OK);
}

static void close_session(opened *o)
{
    taper_session_destroy(o->session);
    taper_model_release(o->model);
}

static void close_device(listening *w)
{
    close_listening(w);
    assert_int_equal(gpu_alive(), 0);
    gpu_estimate(false, 0);
}

static void run(listening *w, taper_session *session, const test_call *call, int runs)
{
    taper_value *first = NULL, *result;
    for (int i = 0; i < runs; i++) {
        assert_int_equal(test_run(w->context, session, call, &result, w->error), TAPER_OK);
        assert_true(first == NULL || device_alike(first, result));
        taper_value_release(first);
        first = result;
    }
    taper_value_release(first);
}

// No pipeline may be made and nothing may run on the device; the profile states the reason.
static void slower(void **state)
{
    listening w;
    opened o;
    size_t told = 0;
    (void)state;
    open_device(&w, NULL, GPU_DEVICE, slow, &o);
    assert_int_equal(taper_profile_set(o.session, 1, w.error), TAPER_OK);
    run(&w, o.session, &large, 3);
    assert_int_equal(count_heard(&w, by_estimate), 1);
    assert_int_equal(gpu_calls(GPU_PIPELINE) + gpu_calls(GPU_RUN), 0);
    for (size_t i = 0; i < taper_profile_count(o.session); i++) {
        taper_profile_item item = {.struct_size = sizeof item};
        assert_int_equal(taper_profile_get(o.session, i, &item, w.error), TAPER_OK);
        told += item.calls == 0 && item.cpu_reason != NULL &&
                strcmp(item.cpu_reason, "by the estimate the CPU is faster") == 0;
    }
    assert_int_equal(told, 1);
    close_session(&o);
    close_device(&w);
}

// A device whose name ends with "!", and a device without estimates, run the segment anyway.
static void insisting(void **state)
{
    listening w;
    opened o;
    (void)state;
    open_device(&w, NULL, GPU_DEVICE "!", slow, &o);
    run(&w, o.session, &large, 2);
    assert_int_equal(count_heard(&w, by_estimate), 0);
    assert_int_equal(gpu_calls(GPU_RUN), 3); // three runs, because the first run is repeated for its check
    close_session(&o);
    close_device(&w);
    open_device(&w, NULL, GPU_DEVICE, slow, &o);
    close_session(&o);
    assert_int_equal(device_load(w.context, large.file, GPU_DEVICE, "estimate=0", &o.model, w.error), TAPER_OK);
    assert_int_equal(taper_session_create(o.model, NULL, &o.session, w.error), TAPER_OK);
    run(&w, o.session, &large, 1);
    assert_int_equal(gpu_calls(GPU_RUN), 2);
    close_session(&o);
    close_device(&w);
}

// A segment whose estimate is fast is tried. It turns out to be slow, so later segments are not tried, also not in the
// next process.
static void learning(void **state)
{
    enum { RUNS = 7 }; // number of runs that are enough to measure the device and the CPU
    char dir[] = "/tmp/taper_gpu_XXXXXX", command[160];
    listening w;
    opened o;
    (void)state;
    assert_non_null(mkdtemp(dir));
    open_device(&w, dir, GPU_DEVICE, fast, &o);
    gpu_slow(true);
    run(&w, o.session, &large, RUNS);
    assert_int_equal(count_heard(&w, by_estimate), 0);
    // The measurement has decided for the CPU, and exactly one line of the log says that the CPU runs the segment.
    assert_int_equal(count_heard(&w, "the CPU runs this segment from now on: "), 1);
    const size_t runs = gpu_calls(GPU_RUN);
    run(&w, o.session, &middle, 2);
    assert_int_equal(count_heard(&w, by_estimate), 1);
    assert_int_equal(gpu_calls(GPU_RUN), runs);
    close_session(&o);
    close_device(&w);
    for (int round = 0; round < 2; round++) {
        open_device(&w, dir, GPU_DEVICE, fast, &o);
        run(&w, o.session, &middle, 2);
        assert_int_equal(count_heard(&w, by_estimate), round == 0);
        assert_int_equal(gpu_calls(GPU_RUN) == 0, round == 0);
        close_session(&o);
        close_device(&w);
        // A damaged file is treated as missing.
        snprintf(command, sizeof command, "for f in %s/gpu-learned-*; do printf x >> $f; done", dir);
        assert_int_equal(system(command), 0);
    }
    gpu_slow(false);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

// If the device or the CPU is clearly faster than the other, the faster of the two is stored, so that the next process
// neither measures again nor makes pipelines that it would not use.
static void faster_is_kept(void **state)
{
    char dir[] = "/tmp/taper_gpu_XXXXXX", command[160];
    (void)state;
    assert_non_null(mkdtemp(dir));
    for (int round = 0; round < 3; round++) {
        listening w;
        opened o;
        open_listening(&w, dir);
        assert_int_equal(set_failing_gpu(w.context, w.error), TAPER_OK);
        gpu_fail(GPU_OPEN, 0);
        gpu_slow(round == 0); // makes the device slower than any CPU in the first round
        assert_int_equal(device_load(w.context, middle.file, GPU_DEVICE, NULL, &o.model, w.error), TAPER_OK);
        assert_int_equal(taper_session_create(o.model, NULL, &o.session, w.error), TAPER_OK);
        run(&w, o.session, &middle, 10);
        assert_int_equal(count_heard(&w, "the CPU runs this segment: it was slower than the CPU when it was measured"),
                         round == 1);
        assert_int_equal(gpu_calls(GPU_PIPELINE) == 0, round == 1);
        close_session(&o);
        close_device(&w);
        if (round == 1) { // damages the file, which is then treated as missing
            snprintf(command, sizeof command, "for f in %s/gpu-faster-*; do printf x >> $f; done", dir);
            assert_int_equal(system(command), 0);
        }
    }
    gpu_slow(false);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slower), cmocka_unit_test(insisting),
                                       cmocka_unit_test(learning), cmocka_unit_test(faster_is_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
