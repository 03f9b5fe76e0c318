// SPDX-License-Identifier: BSD-2-Clause
// Tests that nesting works up to the limit and one level more is refused: blocks, calls, values, types, registers,
// arguments.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/limits.h"
#include "tests/api/fixture.h"
#include "tests/unit/program_builder.h"

#define TEXTS(name, ...) static const char *const name[] = {__VA_ARGS__, NULL}

// Loads the functions and runs forward with one int.
static taper_status run(const function *functions, size_t count, int64_t input, bool optimized, taper_error *error)
{
    bytes file = build_program(functions, count);
    test_allocator allocator;
    test_allocator_init(&allocator);
    taper_context *context = test_context(&allocator, 1);
    taper_model *model = NULL;
    taper_session *session = NULL;
    taper_value *value = NULL, *result = NULL;
    const taper_load_options options = {.struct_size = sizeof options, .compiler = optimized ? taper_compiler() : NULL};
    taper_status status = taper_model_load_memory(context, file.data, file.size, NULL, NULL, &options, &model, error);
    if (status == TAPER_OK) {
        status = taper_session_create(model, NULL, &session, error);
    }
    if (status == TAPER_OK) {
        assert_int_equal(taper_value_int(context, input, &value, NULL), TAPER_OK);
        status = taper_session_run(session, NULL, &value, 1, &result, error);
    }
    taper_value_release(result);
    taper_value_release(value);
    taper_session_destroy(session);
    taper_model_release(model);
    taper_context_release(context);
    assert_int_equal(atomic_load(&allocator.blocks), 0);
    bytes_free(&file);
    return status;
}

static void ends_with(const function *f, size_t count, int64_t input, taper_status status, const char *text)
{
    for (int optimized = 0; optimized < 2; optimized++) {
        taper_error *error = taper_error_create();
        const taper_status got = run(f, count, input, optimized == 1, error);
        if (got != status || strstr(taper_error_message(error), text) == NULL) {
            fail_msg("status %d, %s; wanted %d, %s", (int)got, taper_error_message(error), (int)status, text);
        }
        taper_error_destroy(error);
    }
}

static function make(const char *name, const code *instructions, size_t count)
{
    TEXTS(operators, "aten::add.int 2", "aten::gt.int 2", "aten::sub.int 2");
    TEXTS(constants, "0", "1", "T", "'forward");
    TEXTS(types, "List[int]", "List[List[int]]");
    TEXTS(arguments, "int");
    return (function){.name = name,
                      .code = instructions,
                      .code_count = count,
                      .operators = operators,
                      .constants = constants,
                      .types = types,
                      .arguments = arguments,
                      .registers = 4};
}

// The program is: if: if: if: …, each with the condition x > 0.
static void nested_blocks(void **state)
{
    (void)state;
    enum { MOST = TAPER_LIMIT_BLOCK_DEPTH + 5 };
    for (int extra = 0; extra < 2; extra++) {
        const size_t depth = TAPER_LIMIT_BLOCK_DEPTH + (size_t)extra;
        static code instructions[8 * MOST + 8];
        size_t n = 0;
        instructions[n++] = (code){"STOREN", 1, 2};
        size_t heads[MOST];
        for (size_t i = 0; i < depth; i++) {
            instructions[n++] = (code){"LOAD", 2, 0};
            instructions[n++] = (code){"LOADC", 0, 0};
            instructions[n++] = (code){"OP", 1, 0};
            heads[i] = n;
            instructions[n++] = (code){"JF", 0, 0};
        }
        for (size_t i = depth; i-- > 0;) {
            instructions[heads[i]].x = (int)(n + 1 - heads[i]);
            instructions[n++] = (code){"JMP", 1, 0};
        }
        instructions[n++] = (code){"LOAD", 2, 0};
        instructions[n++] = (code){"RET", 0, 0};
        const function f = make("__torch__.Net.forward", instructions, n);
        if (extra == 0) {
            ends_with(&f, 1, 3, TAPER_OK, "");
        } else {
            ends_with(&f, 1, 3, TAPER_ERROR_FILE, "nested too deep");
        }
    }
}

// The program is: forward(x) = forward(x - 1) if x > 0 else x.
static void calls(void **state)
{
    (void)state;
    static const code instructions[] = {
        {"STOREN", 1, 2}, {"LOAD", 2, 0}, {"LOADC", 0, 0}, {"OP", 1, 0}, {"JF", 7, 0},
        {"LOAD", 1, 0},   {"LOAD", 2, 0}, {"LOADC", 1, 0}, {"OP", 2, 0}, {"INTERFACE_CALL", 3, 2},
        {"JMP", 2, 0},    {"LOAD", 2, 0}, {"RET", 0, 0},
    };
    const function f = make("__torch__.Net.forward", instructions, sizeof instructions / sizeof *instructions);
    ends_with(&f, 1, TAPER_LIMIT_CALL_DEPTH - 1, TAPER_OK, "");
    ends_with(&f, 1, TAPER_LIMIT_CALL_DEPTH + 1, TAPER_ERROR_RESOURCE, "deep");
    ends_with(&f, 1, 1000000000, TAPER_ERROR_RESOURCE, "deep");
}

