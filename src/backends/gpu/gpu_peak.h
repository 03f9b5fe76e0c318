// SPDX-License-Identifier: BSD-2-Clause
// What a device can do at most, measured where dispatches are timed: what these are held against.
#ifndef TAPER_BACKENDS_GPU_PEAK_H
#define TAPER_BACKENDS_GPU_PEAK_H

#include "backends/gpu/gpu_state.h"

// Once; some milliseconds. Under the lock.
TAPER_MUST_USE taper_status taper_gpu_measure_peak(taper_gpu_state *state);

#endif
