// SPDX-License-Identifier: BSD-2-Clause
// Checks products with narrow weights (narrow_f32.h): every kernel is compared with sums in doubles, for lengths with
// remainders and memory that ends at an inaccessible page. This test builds panels number by number, independently of
// the library's packing.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/half.h"
#include "bench.h"
#include "check.h"
#include "ops/kernels/kernel_select.h"

enum { MOST_OUTPUTS = 9, ROUNDS = 40 };

static double bound_of(double magnitudes)
{
    return 1e-6 * magnitudes + 1e-30;
}

// ---- products with half floats

static void check_halves(const taper_narrow_entry *entry, bool bf16, size_t n, size_t k)
{
    const size_t step = k + check_below(3);
    float *x = check_floats(k, CHECK_TAIL, 0), *y = check_floats(n, CHECK_TAIL, 0);
    uint16_t *w = check_bytes(((n - 1) * step + k) * sizeof *w, CHECK_TAIL, 0);
    check_fill(x, k, -1, 1);
    for (size_t i = 0; i < (n - 1) * step + k; i++) {
        const float number = check_uniform(-2, 2);
        w[i] = bf16 ? taper_float_to_bf16(number) : taper_float_to_f16(number);
    }
    (bf16 ? entry->gemv_bf16 : entry->gemv_fp16)(n, k, x, w, step, y);
    for (size_t i = 0; i < n; i++) {
        double sum = 0, magnitudes = 0;
        for (size_t j = 0; j < k; j++) {
            const uint16_t half = w[i * step + j];
            const double product = (double)x[j] * (double)(bf16 ? taper_bf16_to_float(half) : taper_f16_to_float(half));
            sum += product;
            magnitudes += fabs(product);
        }
        check_that(fabs((double)y[i] - sum) <= bound_of(magnitudes), "%s of %zu inputs: output %zu is %g, not %g",
                   bf16 ? "bf16" : "fp16", k, i, (double)y[i], sum);
    }
    check_memory_reset();
}

// ---- panels of narrow weights

static void put_nibble(uint32_t *weights, size_t nr, size_t k, size_t column, int number)
{
    uint32_t *word = &weights[k / 8 * nr + column];
    *word = (*word & ~(15u << k % 8 * 4)) | (uint32_t)(number + 8) << k % 8 * 4;
}

// Stores a scale or zero point in the format `kind`, and returns the stored number, rounded to the format.
static float put_number(taper_narrow_numbers kind, void *numbers, size_t at, float number)
{
    if (kind == TAPER_NARROW_F32)
        return ((float *)numbers)[at] = number;
    const bool bf16 = kind == TAPER_NARROW_BF16;
    const uint16_t half = bf16 ? taper_float_to_bf16(number) : taper_float_to_f16(number);
    ((uint16_t *)numbers)[at] = half;
    return bf16 ? taper_bf16_to_float(half) : taper_f16_to_float(half);
}