// The program is: t = (), then 100000 times t = (t,). Recursion would overflow the stack at this depth; freeing and
// returning values must not be recursive.
static void values_at_run_time(void **state)
{
    (void)state;
    static const code instructions[] = {
        {"STOREN", 1, 2}, {"LOADC", 0, 0},  {"LOAD", 2, 0},  {"LOADC", 2, 0}, {"TUPLE_CONSTRUCT", 0, 0},
        {"LOOP", 6, 3},   {"STOREN", 3, 2}, {"LOADC", 2, 0}, {"LOAD", 4, 0},  {"TUPLE_CONSTRUCT", 1, 0},
        {"JMP", -5, 0},   {"RET", 0, 0},
    };
    const function f = make("__torch__.Net.forward", instructions, sizeof instructions / sizeof *instructions);
    ends_with(&f, 1, 10, TAPER_OK, "");
    ends_with(&f, 1, 100000, TAPER_OK, "");
}

// The program is: t = (x, x), then 60 times t = (t, t), which has 2^60 leaves in 60 objects. Code that reads the result
// must not visit all leaves.
static void shared_values(void **state)
{
    (void)state;
    static const code instructions[] = {
        {"STOREN", 1, 2}, {"LOADC", 0, 0}, {"LOAD", 2, 0}, {"LOADC", 2, 0}, {"TUPLE_CONSTRUCT", 0, 0}, {"LOOP", 7, 3},
        {"STOREN", 3, 2}, {"LOADC", 2, 0}, {"LOAD", 4, 0}, {"LOAD", 4, 0},  {"TUPLE_CONSTRUCT", 2, 0}, {"JMP", -6, 0},
        {"RET", 0, 0},
    };
    const function f = make("__torch__.Net.forward", instructions, sizeof instructions / sizeof *instructions);
    ends_with(&f, 1, 60, TAPER_OK, "");
}

static void registers_and_arguments(void **state)
{
    (void)state;
    static const code instructions[] = {{"STOREN", 1, 2}, {"LOAD", 2, 0}, {"RET", 0, 0}};
    function f = make("__torch__.Net.forward", instructions, 3);
    f.registers = TAPER_LIMIT_REGISTERS;
    ends_with(&f, 1, 1, TAPER_OK, "");
    f.registers = TAPER_LIMIT_REGISTERS + 1;
    ends_with(&f, 1, 1, TAPER_ERROR_RESOURCE, "registers");
    static code long_tuple[TAPER_LIMIT_ARGUMENTS + 8];
    for (int extra = 0; extra < 2; extra++) {
        size_t n = 0;
        long_tuple[n++] = (code){"STOREN", 1, 2};
        for (int i = 0; i < TAPER_LIMIT_ARGUMENTS + extra; i++) {
            long_tuple[n++] = (code){"LOAD", 2, 0};
        }
        long_tuple[n++] = (code){"TUPLE_CONSTRUCT", TAPER_LIMIT_ARGUMENTS + extra, 0};
        long_tuple[n++] = (code){"RET", 0, 0};
        const function tuple = make("__torch__.Net.forward", long_tuple, n);
        ends_with(&tuple, 1, 1, extra == 0 ? TAPER_OK : TAPER_ERROR_FILE, extra == 0 ? "" : "TUPLE_CONSTRUCT");
    }
}

// The type is "List[List[…int…]]".
static void types(void **state)
{
    (void)state;
    static const code instructions[] = {{"STOREN", 1, 2}, {"LOAD", 2, 0}, {"RET", 0, 0}};
    for (size_t extra = 0; extra < 2; extra++) {
        const size_t depth = TAPER_LIMIT_TYPE_DEPTH + extra;
        char text[8 * TAPER_LIMIT_TYPE_DEPTH] = "";
        for (size_t i = 0; i < depth; i++) {
            strcat(text, "List[");
        }
        strcat(text, "int");
        for (size_t i = 0; i < depth; i++) {
            strcat(text, "]");
        }
        function f = make("__torch__.Net.forward", instructions, 3);
        const char *const types_of[] = {text, NULL};
        f.types = types_of;
        ends_with(&f, 1, 1, extra == 0 ? TAPER_OK : TAPER_ERROR_FILE, extra == 0 ? "" : "deep");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nested_blocks),           cmocka_unit_test(calls),
                                       cmocka_unit_test(values_at_run_time),      cmocka_unit_test(shared_values),
                                       cmocka_unit_test(registers_and_arguments), cmocka_unit_test(types)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
