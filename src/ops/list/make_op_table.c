// SPDX-License-Identifier: BSD-2-Clause
// make_op_table TABLE USES ROWS runs on the build machine. It writes USES (op_uses.h), the kernels and params of the
// rows, for op_features.h. It writes ROWS (op_rows.h), the numbers of the rows that named_rows.inc does not list, and
// each row's work number (TAPER_WORK_<id>, op_table.h). It writes TABLE (op_table.inc), the operator list as small
// constant tables without pointers, which a process maps and never writes to. The tables are the compressed texts of
// schemas, the rows, with numbers in place of the addresses of kernels and params, and a hash index of names. The rows
// of the list are the only input, so a selective build (TAPER_OP_CONFIG) also has small tables. make_op_table --dump
// prints the rows, to compare lists.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/op.h"
#include "ops/list/name_hash.h"
#include "ops/list/op_config.h"

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "make_op_table: %s: %s\n", what, which);
    exit(1);
}

#include "ops/list/expand_rows.h"
#include "ops/list/pack_texts.h"

static const char *const named[] = {
#define NAMED(id) TAPER_OP_IF(id, #id, )
#include "ops/list/named_rows.inc"
#undef NAMED
    NULL,
};

#ifdef TAPER_OP_CONFIG
enum { SELECTIVE = 1 };
#else
enum { SELECTIVE = 0 };
#endif

enum {
    ROWS = ALL_ROWS, // largest number of rows in the table
    NO_WORK = 65535  // work number of a row whose functional row this build lacks
};

static size_t row_count;
static uint16_t row_number[ROWS + 1], row_at[ROWS + 1]; // number of each row of the list; row of each number
static uint16_t kernels[ROWS + 1], params[ROWS + 1], facts[ROWS + 1], quantized[ROWS + 1];
// For each row of the list, the number of the row that computes the same results, or a number above all rows.
static uint16_t works[ROWS];
// next_row: the next row of the same name. first_row: the first row of a name, for each slot. Entries are 1 + index of
// the row, or 0 if there is no row.
static uint16_t next_row[ROWS + 1], first_row[4 * ROWS + 2];
static size_t slots = 2; // slots of the index: a power of two above the number of rows

// Returns the functional row of an in-place variant, which the list names by IN_PLACE( ) or FORM( ). Returns NULL for
// any other row.
static const char *in_place_of(const row *r)
{
    return r->of == NULL ? own_word(r, "FORM") : r->out ? NULL : r->of;
}

