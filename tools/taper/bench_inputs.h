// SPDX-License-Identifier: BSD-2-Clause
#ifndef TAPER_TOOLS_BENCH_INPUTS_H
#define TAPER_TOOLS_BENCH_INPUTS_H

#include "taper/inputs.h"

// Makes the inputs of --input-dims: float tensors of ones. ';' separates tensors, ',' separates the sizes of one
// tensor. Returns false after reporting a failure.
bool bench_inputs_ones(const opened_model *opened, const char *dims, call_inputs *inputs);

#endif
