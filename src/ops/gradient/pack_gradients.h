// SPDX-License-Identifier: BSD-2-Clause
// Writes the compiled formulas of make_gradients.c as the bytes that gradient_code.h describes. The operators of which
// the formulas consist are numbered by their frequency. Equal records are written once. make_gradients.c includes this
// after its functions.
#ifndef TAPER_OPS_PACK_GRADIENTS_H
#define TAPER_OPS_PACK_GRADIENTS_H

// ---- numbers of rows

static const row *numbered_rows[ALL_ROWS]; // the rows of this build by their numbers
static size_t numbered_count;

static const char *const named[] = {
#define NAMED(id) TAPER_OP_IF(id, #id, )
#include "ops/list/named_rows.inc"
#undef NAMED
    NULL};

// Numbers the rows as make_op_table.c does. The generated table has static assertions that the numbers agree.
static void number_rows(void)
{
    static bool numbered[ALL_ROWS];
    for (size_t n = 0; named[n] != NULL; n++) {
        const row *const r = row_of_id(named[n]);
        if (r == NULL) {
            fail("the operator list has no row", named[n]);
        }
        numbered[r - rows] = true;
        numbered_rows[numbered_count++] = r;
    }
    for (size_t i = 0; i < ALL_ROWS; i++) {
        if (rows[i].wanted && !numbered[i]) {
            numbered_rows[numbered_count++] = &rows[i];
        }
    }
}

// Returns the row of which r is the in-place variant, or NULL.
static const char *in_place_of(const row *r)
{
    return r->of == NULL ? own_word(r, "FORM") : r->out ? NULL : r->of;
}

// Returns the derivatives of a row, or NULL.
static const entry *entry_of(const row *r)
{
    const char *const of = in_place_of(r);
    const entry *found = NULL;
    for (size_t i = 0; i < GRADIENTS; i++) {
        const entry *const e = &entries[i];
        if (e->complete && (e->row == r || (of != NULL && strcmp(of, e->row->id) == 0))) {
            found = e;
        }
    }
    return found;
}

// ---- the operators that formulas call

typedef struct called {
    const row *row;
    unsigned arguments;
    size_t uses;
} called;

static called calls[MOST_CODE];
static size_t call_count;

static size_t call_at(const row *r, unsigned arguments)
{
    size_t at = 0;
    while (at < call_count && (calls[at].row != r || calls[at].arguments != arguments)) {
        at++;
    }
    return at;
}

static void count_calls(const entry *e)
{
    for (size_t f = e->first; f < e->first + e->count; f++) {
        for (size_t i = formulas[f].first; i < formulas[f].first + formulas[f].length; i++) {
            if (code_row[i] != NULL) {
                const size_t at = call_at(code_row[i], code[i]);
                call_count += at == call_count ? 1 : 0;
                calls[at].row = code_row[i];
                calls[at].arguments = code[i];
                calls[at].uses++;
            }
        }
    }
}

static int by_uses(const void *a, const void *b)
{
    const called *const x = a, *const y = b;
    return x->uses != y->uses ? (x->uses < y->uses ? 1 : -1)
           : x->row != y->row ? (x->row > y->row ? 1 : -1)
                              : (int)x->arguments - (int)y->arguments;
}

// ---- the records of operators

static unsigned char records[2 * MOST_CODE];
static size_t record_bytes;

static void put(size_t byte)
{
    if (record_bytes == sizeof records) {
        fail("too many bytes", "the table of derivatives");
    }
    records[record_bytes++] = (unsigned char)byte;
}

static void put_bits(unsigned long bits)
{
    while (bits > 0x7f) {
        put((bits & 0x7f) | 0x80);
        bits >>= 7;
    }
    put(bits);
}

enum { DIRECT = TAPER_GRADIENT_RARE - TAPER_GRADIENT_CALL }; // number of calls that one byte names

static size_t code_bytes(size_t i)
{
    return code_row[i] != NULL && call_at(code_row[i], code[i]) >= DIRECT ? 2 : 1;
}

static void put_code(size_t i)
{
    const size_t at = code_row[i] != NULL ? call_at(code_row[i], code[i]) : 0;
    if (code_row[i] == NULL) {
        put(code[i]);
    } else if (at < DIRECT) {
        put(TAPER_GRADIENT_CALL + at);
    } else if (at - DIRECT < (0x100 - TAPER_GRADIENT_RARE) * 256) {
        put(TAPER_GRADIENT_RARE + (at - DIRECT) / 256);
        put((at - DIRECT) % 256);
    } else {
        fail("formulas call too many operators", code_row[i]->id);
    }
}

