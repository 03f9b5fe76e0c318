// SPDX-License-Identifier: BSD-2-Clause
// Tests results in the caller's memory: which bytes a run writes, which calls are refused, and that a refused call
// leaves the memory unchanged.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/api/fixture.h"

enum { RUNS = 4, ROOM = 4096 };

typedef struct world {
    taper_context *context;
    taper_model *model;
    taper_session *session;
    taper_error *error;
    taper_value *x; // tensor of sizes [2, 3]
    float *data;    // elements of x
    unsigned char *memory;
} world;

static const int64_t two_by_three[] = {2, 3};

static void open_world(world *w, bool optimized)
{
    *w = (world){.context = test_context(NULL, 1), .error = taper_error_create()};
    assert_int_equal(test_load(w->context, "run_into.pt", optimized, &w->model, w->error), TAPER_OK);
    assert_int_equal(taper_session_create(w->model, NULL, &w->session, w->error), TAPER_OK);
    assert_int_equal(taper_value_tensor(w->context, TAPER_F32, 2, two_by_three, &w->x, w->error), TAPER_OK);
    taper_tensor_info info = {.struct_size = sizeof info};
    assert_int_equal(taper_value_get_tensor(w->x, &info, w->error), TAPER_OK);
    w->data = info.data;
    for (int i = 0; i < 6; i++) {
        w->data[i] = 2 + (float)i;
    }
    w->memory = aligned_alloc(64, ROOM);
    assert_non_null(w->memory);
}

static void close_world(world *w)
{
    free(w->memory);
    taper_value_release(w->x);
    taper_session_destroy(w->session);
    taper_model_release(w->model);
    taper_context_release(w->context);
    taper_error_destroy(w->error);
}

static uint64_t placed(const world *w)
{
    taper_memory_info info = {.struct_size = sizeof info};
    taper_session_memory(w->session, &info);
    return info.placed_results;
}

static taper_status run(world *w, const char *method, const taper_output *outputs, size_t count)
{
    memset(w->memory, 0xA5, ROOM);
    return taper_session_run_into(w->session, method, &w->x, 1, outputs, count, w->error);
}

static bool is_untouched(const unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (at[i] != 0xA5) {
            return false;
        }
    }
    return true;
}

// From the third run on, a layer writes its result directly to the caller's memory, with the same numbers as
// taper_session_run. In the first run after a change of sizes, the result is copied.
static void layers(void **state)
{
    (void)state;
    for (int optimized = 0; optimized < 2; optimized++) {
        world w;
        open_world(&w, optimized != 0);
        for (int64_t side = 5; side < 7; side++) {
            const int64_t sizes[] = {1, 2, side, 8}, results[] = {1, 3, side, 8};
            const size_t bytes = sizeof(float) * 3 * (size_t)side * 8;
            taper_tensor_info info = {.struct_size = sizeof info}, wanted = info;
            taper_value *image, *result;
            assert_int_equal(taper_value_tensor(w.context, TAPER_F32, 4, sizes, &image, w.error), TAPER_OK);
            assert_int_equal(taper_value_get_tensor(image, &info, w.error), TAPER_OK);
            for (size_t i = 0; i < info.bytes / sizeof(float); i++) {
                ((float *)info.data)[i] = (float)(i % 7) - 3;
            }
            assert_int_equal(taper_session_run(w.session, NULL, &image, 1, &result, w.error), TAPER_OK);
            assert_int_equal(taper_value_get_tensor(result, &wanted, w.error), TAPER_OK);
            const taper_output output = {TAPER_F32, 4, results, w.memory, ROOM};
            for (int i = 0; i < RUNS; i++) {
                memset(w.memory, 0xA5, ROOM);
                assert_int_equal(taper_session_run_into(w.session, NULL, &image, 1, &output, 1, w.error), TAPER_OK);
                assert_memory_equal(w.memory, wanted.data, bytes);
                assert_true(is_untouched(w.memory + bytes, ROOM - bytes));
                assert_int_equal(placed(&w), i > 0);
            }
            // The output is not aligned, so the result is copied.
            const taper_output apart = {TAPER_F32, 4, results, w.memory + 4, ROOM - 4};
            assert_int_equal(taper_session_run_into(w.session, NULL, &image, 1, &apart, 1, w.error), TAPER_OK);
            assert_memory_equal(w.memory + 4, wanted.data, bytes);
            assert_int_equal(placed(&w), 0);
            taper_value_release(result);
            taper_value_release(image);
        }
        close_world(&w);
    }
}

