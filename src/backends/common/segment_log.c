// SPDX-License-Identifier: BSD-2-Clause
// Lines in the log about a segment: see segment_log.h.
#include "backends/common/segment_log.h"

#include <stdio.h>
#include <string.h>

void taper_segment_log(const taper_segment *segment, const taper_run *run, taper_log_level level, const char *name,
                       const char *format, va_list arguments)
{
    char line[512];
    const char *op = segment->schema->text;
    if (run->log == NULL) {
        return;
    }
    size_t used = (size_t)snprintf(line, sizeof line, "%s: %.*s: ", name, (int)strcspn(op, "("), op);
    used = used < sizeof line / 2 ? used : sizeof line / 2;
    const int more = vsnprintf(line + used, sizeof line - used - 1, format, arguments);
    used += more < 0 ? 0 : taper_min_size((size_t)more, sizeof line - used - 2);
    line[used++] = '\n';
    run->log(run->log_user, level, line, used);
}
