// SPDX-License-Identifier: BSD-2-Clause
// Tests the JSON reader: valid and invalid texts, positions in errors, and the limit of depth.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/json.h"

static taper_json make(const char *text, unsigned depth)
{
    return taper_json_make(text, strlen(text), 0, "test", depth, NULL);
}

static void numbers(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool whole;
        int64_t integer;
        double number;
    } cases[] = {{"0", true, 0, 0},
                 {"-0", true, 0, 0},
                 {" 17 ", true, 17, 17},
                 {"9223372036854775807", true, INT64_MAX, 9223372036854775807.0},
                 {"-9223372036854775808", true, INT64_MIN, -9223372036854775808.0},
                 {"1.5", false, 0, 1.5},
                 {"1e3", false, 0, 1000},
                 {"-2.5E-1", false, 0, -0.25},
                 {"1e400", false, 0, (double)INFINITY},
                 {"Infinity", false, 0, (double)INFINITY},
                 {"-Infinity", false, 0, -(double)INFINITY}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        taper_json json = make(cases[i].text, 1);
        taper_json_kind kind;
        taper_json_number number;
        assert_int_equal(taper_json_peek(&json, &kind), TAPER_OK);
        assert_int_equal(kind, TAPER_JSON_INT);
        assert_int_equal(taper_json_take_number(&json, &number), TAPER_OK);
        assert_int_equal(taper_json_end(&json), TAPER_OK);
        assert_int_equal(number.whole, cases[i].whole);
        assert_true(number.integer == cases[i].integer);
        assert_true(number.number == cases[i].number);
    }
    taper_json json = make("NaN", 1);
    taper_json_number number;
    assert_int_equal(taper_json_take_number(&json, &number), TAPER_OK);
    assert_true(isnan(number.number));
    static const char *const wrong[] = {"",     "-",   "+1", "01",      "-01",
                                        "1.",   ".5",  "1e", "1e+",     "0x1",
                                        "1.e5", "--1", "N",  "Infinit", "9223372036854775808",
                                        "a"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        json = make(wrong[i], 1);
        const bool taken = taper_json_take_number(&json, &number) == TAPER_OK;
        if (taken && taper_json_end(&json) == TAPER_OK) {
            fail_msg("%s was taken", wrong[i]);
        }
        assert_non_null(json.problem);
    }
    char digits[700] = "0.";
    memset(digits + 2, '1', 600);
    json = make(digits, 1);
    assert_int_equal(taper_json_take_number(&json, &number), TAPER_ERROR_FILE);
    assert_string_equal(json.problem, "a number is too long");
}

static void texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *expected;
        size_t length;
    } cases[] = {{"\"\"", "", 0},
                 {"\"a b\"", "a b", 3},
                 {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t", 8},
                 {"\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"", "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 10},
                 {"\"a\\u0000b\"", "a\0b", 3},
                 {"\"\\udc80\\udcff\"", "\x80\xff", 2},
                 {"\"\xc3\xa9\"", "\xc3\xa9", 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        taper_json json = make(cases[i].text, 1);
        taper_json_text text;
        char out[64];
        assert_int_equal(taper_json_take_text(&json, &text), TAPER_OK);
        assert_int_equal(taper_json_end(&json), TAPER_OK);
        assert_true(text.length < sizeof out);
        assert_int_equal(taper_json_decode(&text, out), cases[i].length);
        assert_memory_equal(out, cases[i].expected, cases[i].length);
    }
    static const char *const wrong[] = {"\"",          "\"a",         "\"\\\"",      "\"\\x\"",
                                        "\"\\u12\"",   "\"\\u12g4\"", "\"\\ud83d\"", "\"\\ud83d\\u0041\"",
                                        "\"\\ude00\"", "\"\\",        "\"\\u",       "a"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        // The copy has exactly the required size, so that a sanitizer detects reads beyond its end.
        char *exact = malloc(strlen(wrong[i]));
        assert_non_null(exact);
        memcpy(exact, wrong[i], strlen(wrong[i]));
        taper_json json = taper_json_make(exact, strlen(wrong[i]), 0, "test", 1, NULL);
        taper_json_text text;
        assert_int_equal(taper_json_take_text(&json, &text), TAPER_ERROR_FILE);
        free(exact);
    }
}

static void names(void **state)
{
    (void)state;
    taper_json json = make("{\"a\": 1, \"\\u0061\": 2, \"\": 3}", 1);
    taper_json_text name;
    bool more;
    assert_int_equal(taper_json_enter(&json, TAPER_JSON_OBJECT), TAPER_OK);
    assert_int_equal(taper_json_member(&json, &name, &more), TAPER_OK);
    assert_true(taper_json_is(&name, "a") && !taper_json_is(&name, "") && !taper_json_is(&name, "ab"));
    assert_int_equal(taper_json_skip(&json), TAPER_OK);
    assert_int_equal(taper_json_member(&json, &name, &more), TAPER_OK);
    assert_true(name.escaped && !taper_json_is(&name, "a"));
    assert_int_equal(taper_json_skip(&json), TAPER_OK);
    assert_int_equal(taper_json_member(&json, &name, &more), TAPER_OK);
    assert_true(more && taper_json_is(&name, ""));
    assert_int_equal(taper_json_skip(&json), TAPER_OK);
    assert_int_equal(taper_json_member(&json, &name, &more), TAPER_OK);
    assert_false(more);
    assert_int_equal(taper_json_end(&json), TAPER_OK);
}

// Skipping a value must accept all valid JSON and nothing else.
static void skipping(void **state)
{
    (void)state;
    static const char *const right[] = {
        "null",   "[]",     "{}",      " [ 1 , \"]\" , { \"a\" : [ true , false ] } ] ", "{\"a\": null, \"b\": {}}",
        "[[[]]]", "-1.5e3", "\"\\\"\""};
    static const char *const wrong[] = {"",         "[",         "[1",     "[1,",     "[1,]",     "[,1]",
                                        "[1 2]",    "{",         "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,}",
                                        "{1:2}",    "{\"a\" 1}", "nul",    "tru",     "[1}",      "{\"a\":1]",
                                        "[[[[]]]]", "]",         "1 1",    "{,}"};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
        taper_json json = make(right[i], 3);
        assert_int_equal(taper_json_skip(&json), TAPER_OK);
        assert_int_equal(taper_json_end(&json), TAPER_OK);
        assert_int_equal(json.depth, 0);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        taper_json json = make(wrong[i], 3);
        if (taper_json_skip(&json) == TAPER_OK && taper_json_end(&json) == TAPER_OK) {
            fail_msg("%s was skipped", wrong[i]);
        }
    }
}

static void places(void **state)
{
    (void)state;
    taper_error *error = taper_error_create();
    taper_json json = taper_json_make("[1, x]", 6, 100, "some record", 9, error);
    assert_int_equal(taper_json_skip(&json), TAPER_ERROR_FILE);
    assert_non_null(strstr(taper_error_message(error), "some record cannot be read: expected a value"));
    assert_int_equal(json.at - json.begin, 4);
    assert_string_equal(json.problem, "expected a value");
    taper_error_destroy(error);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers), cmocka_unit_test(texts), cmocka_unit_test(names),
                                       cmocka_unit_test(skipping), cmocka_unit_test(places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
