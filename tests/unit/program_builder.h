// SPDX-License-Identifier: BSD-2-Clause
// Writes lite-interpreter files with any instructions, for tests of code that PyTorch never emits.
#ifndef TAPER_TESTS_PROGRAM_BUILDER_H
#define TAPER_TESTS_PROGRAM_BUILDER_H

#include "tests/unit/archive_builder.h"

typedef struct code {
    const char *name;
    int x, n;
} code;

// A function of a model. Lists of texts end with NULL. When the function starts, self and its arguments are on the
// stack.
typedef struct function {
    const char *name; // qualified name, for example "__torch__.Net.forward"
    const code *code;
    size_t code_count;
    const char *const *operators; // names with the number of arguments, for example "aten::add.Tensor 3"
    // Texts of constants: "7" is an int, "2.5f" a float, "'text" a string; "T", "F" and "N" are True, False and None.
    const char *const *constants;
    const char *const *types;
    const char *const *arguments; // types of the arguments, for example "Tensor" and "int"
    int registers;
} function;

static inline void pickle_op(bytes *b, const char *text)
{
    bytes_add(b, text, strlen(text));
}

static inline void pickle_int(bytes *b, int64_t value)
{
    pickle_op(b, "\x8a\x08");
    bytes_number(b, (uint64_t)value, 8);
}

static inline void pickle_text(bytes *b, const char *text, size_t length)
{
    pickle_op(b, "X");
    bytes_number(b, length, 4);
    bytes_add(b, text, length);
}

static inline void pickle_string(bytes *b, const char *text)
{
    pickle_text(b, text, strlen(text));
}

static inline void pickle_constant(bytes *b, const char *text)
{
    const size_t length = strlen(text);
    if (text[0] == '\'') {
        pickle_string(b, text + 1);
    } else if (text[0] == 'T' || text[0] == 'F' || text[0] == 'N') {
        pickle_op(b, text[0] == 'T' ? "\x88" : text[0] == 'F' ? "\x89" : "N");
    } else if (text[length - 1] == 'f') {
        const double number = strtod(text, NULL);
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        pickle_op(b, "G");
        for (int i = 7; i >= 0; i--) {
            bytes_number(b, bits >> (8 * i) & 0xff, 1);
        }
    } else {
        pickle_int(b, strtoll(text, NULL, 10));
    }
}

// Writes the table entry of an operator. text: for example "aten::add.Tensor 3".
static inline void pickle_operator(bytes *b, const char *text)
{
    const char *space = strchr(text, ' ');
    const size_t length = space != NULL ? (size_t)(space - text) : strlen(text);
    const char *dot = memchr(text, '.', length);
    const size_t name = dot != NULL ? (size_t)(dot - text) : length;
    pickle_text(b, text, name);
    pickle_text(b, dot != NULL ? dot + 1 : "", dot != NULL ? length - name - 1 : 0);
    if (space != NULL) {
        pickle_int(b, strtoll(space, NULL, 10));
    }
    pickle_op(b, space != NULL ? "\x87" : "\x86");
}

static inline void pickle_list(bytes *b, const char *name, const char *const *items,
                               void (*item)(bytes *, const char *))
{
    pickle_string(b, name);
    pickle_op(b, "(");
    for (size_t i = 0; items != NULL && items[i] != NULL; i++) {
        item(b, items[i]);
    }
    pickle_op(b, "t\x86");
}

static inline void pickle_argument(bytes *b, const char *name, const char *type)
{
    pickle_string(b, "name");
    pickle_string(b, name);
    pickle_op(b, "\x86");
    pickle_string(b, "type");
    pickle_string(b, type);
    pickle_op(b, "\x86");
    pickle_string(b, "default_value");
    pickle_op(b, "N\x86\x87");
}

static inline void pickle_function(bytes *b, const function *f)
{
    pickle_string(b, f->name);
    pickle_op(b, "(");
    pickle_string(b, "instructions");
    pickle_op(b, "(");
    for (size_t i = 0; i < f->code_count; i++) {
        pickle_string(b, f->code[i].name);
        pickle_int(b, f->code[i].x);
        pickle_int(b, f->code[i].n);
        pickle_op(b, "\x87");
    }
    pickle_op(b, "t\x86");
    pickle_list(b, "operators", f->operators, pickle_operator);
    pickle_list(b, "constants", f->constants, pickle_constant);
    pickle_list(b, "types", f->types, pickle_string);
    pickle_string(b, "register_size");
    pickle_int(b, f->registers);
    pickle_op(b, "\x86t(");
    pickle_string(b, "arguments");
    pickle_op(b, "(");
    pickle_argument(b, "self", "__torch__.Net");
    for (size_t i = 0; f->arguments != NULL && f->arguments[i] != NULL; i++) {
        char name[24];
        snprintf(name, sizeof name, "a%zu", i);
        pickle_argument(b, name, f->arguments[i]);
    }
    pickle_op(b, "t\x86");
    pickle_string(b, "returns");
    pickle_op(b, "(");
    pickle_argument(b, "", "Any");
    pickle_op(b, "t\x86t\x87");
}

static inline bytes build_program(const function *functions, size_t count)
{
    bytes code_pickle = {.data = NULL};
    pickle_op(&code_pickle, "\x80\2(");
    pickle_int(&code_pickle, 8);
    for (size_t i = 0; i < count; i++) {
        pickle_function(&code_pickle, &functions[i]);
    }
    pickle_op(&code_pickle, "t.");
    static const char data[] = "\x80\2c__torch__\nNet\n)\x81}b.";
    builder b = {.count = 0};
    builder_add(&b, "net/data.pkl", data, sizeof data - 1, 0);
    builder_add(&b, "net/constants.pkl", "\x80\2).", 4, 0);
    builder_add(&b, "net/bytecode.pkl", code_pickle.data, code_pickle.size, 0);
    builder_add(&b, "net/version", "10\n", 3, 0);
    bytes_free(&code_pickle);
    return builder_finish(&b, false, "");
}

#endif
