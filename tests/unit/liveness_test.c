// SPDX-License-Identifier: BSD-2-Clause
// Tests that values are freed after their last use: results must stay correct and memory low.
#include "tests/unit/program_fixture.h"

#define TEXTS(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}
enum { SIZE = 1 << 18 }; // number of floats in a tensor of 1 MiB

static function make(const code *instructions, size_t count)
{
    TEXTS(operators, "aten::add.Scalar 2", "aten::add.Tensor 2", "aten::gt.int 2");
    TEXTS(constants, "1", "0", "T", "9223372036854775807", "20");
    TEXTS(arguments, "Tensor", "int");
    return (function){.name = "__torch__.Net.forward",
                      .code = instructions,
                      .code_count = count,
                      .operators = operators,
                      .constants = constants,
                      .arguments = arguments,
                      .registers = 6};
}

// Runs three times, so that plans are made and used. Returns the peak of memory in units of one tensor, without the
// input and the result.
static size_t peak(const code *instructions, size_t count, int64_t number, float wanted, bool optimized)
{
    const function f = make(instructions, count);
    program p;
    open_program(&p, &f, optimized);
    taper_value *x = vector(&p, SIZE, 1.0f), *n;
    assert_int_equal(taper_value_int(p.context, number, &n, NULL), TAPER_OK);
    atomic_store(&p.memory.peak, 0);
    const size_t before = atomic_load(&p.memory.bytes);
    for (int i = 0; i < 3; i++) {
        taper_value *result = run_program(&p, (taper_value *[]){x, n}, 2);
        expect_vector(result, SIZE, wanted);
        taper_value_release(result);
    }
    expect_vector(x, SIZE, 1.0f);
    const size_t most = atomic_load(&p.memory.peak) - before;
    taper_value_release(x);
    taper_value_release(n);
    close_program(&p);
    return most / (SIZE * sizeof(float));
}

static void a_chain_keeps_two(void **state)
{
    (void)state;
    code chain[64] = {{"STOREN", 1, 3}, {"LOAD", 2, 0}};
    size_t n = 2;
    for (int i = 0; i < 20; i++) {
        chain[n++] = (code){"LOADC", 0, 0};
        chain[n++] = (code){"OP", 0, 0};
    }
    chain[n++] = (code){"RET", 0, 0};
    // While the plan is made, the blocks of the recorded run and the arena exist at the same time: 2 + 2 tensors, and
    // the result.
    assert_in_range(peak(chain, n, 0, 21.0f, false), 1, 5);
    assert_in_range(peak(chain, n, 0, 21.0f, true), 1, 5);
}

// The program is: for _ in range(20): x = x + 1.
static const code loop[] = {
    {"STOREN", 1, 3}, {"LOADC", 1, 0},  {"LOADC", 4, 0}, {"LOADC", 2, 0}, {"LOAD", 2, 0},
    {"LOOP", 7, 3},   {"STOREN", 4, 2}, {"LOADC", 2, 0}, {"LOAD", 5, 0},  {"LOADC", 0, 0},
    {"OP", 0, 0},     {"JMP", -6, 0},   {"RET", 0, 0},
};

static void a_loop_keeps_two(void **state)
{
    (void)state;
    assert_in_range(peak(loop, sizeof loop / sizeof *loop, 0, 21.0f, false), 1, 6);
    assert_in_range(peak(loop, sizeof loop / sizeof *loop, 0, 21.0f, true), 1, 6);
}

// The program is: y = x + 1; z = y + 1 if n > 0 else x; return y + z. In both cases y is needed after the branch.
static const code branch[] = {
    {"STOREN", 1, 3}, {"LOAD", 2, 0},  {"LOADC", 0, 0}, {"OP", 0, 0},   {"STORE", 4, 0},
    {"LOAD", 3, 0},   {"LOADC", 1, 0}, {"OP", 2, 0},    {"JF", 5, 0},   {"LOAD", 4, 0},
    {"LOADC", 0, 0},  {"OP", 0, 0},    {"JMP", 2, 0},   {"LOAD", 2, 0}, {"STORE", 5, 0},
    {"LOAD", 4, 0},   {"LOAD", 5, 0},  {"OP", 1, 0},    {"RET", 0, 0},
};

static void a_branch_keeps_what_comes_after(void **state)
{
    (void)state;
    for (int optimized = 0; optimized < 2; optimized++) {
        peak(branch, sizeof branch / sizeof *branch, 1, 5.0f, optimized == 1);
        peak(branch, sizeof branch / sizeof *branch, 0, 3.0f, optimized == 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_chain_keeps_two), cmocka_unit_test(a_loop_keeps_two),
                                       cmocka_unit_test(a_branch_keeps_what_comes_after)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
