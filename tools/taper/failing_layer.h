// SPDX-License-Identifier: BSD-2-Clause
// Which layer refused its input.
#ifndef TAPER_TOOLS_FAILING_LAYER_H
#define TAPER_TOOLS_FAILING_LAYER_H

#include "taper/inputs.h"

// The module of the operator that fails, "features.0.0", when the model is run on the inputs as it was saved; false
// where that cannot be told. Nothing is reported.
bool failing_layer(const opened_model *opened, const char *method, const call_inputs *inputs, char *module,
                   size_t size);

#endif
