// SPDX-License-Identifier: BSD-2-Clause
// Plans of Fourier transforms (ops/signal/fft_plan.h): factors, roots of unity, buffers, and the choice of the loops.
#include "ops/signal/fft_plan.h"
#include "ops/signal/fft_merged.h"
#include "ops/signal/fft_neighbours.h"

#include <math.h>

#include "base/checked.h"
#include "ops/engine/elementwise.h"
#include "ops/kernels/kernel_select.h"

enum {
    LARGEST_PRIME = 61, // for larger primes Bluestein's algorithm is faster
    PIECE = 1024,       // number of points that a pass computes before it charges the run again
    // If the two buffers of a full group are larger, lines are computed one by one, to keep the buffers in a cache.
    BUFFER_BYTES = 1 << 23
};

// Returns the number of roots of unity that a stage reads.
static size_t stage_roots(size_t factor, size_t inner)
{
    return inner * (factor - 1) + (factor > 5 ? factor : 0);
}

#define FFT_REAL float
#define FFT_LANES 8
#define FFT_NAME(name) name##_f32x8
#define FFT_LINES(what, ...) taper_fft_lines_##what##_f32(__VA_ARGS__)
#define FFT_PASS(run) taper_fft_f32_select((run)->cpu)->pass
#define FFT_TURN(run) taper_fft_f32_select((run)->cpu)->turn
static bool transform_merged(const taper_fft *fft, const taper_fft_group *g, void **a, void **b);
#include "ops/signal/fft_passes.h"
#undef FFT_LINES
#undef FFT_PASS
#undef FFT_TURN

typedef struct point_f32x1 point_f32x1;
static void load_f32x1(const taper_fft *fft, const taper_fft_group *g, point_f32x1 *a);

// Transforms one long line of floats. Every eighth number is a lane of passes over an eighth of the line, and one more
// pass merges the eight results. Returns true if the result is already in the group's line, and needs no further
// change. Otherwise the result is in *a.
static bool transform_merged(const taper_fft *fft, const taper_fft_group *g, void **a, void **b)
{
    const taper_fft_entry *kernels = taper_fft_f32_select(fft->run->cpu);
    const bool plain = fft->kind == TAPER_FFT_C2C && fft->forward;
    const float *x = plain && g->from_step == 1 ? g->from[0] : *a;
    if (x == *a) {
        load_f32x1(fft, g, *a);
    }
    kernels->unzip(fft->length, x, 2 * TAPER_FFT_LANES, *b);
    point_f32x8 *from = *b, *other = *a;
    transform_f32x8(fft, &from, &other);
    const bool straight = plain && g->to_step == 1 && fft->scale == 1;
    float *y = straight ? g->to[0] : other->re;
    if (taper_run_goes_on(fft->run, fft->m * 8)) {
        kernels->merge(fft->length, fft->merged, from->re, y);
    }
    *a = other;
    *b = from;
    return straight;
}

#define FFT_LINES(what, fft, g, a, b) false
#define FFT_PASS(run) FFT_NAME(pass)
#define FFT_TURN(run) FFT_NAME(turn)
#undef FFT_LANES
#undef FFT_NAME
#define FFT_LANES 1
#define FFT_NAME(name) name##_f32x1
#include "ops/signal/fft_passes.h"
#undef FFT_REAL
#undef FFT_LANES
#undef FFT_NAME
#define FFT_REAL double
#define FFT_LANES 8
#define FFT_NAME(name) name##_f64x8
#undef FFT_LINES
#undef FFT_PASS
#undef FFT_TURN
#define FFT_LINES(what, ...) taper_fft_lines_##what##_f64(__VA_ARGS__)
#define FFT_PASS(run) taper_fft_f32_select((run)->cpu)->pass_f64
#define FFT_TURN(run) taper_fft_f32_select((run)->cpu)->turn_f64
#include "ops/signal/fft_passes.h"
#undef FFT_LANES
#undef FFT_NAME
#undef FFT_LINES
#undef FFT_PASS
#undef FFT_TURN
#define FFT_LINES(what, fft, g, a, b) false
#define FFT_PASS(run) FFT_NAME(pass)
#define FFT_TURN(run) FFT_NAME(turn)
#define FFT_LANES 1
#define FFT_NAME(name) name##_f64x1
#include "ops/signal/fft_passes.h"
#undef FFT_REAL
#undef FFT_LANES
#undef FFT_NAME

