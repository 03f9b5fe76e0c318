// SPDX-License-Identifier: BSD-2-Clause
// taper convert: writes a model in another file format.
#include "common/args.h"
#include "common/errors.h"
#include "taper/commands.h"
#include "taper/opened_draft.h"

static const char usage[] =
    "usage: taper convert MODEL -o OUT [--bytecode N | --flatbuffer]\n\n"
    "Writes a model for the lite interpreter (.ptl) from a TorchScript or lite file, without changing what it\n"
    "computes or calls.\n\n" SAVE_OPTION_USAGE;

int command_convert(int argc, char **argv)
{
    arg_texts positional = {0};
    save_arguments save = {0};
    const arg_option rows[] = {SAVE_OPTION_ROWS(save)};
    const arg_table table = {usage, rows, sizeof rows / sizeof *rows, 1, 1, "MODEL is missing", &positional};
    taper_save_options options;
    opened_draft opened;
    int status = args_parse(&table, argc, argv);
    if (status == ARGS_GO_ON) {
        status = save_arguments_check(&save, usage, &options);
    }
    if (status == ARGS_GO_ON) {
        status = EXIT_WORK_FAILED;
        if (draft_open(&opened, positional.items[0], NULL, 0, &save)) {
            status = draft_save(&opened, save.output, &options) ? 0 : EXIT_WORK_FAILED;
            draft_close(&opened);
        }
    }
    args_release(&table);
    return status;
}
