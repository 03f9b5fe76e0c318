// SPDX-License-Identifier: BSD-2-Clause
// Observers: what is remembered of a float value over calibration runs, and the range that integers shall cover. The
// kinds and their arithmetic, single precision included, are those of torch.ao.quantization 1.13, so that the same
// inputs give the same scales there and here. observer.c has the simple ones, observer_histogram.c the others.
#ifndef TAPER_COMPILER_OBSERVER_H
#define TAPER_COMPILER_OBSERVER_H

#include <taper/taper_compile.h>

#include "base/memory.h"
#include "base/status.h"

enum { TAPER_HISTOGRAM_BINS = 2048 };

typedef struct taper_observer {
    taper_observer_kind kind;
    bool seen;
    float low, high;  // the histogram's ends
    float *histogram; // TAPER_HISTOGRAM_BINS counts; NULL: none yet
} taper_observer;

typedef struct taper_qparams {
    double scale; // of a float
    int64_t zero_point;
} taper_qparams;

// More elements of the value. They must be finite: *finite tells, and nothing is added when they are not.
TAPER_MUST_USE taper_status taper_observer_add(taper_observer *observer, const taper_allocator *allocator,
                                               const float *x, size_t count, bool *finite, taper_error *error);
// The range to cover. percentile: of the elements, 0 to 100, for TAPER_OBSERVER_PERCENTILE.
void taper_observer_range(const taper_observer *observer, double percentile, float *low, float *high);
void taper_observer_free(taper_observer *observer, const taper_allocator *allocator);

// Scale and zero point of quint8 for a range.
taper_qparams taper_qparams_of(float low, float high);

// ---- observer_histogram.c
TAPER_MUST_USE taper_status taper_histogram_add(taper_observer *observer, const taper_allocator *allocator,
                                                const float *x, size_t count, float low, float high,
                                                taper_error *error);
// The range whose 256 steps give the least squared error.
void taper_histogram_search(const taper_observer *observer, float *low, float *high);
void taper_histogram_percentile(const taper_observer *observer, double percentile, float *low, float *high);

#endif
