// SPDX-License-Identifier: BSD-2-Clause
// Checks matrix products of floats, also with weights of half floats: every kernel, all numbers of rows, remainders of
// columns, taps with padding, added sums, and clamps.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "check.h"
#include "ops/kernels/kernel_select.h"

// A simple transpose, with which this test packs weights. The transposes of the instruction sets are checked in
// vector_f32_check.c.
static void transpose(size_t rows, size_t columns, const float *x, size_t x_stride, float *y, size_t y_stride)
{
    for (size_t r = 0; r < rows; r++) {
        for (size_t c = 0; c < columns; c++) {
            y[c * y_stride + r] = x[r * x_stride + c];
        }
    }
}

typedef struct problem {
    const taper_gemm_entry *entry;
    size_t mr, nc, kc, ks;
    bool indirect, special;
    size_t step; // number of elements between the windows of two rows of A; 0 if each row of A has its own memory
    float *a, *weights, *bias, *scale, *add, *zero;
    size_t a_stride, a_offset, c_stride, add_stride;
    const float **pointers;
    size_t tap_stride;
    taper_gemm_epilogue e;
} problem;

static const float *row(const problem *p, size_t i, size_t tap)
{
    if (p->step != 0)
        return p->a + tap * p->a_stride + i * p->step;
    if (!p->indirect)
        return p->a + i * p->a_stride;
    const float *x = p->pointers[tap * p->tap_stride + i];
    return x == p->zero ? x : x + p->a_offset / sizeof(float);
}

static float rounded(taper_precision precision, float x)
{
    return precision == TAPER_PRECISION_bf16   ? taper_bf16_to_float(taper_float_to_bf16(x))
           : precision == TAPER_PRECISION_fp16 ? taper_f16_to_float(taper_float_to_f16(x))
                                               : x;
}

// Returns the allowed error of a sum of `terms` products. If entry->rounds is above 1, up to that many products are
// added as half floats before their sum is converted.
static double error_bound(const taper_gemm_entry *entry, size_t terms, double magnitude)
{
    const double sums = ((double)terms + 4) * 0x1p-24 * magnitude;
    const double tiny = entry->precision != TAPER_PRECISION_fp32
                            ? 1e-37
                            : 0; // some half-precision instructions flush denormals to zero
    const double halves = (double)(terms < entry->rounds ? terms : entry->rounds);
    return entry->rounds > 1 ? sums + (halves + 1) * (0x1p-11 * magnitude + 0x1p-24) : sums + tiny;
}

// Returns element (i, n) of the result in double, and the sum of the magnitudes of its terms.
static double expected(const problem *p, size_t i, size_t n, double *magnitude)
{
    double sum = p->bias != NULL ? (double)p->bias[n] : 0;
    *magnitude = fabs(sum);
    for (size_t t = 0; t < p->ks; t++) {
        const float *x = row(p, i, t);
        if (p->indirect && x == p->zero)
            continue;
        const float *w = p->weights + (n * p->kc) * p->ks + t;
        for (size_t k = 0; k < p->kc; k++) {
            const float weight = rounded(p->entry->precision, w[k * p->ks] * (p->scale != NULL ? p->scale[n] : 1.0f));
            const double v =
                (double)(p->entry->rounds != 0 ? rounded(p->entry->precision, x[k]) : x[k]) * (double)weight;
            sum += v;
            *magnitude += fabs(v);
        }
    }
    if (p->e.add != NULL)
        sum += (double)p->e.add[i * p->e.add_stride + n];
    if (p->e.add != NULL)
        *magnitude += fabs((double)p->e.add[i * p->e.add_stride + n]);
    if (sum < (double)p->e.min)
        sum = (double)p->e.min;
    if (sum > (double)p->e.max)
        sum = (double)p->e.max;
    return sum;
}

