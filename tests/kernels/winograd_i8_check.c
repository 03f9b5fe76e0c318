// SPDX-License-Identifier: BSD-2-Clause
// Checks Winograd's transforms of quantized numbers: inputs, products and outputs must be bit-exact with sums in 64
// bits. Covers extreme numbers, all rows, remainders of channels and columns, partial tiles, and channels whose sums
// just fit.
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "check.h"
#include "ops/kernels/kernel_select.h"

enum { SIDE = TAPER_WINOGRAD_I8_SIDE, POSITIONS = TAPER_WINOGRAD_I8_POSITIONS, INPUTS = 40 };

typedef struct problem {
    const taper_winograd_i8_entry *entry;
    size_t tiles, in, out, panels; // in, out: number of input channels, and number of output channels
    const uint8_t **x;             // pointers to pixels, [tile][36]
    const int8_t *weights;         // weights, [out][in][tap]
    int16_t *v, *u;
    size_t v_stride, u_stride;
    int32_t *m, *sums, *bias, *middle;
    size_t m_stride, m_row;
    taper_i8_epilogue e;
    int32_t in_zero_point;
} problem;

static uint8_t some_byte(size_t kind)
{
    static const uint8_t ends[] = {0, 255, 128, 127, 1, 129};
    return kind == 0 ? ends[check_below(sizeof ends)] : kind == 1 ? 255 : (uint8_t)check_random();
}

// Makes the weights of each channel: random, extreme, or all of the greatest magnitude for which the sums can still be
// distinguished.
static int8_t *some_weights(size_t in, size_t out, bool extreme)
{
    int8_t *w = check_bytes(out * in * 9, CHECK_TAIL, 0);
    for (size_t n = 0; n < out; n++) {
        const size_t kind = extreme ? 1 + check_below(2) : check_below(4);
        uint64_t magnitudes = 0;
        for (size_t i = 0; i < in * 9; i++) {
            int x = kind == 0 ? (int8_t)some_byte(0) : kind == 1 ? -128 : kind == 2 ? 127 : (int8_t)check_random();
            const uint64_t magnitude = (uint64_t)(x < 0 ? -x : x);
            x = taper_winograd_i8_holds(magnitudes + magnitude) ? x : 0;
            magnitudes += x != 0 ? magnitude : 0;
            w[n * in * 9 + i] = (int8_t)x;
        }
    }
    return w;
}

static void make_numbers(problem *p, bool extreme)
{
    const size_t whole = p->panels * p->entry->nr, kind = extreme ? 2 : check_below(4);
    int32_t *bias = check_bytes(whole * sizeof *bias, CHECK_TAIL, 0);
    float *scale = check_floats(whole, CHECK_TAIL, 0);
    for (size_t n = 0; n < whole; n++) {
        bias[n] = (int32_t)(check_below(8) == 0 ? check_random() : check_random() % 4096 - 2048);
        scale[n] = kind == 0 ? 0.5f / (float)(1u << check_below(16)) : check_uniform(1e-6f, kind == 1 ? 1e-3f : 4e-6f);
    }
    p->bias = bias;
    p->e = (taper_i8_epilogue){.bias = bias, .scale = scale};
    p->e.zero_point = check_below(3) == 0 ? 0 : (int32_t)check_below(256);
    p->e.min = check_below(2) ? p->e.zero_point : 0;
    p->in_zero_point = extreme ? 255 * (int32_t)check_below(2) : check_below(2) ? 0 : (int32_t)check_below(256);
}

