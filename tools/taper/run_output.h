// SPDX-License-Identifier: BSD-2-Clause
// Writes the output of `taper run`: to a file whose name decides the format, as JSON on stdout, or as text on stdout.
#ifndef TAPER_TOOLS_RUN_OUTPUT_H
#define TAPER_TOOLS_RUN_OUTPUT_H

#include "common/result.h"

typedef enum run_format {
    RUN_NPZ, // an .npz archive; also the format of a file whose suffix is unknown
    RUN_NPY,
    RUN_JSON,
} run_format;

typedef struct run_output {
    const char *path; // output file, or NULL
    bool json;        // true for JSON on stdout
    bool several;     // true if there may be several results, because of --calls or a folder of inputs
    bool times;       // true if the JSON contains the load time and the time of each call (load_ms and ms)
    const char *model;
    double load_ms, ms; // load time, and time of the call whose result is added next, in milliseconds
    run_format format;
    npz_writer npz;
    output_file file; // output file of all formats except .npz
    size_t results;
} run_output;

// Returns ARGS_GO_ON, or the exit status after an unsupported file format was reported.
int run_output_check(const char *path, bool several, const char *usage);
// The functions below report their failures. start: the members that are known before the first result: path, json,
// several, times, model, load_ms.
bool run_output_open(run_output *output, const run_output *start);
bool run_output_add(run_output *output, const char *name, const taper_value *result, taper_error *error);
// Completes the output. If `done` is false, removes the output file, unless `several` is true.
bool run_output_close(run_output *output, bool done);

#endif
