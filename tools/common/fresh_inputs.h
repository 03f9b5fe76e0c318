// SPDX-License-Identifier: BSD-2-Clause
// Inputs made anew for each run of a benchmark. A model may write to a dict, a list or a tensor that it is given; the
// next run must not get what the last one left there.
#ifndef TAPER_TOOLS_FRESH_INPUTS_H
#define TAPER_TOOLS_FRESH_INPUTS_H

#include <stdbool.h>

#include <taper/taper.h>

struct fresh_tensor;

typedef struct fresh_inputs {
    taper_context *context;
    taper_error *error;
    taper_value *const *given; // borrowed; no run gets their lists and dicts
    size_t count;
    taper_value **values;         // inputs of the next run; owned
    struct fresh_tensor *tensors; // the given tensors that a run can write to, with their bytes
    size_t tensor_count, tensor_room, runs;
} fresh_inputs;

// Keeps the bytes of the tensors. given stays valid until fresh_inputs_release. Failures are reported and leave nothing
// behind.
bool fresh_inputs_begin(taper_context *context, taper_error *error, taper_value *const *given, size_t count,
                        fresh_inputs *fresh);
// Makes fresh->values for the next run: new lists, dicts and tuples over the given tensors, whose bytes are restored.
bool fresh_inputs_next(fresh_inputs *fresh);
void fresh_inputs_release(fresh_inputs *fresh);

#endif
