// SPDX-License-Identifier: BSD-2-Clause
// The CPU backend: operators that replace the portable reference where speed matters.
#ifndef TAPER_BACKENDS_CPU_CPU_H
#define TAPER_BACKENDS_CPU_CPU_H

#include "ops/backend.h"

// The backend's kernel for a row of the operator list; NULL: the row's own.
taper_kernel taper_cpu_kernel(taper_device *device, const taper_op *op);
extern const taper_backend taper_backend_cpu;

#endif
