// SPDX-License-Identifier: BSD-2-Clause
// The command-line program `taper`.
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <taper/taper.h>

#include "common/errors.h"
#include "common/suffix.h"
#include "common/suggest.h"
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

static const char usage[] = "usage: taper COMMAND …\n\n"
                            "Runs PyTorch Mobile's model files.\n\n";

static void put_help(void)
{
    fputs(usage, stdout);
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\n`taper help COMMAND` explains one of them; `taper version` prints the version.\n", stdout);
}

static const struct command *find_command(const char *name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(name, commands[i].name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static int unknown_command(const char *name)
{
    if (*name == '\0') {
        return error_usage(usage, "a command is missing");
    }
    if (suffix_among(name, ".ptl .pt .pt2")) {
        return error_usage(usage, "there is no command \"%s\"; did you mean taper run %s?", name, name);
    }
    suggestion near = suggest_for(name, strlen(name));
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        suggest_among(&near, commands[i].name);
    }
    suggest_among(&near, "help");
    suggest_among(&near, "version");
    return error_usage(usage, "there is no command \"%s\"%s", name, suggest_text(&near));
}

// Runs `taper help [COMMAND]`.
static int help(int argc, char **argv)
{
    const struct command *command = argc > 1 ? find_command(argv[1]) : NULL;
    if (argc > 2) {
        return error_usage(usage, "help takes one command");
    }
    if (argc > 1 && command == NULL) {
        return unknown_command(argv[1]);
    }
    if (command != NULL) {
        static char option[] = "--help";
        char *arguments[] = {argv[1], option, NULL};
        return command->run(2, arguments);
    }
    put_help();
    return 0;
}

static int dispatch(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        return help(argc - 1, argv + 1);
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "version") == 0) {
        printf("taper %s\n", taper_version());
        return 0;
    }
    const struct command *command = find_command(name);
    return command != NULL ? command->run(argc - 1, argv + 1) : unknown_command(name);
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
