// SPDX-License-Identifier: BSD-2-Clause
// Numbers about measurements and about scores.
#ifndef TAPER_TOOLS_STATS_H
#define TAPER_TOOLS_STATS_H

#include <stdbool.h>
#include <stddef.h>

// Sorts a copy; `part` 0.5 is the median, 0.9 the 90th percentile (interpolated). 0 for no numbers or no memory.
double stats_percentile(const double *numbers, size_t count, double part);
double stats_minimum(const double *numbers, size_t count);
long stats_peak_rss_kb(void); // of this process; 0 when unknown

// Scores that are already probabilities stay; anything else becomes softmax(scores).
void stats_to_probabilities(float *scores, size_t count);
// Indices of the `wanted` largest scores, best first; ties by index. Returns how many there are.
size_t stats_top(const float *scores, size_t count, size_t wanted, size_t *indices);

#endif
