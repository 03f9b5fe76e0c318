// SPDX-License-Identifier: BSD-2-Clause
// Whole models on the device "nnapi", over the double of one level (see nnapi_driver_test.c): what they give is what
// the CPU gives, whatever the driver does.
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
#include "tests/api/fixture.h"
#include "tests/nnapi/double_world.h"

// ---- results that are alike: floats to 1e-4 of the largest, integers of quantized tensors within 1

static double element(const taper_tensor_info *t, int64_t at)
{
    const char *data = t->data;
    switch (t->dtype) {
    case TAPER_F32:
        return (double)((const float *)(const void *)data)[at];
    case TAPER_I64:
        return (double)((const int64_t *)(const void *)data)[at];
    case TAPER_QU8:
        return (double)((const unsigned char *)data)[at];
    case TAPER_QI8:
        return (double)((const signed char *)data)[at];
    default:
        return 0;
    }
}

typedef struct difference {
    double largest, most;
} difference;

static void compare(const taper_tensor_info *a, const taper_tensor_info *b, size_t dim, int64_t at, difference *d)
{
    if (dim == a->rank) {
        const double x = element(a, at), y = element(b, at);
        if (x != y && !(isnan(x) && isnan(y))) {
            d->most = fmax(d->most, isfinite(x - y) ? fabs(x - y) : INFINITY);
        }
        d->largest = fmax(d->largest, isfinite(y) ? fabs(y) : 0);
        return;
    }
    for (int64_t i = 0; i < a->sizes[dim]; i++) {
        compare(a, b, dim + 1, at + i * a->strides[dim], d);
    }
}

static bool tensors_alike(const taper_value *a, const taper_value *b)
{
    taper_tensor_info x = {.struct_size = sizeof x}, y = {.struct_size = sizeof y};
    if (taper_value_get_tensor(a, &x, NULL) != TAPER_OK || taper_value_get_tensor(b, &y, NULL) != TAPER_OK ||
        x.dtype != y.dtype || x.rank != y.rank || x.quantized != y.quantized ||
        (x.quantized == 1 && (x.scale != y.scale || x.zero_point != y.zero_point))) {
        return false;
    }
    for (size_t d = 0; d < x.rank; d++) {
        if (x.sizes[d] != y.sizes[d] || x.strides[d] != y.strides[d]) {
            return false;
        }
    }
    difference d = {0, 0};
    compare(&x, &y, 0, 0, &d);
    return d.most <= (x.dtype == TAPER_F32 ? 1e-4 * d.largest + 1e-5 : x.quantized != 0 ? 1 : 0);
}

static bool alike(const taper_value *a, const taper_value *b)
{
    const taper_kind kind = taper_value_kind(a);
    if (kind == TAPER_KIND_TENSOR) {
        return taper_value_kind(b) == kind && tensors_alike(a, b);
    }
    if (kind != TAPER_KIND_LIST && kind != TAPER_KIND_TUPLE && kind != TAPER_KIND_DICT) {
        return test_same(a, b);
    }
    bool same = taper_value_kind(b) == kind && taper_value_count(a) == taper_value_count(b);
    for (size_t i = 0; same && i < taper_value_count(a); i++) {
        taper_value *x = NULL, *y = NULL;
        same =
            taper_value_item(a, i, &x, NULL) == TAPER_OK && taper_value_item(b, i, &y, NULL) == TAPER_OK && alike(x, y);
        taper_value_release(x);
        taper_value_release(y);
    }
    return same;
}

// ---- a context that listens

enum { HEARD = 1 << 15 };

typedef struct world {
    taper_context *context;
    taper_error *error;
    test_allocator allocator;
    pthread_mutex_t lock;
    size_t length;
    char heard[HEARD];
} world;

static void listen(void *user, taper_log_level level, const char *text, size_t length)
{
    world *w = user;
    if (level != TAPER_LOG_PRINT) {
        pthread_mutex_lock(&w->lock);
        if (w->length + length < HEARD) {
            memcpy(w->heard + w->length, text, length);
            w->length += length;
            w->heard[w->length] = '\0';
        }
        pthread_mutex_unlock(&w->lock);
    }
}

