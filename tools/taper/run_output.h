// SPDX-License-Identifier: BSD-2-Clause
// The output of `taper run`: a file whose name decides the format, JSON on stdout, or text on stdout.
#ifndef TAPER_TOOLS_RUN_OUTPUT_H
#define TAPER_TOOLS_RUN_OUTPUT_H

#include "common/result.h"

typedef enum run_format {
    RUN_NPZ, // also for names without a known suffix
    RUN_NPY,
    RUN_JSON,
} run_format;

typedef struct run_output {
    const char *path; // output file, or NULL
    bool json;        // true for JSON on stdout
    bool several;     // true if there may be several results, from --calls or a folder of inputs
    bool times; // true if the JSON contains the load time and the time of each call; the next two lines belong to it
    const char *model;
    double load_ms, ms; // milliseconds; ms belongs to the next result
    run_format format;
    npz_writer npz;
    output_file file; // output file of all formats except .npz
    size_t results;
} run_output;

// Returns ARGS_GO_ON, or the exit status after an unsupported file format was reported.
int run_output_check(const char *path, bool several, const char *usage);
// The functions below report their failures. `start` has the members that are known before the first result: path,
// json, several, times, model, load_ms.
bool run_output_open(run_output *output, const run_output *start);
bool run_output_add(run_output *output, const char *name, const taper_value *result, taper_error *error);
// Completes the output and keeps the file if `done`. A file with several results is kept in any case.
bool run_output_close(run_output *output, bool done);

#endif
