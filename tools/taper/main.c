// SPDX-License-Identifier: BSD-2-Clause
// The command-line program.
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <taper/taper.h>

#include "common/errors.h"
#include "taper/commands.h"

static const struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
#define COMMAND_ROW(name, summary) {#name, summary, command_##name},
    TAPER_COMMANDS(COMMAND_ROW)
#undef COMMAND_ROW
};

enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void put_help(FILE *stream)
{
    fputs("usage: taper COMMAND …\n\n"
          "Runs PyTorch Mobile's model files.\n\n",
          stream);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        fprintf(stream, "  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\n`taper COMMAND --help` explains one of them; `taper --version` prints the version.\n", stream);
}

static int dispatch(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        put_help(stdout);
        return 0;
    }
    if (strcmp(name, "--version") == 0) {
        printf("taper %s\n", taper_version());
        return 0;
    }
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i].name) == 0) {
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    error_usage("", *name != '\0' ? "there is no command \"%s\"" : "a command is missing%s", name);
    put_help(stderr);
    return EXIT_WRONG_USAGE;
}

int main(int argc, char **argv)
{
    int status = dispatch(argc, argv);
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && status == 0) {
        error_report("standard output", "cannot write: %s",
                     errno != 0 ? strerror(errno) : "the device is full or closed");
        status = EXIT_WORK_FAILED;
    }
    return status;
}
