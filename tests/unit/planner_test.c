// SPDX-License-Identifier: BSD-2-Clause
// Tests memory plans: replayed runs allocate nothing, results are never overwritten, and a run that deviates from its
// plan is still correct.
#include "tests/unit/program_fixture.h"

#define TEXTS(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}

static function make(const code *instructions, size_t count, const char *const *arguments)
{
    TEXTS(operators, "aten::add.Scalar 2", "aten::add.Tensor 2", "aten::item 1", "aten::Int.Scalar 1", "aten::zeros 1",
          "aten::append.t 2", "aten::mul.Tensor 2");
    TEXTS(constants, "1");
    TEXTS(types, "List[int]", "List[Tensor]");
    return (function){.name = "__torch__.Net.forward",
                      .code = instructions,
                      .code_count = count,
                      .operators = operators,
                      .constants = constants,
                      .types = types,
                      .arguments = arguments,
                      .registers = 6};
}

// The program is: y = x + 1; z = y + y; return z.
static const code plain[] = {{"STOREN", 1, 2}, {"LOAD", 2, 0}, {"LOADC", 0, 0}, {"OP", 0, 0}, {"STORE", 3, 0},
                             {"LOAD", 3, 0},   {"LOAD", 3, 0}, {"OP", 1, 0},    {"RET", 0, 0}};

static void replays_without_calls(void **state)
{
    (void)state;
    TEXTS(arguments, "Tensor");
    const function f = make(plain, sizeof plain / sizeof *plain, arguments);
    program p;
    open_program(&p, &f, false);
    taper_value *x = vector(&p, 5000, 1.0f), *kept[6];
    taper_memory_info info = {.struct_size = sizeof info};
    for (int i = 0; i < 6; i++) { // results are kept, so each of them needs separate memory
        kept[i] = run_program(&p, &x, 1);
        taper_session_memory(p.session, &info);
        assert_true(i == 0 || info.arena_bytes >= 5000 * sizeof(float));
    }
    for (int i = 0; i < 6; i++) {
        expect_vector(kept[i], 5000, 4.0f);
        taper_value_release(kept[i]);
    }
    for (int i = 0; i < 4; i++) {
        const size_t calls = atomic_load(&p.memory.calls);
        taper_value *result = run_program(&p, &x, 1);
        expect_vector(result, 5000, 4.0f);
        taper_value_release(result);
        assert_int_equal(atomic_load(&p.memory.calls), calls);
        taper_session_memory(p.session, &info);
        assert_int_equal(info.allocator_calls, 0);
    }
    taper_session_trim(p.session);
    taper_session_memory(p.session, &info);
    assert_int_equal(info.arena_bytes, 0);
    taper_value *again = run_program(&p, &x, 1);
    expect_vector(again, 5000, 4.0f);
    taper_value_release(again);
    taper_value_release(x);
    close_program(&p);
}

static void many_shapes(void **state)
{
    (void)state;
    TEXTS(arguments, "Tensor");
    const function f = make(plain, sizeof plain / sizeof *plain, arguments);
    program p;
    open_program(&p, &f, false);
    size_t settled = 0;
    for (int round = 0; round < 4; round++) {
        for (int64_t n = 1; n < 40; n++) { // 39 shapes are more than the number of plans that a session keeps
            taper_value *x = vector(&p, n * 100, 2.0f), *result = run_program(&p, &x, 1);
            expect_vector(result, n * 100, 6.0f);
            taper_value_release(result);
            taper_value_release(x);
        }
        const size_t held = atomic_load(&p.memory.bytes);
        assert_true(round < 2 || held <= settled + settled / 4); // the memory must not grow with every round
        settled = held;
    }
    close_program(&p);
}

static void shapes_share_an_arena(void **state)
{
    (void)state;
    TEXTS(arguments, "Tensor");
    const function f = make(plain, sizeof plain / sizeof *plain, arguments);
    program p;
    open_program(&p, &f, false);
    taper_memory_info info = {.struct_size = sizeof info};
    size_t largest = 0;
    for (int round = 0; round < 3; round++) {
        // The number of shapes equals the number of plans that a session keeps. The largest shape comes first.
        for (int64_t n = 8; n > 0; n--) {
            taper_value *x = vector(&p, n * 2000, 2.0f), *result = run_program(&p, &x, 1);
            expect_vector(result, n * 2000, 6.0f);
            taper_value_release(result);
            taper_value_release(x);
            taper_session_memory(p.session, &info);
            largest = largest == 0 ? info.arena_bytes : largest;
            assert_int_equal(info.arena_bytes, largest);
            // The allocator is not called, although results are on the heap, which a new plan trims.
            assert_true(round < 2 || info.allocator_calls == 0);
        }
    }
    close_program(&p);
}