static void one_of(const taper_gemm_entry *entry, size_t mr, size_t nc, size_t kc, size_t ks, bool indirect,
                   bool special, size_t step)
{
    const check_place place = check_below(4) == 0 ? CHECK_HEAD : CHECK_TAIL;
    problem p = {
        .entry = entry, .mr = mr, .nc = nc, .kc = kc, .ks = ks, .indirect = indirect, .special = special, .step = step};
    p.a_stride = (mr - 1) * step + kc + (check_below(2) ? check_below(9) : 0);
    p.c_stride = nc + (check_below(2) ? check_below(9) : 0);
    p.add_stride = nc + (check_below(2) ? check_below(9) : 0);
    const size_t rows = step != 0 ? ks : mr * ks;
    const size_t image = (rows - 1) * p.a_stride + (step != 0 ? (mr - 1) * step : 0) + kc;
    const size_t offset = indirect && check_below(2) ? check_below(20) : 0;
    p.a_offset = offset * sizeof(float);
    p.a = check_floats(image + offset, place, entry->over_read);
    check_fill(p.a, image + offset, -1, 1);
    p.weights = check_floats(nc * kc * ks, CHECK_TAIL, 0);
    check_fill(p.weights, nc * kc * ks, -1, 1);
    if (!indirect && !special && step == 0 && check_below(4) == 0) // an infinity must affect only its own column
        p.weights[check_below(nc * kc * ks)] = INFINITY;
    if (check_below(3))
        check_fill(p.bias = check_floats(nc, CHECK_TAIL, 0), nc, -2, 2);
    if (check_below(3) == 0)
        check_fill(p.scale = check_floats(nc, CHECK_TAIL, 0), nc, 0.5f, 2);
    if (special)
        check_fill_special(p.a, image + offset, 3 * kc, true);
    const bool in_place = step == 0 && check_below(8) == 0; // the kernel adds to the contents of C
    if (in_place)
        p.add_stride = p.c_stride;
    p.e = (taper_gemm_epilogue){NULL, p.add_stride, -INFINITY, INFINITY};
    if (in_place || check_below(2)) {
        p.add = check_floats((mr - 1) * p.add_stride + nc, place, entry->over_read);
        check_fill(p.add, (mr - 1) * p.add_stride + nc, -3, 3);
        p.e.add = p.add;
    }
    switch (check_below(3)) {
    case 0:
        p.e.min = 0, p.e.max = 6;
        break;
    case 1:
        p.e.min = 0;
        break;
    default:
        break;
    }
    p.zero = check_floats(kc, place, entry->over_read);
    memset(p.zero, 0, kc * sizeof(float));
    if (indirect) {
        p.tap_stride = mr + check_below(3);
        p.pointers = check_bytes(((ks - 1) * p.tap_stride + mr) * sizeof(float *), CHECK_TAIL, 0);
        for (size_t t = 0; t < ks; t++) {
            // Without padding, the rows are evenly spaced.
            const bool all = check_below(4) == 0, none = check_below(4) == 0;
            for (size_t i = 0; i < mr; i++) {
                const bool padding = !none && (all || check_below(4) == 0);
                p.pointers[t * p.tap_stride + i] = padding ? p.zero : p.a + (rows - 1 - (t * mr + i)) * p.a_stride;
            }
        }
    }
    const taper_gemm_pack pack = {.n = nc,
                                  .ks = ks,
                                  .kc = kc,
                                  .n_stride = kc * ks,
                                  .tap_stride = 1,
                                  .k_stride = ks,
                                  .k_inner = check_below(2),
                                  .weights = p.weights,
                                  .scale = p.scale,
                                  .bias = p.bias,
                                  .transpose = check_below(2) == 0 ? NULL : transpose};
    const size_t count = taper_gemm_packed_count(entry, nc, ks, kc);
    float *packed = check_floats(count, place, entry->over_read);
    const size_t panels = (nc + entry->nr - 1) / entry->nr, middle = check_below(panels + 1);
    taper_gemm_pack_panels(entry, &pack, middle, panels, packed);
    taper_gemm_pack_panels(entry, &pack, 0, middle, packed);
    const size_t c_count = (mr - 1) * p.c_stride + nc;
    float *c = check_floats(c_count, place, 0);
    for (size_t i = 0; i < c_count; i++)
        c[i] = in_place && i % p.c_stride < nc ? p.add[i] : 12345.0f;
    taper_gemm_epilogue e = p.e;
    if (in_place)
        e.add = c;

    if (step != 0) {
        const float **taps = check_bytes(ks * sizeof *taps, CHECK_TAIL, 0);
        for (size_t t = 0; t < ks; t++) {
            taps[t] = p.a + t * p.a_stride;
        }
        entry->windows(mr, nc, kc, ks, taps, step, packed, c, p.c_stride, &e);
    } else if (indirect) {
        entry->igemm(mr, nc, kc, ks, p.pointers, p.tap_stride, p.a_offset, p.zero, packed, c, p.c_stride, &e);
    } else {
        entry->gemm(mr, nc, kc, p.a, p.a_stride, packed, c, p.c_stride, &e);
    }

    for (size_t i = 0; i < mr && !check_failed(); i++) {
        for (size_t n = 0; n < p.c_stride; n++) {
            if (i * p.c_stride + n >= c_count)
                break;
            const float got = c[i * p.c_stride + n];
            if (n >= nc) {
                check_that(got == 12345.0f, "wrote behind row %zu: mr %zu nc %zu", i, mr, nc);
                continue;
            }
            double magnitude;
            const double want = expected(&p, i, n, &magnitude);
            const float bound = (float)error_bound(entry, kc * ks, magnitude);
            check_that(check_close(got, (float)want, bound), "mr %zu nc %zu kc %zu ks %zu%s: (%zu, %zu) is %g, not %g",
                       mr, nc, kc, ks,
                       step != 0  ? " windows"
                       : indirect ? " indirect"
                                  : "",
                       i, n, (double)got, want);
        }
    }
    check_memory_reset();
}

