// SPDX-License-Identifier: BSD-2-Clause
// Tests callbacks of the host that are NULL, and callbacks that call a function of the object that is running them.
// Each call of a session, an operator or a calibrator within its own call must end in an error, or work as the headers
// promise.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <taper/taper_inspect.h>
#include <taper/taper_memory.h>
#include <taper/taper_operator.h>

#include "tests/api/fixture.h"

typedef struct world {
    taper_context *context;
    taper_model *model;
    taper_session *session;
    taper_value *input;
    taper_calibrator *calibrator;
    taper_operator *op;
    void (*act)(struct world *w); // function that the next callback calls, only once; NULL if it calls no function
    int acts;
} world;

static void act(world *w)
{
    void (*const what)(world * w) = w->act;
    w->act = NULL;
    if (what != NULL) {
        w->acts++;
        what(w);
    }
}

static void *reallocate(void *user, void *ptr, size_t old_size, size_t new_size)
{
    act(user);
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

static void listen(void *user, taper_log_level level, const char *text, size_t length)
{
    (void)level, (void)text, (void)length;
    act(user);
}

static void observe(void *user, const taper_observation *observation)
{
    (void)observation;
    act(user);
}

static void open_world(world *w, const char *file)
{
    static const int64_t sizes[] = {1, 3, 12, 12};
    *w = (world){0};
    const taper_allocator allocator = {.user = w, .reallocate = reallocate};
    const taper_context_options options = {
        .struct_size = sizeof options, .allocator = &allocator, .threads = 1, .log = listen, .log_user = w};
    assert_int_equal(taper_context_create(&options, &w->context, NULL), TAPER_OK);
    assert_int_equal(test_load(w->context, file, true, &w->model, NULL), TAPER_OK);
    assert_int_equal(taper_session_create(w->model, NULL, &w->session, NULL), TAPER_OK);
    assert_int_equal(taper_value_tensor(w->context, TAPER_F32, 4, sizes, &w->input, NULL), TAPER_OK);
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_get_tensor(w->input, &info, NULL), TAPER_OK);
    memset(info.data, 0, info.bytes);
}

static void close_world(world *w)
{
    taper_value_release(w->input);
    taper_session_destroy(w->session);
    taper_model_release(w->model);
    taper_context_release(w->context);
}

static taper_status run(world *w, taper_error *error)
{
    taper_value *result;
    const taper_status status = taper_session_run(w->session, NULL, &w->input, 1, &result, error);
    assert_int_equal(result != NULL, status == TAPER_OK);
    taper_value_release(result);
    return status;
}

// Makes a call within a run of the session and checks that it is refused.
#define REFUSED(call)                                                                                                  \
    do {                                                                                                               \
        assert_int_equal(call, TAPER_ERROR_ARGUMENT);                                                                  \
        assert_non_null(strstr(taper_error_message(error), "is running"));                                             \
    } while (0)

static void all_calls(world *w)
{
    taper_error *error = taper_error_create();
    taper_value *value;
    taper_plan_item plan = {.struct_size = sizeof plan};
    taper_profile_item profile = {.struct_size = sizeof profile};
    taper_memory_info memory = {.struct_size = sizeof memory};
    REFUSED(run(w, error));
    assert_non_null(strstr(taper_error_message(error), "a session runs one call at a time"));
    assert_non_null(strstr(taper_error_message(error), taper_model_name(w->model)));
    REFUSED(taper_session_attribute(w->session, "training", &value, error));
    assert_null(value);
    REFUSED(taper_profile_set(w->session, 1, error));
    REFUSED(taper_profile_set(w->session, 0, error));
    REFUSED(taper_profile_get(w->session, 0, &profile, error));
    REFUSED(taper_inspect_plan_item(w->session, 0, &plan, error));
    assert_int_equal(taper_profile_count(w->session), 0);
    assert_int_equal(taper_inspect_plan_count(w->session), 0);
    taper_session_memory(w->session, &memory);
    taper_session_seed(w->session, 7);
    taper_session_draw_from(w->session, NULL);
    taper_error_destroy(error);
}

static void trim(world *w)
{
    for (int i = 0; i < 2; i++) {
        taper_session_trim(w->session);
    }
}

static void trim_always(world *w)
{
    taper_session_trim(w->session);
    w->act = trim_always;
}

static void destroy(world *w)
{
    taper_session_destroy(w->session);
}

static void cancel(world *w)
{
    taper_session_cancel(w->session);
}

static void stop_observing(world *w)
{
    taper_session_observe(w->session, NULL, NULL);
}

