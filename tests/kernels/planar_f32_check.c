// SPDX-License-Identifier: BSD-2-Clause
// Compares convolution of planes with direct sums: blocks of every number of outputs, rows that fill vectors and rows
// that do not, and any offset. Nothing may be written after the last output. NaN and infinity must be kept.
#include <math.h>
#include <stdio.h>

#include "bench.h"
#include "check.h"
#include "ops/kernels/kernel_select.h"

enum { MOST_TAPS = 12, SPREAD = 40 };

static void one(const taper_planar_entry *entry, size_t outputs, size_t inputs, size_t taps, size_t count)
{
    size_t offsets[MOST_TAPS];
    for (size_t i = 0; i < taps; i++)
        offsets[i] = check_below(SPREAD);
    const size_t plane = SPREAD + count + TAPER_PLANAR_SLACK, y_plane = count + check_below(4);
    const size_t floats = (inputs - 1) * plane + SPREAD + count + TAPER_PLANAR_SLACK;
    float *x = check_floats(floats, CHECK_TAIL, 0), *w = check_floats(outputs * (1 + inputs * taps), CHECK_TAIL, 0);
    float *y = check_floats((outputs - 1) * y_plane + count, CHECK_TAIL, 0);
    check_fill(x, floats, -1, 1);
    check_fill(w, outputs * (1 + inputs * taps), -1, 1);
    if (check_below(8) == 0)
        x[check_below(SPREAD + count)] = check_below(2) == 0 ? NAN : INFINITY;
    for (size_t i = 0; i < (outputs - 1) * y_plane + count; i++)
        y[i] = 12345.0f;
    const bool clamped = check_below(2) == 0;
    const taper_planar p = {.inputs = inputs,
                            .taps = taps,
                            .outputs = outputs,
                            .x = x,
                            .x_plane = plane,
                            .offsets = offsets,
                            .w = w,
                            .y = y,
                            .y_plane = y_plane,
                            .min = clamped ? -0.5f : -INFINITY,
                            .max = clamped ? 0.5f : INFINITY};
    entry->run(&p, count);
    for (size_t o = 0; o < outputs && !check_failed(); o++) {
        for (size_t at = 0; at < y_plane && o * y_plane + at < (outputs - 1) * y_plane + count; at++) {
            const float got = y[o * y_plane + at];
            if (at >= count) {
                check_that(got == 12345.0f, "%zu outputs: wrote behind position %zu", outputs, count);
                continue;
            }
            double sum = (double)w[o], magnitude = fabs(sum);
            for (size_t i = 0; i < inputs * taps; i++) {
                const double product =
                    (double)x[i / taps * plane + offsets[i % taps] + at] * (double)w[outputs * (1 + i) + o];
                sum += product;
                magnitude += fabs(product);
            }
            if (!isnan(sum))
                sum = fmin(fmax(sum, (double)p.min), (double)p.max);
            const float bound = isfinite(magnitude) ? (float)((double)(inputs * taps) * 0x1p-23 * (magnitude + 1)) : 0;
            check_that(check_close(got, (float)sum, bound), "%zu outputs, %zu x %zu: position %zu of %zu is %g, not %g",
                       outputs, inputs, taps, at, count, (double)got, sum);
        }
    }
    check_memory_reset();
}

static void bench_run(void *argument)
{
    const taper_planar *p = argument;
    for (size_t group = 0; group < 8; group++)
        ((const taper_planar_entry *)(const void *)p[1].x)->run(p, 960);
}

static void speeds(const taper_planar_entry *entry)
{
    enum { INPUTS = 8, TAPS = 9, COUNT = 960, PLANE = COUNT + 128 };
    const size_t offsets[TAPS] = {0, 1, 2, 32, 33, 34, 64, 65, 66};
    float *x = check_floats(INPUTS * PLANE, CHECK_TAIL, 0), *w = check_floats(8 * (1 + INPUTS * TAPS), CHECK_TAIL, 0);
    float *y = check_floats(8 * COUNT, CHECK_TAIL, 0);
    check_fill(x, INPUTS * PLANE, -1, 1);
    check_fill(w, 8 * (1 + INPUTS * TAPS), -1, 1);
    for (size_t outputs = 1; outputs <= entry->block; outputs++) {
        const taper_planar p[2] = {{.inputs = INPUTS,
                                    .taps = TAPS,
                                    .outputs = outputs,
                                    .x = x,
                                    .x_plane = PLANE,
                                    .offsets = offsets,
                                    .w = w,
                                    .y = y,
                                    .y_plane = COUNT,
                                    .min = -INFINITY,
                                    .max = INFINITY},
                                   {.x = (const float *)(const void *)entry}};
        const double seconds = bench_best(bench_run, (void *)(uintptr_t)p, 5, 0.01);
        printf("%-16s %zu outputs %6.1f GFLOP/s\n", entry->name, outputs,
               2e-9 * 8 * INPUTS * TAPS * COUNT * (double)outputs / seconds);
    }
    check_memory_reset();
}

void check_planar_f32(bool benchmark)
{
    for (size_t index = 0; taper_planar_f32_entry(index) != NULL; index++) {
        const taper_planar_entry *entry = taper_planar_f32_entry(index);
        if ((entry->cpu & ~check_cpu()) != 0)
            continue;
        if (benchmark) {
            speeds(entry);
            continue;
        }
        check_begin("planar_f32", entry->name);
        for (size_t outputs = 1; outputs <= entry->block; outputs++) {
            for (size_t count = 1; count <= 9 * entry->lanes + 3; count += 1 + check_below(entry->lanes))
                one(entry, outputs, 1 + check_below(5), 1 + check_below(MOST_TAPS), count);
        }
    }
}
