// SPDX-License-Identifier: BSD-2-Clause
// A loaded model with its context and session, and the options that all subcommands share.
#ifndef TAPER_TOOLS_OPENED_MODEL_H
#define TAPER_TOOLS_OPENED_MODEL_H

#include <stdbool.h>

#include <taper/taper.h>

#include "common/args.h"
#include "common/cpu_mask.h"
#include "taper/load_limits.h"

typedef struct model_options {
    const char *device, *device_options, *precision, *cpu, *memory, *cache;
    long threads; // number of threads; 0 for the default of taper_context_options
    bool reference, no_optimize, evaluation, no_guards, verify;
    bool quiet; // true to omit the note about a model that was saved in training mode
    // True if only the contents of the file are listed: no session is created, and missing operators are allowed.
    bool listing;
    arg_texts disable;
    bool keeps_numbers; // true if the values of the optimized graph keep their numbers from the saved model
    load_limits limits;
    taper_session_options session; // session options; struct_size is 0 for the defaults
    bool print_to_stderr;          // true to write the output of the model's print() to stderr
    bool verbose;                  // true to list on stderr where each part of the model ran
    taper_context *context; // context of another open model, which must remain open longer; NULL to create a context
} model_options;

enum { THREADS_LIMIT = 1024 };

// Rows for a table of arg_option. o: the model_options whose members the options set.
#define MODEL_OPTION_ROWS(o)                                                                                           \
    {"--device", 0, ARG_TEXT, &(o).device, 0, 0}, {"--device-options", 0, ARG_TEXT, &(o).device_options, 0, 0},        \
        {"--verbose", 0, ARG_FLAG, &(o).verbose, 0, 0}, {"--precision", 0, ARG_TEXT, &(o).precision, 0, 0},            \
        {"--threads", 0, ARG_COUNT, &(o).threads, 1, THREADS_LIMIT}, {"--cpu", 0, ARG_TEXT, &(o).cpu, 0, 0},           \
        {"--reference", 0, ARG_FLAG, &(o).reference, 0, 0}, {"--no-optimize", 0, ARG_FLAG, &(o).no_optimize, 0, 0},    \
        {"--disable", 0, ARG_TEXTS, &(o).disable, 0, 0}, {"--cache", 0, ARG_TEXT, &(o).cache, 0, 0},                   \
        {"--no-guards", 0, ARG_FLAG, &(o).no_guards, 0, 0}, {"--verify", 0, ARG_FLAG, &(o).verify, 0, 0},              \
        LOAD_LIMIT_ROWS((o).limits),                                                                                   \
    {                                                                                                                  \
        "--eval", 0, ARG_FLAG, &(o).evaluation, 0, 0                                                                   \
    }

// A row for commands whose option --memory selects the memory mode.
#define MEMORY_OPTION_ROW(o)                                                                                           \
    {                                                                                                                  \
        "--memory", 0, ARG_TEXT, &(o).memory, 0, 0                                                                     \
    }
#define MEMORY_OPTION_USAGE                                                                                            \
    "  --memory low|fast   low: no faster way to compute a layer that needs more memory for its weights\n"

#define DEVICE_OPTION_USAGE                                                                                            \
    "  --device-options NAME=VALUE,…\n"                                                                              \
    "                      of vulkan: software=1 (a driver on the CPU will do), checks=0, times=1 (with\n"             \
    "                      --verbose: what each dispatch takes); of nnapi: preference=low_power,\n"                    \
    "                      fast_single_answer or sustained_speed; relax_f32_to_f16=1; level=27 to 31\n"                \
    "  --verbose           say on stderr what ran where, and why\n"

#define FILE_OPTION_USAGE                                                                                              \
    "  --cache DIR         keep there what takes long to make on this machine, and use what is there\n"                \
    "  --no-guards         of an exported program: no check of the inputs' sizes, none of its assertions\n"            \
    "  --verify            compare the checksums of everything in the file first, of weights too\n"                    \
    "  --eval              evaluation mode, if the model was saved in training mode: Module.eval()\n"

#define MODEL_OPTION_USAGE                                                                                             \
    "  --device NAME       where to run: cpu, which stands in for any other, vulkan, metal or nnapi;\n"                \
    "                      vulkan:1, vulkan:NAME: the second, or the one called so; NAME! refuses when NAME\n"         \
    "                      is not here, or declines\n" DEVICE_OPTION_USAGE                                             \
    "  --precision P       of weights: fp16, on a GPU of all that lies in memory; bf16, on the CPU; fp32\n"            \
    "  --threads N         threads to use (default: one for each big core it may use)\n" CPU_OPTION_USAGE              \
    "  --no-optimize       run the model as it was saved\n"                                                            \
    "  --disable PASS,…    leave out passes of the optimizer\n" FILE_OPTION_USAGE                                      \
    "  --reference         use the portable operators only: slow, for checking\n" LOAD_LIMIT_USAGE

typedef struct opened_model {
    const char *path;
    taper_error *error;
    taper_context *context;
    bool has_context;      // true if this model owns the context
    bool measured;         // true if run times are measured, so no progress is shown
    bool runs_in_training; // true to print a note about training mode when the model is closed
    taper_model *model;
    taper_session *session;
    double load_seconds;                 // time to load the model and to create its session, in seconds
    const struct vision_options *vision; // settings for pictures; NULL for the model's own settings (vision.h)
} opened_model;

// Sets device options that are useful on a GPU, unless the user gave options or the device is not a GPU.
void model_options_on_gpu(model_options *options, const char *device_options);
// Checks the options. Returns ARGS_GO_ON, or the exit status after an invalid option was reported.
int model_options_check(const model_options *options, const char *usage);
// Opens the model. Failures are reported, and then nothing is left open.
bool model_open(opened_model *opened, const char *path, const model_options *options);
void model_close(opened_model *opened);

// Runs a method; NULL is forward. Failures are reported.
bool model_run(const opened_model *opened, const char *method, taper_value *const *inputs, size_t count,
               taper_value **result);
// Returns true if the model has a method with this name.
bool model_has_method(const opened_model *opened, const char *method);

#endif
