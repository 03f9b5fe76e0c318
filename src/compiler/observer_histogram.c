// SPDX-License-Identifier: BSD-2-Clause
// Implements histograms whose range grows with the observed values. PyTorch's HistogramObserver spreads the old counts
// over a grid with 128 times more bins and sums these into the new, wider bins; here the sums are computed from the
// counts directly.
//
// Before PyTorch counts, it truncates both ends of the range to integers. If the ends become equal, which happens for
// small values, it counts over the range of the new values instead. Values beyond a truncated end are not counted.
// Scales in files made by PyTorch come from such histograms, so this code truncates too, except for percentiles.
#include <math.h>
#include <string.h>

#include "compiler/observer.h"

enum { BINS = TAPER_HISTOGRAM_BINS, FINER = 128, STEPS = 256 };

// Counts the elements between low and high in bins of equal width, as torch.histc does.
static void count_into(float *bins, const float *x, size_t count, float low, float high, float least, float most)
{
    if (low == high) {
        low = least;
        high = most;
        if (low == high) {
            low -= 1;
            high += 1;
        }
    }
    memset(bins, 0, BINS * sizeof *bins);
    uint32_t counts[BINS] = {0}; // integers, because floats above 2^24 cannot be incremented by 1
    for (size_t i = 0; i < count; i++) {
        if (x[i] >= low && x[i] <= high) {
            const float at = (x[i] - low) * (float)BINS / (high - low); // NaN if the range overflows
            counts[at >= 0 && at < (float)BINS ? (int)at : BINS - 1]++;
        }
    }
    for (size_t b = 0; b < BINS; b++) {
        bins[b] = (float)counts[b];
    }
}

static float whole(const taper_observer *observer, float end)
{
    return observer->kind == TAPER_OBSERVER_HISTOGRAM ? truncf(end) : end;
}

// Returns the sum of the first `count` entries of the fine grid. The old bins begin at entry `start` of that grid.
static double fine_sum(const float *bins, const double *sums, double count, double start)
{
    const double inside = count - start;
    if (inside <= 0) {
        return 0;
    }
    if (inside >= (double)BINS * FINER) {
        return sums[BINS];
    }
    const size_t bin = (size_t)(inside / FINER);
    return sums[bin] + (inside - (double)(bin * FINER)) * (double)bins[bin];
}

// Adds the old bins to the new bins. A new bin has the width of `coarser` entries of the fine grid.
static void merge(float *bins, const float *old, double coarser, double start)
{
    double sums[BINS + 1] = {0};
    for (size_t b = 0; b < BINS; b++) {
        sums[b + 1] = sums[b] + (double)old[b] * FINER;
    }
    double before = 0;
    for (size_t b = 0; b < BINS; b++) {
        const double upto = fine_sum(old, sums, (double)(b + 1) * coarser, start);
        bins[b] += (float)((upto - (double)(float)before) / FINER); // PyTorch rounds the previous sums to float
        before = upto;
    }
}

static taper_status start_counting(taper_observer *observer, const taper_allocator *allocator, const float *x,
                                   size_t count, float low, float high, taper_error *error)
{
    if (observer->histogram == NULL) {
        observer->histogram = taper_alloc(allocator, BINS * sizeof *observer->histogram);
        if (observer->histogram == NULL) {
            return taper_fail_memory(error);
        }
    }
    observer->low = low;
    observer->high = high;
    count_into(observer->histogram, x, count, whole(observer, low), whole(observer, high), low, high);
    observer->seen = true;
    return TAPER_OK;
}

taper_status taper_histogram_add(taper_observer *observer, const taper_allocator *allocator, const float *x,
                                 size_t count, float low, float high, taper_error *error)
{
    if (!observer->seen || observer->low == observer->high) {
        return start_counting(observer, allocator, x, count, low, high, error);
    }
    const float all_low = low < observer->low ? low : observer->low;
    float all_high = high > observer->high ? high : observer->high;
    const float fine = (observer->high - observer->low) / (float)(BINS * FINER);
    const float coarser = ceilf((all_high - all_low) / ((float)BINS * fine));
    if (!(coarser < 1e15f)) { // the old range is negligible compared with the new range
        return start_counting(observer, allocator, x, count, low, high, error);
    }
    // Extends only the upper end, because the lower end may be 0 and must remain 0.
    all_high += coarser * ((float)BINS * fine) - (all_high - all_low);
    const float start = nearbyintf((observer->low - all_low) / fine);
    float bins[BINS];
    count_into(bins, x, count, whole(observer, all_low), whole(observer, all_high), low, high);
    if (all_low == observer->low && all_high == observer->high) {
        for (size_t b = 0; b < BINS; b++) {
            bins[b] += observer->histogram[b];
        }
    } else {
        merge(bins, observer->histogram, (double)coarser, (double)start);
    }
    memcpy(observer->histogram, bins, sizeof bins);
    observer->low = all_low;
    observer->high = all_high;
    return TAPER_OK;
}

