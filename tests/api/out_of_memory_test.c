// SPDX-License-Identifier: BSD-2-Clause
// Each allocation while loading, creating a session and running fails once. Nothing may crash or leak, and the status
// must be TAPER_ERROR_RESOURCE. (The memory of the error object itself comes from malloc; see base/status.c.)
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/api/fixture.h"

typedef struct loading {
    size_t first; // index of the first call of the group in test_calls
    bool optimized;
    test_source source;
} loading;

// Loads the file, runs all calls of the group and releases everything.
static taper_status once(taper_context *context, const void *what, taper_error *error)
{
    const loading *l = what;
    const size_t first = l->first;
    taper_model *model = NULL;
    taper_session *session = NULL;
    taper_status status = test_load_from(context, test_calls[first].file, l->source, l->optimized, &model, error);
    if (status == TAPER_OK) {
        status = taper_session_create(model, NULL, &session, error);
    } else {
        assert_null(model);
    }
    for (size_t i = first; status == TAPER_OK && i < first + test_group(first); i++) {
        taper_value *result;
        status = test_run(context, session, &test_calls[i], &result, error);
        if (status == TAPER_ERROR_RAISED && test_calls[i].status == TAPER_ERROR_RAISED) {
            status = TAPER_OK; // the call has failed with the status that its row expects
        } else if (status != TAPER_OK) {
            assert_null(result);
        }
        taper_value_release(result);
    }
    taper_session_destroy(session);
    taper_model_release(model);
    return status;
}

static void sweep(size_t first, bool optimized, test_source source)
{
    test_each_allocation_fails(test_calls[first].file, once, &(loading){first, optimized, source});
}

static bool is_demo(size_t at)
{
    // True for the demo's models, "classifier.ptl" and "segmenter.ptl".
    return test_calls[at].file[0] == 'c' || test_calls[at].file[1] == 'e';
}

static void samples_as_saved(void **state)
{
    (void)state;
    for (size_t first = 0; first < test_call_count; first += test_group(first)) {
        if (!is_demo(first)) {
            sweep(first, false, TEST_FILE);
        }
    }
}

static void samples_optimized(void **state)
{
    (void)state;
    for (size_t first = 0; first < test_call_count; first += test_group(first)) {
        if (!is_demo(first)) {
            sweep(first, true, TEST_FILE);
        }
    }
}

// The test loads one file for each kind of archive and of layers.
static void from_memory_and_callbacks(void **state)
{
    (void)state;
    for (size_t first = 0; first < test_call_count; first += test_group(first)) {
        const char *file = test_calls[first].file;
        if (strncmp(file, "s01", 3) == 0 || strncmp(file, "s18", 3) == 0 || file[0] == 'i') {
            sweep(first, true, TEST_MEMORY);
            sweep(first, true, TEST_CALLBACK);
        }
    }
}

static void contexts(void **state)
{
    (void)state;
    test_allocator allocator;
    for (size_t n = 1;; n++) {
        test_allocator_init(&allocator);
        allocator.fail_at = n;
        const taper_context_options options = {
            .struct_size = sizeof options, .allocator = &allocator.allocator, .threads = 2};
        taper_context *context;
        const taper_status status = taper_context_create(&options, &context, NULL);
        taper_context_release(context);
        assert_int_equal(atomic_load(&allocator.blocks), 0);
        if (status == TAPER_OK) {
            assert_true(atomic_load(&allocator.calls) < n);
            break;
        }
        assert_int_equal(status, TAPER_ERROR_RESOURCE);
        assert_null(context);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(contexts), cmocka_unit_test(samples_as_saved),
                                       cmocka_unit_test(samples_optimized),
                                       cmocka_unit_test(from_memory_and_callbacks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
