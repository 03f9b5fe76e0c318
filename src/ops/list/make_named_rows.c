// SPDX-License-Identifier: BSD-2-Clause
// make_named_rows NAMED NNAPI ALL THEIRS runs on the build machine. ALL and THEIRS are files that list sources, one
// source on each line. The program writes NAMED (named_rows.inc): a sorted list with NAMED(id) for each row of the
// operator list that a source of ALL names as TAPER_OP(id), TAPER_STEP(steps, id, …) or TAPER_STEP_ALL(steps, id, …).
// These rows are first in the packed table. The program also writes NNAPI (op_config_nnapi.h), in the form of a
// selective build's header, with the rows that the sources of THEIRS name. Serialized NNAPI models become calls of
// these rows, although the model file does not list the operators. The program does not write a file if its content
// would stay the same, because a newer file would make the build compile sources again.
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what, const char *which)
{
    fprintf(stderr, "make_named_rows: %s: %s\n", what, which);
    exit(1);
}

// Returns the content of the file with a 0 after it, or NULL if there is no such file.
static char *read_file(const char *path)
{
    FILE *const file = fopen(path, "rb");
    if (file == NULL) {
        return NULL;
    }
    size_t length = 0, room = 4096;
    char *text = malloc(room);
    while (text != NULL) {
        length += fread(text + length, 1, room - length - 1, file);
        if (length + 1 < room) {
            break;
        }
        room *= 2;
        text = realloc(text, room);
    }
    if (text == NULL || ferror(file)) {
        fail(text == NULL ? "out of memory" : "cannot read", path);
    }
    fclose(file);
    text[length] = '\0';
    return text;
}

typedef struct names {
    char **items;
    size_t count, room;
} names;

static void add(names *all, const char *name, size_t length)
{
    if (all->count == all->room) {
        all->room = 2 * all->room + 64;
        all->items = realloc((void *)all->items, all->room * sizeof *all->items);
    }
    char *const copy = malloc(length + 1);
    if (all->items == NULL || copy == NULL) {
        fail("out of memory", name);
    }
    memcpy(copy, name, length);
    copy[length] = '\0';
    all->items[all->count++] = copy;
}

// Returns the text after the first argument of a call, which may be on the next line.
static const char *after_argument(const char *at)
{
    at += strcspn(at, ",");
    at += *at == ',' ? 1 : 0;
    return at + strspn(at, " \n");
}

// Reads the names on a line. Names in comments and in definitions are skipped.
static void scan_line(names *all, const char *line, const char *end)
{
    static const char call[] = "TAPER_OP(", step[] = "TAPER_STEP(", step_all[] = "TAPER_STEP_ALL(";
    while (line < end && isspace((unsigned char)*line)) {
        line++;
    }
    if (*line == '#') {
        return;
    }
    for (const char *at = line; at < end && strncmp(at, "//", 2) != 0; at++) {
        const bool begins = at == line || (!isalnum((unsigned char)at[-1]) && at[-1] != '_');
        const bool is_step =
            begins && (strncmp(at, step, strlen(step)) == 0 || strncmp(at, step_all, strlen(step_all)) == 0);
        if (is_step || (begins && strncmp(at, call, strlen(call)) == 0)) {
            const char *const id = is_step ? after_argument(strchr(at, '(')) : at + strlen(call);
            size_t length = 0;
            while (isalnum((unsigned char)id[length]) || id[length] == '_') {
                length++;
            }
            if (id[length] == ')' || (is_step && id[length] == ',')) {
                add(all, id, length);
            }
        }
    }
}

static void scan_file(names *all, const char *path)
{
    char *const text = read_file(path);
    if (text == NULL) {
        fail("cannot read", path);
    }
    for (const char *line = text; *line != '\0';) {
        const size_t length = strcspn(line, "\n");
        scan_line(all, line, line + length);
        line += length + (line[length] == '\n');
    }
    free(text);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Returns the names in the listed sources, each once, sorted.
static names scan_all(const char *list)
{
    names all = {0};
    char *const paths = read_file(list);
    if (paths == NULL) {
        fail("cannot read", list);
    }
    for (char *path = strtok(paths, "\r\n"); path != NULL; path = strtok(NULL, "\r\n")) {
        scan_file(&all, path);
    }
    if (all.count == 0) {
        fail("no row is named in", list);
    }
    qsort((void *)all.items, all.count, sizeof *all.items, compare);
    size_t kept = 1;
    for (size_t i = 1; i < all.count; i++) {
        if (strcmp(all.items[i], all.items[kept - 1]) != 0) {
            all.items[kept++] = all.items[i];
        }
    }
    all.count = kept;
    return all;
}

// Writes a file that consists of `begin`, then `form` for each name with the name in place of $, then `end`.
static void write_file(const char *path, const char *begin, const char *form, const names *all, const char *end)
{
    size_t room = strlen(begin) + strlen(end) + 1;
    for (size_t i = 0; i < all->count; i++) {
        room += strlen(form) * (strlen(all->items[i]) + 1);
    }
    char *const text = malloc(room), *at = text;
    if (text == NULL) {
        fail("out of memory", path);
    }
    at += sprintf(at, "%s", begin);
    for (size_t i = 0; i < all->count; i++) {
        for (const char *c = form; *c != '\0'; c++) {
            if (*c == '$') {
                at += sprintf(at, "%s", all->items[i]);
            } else {
                *at++ = *c;
            }
        }
    }
    sprintf(at, "%s", end);
    char *const there = read_file(path);
    if (there == NULL || strcmp(there, text) != 0) {
        FILE *const file = fopen(path, "wb");
        if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0) {
            fail("cannot write", path);
        }
    }
    free(there);
    free(text);
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        fail("wanted: NAMED NNAPI ALL THEIRS", argv[0]);
    }
    const names all = scan_all(argv[3]), theirs = scan_all(argv[4]);
    write_file(argv[1], "// Made by ops/list/make_named_rows.c: the rows of the operator list that code names.\n",
               "NAMED($)\n", &all, "");
    write_file(argv[2],
               "// Made by ops/list/make_named_rows.c: the rows that serialized NNAPI models become (frontend/nnapi).\n"
               "#ifndef TAPER_OPS_OP_CONFIG_NNAPI_H\n#define TAPER_OPS_OP_CONFIG_NNAPI_H\n\n",
               "#undef TAPER_USE_$\n#define TAPER_USE_$ 1\n", &theirs, "\n#endif\n");
    return 0;
}
