// SPDX-License-Identifier: BSD-2-Clause
// The rows of op_list.h for programs that run during the build. The variants of an operator that IN_PLACE( ) and OUT( )
// describe become separate rows. Their schema, kernel and param follow from the functional row, and they have the facts
// of the functional row and of the variant. Words that are not facts of the library, WANTS( ), FORM( ), ON_QUANTIZED( )
// and CPP( ), are separated from the flags. Include this once, after a definition of fail( ), which ends the program.
#ifndef TAPER_OPS_EXPAND_ROWS_H
#define TAPER_OPS_EXPAND_ROWS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/list/op_config.h"

typedef struct row {
    const char *id, *schema, *kernel, *param, *flags;
    const char *of; // id of the functional row; NULL for a functional row
    bool out, wanted;
    const char *own; // words that belong only to this row, from the end of its flags; "" if there are none
} row;

static row rows[] = {
#define OP(id, schema, kernel, param, flags) {#id, schema, #kernel, #param, #flags, NULL, false, TAPER_HAS_OP(id), ""},
#define IN_PLACE(id, of, flags) {#id, NULL, NULL, NULL, #flags, #of, false, TAPER_HAS_OP(id), ""},
#define OUT(id, of, flags) {#id, NULL, NULL, NULL, #flags, #of, true, TAPER_HAS_OP(id), ""},
#include "ops/list/op_list.h"
#undef OP
#undef IN_PLACE
#undef OUT
};

// Number of all rows, including rows that a selective build does not want.
enum { ALL_ROWS = sizeof rows / sizeof rows[0] };

static const char *joined(const char *first, size_t length, const char *middle, const char *last)
{
    const size_t size = length + strlen(middle) + strlen(last) + 1;
    char *const text = malloc(size);
    if (text == NULL) {
        fail("out of memory", first);
    }
    snprintf(text, size, "%.*s%s%s", (int)length, first, middle, last);
    return text;
}

// Moves the words that belong only to this row from the end of its flags to `own`.
static void split_own(row *r)
{
    // The words, in the order in which rows have them.
    static const char *const words[] = {"WANTS(", "FORM(", "ON_QUANTIZED(", "CPP("};
    const char *own = NULL;
    for (size_t i = 0; own == NULL && i < sizeof words / sizeof *words; i++) {
        own = strstr(r->flags, words[i]);
    }
    if (own == NULL) {
        return;
    }
    r->own = own;
    r->flags = own == r->flags ? "0" : joined(r->flags, (size_t)(own - r->flags) - strlen(" | "), "", "");
}

// Returns the text in the parentheses of one of the row's own words, or NULL if the row lacks the word.
static const char *own_word(const row *r, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = r->own; (at = strstr(at, word)) != NULL; at += length) {
        if ((at == r->own || at[-1] == ' ') && at[length] == '(') {
            return joined(at + length + 1, strcspn(at + length + 1, ")"), "", "");
        }
    }
    return NULL;
}

static const char *form_flags(const row *form, const row *of)
{
    return strcmp(of->flags, "0") == 0     ? form->flags
           : strcmp(form->flags, "0") == 0 ? of->flags
                                           : joined(of->flags, strlen(of->flags), " | ", form->flags);
}

// Changes "aten::relu(Tensor self) -> Tensor" to "aten::relu_(Tensor(a!) self) -> Tensor(a!)".
static const char *in_place_schema(const row *of)
{
    static const char self[] = "(Tensor self";
    const size_t name = strcspn(of->schema, ".("), full = strcspn(of->schema, "(");
    if (strncmp(of->schema + full, self, strlen(self)) != 0) {
        fail("a form in place of an operator that takes no self first", of->schema);
    }
    const char *const named =
        joined(of->schema, name, "_", joined(of->schema + name, full - name, "(Tensor(a!) self", ""));
    return joined(named, strlen(named), of->schema + full + strlen(self), "(a!)");
}

// Changes "aten::relu(Tensor self) -> Tensor" to "aten::relu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)". The
// overload is the rest of the variant's id after the operator's name.
static const char *out_schema(const row *form, const row *of)
{
    static const char end[] = ") -> Tensor";
    const size_t name = strcspn(of->schema, ".("), full = strcspn(of->schema, "("), length = strlen(of->schema),
                 id = strlen(of->id) - (full - name);
    if (strncmp(form->id, of->id, id) != 0 || form->id[id] != '_') {
        fail("the id of an out form is that of its operator and the overload", form->id);
    }
    const char *const named = joined(of->schema, name, ".", form->id + id + 1);
    const char *const taken = joined(of->schema + full, length - full - strlen(end), "", "");
    const char *const star = strstr(taken, "*, ") != NULL ? "" : "*, ";
    return joined(named, strlen(named), taken, joined(", ", 2, star, "Tensor(a!) out) -> Tensor(a!)"));
}

static size_t find_row(const char *id, const char *asks)
{
    size_t at = 0;
    while (at < ALL_ROWS && (rows[at].of != NULL || strcmp(rows[at].id, id) != 0)) {
        at++;
    }
    if (at == ALL_ROWS) {
        fail("a form of a row that the list does not have", asks);
    }
    return at;
}

static void expand_form(row *form)
{
    static const char end[] = ") -> Tensor";
    const row *const of = &rows[find_row(form->of, form->id)];
    const size_t length = strlen(of->schema);
    if (length < strlen(end) || strcmp(of->schema + length - strlen(end), end) != 0) {
        fail("a form of an operator that does not give one new tensor", of->schema);
    }
    form->schema = form->out ? out_schema(form, of) : in_place_schema(of);
    form->kernel = of->kernel;
    form->param = of->param;
    form->flags = form_flags(form, of);
}

// Expands every row and moves the rows that this build wants to the front. Returns the number of these rows.
static size_t expand_rows(void)
{
    static row others[ALL_ROWS];
    size_t kept = 0, left = 0;
    for (size_t i = 0; i < ALL_ROWS; i++) {
        split_own(&rows[i]);
    }
    for (size_t i = 0; i < ALL_ROWS; i++) {
        if (rows[i].of != NULL) {
            expand_form(&rows[i]);
        }
    }
    for (size_t i = 0; i < ALL_ROWS; i++) {
        if (rows[i].wanted) {
            rows[kept++] = rows[i];
        } else {
            others[left++] = rows[i];
        }
    }
    memcpy(rows + kept, others, left * sizeof *others);
    return kept;
}

#endif
