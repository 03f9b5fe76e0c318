// SPDX-License-Identifier: BSD-2-Clause
// The CPU backend, as the runtime and the compiler see it (ops/backend.h).
#include "backends/cpu/cpu_backend.h"

#include "backends/cpu/cpu_kernels.h"
#include "backends/cpu/fusion.h"

const taper_backend taper_backend_cpu = {.struct_size = sizeof taper_backend_cpu,
                                         .name = "cpu",
                                         .kind = TAPER_DEVICE_CPU,
                                         .claim = taper_cpu_claim,
                                         .plan = taper_cpu_plan,
                                         .run = taper_cpu_run,
                                         .kernel = taper_cpu_kernel};
