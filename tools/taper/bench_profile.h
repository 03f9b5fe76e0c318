// SPDX-License-Identifier: BSD-2-Clause
// The profile of a session's runs since taper_profile_set, by operators and by layers.
#ifndef TAPER_TOOLS_BENCH_PROFILE_H
#define TAPER_TOOLS_BENCH_PROFILE_H

#include <stdio.h>

#include "taper/profile_layers.h"

// The time of one module, without the time of the modules inside it.
typedef struct profile_layer {
    const char *module; // path of the module; "" for operators that belong to no module
    double seconds;
    size_t operators;
} profile_layer;

typedef struct bench_profile {
    profile_layers names;
    taper_profile_item *items; // operators that ran, in the order of the program
    profile_layer *layers;     // modules, in the order in which they first run
    size_t count, layer_count, runs;
    double seconds, run_seconds; // time of all operators, and time of all runs, in seconds
} bench_profile;

// Reads the profile of the session. run_seconds is the total time of the `runs` runs. Failures are reported. The caller
// calls bench_profile_release after success.
bool bench_profile_create(const opened_model *opened, const model_options *options, const char *method,
                          const call_inputs *inputs, size_t runs, double run_seconds, bench_profile *profile);
void bench_profile_release(bench_profile *profile);

// Prints the layers and the operators as tables with bars, the slowest first. The times of the layers and the time
// between operators add up to the time of the run.
bool bench_profile_print(const bench_profile *profile);
// Prints `, "ops": [{"name", "kernel", "ms", …}…], "layers": [{"module", "ms", "operators"}…], "run_ms", "outside_ms"`.
// Times are milliseconds per run; operators are in the order of the program.
void bench_profile_json(const bench_profile *profile);

// Writes both tables to `path` as one self-contained HTML page. title: the path of the model.
bool bench_profile_page(const bench_profile *profile, const char *title, const char *path);
// Writes the layers and operators of one run to `path` in Chrome's trace format.
bool bench_profile_trace(const bench_profile *profile, const char *path);

#endif
