// SPDX-License-Identifier: BSD-2-Clause
// Placement, by measuring both ways and by estimate: what seems slower by far is not tried, what first runs measured
// corrects what seems so, and the next process knows it.
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

// What a device does in a second: far less than any CPU, and far more.
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

// No pipeline is made and nothing runs there; the profile says why.
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

// Whoever insists, and whoever asks for no estimates, gets the device.
static void insisting(void **state)
{
    listening w;
    opened o;
    (void)state;
    open_device(&w, NULL, GPU_DEVICE "!", slow, &o);
    run(&w, o.session, &large, 2);
    assert_int_equal(count_heard(&w, by_estimate), 0);
    assert_int_equal(gpu_calls(GPU_RUN), 3); // the first one twice
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

// What seems fast is tried. It is not, and what comes next is not tried, in the next process neither.
static void learning(void **state)
{
    enum { RUNS = 7 }; // both ways have been measured then
    char dir[] = "/tmp/taper_gpu_XXXXXX", command[160];
    listening w;
    opened o;
    (void)state;
    assert_non_null(mkdtemp(dir));
    open_device(&w, dir, GPU_DEVICE, fast, &o);
    gpu_slow(true);
    run(&w, o.session, &large, RUNS);
    assert_int_equal(count_heard(&w, by_estimate), 0);
    assert_int_equal(count_heard(&w, "the CPU runs this segment from now on: "), 1); // as measured
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
        // Damaged: as none.
        snprintf(command, sizeof command, "for f in %s/gpu-learned-*; do printf x >> $f; done", dir);
        assert_int_equal(system(command), 0);
    }
    gpu_slow(false);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

// Which way is faster is kept as well, where it is clear: the next process neither measures nor makes pipelines for
// nothing.
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
        gpu_slow(round == 0); // a device that is slower than any CPU
        assert_int_equal(device_load(w.context, middle.file, GPU_DEVICE, NULL, &o.model, w.error), TAPER_OK);
        assert_int_equal(taper_session_create(o.model, NULL, &o.session, w.error), TAPER_OK);
        run(&w, o.session, &middle, 10);
        assert_int_equal(count_heard(&w, "the CPU runs this segment: it was slower than the CPU when it was measured"),
                         round == 1);
        assert_int_equal(gpu_calls(GPU_PIPELINE) == 0, round == 1);
        close_session(&o);
        close_device(&w);
        if (round == 1) { // damaged: as none
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
