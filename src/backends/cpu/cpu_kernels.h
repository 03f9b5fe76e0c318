// SPDX-License-Identifier: BSD-2-Clause
// The CPU's kernels for single operators: they replace the portable reference where speed matters.
#ifndef TAPER_BACKENDS_CPU_KERNELS_H
#define TAPER_BACKENDS_CPU_KERNELS_H

#include "ops/backend.h"

// The backend's kernel for a row of the operator list; NULL: the row's own.
taper_kernel taper_cpu_kernel(taper_device *device, const taper_op *op);

#endif
