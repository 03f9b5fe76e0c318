// SPDX-License-Identifier: BSD-2-Clause
// Tests the states of random number generators, and the list of the library's operators.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <taper/taper_operator.h>

#include "tests/api/fixture.h"

// Draws a tensor of random numbers from the generator.
static taper_value *draw(taper_context *context, taper_generator *generator, const char *name, int64_t count)
{
    taper_operator *op;
    taper_value *like, *made;
    assert_int_equal(taper_operator_find(context, name, &op, NULL), TAPER_OK);
    assert_int_equal(taper_value_tensor(context, TAPER_F32, 1, &count, &like, NULL), TAPER_OK);
    taper_operator_draw_from(op, generator);
    assert_int_equal(taper_operator_call(op, &like, 1, &made, 1, NULL), TAPER_OK);
    taper_value_release(like);
    taper_operator_release(op);
    return made;
}

// A generator that gets the state of another generator continues with the same numbers, wherever the state was taken.
static void states(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_generator *first, *second;
    static const int64_t before[] = {0, 3, 624, 1, 625};
    static const char *const names[] = {"aten::rand_like", "aten::randn_like"};
    for (size_t i = 0; i < 10; i++) {
        unsigned char bytes[TAPER_GENERATOR_STATE_SIZE], again[TAPER_GENERATOR_STATE_SIZE];
        assert_int_equal(taper_generator_create(context, 7, &first, NULL), TAPER_OK);
        assert_int_equal(taper_generator_create(context, 8, &second, NULL), TAPER_OK);
        if (before[i % 5] != 0) {
            taper_value_release(draw(context, first, names[i / 5], before[i % 5]));
        }
        taper_generator_get_state(first, bytes);
        assert_int_equal(taper_generator_set_state(second, bytes, sizeof bytes, NULL), TAPER_OK);
        taper_generator_get_state(second, again);
        assert_memory_equal(bytes, again, sizeof bytes);
        taper_value *want = draw(context, first, names[i / 5], 5), *got = draw(context, second, names[i / 5], 5);
        assert_true(test_same(want, got));
        taper_value_release(want);
        taper_value_release(got);
        // An invalid state leaves the generator as it is.
        taper_generator_get_state(first, bytes);
        bytes[8] = bytes[9] = bytes[10] = bytes[11] = 0;
        assert_int_equal(taper_generator_set_state(first, bytes, sizeof bytes, NULL), TAPER_ERROR_ARGUMENT);
        want = draw(context, first, names[0], 5), got = draw(context, second, names[0], 5);
        assert_true(test_same(want, got));
        taper_value_release(want);
        taper_value_release(got);
        taper_generator_release(first);
        taper_generator_release(second);
    }
    taper_context_release(context);
}

// Wrong arguments are errors, or have no effect.
static void wrong_arguments(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    taper_generator *generator;
    unsigned char bytes[TAPER_GENERATOR_STATE_SIZE] = {0};
    assert_int_equal(taper_generator_create(context, 1, &generator, NULL), TAPER_OK);
    taper_generator_get_state(NULL, bytes);
    taper_generator_get_state(generator, NULL);
    assert_int_equal(taper_generator_set_state(NULL, bytes, sizeof bytes, NULL), TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_generator_set_state(generator, NULL, sizeof bytes, NULL), TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_generator_set_state(generator, bytes, sizeof bytes, NULL), TAPER_ERROR_ARGUMENT);
    assert_int_equal(taper_generator_set_state(generator, bytes, 7, NULL), TAPER_ERROR_ARGUMENT);
    assert_null(taper_operator_listed(NULL, 0));
    assert_null(taper_operator_listed(context, SIZE_MAX));
    taper_generator_release(generator);
    taper_context_release(context);
}

// Every listed schema is the one that taper_operator_find finds by its name.
static void listed_operators(void **state)
{
    (void)state;
    taper_context *context = test_context(NULL, 1);
    size_t count = 0;
    bool relu = false;
    for (size_t i = 0; taper_operator_listed(context, i) != NULL; i++) {
        const char *const schema = taper_operator_listed(context, i);
        taper_operator *op;
        if (*schema == '\0') {
            continue;
        }
        assert_int_equal(taper_operator_find(context, schema, &op, NULL), TAPER_OK);
        assert_string_equal(taper_operator_schema(op), schema);
        taper_operator_release(op);
        relu = relu || strcmp(schema, "aten::relu(Tensor self) -> Tensor") == 0;
        count++;
    }
    assert_true(relu);
    assert_true(count > 1000);
    taper_context_release(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states),
        cmocka_unit_test(wrong_arguments),
        cmocka_unit_test(listed_operators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
