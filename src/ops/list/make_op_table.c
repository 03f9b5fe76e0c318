// SPDX-License-Identifier: BSD-2-Clause
// make_op_table TABLE USES ROWS: runs on the building machine and writes USES, op_uses.h: what the rows' kernels and
// params are, for op_features.h; ROWS, op_rows.h: the numbers of the rows that named_rows.inc does not list, and of the
// work of each; and TABLE, op_table.inc, the operator list as small constant tables without pointers, which a process
// maps and never writes to: the schemas' texts compressed, the rows with numbers of kernels and params in place
// of addresses, and a hash index of names. The list's rows are this program's only input, so a selective build
// (TAPER_OP_CONFIG) has small tables too. make_op_table --dump prints the rows, to compare lists.
//
// The texts are compressed by replacing pairs: the commonest pair of neighbouring symbols becomes a symbol, again and
// again (Larsson and Moffat, "Off-line dictionary-based compression", 2000). Any row is then expanded alone, in a
// microsecond, and compared with a name without being expanded.
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/list/name_hash.h"
#include "ops/list/op_config.h"

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "make_op_table: %s: %s\n", what, which);
    exit(1);
}

#include "ops/list/expand_rows.h"

static const char *const named[] = {
#define NAMED(id) TAPER_OP_IF(id, #id, )
#include "ops/list/named_rows.inc"
#undef NAMED
    NULL,
};

enum {
    ROWS = ALL_ROWS,  // at most
    SYMBOLS = 4096,   // at most, letters among them
    LETTERS = 128,    // symbols below are ASCII letters; 0 ends a text
    RARE = 4,         // a pair that is as rare as this is not worth its four bytes in the table
    PAIR_END = 65535, // the second half of a letter in the table of pairs
    NO_WORK = 65535   // of a row that this build does not have, nor a form of it
};

static size_t row_count;
static uint16_t *text; // all rows one after the other
static size_t text_count, text_start[ROWS + 1];
static uint16_t pairs[SYMBOLS][2]; // by symbol
static unsigned symbols = LETTERS;
static uint32_t counts[SYMBOLS * SYMBOLS];              // of pairs
static uint16_t number[SYMBOLS];                        // of symbols, the commonest first
static uint16_t row_number[ROWS + 1], row_at[ROWS + 1]; // of a row of the list its number, and the other way round
static uint16_t kernels[ROWS + 1], params[ROWS + 1], facts[ROWS + 1];
static uint16_t works[ROWS]; // by row of the list: whose work it does, a row's number or one above all of them
static uint16_t next_row[ROWS + 1], first_row[4 * ROWS + 2]; // + 1; 0: none
static size_t slots = 2;                                     // of the index: a power of two above the number of rows

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Rows that say the same share a word of facts, in whatever order they say it.
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

static void read_texts(void)
{
    size_t total = 0;
    for (size_t i = 0; i < row_count; i++) {
        total += strlen(rows[i].schema) + 1;
    }
    text = malloc(total * sizeof *text + 1);
    if (text == NULL) {
        fail("out of memory", "texts");
    }
    for (size_t i = 0; i < row_count; i++) {
        for (const char *c = rows[i].schema; *c != '\0'; c++) {
            if ((unsigned char)*c >= LETTERS) {
                fail("a letter that is not ASCII", rows[i].schema);
            }
            text[text_count++] = (uint16_t)*c;
        }
        text[text_count++] = 0;
    }
}

static void compress(void)
{
    while (symbols < SYMBOLS) {
        size_t best = 0;
        for (size_t i = 0; i + 1 < text_count; i++) {
            const size_t pair = (size_t)text[i] * SYMBOLS + text[i + 1];
            if (text[i] != 0 && text[i + 1] != 0 && ++counts[pair] > counts[best]) {
                best = pair;
            }
        }
        const uint32_t count = counts[best];
        for (size_t i = 0; i + 1 < text_count; i++) {
            counts[(size_t)text[i] * SYMBOLS + text[i + 1]] = 0;
        }
        if (count <= RARE) {
            break;
        }
        const uint16_t left = (uint16_t)(best / SYMBOLS), right = (uint16_t)(best % SYMBOLS);
        pairs[symbols][0] = left;
        pairs[symbols][1] = right;
        size_t kept = 0;
        for (size_t i = 0; i < text_count; i++) {
            const bool hit = text[i] == left && i + 1 < text_count && text[i + 1] == right;
            text[kept++] = hit ? (uint16_t)symbols : text[i];
            i += hit;
        }
        text_count = kept;
        symbols++;
    }
}

// Numbers the symbols in use, the commonest in texts first: these take one byte. 0 stays 0. Returns how many there are.
static unsigned number_symbols(void)
{
    static uint32_t uses[SYMBOLS];
    static bool needed[SYMBOLS];
    for (size_t i = 0; i < text_count; i++) {
        uses[text[i]]++;
        needed[text[i]] = true;
    }
    for (unsigned s = symbols; s-- > LETTERS;) {
        if (needed[s]) {
            needed[pairs[s][0]] = needed[pairs[s][1]] = true;
        }
    }
    unsigned count = 1;
    for (;;) {
        unsigned best = 0;
        for (unsigned s = 1; s < symbols; s++) {
            if (needed[s] && number[s] == 0 && (best == 0 || uses[s] > uses[best])) {
                best = s;
            }
        }
        if (best == 0) {
            return count;
        }
        number[best] = (uint16_t)count++;
    }
}

