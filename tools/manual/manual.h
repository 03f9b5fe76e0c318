// SPDX-License-Identifier: BSD-2-Clause
// Pages of the manual, completions for shells, and the list of commands in the documentation, from the tables that the
// programs parse their options with. The build runs this program; each writer below makes one file.
#ifndef TAPER_TOOLS_MANUAL_H
#define TAPER_TOOLS_MANUAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/args.h"

enum { MANUAL_VERBS = 32, MANUAL_OPTIONS = 64 };

// A command of taper, or a program that has none.
typedef struct manual_verb {
    const char *name, *summary, *usage;
    arg_option options[MANUAL_OPTIONS]; // only name, letter and kind mean something
    size_t option_count;
} manual_verb;

typedef struct manual {
    const char *program;
    bool has_verbs; // else verbs[0] is the program
    manual_verb verbs[MANUAL_VERBS];
    size_t verb_count;
} manual;

// What a usage text says of an option: "  -i, --input INPUT   the next argument", and the lines below.
typedef struct usage_entry {
    const char *value; // "INPUT"; not terminated
    size_t value_length;
    const char *choice; // "[=strict]" in "--json[=strict]"
    size_t choice_length;
    const char *help, *end; // from the first word to behind the last line
} usage_entry;

bool takes_value(const arg_option *option);
// False when the usage says nothing of it.
bool usage_find(const char *usage, const char *name, usage_entry *entry);
// How many options the usage speaks of.
size_t usage_count(const char *usage);
// The lines "usage: …" are [*synopsis, *description), what is said before the options [*description, *options).
void usage_parts(const char *usage, const char **synopsis, const char **description, const char **options);
// The help as one line of at most `capacity` - 1 bytes, up to a semicolon or the end of the line.
void usage_summary(const usage_entry *entry, char *summary, size_t capacity);
// Continues a walk over the lines of [*text, end): the line's length, or -1 at the end. *text goes to the next one.
long usage_line(const char **text, const char *end, const char **line);

typedef enum value_kind { VALUE_NONE, VALUE_FILE, VALUE_FOLDER, VALUE_WORDS, VALUE_OTHER } value_kind;

// What a shell can offer for an option's value; `words` are separated by blanks.
value_kind value_kind_of(const manual_verb *verb, const arg_option *option, char *words, size_t capacity);

void put_man_program(FILE *file, const manual *m);
void put_man_verb(FILE *file, const manual *m, const manual_verb *verb);
void put_markdown(FILE *file, const manual *m);
void put_bash(FILE *file, const manual *m);
void put_zsh(FILE *file, const manual *m);
void put_fish(FILE *file, const manual *m);

#endif