// ---- roots of unity

// Computes exp(-2 pi i k / n) for k below n. The angle is reduced to an eighth of the circle, where sine and cosine are
// exact to the last bit.
static void root(size_t k, size_t n, double *re, double *im)
{
    const double turn = 6.28318530717958647693 / (double)n;
    double c, s;
    size_t at = 8 * k; // the angle, in units of 1 / (8 n) of a turn
    const bool lower = at > 4 * n;
    at = lower ? 8 * n - at : at;
    const bool left = at > 2 * n;
    at = left ? 4 * n - at : at;
    if (at > n) { // the angle is nearer to a quarter turn than to 0
        c = sin(turn * (double)(2 * n - at) / 8);
        s = cos(turn * (double)(2 * n - at) / 8);
    } else {
        c = cos(turn * (double)at / 8);
        s = sin(turn * (double)at / 8);
    }
    *re = left ? -c : c;
    *im = lower ? s : -s;
}

static void put(const taper_fft *fft, void *table, size_t at, double re, double im)
{
    if (fft->wide) {
        ((double *)table)[2 * at] = re;
        ((double *)table)[2 * at + 1] = im;
    } else {
        ((float *)table)[2 * at] = (float)re;
        ((float *)table)[2 * at + 1] = (float)im;
    }
}

// The roots of unity of a large n as products of two tabulated roots: a coarse step and a fine step. Doubles are off by
// at most two units in the last place. The table uses a buffer of the plan while that buffer is free.
typedef struct circle {
    size_t n, fine; // fine: number of fine steps, a power of two; 0 if there is no table, and each root is computed
    unsigned shift; // logarithm of `fine` to base 2
    double *steps;  // table of pairs (re, im): the fine steps, then the coarse steps
} circle;

static void root_of(const circle *c, size_t k, double *re, double *im)
{
    if (c->fine == 0) {
        root(k, c->n, re, im);
        return;
    }
    const double *a = c->steps + 2 * (k & (c->fine - 1)), *b = c->steps + 2 * (c->fine + (k >> c->shift));
    *re = a[0] * b[0] - a[1] * b[1];
    *im = a[0] * b[1] + a[1] * b[0];
}

static circle make_circle(const taper_fft *fft, size_t n, size_t buffer)
{
    enum { FEW = 512 };
    // `room` is a lower bound of a buffer's bytes.
    const size_t room = 2 * sizeof(float) * (fft->padded != 0 ? fft->padded : fft->m);
    circle c = {.n = n, .steps = fft->buffers[buffer]};
    size_t fine = 1;
    while (fine * fine < n) {
        fine *= 2;
        c.shift++;
    }
    const size_t coarse = n / fine + 1;
    if (n < FEW || (fine + coarse) * 2 * sizeof(double) > room) {
        return c;
    }
    for (size_t k = 0; k < fine; k++) {
        root(k, n, &c.steps[2 * k], &c.steps[2 * k + 1]);
    }
    for (size_t k = 0; k < coarse; k++) {
        const size_t at = k * fine % n;
        root(at, n, &c.steps[2 * (fine + k)], &c.steps[2 * (fine + k) + 1]);
    }
    c.fine = fine;
    return c;
}

static void put_root(const taper_fft *fft, void *table, size_t at, const circle *c, size_t k)
{
    double re, im;
    root_of(c, k, &re, &im);
    put(fft, table, at, re, im);
}

// ---- factors of lengths

// Fills the stages with the factors of n. Returns false if a prime factor is above LARGEST_PRIME.
static bool factorize(taper_fft *fft, size_t n)
{
    fft->stage_count = 0;
    while (n % 4 == 0) {
        fft->stages[fft->stage_count++] = 4;
        n /= 4;
    }
    for (size_t p = 2; p <= LARGEST_PRIME; p++) {
        while (n % p == 0) {
            fft->stages[fft->stage_count++] = (uint32_t)p;
            n /= p;
        }
    }
    return n == 1;
}

