// SPDX-License-Identifier: BSD-2-Clause
// taper ops: prints the operators that models call, as names or as the header of a selective build for all of them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <taper/taper_inspect.h>

#include "common/errors.h"
#include "common/file_list.h"
#include "taper/commands.h"
#include "taper/opened_model.h"

static const char usage[] =
    "usage: taper ops MODEL… [--config]\n\n"
    "Prints the names of the operators that a model calls, one a line, as torch.jit.export_opnames does; of several\n"
    "models, or folders of them, those that any of them calls.\n\n"
    "  --config            print a header for a build with these operators only: cmake "
    "-DTAPER_OP_CONFIG=FILE\n" LOAD_LIMIT_USAGE;

// Lines collected from all models in one text. At the end they are sorted and duplicates are removed.
typedef struct line_set {
    char *text;
    size_t length, capacity;
    bool failed;
} line_set;

static void add_text(void *user, const char *text, size_t length)
{
    line_set *set = user;
    if (!set->failed && length > set->capacity - set->length) {
        const size_t capacity = 2 * set->capacity + length + 4096;
        char *grown = realloc(set->text, capacity);
        set->failed = grown == NULL;
        set->text = grown != NULL ? grown : set->text;
        set->capacity = grown != NULL ? capacity : set->capacity;
    }
    if (!set->failed) {
        memcpy(set->text + set->length, text, length);
        set->length += length;
    }
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool put_lines(line_set *set)
{
    size_t count = 0, at = 0;
    for (size_t i = 0; i < set->length; i++) {
        count += set->text[i] == '\n';
    }
    char **lines = malloc((count + 1) * sizeof *lines);
    if (lines == NULL || set->failed) {
        free(lines);
        return error_report_memory(NULL);
    }
    for (size_t i = 0; i < count; i++) {
        lines[i] = set->text + at;
        at = (size_t)((char *)memchr(lines[i], '\n', set->length - at) - set->text) + 1;
        set->text[at - 1] = '\0';
    }
    qsort(lines, count, sizeof *lines, compare_lines);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || strcmp(lines[i], lines[i - 1]) != 0) {
            text_put(stdout, lines[i], strlen(lines[i]), false);
            fputc('\n', stdout);
        }
    }
    free(lines);
    return true;
}

static bool add_config(const opened_model *opened, line_set *lines)
{
    return taper_inspect_config(opened->model, add_text, lines, opened->error) == TAPER_OK ||
           error_report_library(opened->path, opened->error);
}

static bool add_names(const opened_model *opened, line_set *lines)
{
    for (size_t i = 0; i < taper_model_operator_count(opened->model); i++) {
        const char *name = taper_model_operator_name(opened->model, i);
        add_text(lines, name, strlen(name));
        add_text(lines, "\n", 1);
    }
    return true;
}

static void put_heading(const file_list *models)
{
    fputs("// Operators of ", stdout);
    for (size_t i = 0; i < models->count; i++) {
        const char *slash = strrchr(models->paths[i], '/'), *name = slash != NULL ? slash + 1 : models->paths[i];
        fputs(i != 0 ? ", " : "", stdout);
        text_put(stdout, name, strlen(name), false);
    }
    fputs(", made by `taper ops --config`.\n", stdout);
}

static bool list_operators(const file_list *models, bool config, const load_limits *limits)
{
    const model_options as_saved = {.no_optimize = true, .quiet = true, .listing = !config, .limits = *limits};
    line_set lines = {0};
    bool done = true;
    for (size_t i = 0; done && i < models->count; i++) {
        opened_model opened;
        done = model_open(&opened, models->paths[i], &as_saved);
        if (done) {
            done = (config ? add_config : add_names)(&opened, &lines);
            model_close(&opened);
        }
    }
    if (done && config) {
        put_heading(models);
    }
    done = done && put_lines(&lines);
    free(lines.text);
    return done;
}

int command_ops(int argc, char **argv)
{
    arg_texts positional = {0};
    bool config = false;
    load_limits limits = {0};
    const arg_option rows[] = {{"--config", 0, ARG_FLAG, &config, 0, 0}, LOAD_LIMIT_ROWS(limits)};
    const arg_table table = {usage, rows, sizeof rows / sizeof *rows, 1, (size_t)argc, "MODEL is missing", &positional};
    int status = args_parse(&table, argc, argv);
    if (status == ARGS_GO_ON) {
        file_list models = {0};
        bool done = true;
        for (size_t i = 0; done && i < positional.count; i++) {
            done = file_list_add(&models, positional.items[i], ".ptl .pt .pt2", "models");
        }
        status = done && list_operators(&models, config, &limits) ? 0 : EXIT_WORK_FAILED;
        file_list_release(&models);
    }
    args_release(&table);
    return status;
}
