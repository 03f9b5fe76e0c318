// SPDX-License-Identifier: BSD-2-Clause
// Log lines of a GPU backend about a segment.
#ifndef TAPER_BACKENDS_GPU_LOG_H
#define TAPER_BACKENDS_GPU_LOG_H

#include "backends/gpu/gpu_state.h"

// Writes one line that starts with the name of the device.
TAPER_COLD void taper_gpu_say(const taper_segment *segment, const taper_run *run, taper_log_level level,
                              const char *format, ...) TAPER_PRINTF(4, 5);
// Logs what failed on the device. Returns TAPER_DEVICE_LOST.
taper_status taper_gpu_tell_trouble(const taper_segment *segment, taper_run *run);

#endif