static void check_panel(const taper_narrow_entry *entry, unsigned bits, bool points, taper_narrow_numbers numbers,
                        size_t group, size_t groups)
{
    const taper_narrow_format format = {.bits = bits, .points = points, .numbers = numbers, .group = group};
    const size_t nr = entry->nr, bytes = taper_narrow_group_bytes(&format, nr), k = group * groups;
    char *panel = check_bytes(bytes * groups, CHECK_TAIL, 0);
    float *x = check_floats(k, CHECK_TAIL, 0), *y = check_floats(nr, CHECK_TAIL, 0),
          *wide = check_floats(group * nr, CHECK_TAIL, 0);
    double *sums = check_bytes(nr * sizeof *sums, CHECK_TAIL, 0),
           *magnitudes = check_bytes(nr * sizeof *magnitudes, CHECK_TAIL, 0);
    memset(sums, 0, nr * sizeof *sums);
    memset(magnitudes, 0, nr * sizeof *magnitudes);
    memset(panel, 0, bytes * groups);
    check_fill(x, k, -1, 1);
    for (size_t g = 0; g < groups; g++) {
        char *scales = panel + g * bytes, *weights = scales + taper_narrow_number_bytes(&format, nr);
        for (size_t c = 0; c < nr; c++) {
            const float scale = put_number(numbers, scales, c, check_uniform(0.001f, 0.1f));
            const float zero = points ? put_number(numbers, scales, nr + c, (float)((int)check_below(16) - 8)) : 0;
            for (size_t i = 0; i < group; i++) {
                const int number = (int)check_below(1u << bits) - (1 << (bits - 1));
                if (bits == 4)
                    put_nibble((uint32_t *)(void *)weights, nr, i, c, number);
                else
                    ((int8_t *)weights)[i * nr + c] = (int8_t)number;
                const double product = (double)x[g * group + i] * ((double)number - (double)zero) * (double)scale;
                sums[c] += product;
                magnitudes[c] += fabs(product);
            }
        }
    }
    entry->gemv_panel(&format, groups, x, panel, y);
    for (size_t c = 0; c < nr; c++)
        check_that(fabs((double)y[c] - sums[c]) <= bound_of(4 * magnitudes[c]),
                   "%u bits, groups of %zu%s: output %zu is %g, not %g", bits, group, points ? " with points" : "", c,
                   (double)y[c], sums[c]);
    // Converts the last group to floats in two parts. The floats must give the sums that gemv_panel computes.
    const size_t first = bits == 4 ? check_below(group / 8 + 1) * 8 : check_below(group + 1);
    const char *last = panel + (groups - 1) * bytes;
    entry->widen_panel(&format, last, 0, first, wide);
    entry->widen_panel(&format, last, first, group - first, wide + first * nr);
    entry->gemv_panel(&format, 1, x + (groups - 1) * group, last, y);
    for (size_t c = 0; c < nr; c++) {
        double sum = 0, magnitude = 0;
        for (size_t i = 0; i < group; i++) {
            const double product = (double)x[(groups - 1) * group + i] * (double)wide[i * nr + c];
            sum += product;
            magnitude += fabs(product);
        }
        check_that(fabs((double)y[c] - sum) <= bound_of(4 * magnitude), "%u bits: widened output %zu gives %g, not %g",
                   bits, c, sum, (double)y[c]);
    }
    check_memory_reset();
}

static void print_speed(const taper_narrow_entry *entry)
{
    enum { IN = 2048, OUT = 64, TIMES = 200 };
    float *x = check_floats(IN, CHECK_TAIL, 0), *y = check_floats(OUT, CHECK_TAIL, 0);
    char *w = check_bytes((size_t)IN * OUT * 2, CHECK_TAIL, 0);
    memset(w, 0, (size_t)IN * OUT * 2);
    check_fill(x, IN, -1, 1);
    for (unsigned bits = 4; bits <= 16; bits *= 2) {
        const taper_narrow_format format = {.bits = bits, .group = 32};
        const size_t panel = bits < 16 ? taper_narrow_group_bytes(&format, entry->nr) * (IN / 32) : 0;
        const double begin = bench_now();
        for (size_t i = 0; i < TIMES; i++) {
            if (bits == 16)
                entry->gemv_bf16(OUT, IN, x, (const uint16_t *)(void *)w, IN, y);
            for (size_t n = 0; n < OUT && bits != 16; n += entry->nr)
                entry->gemv_panel(&format, IN / 32, x, w + n / entry->nr * panel, y);
        }
        printf("  %-10s %2u bits %8.2f weights/ns\n", entry->name, bits,
               (double)TIMES * IN * OUT / (bench_now() - begin) * 1e-9);
    }
    check_memory_reset();
}

void check_narrow_f32(bool bench)
{
    const taper_narrow_entry *entry;
    for (size_t e = 0; (entry = taper_narrow_f32_entry_at(e)) != NULL; e++) {
        if ((check_cpu() & entry->cpu) != entry->cpu)
            continue;
        check_begin("narrow_f32", entry->name);
        if (bench) {
            print_speed(entry);
            continue;
        }
        check_that(entry->nr == taper_gemm_f32_select(entry->cpu)->nr, "its panels are not those of the gemm kernels");
        for (int round = 0; round < ROUNDS && !check_failed(); round++) {
            check_halves(entry, round % 2 == 0, 1 + check_below(MOST_OUTPUTS), 1 + check_below(100));
            const taper_narrow_numbers numbers = (taper_narrow_numbers)check_below(TAPER_NARROW_FP16 + 1);
            check_panel(entry, 4, round % 2 == 0, numbers, 8 * (1 + check_below(9)), 1 + check_below(4));
            check_panel(entry, 8, round % 2 == 0, numbers, 1 + check_below(70), 1 + check_below(4));
        }
    }
}
