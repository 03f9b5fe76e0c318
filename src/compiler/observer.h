// SPDX-License-Identifier: BSD-2-Clause
// Observers record a float value over calibration runs and compute the range that its integers shall cover. Kinds and
// arithmetic, including single precision, are the same as in torch.ao.quantization 1.13, so that equal inputs give
// equal scales. The simple kinds are in observer.c, the others in observer_histogram.c.
#ifndef TAPER_COMPILER_OBSERVER_H
#define TAPER_COMPILER_OBSERVER_H

#include <taper/taper_compile.h>

#include "base/memory.h"
#include "base/status.h"

enum { TAPER_HISTOGRAM_BINS = 2048 };

typedef struct taper_observer {
    taper_observer_kind kind;
    bool seen;
    float low, high;  // lower and upper end of the histogram
    float *histogram; // counts of the TAPER_HISTOGRAM_BINS bins, or NULL before the first value
} taper_observer;

typedef struct taper_qparams {
    double scale; // difference of the reals that two successive integers represent, rounded to float32
    int64_t zero_point;
} taper_qparams;

// Adds `count` elements of the observed value. If one of them is not finite, *finite becomes false and no element is
// added.
TAPER_MUST_USE taper_status taper_observer_add(taper_observer *observer, const taper_allocator *allocator,
                                               const float *x, size_t count, bool *finite, taper_error *error);
// Computes the range to cover. percentile: percentage of the elements that the range must contain, 0 to 100; only for
// TAPER_OBSERVER_PERCENTILE.
void taper_observer_range(const taper_observer *observer, double percentile, float *low, float *high);
void taper_observer_free(taper_observer *observer, const taper_allocator *allocator);

// Returns the scale and zero point of quint8 that cover a range.
taper_qparams taper_qparams_of(float low, float high);

// ---- observer_histogram.c
TAPER_MUST_USE taper_status taper_histogram_add(taper_observer *observer, const taper_allocator *allocator,
                                                const float *x, size_t count, float low, float high,
                                                taper_error *error);
// Finds the range whose division into 256 steps has the smallest squared error.
void taper_histogram_search(const taper_observer *observer, float *low, float *high);
void taper_histogram_percentile(const taper_observer *observer, double percentile, float *low, float *high);

#endif
