// SPDX-License-Identifier: BSD-2-Clause
#ifndef TAPER_TOOLS_BENCH_INPUTS_H
#define TAPER_TOOLS_BENCH_INPUTS_H

#include "taper/inputs.h"

// --input-dims: float tensors of ones; ';' separates tensors, ',' their sizes.
bool bench_inputs_ones(const opened_model *opened, const char *dims, call_inputs *inputs);

#endif
