// SPDX-License-Identifier: BSD-2-Clause
// The texts of the operator list for make_op_table.c, compressed by replacing pairs: the most frequent pair of
// neighbouring symbols becomes a new symbol, repeatedly (Larsson and Moffat, "Off-line dictionary-based compression",
// 2000). Any row can then be expanded alone, in a microsecond, and compared with a name without expanding it. Include
// this once, after expand_rows.h.
#ifndef TAPER_OPS_PACK_TEXTS_H
#define TAPER_OPS_PACK_TEXTS_H

#include "ops/list/expand_rows.h"

enum {
    SYMBOLS = 4096,  // largest number of symbols, including the letters
    LETTERS = 128,   // number of ASCII letters, the lowest symbols; 0 ends a text
    RARE = 4,        // a pair with at most this many uses is not worth a symbol, which takes four bytes in the table
    PAIR_END = 65535 // stored as the second symbol of a letter in the table of pairs
};

static uint16_t *text; // the texts of all rows, consecutive
static size_t text_count, text_start[ALL_ROWS + 1];
static uint16_t pairs[SYMBOLS][2]; // for each symbol, the pair that it replaces
static unsigned symbols = LETTERS;
static uint32_t counts[SYMBOLS * SYMBOLS]; // number of uses of each pair
static uint16_t number[SYMBOLS];           // new number of each symbol; the most frequent symbol is first

static void read_texts(size_t row_count)
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

static void compress_texts(void)
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

// Numbers the symbols in use. The symbols that are most frequent in the texts come first, because they take one byte.
// Symbol 0 keeps the number 0. Returns the number of symbols.
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

static void print_symbols(unsigned count)
{
    // A byte below `single` is a symbol. Any other byte is the first of a pair that stands for one symbol: single + 256
    // (first - single) + second.
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

// Prints the table of texts, and sets text_start[row] to the start of each row's text.
static void print_texts(size_t row_count)
{
    read_texts(row_count);
    compress_texts();
    print_symbols(number_symbols());
}

#endif
