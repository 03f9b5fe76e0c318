// SPDX-License-Identifier: BSD-2-Clause
#include "common/args.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/json_value.h"
#include "common/suggest.h"

bool args_parse_count(const char *text, long minimum, long maximum, long *count)
{
    char *end;
    errno = 0;
    const long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < minimum || number > maximum) {
        return false;
    }
    *count = number;
    return true;
}

bool args_parse_double(const char *text, double *number)
{
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*number);
}

static bool parse_size(const char *text, int size[2])
{
    char first[16];
    const size_t length = strcspn(text, "xX");
    if (length == 0 || length >= sizeof first || text[length] == '\0') {
        return false;
    }
    memcpy(first, text, length);
    first[length] = '\0';
    long width, height;
    if (!args_parse_count(first, 1, 16384, &width) || !args_parse_count(text + length + 1, 1, 16384, &height)) {
        return false;
    }
    size[0] = (int)width;
    size[1] = (int)height;
    return true;
}

static bool parse_triple(const char *text, double triple[3])
{
    for (int i = 0; i < 3; i++) {
        char part[64];
        const size_t length = strcspn(text, ",");
        if (length >= sizeof part || (text[length] == ',') != (i < 2)) {
            return false;
        }
        memcpy(part, text, length);
        part[length] = '\0';
        if (!args_parse_double(part, &triple[i])) {
            return false;
        }
        text += length + (i < 2);
    }
    return true;
}

static bool texts_add(arg_texts *texts, int argc, const char *text)
{
    if (texts->items == NULL) {
        // This size is sufficient, because the list cannot have more texts than the command line has arguments.
        texts->items = calloc((size_t)argc, sizeof *texts->items);
        if (texts->items == NULL) {
            return false;
        }
    }
    texts->items[texts->count++] = text;
    return true;
}

// Stores the value of an option in the option's target. Returns ARGS_GO_ON, or the exit status after reporting an
// invalid value.
static int store(const arg_table *table, const arg_option *option, int argc, const char *value)
{
    switch (option->kind) {
    case ARG_FLAG:
        *(bool *)option->target = true;
        return ARGS_GO_ON;
    case ARG_JSON:
        *(bool *)option->target = true;
        if (value != NULL && strcmp(value, "strict") != 0) {
            return error_usage(table->usage, "%s takes no value but strict, not \"%s\"", option->name, value);
        }
        json_write_strictly(value != NULL);
        return ARGS_GO_ON;
    case ARG_TEXT:
        *(const char **)option->target = value;
        return ARGS_GO_ON;
    case ARG_TEXTS:
        if (!texts_add(option->target, argc, value)) {
            error_report_memory(NULL);
            return EXIT_WORK_FAILED;
        }
        return ARGS_GO_ON;
    case ARG_COUNT:
        if (!args_parse_count(value, option->minimum, option->maximum, option->target)) {
            return error_usage(table->usage, "%s takes a whole number from %ld to %ld, not \"%s\"", option->name,
                               option->minimum, option->maximum, value);
        }
        return ARGS_GO_ON;
    case ARG_SIZE:
        if (!parse_size(value, option->target)) {
            return error_usage(table->usage, "%s takes WIDTHxHEIGHT such as 224x224, not \"%s\"", option->name, value);
        }
        return ARGS_GO_ON;
    case ARG_TRIPLE:
        if (!parse_triple(value, option->target)) {
            return error_usage(table->usage, "%s takes three numbers such as 0.485,0.456,0.406, not \"%s\"",
                               option->name, value);
        }
        return ARGS_GO_ON;
    }
    return ARGS_GO_ON;
}

// Detects "-input", which would otherwise mean the option -i with the value "nput".
static bool is_name_with_one_dash(const char *argument, const char *name)
{
    return strncmp(argument, name + 1, strlen(name + 1)) == 0;
}

// Returns the option that an argument names. *value is the value in the same argument, such as "3" in "--threads=3", or
// NULL if that argument has no value.
static const arg_option *find_option(const arg_table *table, const char *argument, const char **value)
{
    *value = NULL;
    for (size_t i = 0; i < table->option_count; i++) {
        const arg_option *option = &table->options[i];
        const size_t length = strlen(option->name);
        if (strncmp(argument, option->name, length) == 0 && (argument[length] == '\0' || argument[length] == '=')) {
            *value = argument[length] == '=' ? argument + length + 1 : NULL;
            return option;
        }
        if (option->letter != 0 && argument[1] == option->letter && !is_name_with_one_dash(argument, option->name)) {
            *value = argument[2] != '\0' ? argument + 2 + (argument[2] == '=') : NULL;
            return option;
        }
    }
    return NULL;
}

static int parse_option(const arg_table *table, int argc, char **argv, int *index)
{
    const char *argument = argv[*index], *value;
    if (strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0) {
        fputs(table->usage, stdout);
        return 0;
    }
    const arg_option *option = find_option(table, argument, &value);
    if (option == NULL) {
        suggestion near = suggest_for(argument, strcspn(argument, "="));
        for (size_t i = 0; i < table->option_count; i++) {
            suggest_among(&near, table->options[i].name);
        }
        suggest_among(&near, "--help");
        return error_usage(table->usage, "unknown option %s%s", argument, suggest_text(&near));
    }
    if (option->kind == ARG_FLAG && value != NULL) {
        return error_usage(table->usage, "%s takes no value", option->name);
    }
    if (option->kind != ARG_FLAG && option->kind != ARG_JSON && value == NULL) {
        if (*index + 1 >= argc) {
            return error_usage(table->usage, "%s needs a value", option->name);
        }
        value = argv[++*index];
    }
    return store(table, option, argc, value);
}

int args_parse(const arg_table *table, int argc, char **argv)
{
    bool options = true;
    for (int i = 1; i < argc; i++) {
        if (options && strcmp(argv[i], "--") == 0) {
            options = false;
        } else if (options && argv[i][0] == '-' && argv[i][1] != '\0') {
            const int status = parse_option(table, argc, argv, &i);
            if (status != ARGS_GO_ON) {
                return status;
            }
        } else if (table->positional->count >= table->maximum) {
            return error_usage(table->usage, "unexpected argument \"%s\"", argv[i]);
        } else if (!texts_add(table->positional, argc, argv[i])) {
            error_report_memory(NULL);
            return EXIT_WORK_FAILED;
        }
    }
    if (table->positional->count < table->minimum) {
        return error_usage(table->usage, "%s", table->missing);
    }
    return ARGS_GO_ON;
}

void args_release(const arg_table *table)
{
    for (size_t i = 0; i < table->option_count; i++) {
        if (table->options[i].kind == ARG_TEXTS) {
            arg_texts *texts = table->options[i].target;
            free(texts->items);
            *texts = (arg_texts){0};
        }
    }
    free(table->positional->items);
    *table->positional = (arg_texts){0};
}