// Returns the smallest number that is at least n and has only the factors 2, 3 and 5.
static size_t smooth_length(size_t n)
{
    size_t best = 1;
    while (best < n) {
        best *= 2;
    }
    for (size_t five = 1; five < best; five *= 5) {
        for (size_t three = five; three < best; three *= 3) {
            size_t length = three;
            while (length < n) {
                length *= 2;
            }
            best = taper_min_size(best, length);
        }
    }
    return best;
}

// ---- tables of roots and chirps

// Fills the roots of all stages and the factors for merging. all->n is a multiple of every stage's length.
static taper_status fill_roots(const taper_fft *fft, const circle *all)
{
    size_t at = 0, inner = fft->length, blocks = all->n / fft->length;
    for (size_t s = 0; s < fft->stage_count; s++) {
        const size_t factor = fft->stages[s];
        const circle own = {.n = factor};
        inner /= factor;
        for (size_t i = 0; i < inner; i++) {
            if (i % 4096 == 0) {
                TAPER_TRY(taper_run_spend(fft->run, taper_min_size(inner - i, 4096) * factor * 40));
            }
            for (size_t j = 1; j < factor; j++) {
                put_root(fft, fft->roots, at++, all, i * j * blocks);
            }
        }
        for (size_t j = 0; factor > 5 && j < factor; j++) {
            put_root(fft, fft->roots, at++, &own, j);
        }
        blocks *= factor;
    }
    if (fft->merged != NULL) {
        enum { LANES = 8 };
        const size_t step = all->n / fft->m;
        float *to = fft->merged;
        TAPER_TRY(taper_run_spend(fft->run, fft->m * 20));
        for (size_t k = 0; k < fft->length; k++, to += 2 * LANES) {
            for (size_t l = 0; l < LANES; l++) {
                double re, im;
                root_of(all, k * l * step, &re, &im);
                to[l] = (float)re;
                to[LANES + l] = (float)im;
            }
        }
    }
    return TAPER_OK;
}

// Fills the chirp and the spectrum, which is the transform of the chirp's conjugate. The buffers serve as scratch
// memory.
static void fill_chirp(taper_fft *fft)
{
    const size_t m = fft->m, item = fft->wide ? sizeof(double) : sizeof(float);
    const double part = 1 / (double)fft->padded;
    char *a = fft->buffers[0], *b = fft->buffers[1];
    // The table of this circle is in buffer 1, which the transform overwrites later.
    const circle own = make_circle(fft, 2 * m, 1);
    memset(a, 0, 2 * item * fft->padded);
    size_t square = 0; // square is k * k modulo 2 m, computed without overflow
    for (size_t k = 0; k < m && taper_run_goes_on(fft->run, 60); k++) {
        double re, im;
        root_of(&own, square, &re, &im);
        put(fft, fft->chirp, k, re, im);
        if (k < fft->wanted) {
            put(fft, a, k, re * part, -im * part);
        }
        if (k != 0) {
            put(fft, a, fft->padded - k, re * part, -im * part);
        }
        square = (square + 2 * k + 1) % (2 * m);
    }
    if (fft->wide) {
        point_f64x1 *x = (point_f64x1 *)(void *)a, *y = (point_f64x1 *)(void *)b;
        transform_f64x1(fft, &x, &y);
        memcpy(fft->spectrum, x, 2 * item * fft->padded);
    } else {
        point_f32x1 *x = (point_f32x1 *)(void *)a, *y = (point_f32x1 *)(void *)b;
        transform_f32x1(fft, &x, &y);
        memcpy(fft->spectrum, x, 2 * item * fft->padded);
    }
}

