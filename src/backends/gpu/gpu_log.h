// SPDX-License-Identifier: BSD-2-Clause
// The lines that a GPU backend writes about a segment in the program's log.
#ifndef TAPER_BACKENDS_GPU_LOG_H
#define TAPER_BACKENDS_GPU_LOG_H

#include "backends/gpu/gpu_state.h"

// One line, with the device's name in front.
TAPER_COLD void taper_gpu_say(const taper_segment *segment, const taper_run *run, taper_log_level level,
                              const char *format, ...) TAPER_PRINTF(4, 5);
// TAPER_DEVICE_LOST, with why in the log.
taper_status taper_gpu_tell_trouble(const taper_segment *segment, taper_run *run);

#endif
