// SPDX-License-Identifier: BSD-2-Clause
// Tests the lowering of bytecode: code that PyTorch emits must run, other code must be refused with the position of the
// error.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/api/fixture.h"
#include "tests/api/load_text.h"
#include "tests/unit/program_builder.h"

#define CODE(array) (array), sizeof(array) / sizeof *(array)
#define TEXTS(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}

// Loads the function and, on success, runs forward with one int. *number receives the result.
static taper_status run(const function *f, int64_t input, int64_t *number, taper_error *error)
{
    bytes file = build_program(f, 1);
    taper_context *context = test_context(NULL, 1);
    taper_model *model = NULL;
    taper_session *session = NULL;
    taper_value *value = NULL, *result = NULL;
    const taper_session_options limits = {.struct_size = sizeof limits, .instruction_budget = 100000};
    taper_status status = taper_model_load_memory(context, file.data, file.size, NULL, NULL, &as_saved, &model, error);
    if (status == TAPER_OK) {
        status = taper_session_create(model, &limits, &session, error);
    }
    if (status == TAPER_OK) {
        assert_int_equal(taper_value_int(context, input, &value, NULL), TAPER_OK);
        status = taper_session_run(session, NULL, &value, 1, &result, error);
    }
    if (status == TAPER_OK) {
        status = taper_value_get_int(result, number, error);
    }
    taper_value_release(result);
    taper_value_release(value);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
    bytes_free(&file);
    return status;
}

static function whole(const code *instructions, size_t count)
{
    TEXTS(operators, "aten::add.int 2", "aten::lt.int 2");
    TEXTS(constants, "0", "1", "10", "T", "9223372036854775807");
    TEXTS(types, "List[int]", "Tuple[int, int]");
    TEXTS(arguments, "int");
    return (function){.name = "__torch__.Net.forward",
                      .code = instructions,
                      .code_count = count,
                      .operators = operators,
                      .constants = constants,
                      .types = types,
                      .arguments = arguments,
                      .registers = 4};
}

// The program is: int sum = x; for (i < 10) sum += i; return sum.
static const code loop[] = {
    {"STOREN", 1, 2}, {"LOADC", 0, 0},  {"LOADC", 2, 0}, {"LOADC", 3, 0}, {"LOAD", 2, 0}, // instructions 0 to 4
    {"LOOP", 8, 3},   {"STOREN", 3, 2}, {"LOADC", 3, 0}, {"LOAD", 4, 0},  {"LOAD", 3, 0}, // instructions 5 to 9
    {"OP", 0, 0},     {"NOP", 0, 0},    {"JMP", -7, 0},  {"RET", 0, 0},
};

static void runs_a_loop(void **state)
{
    (void)state;
    // Makes the code of `loop` without the NOP, which is not an instruction of the lite interpreter. Jumps over the NOP
    // become shorter by one instruction.
    code instructions[13];
    memcpy(instructions, loop, 11 * sizeof *loop);
    instructions[5].x = 7;
    instructions[11] = (code){"JMP", -6, 0};
    instructions[12] = (code){"RET", 0, 0};
    const function f = whole(CODE(instructions));
    int64_t sum = 0;
    taper_error *error = taper_error_create();
    if (run(&f, 100, &sum, error) != TAPER_OK) {
        fail_msg("%s", taper_error_message(error));
    }
    assert_int_equal(sum, 145);
    taper_error_destroy(error);
}

static const code branch[] = {
    {"STOREN", 1, 2}, {"LOAD", 2, 0}, {"LOADC", 2, 0}, {"OP", 1, 0},  {"JF", 3, 0}, // instructions 0 to 4
    {"LOADC", 1, 0},  {"JMP", 2, 0},  {"LOADC", 0, 0}, {"RET", 0, 0},
};

static void runs_a_branch(void **state)
{
    (void)state;
    const function f = whole(CODE(branch));
    int64_t number = -1;
    assert_int_equal(run(&f, 9, &number, NULL), TAPER_OK);
    assert_int_equal(number, 1);
    assert_int_equal(run(&f, 10, &number, NULL), TAPER_OK);
    assert_int_equal(number, 0);
}

