// SPDX-License-Identifier: BSD-2-Clause
// Makes new inputs for each run of a benchmark. A model may write to a dict, a list or a tensor that it receives, and
// later runs must not see these changes.
#ifndef TAPER_TOOLS_FRESH_INPUTS_H
#define TAPER_TOOLS_FRESH_INPUTS_H

#include <stdbool.h>

#include <taper/taper.h>

struct fresh_tensor;

typedef struct fresh_inputs {
    taper_context *context;
    taper_error *error;
    taper_value *const *given; // values that the caller gave, borrowed; runs get copies of their lists and dicts
    size_t count;
    taper_value **values;         // inputs of the next run; the struct owns references to them
    struct fresh_tensor *tensors; // tensors in the given values to which a run can write, with copies of their bytes
    size_t tensor_count, tensor_room, runs;
} fresh_inputs;

// Copies the bytes of the tensors in the given values. `given` must stay valid until fresh_inputs_release. Failures are
// reported, and then nothing needs to be released.
bool fresh_inputs_begin(taper_context *context, taper_error *error, taper_value *const *given, size_t count,
                        fresh_inputs *fresh);
// Makes fresh->values for the next run: new lists, dicts and tuples that contain the given tensors, whose original
// bytes are restored.
bool fresh_inputs_next(fresh_inputs *fresh);
void fresh_inputs_release(fresh_inputs *fresh);

#endif
