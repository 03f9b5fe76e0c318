// SPDX-License-Identifier: BSD-2-Clause
// Tests the causes that end a run early: cancelling from another thread, and budgets of instructions, time and memory.
// The session must be usable afterwards.
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "tests/api/fixture.h"
#include "tests/api/load_text.h"
#include "tests/unit/program_builder.h"

#define TEXTS(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}

// The program is: while True: x = x + 1, where x is an int.
static const code forever[] = {
    {"STOREN", 1, 2}, {"LOADC", 0, 0},  {"LOADC", 2, 0}, {"LOADC", 3, 0}, {"LOAD", 2, 0},
    {"LOOP", 7, 3},   {"STOREN", 3, 2}, {"LOADC", 3, 0}, {"LOAD", 4, 0},  {"LOADC", 1, 0},
    {"OP", 0, 0},     {"JMP", -6, 0},   {"RET", 0, 0},
};
// The program is: while True: l.append(x).
static const code growing[] = {
    {"STOREN", 1, 2}, {"LIST_CONSTRUCT", 0, 0}, {"STORE", 5, 0}, {"LOADC", 0, 0}, {"LOADC", 2, 0}, {"LOADC", 3, 0},
    {"LOOP", 8, 2},   {"STORE", 3, 0},          {"LOAD", 5, 0},  {"LOAD", 2, 0},  {"OP", 1, 0},    {"DROP", 0, 0},
    {"LOADC", 3, 0},  {"JMP", -7, 0},           {"LOAD", 2, 0},  {"RET", 0, 0},
};

typedef struct world {
    bytes file;
    test_allocator allocator;
    taper_context *context;
    taper_model *model;
    taper_session *session;
    taper_value *one;
    taper_error *error;
} world;

static void open_world(world *w, const code *instructions, size_t count, taper_session_options limits)
{
    TEXTS(operators, "aten::add.int 2", "aten::append.t 2");
    TEXTS(constants, "0", "1", "9223372036854775807", "T");
    TEXTS(types, "List[int]");
    TEXTS(arguments, "int");
    const function f = {.name = "__torch__.Net.forward",
                        .code = instructions,
                        .code_count = count,
                        .operators = operators,
                        .constants = constants,
                        .types = types,
                        .arguments = arguments,
                        .registers = 5};
    w->file = build_program(&f, 1);
    w->error = taper_error_create();
    test_allocator_init(&w->allocator);
    w->context = test_context(&w->allocator, 1);
    limits.struct_size = sizeof limits;
    if (taper_model_load_memory(w->context, w->file.data, w->file.size, NULL, NULL, &as_saved, &w->model, w->error) !=
        TAPER_OK) {
        fail_msg("%s", taper_error_message(w->error));
    }
    assert_int_equal(taper_session_create(w->model, &limits, &w->session, NULL), TAPER_OK);
    assert_int_equal(taper_value_int(w->context, 1, &w->one, NULL), TAPER_OK);
}

static void close_world(world *w)
{
    taper_value_release(w->one);
    taper_session_destroy(w->session);
    taper_model_release(w->model);
    taper_context_release(w->context);
    taper_error_destroy(w->error);
    assert_int_equal(atomic_load(&w->allocator.blocks), 0);
    bytes_free(&w->file);
}

static void ends_with(world *w, taper_status status, const char *text)
{
    taper_value *result;
    const taper_status got = taper_session_run(w->session, NULL, &w->one, 1, &result, w->error);
    if (got != status || strstr(taper_error_message(w->error), text) == NULL) {
        fail_msg("status %d, %s", (int)got, taper_error_message(w->error));
    }
    assert_null(result);
}

static void *cancel_soon(void *argument)
{
    const struct timespec pause = {0, 30000000};
    nanosleep(&pause, NULL);
    taper_session_cancel(argument);
    return NULL;
}

static void from_another_thread(void **state)
{
    (void)state;
    world w;
    open_world(&w, forever, sizeof forever / sizeof *forever, (taper_session_options){.time_budget = 60});
    for (int i = 0; i < 2; i++) { // the session can be used again
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, cancel_soon, w.session), 0);
        ends_with(&w, TAPER_ERROR_CANCELLED, "cancelled");
        pthread_join(thread, NULL);
    }
    taper_session_cancel(w.session); // cancelling while nothing runs must end the next run
    ends_with(&w, TAPER_ERROR_CANCELLED, "cancelled");
    close_world(&w);
}

static void instructions(void **state)
{
    (void)state;
    world w;
    open_world(&w, forever, sizeof forever / sizeof *forever,
               (taper_session_options){.instruction_budget = 1000, .time_budget = 60});
    ends_with(&w, TAPER_ERROR_RESOURCE, "instruction");
    ends_with(&w, TAPER_ERROR_RESOURCE, "instruction"); // must fail again, because each run has its own budget
    close_world(&w);
}

static void seconds(void **state)
{
    (void)state;
    world w;
    open_world(&w, forever, sizeof forever / sizeof *forever, (taper_session_options){.time_budget = 0.05});
    struct timespec before, after;
    clock_gettime(CLOCK_MONOTONIC, &before);
    ends_with(&w, TAPER_ERROR_RESOURCE, "time");
    clock_gettime(CLOCK_MONOTONIC, &after);
    const double took = (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
    assert_true(took >= 0.05 && took < 30);
    close_world(&w);
}

static void memory(void **state)
{
    (void)state;
    world w;
    open_world(&w, growing, sizeof growing / sizeof *growing,
               (taper_session_options){.memory_budget = 1 << 20, .time_budget = 60});
    ends_with(&w, TAPER_ERROR_RESOURCE, "memory");
    assert_true(atomic_load(&w.allocator.peak) < (size_t)8 << 20);
    // The second run must also fail, but not earlier than the first run, because the memory of the first run was freed.
    ends_with(&w, TAPER_ERROR_RESOURCE, "memory");
    close_world(&w);
}

static void tensors_count_for_memory(void **state)
{
    (void)state;
    test_allocator allocator;
    test_allocator_init(&allocator);
    taper_context *context = test_context(&allocator, 1);
    taper_model *model;
    taper_session *session;
    taper_value *result;
    assert_int_equal(test_load(context, "classifier.ptl", true, &model, NULL), TAPER_OK);
    const taper_session_options tight = {.struct_size = sizeof tight, .memory_budget = 200000};
    assert_int_equal(taper_session_create(model, &tight, &session, NULL), TAPER_OK);
    const test_call call = {"classifier.ptl", "forward", "f1,3,96,96", TAPER_OK, false};
    assert_int_equal(test_run(context, session, &call, &result, NULL), TAPER_ERROR_RESOURCE);
    taper_session_destroy(session);
    const taper_session_options wide = {.struct_size = sizeof wide, .memory_budget = (size_t)64 << 20};
    assert_int_equal(taper_session_create(model, &wide, &session, NULL), TAPER_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(test_run(context, session, &call, &result, NULL), TAPER_OK);
        taper_value_release(result);
    }
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
    assert_int_equal(atomic_load(&allocator.blocks), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(from_another_thread), cmocka_unit_test(instructions),
                                       cmocka_unit_test(seconds), cmocka_unit_test(memory),
                                       cmocka_unit_test(tensors_count_for_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
