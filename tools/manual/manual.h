// SPDX-License-Identifier: BSD-2-Clause
// Makes manual pages, shell completions and the list of commands in the documentation from the tables with which the
// programs parse their options. The build runs this program. Each writer below makes one file.
#ifndef TAPER_TOOLS_MANUAL_H
#define TAPER_TOOLS_MANUAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/args.h"

enum { MANUAL_VERBS = 32, MANUAL_OPTIONS = 64 };

// A subcommand of taper, or a program without subcommands.
typedef struct manual_verb {
    const char *name, *summary, *usage;
    arg_option options[MANUAL_OPTIONS]; // options of the command; only their members name, letter and kind are used
    size_t option_count;
} manual_verb;

typedef struct manual {
    const char *program;
    bool has_verbs; // true if the program has subcommands; otherwise verbs[0] is the program itself
    manual_verb verbs[MANUAL_VERBS];
    size_t verb_count;
} manual;

// The text about an option in a usage text: " -i, --input INPUT the next argument", and the lines below that continue
// this text.
typedef struct usage_entry {
    const char *value; // placeholder of the value, such as "INPUT"; not NUL-terminated
    size_t value_length;
    const char *choice; // optional part, such as "[=strict]" in "--json[=strict]"
    size_t choice_length;
    const char *help, *end; // first word of the help, and the end of the help's last line
} usage_entry;

bool takes_value(const arg_option *option);
// Finds an option in the usage text. Returns false if it is missing.
bool usage_find(const char *usage, const char *name, usage_entry *entry);
// Returns the number of options in the usage text.
size_t usage_count(const char *usage);
// Splits a usage text. The lines "usage: …" are from *synopsis to *description, and the text before the options is from
// *description to *options.
void usage_parts(const char *usage, const char **synopsis, const char **description, const char **options);
// Writes the beginning of the help, up to the first semicolon or line end, as at most `capacity` - 1 bytes.
void usage_summary(const usage_entry *entry, char *summary, size_t capacity);
// Iterates over the lines of a text that ends at `end`. Returns the length of the next line, or -1 at the end, and
// moves *text past the line.
long usage_line(const char **text, const char *end, const char **line);

typedef enum value_kind { VALUE_NONE, VALUE_FILE, VALUE_FOLDER, VALUE_WORDS, VALUE_OTHER } value_kind;

// Returns the kind of values that a shell can complete for an option. `words` receives the possible words, separated by
// blanks.
value_kind value_kind_of(const manual_verb *verb, const arg_option *option, char *words, size_t capacity);

void put_man_program(FILE *file, const manual *m);
void put_man_verb(FILE *file, const manual *m, const manual_verb *verb);
void put_markdown(FILE *file, const manual *m);
void put_bash(FILE *file, const manual *m);
void put_zsh(FILE *file, const manual *m);
void put_fish(FILE *file, const manual *m);

#endif