// Calls `use` for each feature that the row, or the functional row of the variant, names by WANTS( ).
static void each_wanted(const row *r, void *user, void (*use)(void *user, const char *what, int length))
{
    static const char word[] = "WANTS(";
    const char *const texts[] = {r->own, r->of != NULL ? rows[find_row(r->of, r->id)].own : ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        for (const char *at = texts[i]; (at = strstr(at, word)) != NULL;) {
            at += strlen(word);
            use(user, at, (int)strcspn(at, ")"));
        }
    }
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Sorts the flags, so that rows with the same flags share a word of facts, whatever their order.
static void sort_flags(row *of)
{
    enum { MOST_FLAGS = 32 };
    static const char between[] = " | ";
    char *const sorted = malloc(strlen(of->flags) + 1), *const words = malloc(strlen(of->flags) + 1);
    char *flags[MOST_FLAGS], *at = words;
    size_t count = 0, length = 0;
    if (sorted == NULL || words == NULL) {
        fail("out of memory", of->schema);
    }
    strcpy(words, of->flags);
    for (bool last = false; !last; count++) {
        if (count == MOST_FLAGS) {
            fail("too many flags", of->schema);
        }
        char *const end = strstr(at, between);
        flags[count] = at;
        last = end == NULL;
        if (!last) {
            *end = '\0';
            at = end + strlen(between);
        }
    }
    qsort(flags, count, sizeof *flags, compare_texts);
    for (size_t i = 0; i < count; i++) {
        length += (size_t)sprintf(sorted + length, "%s%s", i == 0 ? "" : between, flags[i]);
    }
    free(words);
    of->flags = sorted;
}

static const char *column_of(size_t row, bool of_facts)
{
    return of_facts ? rows[row].flags : rows[row].param;
}

// Numbers the different words, and sets words[row] to the number. Prints each word in the given form, between a first
// line and a last line.
static void print_words(const char *first, bool of_facts, const char *form, const char *last, uint16_t *words)
{
    printf("%s", first);
    uint16_t count = 0;
    for (size_t i = 0; i < row_count; i++) {
        const char *word = column_of(i, of_facts);
        size_t same = 0;
        while (same < i && strcmp(column_of(same, of_facts), word) != 0) {
            same++;
        }
        if (same == i) {
            printf(form, word);
            words[i] = count++;
        } else {
            words[i] = words[same];
        }
    }
    words[row_count] = count;
    if (count == 0) {
        printf(form, "0");
    }
    printf("%s\n", last);
}

// The kernels, in the order of their numbers: kernels of the rows, and kernels for calls with quantized tensors.
static const char *kernel_names[2 * ROWS];
static size_t kernel_count;

static uint16_t kernel_number(const char *name)
{
    size_t at = 0;
    while (at < kernel_count && strcmp(kernel_names[at], name) != 0) {
        at++;
    }
    if (at == kernel_count) {
        kernel_names[kernel_count++] = name;
    }
    return (uint16_t)at;
}

static void find_quantizes(void *found, const char *what, int length)
{
    static const char name[] = "QUANTIZES";
    *(bool *)found |= (size_t)length == strlen(name) && strncmp(what, name, strlen(name)) == 0;
}

// Returns true if this build can have quantized tensors.
static bool quantizes(void)
{
    bool found = !SELECTIVE;
    for (size_t i = 0; i < row_count; i++) {
        each_wanted(&rows[i], &found, find_quantizes);
    }
    return found;
}

// Returns taper_op.quantized of a row whose kernel already has a number.
static uint16_t quantized_of(size_t i, bool possible)
{
    static const char uniform[] = "UNIFORM", channels[] = "CHANNELS";
    const char *const word = own_word(&rows[i], "ON_QUANTIZED");
    if (word == NULL) {
        return TAPER_ON_QUANTIZED_NONE;
    }
    if (strcmp(word, "ANY") == 0) {
        return TAPER_ON_QUANTIZED_ANY;
    }
    const size_t length = strcspn(word, ",");
    const bool each = strncmp(word, channels, length) == 0;
    if (!each && strncmp(word, uniform, length) != 0) {
        fail("ON_QUANTIZED( ) is of UNIFORM, CHANNELS or ANY", rows[i].schema);
    }
    if (!possible) {
        return TAPER_ON_QUANTIZED_NONE;
    }
    const uint16_t kernel = word[length] == ',' ? kernel_number(word + length + strlen(", ")) : kernels[i];
    return (uint16_t)(TAPER_ON_QUANTIZED_OWN + 2 * kernel + each);
}

static void print_kernels(void)
{
    for (size_t i = 0; i < row_count; i++) {
        kernels[i] = kernel_number(rows[i].kernel);
    }
    const bool possible = quantizes();
    for (size_t i = 0; i < row_count; i++) {
        quantized[i] = quantized_of(i, possible);
    }
    printf("#define OP_KERNELS(KERNEL) \\\n");
    for (size_t k = 0; k < kernel_count; k++) {
        printf("    KERNEL(%s) \\\n", kernel_names[k]);
    }
    printf("\n");
}

// Prints a check that each param has the type that its kernel takes (param_types.inc).
static void print_checks(void)
{
    for (size_t i = 0; i < row_count; i++) {
        const bool has = strcmp(rows[i].param, "0") != 0;
        bool printed = false;
        for (size_t other = 0; other < i; other++) {
            if (kernels[other] == kernels[i]) {
                if ((strcmp(rows[other].param, "0") != 0) != has) {
                    fail("this row has a param, others of its kernel have none, or the other way round",
                         rows[i].schema);
                }
                printed = printed || params[other] == params[i];
            }
        }
        if (has && !printed) {
            printf(
                "_Static_assert(_Generic((%s), const %s_takes *: 1, default: 0), \"%s: a param of another type\");\n",
                rows[i].param, rows[i].kernel, rows[i].kernel);
        }
    }
    printf("\n");
}

static size_t name_length(const char *schema) // length of the name, for example of "aten::add"
{
    return strcspn(schema, ".(");
}

// Returns the slot that the name has in the index, or the free slot for it.
static size_t slot_of(const char *schema)
{
    const size_t length = name_length(schema);
    size_t slot = taper_name_hash(schema, length) % slots;
    while (first_row[slot] != 0) {
        const char *other = rows[first_row[slot] - 1].schema;
        if (name_length(other) == length && strncmp(other, schema, length) == 0) {
            break;
        }
        slot = (slot + 1) % slots;
    }
    return slot;
}

static void index_names(void)
{
    while (slots <= row_count) {
        slots *= 2;
    }
    for (size_t i = row_count; i-- != 0;) { // from the end, so that the first row of a name is found first
        const char *schema = rows[i].schema;
        const size_t slot = slot_of(schema);
        for (size_t other = first_row[slot]; other != 0; other = next_row[other - 1]) {
            const size_t full = strcspn(schema, "(");
            if (strncmp(rows[other - 1].schema, schema, full + 1) == 0) {
                fail("an operator stands twice in the list", schema);
            }
        }
        next_row[i] = first_row[slot];
        first_row[slot] = (uint16_t)(i + 1);
    }
}

// Gives the named rows the first numbers, and the other rows the following numbers, in the order of the list.
static void number_rows(void)
{
    static bool numbered[ROWS + 1];
    size_t count = 0;
    for (size_t n = 0; named[n] != NULL; n++) {
        size_t i = 0;
        while (i < row_count && strcmp(rows[i].id, named[n]) != 0) {
            i++;
        }
        if (i == row_count || numbered[i]) {
            fail("named_rows.inc names it twice, or the list has no such row", named[n]);
        }
        numbered[i] = true;
        row_number[i] = (uint16_t)count++;
    }
    for (size_t i = 0; i < row_count; i++) {
        if (!numbered[i]) {
            row_number[i] = (uint16_t)count++;
        }
        row_at[row_number[i]] = (uint16_t)i;
    }
}

// Gives each row its work number (TAPER_WORK_<id>), which rows that compute the same share: an in-place variant has the
// number of its functional row, even if this build lacks that row. Every other row has a number of its own.
static void number_works(void)
{
    size_t count = row_count;
    for (size_t i = 0; i < ALL_ROWS; i++) {
        works[i] = i < row_count ? row_number[i] : NO_WORK;
    }
    for (size_t i = 0; i < row_count; i++) {
        const char *const of = in_place_of(&rows[i]);
        if (of != NULL) {
            const size_t at = find_row(of, rows[i].id);
            works[at] = works[at] == NO_WORK ? (uint16_t)++count : works[at];
            works[i] = works[at];
        }
    }
}

static void write_rows(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        fail("cannot write", path);
    }
    const size_t first = sizeof named / sizeof named[0] - 1;
    fprintf(file, "// Made by ops/list/make_op_table.c from ops/list/op_list.h.\n#ifndef TAPER_OPS_OP_ROWS_H\n"
                  "#define TAPER_OPS_OP_ROWS_H\n\n#include \"ops/list/op_table.h\"\n\nenum {\n");
    for (size_t number = first; number < row_count; number++) {
        fprintf(file, "TAPER_ROW_%s%s,\n", rows[row_at[number]].id, number == first ? " = TAPER_ROW_NAMED_COUNT" : "");
    }
    fprintf(file, "TAPER_ROW_COUNT%s\n};\n\n// Of rows that are no form in place.\nenum {\n",
            first == row_count ? " = TAPER_ROW_NAMED_COUNT" : "");
    for (size_t i = 0; i < ALL_ROWS; i++) {
        if (in_place_of(&rows[i]) == NULL) {
            fprintf(file, "TAPER_WORK_%s = %u,\n", rows[i].id, works[i]);
        }
    }
    fprintf(file, "};\n\n#endif\n");
    if (fclose(file) != 0) {
        fail("cannot write", path);
    }
}

