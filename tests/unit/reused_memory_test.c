// SPDX-License-Identifier: BSD-2-Clause
// Tests results that are computed in the memory of an argument (taper_ret_over): an argument that the program still
// uses keeps its elements, and a chain of calls in which each argument is used for the last time needs one storage.
#include "runtime/session.h"
#include "tests/unit/program_fixture.h"

#define TEXTS(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}
#define COUNT(array) (sizeof(array) / sizeof *(array))

// The larger number of elements is above the size from which memory is reused.
enum { FEW = 1000, MANY = 100000 };
enum { ADD, MUL, DETACH, APPEND, TRUTH, SUB };

#define PUT(op, a, b, to)                                                                                              \
    {"LOAD", a, 0}, {"LOAD", b, 0}, {"OP", op, 0},                                                                     \
    {                                                                                                                  \
        "STORE", to, 0                                                                                                 \
    }

typedef struct example {
    const char *name;
    const code *code;
    size_t count;
    float wanted; // result for x = 3 and y = 2
    bool reuses;  // true if one storage is enough for all values
} example;

// a = x + y; b = a * y; c = b + x; d = c - y; return d * y
static const code chain[] = {{"STOREN", 1, 3},  PUT(ADD, 2, 3, 4), PUT(MUL, 4, 3, 5), PUT(ADD, 5, 2, 6),
                             PUT(SUB, 6, 3, 7), PUT(MUL, 7, 3, 8), {"LOAD", 8, 0},    {"RET", 0, 0}};
// a = x + y; b = a * a; c = y - b; return c - c
static const code twice[] = {{"STOREN", 1, 3},  PUT(ADD, 2, 3, 4), PUT(MUL, 4, 4, 5), PUT(SUB, 3, 5, 6),
                             PUT(SUB, 6, 6, 7), {"LOAD", 7, 0},    {"RET", 0, 0}};
// a = x + y; b = a * y; return a - b
static const code needed[] = {{"STOREN", 1, 3},  PUT(ADD, 2, 3, 4), PUT(MUL, 4, 3, 5),
                              PUT(SUB, 4, 5, 6), {"LOAD", 6, 0},    {"RET", 0, 0}};
// a = x + y; v = detach(a), which shares the memory of a; b = a * y; return v - b
static const code viewed[] = {{"STOREN", 1, 3},  PUT(ADD, 2, 3, 4), {"LOAD", 4, 0}, {"OP", DETACH, 0}, {"STORE", 5, 0},
                              PUT(MUL, 4, 3, 6), PUT(SUB, 5, 6, 7), {"LOAD", 7, 0}, {"RET", 0, 0}};
// a = x + y; list = [a]; b = a * y; return list[0] - b
static const code listed[] = {{"STOREN", 1, 3}, PUT(ADD, 2, 3, 4), {"LOAD", 4, 0}, {"LIST_CONSTRUCT", 0, 1},
                              {"STORE", 5, 0},  PUT(MUL, 4, 3, 6), {"LOAD", 5, 0}, {"LIST_UNPACK", 1, 0},
                              {"STORE", 7, 0},  PUT(SUB, 7, 6, 8), {"LOAD", 8, 0}, {"RET", 0, 0}};
// b = x * y; return b - x. The last use of the input y is the product.
static const code inputs_only[] = {
    {"STOREN", 1, 3}, PUT(MUL, 2, 3, 4), PUT(SUB, 4, 2, 5), {"LOAD", 5, 0}, {"RET", 0, 0}};

static const example examples[] = {
    {"chain", chain, COUNT(chain), ((3 + 2) * 2 + 3 - 2) * 2, true},
    {"twice", twice, COUNT(twice), 0, true},
    {"needed", needed, COUNT(needed), 5 - 10, false},
    {"viewed", viewed, COUNT(viewed), 5 - 10, false},
    {"listed", listed, COUNT(listed), 5 - 10, false},
    {"inputs", inputs_only, COUNT(inputs_only), 6 - 3, true},
};

