// SPDX-License-Identifier: BSD-2-Clause
// Tests growable text, doubles as Python prints them, and error texts.
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"
#include "tests/api/fixture.h"

static void appends(void **state)
{
    (void)state;
    test_allocator allocator;
    test_allocator_init(&allocator);
    taper_text text = taper_text_make(&allocator.allocator);
    assert_string_equal(taper_text_get(&text), "");
    for (int i = 0; i < 1000; i++) {
        taper_text_format(&text, "%d,", i);
    }
    taper_text_string(&text, "end");
    taper_text_append(&text, "a\0b", 3);
    assert_false(text.failed);
    assert_int_equal(text.length, strlen("end") + 3 + 10 * 2 + 90 * 3 + 900 * 4);
    assert_memory_equal(text.data + text.length - 6, "enda\0b", 7);
    taper_text_free(&text);
    assert_int_equal(atomic_load(&allocator.blocks), 0);
}

static void fails_once_and_stays_failed(void **state)
{
    (void)state;
    test_allocator allocator;
    test_allocator_init(&allocator);
    taper_text text = taper_text_make(&allocator.allocator);
    taper_text_string(&text, "kept");
    allocator.fail_at = atomic_load(&allocator.calls) + 1;
    for (int i = 0; i < 100; i++) {
        taper_text_string(&text, "more than fits");
    }
    assert_true(text.failed);
    taper_text_free(&text);
    assert_int_equal(atomic_load(&allocator.blocks), 0);
}

static void writes_doubles(void **state)
{
    (void)state;
    static const struct {
        double number;
        const char *text;
    } cases[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {3.0, "3.0"},
        {0.1, "0.1"},
        {-2.5, "-2.5"},
        {1e15, "1000000000000000.0"},
        {1e16, "1e+16"},
        {1e-4, "0.0001"},
        {1e-5, "1e-05"},
        {1.0 / 3.0, "0.3333333333333333"},
        {1e300, "1e+300"},
        {5e-324, "5e-324"},
        {1.7976931348623157e308, "1.7976931348623157e+308"},
        {123456.789, "123456.789"},
        {INFINITY, "inf"},
        {-INFINITY, "-inf"},
        {NAN, "nan"},
        {100.0, "100.0"},
        {9007199254740993.0, "9007199254740992.0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        taper_text text = taper_text_make(&taper_allocator_system);
        taper_text_double(&text, cases[i].number);
        assert_string_equal(taper_text_get(&text), cases[i].text);
        taper_text_free(&text);
    }
}

static void errors(void **state)
{
    (void)state;
    taper_error *error = taper_error_create();
    assert_int_equal(taper_fail_at(error, TAPER_ERROR_FILE, 77, "bad %s", "\x1b[31mred\n"), TAPER_ERROR_FILE);
    assert_int_equal(taper_error_offset(error), 77);
    assert_int_equal(taper_error_status(error), TAPER_ERROR_FILE);
    for (const char *p = taper_error_message(error); *p != '\0'; p++) {
        assert_true((unsigned char)*p >= ' '); // control characters of a file must not reach a terminal
    }
    taper_error_prefix(error, "model %d: ", 3);
    assert_memory_equal(taper_error_message(error), "model 3: bad ", 13);
    for (int i = 0; i < 100; i++) {
        taper_error_add_detail(error, "line %d\n", i);
    }
    assert_non_null(strstr(taper_error_detail(error), "line 99\n"));
    char *endless = malloc(100000);
    memset(endless, 'x', 99999);
    endless[99999] = '\0';
    assert_int_equal(taper_fail(error, TAPER_ERROR_ARGUMENT, "%s", endless), TAPER_ERROR_ARGUMENT);
    assert_true(strlen(taper_error_message(error)) < 99999);
    assert_int_equal(taper_error_offset(error), -1);
    assert_string_equal(taper_error_detail(error), "");
    free(endless);
    taper_error_destroy(error);
    // Without an error object, only the status is returned.
    assert_int_equal(taper_fail(NULL, TAPER_ERROR_FILE, "nobody hears this"), TAPER_ERROR_FILE);
    assert_string_equal(taper_error_message(NULL), "");
}

static void reads_numbers_in_any_locale(void **state)
{
    (void)state;
    // Uses a locale with a decimal comma, if the machine has one.
    static const char *const locales[] = {"C", "de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    for (size_t i = 0; i < sizeof locales / sizeof locales[0]; i++) {
        double number = 0;
        if (setlocale(LC_NUMERIC, locales[i]) == NULL) {
            continue;
        }
        assert_true(taper_parse_double("1.5", 3, &number));
        assert_true(number == 1.5);
        assert_true(taper_parse_double("-2.5e-3)", 7, &number));
        assert_true(number == -2.5e-3);
        assert_true(taper_parse_double("7", 1, &number));
        assert_false(taper_parse_double("1,5", 3, &number));
        assert_false(taper_parse_double("1.5x", 4, &number));
        assert_false(taper_parse_double("", 0, &number));
    }
    setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_numbers_in_any_locale), cmocka_unit_test(appends),
                                       cmocka_unit_test(fails_once_and_stays_failed), cmocka_unit_test(writes_doubles),
                                       cmocka_unit_test(errors)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
