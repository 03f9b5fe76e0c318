// SPDX-License-Identifier: BSD-2-Clause
// Lines in the program's log about a segment.
#ifndef TAPER_BACKENDS_SEGMENT_LOG_H
#define TAPER_BACKENDS_SEGMENT_LOG_H

#include <stdarg.h>

#include "ops/backend.h"
#include "ops/call/call.h"

// Writes one line to the log: name (of the device or the driver), the first operator of the segment, and the text. Does
// nothing if the run has no log. A long line is cut.
TAPER_COLD void taper_segment_log(const taper_segment *segment, const taper_run *run, taper_log_level level,
                                  const char *name, const char *format, va_list arguments);

#endif