static void print_texts(unsigned count)
{
    // Bytes below `single` are symbols; the others begin a pair of bytes: single + 256 (first - single) + second.
    unsigned single = 256;
    while (single + (256 - single) * 256 < count) {
        single--;
    }
    printf("enum { SINGLE_BYTES = %u };\n\nstatic const uint8_t texts[] = {", single);
    size_t bytes = 0, at_row = 0;
    for (size_t i = 0; i < text_count; i++) {
        if (i == 0 || text[i - 1] == 0) {
            text_start[at_row++] = bytes;
        }
        const unsigned n = number[text[i]];
        if (n < single) {
            printf("%u,%s", n, bytes % 32 == 31 ? "\n" : "");
            bytes++;
        } else {
            printf("%u,%u,\n", single + (n - single) / 256, (n - single) % 256);
            bytes += 2;
        }
    }
    printf("0};\n\n// {letter, %d} or two symbols\nstatic const uint16_t pairs[][2] = {{0, %d},\n", PAIR_END, PAIR_END);
    static uint16_t symbol_of[SYMBOLS];
    for (unsigned s = 1; s < symbols; s++) {
        symbol_of[number[s]] = (uint16_t)s;
    }
    for (unsigned n = 1; n < count; n++) {
        const unsigned s = symbol_of[n];
        if (s < LETTERS) {
            printf("{%u, %d},\n", s, PAIR_END);
        } else {
            printf("{%u, %u},\n", number[pairs[s][0]], number[pairs[s][1]]);
        }
    }
    printf("};\n\n");
}

static const char *column_of(size_t row, size_t column)
{
    return column == 0 ? rows[row].kernel : column == 1 ? rows[row].param : rows[row].flags;
}

// Numbers different words; words[row] is its number. Prints each as the form says, between a first line and a last.
static void print_words(const char *first, size_t column, const char *form, const char *last, uint16_t *words)
{
    printf("%s", first);
    uint16_t count = 0;
    for (size_t i = 0; i < row_count; i++) {
        const char *word = column_of(i, column);
        size_t same = 0;
        while (same < i && strcmp(column_of(same, column), word) != 0) {
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

// A row's param must be what its kernel takes (param_types.inc).
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

static size_t name_length(const char *schema) // "aten::add"
{
    return strcspn(schema, ".(");
}

// Where the name is in the index, or will be.
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
    for (size_t i = row_count; i-- != 0;) { // from the back, so that the first row of a name is found first
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

// Gives the named rows the first numbers, and the others those that follow, in the order of the list.
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

// A row does its own work, or as a form in place that of the functional row, which has a number for it, though it is no
// row's, where this build does not have that row.
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

// "#define TAPER_USES_<name> 1" for each kernel, and for each param that is the address of something with a name.
static void write_uses(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        fail("cannot write", path);
    }
    fprintf(file, "// Made by ops/list/make_op_table.c from ops/list/op_list.h.\n");
    for (size_t i = 0; i < row_count; i++) {
        const char *param = rows[i].param + 1;
        fprintf(file, "#define TAPER_USES_%s 1\n", rows[i].kernel);
        if (*rows[i].param == '&' && param[strspn(param, "abcdefghijklmnopqrstuvwxyz_0123456789")] == '\0') {
            fprintf(file, "#define TAPER_USES_%s 1\n", param);
        }
    }
    if (fclose(file) != 0) {
        fail("cannot write", path);
    }
}

// A line for each row: what it is once forms follow from their operators.
static int dump(void)
{
    for (size_t i = 0; i < row_count; i++) {
        sort_flags(&rows[i]);
        const char *const of = in_place_of(&rows[i]);
        printf("%s\t%s\t%s\t%s\t%s\t%s\n", rows[i].id, rows[i].schema, rows[i].kernel, rows[i].param, rows[i].flags,
               of != NULL ? of : "-");
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
    read_texts();
    compress();
    print_texts(number_symbols());
    print_words("#define OP_KERNELS(KERNEL) \\\n", 0, "    KERNEL(%s) \\\n", "", kernels);
    print_words("static const void *const op_params[] = {\n", 1, "%s,\n", "};\n", params);
    print_words("const uint64_t taper_op_words[] = {\n", 2, "%s,\n",
                "#ifdef TAPER_WITH_OPERATORS\nHOSTS_OPERATOR\n#endif\n};\n", facts);
    print_checks();
    index_names();
    printf("enum { SLOTS = %zu };\n\nstatic const uint16_t first_row[SLOTS] = {", slots); // of a name, + 1; 0: none
    for (size_t i = 0; i < slots; i++) {
        printf("%u,%s", first_row[i] == 0 ? 0U : row_number[first_row[i] - 1] + 1U, i % 32 == 31 ? "\n" : "");
    }
    printf("};\n\nconst taper_op taper_ops[] = {\n");
    for (size_t number_of = 0; number_of < row_count; number_of++) {
        const size_t i = row_at[number_of];
        size_t next = next_row[i];
        if (next == 0) { // the last one: back to the first
            next = first_row[slot_of(rows[i].schema)];
        }
        printf("{%zu, %u, %u, %u, %u, %u},\n", text_start[i], kernels[i], params[i], row_number[next - 1], facts[i],
               works[i]);
    }
    printf("{0, 0, 0, 0, %u, %zu}};\n", facts[row_count], row_count); // behind the rows: what operators of the host are
    return fflush(stdout) != 0 || ferror(stdout) ? 1 : 0;
}