static void write_wanted(void *file, const char *what, int length)
{
    fprintf(file, "#define TAPER_WANTS_%.*s 1\n", length, what);
}

// Prints "#define TAPER_WANTS_<what> 1" for each feature that a row names. Prints "#define TAPER_USES_<name> 1" for
// each kernel, and for each param that is the address of a named object.
static void write_uses(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        fail("cannot write", path);
    }
    fprintf(file, "// Made by ops/list/make_op_table.c from ops/list/op_list.h.\n");
    for (size_t i = 0; i < row_count; i++) {
        const char *param = rows[i].param + 1;
        each_wanted(&rows[i], file, write_wanted);
        fprintf(file, "#define TAPER_USES_%s 1\n", rows[i].kernel);
        if (*rows[i].param == '&' && param[strspn(param, "abcdefghijklmnopqrstuvwxyz_0123456789")] == '\0') {
            fprintf(file, "#define TAPER_USES_%s 1\n", param);
        }
    }
    if (fclose(file) != 0) {
        fail("cannot write", path);
    }
}

// Prints the rows whose value differs from `usual`, which has a value for each row. If `usual` is NULL, prints the rows
// whose value is not 0.
static void print_rare(const char *name, const uint16_t *values, const uint16_t *usual)
{
    printf("static const rare %s[] = {", name);
    for (size_t row = 0; row < row_count; row++) {
        const size_t i = row_at[row];
        if (values[i] != (usual != NULL ? usual[i] : 0)) {
            printf("{%zu, %u},\n", row, values[i]);
        }
    }
    printf("{UINT16_MAX, 0}};\n");
}