static void one(const taper_gemm_entry *entry, size_t mr, size_t nc, size_t kc, size_t ks, bool indirect, bool special)
{
    one_of(entry, mr, nc, kc, ks, indirect, special, 0);
}

// Checks the packed weights of a first layer, whose taps are rows of pixels with few channels. The panels must equal
// the panels of the same weights in the order [y][x][channel], packed as one tap.
static void joined(const taper_gemm_entry *entry, size_t channels, size_t side, size_t nc)
{
    const size_t kc = side * channels, depth = kc * side;
    float *weights = check_floats(nc * depth, CHECK_TAIL, 0), *turned = check_floats(nc * depth, CHECK_TAIL, 0);
    check_fill(weights, nc * depth, -1, 1); // order of weights: [n][channel][y][x]
    for (size_t n = 0; n < nc; n++) {
        for (size_t k = 0; k < depth; k++)
            turned[n * depth + k] = weights[n * depth + k % channels * side * side + k / channels];
    }
    const taper_gemm_pack pack = {.n = nc,
                                  .ks = side,
                                  .kc = kc,
                                  .n_stride = depth,
                                  .tap_stride = side,
                                  .k_stride = 1,
                                  .k_inner = channels,
                                  .k_inner_stride = side * side,
                                  .joined = true,
                                  .weights = weights};
    const taper_gemm_pack plain = {.n = nc, .ks = 1, .kc = depth, .n_stride = depth, .k_stride = 1, .weights = turned};
    const size_t count = taper_gemm_packed_count(entry, nc, 1, depth), panels = (nc + entry->nr - 1) / entry->nr;
    float *packed = check_floats(count, CHECK_TAIL, 0), *wanted = check_floats(count, CHECK_TAIL, 0);
    taper_gemm_pack_panels(entry, &pack, 0, panels, packed);
    taper_gemm_pack_panels(entry, &plain, 0, panels, wanted);
    check_that(memcmp(packed, wanted, count * sizeof *packed) == 0, "joined taps: channels %zu side %zu nc %zu",
               channels, side, nc);
    check_memory_reset();
}

typedef struct bench_job {
    const taper_gemm_entry *entry;
    const float *a, *w;
    float *c;
    size_t n, k;
} bench_job;

static void bench_run(void *argument)
{
    const bench_job *j = argument;
    const taper_gemm_epilogue e = {NULL, 0, 0.0f, 6.0f};
    j->entry->gemm(j->entry->mr, j->n, j->k, j->a, j->k, j->w, j->c, j->n, &e);
}

