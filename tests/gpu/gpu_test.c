// SPDX-License-Identifier: BSD-2-Clause
// Runs committed models on the device "vulkan" with Mesa's software driver, or on "metal" with the simulation in
// tests/apple. The results must be the same as on the CPU, in every run and thread and after every failure.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include <taper/taper_inspect.h>

#include "tests/gpu/gpu_fixture.h"
#include "tests/sample.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void models(void **state)
{
    (void)state;
    listening w;
    open_failing(&w);
    gpu_fail(GPU_OPEN, 0);
    for (size_t first = 0; first < test_call_count; first += test_group(first)) {
        hold_against_cpu(&w, first, device, 2);
    }
    assert_true(gpu_calls(GPU_RUN) > 20);
    close_failing(&w);
}

static void same_bits(void **state)
{
    enum { RUNS = 100 };
    (void)state;
    listening w;
    taper_model *model;
    taper_session *session;
    taper_value *first = NULL, *again;
    open_failing(&w);
    gpu_fail(GPU_OPEN, 0);
    if (device_load(w.context, small.file, GPU_DEVICE "!", NULL, &model, w.error) != TAPER_OK) {
        fail_msg("%s", taper_error_message(w.error));
    }
    assert_int_equal(taper_session_create(model, NULL, &session, w.error), TAPER_OK);
    size_t calls = 0;
    for (int run = 0; run < RUNS; run++) {
        const taper_status status = test_run(w.context, session, &test_calls[find_small()], &again, w.error);
        if (status != TAPER_OK) {
            fail_msg("run %d: %s", run, taper_error_message(w.error));
        }
        if (first == NULL) {
            first = again;
            continue;
        }
        assert_true(test_same(first, again));
        taper_value_release(again);
        if (run == RUNS - 2) {
            calls = atomic_load(&w.allocator.calls);
        }
    }
    // Making the input and reading the result allocate memory, but the run itself does not allocate memory.
    assert_true(atomic_load(&w.allocator.calls) - calls < 16);
    assert_int_equal(gpu_calls(GPU_RUN), RUNS + 1); // one call more, because the first run is repeated for its check
    assert_int_equal(gpu_calls(GPU_RECORD), 1);
    taper_value_release(first);
    taper_session_destroy(session);
    taper_model_release(model);
    close_failing(&w);
}

// Only one recording at a time uses the memory for tensors between layers, so recordings share this memory. A second
// session allocates no such memory, and its results do not change when the first session is destroyed.
static void shared_arena(void **state)
{
    enum { OF_SESSION = 4 }; // objects of a session: a recording, and buffers for inputs, results and parameters
    (void)state;
    listening w;
    taper_model *model;
    taper_session *sessions[2];
    taper_value *results[2], *again;
    size_t alive[2];
    open_failing(&w);
    gpu_fail(GPU_OPEN, 0);
    assert_int_equal(device_load(w.context, small.file, GPU_DEVICE "!", NULL, &model, w.error), TAPER_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(taper_session_create(model, NULL, &sessions[i], w.error), TAPER_OK);
        assert_int_equal(test_run(w.context, sessions[i], &test_calls[find_small()], &results[i], w.error), TAPER_OK);
        alive[i] = gpu_alive();
    }
    assert_int_equal(alive[1] - alive[0], OF_SESSION);
    taper_session_destroy(sessions[0]);
    assert_int_equal(test_run(w.context, sessions[1], &test_calls[find_small()], &again, w.error), TAPER_OK);
    assert_true(test_same(results[0], results[1]) && test_same(results[0], again));
    taper_value_release(results[0]);
    taper_value_release(results[1]);
    taper_value_release(again);
    taper_session_destroy(sessions[1]);
    taper_model_release(model);
    close_failing(&w);
}

// ---- threads

enum { THREADS = 4, RUNS_OF_EACH = 6 };

typedef struct worker {
    listening *w;
    taper_model *model;
    const taper_value *wanted;
    bool same;
} worker;