// Prints a line for each row, including the variants. Returns 0, or 1 if printing failed.
static int dump(void)
{
    for (size_t i = 0; i < row_count; i++) {
        sort_flags(&rows[i]);
        const char *const of = in_place_of(&rows[i]), *const with = own_word(&rows[i], "ON_QUANTIZED");
        printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\n", rows[i].id, rows[i].schema, rows[i].kernel, rows[i].param, rows[i].flags,
               of != NULL ? of : "-", with != NULL ? with : "-");
    }
    return fflush(stdout) != 0;
}

int main(int argc, char **argv)
{
    row_count = expand_rows();
    if (argc == 2 && strcmp(argv[1], "--dump") == 0) {
        return dump();
    }
    if (argc != 4 || freopen(argv[1], "w", stdout) == NULL) {
        fail("wanted: the names of the files to write", argc == 4 ? argv[1] : "");
    }
    write_uses(argv[2]);
    number_rows();
    number_works();
    write_rows(argv[3]);
    size_t longest = 0;
    for (size_t i = 0; i < row_count; i++) {
        sort_flags(&rows[i]);
        longest = strlen(rows[i].schema) > longest ? strlen(rows[i].schema) : longest;
    }
    printf("// Made by ops/list/make_op_table.c from ops/list/op_list.h.\n\n"
           "enum { LONGEST_TEXT = %zu };\n\n",
           longest);
    print_texts(row_count);
    print_kernels();
    print_words("static const void *const op_params[] = {\n", false, "%s,\n", "};\n", params);
    print_words("const uint64_t taper_op_words[] = {\n", true, "%s,\n",
                "#ifdef TAPER_WITH_OPERATORS\nHOSTS_OPERATOR\n#endif\n};\n", facts);
    print_checks();
    index_names();
    // For each slot of the index: 1 + the number of the first row of a name, or 0 if the slot is free.
    printf("enum { SLOTS = %zu };\n\nstatic const uint16_t first_row[SLOTS] = {", slots);
    for (size_t i = 0; i < slots; i++) {
        printf("%u,%s", first_row[i] == 0 ? 0U : row_number[first_row[i] - 1] + 1U, i % 32 == 31 ? "\n" : "");
    }
    printf("};\n\nconst taper_op taper_ops[] = {\n");
    for (size_t number_of = 0; number_of < row_count; number_of++) {
        const size_t i = row_at[number_of];
        size_t next = next_row[i];
        if (next == 0) { // the last row of a name leads back to the name's first row
            next = first_row[slot_of(rows[i].schema)];
        }
        printf("{%zu, %u, %u, %u, %u},\n", text_start[i], kernels[i], params[i], row_number[next - 1], facts[i]);
    }
    // The entry after the rows contains the facts of the host's operators.
    printf("{0, 0, 0, 0, %u}};\n", facts[row_count]);
    print_rare("other_works", works, row_number);
    print_rare("on_quantized", quantized, NULL);
    return fflush(stdout) != 0 || ferror(stdout) ? 1 : 0;
}
