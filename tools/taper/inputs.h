// SPDX-License-Identifier: BSD-2-Clause
// The inputs of a call, from the command line, from a list of JSON values or from the model's own bundled samples.
#ifndef TAPER_TOOLS_INPUTS_H
#define TAPER_TOOLS_INPUTS_H

#include "common/args.h"
#include "common/json_value.h"
#include "taper/opened_model.h"

typedef struct call_inputs {
    taper_value **values;
    size_t count;
} call_inputs;

// method NULL: forward. Failures are reported and leave nothing behind.
bool inputs_from_texts(const opened_model *opened, const char *method, const arg_texts *texts, call_inputs *inputs);
// `items` is a JSON array; `folder` is where its files may lie (NULL: only the working folder); `call` numbers the
// reports.
bool inputs_from_json(const opened_model *opened, const char *method, const json_value *items, const char *folder,
                      size_t call, call_inputs *inputs);
bool inputs_from_bundle(const opened_model *opened, const char *method, size_t index, call_inputs *inputs);
// The bundled input that a call without inputs has: number 0, which is said on stderr, where the method needs inputs
// and the model carries some; -1 otherwise. A verb whose options give inputs does not ask.
long inputs_default(const opened_model *opened, const char *method);
// Float tensors become quantized ones where the model says that forward takes such (settings.h). The two functions that
// read what the user wrote do it.
bool inputs_quantize(const opened_model *opened, const char *method, call_inputs *inputs);
void inputs_release(call_inputs *inputs);

#endif