static void *work(void *user)
{
    worker *me = user;
    taper_session *session;
    me->same = taper_session_create(me->model, NULL, &session, NULL) == TAPER_OK;
    for (int run = 0; me->same && run < RUNS_OF_EACH; run++) {
        taper_value *result = NULL;
        me->same = test_run(me->w->context, session, &test_calls[find_small()], &result, NULL) == TAPER_OK &&
                   device_alike(result, me->wanted);
        taper_value_release(result);
    }
    taper_session_destroy(session);
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    listening w;
    taper_model *model;
    taper_session *session;
    taper_value *wanted;
    worker workers[THREADS];
    pthread_t ids[THREADS];
    open_failing(&w);
    gpu_fail(GPU_OPEN, 0);
    assert_int_equal(device_load(w.context, small.file, device, NULL, &model, w.error), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, w.error), TAPER_OK);
    assert_int_equal(test_run(w.context, session, &test_calls[find_small()], &wanted, w.error), TAPER_OK);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){&w, model, wanted, false};
        assert_int_equal(pthread_create(&ids[i], NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(ids[i], NULL);
        assert_true(workers[i].same);
    }
    taper_value_release(wanted);
    taper_session_destroy(session);
    taper_model_release(model);
    close_failing(&w);
}

// ---- profiles

// The profile must have one item for each dispatch, with one call per run, and no item may be counted twice.
static void profile(void **state)
{
    enum { RUNS = 3 };
    (void)state;
    listening w;
    taper_model *model;
    taper_session *session;
    open_failing(&w);
    gpu_fail(GPU_OPEN, 0);
    assert_int_equal(device_load(w.context, small.file, GPU_DEVICE "!", "times=1", &model, w.error), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, w.error), TAPER_OK);
    size_t dispatches = 0, layers = 0;
    // Run -1 is not profiled: the library executes the first run twice, to check its results.
    for (int run = -1; run < RUNS; run++) {
        taper_value *result;
        if (run == 0) {
            assert_int_equal(taper_profile_set(session, 1, w.error), TAPER_OK);
        }
        assert_int_equal(test_run(w.context, session, &test_calls[find_small()], &result, w.error), TAPER_OK);
        taper_value_release(result);
    }
    for (size_t i = 0; i < taper_profile_count(session); i++) {
        taper_profile_item item = {.struct_size = sizeof item};
        assert_int_equal(taper_profile_get(session, i, &item, w.error), TAPER_OK);
        if (item.calls != 0 && !item.fused && strcmp(item.kernel, "cpu") != 0) {
            assert_int_equal(item.calls, RUNS);
            assert_true(item.seconds > 0);
            dispatches++;
            layers += item.flops > 0;
        }
    }
    assert_true(dispatches > layers && layers > 20);
    taper_session_destroy(session);
    taper_model_release(model);
    close_failing(&w);
}

// ---- failing driver calls

// After a failure the result must still be correct, and one line in the log must state the reason.
static void failures(void **state)
{
    enum { RUNS = 3, MOST = 200 };
    (void)state;
    for (gpu_call call = 0; call < GPU_CALLS; call++) {
        size_t step = call;
        for (size_t n = 1; n < MOST; n += n < 6 ? 1 : n / 2) {
            if (step++ % sample_stride() != sample_first()) {
                continue;
            }
            listening w;
            open_failing(&w);
            gpu_fail(call, n);
            hold_against_cpu(&w, find_small(), device, RUNS);
            const bool failed = gpu_calls(call) >= n;
            if (failed && count_heard(&w, "made to fail") != 1) {
                fail_msg("call %d, the %zuth, failed, and was told %zu times: %s", (int)call, n,
                         count_heard(&w, "made to fail"), w.heard);
            }
            close_failing(&w);
            if (!failed) {
                break;
            }
        }
    }
    gpu_fail(GPU_OPEN, 0);
}

// ---- the cache directory

static char heard[sizeof((listening *)0)->heard]; // log of the last call of run_with