static void open_world(world *w, const char *cache_dir)
{
    memset(w, 0, sizeof *w);
    pthread_mutex_init(&w->lock, NULL);
    test_allocator_init(&w->allocator);
    w->error = taper_error_create();
    const taper_context_options options = {.struct_size = sizeof options,
                                           .allocator = &w->allocator.allocator,
                                           .threads = 1,
                                           .log = listen,
                                           .log_user = w,
                                           .cache_dir = cache_dir};
    assert_int_equal(taper_context_create(&options, &w->context, w->error), TAPER_OK);
}

static void close_world(world *w)
{
    taper_context_release(w->context);
    taper_error_destroy(w->error);
    assert_int_equal(atomic_load(&w->allocator.blocks), 0);
    pthread_mutex_destroy(&w->lock);
}

static size_t count_heard(const world *w, const char *words)
{
    size_t count = 0;
    for (const char *at = w->heard; (at = strstr(at, words)) != NULL; at++) {
        count++;
    }
    return count;
}

static taper_status load(taper_context *context, const char *file, const char *device, const char *device_options,
                         taper_model **model, taper_error *error)
{
    char path[1024];
    const taper_load_options options = {.struct_size = sizeof options,
                                        .compiler = taper_compiler(),
                                        .device = device,
                                        .device_options = device_options};
    test_path(file, path, sizeof path);
    return taper_model_load(context, path, &options, model, error);
}

// ---- every committed model

enum { RUNS = 8, MOST_CALLS = 8 };

// Runs the calls of one file so many times, device by device, and holds them against each other.
static void hold_against_cpu(world *w, size_t first, const char *device, int runs)
{
    taper_model *models[2];
    taper_session *sessions[2];
    const char *file = test_calls[first].file;
    for (int i = 0; i < 2; i++) {
        if (load(w->context, file, i == 0 ? NULL : device, NULL, &models[i], w->error) != TAPER_OK) {
            fail_msg("%s: %s", file, taper_error_message(w->error));
        }
        assert_int_equal(taper_session_create(models[i], NULL, &sessions[i], w->error), TAPER_OK);
    }
    for (int run = 0; run < runs; run++) {
        for (size_t k = 0; k < test_group(first); k++) {
            const test_call *call = &test_calls[first + k];
            taper_value *results[2];
            for (int i = 0; i < 2; i++) {
                const taper_status status = test_run(w->context, sessions[i], call, &results[i], w->error);
                if (status != call->status) {
                    fail_msg("%s %s, run %d: status %d, %s", file, call->args, run, (int)status,
                             taper_error_message(w->error));
                }
            }
            if (results[0] != NULL && !alike(results[1], results[0])) {
                fail_msg("%s %s, run %d: another result than the CPU's; %s", file, call->args, run, w->heard);
            }
            taper_value_release(results[0]);
            taper_value_release(results[1]);
        }
    }
    for (int i = 0; i < 2; i++) {
        taper_session_destroy(sessions[i]);
        taper_model_release(models[i]);
    }
}

static void every_model(world *w, int runs)
{
    for (size_t first = 0; first < test_call_count; first += test_group(first)) {
        hold_against_cpu(w, first, "nnapi", runs);
    }
}

static void models(void **state)
{
    (void)state;
    world w;
    double_switch(NULL);
    open_world(&w, NULL);
    every_model(&w, RUNS);
    printf("level %d: %zu networks compiled, %zu segments kept by the device, %zu by the CPU\n", double_level(),
           count_heard(&w, "operations compiled"), count_heard(&w, ": the device does it: "),
           count_heard(&w, ": the CPU does it: "));
    assert_true(count_heard(&w, "operations compiled") >= 4);
    close_world(&w);
    double_is_silent();
}

// ---- one model whose network is compiled at every level

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

