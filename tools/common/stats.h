// SPDX-License-Identifier: BSD-2-Clause
// Statistics of measurements.
#ifndef TAPER_TOOLS_STATS_H
#define TAPER_TOOLS_STATS_H

#include <stdbool.h>
#include <stddef.h>

// Returns a percentile, interpolated: for `part` 0.5 the median, for 0.9 the 90th percentile. Returns 0 if there are no
// numbers, or no memory for a sorted copy.
double stats_percentile(const double *numbers, size_t count, double part);
double stats_minimum(const double *numbers, size_t count);
long stats_peak_rss_kb(void); // returns the peak resident memory of this process in KB; 0 if unknown

#endif
