// SPDX-License-Identifier: BSD-2-Clause
// What `taper quantize` says of its work: quantize_report.c.
#ifndef TAPER_TOOLS_QUANTIZE_H
#define TAPER_TOOLS_QUANTIZE_H

#include <stdbool.h>

#include <taper/taper_compile.h>

typedef struct quantize_figures {
    const taper_calibrator *calibrator;
    taper_error *error;
    const char *model, *output;
    size_t samples, compared;
    double seconds;
    long peak_kb;
} quantize_figures;

// The layers that lost most, and the whole; everything as JSON to `path`, unless it is NULL. Failures are reported.
bool quantize_report(const quantize_figures *figures, const char *path);

#endif
