// SPDX-License-Identifier: BSD-2-Clause
// Tests tensors that move between a device and the host (tests/models/make_border.py): in containers, as attributes, as
// views, written in place, after all other objects are gone, and after the device is lost.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <taper/taper_inspect.h>

#include "tests/backend/away_world.h"

static const char model_file[] = "border.ptl";

static const test_call calls[] = {
    {model_file, "forward", "f3,4", TAPER_OK, false}, {model_file, "several", "f3,4", TAPER_OK, false},
    {model_file, "grow", "f3,4 i7", TAPER_OK, false}, {model_file, "join", "f3,4 i8", TAPER_OK, false},
    {model_file, "keep", "f3,4", TAPER_OK, true},     {model_file, "get", "", TAPER_OK, true},
    {model_file, "step", "f3,4", TAPER_OK, true},     {model_file, "step", "f3,4", TAPER_OK, true},
    {model_file, "both", "", TAPER_OK, true},         {model_file, "step", "f3,4", TAPER_OK, true},
    {model_file, "read", "", TAPER_OK, true},         {model_file, "write", "f3,4", TAPER_OK, false},
    {model_file, "views", "f3,4", TAPER_OK, false},   {model_file, "shares", "f3,4", TAPER_OK, false},
    {model_file, "ask", "f3,4", TAPER_OK, false},     {model_file, "printed", "f3,4", TAPER_OK, false},
    {model_file, "keep", "f3,4", TAPER_OK, true},     {model_file, "get", "", TAPER_OK, true},
    {model_file, "twice", "f3,4", TAPER_OK, false},   {model_file, "forward", "f0,4", TAPER_OK, false},
    {model_file, "views", "f3,4", TAPER_OK, false},   {model_file, "forward", "f2,3,4", TAPER_OK, false},
};
enum { CALLS = sizeof calls / sizeof *calls };

typedef struct fixture {
    world world;
    taper_model *model;
    taper_session *session;
} fixture;

static void open(fixture *f, away_claims claims, bool records, bool always)
{
    open_world(&f->world, claims, records, 0);
    f->world.away.always_away = always;
    assert_int_equal(world_load(f->world.context, model_file, &f->model, f->world.error), TAPER_OK);
    assert_int_equal(taper_session_create(f->model, NULL, &f->session, f->world.error), TAPER_OK);
}

static void close_session(fixture *f)
{
    taper_session_destroy(f->session);
    taper_model_release(f->model);
}

static taper_value *run(fixture *f, const char *method, const char *args)
{
    const test_call call = {model_file, method, args, TAPER_OK, false};
    taper_value *result;
    if (test_run(f->world.context, f->session, &call, &result, f->world.error) != TAPER_OK) {
        fail_msg("%s(%s): %s", method, args, taper_error_message(f->world.error));
    }
    return result;
}

// Every method must return the same results as on the CPU, in one session.
static void every_method(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_model *model;
    taper_session *session;
    assert_int_equal(test_load(context, model_file, true, &model, NULL), TAPER_OK);
    for (unsigned way = 0; way < 4 * AWAY_CLAIMS; way++) {
        fixture f;
        assert_int_equal(taper_session_create(model, NULL, &session, NULL), TAPER_OK);
        open(&f, (away_claims)(way / 4), (way & 1) != 0, (way & 2) != 0);
        for (size_t i = 0; i < 2 * CALLS; i++) {
            const test_call *call = &calls[i % CALLS];
            taper_value *wanted, *result;
            assert_int_equal(test_run(context, session, call, &wanted, NULL), TAPER_OK);
            result = run(&f, call->method, call->args);
            if (!test_same(result, wanted)) {
                fail_msg("%s(%s), %s, way %u: another result", call->method, call->args,
                         away_claims_name(f.world.away.claims), way);
            }
            taper_value_release(result);
            taper_value_release(wanted);
        }
        close_session(&f);
        close_world(&f.world, model_file);
        taper_session_destroy(session);
    }
    taper_model_release(model);
    taper_context_release(context);
}

