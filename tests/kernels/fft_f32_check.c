// SPDX-License-Identifier: BSD-2-Clause
// Checks the stages of Fourier transforms in fft_f32.h. Every kernel is compared with a sum of products with roots of
// unity, computed in doubles. The buffers have no spare elements.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "check.h"
#include "ops/kernels/kernel_select.h"

enum { LANES = TAPER_FFT_LANES };

typedef struct number {
    double re, im;
} number;

static number root(size_t k, size_t n)
{
    const double turn = -6.28318530717958647693 * (double)(k % n) / (double)n;
    return (number){cos(turn), sin(turn)};
}

static number times(number a, number b)
{
    return (number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static number at(const float *points, size_t k, size_t lane)
{
    return (number){(double)points[2 * LANES * k + lane], (double)points[2 * LANES * k + LANES + lane]};
}

static bool is_near(const float *points, size_t k, size_t lane, number want, double bound)
{
    const number got = at(points, k, lane);
    return fabs(got.re - want.re) <= bound && fabs(got.im - want.im) <= bound;
}

// Computes all elements in two calls.
static void check_pass(const taper_fft_entry *entry, size_t factor, size_t inner, size_t blocks)
{
    const size_t n = factor * inner * blocks, places = inner * blocks, first = check_below(places + 1);
    float *in = check_floats(n * 2 * LANES, CHECK_TAIL, 0), *out = check_floats(n * 2 * LANES, CHECK_TAIL, 0),
          *roots = check_floats(inner * (factor - 1) * 2, CHECK_TAIL, 0);
    double *wide = check_bytes(n * 2 * LANES * sizeof(double), CHECK_TAIL, 0),
           *wide_out = check_bytes(n * 2 * LANES * sizeof(double), CHECK_TAIL, 0),
           *wide_roots = check_bytes(inner * (factor - 1) * 2 * sizeof(double), CHECK_TAIL, 0);
    check_fill(in, n * 2 * LANES, -1, 1);
    for (size_t i = 0; i < n * 2 * LANES; i++)
        wide[i] = (double)in[i];
    for (size_t i = 0; i < inner * (factor - 1); i++) {
        const number w = root(i / (factor - 1) * (i % (factor - 1) + 1), factor * inner);
        roots[2 * i] = (float)(wide_roots[2 * i] = w.re);
        roots[2 * i + 1] = (float)(wide_roots[2 * i + 1] = w.im);
    }
    entry->pass_f64(factor, inner, blocks, 0, first, wide, wide_out, wide_roots);
    entry->pass_f64(factor, inner, blocks, first, places - first, wide, wide_out, wide_roots);
    entry->pass(factor, inner, blocks, 0, first, in, out, roots);
    entry->pass(factor, inner, blocks, first, places - first, in, out, roots);
    for (size_t k = 0; k < blocks; k++) {
        for (size_t i = 0; i < inner; i++) {
            for (size_t j = 0; j < factor; j++) {
                const size_t lane = check_below(LANES);
                number sum = {0, 0};
                for (size_t b = 0; b < factor; b++) {
                    const number x = times(at(in, i + inner * (factor * k + b), lane), root(b * j, factor));
                    sum = (number){sum.re + x.re, sum.im + x.im};
                }
                sum = times(sum, root(i * j, factor * inner));
                const size_t place = i + inner * k + j * places;
                const double *got = wide_out + 2 * LANES * place + lane;
                check_that(is_near(out, place, lane, sum, 4e-6) && fabs(got[0] - sum.re) < 1e-13 * (double)n &&
                               fabs(got[LANES] - sum.im) < 1e-13 * (double)n,
                           "pass %zu, %zu, %zu: place %zu of %zu", factor, inner, blocks, i, j);
            }
        }
    }
}

// `part` must make the real transform of 2 m numbers from the complex transform of m numbers; both are compared with
// the definition. `join` must make twice the complex transform from the result of `part`, with real and imaginary parts
// swapped.
static void check_halves(const taper_fft_entry *entry, size_t m)
{
    float *x = check_floats(2 * m * LANES, CHECK_TAIL, 0), *in = check_floats(2 * m * LANES, CHECK_TAIL, 0),
          *out = check_floats(2 * m * LANES, CHECK_TAIL, 0), *back = check_floats(2 * m * LANES, CHECK_TAIL, 0),
          *w = check_floats(2 * m, CHECK_TAIL, 0), last[LANES];
    check_fill(x, 2 * m * LANES, -1, 1);
    for (size_t k = 0; k < m; k++) {
        const number turn = root(k, 2 * m);
        w[2 * k] = (float)turn.re;
        w[2 * k + 1] = (float)turn.im;
        for (size_t l = 0; l < LANES; l++) {
            number sum = {0, 0};
            for (size_t i = 0; i < m; i++) {
                const number term = times(at(x, i, l), root(i * k, m));
                sum = (number){sum.re + term.re, sum.im + term.im};
            }
            in[2 * LANES * k + l] = (float)sum.re;
            in[2 * LANES * k + LANES + l] = (float)sum.im;
        }
    }
    entry->part(m, w, 0.25f, -0.5f, in, out);
    for (size_t l = 0; l < LANES; l++) {
        last[l] = in[l] - in[LANES + l];
    }
    for (size_t k = 0; k < m; k++) {
        const size_t lane = check_below(LANES);
        number sum = {0, 0};
        for (size_t i = 0; i < 2 * m; i++) {
            const number point = at(x, i / 2, lane),
                         term = times((number){i % 2 == 0 ? point.re : point.im, 0}, root(i * k, 2 * m));
            sum = (number){sum.re + term.re, sum.im + term.im};
        }
        check_that(is_near(out, k, lane, (number){sum.re / 2, -sum.im}, 1e-5 * (double)m), "part of %zu: %zu", m, k);
    }
    entry->part(m, w, 0.5f, 0.5f, in, out);
    entry->join(m, w, 1, out, last, back);
    for (size_t k = 0; k < m; k++) {
        const size_t lane = check_below(LANES);
        const number want = at(in, k, lane);
        check_that(is_near(back, k, lane, (number){2 * want.im, 2 * want.re}, 1e-5 * (double)m), "join of %zu: %zu", m,
                   k);
    }
}

// Checks that the stages for doubles give the results of the stages for floats, except for rounding. m: number of
// points.
static void check_wide(const taper_fft_entry *entry, size_t m)
{
    const size_t n = 2 * m * LANES;
    float *x = check_floats(n, CHECK_TAIL, 0), *y = check_floats(n, CHECK_TAIL, 0),
          *w = check_floats(2 * m, CHECK_TAIL, 0), last[LANES];
    double *wide_x = check_bytes(n * sizeof(double), CHECK_TAIL, 0),
           *wide_y = check_bytes(n * sizeof(double), CHECK_TAIL, 0),
           *wide_w = check_bytes(2 * m * sizeof(double), CHECK_TAIL, 0), wide_last[LANES];
    check_fill(x, n, -1, 1);
    for (size_t i = 0; i < n; i++)
        wide_x[i] = (double)x[i];
    for (size_t k = 0; k < m; k++) {
        const number turn = root(k, 2 * m);
        w[2 * k] = (float)(wide_w[2 * k] = turn.re), w[2 * k + 1] = (float)(wide_w[2 * k + 1] = turn.im);
    }
    for (size_t l = 0; l < LANES; l++)
        wide_last[l] = (double)(last[l] = check_uniform(-1, 1));
    for (int what = 0; what < 3; what++) {
        if (what == 0) {
            entry->part(m, w, 0.25f, -0.5f, x, y), entry->part_f64(m, wide_w, 0.25, -0.5, wide_x, wide_y);
        } else if (what == 1) {
            entry->join(m, w, -1, x, last, y), entry->join_f64(m, wide_w, -1, wide_x, wide_last, wide_y);
        } else {
            memcpy(y, x, n * sizeof *y), memcpy(wide_y, wide_x, n * sizeof *wide_y);
            entry->turn(m, w, -1, y), entry->turn_f64(m, wide_w, -1, wide_y);
            for (size_t k = 0; k < m; k++) {
                const size_t lane = check_below(LANES);
                const number want = times(at(x, k, lane), root(k, 2 * m));
                check_that(is_near(y, k, lane, (number){want.re, -want.im}, 1e-6), "turn of %zu: %zu", m, k);
            }
        }
        for (size_t i = 0; i < n; i++)
            check_that(fabs((double)y[i] - wide_y[i]) <= 4e-6, "doubles, %d of %zu: %zu", what, m, i);
    }
}

// Checks the kernels that only move numbers, with any stride. The kernels must write nothing outside their output.
static void check_moves(const taper_fft_entry *entry, size_t count)
{
    const size_t step = 2 * LANES + check_below(5), line = count + check_below(5), lanes = LANES * (1 + check_below(2));
    const size_t pairs = count != 0 ? (count - 1) * step + 2 * LANES : 0, points = 2 * LANES * count;
    float *x = check_floats(pairs, CHECK_TAIL, 0), *a = check_floats(points, CHECK_TAIL, 0),
          *y = check_floats(pairs, CHECK_TAIL, 0);
    double *wide_x = check_bytes(pairs * sizeof(double), CHECK_TAIL, 0),
           *wide_a = check_bytes(points * sizeof(double), CHECK_TAIL, 0),
           *wide_y = check_bytes(pairs * sizeof(double), CHECK_TAIL, 0);
    for (size_t i = 0; i < pairs; i++)
        wide_x[i] = (double)(x[i] = (float)i), wide_y[i] = (double)(y[i] = -1);
    entry->unzip(count, x, step, a), entry->unzip_f64(count, wide_x, step, wide_a);
    entry->zip(count, a, y, step), entry->zip_f64(count, wide_a, wide_y, step);
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < 2 * LANES; i++) {
            const float want = (float)(k * step + (i < LANES ? 2 * i : 2 * (i - LANES) + 1));
            const size_t place = 2 * LANES * k + i;
            check_that(a[place] == want && wide_a[place] == (double)want, "unzip of %zu: %zu", count, place);
        }
    }
    for (size_t i = 0; i < pairs; i++) {
        const float want = i % step < 2 * LANES ? (float)i : -1;
        check_that(y[i] == want && wide_y[i] == (double)want, "zip of %zu: %zu", count, i);
    }
    const size_t reals = count != 0 ? (LANES - 1) * line + count : 0,
                 spread = count != 0 ? lanes * (count - 1) + LANES : 0;
    double *lines = check_bytes(reals * sizeof(double), CHECK_TAIL, 0),
           *to = check_bytes(spread * sizeof(double), CHECK_TAIL, 0),
           *back = check_bytes(reals * sizeof(double), CHECK_TAIL, 0);
    for (size_t i = 0; i < reals; i++)
        lines[i] = (double)i, back[i] = -1;
    entry->to_lanes_f64(count, lines, line, to, lanes);
    entry->of_lanes_f64(count, to, lanes, back, line);
    for (size_t i = 0; i < LANES * count; i++) {
        const size_t l = i % LANES, k = i / LANES;
        check_that(to[k * lanes + l] == (double)(l * line + k), "to lanes, %zu: %zu", count, i);
    }
    for (size_t i = 0; i < reals; i++)
        check_that(back[i] == (i % line < count ? (double)i : -1), "of lanes, %zu: %zu", count, i);
}

