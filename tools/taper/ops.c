// SPDX-License-Identifier: BSD-2-Clause
// taper ops: the operators that a model calls, as names or as the header of a selective build.
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "common/errors.h"
#include "taper/commands.h"
#include "taper/opened_model.h"

static const char usage[] =
    "usage: taper ops MODEL [--config]\n\n"
    "Prints the names of the operators that a model calls, one a line, as torch.jit.export_opnames does.\n\n"
    "  --config    print a header for a build with these operators only: cmake -DTAPER_OP_CONFIG=FILE\n";

// The row's id in the operator list: "aten::add.Tensor" is aten_add_Tensor.
static void put_id(const char *name)
{
    while (*name != '\0') {
        const size_t separator = strncmp(name, "::", 2) == 0 ? 2 : 1;
        fputc(separator == 1 && isalnum((unsigned char)*name) ? *name : '_', stdout);
        name += separator;
    }
}

static void put_config(const opened_model *opened)
{
    const char *slash = strrchr(opened->path, '/'), *name = slash != NULL ? slash + 1 : opened->path;
    fputs("// Operators of ", stdout);
    text_put(stdout, name, strlen(name), false);
    fputs(", made by `taper ops --config`.\n", stdout);
    for (size_t i = 0; i < taper_model_operator_count(opened->model); i++) {
        fputs("#define TAPER_USE_", stdout);
        put_id(taper_model_operator_name(opened->model, i));
        fputs(" 1\n", stdout);
    }
}

static void put_names(const opened_model *opened)
{
    for (size_t i = 0; i < taper_model_operator_count(opened->model); i++) {
        const char *name = taper_model_operator_name(opened->model, i);
        text_put(stdout, name, strlen(name), false);
        fputc('\n', stdout);
    }
}

int command_ops(int argc, char **argv)
{
    arg_texts positional = {0};
    bool config = false;
    const arg_option rows[] = {{"--config", 0, ARG_FLAG, &config, 0, 0}};
    const arg_table table = {usage, rows, 1, 1, 1, "MODEL is missing", &positional};
    int status = args_parse(&table, argc, argv);
    if (status == ARGS_GO_ON) {
        const model_options as_saved = {.no_optimize = true, .listing = !config};
        opened_model opened;
        status = EXIT_WORK_FAILED;
        if (model_open(&opened, positional.items[0], &as_saved)) {
            (config ? put_config : put_names)(&opened);
            model_close(&opened);
            status = 0;
        }
    }
    args_release(&table);
    return status;
}
