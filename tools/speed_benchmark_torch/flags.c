// SPDX-License-Identifier: BSD-2-Clause
#include "speed_benchmark_torch/flags.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "common/args.h"
#include "common/suggest.h"

static const flag *find(const flag *flags, size_t count, const char *name, size_t length)
{
    for (size_t i = 0; i < count; i++) {
        if (strlen(flags[i].name) == length && memcmp(flags[i].name, name, length) == 0) {
            return &flags[i];
        }
    }
    return NULL;
}

static bool parse_bool(const char *text, bool *value)
{
    static const char *const yes[] = {"true", "True", "TRUE", "1"}, *const no[] = {"false", "False", "FALSE", "0"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
            *value = strcmp(text, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

static bool store(const flag *f, const char *text)
{
    long number;
    bool truth;
    switch (f->kind) {
    case FLAG_BOOL:
        if (!parse_bool(text, &truth)) {
            break;
        }
        if (f->target != NULL) {
            *(bool *)f->target = truth;
        }
        return true;
    case FLAG_INT:
        if (!args_parse_count(text, INT_MIN, INT_MAX, &number)) {
            break;
        }
        if (f->target != NULL) {
            *(int *)f->target = (int)number;
        }
        return true;
    case FLAG_TEXT:
        if (f->target != NULL) {
            *(const char **)f->target = text;
        }
        return true;
    }
    fprintf(stderr, "flag --%s: cannot read \"%s\" as %s\n", f->name, text,
            f->kind == FLAG_INT ? "a number" : "true or false");
    return false;
}

static bool parse_one(const flag *flags, size_t count, int argc, char **argv, int *index)
{
    const char *name = argv[*index] + (argv[*index][1] == '-' ? 2 : 1);
    const size_t length = strcspn(name, "=");
    const flag *f = find(flags, count, name, length);
    if (f == NULL && name[length] == '\0' && strncmp(name, "no", 2) == 0) {
        f = find(flags, count, name + 2, length - 2);
        if (f != NULL && f->kind == FLAG_BOOL) {
            return store(f, "false");
        }
        f = NULL;
    }
    if (f == NULL) {
        suggestion near = suggest_for(name, length);
        near.prefix = "--";
        for (size_t i = 0; i < count; i++) {
            if (flags[i].summary != NULL) {
                suggest_among(&near, flags[i].name);
            }
        }
        fprintf(stderr, "unknown flag %s%s\n", argv[*index], suggest_text(&near));
        return false;
    }
    if (name[length] == '=') {
        return store(f, name + length + 1);
    }
    bool truth;
    const bool has_next = *index + 1 < argc;
    if (f->kind == FLAG_BOOL && (!has_next || !parse_bool(argv[*index + 1], &truth))) {
        return store(f, "true");
    }
    if (!has_next) {
        fprintf(stderr, "flag --%s needs a value\n", f->name);
        return false;
    }
    return store(f, argv[++*index]);
}

bool flags_parse(const flag *flags, size_t count, int argc, char **argv, bool *help)
{
    *help = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-help") == 0) {
            *help = true;
            return true;
        }
        if (argv[i][0] == '-' && argv[i][1] != '\0' && !parse_one(flags, count, argc, argv, &i)) {
            return false;
        }
    }
    return true;
}

void flags_put_help(const flag *flags, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (flags[i].summary != NULL) {
            printf("    --%s: %s\n", flags[i].name, flags[i].summary);
        }
    }
}