// The program is: a = zeros(n); b = a + 1; c = b + b. n is an element of the input, so a run with the same shapes may
// need other sizes.
static const code sized[] = {
    {"STOREN", 1, 2}, {"LOAD", 2, 0},  {"OP", 2, 0},    {"OP", 3, 0},    {"LIST_CONSTRUCT", 0, 1},
    {"OP", 4, 0},     {"LOADC", 0, 0}, {"OP", 0, 0},    {"STORE", 3, 0}, {"LOAD", 3, 0},
    {"LOAD", 3, 0},   {"OP", 1, 0},    {"LOADC", 0, 0}, {"OP", 0, 0},    {"RET", 0, 0},
};

static void sizes_that_the_data_decides(void **state)
{
    (void)state;
    TEXTS(arguments, "Tensor");
    const function f = make(sized, sizeof sized / sizeof *sized, arguments);
    static const int64_t sizes[] = {1000, 1000, 10, 100000, 1000, 7, 1000, 1000, 200000, 1000};
    for (int optimized = 0; optimized < 2; optimized++) {
        program p;
        open_program(&p, &f, optimized == 1);
        taper_value *kept[sizeof sizes / sizeof *sizes];
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            taper_value *n = vector(&p, 1, (float)sizes[i]);
            kept[i] = run_program(&p, &n, 1);
            taper_value_release(n);
        }
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            expect_vector(kept[i], sizes[i], 3.0f);
            taper_value_release(kept[i]);
        }
        close_program(&p);
    }
}

// The program is: y = x + 1; z = y + y; y = zeros(n) + 1. z has the size of x; the sizes of later tensors depend on the
// data.
static const code planned_first[] = {
    {"STOREN", 1, 3},         {"LOAD", 2, 0}, {"LOADC", 0, 0}, {"OP", 0, 0},   {"STORE", 4, 0}, {"LOAD", 4, 0},
    {"LOAD", 4, 0},           {"OP", 1, 0},   {"STORE", 5, 0}, {"LOAD", 3, 0}, {"OP", 2, 0},    {"OP", 3, 0},
    {"LIST_CONSTRUCT", 0, 1}, {"OP", 4, 0},   {"LOADC", 0, 0}, {"OP", 0, 0},   {"RET", 0, 0},
};

static void what_replays_stays_planned(void **state)
{
    (void)state;
    TEXTS(arguments, "Tensor", "Tensor");
    const function f = make(planned_first, sizeof planned_first / sizeof *planned_first, arguments);
    program p;
    open_program(&p, &f, false);
    taper_value *x = vector(&p, 50000, 1.0f);
    taper_memory_info info = {.struct_size = sizeof info};
    for (int run = 0; run < 50; run++) {
        const int64_t size = 10 + 7 * (run % 9);
        taper_value *n = vector(&p, 1, (float)size);
        taper_value *result = run_program(&p, (taper_value *[]){x, n}, 2);
        expect_vector(result, size, 1.0f);
        taper_value_release(result);
        taper_value_release(n);
        taper_session_memory(p.session, &info);
        // The large tensors must be in the arena in every run, although the end of each run differs from the first run.
        assert_true(info.arena_bytes >= 50000 * sizeof(float));
        assert_true(info.pool_bytes < 50000 * sizeof(float));
    }
    taper_value_release(x);
    close_program(&p);
}

// The program is: l.append(x + 1). The list belongs to the host, so the tensor outlives the run.
static const code escaping[] = {{"STOREN", 1, 3}, {"LOAD", 3, 0}, {"LOAD", 2, 0}, {"LOADC", 0, 0},
                                {"OP", 0, 0},     {"OP", 5, 0},   {"DROP", 0, 0}, {"LOAD", 2, 0},
                                {"LOADC", 0, 0},  {"OP", 0, 0},   {"RET", 0, 0}};

static void what_escapes_is_safe(void **state)
{
    (void)state;
    TEXTS(arguments, "Tensor", "List[Tensor]");
    const function f = make(escaping, sizeof escaping / sizeof *escaping, arguments);
    program p;
    open_program(&p, &f, false);
    taper_value *x = vector(&p, 3000, 1.0f), *list;
    assert_int_equal(taper_value_list(p.context, "Tensor", NULL, 0, &list, NULL), TAPER_OK);
    for (int i = 0; i < 6; i++) {
        taper_value *result = run_program(&p, (taper_value *[]){x, list}, 2);
        expect_vector(result, 3000, 2.0f);
        taper_value_release(result);
    }
    taper_value_release(x);
    taper_session_destroy(p.session); // the tensor also outlives the session
    p.session = NULL;
    assert_int_equal(taper_value_count(list), 6);
    for (size_t i = 0; i < 6; i++) {
        taper_value *item;
        assert_int_equal(taper_value_item(list, i, &item, NULL), TAPER_OK);
        expect_vector(item, 3000, 2.0f);
        taper_value_release(item);
    }
    taper_value_release(list);
    close_program(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replays_without_calls),       cmocka_unit_test(many_shapes),
        cmocka_unit_test(sizes_that_the_data_decides), cmocka_unit_test(shapes_share_an_arena),
        cmocka_unit_test(what_replays_stays_planned),  cmocka_unit_test(what_escapes_is_safe)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
