// SPDX-License-Identifier: BSD-2-Clause
// The report of `taper quantize`, printed by quantize_report.c.
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

// Prints the layers with the largest loss and the total. Writes all figures to `path` as JSON, unless path is NULL.
// Failures are reported.
bool quantize_report(const quantize_figures *figures, const char *path);

#endif