// Makes a problem. extreme: true to make the largest possible sums.
static problem make(const taper_winograd_i8_entry *entry, size_t tiles, size_t in, size_t out, bool extreme)
{
    problem p = {.entry = entry, .tiles = tiles, .in = in, .out = out, .panels = (out - 1) / entry->nr + 1};
    const uint8_t *inputs[INPUTS], all = check_below(2) ? 255 : 0;
    for (size_t i = 0; i < INPUTS; i++) {
        const size_t kind = check_below(3);
        uint8_t *x = check_bytes(in, check_below(4) == 0 ? CHECK_HEAD : CHECK_TAIL, 0);
        for (size_t c = 0; c < in; c++)
            x[c] = extreme ? all : some_byte(kind);
        inputs[i] = x;
    }
    p.x = check_bytes(tiles * POSITIONS * sizeof *p.x, CHECK_TAIL, 0);
    for (size_t i = 0; i < tiles * POSITIONS; i++)
        p.x[i] = inputs[check_below(INPUTS)];
    p.weights = some_weights(in, out, extreme);
    make_numbers(&p, extreme);
    p.v_stride = tiles * in + check_below(5);
    p.v = check_bytes(((POSITIONS - 1) * p.v_stride + tiles * in) * sizeof *p.v, CHECK_TAIL, 0);
    p.u_stride = p.panels * in * entry->nr;
    p.u = check_bytes(POSITIONS * p.u_stride * sizeof *p.u, CHECK_TAIL, 0);
    p.m_row = p.panels * entry->nr;
    p.m_stride = tiles * p.m_row + check_below(5);
    p.m = check_bytes(((POSITIONS - 1) * p.m_stride + tiles * p.m_row) * sizeof *p.m, CHECK_TAIL, 0);
    p.sums = check_bytes(p.m_row * sizeof *p.sums, CHECK_TAIL, 0);
    p.middle = check_bytes(p.m_row * sizeof *p.middle, CHECK_TAIL, 0);
    return p;
}

static void multiply(problem *p)
{
    const taper_winograd_i8_entry *entry = p->entry;
    for (size_t panel = 0; panel < p->panels; panel++) {
        const size_t first = panel * entry->nr;
        const taper_winograd_i8_pack_job pack = {.columns = p->out - first < entry->nr ? p->out - first : entry->nr,
                                                 .depth = p->in,
                                                 .n_stride = p->in * 9,
                                                 .k_stride = 9,
                                                 .tap_stride = 1,
                                                 .w = p->weights + first * p->in * 9,
                                                 .u = p->u + panel * p->in * entry->nr,
                                                 .u_stride = p->u_stride,
                                                 .sums = p->sums + first};
        taper_winograd_i8_pack(entry, &pack);
    }
    for (size_t n = 0; n < p->m_row; n++)
        p->middle[n] = taper_winograd_i8_middle(p->sums[n], p->in_zero_point);
    for (size_t t = 0; t < p->tiles; t++)
        entry->input(p->in, p->x + t * POSITIONS, p->in_zero_point, p->v + t * p->in, p->v_stride);
    for (size_t position = 0; position < POSITIONS; position++) {
        taper_winograd_i8_product job = {.rows = p->tiles,
                                         .columns = p->out,
                                         .depth = p->in,
                                         .a = p->v + position * p->v_stride,
                                         .w = p->u + position * p->u_stride,
                                         .c = p->m + position * p->m_stride,
                                         .c_stride = p->m_row,
                                         .parts = 1 + check_below(4)};
        job.next = (const char *)job.w;
        entry->product(&job);
    }
}

static int32_t expected_sum(const problem *p, size_t tile, size_t y, size_t x, size_t n)
{
    int64_t sum = p->bias[n];
    for (size_t tap = 0; tap < 9; tap++) {
        const uint8_t *from = p->x[tile * POSITIONS + (y + tap / 3) * SIDE + x + tap % 3];
        for (size_t k = 0; k < p->in; k++)
            sum += ((int64_t)from[k] - p->in_zero_point) * p->weights[(n * p->in + k) * 9 + tap];
    }
    return (int32_t)(uint32_t)(uint64_t)sum;
}

