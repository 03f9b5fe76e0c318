// SPDX-License-Identifier: BSD-2-Clause
// What was likely wrong with the inputs of a run that failed: found by running again with what people forget.
#ifndef TAPER_TOOLS_INPUT_ADVICE_H
#define TAPER_TOOLS_INPUT_ADVICE_H

#include "taper/inputs.h"

// As model_run; when the model refuses the inputs and would take them with one change to one tensor (a batch dimension,
// channels before the sides, float32), the last line on stderr says so.
bool inputs_run(const opened_model *opened, const char *method, const call_inputs *inputs, taper_value **result);

#endif
