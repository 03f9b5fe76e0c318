// SPDX-License-Identifier: BSD-2-Clause
// Windows of pooling operators, regular and adaptive ones: see pool.c.
#ifndef TAPER_OPS_POOL_H
#define TAPER_OPS_POOL_H

#include "ops/engine/volume.h"

typedef struct taper_pool_axis {
    int64_t input, output;
    int64_t kernel, stride, padding, dilation;
    bool adaptive; // windows are the output's share of the input
} taper_pool_axis;

// The part of a window that lies in the input: positions first, first + step, … A single position has step 1: the next
// one's address might not exist.
typedef struct taper_pool_window {
    int64_t first, taps, step;
    int64_t padded; // how many positions lie in the input with its padding (dilation 1 only)
} taper_pool_window;

typedef struct taper_pooling {
    size_t spatial;
    taper_pool_axis axis[3]; // depth, height, width
    int64_t size[3];         // of the output
} taper_pooling;

// Reads kernel_size, stride, padding and dilation (at, at + 1, …; dilation only where there is one), then ceil_mode,
// and computes the output's size for x.
TAPER_MUST_USE taper_status taper_pooling_read(const taper_call *call, size_t at, bool has_dilation,
                                               const taper_tensor *x, size_t spatial, taper_pooling *pooling);
// As above for adaptive pools: output_size is argument `at`.
TAPER_MUST_USE taper_status taper_pooling_read_adaptive(const taper_call *call, size_t at, const taper_tensor *x,
                                                        size_t spatial, taper_pooling *pooling);

// The same for a size that is known: depth, height, width.
TAPER_MUST_USE taper_status taper_pooling_adaptive(const taper_call *call, const taper_tensor *x, size_t spatial,
                                                   const int64_t size[3], taper_pooling *pooling);

inline taper_pool_window taper_pool_window_at(const taper_pool_axis *axis, int64_t o)
{
    taper_pool_window window;
    if (axis->adaptive) {
        // floor(o · in / out) without a product that could overflow
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
    window.step = window.taps > 1 ? axis->dilation : 1;
    return window;
}

// At every step of the innermost loop over a window, of which `taps` positions are its own: long windows are charged
// here, the others by who goes from one to the next. False: leave the window.
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

// Adaptive average pooling as result 0: what interpolate calls "area". size: depth, height, width.
TAPER_MUST_USE taper_status taper_pool_area(taper_call *call, const taper_tensor *x, size_t spatial,
                                            const int64_t size[3]);

// Σ x[i] with little rounding error. Leaves when the run is to end.
double taper_sum_f32(taper_run *run, const float *x, int64_t count);

#endif