// Operators that only pass a tensor on must not copy it to the host.
static void lists_stay_away(void **state)
{
    (void)state;
    fixture f;
    open(&f, AWAY_EVERYTHING, false, true);
    taper_value_release(run(&f, "grow", "f3,4 i50"));
    assert_true(atomic_load(&f.world.away.runs) >= 50);
    // Tensors were copied to the host only as inputs of segments.
    assert_int_equal(atomic_load(&f.world.away.fetched), atomic_load(&f.world.away.stored));
    taper_value_release(run(&f, "step", "f3,4"));
    taper_value_release(run(&f, "step", "f3,4"));
    const size_t before = atomic_load(&f.world.validator.calls[LAYER_FETCH]);
    assert_int_equal(before, 0);
    taper_value_release(run(&f, "read", ""));
    assert_true(atomic_load(&f.world.validator.calls[LAYER_FETCH]) != 0);
    close_session(&f);
    close_world(&f.world, "grow");
}

// The host holds a list to which a later run adds tensors on the device. The list outlives the session, the model and
// the context.
static void values_outlive_the_device(void **state)
{
    (void)state;
    fixture f;
    open(&f, AWAY_EVERYTHING, true, true);
    taper_value_release(run(&f, "keep", "f3,4"));
    taper_value *list = run(&f, "get", ""), *first, *last;
    taper_value_release(run(&f, "keep", "f3,4"));
    taper_value_release(run(&f, "keep", "f3,4"));
    assert_int_equal(taper_value_count(list), 3);
    assert_true(atomic_load(&f.world.away.memories) >= 2);
    close_session(&f);
    taper_context_release(f.world.context);
    f.world.context = NULL;
    // The values keep the device alive, because their bytes are still in the device's memory.
    assert_true(atomic_load(&f.world.validator.devices) == 1);
    assert_int_equal(taper_value_item(list, 0, &first, NULL), TAPER_OK);
    assert_int_equal(taper_value_item(list, 2, &last, NULL), TAPER_OK);
    assert_true(test_same(first, last));
    taper_value_release(first);
    taper_value_release(last);
    assert_int_equal(atomic_load(&f.world.away.memories), 1); // the memory of the value that was not read
    taper_value_release(list);
    close_world(&f.world, "values");
}

// If the device is lost, the data on it is lost. The current run ends in one error, and later runs use the CPU.
static void lost_with_the_device(void **state)
{
    (void)state;
    fixture f;
    taper_value *result;
    open(&f, AWAY_EVERYTHING, false, true);
    failing_arm(&f.world.failing, LAYER_FETCH, 1, TAPER_DEVICE_LOST);
    taper_value_release(run(&f, "step", "f3,4")); // the state of the module is now on the device
    const test_call forward = {model_file, "forward", "f3,4", TAPER_OK, false}, read = {model_file, "read", "", 0, 0};
    assert_int_equal(test_run(f.world.context, f.session, &forward, &result, f.world.error), TAPER_ERROR_DEVICE);
    assert_non_null(strstr(taper_error_message(f.world.error), "device"));
    assert_null(result);
    taper_value_release(run(&f, "forward", "f3,4"));
    failing_arm(&f.world.failing, LAYER_FETCH, 1, TAPER_DEVICE_LOST);
    assert_int_equal(test_run(f.world.context, f.session, &read, &result, f.world.error), TAPER_ERROR_DEVICE);
    taper_session_destroy(f.session);
    assert_int_equal(taper_session_create(f.model, NULL, &f.session, f.world.error), TAPER_OK);
    taper_value_release(run(&f, "step", "f3,4"));
    taper_value_release(run(&f, "read", ""));
    close_session(&f);
    char path[1024];
    test_path(model_file, path, sizeof path);
    const taper_load_options options = {.struct_size = sizeof options, .device = &away_required};
    assert_int_equal(taper_model_load(f.world.context, path, &options, &f.model, f.world.error),
                     TAPER_ERROR_UNSUPPORTED);
    assert_non_null(strstr(taper_error_message(f.world.error), "device away does not work any more"));
    assert_int_equal(world_load(f.world.context, model_file, &f.model, f.world.error), TAPER_OK);
    taper_model_release(f.model);
    close_world(&f.world, "lost");
}