// Tests several results, views, and results without elements: each run must write the same numbers as the first run.
static void kinds_of_results(void **state)
{
    (void)state;
    world w;
    open_world(&w, true);
    static const int64_t three[] = {3}, two_by_two[] = {2, 2}, three_by_two[] = {3, 2}, none[] = {0, 3};
    static const float sums[] = {7, 9, 11}, more[] = {3, 4, 5, 6, 7, 8}, doubled[] = {4, 6, 8, 10, 12, 14},
                       parts[] = {4, 5, 7, 8}, turned[] = {3, 6, 4, 7, 5, 8};
    const unsigned char ones[] = {1, 1, 1, 1, 1, 1};
    unsigned char *second = w.memory + 1024;
    const taper_output pair[] = {{TAPER_F32, 2, two_by_three, w.memory, 24}, {TAPER_F32, 1, three, second, 12}};
    const taper_output listed[] = {{TAPER_F32, 2, two_by_three, w.memory, 24},
                                   {TAPER_BOOL, 2, two_by_three, second, 6}};
    const taper_output part = {TAPER_F32, 2, two_by_two, w.memory, 16},
                       turn = {TAPER_F32, 2, three_by_two, w.memory, 24}, empty = {TAPER_F32, 2, none, NULL, 0};
    for (int i = 0; i < RUNS; i++) {
        assert_int_equal(run(&w, "pair", pair, 2), TAPER_OK);
        assert_memory_equal(w.memory, more, sizeof more);
        assert_memory_equal(second, sums, sizeof sums);
        assert_true(is_untouched(w.memory + 24, 1000) && is_untouched(second + 12, 1000));
        assert_int_equal(placed(&w), i > 1 ? 2 : placed(&w));
        assert_int_equal(run(&w, "listed", listed, 2), TAPER_OK);
        assert_memory_equal(w.memory, doubled, sizeof doubled);
        assert_memory_equal(second, ones, sizeof ones);
        assert_true(is_untouched(second + 6, 1000));
        assert_int_equal(run(&w, "part", &part, 1), TAPER_OK);
        assert_memory_equal(w.memory, parts, sizeof parts);
        assert_int_equal(run(&w, "turned", &turn, 1), TAPER_OK);
        assert_memory_equal(w.memory, turned, sizeof turned);
        assert_int_equal(run(&w, "empty", &empty, 1), TAPER_OK);
    }
    close_world(&w);
}