// Checks merge. The lanes of the points are transforms of every eighth number, and the result must equal the whole
// transform by its definition.
static void check_merge(const taper_fft_entry *entry, size_t m)
{
    const size_t n = m * LANES;
    float *x = check_floats(2 * n, CHECK_TAIL, 0), *in = check_floats(2 * n, CHECK_TAIL, 0),
          *w = check_floats(2 * n, CHECK_TAIL, 0), *out = check_floats(2 * n, CHECK_TAIL, 0);
    check_fill(x, 2 * n, -1, 1);
    for (size_t k = 0; k < m; k++) {
        for (size_t l = 0; l < LANES; l++) {
            number sum = {0, 0};
            for (size_t i = 0; i < m; i++) {
                const number term = {(double)x[2 * (LANES * i + l)], (double)x[2 * (LANES * i + l) + 1]};
                const number turned = times(term, root(i * k, m));
                sum = (number){sum.re + turned.re, sum.im + turned.im};
            }
            const number turn = root(k * l, n);
            in[2 * LANES * k + l] = (float)sum.re, in[2 * LANES * k + LANES + l] = (float)sum.im;
            w[2 * LANES * k + l] = (float)turn.re, w[2 * LANES * k + LANES + l] = (float)turn.im;
        }
    }
    entry->merge(m, w, in, out);
    for (size_t k = 0; k < n; k++) {
        number sum = {0, 0};
        for (size_t i = 0; i < n; i++) {
            const number turned = times((number){(double)x[2 * i], (double)x[2 * i + 1]}, root(i * k, n));
            sum = (number){sum.re + turned.re, sum.im + turned.im};
        }
        check_that(fabs((double)out[2 * k] - sum.re) <= 2e-6 * (double)n &&
                       fabs((double)out[2 * k + 1] - sum.im) <= 2e-6 * (double)n,
                   "merge of %zu: %zu", m, k);
    }
}