// Runs the model once in a new context. Returns the number of runs on the device.
static size_t run_with(const char *dir, const char *options)
{
    listening w;
    taper_model *model;
    taper_session *session;
    taper_value *result;
    open_listening(&w, dir);
    assert_int_equal(set_failing_gpu(w.context, w.error), TAPER_OK);
    gpu_fail(GPU_OPEN, 0);
    assert_int_equal(device_load(w.context, small.file, device, options, &model, w.error), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, w.error), TAPER_OK);
    assert_int_equal(test_run(w.context, session, &test_calls[find_small()], &result, w.error), TAPER_OK);
    const size_t runs = gpu_calls(GPU_RUN);
    memcpy(heard, w.heard, sizeof heard);
    taper_value_release(result);
    taper_session_destroy(session);
    taper_model_release(model);
    close_failing(&w);
    return runs;
}

static const char *self; // path of this program

static void crash_in_another_process(const char *dir, const char *how)
{
    char command[512];
    snprintf(command, sizeof command, "ulimit -c 0; '%s' --crash '%s' %s >/dev/null 2>&1", self, dir, how);
    assert_int_not_equal(system(command), 0);
}

// If a driver ended a process, later processes must not use the driver until its version changes.
static void crashes(void **state)
{
    char dir[] = "/tmp/taper_gpu_XXXXXX", command[64];
    (void)state;
    assert_non_null(mkdtemp(dir));
    for (int opening = 0; opening < 2; opening++) {
        crash_in_another_process(dir, opening ? "opening" : "running");
        for (int time = 0; time < 2; time++) {
            assert_int_equal(run_with(dir, NULL), 0);
            assert_non_null(strstr(heard, "an earlier process ended while it tried the driver"));
        }
        assert_int_equal(run_with(dir, "checks=0"), 1);
        crash_in_another_process(dir, opening ? "opening" : "running");
        if (opening) { // the process ended before it knew the version of the driver
            snprintf(command, sizeof command, "rm %s/gpu-" GPU_KIND ".trying", dir);
            assert_int_equal(system(command), 0);
        }
        gpu_is_newer(1);
        assert_int_equal(run_with(dir, NULL), 2);
        assert_null(strstr(heard, "earlier process"));
        gpu_is_newer(0);
        snprintf(command, sizeof command, "ls %s | grep -q trying", dir);
        assert_int_not_equal(system(command), 0);
        snprintf(command, sizeof command, "rm %s/*", dir);
        assert_int_equal(system(command), 0);
    }
    snprintf(command, sizeof command, "rmdir %s", dir);
    assert_int_equal(system(command), 0);
}

