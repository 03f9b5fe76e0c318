// SPDX-License-Identifier: BSD-2-Clause
// Checks the conversions of cast.h: every kernel is compared with the arithmetic of a wider type, with numbers at the
// limits of the integers.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "check.h"
#include "ops/kernels/kernel_select.h"

enum { MOST = 150, U8, I8, I16, I32, I64, F16, BF16, F32, F64, BOOL, C64 };

static const struct {
    const char *name;
    uint8_t from, to;
} casts[] = {
#define CAST(from, to, x_type, y_type, value) {#from " to " #to, from, to},
    TAPER_CASTS(CAST) TAPER_CASTS_OF_HALVES(CAST)
#undef CAST
};

static size_t size_of(int type)
{
    return type == U8 || type == I8 || type == BOOL     ? 1
           : type == I16 || type == F16 || type == BF16 ? 2
           : type == I32 || type == F32                 ? 4
                                                        : 8;
}

// Fills memory with numbers of the type; half of the numbers are at the type's limits.
static void fill(int type, void *p, size_t n)
{
    static const float edges[] = {
        0x1p31f, -0x1p31f, 0x1.fffffep30f, 0x1p63f, -0x1p63f, 0x1.fffffep62f, 255.5f,   256, -1,
        -0.5f,   300,      1e30f,          NAN,     INFINITY, -0.0f,          -INFINITY};
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = (uint64_t)check_random() << 32 | check_random();
        const float x = check_below(2) ? edges[check_below(16)] : check_uniform(-1000, 1000);
        const double wide = (double)x * (check_below(2) ? 1.0 : 1.0000001);
        const int64_t whole = check_below(2) ? (int64_t)bits : (int64_t)(bits % 600) - 300;
        char *to = (char *)p + i * size_of(type);
        if (type == F32) {
            memcpy(to, &x, sizeof x);
        } else if (type == F64) {
            memcpy(to, &wide, sizeof wide);
        } else {
            // Half of the half floats have random bits, and the other half represent small numbers.
            const int64_t value = check_below(4) == 0           ? 0
                                  : type == F16 || type == BF16 ? (int64_t)(bits & 0xFFFF)
                                                                : whole;
            memcpy(to, &value, size_of(type)); // assumes little endian
        }
    }
}

// Returns the number that the 16 bits represent, of which `fraction_bits` are the fraction: 10 for a half, 7 for a
// bfloat16.
static float half_value(uint16_t bits, int fraction_bits)
{
    const int exponent = (bits & 0x7FFF) >> fraction_bits, fraction = bits & ((1 << fraction_bits) - 1);
    const int most = (1 << (15 - fraction_bits)) - 1;
    const double magnitude =
        exponent == most ? fraction != 0 ? NAN : (double)INFINITY
        : exponent == 0  ? ldexp(fraction, 2 - (most + 1) / 2 - fraction_bits)
                         : ldexp((1 << fraction_bits) + fraction, exponent + 1 - (most + 1) / 2 - fraction_bits);
    return (float)(bits >> 15 != 0 ? -magnitude : magnitude);
}

// Returns the bits of the half or bfloat16 nearest to x, ties to even, by a search over all numbers of that format.
static uint16_t half_of(float x, int fraction_bits)
{
    const uint16_t most = (uint16_t)(((1 << (15 - fraction_bits)) - 1) << fraction_bits);
    const uint16_t sign = signbit(x) ? 0x8000 : 0;
    if (isnan(x)) {
        return (uint16_t)(sign | most | 1 << (fraction_bits - 1));
    }
    uint16_t low = 0, high = most; // the magnitude increases with the bits, so bisection finds the number
    const double a = fabs((double)x);
    while (high - low > 1) {
        const uint16_t middle = (uint16_t)((low + high) / 2);
        *((double)half_value(middle, fraction_bits) <= a ? &low : &high) = middle;
    }
    // Infinity is treated as the next number after the largest finite number.
    const double below = (double)half_value(low, fraction_bits),
                 above = high == most ? 2 * below - (double)half_value((uint16_t)(low - 1), fraction_bits)
                                      : (double)half_value(high, fraction_bits);
    const bool up = a - below > above - a || (!(a - below < above - a) && low % 2 != 0);
    return (uint16_t)(sign | (up ? high : low));
}