// Calls `what` in the first callback of a later run, and in a run with other callbacks.
static void run_with(world *w, void (*what)(world *), taper_status wanted)
{
    taper_session_observe(w->session, observe, w);
    assert_int_equal(run(w, NULL), TAPER_OK);
    w->act = what;
    w->acts = 0;
    assert_int_equal(run(w, NULL), wanted);
    assert_true(w->acts != 0);
    w->act = NULL;
}

static void from_observer(void **state)
{
    (void)state;
    world w;
    open_world(&w, "s01_convnet.ptl");
    run_with(&w, all_calls, TAPER_OK);
    run_with(&w, trim, TAPER_OK);
    run_with(&w, cancel, TAPER_ERROR_CANCELLED);
    run_with(&w, stop_observing, TAPER_OK);
    assert_int_equal(run(&w, NULL), TAPER_OK);
    taper_session_observe(w.session, NULL, NULL);
    assert_int_equal(run(&w, NULL), TAPER_OK);
    close_world(&w);
}

// A trim that is requested during a run happens at the end of the run: after it, the session keeps less memory than
// after a run without the request.
static void trimmed_at_the_end(void **state)
{
    (void)state;
    world w;
    open_world(&w, "s01_convnet.ptl");
    taper_memory_info kept = {.struct_size = sizeof kept}, trimmed = {.struct_size = sizeof trimmed};
    taper_session_observe(w.session, observe, &w);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(run(&w, NULL), TAPER_OK);
    }
    taper_session_memory(w.session, &kept);
    w.act = trim;
    assert_int_equal(run(&w, NULL), TAPER_OK);
    taper_session_memory(w.session, &trimmed);
    assert_true(trimmed.arena_bytes + trimmed.pool_bytes < kept.arena_bytes + kept.pool_bytes);
    assert_int_equal(run(&w, NULL), TAPER_OK);
    close_world(&w);
}

// The session is destroyed at the end of the run; its result remains valid.
static void destroyed_within(void **state)
{
    (void)state;
    world w;
    open_world(&w, "s01_convnet.ptl");
    taper_session_observe(w.session, observe, &w);
    taper_value *result;
    w.act = destroy;
    assert_int_equal(taper_session_run(w.session, NULL, &w.input, 1, &result, NULL), TAPER_OK);
    assert_int_equal(w.acts, 1);
    w.session = NULL;
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_get_tensor(result, &info, NULL), TAPER_OK);
    assert_true(info.bytes != 0);
    taper_value_release(result);
    close_world(&w);
}

// The host's allocator may cancel and trim the session; all its calls except these two are refused.
static void from_allocator(void **state)
{
    (void)state;
    world w;
    open_world(&w, "s01_convnet.ptl");
    w.act = all_calls;
    assert_int_equal(run(&w, NULL), TAPER_OK);
    assert_int_equal(w.acts, 1);
    taper_session_trim(w.session);
    w.act = trim_always;
    assert_int_equal(run(&w, NULL), TAPER_OK);
    assert_true(w.acts > 1);
    w.act = trim_always;
    taper_session_trim(w.session);
    w.act = NULL;
    taper_session_trim(w.session);
    w.act = cancel;
    assert_int_equal(run(&w, NULL), TAPER_ERROR_CANCELLED);
    w.act = destroy;
    taper_session_trim(w.session);
    if (w.acts > 0 && w.act == NULL) {
        w.session = NULL;
    }
    w.act = NULL;
    close_world(&w);
}

// ---- handles of operators, calibrators

static void call_again(world *w)
{
    taper_error *error = taper_error_create();
    taper_value *result;
    assert_int_equal(taper_operator_call(w->op, &w->input, 1, &result, 1, error), TAPER_ERROR_ARGUMENT);
    assert_null(result);
    assert_non_null(strstr(taper_error_message(error), "a handle makes one call at a time"));
    taper_error_destroy(error);
}

static taper_status relay(void *user, taper_context *context, taper_value *const *args, size_t count,
                          taper_value **results, size_t result_count, taper_error *error)
{
    world *w = *(world **)user;
    (void)context, (void)count, (void)result_count, (void)error;
    act(w);
    results[0] = taper_value_retain(args[0]);
    return TAPER_OK;
}