// Data that a driver compiled is stored and passed to the driver in the next process, unless the data is damaged or
// from another driver.
static void compiled(void **state)
{
    char dir[] = "/tmp/taper_gpu_XXXXXX", command[128];
    (void)state;
    assert_non_null(mkdtemp(dir));
    (void)run_with(dir, NULL);
    assert_int_equal(gpu_taken(), 0);
    gpu_is_newer(1);
    (void)run_with(dir, NULL);
    assert_int_equal(gpu_taken(), 0);
    gpu_is_newer(0);
    (void)run_with(dir, NULL);
    assert_true(gpu_taken() > 0);
    snprintf(command, sizeof command,
             "for f in %s/gpu-compiled-*; do printf x | dd of=$f bs=1 seek=70 conv=notrunc status=none; done", dir);
    assert_int_equal(system(command), 0);
    (void)run_with(dir, NULL);
    assert_int_equal(gpu_taken(), 0);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

// If the device name ends with "!" and the device is missing or declines, the error must name the reason.
static void insisting(void **state)
{
    (void)state;
    listening w;
    taper_model *model = NULL;
    open_failing(&w);
    gpu_fail(GPU_OPEN, 1);
    assert_int_equal(device_load(w.context, small.file, GPU_KIND "!", NULL, &model, w.error), TAPER_ERROR_UNSUPPORTED);
    assert_non_null(strstr(taper_error_message(w.error), "made to fail"));
    gpu_fail(GPU_OPEN, 0);
    assert_int_equal(device_load(w.context, small.file, GPU_KIND ":nothing!", NULL, &model, w.error),
                     TAPER_ERROR_UNSUPPORTED);
    assert_int_equal(device_load(w.context, small.file, device, "tiles=2", &model, w.error), TAPER_ERROR_ARGUMENT);
    // A driver that computes on the CPU is selected only if it is named.
    if (GPU_IS_SOFTWARE) {
        assert_int_equal(device_load(w.context, small.file, GPU_KIND "!", NULL, &model, w.error),
                         TAPER_ERROR_UNSUPPORTED);
    }
    assert_int_equal(device_load(w.context, small.file, GPU_KIND "!", "software=1", &model, w.error), TAPER_OK);
    taper_model_release(model);
    close_failing(&w);
}

// A file prepared for the device runs there by default. A file prepared for another device runs on the CPU, with a note
// in the log.
static void prepared(void **state)
{
    (void)state;
    const bool vulkan = strcmp(GPU_KIND, "vulkan") == 0;
    const char *const files[] = {vulkan ? "s13_vulkan.ptl" : "s14_metal.ptl",
                                 vulkan ? "s14_metal.ptl" : "s13_vulkan.ptl"};
    listening w;
    open_failing(&w);
    gpu_fail(GPU_OPEN, 0);
    for (size_t i = 0; i < test_call_count; i++) {
        taper_model *models[2];
        taper_value *results[2];
        if (strcmp(test_calls[i].file, files[0]) != 0 || test_calls[i].status != TAPER_OK) {
            continue;
        }
        for (int gpu = 0; gpu < 2; gpu++) {
            taper_session *session;
            assert_int_equal(device_load(w.context, files[0], gpu == 0 ? "cpu" : NULL, gpu == 0 ? NULL : "software=1",
                                         &models[gpu], w.error),
                             TAPER_OK);
            assert_string_equal(taper_model_device(models[gpu]), gpu == 0 ? "cpu" : GPU_KIND);
            assert_int_equal(taper_session_create(models[gpu], NULL, &session, w.error), TAPER_OK);
            assert_int_equal(test_run(w.context, session, &test_calls[i], &results[gpu], w.error), TAPER_OK);
            taper_session_destroy(session);
            taper_model_release(models[gpu]);
        }
        assert_true(device_alike(results[0], results[1]));
        taper_value_release(results[0]);
        taper_value_release(results[1]);
    }
    assert_true(gpu_calls(GPU_RUN) > 0);
    // With a software driver the first file is skipped, because such a driver is not selected by default.
    for (int i = GPU_IS_SOFTWARE ? 0 : 1; i < 2; i++) {
        taper_model *model;
        const size_t before = count_heard(&w, "the file is prepared for ");
        assert_int_equal(device_load(w.context, files[i], NULL, NULL, &model, w.error), TAPER_OK);
        assert_string_equal(taper_model_device(model), "cpu");
        assert_int_equal(count_heard(&w, "the file is prepared for "), before + 1);
        taper_model_release(model);
    }
    close_failing(&w);
}

// ---- tensors that stay on the device

enum { STEPS = 5, IN = 8, STATE = 24, OUT = 6 };

static taper_value *numbers_of(const listening *w, int64_t count, int step)
{
    taper_value *value;
    taper_tensor_info info = {.struct_size = sizeof info};
    const int64_t sizes[] = {1, count};
    assert_int_equal(taper_value_tensor(w->context, TAPER_F32, 2, sizes, &value, NULL), TAPER_OK);
    assert_int_equal(taper_value_get_tensor(value, &info, NULL), TAPER_OK);
    for (int64_t i = 0; i < count; i++) {
        ((float *)info.data)[i] = step < 0 ? 0 : (float)((i * 7 + step * 3) % 11 - 5) / 8;
    }
    return value;
}

static taper_session *open_state(listening *w, const char *where, int results_stay)
{
    taper_model *model;
    taper_session *session;
    const taper_session_options options = {.struct_size = sizeof options, .results_stay = results_stay};
    assert_int_equal(device_load(w->context, "gpu_state.pt", where, NULL, &model, w->error), TAPER_OK);
    assert_int_equal(taper_session_create(model, &options, &session, w->error), TAPER_OK);
    taper_model_release(model);
    return session;
}

// Runs one step: returns y of (y, h) and replaces *h by the new h.
static taper_value *step_with(const listening *w, taper_session *session, int step, taper_value **h)
{
    taper_value *x = numbers_of(w, IN, step), *pair, *y;
    taper_value *const inputs[] = {x, *h};
    assert_int_equal(taper_session_run(session, NULL, inputs, 2, &pair, w->error), TAPER_OK);
    taper_value_release(x);
    taper_value_release(*h);
    assert_int_equal(taper_value_item(pair, 0, &y, NULL), TAPER_OK);
    assert_int_equal(taper_value_item(pair, 1, h, NULL), TAPER_OK);
    taper_value_release(pair);
    return y;
}

static size_t moved(const listening *w, size_t floats)
{
    char words[80];
    snprintf(words, sizeof words, " moves %zu bytes from and to the host", floats * sizeof(float));
    return count_heard(w, words);
}

static void check_states(bool hidden)
{
    listening w;
    open_failing(&w);
    gpu_fail(GPU_OPEN, 0);
    gpu_hide(hidden);
    const size_t copies = gpu_copies();
    taper_session *const cpu = open_state(&w, "cpu", 0), *const gpu = open_state(&w, GPU_DEVICE "!", 1);
    taper_session *const plain = open_state(&w, GPU_DEVICE "!", 0);
    taper_value *wanted_h = numbers_of(&w, STATE, -1), *h = numbers_of(&w, STATE, -1),
                *home = numbers_of(&w, STATE, -1);
    for (int step = 0; step < STEPS; step++) { // the comparison copies y to the host; h stays on the device
        taper_value *const wanted = step_with(&w, cpu, step, &wanted_h);
        taper_value *const y = step_with(&w, gpu, step, &h), *const other = step_with(&w, plain, step, &home);
        assert_true(device_alike(wanted, y) && device_alike(wanted, other));
        taper_value_release(wanted);
        taper_value_release(y);
        taper_value_release(other);
    }
    // In one session all tensors were copied once. In the second session only x was copied, because h stays on the
    // device.
    assert_true(moved(&w, IN + STATE + STATE + OUT) == 1 && moved(&w, IN) == 1);
    // A session of a model without a device must be able to read a tensor on the device, and so must the program.
    taper_value *const away = taper_value_retain(h), *const again = taper_value_retain(wanted_h);
    taper_value *const wanted = step_with(&w, cpu, STEPS, &wanted_h), *const y = step_with(&w, cpu, STEPS, &h);
    assert_true(device_alike(wanted, y) && device_alike(again, away));
    taper_value_release(wanted);
    taper_value_release(y);
    taper_value_release(again);
    taper_value_release(away);
    taper_value_release(wanted_h);
    taper_value_release(h);
    taper_value_release(home);
    // The method "keep" stores the tensor in an attribute. The method "cut" passes it between two segments of a
    // network.
    static const char *const methods[] = {"keep", "cut"};
    for (int method = 0; method < 2; method++) {
        for (int step = 0; step < STEPS; step++) {
            taper_value *x = numbers_of(&w, IN, step), *results[2];
            assert_int_equal(taper_session_run(cpu, methods[method], &x, 1, &results[0], w.error), TAPER_OK);
            assert_int_equal(taper_session_run(plain, methods[method], &x, 1, &results[1], w.error), TAPER_OK);
            assert_true(device_alike(results[0], results[1]));
            taper_value_release(results[0]);
            taper_value_release(results[1]);
            taper_value_release(x);
        }
    }
    taper_value *wanted_state, *state;
    assert_int_equal(taper_session_attribute(cpu, "h", &wanted_state, w.error), TAPER_OK);
    assert_int_equal(taper_session_attribute(plain, "h", &state, w.error), TAPER_OK);
    assert_true(device_alike(wanted_state, state));
    taper_value_release(wanted_state);
    taper_value_release(state);
    assert_true(!hidden || gpu_copies() > copies + STEPS);
    // The tensor on the device is the last object of its session, and then of the whole context.
    h = numbers_of(&w, STATE, -1);
    taper_value_release(step_with(&w, gpu, 0, &h));
    taper_session_destroy(gpu);
    taper_session_destroy(cpu);
    taper_session_destroy(plain);
    taper_context_release(w.context);
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_get_tensor(h, &info, NULL), TAPER_OK);
    assert_true(info.sizes[1] == STATE && ((const float *)info.data)[0] != 0);
    taper_value_release(h);
    w.context = NULL;
    gpu_hide(false);
    close_failing(&w);
}

