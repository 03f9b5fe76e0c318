// SPDX-License-Identifier: BSD-2-Clause
// Reads the text of a formula (make_gradients.c) into a tree. The program that includes this is short-lived, so the
// tree is never freed. Include this once, after a definition of fail( ), which ends the program.
#ifndef TAPER_OPS_FORMULA_TEXT_H
#define TAPER_OPS_FORMULA_TEXT_H

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITEMS = 24, MOST_TARGETS = 4 };

typedef struct expression {
    enum { EXPRESSION_NAME, EXPRESSION_NUMBER, EXPRESSION_LIST, EXPRESSION_CALL, EXPRESSION_PICK } kind;
    const char *text; // name, number, or name of the operator that is called
    int index;        // PICK: index of the result
    struct expression *items[MOST_ITEMS];
    const char *names[MOST_ITEMS]; // names of arguments that are passed by name, or NULL
    size_t count;
} expression;

typedef struct assignment {
    const char *targets[MOST_TARGETS];
    size_t target_count;
    expression *value;
} assignment;

typedef struct reader {
    const char *at, *of; // rest of the text to parse; id of the table's row, for messages
} reader;

static void *allocated(size_t size)
{
    void *const block = calloc(1, size);
    if (block == NULL) {
        fail("out of memory", "");
    }
    return block;
}

static void skip_spaces(reader *r)
{
    while (*r->at == ' ' || *r->at == '\n') {
        r->at++;
    }
}

static bool at_end(reader *r)
{
    skip_spaces(r);
    return *r->at == '\0';
}

static bool accept(reader *r, char wanted)
{
    skip_spaces(r);
    if (*r->at != wanted) {
        return false;
    }
    r->at++;
    return true;
}

static void expect(reader *r, char wanted)
{
    if (!accept(r, wanted)) {
        const char text[2] = {wanted, '\0'};
        fprintf(stderr, "wanted '%s' before: %s\n", text, r->at);
        fail("a formula that cannot be read", r->of);
    }
}

static const char *read_word(reader *r, bool dotted)
{
    skip_spaces(r);
    size_t length = 0;
    while (isalnum((unsigned char)r->at[length]) || r->at[length] == '_' ||
           (dotted && r->at[length] == '.' && isalpha((unsigned char)r->at[length + 1]))) {
        length++;
    }
    if (length == 0) {
        fprintf(stderr, "wanted a name before: %s\n", r->at);
        fail("a formula that cannot be read", r->of);
    }
    char *const word = allocated(length + 1);
    memcpy(word, r->at, length);
    r->at += length;
    return word;
}

static expression *read_expression(reader *r);

static expression *new_expression(int kind, const char *text)
{
    expression *const e = allocated(sizeof *e);
    e->kind = kind;
    e->text = text;
    return e;
}

static void add_item(const reader *r, expression *e, expression *item, const char *name)
{
    if (e->count == MOST_ITEMS) {
        fail("too many arguments in the formula of", r->of);
    }
    e->names[e->count] = name;
    e->items[e->count++] = item;
}

// Reads the name of an argument that is passed by name, such as "dim=". Returns NULL if the argument has no name.
static const char *read_keyword(reader *r)
{
    const char *const before = r->at;
    skip_spaces(r);
    if (isalpha((unsigned char)*r->at)) {
        const char *const word = read_word(r, false);
        if (accept(r, '=')) {
            return word;
        }
    }
    r->at = before;
    return NULL;
}

static void read_items(reader *r, expression *e, char end)
{
    if (accept(r, end)) {
        return;
    }
    do {
        const char *const name = end == ')' ? read_keyword(r) : NULL;
        add_item(r, e, read_expression(r), name);
    } while (accept(r, ','));
    expect(r, end);
}

static expression *read_number(reader *r)
{
    char *end;
    (void)strtod(r->at, &end);
    const size_t length = (size_t)(end - r->at);
    char *const text = allocated(length + 1);
    memcpy(text, r->at, length);
    r->at = end;
    return new_expression(EXPRESSION_NUMBER, text);
}

static expression *read_primary(reader *r)
{
    expression *e;
    if (accept(r, '(')) {
        e = read_expression(r);
        expect(r, ')');
    } else if (accept(r, '[')) {
        e = new_expression(EXPRESSION_LIST, "");
        read_items(r, e, ']');
    } else if (isdigit((unsigned char)*r->at)) {
        return read_number(r);
    } else {
        const char *const word = read_word(r, true);
        const bool call = accept(r, '(');
        e = new_expression(call ? EXPRESSION_CALL : EXPRESSION_NAME, word);
        if (call) {
            read_items(r, e, ')');
        }
    }
    if (*r->at == '.' && isdigit((unsigned char)r->at[1])) {
        expression *const pick = new_expression(EXPRESSION_PICK, "");
        add_item(r, pick, e, NULL);
        pick->index = r->at[1] - '0';
        r->at += 2;
        return pick;
    }
    return e;
}

static expression *read_unary(reader *r)
{
    if (!accept(r, '-')) {
        return read_primary(r);
    }
    expression *const e = new_expression(EXPRESSION_CALL, "neg");
    add_item(r, e, read_unary(r), NULL);
    return e;
}

// Reads operands that are joined by two signs, such as + and -, which stand for the operators `first` and `second` of
// two arguments. Returns the tree of all operands.
static expression *read_joined(reader *r, expression *(*operand)(reader *), const char *signs, const char *first,
                               const char *second)
{
    expression *left = operand(r);
    for (;;) {
        const bool is_first = accept(r, signs[0]);
        if (!is_first && !accept(r, signs[1])) {
            return left;
        }
        expression *const e = new_expression(EXPRESSION_CALL, is_first ? first : second);
        add_item(r, e, left, NULL);
        add_item(r, e, operand(r), NULL);
        left = e;
    }
}

static expression *read_product(reader *r)
{
    return read_joined(r, read_unary, "*/", "mul", "div");
}

static expression *read_expression(reader *r)
{
    return read_joined(r, read_product, "+-", "add", "sub");
}

// Reads "self = …" or "(self, other) = …", up to the semicolon or the end.
static void read_assignment(reader *r, assignment *a)
{
    const bool several = accept(r, '(');
    a->target_count = 0;
    do {
        if (a->target_count == MOST_TARGETS) {
            fail("too many targets in the formula of", r->of);
        }
        a->targets[a->target_count++] = read_word(r, false);
    } while (several && accept(r, ','));
    if (several) {
        expect(r, ')');
    }
    expect(r, '=');
    a->value = read_expression(r);
    if (!at_end(r)) {
        expect(r, ';');
    }
}

#endif