// If the device name ends with "!", the run fails if the device declines an operator, instead of running the operator
// on the CPU.
static void insists(void **state)
{
    (void)state;
    world w;
    char path[1024];
    taper_model *model;
    taper_session *session;
    taper_value *result;
    open_world(&w, AWAY_EVERYTHING, true, 1);
    test_path(model_file, path, sizeof path);
    const taper_load_options options = {
        .struct_size = sizeof options, .compiler = taper_compiler(), .device = &away_required};
    assert_int_equal(taper_model_load(w.context, path, &options, &model, w.error), TAPER_OK);
    assert_int_equal(taper_session_create(model, NULL, &session, w.error), TAPER_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(test_run(w.context, session, &calls[0], &result, w.error), TAPER_ERROR_UNSUPPORTED);
        assert_non_null(strstr(taper_error_message(w.error), "device away declined"));
    }
    taper_session_destroy(session);
    taper_model_release(model);
    close_world(&w, "insists");
}

// After the first runs with given shapes, runs must not call the allocator.
static void no_calls_of_the_allocator(void **state)
{
    (void)state;
    static const char *const methods[] = {"forward", "several", "step", "write"};
    for (unsigned way = 0; way < 4; way++) {
        fixture f;
        open(&f, way % 2 == 0 ? AWAY_EVERYTHING : AWAY_EVERY_SECOND, way >= 2, true);
        for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
            taper_memory_info info = {.struct_size = sizeof info};
            for (int i = 0; i < 5; i++) {
                taper_value_release(run(&f, methods[m], "f3,4"));
            }
            taper_session_memory(f.session, &info);
            if (info.allocator_calls != 0) {
                fail_msg("%s, way %u: %d calls of the allocator", methods[m], way, (int)info.allocator_calls);
            }
        }
        close_session(&f);
        close_world(&f.world, "allocator");
    }
}

// ---- observed runs

typedef struct seen {
    size_t results;
    float sum;
} seen;

static void look(void *user, const taper_observation *observation)
{
    seen *s = user;
    taper_tensor_info info = {.struct_size = sizeof info};
    s->results++;
    if (taper_value_kind(observation->result) == TAPER_KIND_TENSOR) {
        assert_int_equal(taper_value_get_tensor(observation->result, &info, NULL), TAPER_OK);
        s->sum += info.bytes != 0 ? *(const float *)info.data : 0;
    }
}

static void observed_and_profiled(void **state)
{
    (void)state;
    fixture f;
    seen s = {0};
    open(&f, AWAY_EVERYTHING, false, true);
    assert_int_equal(taper_profile_set(f.session, 1, f.world.error), TAPER_OK);
    taper_session_observe(f.session, look, &s);
    taper_value *result = run(&f, "forward", "f3,4");
    taper_session_observe(f.session, NULL, NULL);
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_get_tensor(result, &info, NULL), TAPER_OK);
    assert_int_equal(s.results, 1);
    assert_true(s.sum == *(const float *)info.data);
    taper_value_release(result);
    bool named = false;
    for (size_t i = 0; i < taper_profile_count(f.session); i++) {
        taper_profile_item item = {.struct_size = sizeof item};
        assert_int_equal(taper_profile_get(f.session, i, &item, f.world.error), TAPER_OK);
        named |= item.kernel != NULL && strcmp(item.kernel, "away") == 0;
    }
    assert_true(named);
    close_session(&f);
    close_world(&f.world, "observed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method),
        cmocka_unit_test(lists_stay_away),
        cmocka_unit_test(values_outlive_the_device),
        cmocka_unit_test(lost_with_the_device),
        cmocka_unit_test(insists),
        cmocka_unit_test(no_calls_of_the_allocator),
        cmocka_unit_test(observed_and_profiled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
