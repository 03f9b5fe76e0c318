// SPDX-License-Identifier: BSD-2-Clause
// The subcommands of `taper`. Each subcommand has one row here and a source file of its own. argv[0] is the name of the
// subcommand; the result is the exit status.
#ifndef TAPER_TOOLS_COMMANDS_H
#define TAPER_TOOLS_COMMANDS_H

#define TAPER_COMMANDS(COMMAND)                                                                                        \
    COMMAND(run, "call a method of a model and store or print the result")                                             \
    COMMAND(classify, "say what a picture shows")                                                                      \
    COMMAND(segment, "colour the parts of a picture by class")                                                         \
    COMMAND(inspect, "show what a model file holds")                                                                   \
    COMMAND(ops, "list the operators that a model calls")                                                              \
    COMMAND(optimize, "prepare a model for phones: fold, fuse and pack, and save it")                                  \
    COMMAND(quantize, "make a model that computes with 8-bit integers")                                                \
    COMMAND(bundle, "put sample inputs into a model file")                                                             \
    COMMAND(convert, "save a model in another version or kind of file")                                                \
    COMMAND(diff, "find the first operator that two ways to run a model disagree on")                                  \
    COMMAND(bench, "measure load time, run time and memory")                                                           \
    COMMAND(devices, "list what models can run on")

#define COMMAND_DECLARE(name, summary) int command_##name(int argc, char **argv);
TAPER_COMMANDS(COMMAND_DECLARE)
#undef COMMAND_DECLARE

#endif
