// SPDX-License-Identifier: BSD-2-Clause
// Log lines of a GPU backend: see gpu_log.h.
#include "backends/gpu/gpu_log.h"

#include "backends/common/segment_log.h"

void taper_gpu_say(const taper_segment *segment, const taper_run *run, taper_log_level level, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    taper_segment_log(segment, run, level, segment->device->name, format, arguments);
    va_end(arguments);
}

taper_status taper_gpu_tell_trouble(const taper_segment *segment, taper_run *run)
{
    run->why = taper_gpu_trouble(((const taper_gpu_state *)segment->device->state)->gpu);
    if (!atomic_load(&segment->device->owner->lost)) {
        taper_gpu_say(segment, run, TAPER_LOG_WARNING, "%s", run->why);
    }
    return TAPER_DEVICE_LOST;
}
