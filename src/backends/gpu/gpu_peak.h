// SPDX-License-Identifier: BSD-2-Clause
// Measures the peak performance of a device if dispatches are timed, so that their times can be compared with the peak.
#ifndef TAPER_BACKENDS_GPU_PEAK_H
#define TAPER_BACKENDS_GPU_PEAK_H

#include "backends/gpu/gpu_state.h"

// Measures the peak once per device, which takes some milliseconds. The caller holds the lock.
TAPER_MUST_USE taper_status taper_gpu_measure_peak(taper_gpu_state *state);

#endif
