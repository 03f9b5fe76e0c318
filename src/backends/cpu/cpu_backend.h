// SPDX-License-Identifier: BSD-2-Clause
// The CPU backend.
#ifndef TAPER_BACKENDS_CPU_CPU_H
#define TAPER_BACKENDS_CPU_CPU_H

#include "ops/backend.h"

extern const taper_backend taper_backend_cpu;

#endif