static void bench(const taper_gemm_entry *entry)
{
    static const size_t sizes[][2] = {{16, 64}, {24, 96}, {64, 64}, {96, 256}, {128, 512}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bench_job j = {entry, NULL, NULL, NULL, sizes[i][0], sizes[i][1]};
        float *a = bench_floats(entry->mr * j.k), *c = bench_floats(entry->mr * j.n);
        float *w = bench_floats(taper_gemm_packed_count(entry, j.n, 1, j.k));
        j.a = a, j.w = w, j.c = c;
        const double t = bench_best(bench_run, &j, 20, 0.0005);
        printf("gemm %-24s m %2u n %3zu k %3zu %8.1f GFLOP/s of %.1f\n", entry->name, (unsigned)entry->mr, j.n, j.k,
               2e-9 * (double)(entry->mr * j.n * j.k) / t, bench_peak(entry->cpu));
        bench_free(a), bench_free(c), bench_free(w);
    }
}

static void check_entries(const char *family, const taper_gemm_entry *(*entry_at)(size_t index), bool benchmark)
{
    for (size_t x = 0; entry_at(x) != NULL; x++) {
        const taper_gemm_entry *entry = entry_at(x);
        if ((entry->cpu & check_cpu()) != entry->cpu)
            continue;
        check_begin(family, entry->name);
        if (benchmark) {
            bench(entry);
            continue;
        }
        for (size_t mr = 1; mr <= entry->mr; mr++) {
            for (size_t nc = 1; nc <= 2 * entry->nr + 3; nc += nc < entry->nr + 2 ? 1 : 5) {
                one(entry, mr, nc, 1 + check_below(20), 1, false, check_below(4) == 0);
                one(entry, mr, nc, 1 + check_below(20), 1 + check_below(9), true, check_below(4) == 0);
            }
            for (size_t times = 0; times < 4; times++) // more taps than any kernel stores pointers for
                one(entry, mr, 1 + check_below(3 * entry->nr), 1 + check_below(9), 30 + check_below(50), true, false);
            for (size_t kc = 1; kc < 40; kc++) {
                one(entry, mr, 1 + check_below(3 * entry->nr), kc, 1, false, false);
                one(entry, mr, 1 + check_below(3 * entry->nr), kc, 1 + check_below(4), true, false);
            }
        }
        for (size_t m = entry->mr; entry->windows != NULL && m <= 3 * entry->mr + 1; m++) {
            for (size_t nc = 1; nc <= 2 * entry->nr + 3; nc += nc < entry->nr + 2 ? 1 : 5)
                one_of(entry, m, nc, 1 + check_below(11), 1 + check_below(24), false, check_below(4) == 0,
                       1 + check_below(2));
        }
        for (size_t channels = 1; channels <= 15; channels++) {
            for (size_t side = 2; side <= 7; side++)
                joined(entry, channels, side, 1 + check_below(3 * entry->nr));
        }
        for (size_t mr = 1; mr <= entry->mr; mr += entry->mr - 1) { // more than one block of k
            one(entry, mr, 2 * entry->nr, 1000, 1, false, false);
            one(entry, mr, entry->nr + 3, 511 + check_below(600), 1, false, false);
            one(entry, mr, entry->nr + 3, 127 + check_below(900), 1 + check_below(9), true, false);
        }
        // These cases have enough columns of B that A is reordered more than once.
        one(entry, entry->mr, 7 * entry->nr + 5, 600 + check_below(40), 2, true, false);
        one(entry, 1 + check_below(3 * entry->mr), 13 * entry->nr - 1, 1200 + check_below(40), 1, false, false);
        for (size_t kc = 40; kc < 200; kc++) { // values around the borders of tiles of 32 half floats
            one(entry, 1 + check_below(3 * entry->mr), 1 + check_below(3 * entry->nr), kc, 1, false, false);
            one(entry, entry->mr, 1 + check_below(3 * entry->nr), kc, 1 + check_below(9), true, false);
        }
        for (size_t m = 1; m <= 4 * entry->mr + 1; m++) { // one call computes several strips
            for (size_t times = 0; times < 3; times++)
                one(entry, m, 1 + check_below(3 * entry->nr), 1 + check_below(20), 1, false, check_below(4) == 0);
            one(entry, m, 3 * entry->nr / 2, 16, 1, false, false);
        }
    }
}

void check_gemm_f32(bool benchmark)
{
    check_entries("gemm_f32", taper_gemm_f32_entry, benchmark);
}

void check_gemm_half(bool benchmark)
{
    check_entries("gemm_half", taper_gemm_half_entry, benchmark);
}
