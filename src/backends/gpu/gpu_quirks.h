// SPDX-License-Identifier: BSD-2-Clause
// Decides how a device is used, by its kind and by known faults of its drivers.
#ifndef TAPER_BACKENDS_GPU_QUIRKS_H
#define TAPER_BACKENDS_GPU_QUIRKS_H

#include "backends/gpu/gpu_options.h"
#include "backends/gpu/gpu_state.h"

// Fills the members of the state that say how the device is used.
void taper_gpu_settle(taper_gpu_state *state, const taper_gpu_options *options);

#endif