static int64_t cut(double x, double limit)
{
    return x >= -limit && x < limit ? (int64_t)x : (int64_t)-limit;
}

// Writes the expected result for element i to y.
static void want(int from, int to, const void *x, size_t i, void *y)
{
    const char *p = (const char *)x + i * size_of(from);
    int64_t whole = 0;
    double real;
    float single = 0;
    if (from == F32 || from == F64) {
        memcpy(from == F32 ? (void *)&single : (void *)&real, p, size_of(from));
        real = from == F32 ? (double)single : real;
        whole = cut(real, to == I32 || to == I16 || to == I8 ? 0x1p31 : 0x1p63);
        single = (float)real;
    } else {
        memcpy(&whole, p, size_of(from));
        whole = from == I8     ? (int8_t)whole
                : from == I16  ? (int16_t)whole
                : from == I32  ? (int32_t)whole
                : from == BOOL ? whole != 0
                               : whole;
        real = (double)whole;
        single = (float)whole;
    }
    if (from == F16 || from == BF16) {
        single = half_value((uint16_t)whole, from == F16 ? 10 : 7);
    }
    const uint16_t half = to == F16 || to == BF16 ? half_of(single, to == F16 ? 10 : 7) : 0;
    const int64_t truth = from == F32 || from == F64 ? real != 0 : whole != 0;
    const float pair[2] = {single, 0};
    memcpy(y,
           to == F32                 ? (void *)&single
           : to == C64               ? (const void *)pair
           : to == F64               ? (void *)&real
           : to == BOOL              ? (void *)&truth
           : to == F16 || to == BF16 ? (void *)&half
                                     : (void *)&whole,
           size_of(to));
}

static void check_length(const taper_cast_entry *entry, size_t kind, size_t n)
{
    const int from = casts[kind].from, to = casts[kind].to;
    const check_place place = check_below(2) ? CHECK_TAIL : CHECK_HEAD;
    void *x = check_bytes(n * size_of(from), place, 0), *y = check_bytes(n * size_of(to), place, 0);
    fill(from, x, n);
    entry->casts[kind](n, x, y);
    for (size_t i = 0; i < n; i++) {
        char expected[8], *got = (char *)y + i * size_of(to);
        float a = 0, b = 0;
        double c = 0, d = 0;
        want(from, to, x, i, expected);
        if (to == F32) {
            memcpy(&a, got, sizeof a), memcpy(&b, expected, sizeof b);
        } else if (to == F64) {
            memcpy(&c, got, sizeof c), memcpy(&d, expected, sizeof d);
        } else if (to == F16 || to == BF16) { // any NaN equals any other NaN
            uint16_t got_half, want_half;
            memcpy(&got_half, got, sizeof got_half), memcpy(&want_half, expected, sizeof want_half);
            a = half_value(got_half, to == F16 ? 10 : 7), b = half_value(want_half, to == F16 ? 10 : 7);
        }
        const bool nan = (isnan(a) && isnan(b)) || (isnan(c) && isnan(d));
        check_that(nan || memcmp(got, expected, size_of(to)) == 0, "%s of %zu: element %zu differs", casts[kind].name,
                   n, i);
    }
}

typedef struct bench_job {
    taper_cast_function *cast;
    void *x, *y;
} bench_job;

static void bench_run(void *argument)
{
    const bench_job *j = argument;
    j->cast(8192, j->x, j->y);
}

void check_cast(bool benchmark)
{
    for (size_t index = 0; taper_cast_entry_at(index) != NULL; index++) {
        const taper_cast_entry *entry = taper_cast_entry_at(index);
        if ((entry->cpu & check_cpu()) != entry->cpu)
            continue;
        check_begin("cast", entry->name);
        for (size_t kind = 0; kind < TAPER_CAST_COUNT; kind++) {
            if (benchmark) {
                bench_job j = {entry->casts[kind], bench_floats(16384), bench_floats(16384)};
                const double t = bench_best(bench_run, &j, 10, 0.0005);
                printf("cast %-8s %-12s %6.2f G elements/s\n", entry->name, casts[kind].name, 8192 / t * 1e-9);
                bench_free(j.x), bench_free(j.y);
                continue;
            }
            for (size_t n = 0; n < MOST; n++) {
                check_length(entry, kind, n);
                check_memory_reset();
            }
        }
    }
}