// A method may return another kind of result in each run. If the result does not fit, the memory must not change.
static void refused(void **state)
{
    (void)state;
    static const int64_t six[] = {6}, one[] = {1}, three_by_two[] = {3, 2};
    for (int optimized = 0; optimized < 2; optimized++) {
        world w;
        open_world(&w, optimized != 0);
        const taper_output fits = {TAPER_F32, 2, two_by_three, w.memory, 24};
        const taper_output twice[] = {fits, {TAPER_F32, 2, three_by_two, w.memory + 1024, 24}};
        const struct {
            const char *method, *words;
            taper_output outputs[2];
            size_t count;
        } rows[] = {
            {"given", "result 0 shares its memory", {fits}, 1},
            {"attribute", "result 0 shares its memory", {fits}, 1},
            {"seen", "result 0 shares its memory", {{TAPER_F32, 1, six, w.memory, 24}}, 1},
            {"keeps", "result 0 shares its memory", {fits}, 1},
            {"collects", "result 0 shares its memory", {fits}, 1},
            {"twice", "result 0 shares its memory", {twice[0], twice[1]}, 2},
            {"number", "the result is int", {{TAPER_I64, 0, NULL, w.memory, 8}}, 1},
            {"named", "the result is Dict[str, Tensor]", {fits}, 1},
            {"pair", "gives 2 results, there are 1 outputs", {fits}, 1},
            {"turned", "output 0 is float32 2x3, the result is float32 3x2", {fits}, 1},
            {"turned", "output 0 is float64 3x2", {{TAPER_F64, 2, three_by_two, w.memory, 48}}, 1},
            {"turned", "output 0 is int32 3x2", {{TAPER_I32, 2, three_by_two, w.memory, 24}}, 1},
            {"turned", "output 0 is float32 1", {{TAPER_F32, 1, one, w.memory, 24}}, 1},
            {"absent", "the model has no method absent", {fits}, 1},
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            for (int k = 0; k < RUNS; k++) {
                const taper_status status = run(&w, rows[i].method, rows[i].outputs, rows[i].count);
                if (status != TAPER_ERROR_ARGUMENT || strstr(taper_error_message(w.error), rows[i].words) == NULL) {
                    fail_msg("%s: %d, %s", rows[i].method, (int)status, taper_error_message(w.error));
                }
                assert_true(is_untouched(w.memory, ROOM));
            }
        }
        taper_value *last; // the model keeps its own copy of `last`
        assert_int_equal(taper_session_attribute(w.session, "last", &last, w.error), TAPER_OK);
        taper_tensor_info info = {.struct_size = sizeof info};
        assert_int_equal(taper_value_get_tensor(last, &info, w.error), TAPER_OK);
        assert_true(*(float *)info.data == 3);
        taper_value_release(last);
        close_world(&w);
    }
}

// If one run has written a result directly to the caller's memory, the next run must not write there if the caller
// requests another output. Results of branches are never written directly.
static void changes_its_mind(void **state)
{
    (void)state;
    world w;
    open_world(&w, true);
    static const int64_t three_by_two[] = {3, 2};
    const taper_output fits = {TAPER_F32, 2, two_by_three, w.memory, 24},
                       wrong = {TAPER_I32, 2, two_by_three, w.memory, 24},
                       turn = {TAPER_F32, 2, three_by_two, w.memory, 24};
    for (int i = 0; i < RUNS; i++) {
        const taper_output pair[] = {fits, {TAPER_F32, 1, (const int64_t[]){3}, w.memory + 64, 12}};
        assert_int_equal(run(&w, "pair", pair, 2), TAPER_OK);
        const taper_output other[] = {turn, pair[1]};
        assert_int_equal(run(&w, "pair", other, 2), TAPER_ERROR_ARGUMENT);
        assert_true(is_untouched(w.memory, ROOM));
        w.data[0] = 2;
        assert_int_equal(run(&w, "branch", &fits, 1), TAPER_OK);
        w.data[0] = -100;
        assert_int_equal(run(&w, "branch", &fits, 1), TAPER_ERROR_ARGUMENT);
        assert_true(is_untouched(w.memory, ROOM));
        assert_int_equal(run(&w, "branch", &wrong, 1), TAPER_OK);
        w.data[0] = 2;
        assert_int_equal(run(&w, "chopped", &fits, 1), TAPER_OK);
        assert_int_equal(run(&w, "raises", &fits, 1), TAPER_OK);
        w.data[5] = 2000;
        assert_int_equal(run(&w, "raises", &fits, 1), TAPER_ERROR_RAISED);
        w.data[5] = 7;
    }
    close_world(&w);
}

