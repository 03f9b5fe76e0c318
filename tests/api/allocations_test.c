// SPDX-License-Identifier: BSD-2-Clause
// Runs after the first must not call the allocator. Tests this rule for each way to load a model, with every committed
// sample, the models of the demo and int8 networks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/api/fixture.h"

// Counts the allocator calls of one run. The inputs are made before and released after counting, because the host makes
// them.
static size_t calls_of_run(taper_context *context, taper_session *session, test_allocator *allocator,
                           const test_call *call)
{
    taper_error *error = taper_error_create();
    taper_value *result;
    const size_t before = atomic_load(&allocator->calls);
    const taper_status status = test_run(context, session, call, &result, error);
    if (status != call->status) {
        fail_msg("%s %s: %s", call->file, call->method, taper_error_message(error));
    }
    taper_value_release(result);
    taper_error_destroy(error);
    return atomic_load(&allocator->calls) - before;
}

static void later_runs_allocate_nothing(bool optimized, test_source source)
{
    for (size_t first = 0; first < test_call_count; first += test_group(first)) {
        test_allocator allocator;
        test_allocator_init(&allocator);
        taper_context *context = test_context(&allocator, 1);
        taper_model *model;
        taper_session *session;
        assert_int_equal(test_load_from(context, test_calls[first].file, source, optimized, &model, NULL), TAPER_OK);
        assert_int_equal(taper_session_create(model, NULL, &session, NULL), TAPER_OK);
        const size_t group = test_group(first);
        // The second run must not call the allocator. If several methods alternate, each of them trims the heap when
        // its plan is made, so the third run is the first without calls. A module for NNAPI compiles its model in the
        // first run, so the third run is also its first without calls.
        const size_t quiet = group > 1 || strstr(test_calls[first].file, "nnapi") != NULL ? 2 : 1;
        for (size_t run = 0; run < 4; run++) {
            for (size_t i = first; i < first + group; i++) {
                const size_t calls = calls_of_run(context, session, &allocator, &test_calls[i]);
                taper_memory_info info = {.struct_size = sizeof info};
                taper_session_memory(session, &info);
                if (run >= quiet && (calls != 0 || info.allocator_calls != 0)) {
                    fail_msg("%s %s(%s): %zu allocator calls in run %zu, reported %llu", test_calls[i].file,
                             test_calls[i].method, test_calls[i].args, calls, run + 1,
                             (unsigned long long)info.allocator_calls);
                }
            }
        }
        taper_session_destroy(session);
        taper_model_release(model);
        taper_context_release(context);
        assert_int_equal(atomic_load(&allocator.blocks), 0);
        assert_int_equal(atomic_load(&allocator.bytes), 0);
    }
}

static void as_saved(void **state)
{
    (void)state;
    later_runs_allocate_nothing(false, TEST_FILE);
}

static void optimized(void **state)
{
    (void)state;
    later_runs_allocate_nothing(true, TEST_FILE);
}

static void from_memory(void **state)
{
    (void)state;
    later_runs_allocate_nothing(true, TEST_MEMORY);
}

static void from_a_callback(void **state)
{
    (void)state;
    later_runs_allocate_nothing(true, TEST_CALLBACK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_saved), cmocka_unit_test(optimized),
                                       cmocka_unit_test(from_memory), cmocka_unit_test(from_a_callback)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
