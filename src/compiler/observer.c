// SPDX-License-Identifier: BSD-2-Clause
// Implements the observers of calibration runs that record minima and maxima, or moving averages of these.
#include "compiler/observer.h"

#include <float.h>
#include <math.h>

// Returns true if no element is NaN or infinite. x · 0 is NaN for such elements, so the sum of all x · 0 is NaN too.
// Compilers vectorize this loop.
static bool all_finite(const float *x, size_t count)
{
    float sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum += x[i] * 0.0f;
    }
    return sum == 0.0f;
}

static void find_ends(const float *x, size_t count, float *low, float *high)
{
    float least = x[0], most = x[0];
    for (size_t i = 1; i < count; i++) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    *low = least;
    *high = most;
}

taper_status taper_observer_add(taper_observer *observer, const taper_allocator *allocator, const float *x,
                                size_t count, bool *finite, taper_error *error)
{
    static const float step = 0.01f; // weight of the newest run in a moving average
    *finite = true;
    if (count == 0) {
        return TAPER_OK;
    }
    *finite = all_finite(x, count);
    if (!*finite) {
        return TAPER_OK;
    }
    float low, high;
    find_ends(x, count, &low, &high);
    if (observer->kind == TAPER_OBSERVER_HISTOGRAM || observer->kind == TAPER_OBSERVER_PERCENTILE) {
        return taper_histogram_add(observer, allocator, x, count, low, high, error);
    }
    if (!observer->seen) {
        observer->low = low;
        observer->high = high;
    } else if (observer->kind == TAPER_OBSERVER_MIN_MAX) {
        observer->low = low < observer->low ? low : observer->low;
        observer->high = high > observer->high ? high : observer->high;
    } else {
        observer->low += step * (low - observer->low);
        observer->high += step * (high - observer->high);
    }
    observer->seen = true;
    return TAPER_OK;
}

void taper_observer_range(const taper_observer *observer, double percentile, float *low, float *high)
{
    if (observer->histogram != NULL && observer->kind == TAPER_OBSERVER_HISTOGRAM) {
        taper_histogram_search(observer, low, high);
    } else if (observer->histogram != NULL) {
        taper_histogram_percentile(observer, percentile, low, high);
    } else {
        *low = observer->low;
        *high = observer->high;
    }
}

void taper_observer_free(taper_observer *observer, const taper_allocator *allocator)
{
    taper_free(allocator, observer->histogram, TAPER_HISTOGRAM_BINS * sizeof *observer->histogram);
    observer->histogram = NULL;
}

taper_qparams taper_qparams_of(float low, float high)
{
    const float least = low < 0 ? low : 0.0f, most = high > 0 ? high : 0.0f;
    float scale = (most - least) / 255.0f;
    scale = scale > FLT_EPSILON ? scale : FLT_EPSILON;
    if (!isfinite(scale)) {
        scale = most / 255.0f - least / 255.0f; // most - least would overflow a float
    }
    const float zero = -nearbyintf(least / scale);
    return (taper_qparams){(double)scale, zero < 0 ? 0 : zero > 255 ? 255 : (int64_t)zero};
}
