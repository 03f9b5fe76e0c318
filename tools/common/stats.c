// SPDX-License-Identifier: BSD-2-Clause
#define _DARWIN_C_SOURCE 1 // for ru_maxrss
#include "common/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double stats_percentile(const double *numbers, size_t count, double part)
{
    double *sorted = count != 0 ? malloc(count * sizeof *sorted) : NULL;
    if (sorted == NULL) {
        return 0;
    }
    memcpy(sorted, numbers, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_size);
    const double place = part * (double)(count - 1);
    const size_t low = (size_t)place, high = low + 1 < count ? low + 1 : low;
    const double found = sorted[low] + (sorted[high] - sorted[low]) * (place - (double)low);
    free(sorted);
    return found;
}

double stats_minimum(const double *numbers, size_t count)
{
    double least = count != 0 ? numbers[0] : 0;
    for (size_t i = 1; i < count; i++) {
        least = numbers[i] < least ? numbers[i] : least;
    }
    return least;
}

long stats_peak_rss_kb(void)
{
    // Linux's own figure first: ru_maxrss also counts the program that started this one.
    FILE *status = fopen("/proc/self/status", "r");
    char line[256];
    long peak = 0;
    while (status != NULL && peak == 0 && fgets(line, sizeof line, status) != NULL) {
        if (strncmp(line, "VmHWM:", 6) == 0) {
            peak = strtol(line + 6, NULL, 10);
        }
    }
    if (status != NULL) {
        fclose(status);
    }
    struct rusage usage;
    if (peak == 0 && getrusage(RUSAGE_SELF, &usage) == 0) {
#if defined(__APPLE__)
        peak = usage.ru_maxrss / 1024; // bytes there
#else
        peak = usage.ru_maxrss;
#endif
    }
    return peak;
}

static bool are_probabilities(const float *scores, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(scores[i] >= -1e-6f && scores[i] <= 1 + 1e-6f)) {
            return false;
        }
        sum += (double)scores[i];
    }
    return fabs(sum - 1) < 1e-3;
}

void stats_to_probabilities(float *scores, size_t count)
{
    if (count < 2 || are_probabilities(scores, count)) {
        return;
    }
    double largest = -INFINITY, sum = 0;
    for (size_t i = 0; i < count; i++) {
        largest = (double)scores[i] > largest ? (double)scores[i] : largest;
    }
    for (size_t i = 0; i < count; i++) {
        const double e = exp((double)scores[i] - largest);
        sum += isnan(e) ? 0 : e;
    }
    for (size_t i = 0; i < count; i++) {
        scores[i] = (float)(exp((double)scores[i] - largest) / sum);
    }
}

// Whether score a is better; NaN is the worst.
static bool better(float a, float b)
{
    return isnan(b) ? !isnan(a) : a > b;
}

size_t stats_top(const float *scores, size_t count, size_t wanted, size_t *indices)
{
    size_t kept = 0;
    for (size_t i = 0; i < count && wanted != 0; i++) {
        if (kept == wanted && !better(scores[i], scores[indices[kept - 1]])) {
            continue;
        }
        size_t at = kept < wanted ? kept++ : kept - 1;
        while (at > 0 && better(scores[i], scores[indices[at - 1]])) {
            indices[at] = indices[at - 1];
            at--;
        }
        indices[at] = i;
    }
    return kept;
}