// ---- the range with the smallest error

static float floor_quotient(float a, float b)
{
    const float rest = fmodf(a, b);
    float quotient = (a - rest) / b;
    quotient -= rest != 0 && (b < 0) != (rest < 0) ? 1.0f : 0.0f;
    const float down = floorf(quotient);
    return quotient - down > 0.5f ? down + 1 : down;
}

static float step_of(float at, float width)
{
    const float step = floor_quotient(at, width);
    return step < 0 ? 0 : step > STEPS - 1 ? STEPS - 1 : step;
}

// Returns the integral of the squared error of uniformly distributed elements from begin to end, relative to the centre
// of a quantization step.
static float squared(float begin, float end, float density)
{
    return density * ((end * end * end - begin * begin * begin) / 3);
}

// Returns the squared error that results if 256 steps cover the bins from first to last.
static float search_error(const taper_observer *observer, int first, int last)
{
    const double width = ((double)observer->high - (double)observer->low) / BINS;
    const double step = width * (last - first + 1) / STEPS;
    if (step == 0) {
        return 0;
    }
    const float w = (float)width, s = (float)step, half = (float)(step / 2);
    double sum = 0;
    for (int b = 0; b < BINS; b++) {
        const float begin = (float)(b - first) * w, end = begin + w;
        const float of_begin = step_of(begin, s), of_end = step_of(end, s);
        const float density = observer->histogram[b] / w;
        float error = squared(begin - (of_begin + 0.5f) * s, half, density);
        error += (of_end - of_begin - 1) * squared(-half, half, density);
        error += squared(-half, end - (of_end * s + half), density);
        sum += (double)error;
    }
    return (float)sum;
}

void taper_histogram_search(const taper_observer *observer, float *low, float *high)
{
    static const double grain = 1e-5;
    float upto[BINS];
    double total = 0, alpha = 0, beta = 1;
    for (int b = 0; b < BINS; b++) {
        total += (double)observer->histogram[b];
        upto[b] = (float)total;
    }
    total = (double)(float)total;
    int first = 0, last = BINS - 1;
    float least = INFINITY;
    while (alpha < beta) {
        const double next_alpha = alpha + grain, next_beta = beta - grain;
        int l = first, r = last, next_first = first, next_last = last;
        while (l < last && upto[l] < (float)(next_alpha * total)) {
            l++;
        }
        while (r > first && upto[r] > (float)(next_beta * total)) {
            r--;
        }
        if (l - first > last - r) {
            next_first = l;
            alpha = next_alpha;
        } else {
            next_last = r;
            beta = next_beta;
        }
        if (next_first == first && next_last == last) {
            continue;
        }
        const float error = search_error(observer, next_first, next_last);
        if (error > least) {
            break;
        }
        least = error;
        first = next_first;
        last = next_last;
    }
    const float width = (observer->high - observer->low) / (float)BINS;
    *low = observer->low + width * (float)first;
    *high = observer->low + width * (float)(last + 1);
}

void taper_histogram_percentile(const taper_observer *observer, double percentile, float *low, float *high)
{
    double total = 0;
    for (int b = 0; b < BINS; b++) {
        total += (double)observer->histogram[b];
    }
    const double cut = total * (1 - percentile / 100) / 2; // number of elements to leave out at each end of the range
    double below = 0, above = 0;
    int first = 0, last = BINS - 1;
    while (first < last && below + (double)observer->histogram[first] <= cut) {
        below += (double)observer->histogram[first++];
    }
    while (last > first && above + (double)observer->histogram[last] <= cut) {
        above += (double)observer->histogram[last--];
    }
    const float width = (observer->high - observer->low) / (float)BINS;
    *low = observer->low + width * (float)first;
    *high = observer->low + width * (float)(last + 1);
}
