// SPDX-License-Identifier: BSD-2-Clause
#define _DARWIN_C_SOURCE 1 // needed for ru_maxrss
#include "common/stats.h"

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
    // The figure of /proc (Linux) is preferred, because ru_maxrss includes the peak of the parent process before exec.
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
        peak = usage.ru_maxrss / 1024; // in bytes on macOS, in KB on other systems
#else
        peak = usage.ru_maxrss;
#endif
    }
    return peak;
}
