// SPDX-License-Identifier: BSD-2-Clause
// Tests values with shared parts. A tuple that contains one tuple twice on each level has exponentially many paths. The
// cost of each operation on such a value must be proportional to the number of its objects, or the operation must end
// in an error.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <taper/taper_operator.h>

#include "tests/api/fixture.h"
#include "tests/api/load_text.h"

enum { LEVELS = 60, WIDTH = 200 };

// Returns a tuple (or a list) that contains one item `width` times on each level, with `leaf` at the bottom.
static taper_value *shared(taper_context *context, taper_value *leaf, size_t width, bool lists)
{
    taper_value *value = taper_value_retain(leaf), *items[WIDTH], *outer;
    for (int level = 0; level < LEVELS; level++) {
        for (size_t i = 0; i < width; i++) {
            items[i] = value;
        }
        const taper_status status = lists ? taper_value_list(context, NULL, items, width, &outer, NULL)
                                          : taper_value_tuple(context, items, width, &outer, NULL);
        assert_int_equal(status, TAPER_OK);
        taper_value_release(value);
        value = outer;
    }
    return value;
}

static void check_run(taper_session *session, const char *method, taper_value *value, taper_status wanted)
{
    taper_error *error = taper_error_create();
    taper_value *result;
    const taper_status status = taper_session_run(session, method, &value, 1, &result, error);
    if (status != wanted) {
        fail_msg("%s: status %d, %s", method, (int)status, taper_error_message(error));
    }
    char type[100];
    (void)taper_value_type(result, type, sizeof type);
    taper_value_release(result);
    taper_error_destroy(error);
}

static void given_to_a_model(void **state)
{
    (void)state;
    static const float numbers[] = {1, 2};
    const int64_t size = 2;
    taper_context *context = test_context(NULL, 1);
    taper_model *model;
    taper_session *session, *hasty;
    assert_int_equal(test_load(context, "any.ptl", true, &model, NULL), TAPER_OK);
    // Runs that must succeed take milliseconds, but longer in an emulator. Text of a shared value never ends.
    taper_session_options options = {
        .struct_size = sizeof options, .instruction_budget = 1000000, .time_budget = 10, .memory_budget = 64 << 20};
    assert_int_equal(taper_session_create(model, &options, &session, NULL), TAPER_OK);
    options.time_budget = 0.1;
    assert_int_equal(taper_session_create(model, &options, &hasty, NULL), TAPER_OK);
    for (int kind = 0; kind < 12; kind++) {
        taper_value *leaf;
        if (kind % 3 == 0) {
            assert_int_equal(taper_value_tensor(context, TAPER_F32, 1, &size, &leaf, NULL), TAPER_OK);
        } else if (kind % 3 == 1) { // the value is copied, because a model may write to it
            assert_int_equal(taper_value_tensor_from(context, TAPER_F32, 1, &size, NULL, (void *)(uintptr_t)numbers,
                                                     sizeof numbers, 1, NULL, NULL, &leaf, NULL),
                             TAPER_OK);
        } else {
            assert_int_equal(taper_value_int(context, 5, &leaf, NULL), TAPER_OK);
        }
        taper_value *value = shared(context, leaf, kind / 3 % 2 == 0 ? 2 : WIDTH, kind / 6 != 0);
        for (int again = 0; again < 3; again++) {
            check_run(session, "forward", value, TAPER_OK);
        }
        check_run(session, "twice", value, TAPER_OK);
        check_run(hasty, "text", value, TAPER_ERROR_RESOURCE);
        check_run(session, "count", value, kind / 6 != 0 ? TAPER_OK : TAPER_ERROR_ARGUMENT);
        // Uses the value as part of other values, and as an argument of an operator.
        taper_value *key, *dict, *made;
        taper_operator *op;
        assert_int_equal(taper_value_int(context, 1, &key, NULL), TAPER_OK);
        assert_int_equal(taper_value_dict(context, NULL, NULL, &key, &value, 1, &dict, NULL), TAPER_OK);
        assert_int_equal(taper_value_dict(context, NULL, NULL, &value, &key, 1, &made, NULL), TAPER_ERROR_ARGUMENT);
        check_run(session, "forward", dict, TAPER_OK);
        assert_int_equal(taper_operator_find(context, "aten::relu", &op, NULL), TAPER_OK);
        assert_int_equal(taper_operator_call(op, &value, 1, &made, 1, NULL), TAPER_ERROR_ARGUMENT);
        taper_operator_release(op);
        assert_int_equal(taper_value_to_device(value, &on_cpu, &made, NULL), TAPER_OK);
        taper_value_release(made);
        taper_value_release(dict);
        taper_value_release(key);
        taper_value_release(value);
        taper_value_release(leaf);
    }
    taper_session_destroy(hasty);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
}

static taper_status work(taper_context *context, const void *what, taper_error *error)
{
    taper_value *items[2] = {NULL, NULL}, *inner = NULL, *outer = NULL, *result = NULL;
    taper_model *model = NULL;
    taper_session *session = NULL;
    (void)what;
    taper_status status = taper_value_int(context, 5, &items[0], error);
    items[1] = items[0];
    if (status == TAPER_OK) {
        status = taper_value_tuple(context, items, 2, &inner, error);
    }
    // Makes more containers than fit into the first table of visited containers.
    for (int i = 0; status == TAPER_OK && i < LEVELS; i++) {
        taper_value *const pair[] = {inner, inner};
        status = taper_value_tuple(context, pair, 2, &outer, error);
        taper_value_release(inner);
        inner = outer;
    }
    if (status == TAPER_OK) {
        status = test_load(context, "any.ptl", true, &model, error);
    }
    if (status == TAPER_OK) {
        status = taper_session_create(model, NULL, &session, error);
    }
    if (status == TAPER_OK) {
        status = taper_session_run(session, "twice", &inner, 1, &result, error);
    }
    taper_value_release(result);
    taper_value_release(items[0]);
    taper_value_release(inner);
    taper_session_destroy(session);
    taper_model_release(model);
    return status;
}

static void allocations_fail(void **state)
{
    (void)state;
    test_each_allocation_fails("any.ptl", work, NULL);
}

static int write_nothing(void *user, const void *data, size_t size)
{
    (void)user, (void)data, (void)size;
    return 0;
}

static void bundled(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_error *error = taper_error_create();
    const taper_load_options options = {.struct_size = sizeof options, .compiler = taper_compiler()};
    char path[512];
    taper_value *leaf;
    assert_int_equal(taper_value_int(context, 5, &leaf, NULL), TAPER_OK);
    test_path("any.ptl", path, sizeof path);
    for (int lists = 0; lists < 2; lists++) {
        taper_draft *draft;
        assert_int_equal(taper_draft_load(context, path, &options, &draft, error), TAPER_OK);
        taper_value *value = shared(context, leaf, 2, lists != 0);
        const taper_status status = taper_draft_bundle(draft, NULL, &value, 1, error);
        if (status == TAPER_OK) {
            const taper_status saved = taper_draft_save(draft, NULL, write_nothing, NULL, error);
            assert_true(saved == TAPER_OK || taper_error_message(error)[0] != '\0');
        }
        taper_draft_release(draft);
        taper_value_release(value);
    }
    taper_value_release(leaf);
    taper_error_destroy(error);
    taper_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(given_to_a_model), cmocka_unit_test(allocations_fail),
                                       cmocka_unit_test(bundled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