static void wrong_outputs(void **state)
{
    (void)state;
    world w;
    open_world(&w, true);
    static const int64_t negative[] = {-1, 3}, huge[] = {INT64_MAX, INT64_MAX}, many[20] = {0};
    const struct {
        const char *words;
        taper_output output;
    } rows[] = {
        {"room for 23 bytes, its sizes need 24", {TAPER_F32, 2, two_by_three, w.memory, 23}},
        {"room for 0 bytes", {TAPER_F32, 2, two_by_three, NULL, 24}},
        {"size 0 is -1", {TAPER_F32, 2, negative, w.memory, 24}},
        {"output 0: size", {TAPER_F32, 2, huge, w.memory, 24}},
        {"should have up to", {TAPER_F32, 20, many, w.memory, 24}},
        {"should have up to", {TAPER_F32, 2, NULL, w.memory, 24}},
        {"no result can be left as dtype quint8", {TAPER_QU8, 2, two_by_three, w.memory, 24}},
        {"no result can be left as dtype", {(taper_dtype)99, 2, two_by_three, w.memory, 24}},
        {"overlaps input 0", {TAPER_F32, 2, two_by_three, w.data + 1, 24}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (run(&w, "given", &rows[i].output, 1) != TAPER_ERROR_ARGUMENT ||
            strstr(taper_error_message(w.error), rows[i].words) == NULL) {
            fail_msg("%s: %s", rows[i].words, taper_error_message(w.error));
        }
        assert_true(is_untouched(w.memory, ROOM) && w.data[1] == 3);
    }
    const taper_output both[] = {{TAPER_F32, 2, two_by_three, w.memory, 24},
                                 {TAPER_F32, 2, two_by_three, w.memory + 20, 24}};
    assert_int_equal(run(&w, "pair", both, 2), TAPER_ERROR_ARGUMENT);
    assert_string_equal(taper_error_message(w.error), "outputs 0 and 1 overlap");
    close_world(&w);
}

// Runs with an input that partly overlaps the output, and releases the input.
static void overlaps(world *w, taper_value *input)
{
    const taper_output output = {TAPER_F32, 2, two_by_three, w->data, 24};
    assert_int_equal(taper_session_run_into(w->session, "given", &input, 1, &output, 1, w->error),
                     TAPER_ERROR_ARGUMENT);
    assert_string_equal(taper_error_message(w->error), "output 0 overlaps input 0");
    assert_true(w->data[0] == 2);
    taper_value_release(input);
}

// A tensor inside a container is checked for overlap like an input, also if shared containers lead to it on many paths.
static void overlaps_inside(void **state)
{
    (void)state;
    world w;
    open_world(&w, true);
    taper_value *list, *tuple, *dict, *key;
    assert_int_equal(taper_value_list(w.context, NULL, &w.x, 1, &list, w.error), TAPER_OK);
    assert_int_equal(taper_value_tuple(w.context, &list, 1, &tuple, w.error), TAPER_OK);
    assert_int_equal(taper_value_int(w.context, 7, &key, w.error), TAPER_OK);
    assert_int_equal(taper_value_dict(w.context, NULL, NULL, &key, &w.x, 1, &dict, w.error), TAPER_OK);
    overlaps(&w, list);
    overlaps(&w, tuple);
    overlaps(&w, dict);
    taper_value *paths = key;
    for (int i = 0; i < 60; i++) {
        taper_value *const twice[] = {paths, paths};
        assert_int_equal(taper_value_list(w.context, NULL, twice, 2, &paths, w.error), TAPER_OK);
        taper_value_release(twice[0]);
    }
    const taper_output output = {TAPER_F32, 2, two_by_three, w.memory, 24};
    assert_int_equal(taper_session_run_into(w.session, "given", &paths, 1, &output, 1, w.error), TAPER_ERROR_ARGUMENT);
    assert_non_null(strstr(taper_error_message(w.error), "should be Tensor"));
    taper_value_release(paths);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layers),        cmocka_unit_test(kinds_of_results),
                                       cmocka_unit_test(refused),       cmocka_unit_test(changes_its_mind),
                                       cmocka_unit_test(wrong_outputs), cmocka_unit_test(overlaps_inside)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