static void states(void **state)
{
    (void)state;
    check_states(false);
    if (strcmp(GPU_KIND, "vulkan") == 0) { // only Vulkan has memory that the host cannot access
        check_states(true);
    }
}

// Runs committed models on a device whose memory the host cannot access.
static void hidden_memory(void **state)
{
    (void)state;
    listening w;
    if (strcmp(GPU_KIND, "vulkan") != 0) {
        return;
    }
    open_failing(&w);
    gpu_fail(GPU_OPEN, 0);
    gpu_hide(true);
    for (size_t first = 0; first < test_call_count; first += test_group(first)) {
        hold_against_cpu(&w, first, device, 1);
    }
    gpu_hide(false);
    close_failing(&w);
}

// A replay must give identical bits each time, must not allocate memory, and must take little more time than the calls
// of the GPU interface inside it.
static void replays(void **state)
{
    enum { REPLAYS = 1000 };
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    const double most = 2e-3;
#else
    const double most = 50e-6;
#endif
    (void)state;
    listening w;
    taper_value *first = NULL;
    double least = 1;
    size_t calls = 0;
    open_failing(&w);
    gpu_fail(GPU_OPEN, 0);
    taper_session *const session = open_state(&w, GPU_DEVICE "!", 0);
    taper_value *const inputs[] = {numbers_of(&w, IN, 1), numbers_of(&w, STATE, 2)};
    for (int run = 0; run < REPLAYS; run++) {
        taper_value *result;
        const size_t before = atomic_load(&w.allocator.calls);
        const double begin = now();
        assert_int_equal(taper_session_run(session, NULL, inputs, 2, &result, w.error), TAPER_OK);
        const double own = now() - begin - gpu_seconds();
        least = own < least ? own : least;
        calls = atomic_load(&w.allocator.calls) - before;
        if (first == NULL) {
            first = result;
            continue;
        }
        assert_true(test_same(first, result));
        taper_value_release(result);
    }
    assert_int_equal(calls, 0);
    printf("%.1f us of our own in a replay\n", least * 1e6);
    assert_true(least < most);
    taper_value_release(first);
    taper_value_release(inputs[0]);
    taper_value_release(inputs[1]);
    taper_session_destroy(session);
    close_failing(&w);
}