static void operators(void **state)
{
    (void)state;
    static world *the_world;
    world w;
    open_world(&w, "s01_convnet.ptl");
    the_world = &w;
    taper_value *result;
    assert_int_equal(taper_operator_register("reentry::relay(Tensor x) -> Tensor", relay, (void *)&the_world, NULL),
                     TAPER_OK);
    assert_int_equal(taper_operator_find(w.context, "reentry::relay", &w.op, NULL), TAPER_OK);
    w.act = call_again;
    assert_int_equal(taper_operator_call(w.op, &w.input, 1, &result, 1, NULL), TAPER_OK);
    assert_int_equal(w.acts, 1);
    taper_value_release(result);
    assert_int_equal(taper_operator_call(w.op, &w.input, 1, &result, 1, NULL), TAPER_OK);
    taper_value_release(result);
    taper_operator_release(w.op);
    close_world(&w);
}

static void calibrate_again(world *w)
{
    taper_error *error = taper_error_create();
    taper_draft *draft;
    REFUSED(taper_calibrator_run(w->calibrator, &w->input, 1, error));
    REFUSED(taper_calibrator_compare(w->calibrator, &w->input, 1, error));
    REFUSED(taper_calibrator_finish(w->calibrator, &draft, error));
    assert_null(draft);
    taper_error_destroy(error);
}

static void calibrators(void **state)
{
    (void)state;
    world w;
    char path[512];
    open_world(&w, "s01_convnet.ptl");
    test_path("s01_convnet.ptl", path, sizeof path);
    const taper_load_options load = {.struct_size = sizeof load, .compiler = taper_compiler()};
    assert_int_equal(taper_calibrator_load(w.context, path, &load, NULL, &w.calibrator, NULL), TAPER_OK);
    w.act = calibrate_again;
    assert_int_equal(taper_calibrator_run(w.calibrator, &w.input, 1, NULL), TAPER_OK);
    assert_int_equal(w.acts, 1);
    w.act = calibrate_again;
    assert_int_equal(taper_calibrator_compare(w.calibrator, &w.input, 1, NULL), TAPER_OK);
    assert_int_equal(w.acts, 2);
    taper_draft *draft;
    assert_int_equal(taper_calibrator_finish(w.calibrator, &draft, NULL), TAPER_OK);
    taper_draft_release(draft);
    taper_calibrator_release(w.calibrator);
    close_world(&w);
}

// ---- callbacks that are NULL

#define NULL_MEMBER(name, call)                                                                                        \
    do {                                                                                                               \
        assert_int_equal(call, TAPER_ERROR_ARGUMENT);                                                                  \
        assert_string_equal(taper_error_message(error), name " is NULL");                                              \
    } while (0)

static void *no_memory(void *user, void *ptr, size_t old_size, size_t new_size)
{
    (void)user, (void)ptr, (void)old_size, (void)new_size;
    return NULL;
}

static size_t one_thread(void *user)
{
    (void)user;
    return 1;
}

static void run_tasks(void *user, void (*task)(void *argument, size_t index), void *argument, size_t count)
{
    (void)user;
    for (size_t i = 0; i < count; i++) {
        task(argument, i);
    }
}

// Tests structs of callbacks in which a required member is NULL.
static void callbacks_are_given(void **state)
{
    (void)state;
    taper_error *error = taper_error_create();
    taper_context *c;
    taper_caching_allocator *caching;
    const taper_allocator no_allocator = {0}, allocator = {.reallocate = no_memory};
    const taper_thread_pool no_pool = {0}, no_run = {.thread_count = one_thread}, no_count = {.run = run_tasks};
    taper_context_options options = {.struct_size = sizeof options, .allocator = &no_allocator};
    NULL_MEMBER("taper_context_options.allocator->reallocate", taper_context_create(&options, &c, error));
    options.allocator = NULL;
    options.pool = &no_pool;
    NULL_MEMBER("taper_context_options.pool->thread_count", taper_context_create(&options, &c, error));
    options.pool = &no_count;
    NULL_MEMBER("taper_context_options.pool->thread_count", taper_context_create(&options, &c, error));
    options.pool = &no_run;
    NULL_MEMBER("taper_context_options.pool->run", taper_context_create(&options, &c, error));
    assert_null(c);
    NULL_MEMBER("under->reallocate", taper_caching_allocator_create(&no_allocator, 0, &caching, error));
    assert_null(caching);
    assert_int_equal(taper_caching_allocator_create(&allocator, 0, &caching, error), TAPER_ERROR_RESOURCE);
    taper_error_destroy(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_observer),       cmocka_unit_test(trimmed_at_the_end), cmocka_unit_test(destroyed_within),
        cmocka_unit_test(from_allocator),      cmocka_unit_test(operators),          cmocka_unit_test(calibrators),
        cmocka_unit_test(callbacks_are_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