// The last words where the run failed.
static taper_status run_small(world *w, const char *device, int runs)
{
    taper_model *model;
    taper_session *session;
    taper_value *result;
    taper_status status = load(w->context, small.file, device, NULL, &model, w->error);
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

// Each function of the driver fails, at its first call and at later ones.
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
            world w;
            snprintf(text, sizeof text, "fail=ANeuralNetworks%s:%d:OP_FAILED", names[f], call);
            double_switch(text);
            open_world(&w, NULL);
            hold_against_cpu(&w, find_small(), "nnapi", 3);
            snprintf(text, sizeof text, "ANeuralNetworks%s failed: OP_FAILED", names[f]);
            const size_t said = count_heard(&w, text);
            assert_true(said <= 1);
            failed += (int)said;
            if (said == 1 && count_heard(&w, "cannot be used: ") == 0) { // and it is not used again in that context
                assert_int_equal(count_heard(&w, "nnapi: the device does not work any more, the CPU goes on"), 1);
                hold_against_cpu(&w, find_small(), "nnapi", 1);
                assert_int_equal(count_heard(&w, "nnapi does not work any more: the CPU runs the model"), 1);
                assert_int_equal(count_heard(&w, text), 1);
            }
            close_world(&w);
            if (said == 1) { // the host would rather know
                open_world(&w, NULL);
                double_switch(NULL);
                snprintf(text, sizeof text, "fail=ANeuralNetworks%s:%d:OP_FAILED", names[f], call);
                double_switch(text);
                const taper_status status = run_small(&w, "nnapi!", 3);
                assert_true(status == TAPER_ERROR_DEVICE || status == TAPER_ERROR_UNSUPPORTED);
                snprintf(text, sizeof text, "ANeuralNetworks%s failed: OP_FAILED", names[f]);
                if (strstr(taper_error_message(w.error), text) == NULL) {
                    fail_msg("%s: %s", text, taper_error_message(w.error));
                }
                close_world(&w);
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
    world w;
    const bool lists = double_level() >= 29;
    open_world(&w, NULL);
    double_switch("refuse=3"); // convolutions
    hold_against_cpu(&w, find_small(), "nnapi", 3);
    assert_int_equal(count_heard(&w, lists ? "the device does not support an operation CONV_2D"
                                           : "the CPU does it: the driver refuses the network"),
                     1);
    assert_int_equal(count_heard(&w, "does not work any more"), 0);
    assert_int_equal(run_small(&w, "nnapi!", 1), TAPER_ERROR_UNSUPPORTED);
    assert_non_null(strstr(taper_error_message(w.error), lists ? "device nnapi declined: the device does not support"
                                                               : "declined: the driver refuses the network"));
    close_world(&w);
    for (int slow = 0; slow < 2; slow++) { // the CPU takes over, or would if it could
        open_world(&w, NULL);
        double_switch("slow=20");
        if (slow == 0) {
            hold_against_cpu(&w, find_small(), "nnapi", RUNS);
            assert_int_equal(count_heard(&w, ": the CPU does it: 2"), 1); // 20 ms or more
        } else {
            assert_int_equal(run_small(&w, "nnapi!", RUNS), TAPER_OK);
            assert_int_equal(count_heard(&w, "the CPU does it"), 0);
        }
        close_world(&w);
    }
    open_world(&w, NULL);
    double_switch("lost=2");
    hold_against_cpu(&w, find_small(), "nnapi", 3);
    assert_int_equal(count_heard(&w, "failed: DEAD_OBJECT"), 1);
    close_world(&w);
    open_world(&w, NULL);
    double_switch("garbage_sizes");
    every_model(&w, 2);
    close_world(&w);
    double_switch("no_devices");
    open_world(&w, NULL);
    hold_against_cpu(&w, find_small(), "nnapi", 1);
    assert_int_equal(count_heard(&w, "device nnapi is not there: NNAPI has no devices here: the CPU runs the model"),
                     lists);
    close_world(&w);
    double_switch(NULL);
    double_is_silent();
}

// ---- who asks for what

static void expect_load(world *w, const char *device, const char *options, taper_status wanted, const char *words)
{
    taper_model *model;
    w->length = 0;
    w->heard[0] = '\0';
    const taper_status status = load(w->context, small.file, device, options, &model, w->error);
    const char *said = wanted == TAPER_OK ? w->heard : taper_error_message(w->error);
    if (status != wanted || strstr(said, words) == NULL) {
        fail_msg("%s, %s: status %d, %s", device, options != NULL ? options : "", (int)status, said);
    }
    taper_model_release(model);
}

static void names(void **state)
{
    (void)state;
    world w;
    double_switch(NULL);
    open_world(&w, NULL);
    expect_load(&w, "nnapi!", NULL, TAPER_OK, "");
    expect_load(&w, "nnapi:0!", "", TAPER_OK, "");
    expect_load(&w, "nnapi!", "relax_f32_to_f16=1,preference=low_power,level=29", TAPER_OK, "");
    expect_load(&w, "nnapi!", "relax", TAPER_ERROR_ARGUMENT, "device_options \"relax\" should be preference=");
    expect_load(&w, "nnapi", "level=12", TAPER_ERROR_ARGUMENT, "device_options \"level=12\" should be");
    expect_load(&w, "cpu", "level=27", TAPER_ERROR_ARGUMENT, "device_options: device cpu has none");
    expect_load(&w, "nnapi", "level=\x01", TAPER_ERROR_ARGUMENT, "should be NAME=VALUE");
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
    taper_model *model = NULL; // NNAPI has no operation of it, so there is nothing that the device could keep to
    assert_int_equal(load(w.context, "s04_containers.pt", "nnapi!", NULL, &model, w.error), TAPER_ERROR_UNSUPPORTED);
    assert_non_null(strstr(taper_error_message(w.error), "can do no part of the model"));
    hold_against_cpu(&w, find_small(), double_level() >= 29 ? "nnapi:double-reference!" : "nnapi!", 3);
    close_world(&w);
    double_is_silent();
}

// What ran where is in the profile; after the first runs nothing is allocated any more.
static void profile(void **state)
{
    (void)state;
    world w;
    taper_model *model;
    taper_session *session;
    taper_value *result;
    char kernel[64];
    size_t rows = 0;
    double_switch(NULL);
    open_world(&w, ".");
    snprintf(kernel, sizeof kernel, "nnapi: %s", double_level() >= 29 ? "double-accelerator" : "default");
    assert_int_equal(load(w.context, small.file, "nnapi!", NULL, &model, w.error), TAPER_OK);
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
    close_world(&w);
    double_is_silent();
}

// ---- threads, memory

typedef struct runner {
    world *w;
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
                    !alike(result, r->wanted);
        taper_value_release(result);
    }
    taper_session_destroy(session);
    return NULL;
}

static void threads(void **state)
{
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        world w;
        taper_model *plain, *model;
        taper_session *session;
        taper_value *wanted;
        runner runners[4];
        double_switch(NULL);
        double_switch(lost != 0 ? "lost=7" : NULL);
        open_world(&w, NULL);
        assert_int_equal(load(w.context, small.file, NULL, NULL, &plain, w.error), TAPER_OK);
        assert_int_equal(load(w.context, small.file, "nnapi", NULL, &model, w.error), TAPER_OK);
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
        close_world(&w);
    }
    double_switch(NULL);
    double_is_silent();
}

static taper_status load_and_run(taper_context *context, const void *what, taper_error *error)
{
    taper_model *model;
    taper_session *session = NULL;
    taper_status status = load(context, small.file, "nnapi", NULL, &model, error);
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
        cmocka_unit_test(models),  cmocka_unit_test(failures), cmocka_unit_test(switches),  cmocka_unit_test(names),
        cmocka_unit_test(profile), cmocka_unit_test(threads),  cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