static void refused(const code *instructions, size_t count, const char *place)
{
    const function f = whole(instructions, count);
    int64_t number;
    taper_error *error = taper_error_create();
    const taper_status status = run(&f, 3, &number, error);
    if (status != TAPER_ERROR_FILE || strstr(taper_error_message(error), place) == NULL) {
        fail_msg("status %d, %s; wanted %s", (int)status, taper_error_message(error), place);
    }
    taper_error_destroy(error);
}

// Loads the function `branch` with one instruction replaced. place: text that the error must contain.
static void branch_with(size_t at, code other, const char *place)
{
    code changed[sizeof branch / sizeof *branch];
    memcpy(changed, branch, sizeof branch);
    changed[at] = other;
    refused(CODE(changed), place);
}

static void refuses_other_jumps(void **state)
{
    (void)state;
    branch_with(4, (code){"JF", 4, 0}, "instruction 4 (JF)");  // the instruction before the target is not a JMP
    branch_with(4, (code){"JF", 1, 0}, "instruction 4 (JF)");  // there is no space for a JMP before the target
    branch_with(4, (code){"JF", -2, 0}, "instruction 4 (JF)"); // the jump goes backwards
    branch_with(4, (code){"JF", 2000000000, 0}, "instruction 4 (JF)");
    branch_with(4, (code){"JF", -2147483647 - 1, 0}, "instruction 4 (JF)");
    branch_with(6, (code){"JMP", -3, 0}, "instruction 6 (JMP)");
    branch_with(6, (code){"JMP", 3, 0}, "instruction 6 (JMP)"); // the jump goes beyond the end of the function
    branch_with(6, (code){"JMP", 2147483647, 0}, "instruction 6 (JMP)");
    branch_with(5, (code){"JMP", 1, 0}, "instruction 5 (JMP)"); // the JMP is not part of an if
    branch_with(5, (code){"RET", 0, 0}, "instruction 5 (RET)");
    branch_with(8, (code){"JMP", 0, 0}, "RET"); // the function has no RET
}

static void refuses_other_loops(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        code other;
    } cases[] = {
        {5, {"LOOP", 6, 3}},     {5, {"LOOP", 100, 3}}, {5, {"LOOP", -5, 3}}, {5, {"LOOP", 7, 1}},
        {5, {"LOOP", 7, 65535}}, {11, {"JMP", -5, 0}},  {11, {"JMP", 1, 0}},  {1, {"LOADC", 1, 0}},
        {7, {"STORE", 4, 0}},    {7, {"DROPR", 4, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        code changed[13];
        memcpy(changed, loop, 11 * sizeof *loop);
        changed[5].x = 7;
        changed[11] = (code){"JMP", -6, 0};
        changed[12] = (code){"RET", 0, 0};
        changed[cases[i].at] = cases[i].other;
        refused(CODE(changed), "instruction ");
    }
}

static void refuses_what_is_out_of_range(void **state)
{
    (void)state;
    static const code cases[] = {
        {"LOADC", 5, 0},
        {"LOADC", -1, 0},
        {"LOAD", 5, 0},
        {"LOAD", 3, 0},
        {"STORE", 9, 0},
        {"STOREN", 1, 3},
        {"OP", 2, 0},
        {"OP", -1, 0},
        {"DROP", 0, 0},
        {"LIST_CONSTRUCT", 7, 1},
        {"TUPLE_CONSTRUCT", -1, 0},
        {"LIST_CONSTRUCT", 0, 9},
        {"GET_ATTR", -1, 0},
        {"LIST_UNPACK", -1, 0},
        {"ISINSTANCE", 1, 7},
        {"INTERFACE_CALL", 0, 1},
        {"INTERFACE_CALL", 99, 1},
        {"NAMED_TUPLE_CONSTRUCT", 0, 1},
        {"DICT_CONSTRUCT", 0, 1},
        {"SET_ATTR", 0, 0},
        {"CREATE_OBJECT", 9, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const code instructions[] = {{"STOREN", 1, 2}, cases[i], {"RET", 0, 0}};
        refused(CODE(instructions), "instruction 1");
    }
    const code nothing[] = {{"STOREN", 1, 2}};
    refused(CODE(nothing), "RET");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_a_loop), cmocka_unit_test(runs_a_branch),
                                       cmocka_unit_test(refuses_other_jumps), cmocka_unit_test(refuses_other_loops),
                                       cmocka_unit_test(refuses_what_is_out_of_range)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
