// SPDX-License-Identifier: BSD-2-Clause
// The windows of pooling operators, for regular and adaptive pools (pool.c).
#ifndef TAPER_OPS_POOL_H
#define TAPER_OPS_POOL_H

#include "ops/engine/volume.h"

typedef struct taper_pool_axis {
    int64_t input, output;
    int64_t kernel, stride, padding, dilation;
    bool adaptive; // true if the windows divide the input among the outputs
} taper_pool_axis;

// The part of a window that is inside the input: the positions first, first + step, …
typedef struct taper_pool_window {
    int64_t first, taps, step;
    int64_t padded; // number of positions in the input with its padding (only for dilation 1)
} taper_pool_window;

typedef struct taper_pooling {
    size_t spatial;
    taper_pool_axis axis[3]; // axes in the order depth, height, width
    int64_t size[3];         // sizes of the output: depth, height, width
} taper_pooling;

// Reads kernel_size, stride and padding from argument `at` on, then dilation if has_dilation is set, then ceil_mode.
// Computes the output's sizes for x.
TAPER_MUST_USE taper_status taper_pooling_read(const taper_call *call, size_t at, bool has_dilation,
                                               const taper_tensor *x, size_t spatial, taper_pooling *pooling);
// Does what taper_pooling_read does for adaptive pools, whose output_size is argument `at`.
TAPER_MUST_USE taper_status taper_pooling_read_adaptive(const taper_call *call, size_t at, const taper_tensor *x,
                                                        size_t spatial, taper_pooling *pooling);

// Does what taper_pooling_read does for an adaptive pool whose output size is known (depth, height, width).
TAPER_MUST_USE taper_status taper_pooling_adaptive(const taper_call *call, const taper_tensor *x, size_t spatial,
                                                   const int64_t size[3], taper_pooling *pooling);

inline taper_pool_window taper_pool_window_at(const taper_pool_axis *axis, int64_t o)
{
    taper_pool_window window;
    if (axis->adaptive) {
        // Computes floor(o · in / out) without a product that could overflow.
        const int64_t in = axis->input, out = axis->output;
        window.first = o / out * in + o % out * in / out;
        const int64_t next = o + 1;
        const int64_t end = next / out * in + (next % out * in + out - 1) / out;
        window.taps = window.padded = end - window.first;
        window.step = 1;
        return window;
    }
    int64_t first = o * axis->stride - axis->padding;
    int64_t kernel = axis->kernel;
    window.padded = axis->input + axis->padding - first;
    window.padded = kernel < window.padded ? kernel : window.padded;
    if (first < 0) {
        const int64_t skipped = (-first + axis->dilation - 1) / axis->dilation;
        first += skipped * axis->dilation;
        kernel -= skipped;
    }
    const int64_t room = first < axis->input ? (axis->input - first + axis->dilation - 1) / axis->dilation : 0;
    window.first = first;
    window.taps = kernel < room ? kernel : room;
    window.taps = window.taps > 0 ? window.taps : 0;
    window.step = axis->dilation;
    return window;
}

// Charges the work of a window of more than TAPER_LONG_WINDOW positions to the run. Call this in each step of the
// innermost loop over a window of `window` positions, for step k of taps. For shorter windows the loop over windows
// charges the run, with taper_pool_work. Returns false if the loop must stop.
enum { TAPER_LONG_WINDOW = 4096 };
static inline bool taper_pool_goes_on(taper_run *run, int64_t window, int64_t k, int64_t taps, int64_t channels)
{
    return window <= TAPER_LONG_WINDOW || k % TAPER_LONG_WINDOW != 0 ||
           taper_run_goes_on(run, (uint64_t)(taper_min_i64(taps - k, TAPER_LONG_WINDOW) * channels) * 4);
}
static inline uint64_t taper_pool_work(int64_t window, int64_t channels)
{
    return (uint64_t)(taper_min_i64(window, TAPER_LONG_WINDOW) * channels) * 2 + 20;
}

// Sets result 0 to the adaptive average pooling of x, which is interpolate's mode "area". size is depth, height, width.
TAPER_MUST_USE taper_status taper_pool_area(taper_call *call, const taper_tensor *x, size_t spatial,
                                            const int64_t size[3]);

// Returns Σ x[i] with a small rounding error. It stops early if the run must end.
double taper_sum_f32(taper_run *run, const float *x, int64_t count);

#endif
