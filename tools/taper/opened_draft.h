// SPDX-License-Identifier: BSD-2-Clause
// A model that is opened to be rewritten and saved, for the commands optimize, convert and bundle.
#ifndef TAPER_TOOLS_OPENED_DRAFT_H
#define TAPER_TOOLS_OPENED_DRAFT_H

#include <stdbool.h>

#include <taper/taper_compile.h>

#include "common/cpu_mask.h"
#include "taper/load_limits.h"

typedef struct opened_draft {
    const char *path;
    taper_error *error;
    taper_context *context;
    taper_draft *draft;
} opened_draft;

// Command-line options about the file that will be written.
typedef struct save_arguments {
    const char *output, *cpu;
    long bytecode;
    bool flatbuffer, debug_info;
    load_limits limits; // limits for reading the input file
} save_arguments;

// Opens the file. methods: value for taper_load_options.methods. Failures are reported, and then nothing is left open.
bool draft_open(opened_draft *opened, const char *path, const char *const *methods, size_t method_count,
                const save_arguments *arguments);
void draft_close(opened_draft *opened);
// Writes the complete file, or no file after a failure. Failures are reported.
bool draft_save(const opened_draft *opened, const char *path, const taper_save_options *options);

#define SAVE_OPTION_ROWS(s)                                                                                            \
    {"--output", 'o', ARG_TEXT, &(s).output, 0, 0}, {"--bytecode", 0, ARG_COUNT, &(s).bytecode, 4, 8},                 \
        {"--flatbuffer", 0, ARG_FLAG, &(s).flatbuffer, 0, 0}, {"--cpu", 0, ARG_TEXT, &(s).cpu, 0, 0},                  \
        LOAD_LIMIT_ROWS((s).limits),                                                                                   \
    {                                                                                                                  \
        "--debug-info", 0, ARG_FLAG, &(s).debug_info, 0, 0                                                             \
    }

#define SAVE_OPTION_USAGE                                                                                              \
    "  -o, --output OUT    the file to write\n"                                                                        \
    "  --bytecode N        the version of its bytecode, 4 to 8 (default: 8)\n"                                         \
    "  --flatbuffer        write a flatbuffer rather than a zip archive\n"                                             \
    "  --debug-info        write where in the source of a TorchScript model its calls stand, for errors; a lite\n"     \
    "                      model's is kept in any case\n" CPU_OPTION_USAGE LOAD_LIMIT_USAGE

// Checks the arguments and sets *options from them. Returns ARGS_GO_ON, or the exit status after an invalid option was
// reported.
int save_arguments_check(const save_arguments *arguments, const char *usage, taper_save_options *options);

#endif
