// SPDX-License-Identifier: BSD-2-Clause
// taper ops: the operators that a model calls, as names or as the header of a selective build.
#include <stdio.h>
#include <string.h>

#include <taper/taper_inspect.h>

#include "common/errors.h"
#include "taper/commands.h"
#include "taper/opened_model.h"

static const char usage[] =
    "usage: taper ops MODEL [--config]\n\n"
    "Prints the names of the operators that a model calls, one a line, as torch.jit.export_opnames does.\n\n"
    "  --config            print a header for a build with these operators only: cmake "
    "-DTAPER_OP_CONFIG=FILE\n" LOAD_LIMIT_USAGE;

static void put_text(void *user, const char *text, size_t length)
{
    fwrite(text, 1, length, user);
}

static bool put_config(const opened_model *opened)
{
    const char *slash = strrchr(opened->path, '/'), *name = slash != NULL ? slash + 1 : opened->path;
    fputs("// What ", stdout);
    text_put(stdout, name, strlen(name), false);
    fputs(" needs, made by `taper ops --config`.\n", stdout);
    if (taper_inspect_config(opened->model, put_text, stdout, opened->error) != TAPER_OK) {
        error_report_library(opened->path, opened->error);
        return false;
    }
    return true;
}

static bool put_names(const opened_model *opened)
{
    for (size_t i = 0; i < taper_model_operator_count(opened->model); i++) {
        const char *name = taper_model_operator_name(opened->model, i);
        text_put(stdout, name, strlen(name), false);
        fputc('\n', stdout);
    }
    return true;
}

int command_ops(int argc, char **argv)
{
    arg_texts positional = {0};
    bool config = false;
    load_limits limits = {0};
    const arg_option rows[] = {{"--config", 0, ARG_FLAG, &config, 0, 0}, LOAD_LIMIT_ROWS(limits)};
    const arg_table table = {usage, rows, sizeof rows / sizeof *rows, 1, 1, "MODEL is missing", &positional};
    int status = args_parse(&table, argc, argv);
    if (status == ARGS_GO_ON) {
        const model_options as_saved = {.no_optimize = true, .quiet = true, .listing = !config, .limits = limits};
        opened_model opened;
        status = EXIT_WORK_FAILED;
        if (model_open(&opened, positional.items[0], &as_saved)) {
            status = (config ? put_config : put_names)(&opened) ? 0 : EXIT_WORK_FAILED;
            model_close(&opened);
        }
    }
    args_release(&table);
    return status;
}