// ---- pipelines in the background

// With a time limit, the CPU runs the model until the pipelines are made; no run may wait for them.
static void background(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        listening w;
        taper_model *model;
        taper_session *session;
        taper_value *wanted = NULL;
        const taper_session_options options = {.struct_size = sizeof options, .time_budget = 3600};
        open_failing(&w);
        gpu_fail(GPU_OPEN, 0);
        // The last round has no time limit, but the option background=1.
        assert_int_equal(
            device_load(w.context, small.file, device, round == 2 ? "background=1" : NULL, &model, w.error), TAPER_OK);
        assert_int_equal(taper_session_create(model, round == 2 ? NULL : &options, &session, w.error), TAPER_OK);
        int run = 0;
        for (; gpu_calls(GPU_RUN) == 0 && run < 100000 && (round != 0 || run < 1); run++) {
            taper_value *result;
            assert_int_equal(test_run(w.context, session, &test_calls[find_small()], &result, w.error), TAPER_OK);
            assert_true(wanted == NULL || device_alike(wanted, result));
            taper_value_release(wanted);
            wanted = result;
        }
        assert_true(run > 1 || round == 0); // in the first round, the first run may end before any pipeline is made
        assert_int_equal(count_heard(&w, "the CPU runs this segment while the device makes its pipelines"), 1);
        assert_int_equal(gpu_calls(GPU_RUN) != 0, round != 0); // the first round ends while pipelines are being made
        taper_value_release(wanted);
        taper_session_destroy(session);
        taper_model_release(model);
        close_failing(&w);
    }
}

