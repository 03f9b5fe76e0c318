// SPDX-License-Identifier: BSD-2-Clause
// Parses command-line options by a table: "--name value", "--name=value", "-x value", "-xvalue". "--" ends the options.
#ifndef TAPER_TOOLS_ARGS_H
#define TAPER_TOOLS_ARGS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum arg_kind {
    ARG_FLAG,   // target is a bool
    ARG_TEXT,   // target is a const char *
    ARG_TEXTS,  // target is an arg_texts; the option may be given several times
    ARG_COUNT,  // target is a long within [minimum, maximum]
    ARG_SIZE,   // target is an int[2], written WxH
    ARG_TRIPLE, // target is a double[3], written a,b,c
    ARG_JSON,   // target is a bool, set by --json; --json=strict also calls json_write_strictly
} arg_kind;

typedef struct arg_texts {
    const char **items; // array that args_release frees; the texts belong to argv
    size_t count;
} arg_texts;

typedef struct arg_option {
    const char *name; // name, such as "--input"
    char letter;      // letter of the short form, such as 'i' for "-i"; 0 if the option has no short form
    arg_kind kind;
    void *target; // variable that receives the value; it changes only if the option is given
    long minimum, maximum;
} arg_option;

typedef struct arg_table {
    const char *usage;
    const arg_option *options;
    size_t option_count;
    size_t minimum, maximum; // smallest and largest number of positional arguments
    const char *missing;     // error for too few arguments, such as "MODEL is missing"
    arg_texts *positional;
} arg_table;

enum { ARGS_GO_ON = -1 };

// Parses the arguments; argv[0] is the command itself. Returns ARGS_GO_ON, or the exit status if nothing is left to do:
// 0 after --help, 2 after wrong usage was reported.
int args_parse(const arg_table *table, int argc, char **argv);
// Frees the lists of ARG_TEXTS options and the list of positional arguments.
void args_release(const arg_table *table);

bool args_parse_count(const char *text, long minimum, long maximum, long *count);
bool args_parse_double(const char *text, double *number); // returns false unless the text is a finite number

#endif
