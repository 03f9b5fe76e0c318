// SPDX-License-Identifier: BSD-2-Clause
// How a device is used: by what it is, and by what its drivers are known to do wrong.
#ifndef TAPER_BACKENDS_GPU_QUIRKS_H
#define TAPER_BACKENDS_GPU_QUIRKS_H

#include "backends/gpu/gpu_options.h"
#include "backends/gpu/gpu_state.h"

// Fills the settings of the state.
void taper_gpu_settle(taper_gpu_state *state, const taper_gpu_options *options);

#endif
