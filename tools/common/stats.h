// SPDX-License-Identifier: BSD-2-Clause
// Numbers about measurements.
#ifndef TAPER_TOOLS_STATS_H
#define TAPER_TOOLS_STATS_H

#include <stdbool.h>
#include <stddef.h>

// Sorts a copy; `part` 0.5 is the median, 0.9 the 90th percentile (interpolated). 0 for no numbers or no memory.
double stats_percentile(const double *numbers, size_t count, double part);
double stats_minimum(const double *numbers, size_t count);
long stats_peak_rss_kb(void); // of this process; 0 when unknown

#endif