typedef struct bench_job {
    const taper_fft_entry *entry;
    size_t factor;
    float *in, *out, *roots;
} bench_job;

static void bench_run(void *argument)
{
    const bench_job *j = argument;
    j->entry->pass(j->factor, 16, 8, 0, 128, j->in, j->out, j->roots);
}

void check_fft_f32(bool benchmark)
{
    for (size_t index = 0; taper_fft_f32_entry(index) != NULL; index++) {
        const taper_fft_entry *entry = taper_fft_f32_entry(index);
        if ((entry->cpu & check_cpu()) != entry->cpu)
            continue;
        check_begin("fft_f32", entry->name);
        for (size_t m = LANES; m <= 3 * LANES && !benchmark; m += LANES) {
            check_merge(entry, m);
            check_memory_reset();
        }
        for (size_t factor = 2; factor <= 5; factor++) {
            if (benchmark) {
                const size_t floats = 128 * factor * 2 * LANES;
                bench_job j = {entry, factor, bench_floats(floats), bench_floats(floats),
                               bench_floats(2 * 16 * factor)};
                const double t = bench_best(bench_run, &j, 10, 0.0005);
                printf("fft_f32 %-8s radix %zu %6.2f G points/s\n", entry->name, factor,
                       128 * (double)(factor * LANES) / t * 1e-9);
                bench_free(j.in), bench_free(j.out), bench_free(j.roots);
                continue;
            }
            for (size_t inner = 1; inner < 6; inner++) {
                for (size_t blocks = 1; blocks < 6; blocks++) {
                    check_pass(entry, factor, inner, blocks);
                    check_memory_reset();
                }
            }
        }
        for (size_t m = 1; m < 20 && !benchmark; m++) {
            check_halves(entry, m);
            check_wide(entry, m);
            check_moves(entry, m - 1);
            check_memory_reset();
        }
    }
}