static void check(const example *e, int64_t n)
{
    TEXTS(operators, "aten::add.Tensor 2", "aten::mul.Tensor 2", "aten::detach 1", "aten::append.t 2",
          "aten::Bool.Tensor 1", "aten::sub.Tensor 2");
    TEXTS(constants, "1");
    TEXTS(types, "List[Tensor]");
    TEXTS(arguments, "Tensor", "Tensor");
    const function f = {.name = "__torch__.Net.forward",
                        .code = e->code,
                        .code_count = e->count,
                        .operators = operators,
                        .constants = constants,
                        .types = types,
                        .arguments = arguments,
                        .registers = 10};
    program p;
    open_program(&p, &f, false);
    taper_value *inputs[] = {vector(&p, n, 3), vector(&p, n, 2)}, *results[3];
    for (size_t i = 0; i < COUNT(results); i++) {
        results[i] = run_program(&p, inputs, 2);
    }
    for (size_t i = 0; i < COUNT(results); i++) {
        expect_vector(results[i], n, e->wanted);
        taper_value_release(results[i]);
    }
    expect_vector(inputs[0], n, 3);
    expect_vector(inputs[1], n, 2);
    taper_memory_info memory = {.struct_size = sizeof memory};
    taper_session_memory(p.session, &memory);
    const size_t size = (size_t)n * sizeof(float);
    if (n == MANY && e->reuses != (memory.arena_bytes < size)) {
        fail_msg("%s: the arena has %zu bytes, a value has %zu", e->name, memory.arena_bytes, size);
    }
    taper_value_release(inputs[0]);
    taper_value_release(inputs[1]);
    close_program(&p);
}

static void programs(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(examples); i++) {
        check(&examples[i], FEW);
        check(&examples[i], MANY);
    }
}

// An argument that the recorded run did not need after the call is appended to a list in a later run: a = x + y;
// if flag: list.append(a); b = a * y; return b + y.
static const code escaping[] = {{"STOREN", 1, 5}, PUT(ADD, 2, 3, 6), {"LOAD", 4, 0},    {"OP", TRUTH, 0},
                                {"JF", 6, 0},     {"LOAD", 5, 0},    {"LOAD", 6, 0},    {"OP", APPEND, 0},
                                {"DROP", 0, 0},   {"JMP", 1, 0},     PUT(MUL, 6, 3, 7), PUT(ADD, 7, 3, 8),
                                {"LOAD", 8, 0},   {"RET", 0, 0}};

static void an_argument_that_is_kept_in_some_runs(void **state)
{
    (void)state;
    TEXTS(operators, "aten::add.Tensor 2", "aten::mul.Tensor 2", "aten::detach 1", "aten::append.t 2",
          "aten::Bool.Tensor 1", "aten::sub.Tensor 2");
    TEXTS(constants, "1");
    TEXTS(types, "List[Tensor]");
    TEXTS(arguments, "Tensor", "Tensor", "Tensor", "List[Tensor]");
    const function f = {.name = "__torch__.Net.forward",
                        .code = escaping,
                        .code_count = COUNT(escaping),
                        .operators = operators,
                        .constants = constants,
                        .types = types,
                        .arguments = arguments,
                        .registers = 10};
    for (int first = 0; first < 2; first++) { // value of flag in the run that is recorded
        program p;
        open_program(&p, &f, false);
        for (int i = 0; i < 6; i++) {
            const bool flag = i % 3 == 0 ? first == 1 : first == 0;
            taper_value *inputs[4] = {vector(&p, MANY, (float)i), vector(&p, MANY, 2), vector(&p, 1, flag ? 1 : 0)};
            assert_int_equal(taper_value_list(p.context, "Tensor", NULL, 0, &inputs[3], NULL), TAPER_OK);
            taper_value *result = run_program(&p, inputs, 4);
            expect_vector(result, MANY, ((float)i + 2) * 2 + 2);
            assert_int_equal(taper_value_count(inputs[3]), flag ? 1 : 0);
            if (flag) {
                taper_value *item;
                assert_int_equal(taper_value_item(inputs[3], 0, &item, NULL), TAPER_OK);
                expect_vector(item, MANY, (float)i + 2);
                taper_value_release(item);
            }
            taper_value_release(result);
            for (size_t k = 0; k < COUNT(inputs); k++) {
                taper_value_release(inputs[k]);
            }
        }
        close_program(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs),
                                       cmocka_unit_test(an_argument_that_is_kept_in_some_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
