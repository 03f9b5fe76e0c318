// SPDX-License-Identifier: BSD-2-Clause
// Fully connected layers whose tensors are bfloat16 or float16: linear_halves.c.
#ifndef TAPER_BACKENDS_CPU_LINEAR_HALVES_H
#define TAPER_BACKENDS_CPU_LINEAR_HALVES_H

#include "ops/nn/linear.h"

// Runs the call if its tensors are halves. Returns TAPER_DECLINED, and writes nothing, if the tensors are not halves,
// or if the call needs more than a product and a bias.
TAPER_MUST_USE taper_status taper_cpu_linear_halves(taper_call *call, const taper_linear_args *args);

#endif
