// SPDX-License-Identifier: BSD-2-Clause
// The profile of a session's runs since taper_profile_set, by operators and by layers.
#ifndef TAPER_TOOLS_BENCH_PROFILE_H
#define TAPER_TOOLS_BENCH_PROFILE_H

#include <stdio.h>

#include "taper/profile_layers.h"

// A module and all that is computed in it, but for the modules within.
typedef struct profile_layer {
    const char *module; // "": what belongs to none
    double seconds;
    size_t operators;
} profile_layer;

typedef struct bench_profile {
    profile_layers names;
    taper_profile_item *items; // those that ran, in the order of the program
    profile_layer *layers;     // in the order in which they begin
    size_t count, layer_count, runs;
    double seconds, run_seconds; // of all operators, of all runs
} bench_profile;

// run_seconds: what the `runs` took as a whole. Failures are reported.
bool bench_profile_create(const opened_model *opened, const model_options *options, const char *method,
                          const call_inputs *inputs, size_t runs, double run_seconds, bench_profile *profile);
void bench_profile_release(bench_profile *profile);

// Tables with bars, the dearest first: layers, operators. The layers and what is between operators make up the run.
bool bench_profile_print(const bench_profile *profile);
// `, "ops": [{"name", "kernel", "ms", …}…], "layers": [{"module", "ms", "operators"}…], "run_ms", "outside_ms"`: ms per
// run, in the order of the program.
void bench_profile_json(const bench_profile *profile);

// The same two tables as a page for a browser, whole. title: the model's path.
bool bench_profile_page(const bench_profile *profile, const char *title, const char *path);
// The same as events in Chrome's format for traces, the layers and operators of one run.
bool bench_profile_trace(const bench_profile *profile, const char *path);

#endif