static void put_record(const entry *e)
{
    const bool all_none = e->none == 0xffffffffUL;
    put((e->composed ? TAPER_GRADIENT_COMPOSED : 0U) | (e->count == 0 ? TAPER_GRADIENT_NO_FORMULA : 0U) |
        (all_none       ? TAPER_GRADIENT_ALL_NONE
         : e->none != 0 ? TAPER_GRADIENT_SOME_NONE
                        : 0U));
    if (e->none != 0 && !all_none) {
        put_bits(e->none);
    }
    for (size_t f = e->first; f < e->first + e->count; f++) {
        const size_t end = formulas[f].first + formulas[f].length;
        size_t bytes = 0;
        for (size_t i = formulas[f].first; i < end; i++) {
            bytes += code_bytes(i);
        }
        put_bits(formulas[f].targets);
        put_bits(bytes);
        for (size_t i = formulas[f].first; i < end; i++) {
            put_code(i);
        }
    }
    put(0);
}

// Returns the place of the entry's record. Equal records, and a record that is a part of another record, share a place.
static size_t place_of(const entry *e)
{
    const size_t first = record_bytes;
    put_record(e);
    const size_t length = record_bytes - first;
    for (size_t at = 0; at + length <= first; at++) {
        if (memcmp(records + at, records + first, length) == 0) {
            record_bytes = first;
            return at;
        }
    }
    if (first > 0xffff) {
        fail("too many bytes", "the table of derivatives");
    }
    return first;
}

// ---- writing the table

static void print_numbers(void)
{
    printf("// Made by ops/gradient/make_gradients.c from ops/gradient/gradient_list.h.\n\n"
           "static const int64_t gradient_ints[] = {");
    for (size_t i = 0; i < int_count; i++) {
        printf("%lld, ", ints[i]);
    }
    printf("0};\nstatic const double gradient_floats[] = {");
    for (size_t i = 0; i < float_count; i++) {
        printf("%.17g, ", floats[i]);
    }
    printf("0};\nstatic const uint16_t gradient_call_rows[] = {\n");
    for (size_t i = 0; i < call_count; i++) {
        printf("TAPER_ROW_%s,\n", calls[i].row->id);
    }
    printf("0};\nstatic const uint8_t gradient_call_counts[] = {");
    for (size_t i = 0; i < call_count; i++) {
        printf("%u,", calls[i].arguments);
    }
    printf("0};\n");
}

// Prints which rows have derivatives, 32 rows in a word, and how many rows before each word have derivatives.
static void print_rows(void)
{
    const entry *found[ALL_ROWS];
    size_t places[ALL_ROWS], count = 0;
    for (size_t i = 0; i < numbered_count; i++) {
        found[i] = entry_of(numbered_rows[i]);
    }
    printf("static const uint32_t gradient_has[] = {\n");
    for (size_t i = 0; i < numbered_count; i += 32) {
        unsigned long word = 0;
        for (size_t k = i; k < i + 32 && k < numbered_count; k++) {
            word |= found[k] != NULL ? 1UL << (k - i) : 0;
        }
        printf("%luu,", word);
    }
    printf("0};\nstatic const uint16_t gradient_before[] = {\n");
    for (size_t i = 0; i < numbered_count; i++) {
        if (i % 32 == 0) {
            printf("%zu,", count);
        }
        places[count] = found[i] != NULL ? place_of(found[i]) : 0;
        count += found[i] != NULL ? 1 : 0;
    }
    printf("0};\nstatic const uint16_t gradient_at[] = {\n");
    for (size_t i = 0; i < count; i++) {
        printf("%zu,", places[i]);
    }
    printf("0};\nstatic const taper_gradient gradient_records[] = {\n");
    for (size_t i = 0; i < record_bytes; i++) {
        printf("%u,", records[i]);
    }
    printf("0};\n");
    for (size_t i = 0; i < numbered_count; i++) {
        if (found[i] != NULL) {
            printf("_Static_assert(TAPER_ROW_%s == %zu, \"numbers of rows\");\n", numbered_rows[i]->id, i);
        }
    }
}

static void print_table(void)
{
    number_rows();
    for (size_t i = 0; i < GRADIENTS; i++) {
        if (entries[i].complete) {
            count_calls(&entries[i]);
        }
    }
    qsort(calls, call_count, sizeof *calls, by_uses);
    print_numbers();
    print_rows();
}

#endif