taper_status taper_fft_begin(taper_run *run, taper_fft *fft, taper_fft_kind kind, bool wide, bool forward, size_t n,
                             size_t lines)
{
    memset(fft, 0, sizeof *fft);
    fft->run = run;
    fft->kind = kind;
    fft->wide = wide;
    fft->forward = forward;
    fft->n = n;
    fft->scale = 1;
    fft->halved = kind != TAPER_FFT_C2C && n % 2 == 0;
    fft->m = fft->halved ? n / 2 : n;
    if (n == 0 || n > TAPER_LIMIT_TRANSFORM) {
        return taper_fail(run->error, TAPER_ERROR_RESOURCE, "a transform of length %zu", n);
    }
    fft->wanted = kind == TAPER_FFT_R2C && !fft->halved ? fft->m / 2 + 1 : fft->m;
    // The convolution must not wrap around within the wanted results, so padded >= m - 1 + wanted.
    if (!factorize(fft, fft->m)) {
        fft->padded = smooth_length(fft->m - 1 + fft->wanted);
        (void)factorize(fft, fft->padded);
    }
    // No product overflows size_t: lengths are at most 2.1 * TAPER_LIMIT_TRANSFORM, and the other factors are small
    // constants.
    const size_t length = fft->padded != 0 ? fft->padded : fft->m, item = 2 * (wide ? sizeof(double) : sizeof(float));
    const size_t most = TAPER_FFT_LANES;
    const bool mergeable = taper_fft_merges(fft, wide);
    const bool few = lines == 1 || (mergeable && lines <= most / 2) || item * length * 2 * most > BUFFER_BYTES;
    fft->lanes = few ? 1 : most;
    const bool merges = mergeable && few;
    fft->length = merges ? fft->m / most : length;
    if (merges) {
        (void)factorize(fft, fft->length);
    }
    size_t roots = 0, inner = fft->length;
    for (size_t s = 0; s < fft->stage_count; s++) {
        inner /= fft->stages[s];
        roots += stage_roots(fft->stages[s], inner);
    }
    const size_t merged = merges ? fft->m : 0;
    const size_t real = fft->halved ? fft->m + 1 : 0, chirp = fft->padded != 0 ? fft->m : 0;
    const size_t tables = roots + real + chirp + fft->padded + merged;
    const size_t before = taper_round_up(tables * item, TAPER_ALIGNMENT);
    const size_t buffer = taper_round_up(length * item * fft->lanes, TAPER_ALIGNMENT);
    fft->block_bytes = before + 2 * buffer;
    fft->block = taper_heap_alloc(run->heap, fft->block_bytes);
    if (fft->block == NULL) {
        return taper_fail_memory(run->error);
    }
    char *at = fft->block;
    fft->roots = at;
    fft->real = at + roots * item;
    fft->chirp = at + (roots + real) * item;
    fft->spectrum = at + (roots + real + chirp) * item;
    // This memory is also used for spectrum, which a plan that merges does not have.
    fft->merged = merges ? at + (roots + real + chirp) * item : NULL;
    fft->buffers[0] = at + before;
    fft->buffers[1] = at + before + buffer;
    const circle own = make_circle(fft, fft->padded != 0 ? fft->padded : n, 0);
    TAPER_TRY(fill_roots(fft, &own));
    const circle halves = fft->padded != 0 ? make_circle(fft, n, 0) : own;
    for (size_t k = 0; k < real && taper_run_goes_on(run, 40); k++) {
        put_root(fft, fft->real, k, &halves, k);
    }
    if (fft->padded != 0) {
        fill_chirp(fft);
    }
    return TAPER_OK;
}

void taper_fft_end(taper_fft *fft)
{
    if (fft->block != NULL) {
        taper_heap_free(fft->run->heap, fft->block, fft->block_bytes);
        fft->block = NULL;
    }
}

taper_status taper_fft_group_run(const taper_fft *fft, const taper_fft_group *group)
{
    // Charges the run for loading and storing. Each pass of the transform charges the run itself.
    TAPER_TRY(taper_run_spend(fft->run, fft->n * fft->lanes * 10));
    if (fft->wide && fft->lanes == 1) {
        group_f64x1(fft, group);
    } else if (fft->wide) {
        group_f64x8(fft, group);
    } else if (fft->lanes == 1) {
        group_f32x1(fft, group);
    } else {
        group_f32x8(fft, group);
    }
    return TAPER_OK;
}
