// SPDX-License-Identifier: BSD-2-Clause
// Compares Winograd's convolution with direct sums. The convolution transforms inputs, multiplies in double precision,
// and transforms outputs. Covers tiles at edges, partial tiles, and the effect of infinities and NaNs.
#include <math.h>
#include <stdio.h>

#include "bench.h"
#include "check.h"
#include "ops/kernels/kernel_select.h"

enum { SIDE = TAPER_WINOGRAD_SIDE, POSITIONS = TAPER_WINOGRAD_POSITIONS };

typedef struct tile {
    const taper_winograd_entry *entry;
    size_t side, sets, rows, columns; // side: inputs on a side of the tile; rows, columns: number of the tile's outputs
    size_t in, out;                   // numbers of input and output channels
    const float *x[POSITIONS];        // inputs at each position of the tile; NULL for padding
    float *g, *u;                     // g: weights, [tap][out][in]; u: transformed weights, [position][out][in]
    float *v, *m;                     // v: transformed inputs, [position][in]; m: products, [position][out]
    size_t v_stride, m_stride;        // number of floats between two positions in v and in m
} tile;

static tile make(const taper_winograd_entry *entry, size_t rows, size_t columns, size_t in, size_t out)
{
    tile t = {.entry = entry,
              .side = taper_winograd_side(entry),
              .sets = taper_winograd_sets(entry),
              .rows = rows,
              .columns = columns,
              .in = in,
              .out = out};
    const size_t positions = t.side * t.side, pairs = in * out;
    for (size_t i = 0; i < positions; i++) {
        float *x = check_floats(in, check_below(4) == 0 ? CHECK_HEAD : CHECK_TAIL, 0);
        check_fill(x, in, -1, 1);
        t.x[i] = x;
    }
    t.v_stride = in + check_below(5);
    t.m_stride = out + check_below(5);
    t.g = check_floats(9 * pairs, CHECK_TAIL, 0);
    t.u = check_floats(t.sets * t.sets * pairs, CHECK_TAIL, 0);
    t.v = check_floats((positions - 1) * t.v_stride + in, CHECK_TAIL, 0);
    t.m = check_floats((positions - 1) * t.m_stride + out, CHECK_TAIL, 0);
    check_fill(t.g, 9 * pairs, -1, 1);
    return t;
}

static void multiply(const tile *t)
{
    const size_t positions = t->side * t->side;
    t->entry->weights(t->in * t->out, t->g, t->in * t->out, t->u, t->in * t->out);
    t->entry->input(t->rows, t->columns, t->in, t->x, t->v, t->v_stride);
    for (size_t p = 0; p < positions; p++) {
        const bool exists =
            taper_winograd_has(t->entry, t->rows, p / t->side) && taper_winograd_has(t->entry, t->columns, p % t->side);
        const size_t set = taper_winograd_set(t->entry, p);
        for (size_t n = 0; n < t->out; n++) {
            if (!exists) { // a kernel must not read this position; if it does, its result is NaN
                t->m[p * t->m_stride + n] = NAN;
                continue;
            }
            double sum = 0;
            for (size_t k = 0; k < t->in; k++)
                sum += (double)t->v[p * t->v_stride + k] * (double)t->u[(set * t->out + n) * t->in + k];
            t->m[p * t->m_stride + n] = (float)sum;
        }
    }
}

// Returns the exact sum at output (y, x) of channel n. *magnitude is the sum of magnitudes.
static double expected(const tile *t, size_t y, size_t x, size_t n, double *magnitude)
{
    double sum = 0;
    *magnitude = 0;
    for (size_t tap = 0; tap < 9; tap++) {
        const float *from = t->x[(y * t->entry->stride + tap / 3) * t->side + x * t->entry->stride + tap % 3];
        for (size_t k = 0; k < t->in; k++) {
            const double product = (double)from[k] * (double)t->g[(tap * t->out + n) * t->in + k];
            sum += product;
            *magnitude += fabs(product);
        }
    }
    return sum;
}

// Returns a number of outputs for a side of a tile: the full number, or fewer, as in a tile at the edge of an image.
static size_t some_outputs(const taper_winograd_entry *entry)
{
    return entry->outputs == 4 ? 4 - check_below(3) : entry->outputs;
}

static void one_tile(const taper_winograd_entry *entry, size_t rows, size_t columns, size_t in, size_t out)
{
    const tile t = make(entry, rows, columns, in, out);
    const size_t pixel = out + check_below(3), row = columns * pixel + check_below(3);
    const size_t count = (rows - 1) * row + (columns - 1) * pixel + out;
    float *y = check_floats(count, CHECK_TAIL, 0), *bias = check_floats(out, CHECK_TAIL, 0);
    float *add = check_below(2) == 0 ? check_floats(count, CHECK_TAIL, 0) : NULL;
    check_fill(bias, out, -1, 1);
    for (size_t i = 0; i < count; i++)
        y[i] = 12345.0f;
    if (add != NULL)
        check_fill(add, count, -1, 1);
    const bool clamped = check_below(2) == 0;
    const taper_winograd_output o = {.bias = bias,
                                     .y = y,
                                     .add = add,
                                     .row = row,
                                     .pixel = pixel,
                                     .rows = 1 + check_below(rows),
                                     .columns = 1 + check_below(columns),
                                     .min = clamped ? 0 : -INFINITY,
                                     .max = clamped ? 6 : INFINITY};
    multiply(&t);
    check_that(!entry->output(rows, columns, out, t.m, t.m_stride, &o), "%zu x %zu: finite results are told to be none",
               in, out);
    for (size_t at = 0; at < count && !check_failed(); at++) {
        const size_t i = at / row, j = at % row / pixel, n = at % row % pixel;
        if (i >= o.rows || j >= o.columns || n >= out) {
            check_that(y[at] == 12345.0f, "wrote at (%zu, %zu), channel %zu of %zu", i, j, n, out);
            continue;
        }
        double magnitude;
        double want = expected(&t, i, j, n, &magnitude) + (double)bias[n] + (add != NULL ? (double)add[at] : 0);
        want = fmin(fmax(want, (double)o.min), (double)o.max);
        // Intermediate sums of a transform are several times larger than the result.
        const float bound = (float)((entry->outputs == 4 ? 16 : 4) * 0x1p-23 * (magnitude + 2));
        check_that(check_close(y[at], (float)want, bound), "%zu x %zu: (%zu, %zu, %zu) is %g, not %g", in, out, i, j, n,
                   (double)y[at], want);
    }
    check_memory_reset();
}