// If a pipeline cannot be made, the CPU continues to run the segment.
static void background_fails(void **state)
{
    (void)state;
    listening w;
    taper_model *model;
    taper_session *session;
    open_failing(&w);
    gpu_fail(GPU_PIPELINE, 3);
    assert_int_equal(device_load(w.context, small.file, device, "background=1", &model, w.error), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, w.error), TAPER_OK);
    for (int run = 0; run < 100000 && count_heard(&w, "does not work any more") == 0; run++) {
        taper_value *result;
        assert_int_equal(test_run(w.context, session, &test_calls[find_small()], &result, w.error), TAPER_OK);
        taper_value_release(result);
    }
    assert_int_equal(count_heard(&w, "does not work any more"), 1);
    taper_session_destroy(session);
    taper_model_release(model);
    close_failing(&w);
}

// Making pipelines fails in the background and in the foreground, in a session without a limit that waits for the first
// pipeline. The error must describe the first failure, and no thread may read memory that another thread writes.
static void both_fail(void **state)
{
    const taper_session_options limited = {.struct_size = sizeof limited, .time_budget = 3600};
    (void)state;
    listening w;
    taper_model *model;
    taper_session *sessions[2];
    open_failing(&w);
    gpu_fail(GPU_PIPELINE, 1);
    gpu_slow_pipelines(true);
    assert_int_equal(device_load(w.context, small.file, device, NULL, &model, w.error), TAPER_OK);
    for (int i = 0; i < 2; i++) {
        taper_value *result;
        assert_int_equal(taper_session_create(model, i == 0 ? &limited : NULL, &sessions[i], w.error), TAPER_OK);
        assert_int_equal(test_run(w.context, sessions[i], &test_calls[find_small()], &result, w.error), TAPER_OK);
        taper_value_release(result);
    }
    assert_int_equal(count_heard(&w, "the CPU runs this segment while the device makes its pipelines"), 1);
    assert_int_equal(count_heard(&w, "was made to fail"), 1);
    assert_int_equal(count_heard(&w, "the one of number 1"), 1); // one of the threads, but not both, logs the failure
    assert_int_equal(count_heard(&w, "does not work any more"), 1);
    gpu_slow_pipelines(false);
    taper_session_destroy(sessions[0]);
    taper_session_destroy(sessions[1]);
    taper_model_release(model);
    close_failing(&w);
}

static taper_status load_and_run(taper_context *context, const void *what, taper_error *error)
{
    taper_model *model;
    taper_session *session = NULL;
    (void)what;
    taper_status status = set_failing_gpu(context, error);
    if (status == TAPER_OK) {
        status = device_load(context, small.file, device, NULL, &model, error);
    }
    if (status != TAPER_OK) {
        return status;
    }
    status = taper_session_create(model, NULL, &session, error);
    for (int run = 0; run < 2 && status == TAPER_OK; run++) {
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
    gpu_fail(GPU_OPEN, 0);
    test_each_allocation_fails("classifier.ptl on " GPU_KIND, load_and_run, NULL);
    assert_int_equal(gpu_alive(), 0);
}

int main(int count, char **arguments)
{
    const struct CMUnitTest quick[] = {
        cmocka_unit_test(models),           cmocka_unit_test(same_bits),     cmocka_unit_test(threads),
        cmocka_unit_test(failures),         cmocka_unit_test(insisting),     cmocka_unit_test(profile),
        cmocka_unit_test(crashes),          cmocka_unit_test(compiled),      cmocka_unit_test(prepared),
        cmocka_unit_test(states),           cmocka_unit_test(background),    cmocka_unit_test(replays),
        cmocka_unit_test(background_fails), cmocka_unit_test(hidden_memory), cmocka_unit_test(both_fail),
        cmocka_unit_test(shared_arena),

    };
    self = arguments[0];
    if (count > 3 && strcmp(arguments[1], "--crash") == 0) {
        gpu_crash(strcmp(arguments[3], "opening") == 0);
        (void)run_with(arguments[2], NULL);
        return 0;
    }
    const struct CMUnitTest slow[] = {cmocka_unit_test(no_memory)};
    return count > 1 && strcmp(arguments[1], "--memory") == 0 ? cmocka_run_group_tests(slow, NULL, NULL)
                                                              : cmocka_run_group_tests(quick, NULL, NULL);
}
