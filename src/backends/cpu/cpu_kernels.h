// SPDX-License-Identifier: BSD-2-Clause
// The CPU's kernels for single operators. They replace the portable references of operators that matter for speed.
#ifndef TAPER_BACKENDS_CPU_KERNELS_H
#define TAPER_BACKENDS_CPU_KERNELS_H

#include "ops/backend.h"

// Returns the backend's kernel for an operator, or NULL if the operator's reference must run.
taper_kernel taper_cpu_kernel(taper_device *device, const taper_op *op);

#endif
