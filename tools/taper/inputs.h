// SPDX-License-Identifier: BSD-2-Clause
// Makes the inputs of a call from the command line, from a list of JSON values or from the bundled samples of the
// model.
#ifndef TAPER_TOOLS_INPUTS_H
#define TAPER_TOOLS_INPUTS_H

#include "common/args.h"
#include "common/json_value.h"
#include "taper/opened_model.h"

typedef struct call_inputs {
    taper_value **values;
    size_t count;
} call_inputs;

// The functions below read the inputs of a method (method NULL is forward). Failures are reported, and then `inputs` is
// empty.
bool inputs_from_texts(const opened_model *opened, const char *method, const arg_texts *texts, call_inputs *inputs);
// `items` is a JSON array. Files that the array names are searched in the working folder and then in `folder`, unless
// `folder` is NULL. `call` is the number of the call in error messages.
bool inputs_from_json(const opened_model *opened, const char *method, const json_value *items, const char *folder,
                      size_t call, call_inputs *inputs);
bool inputs_from_bundle(const opened_model *opened, const char *method, size_t index, call_inputs *inputs);
// Returns the index of the bundled sample for a call without inputs. The index is 0, with a note on stderr, if the
// method needs inputs and the model contains samples, and -1 in all other cases. A command whose options give inputs
// does not call this function.
long inputs_default(const opened_model *opened, const char *method);
// Replaces float tensors by quantized tensors for the inputs of forward that the model's settings declare as quantized
// (settings.h). inputs_from_texts and inputs_from_json call this function.
bool inputs_quantize(const opened_model *opened, const char *method, call_inputs *inputs);
void inputs_release(call_inputs *inputs);

#endif
