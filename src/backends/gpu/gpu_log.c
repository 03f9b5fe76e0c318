// SPDX-License-Identifier: BSD-2-Clause
// See gpu_log.h.
#include "backends/gpu/gpu_log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void taper_gpu_say(const taper_segment *segment, const taper_run *run, taper_log_level level, const char *format, ...)
{
    char line[512];
    const char *op = segment->schema->text;
    if (run->log == NULL) {
        return;
    }
    size_t used = (size_t)snprintf(line, sizeof line, "%s: %.*s: ", segment->device->name, (int)strcspn(op, "("), op);
    used = used < sizeof line / 2 ? used : sizeof line / 2;
    va_list arguments;
    va_start(arguments, format);
    const int more = vsnprintf(line + used, sizeof line - used - 1, format, arguments);
    va_end(arguments);
    used += more < 0 ? 0 : taper_min_size((size_t)more, sizeof line - used - 2);
    line[used++] = '\n';
    run->log(run->log_user, level, line, used);
}

taper_status taper_gpu_tell_trouble(const taper_segment *segment, taper_run *run)
{
    run->why = taper_gpu_trouble(((const taper_gpu_state *)segment->device->state)->gpu);
    if (!atomic_load(&segment->device->owner->lost)) {
        taper_gpu_say(segment, run, TAPER_LOG_WARNING, "%s", run->why);
    }
    return TAPER_DEVICE_LOST;
}