// Returns true if output (i, j) uses the input `at`. Only such outputs may be non-finite.
static bool reached(const tile *t, size_t at, size_t i, size_t j)
{
    const size_t y = at / t->side, x = at % t->side, step = t->entry->stride;
    return y >= i * step && y < i * step + 3 && x >= j * step && x < j * step + 3;
}

// Sets one input to a non-finite number. output() must report it, even if the clamp hides it or only one output uses
// it.
static void spread(const taper_winograd_entry *entry, size_t rows, size_t columns, size_t at, float number)
{
    const size_t channels = entry->lanes + 1, special = check_below(channels);
    const tile t = make(entry, rows, columns, channels, channels);
    float *y = check_floats(16 * channels, CHECK_TAIL, 0), *bias = check_floats(channels, CHECK_TAIL, 0);
    check_fill(bias, channels, -1, 1);
    ((float *)(uintptr_t)t.x[at])[special] = number;
    multiply(&t);
    taper_winograd_output o = {.bias = bias,
                               .y = y,
                               .row = 4 * channels,
                               .pixel = channels,
                               .rows = rows,
                               .columns = columns,
                               .min = 0,
                               .max = 6};
    const bool told = entry->output(rows, columns, channels, t.m, t.m_stride, &o);
    check_that(told || entry->stride == 2, "%g at input %zu is not told", (double)number, at);
    o.min = -INFINITY;
    o.max = INFINITY;
    for (size_t i = 0; !told && entry->output(rows, columns, channels, t.m, t.m_stride, &o) == told && i < rows; i++) {
        for (size_t j = 0; j < columns; j++) {
            const bool finite = isfinite(y[i * o.row + j * o.pixel]) != 0;
            check_that(finite != reached(&t, at, i, j), "%g at input %zu, not told: output (%zu, %zu)", (double)number,
                       at, i, j);
        }
    }
    check_memory_reset();
}

typedef struct job {
    const tile *tile;
    const taper_winograd_output *o;
} job;

static void bench_input(void *argument)
{
    const tile *t = ((job *)argument)->tile;
    t->entry->input(t->rows, t->columns, t->in, t->x, t->v, t->v_stride);
}

static void bench_output(void *argument)
{
    const job *j = argument;
    (void)j->tile->entry->output(j->tile->rows, j->tile->columns, j->tile->out, j->tile->m, j->tile->m_stride, j->o);
}

static void speeds(const taper_winograd_entry *entry, size_t outputs)
{
    const size_t channels = 256;
    const tile t = make(entry, outputs, outputs, channels, channels);
    float *y = check_floats(16 * channels, CHECK_TAIL, 0), *bias = check_floats(channels, CHECK_TAIL, 0);
    check_fill(bias, channels, -1, 1);
    check_fill(t.m, (t.side * t.side - 1) * t.m_stride + channels, -1, 1);
    const taper_winograd_output o = {.bias = bias,
                                     .y = y,
                                     .row = 4 * channels,
                                     .pixel = channels,
                                     .rows = outputs,
                                     .columns = outputs,
                                     .min = -INFINITY,
                                     .max = INFINITY};
    job j = {&t, &o};
    const double share = (double)channels / entry->lanes;
    printf("%-12s %zu outputs, ns of a tile and a vector: input %6.1f, output %6.1f\n", entry->name, outputs,
           1e9 * bench_best(bench_input, &j, 5, 0.01) / share, 1e9 * bench_best(bench_output, &j, 5, 0.01) / share);
    check_memory_reset();
}

void check_winograd_f32(bool benchmark)
{
    for (size_t index = 0; taper_winograd_f32_entry(index) != NULL; index++) {
        const taper_winograd_entry *entry = taper_winograd_f32_entry(index);
        if ((entry->cpu & ~check_cpu()) != 0)
            continue;
        if (benchmark) {
            for (size_t outputs = entry->outputs; outputs >= 2; outputs--)
                speeds(entry, outputs);
            continue;
        }
        check_begin("winograd_f32", entry->name);
        for (size_t n = entry->lanes; n <= 2 * entry->lanes + 3; n++) {
            for (int turn = 0; turn < 12; turn++)
                one_tile(entry, some_outputs(entry), some_outputs(entry), entry->lanes + check_below(2 * entry->lanes),
                         n);
        }
        for (size_t shape = 0; shape < (entry->outputs == 4 ? 9 : 1); shape++) {
            const size_t rows = entry->outputs - shape / 3, columns = entry->outputs - shape % 3;
            const size_t side = taper_winograd_side(entry), in_row = (columns - 1) * entry->stride + 3;
            for (size_t i = 0; i < ((rows - 1) * entry->stride + 3) * in_row; i++) {
                const size_t at = i / in_row * side + i % in_row;
                spread(entry, rows, columns, at, NAN);
                spread(entry, rows, columns, at, INFINITY);
                spread(entry, rows, columns, at, -INFINITY);
            }
        }
    }
}
