// SPDX-License-Identifier: BSD-2-Clause
// Runs a method. If the method fails, explains what was probably wrong with the method's inputs.
#ifndef TAPER_TOOLS_INPUT_ADVICE_H
#define TAPER_TOOLS_INPUT_ADVICE_H

#include "taper/inputs.h"

// Works like model_run. If the model refuses the inputs, the last line on stderr is the advice of taper_session_advise.
bool inputs_run(const opened_model *opened, const char *method, const call_inputs *inputs, taper_value **result);

#endif