static void one_of(const taper_winograd_i8_entry *entry, size_t tiles, size_t in, size_t out, bool extreme)
{
    problem p = make(entry, tiles, in, out, extreme);
    const size_t pixel = out + check_below(3), row = 4 * pixel + check_below(3), count = 3 * row + 3 * pixel + out;
    uint8_t *y = check_bytes(count, CHECK_TAIL, 0);
    multiply(&p);
    for (size_t tile = 0; tile < tiles; tile++) {
        const taper_winograd_i8_output o = {.middle = p.middle,
                                            .y = y,
                                            .row = row,
                                            .pixel = pixel,
                                            .rows = 1 + check_below(4),
                                            .columns = 1 + check_below(4),
                                            .e = p.e};
        memset(y, 0x5A, count);
        entry->output(out, p.m + tile * p.m_row, p.m_stride, &o);
        for (size_t at = 0; at < count && !check_failed(); at++) {
            const size_t i = at / row, j = at % row / pixel, n = at % row % pixel;
            if (i >= o.rows || j >= o.columns || n >= out) {
                check_that(y[at] == 0x5A, "%zu x %zu: wrote at (%zu, %zu), channel %zu", in, out, i, j, n);
                continue;
            }
            const uint8_t want = check_requantized(expected_sum(&p, tile, i, j, n), p.e.scale[n], &p.e);
            check_that(y[at] == want, "%zu x %zu, tile %zu of %zu: (%zu, %zu, %zu) is %u, not %u", in, out, tile, tiles,
                       i, j, n, y[at], want);
        }
    }
    check_memory_reset();
}

static void check_limits(void)
{
    check_begin("winograd_i8", "limits");
    check_that(taper_winograd_i8_holds(228 * 9 * 128) && !taper_winograd_i8_holds(229 * 9 * 128),
               "228 inputs hold, whatever their weights");
    check_that(taper_winograd_i8_middle(-3, 254) == 379 && taper_winograd_i8_middle(3, 254) == -380 &&
                   taper_winograd_i8_middle(262144, 0) == 33423360,
               "the middle of what sums can be");
}

typedef struct timed {
    problem p;
    taper_winograd_i8_output o;
} timed;

static void bench_input(void *argument)
{
    const timed *t = argument;
    t->p.entry->input(t->p.in, t->p.x, 0, t->p.v, t->p.v_stride);
}

static void bench_output(void *argument)
{
    const timed *t = argument;
    t->p.entry->output(t->p.out, t->p.m, t->p.m_stride, &t->o);
}

static void bench_all(void *argument)
{
    multiply(argument);
}

static void speeds(const taper_winograd_i8_entry *entry)
{
    enum { CHANNELS = 64 };
    timed t = {.p = make(entry, entry->mr, CHANNELS, CHANNELS, false)};
    t.o = (taper_winograd_i8_output){.middle = t.p.middle,
                                     .y = check_bytes(16 * CHANNELS, CHECK_TAIL, 0),
                                     .row = 4 * CHANNELS,
                                     .pixel = CHANNELS,
                                     .rows = 4,
                                     .columns = 4,
                                     .e = t.p.e};
    printf("%-24s ns of a tile of %d channels: input %6.1f, output %6.1f; all of %u tiles, weights too, %8.1f\n",
           entry->name, CHANNELS, 1e9 * bench_best(bench_input, &t, 5, 0.01),
           1e9 * bench_best(bench_output, &t, 5, 0.01), entry->mr, 1e9 * bench_best(bench_all, &t.p, 5, 0.01));
    check_memory_reset();
}

void check_winograd_i8(bool benchmark)
{
    const taper_winograd_i8_entry *entry;
    for (size_t index = 0; (entry = taper_winograd_i8_entry_at(index)) != NULL; index++) {
        if ((check_cpu() & entry->cpu) != entry->cpu)
            continue;
        if (benchmark) {
            speeds(entry);
            continue;
        }
        check_begin("winograd_i8", entry->name);
        for (size_t rows = 1; rows <= entry->mr; rows++)
            one_of(entry, rows, entry->inputs + 2 * check_below(entry->inputs),
                   entry->lanes + check_below(3 * entry->nr), false);
        for (size_t i = 0; i < 40; i++)
            one_of(entry, 1 + check_below(entry->mr), entry->inputs + 2 * check_below(24),
                   entry->lanes + check_below(40), false);
        for (size_t i = 0; i < 20; i++)
            one_of(entry, 1, 228 + 200 * check_below(2), entry->lanes, true);
    }
    if (!benchmark)
        check_limits();
}
