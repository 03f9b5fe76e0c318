// SPDX-License-Identifier: BSD-2-Clause
// Checks the quantized elementwise kernels: every kernel must give the same bits as arithmetic in 64-bit integers and
// double precision.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "check.h"
#include "ops/kernels/kernel_select.h"

enum { MOST = 300 };

static uint8_t *random_bytes(size_t n, check_place place)
{
    uint8_t *p = check_bytes(n, place, 0);
    for (size_t i = 0; i < n; i++)
        p[i] = check_below(4) == 0 ? (uint8_t)(check_below(2) * 255) : (uint8_t)check_random();
    return p;
}

static void sums(const taper_vector_u8_entry *entry, size_t n, check_place place)
{
    const uint8_t *a = random_bytes(n, place), *b = random_bytes(n, place);
    uint8_t *y = check_bytes(n, place, 0);
    const bool small = check_below(3) == 0; // small numbers make many ties when results are rounded
    taper_u8_sum p = {.shift = small ? 1 + (uint32_t)check_below(4) : 13 + (uint32_t)check_below(19)};
    p.a_factor = (int32_t)(check_below(small ? 16 : ((size_t)1 << 22) + 1));
    p.b_factor = (int32_t)(check_below(small ? 16 : ((size_t)1 << 22) + 1));
    const int64_t za = (int64_t)check_below(256), zb = (int64_t)check_below(256);
    p.offset = (int32_t)(uint32_t)(uint64_t) - (za * p.a_factor + zb * p.b_factor);
    p.zero_point = (int32_t)check_below(256);
    p.min = check_below(2) ? p.zero_point : 0;
    p.max = check_below(3) ? 255 : p.min + (int32_t)check_below((size_t)(256 - p.min));
    entry->add(n, a, b, &p, y);
    for (size_t i = 0; i < n && !check_failed(); i++) {
        const int64_t sum = (a[i] - za) * p.a_factor + (b[i] - zb) * p.b_factor;
        const double quotient = (double)sum / (double)((int64_t)1 << p.shift);
        int64_t want = (int64_t)(quotient < 0 ? -floor(-quotient + 0.5) : floor(quotient + 0.5));
        want = (want > 32767 ? 32767 : want < -32768 ? -32768 : want) + p.zero_point;
        want = want < p.min ? p.min : want > p.max ? p.max : want;
        check_that(y[i] == want, "add, shift %u: %d is not %d (sum %lld)", p.shift, y[i], (int)want, (long long)sum);
    }
}

static void translations(const taper_vector_u8_entry *entry, size_t n, check_place place)
{
    const uint8_t *x = random_bytes(n, place), *table = random_bytes(256, place);
    uint8_t *y = check_bytes(n, place, 0), *same = check_bytes(n, place, 0);
    memcpy(same, x, n);
    entry->translate(n, table, x, y);
    entry->translate(n, table, same, same);
    for (size_t i = 0; i < n && !check_failed(); i++)
        check_that(y[i] == table[x[i]] && same[i] == y[i], "translate: %d of %d is not %d", y[i], x[i], table[x[i]]);
}

static void products(const taper_vector_u8_entry *entry, size_t n, check_place place)
{
    const size_t b_step = check_below(2);
    const uint8_t *a = random_bytes(n, place), *b = random_bytes(b_step != 0 ? n : 1, place);
    uint8_t *y = check_bytes(n, place, 0);
    const float multipliers[] = {
        0.5f, 0.25f, 1.0f, TAPER_U8_MULTIPLIER, 1e-7f, check_uniform(0.0001f, 0.05f)}; // the first scales make ties
    taper_u8_product p = {.multiplier = multipliers[check_below(6)]};
    p.a_point = (int32_t)check_below(256);
    p.b_point = (int32_t)check_below(256);
    p.zero_point = (int32_t)check_below(256);
    p.min = check_below(2) ? p.zero_point : 0;
    entry->multiply(n, a, b, b_step, &p, y);
    for (size_t i = 0; i < n && !check_failed(); i++) {
        const int32_t product = (a[i] - p.a_point) * (b[i * b_step] - p.b_point);
        int64_t want = (int64_t)nearbyintf((float)product * p.multiplier) + p.zero_point;
        want = want < p.min ? p.min : want > 255 ? 255 : want;
        check_that(y[i] == want, "multiply by %a: %d is not %d (product %d)", (double)p.multiplier, y[i], (int)want,
                   product);
    }
}

static void floats(const taper_vector_u8_entry *entry, size_t n, check_place place)
{
    float *x = check_floats(n, place, 0), *back = check_floats(n, place, 0);
    uint8_t *y = check_bytes(n, place, 0);
    const bool ties = check_below(2) == 0;
    for (size_t i = 0; i < n; i++)
        x[i] = ties ? (float)((int)check_below(1200) - 600) * 0.5f : check_uniform(-300, 300);
    const float inverse = ties ? 1.0f : check_below(4) == 0 ? 1e18f : check_uniform(0.01f, 3);
    if (check_below(3) == 0)
        check_fill_special(x, n, 5, false);
    const int32_t zero_point = (int32_t)check_below(256);
    entry->quantize(n, x, inverse, zero_point, y);
    entry->dequantize(n, y, 0.37f, zero_point, back);
    float low, high, want_low = 0, want_high = 0;
    entry->range(n, x, &low, &high);
    bool bad = false;
    for (size_t i = 0; i < n && !check_failed(); i++) {
        const float r = nearbyintf(x[i] * inverse);
        int64_t q = !(r >= -9.2e18f && r <= 9.2e18f) ? 0 : (int64_t)r + zero_point;
        q = q < 0 ? 0 : q > 255 ? 255 : q;
        check_that(y[i] == q, "quantize %a * %a + %d: %d is not %d", (double)x[i], (double)inverse, zero_point, y[i],
                   (int)q);
        const float want = 0.37f * (float)(y[i] - zero_point);
        check_that(back[i] == want, "dequantize %d", y[i]);
        want_low = fminf(want_low, x[i]);
        want_high = fmaxf(want_high, x[i]);
        bad = bad || isnan(x[i]);
    }
    check_that(bad ? isnan(low) && isnan(high) : low == want_low && high == want_high, "range of %zu: %g %g, not %g %g",
               n, (double)low, (double)high, (double)want_low, (double)want_high);
}

// Returns a x + b y, where only one product is rounded before the sum: a x if `second` is true, otherwise b y.
static float both(bool second, float a, float x, float b, float y)
{
    return second ? fmaf(b, y, a * x) : fmaf(a, x, b * y);
}

static void interpolation(const taper_vector_u8_entry *entry, size_t channels, check_place place)
{
    enum { PIXELS = 3 };
    const uint8_t *taps[2 * PIXELS];
    float w[2 * PIXELS], *rows[2];
    const size_t count = PIXELS * channels;
    for (size_t r = 0; r < 2; r++) {
        rows[r] = check_floats(count, place, 0);
        for (size_t i = 0; i < 2 * PIXELS; i++) {
            taps[i] = random_bytes(channels, place);
            w[i] = i % 2 == 1 ? 1.0f - w[i - 1] : check_below(4) == 0 ? 0.5f : check_uniform(0, 1);
        }
        entry->stretch(PIXELS, channels, taps, w, rows[r]);
        for (size_t i = 0; i < count && !check_failed(); i++) {
            const size_t p = i / channels, c = i % channels;
            const float want = both(c < channels / 8 * 8, w[2 * p], taps[2 * p][c], w[2 * p + 1], taps[2 * p + 1][c]);
            check_that(rows[r][i] == want, "stretch, channel %zu of %zu: %a is not %a", c, channels, (double)rows[r][i],
                       (double)want);
        }
    }
    const size_t stride = channels + check_below(4), bytes = (PIXELS - 1) * stride + channels;
    const int32_t zero_point = (int32_t)check_below(256);
    uint8_t *y = check_bytes(bytes, place, 0);
    memset(y, 0x5A, bytes);
    entry->blend(PIXELS, channels, rows[0], rows[1], w, zero_point, y, stride);
    for (size_t i = 0; i < bytes && !check_failed(); i++) {
        const size_t p = i / stride, c = i % stride, at = p * channels + c;
        double want = 0x5A;
        if (c < channels) {
            const float sum = both(c < channels / 8 * 8, w[0], rows[0][at], w[1], rows[1][at]);
            want = rint((double)(sum - (float)zero_point)) + zero_point;
            want = want < 0 ? 0 : want > 255 ? 255 : want;
        }
        check_that(y[i] == want, "blend, channel %zu of %zu: %d is not %g", c, channels, y[i], want);
    }
}

static void pools(const taper_vector_u8_entry *entry, size_t count, check_place place)
{
    enum { PIXELS = 3, TAPS = 5 };
    const size_t taps = 1 + check_below(TAPS), y_stride = count + check_below(5);
    const uint8_t *a[PIXELS * TAPS];
    for (size_t i = 0; i < PIXELS * taps; i++)
        a[i] = random_bytes(count, place);
    const size_t bytes = (PIXELS - 1) * y_stride + count;
    uint8_t *y = check_bytes(bytes, place, 0);
    memset(y, 0x5A, bytes);
    entry->max_pool(PIXELS, count, taps, a, PIXELS, y, y_stride);
    for (size_t i = 0; i < bytes && !check_failed(); i++) {
        const size_t pixel = i / y_stride, c = i % y_stride;
        uint8_t want = c < count ? 0 : 0x5A;
        for (size_t t = 0; t < taps && c < count; t++)
            want = a[t * PIXELS + pixel][c] > want ? a[t * PIXELS + pixel][c] : want;
        check_that(y[i] == want, "max_pool of %zu channels, %zu taps: (%zu, %zu)", count, taps, pixel, c);
    }
}

static void planes(const taper_vector_u8_entry *entry, size_t n, check_place place)
{
    const uint8_t *plane[4];
    for (size_t k = 0; k < 4; k++) {
        uint8_t *bytes = check_bytes(n, place, 0);
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)check_random();
        plane[k] = k > 0 && check_below(4) == 0 ? plane[k - 1] : bytes;
    }
    uint8_t *y = check_bytes(4 * n, place, 0);
    entry->interleave(n, plane, y);
    for (size_t i = 0; i < 4 * n; i++)
        check_that(y[i] == plane[i % 4][i / 4], "interleave of %zu: byte %zu is %d, not %d", n, i, y[i],
                   plane[i % 4][i / 4]);
}

typedef struct bench_job {
    const taper_vector_u8_entry *entry;
    const uint8_t *a, *b;
    const float *x;
    uint8_t *y;
    size_t n;
    int what;
} bench_job;

static void bench_run(void *argument)
{
    const bench_job *j = argument;
    const taper_u8_sum p = {3000000, 2000000, -600000000, 22, 100, 0, 255};
    if (j->what == 0) {
        j->entry->add(j->n, j->a, j->b, &p, j->y);
    } else {
        j->entry->quantize(j->n, j->x, 100.0f, 100, j->y);
    }
}

static void bench(const taper_vector_u8_entry *entry)
{
    enum { N = 16384 };
    void *memory[] = {bench_floats(N / 4), bench_floats(N / 4), bench_floats(N), bench_floats(N / 4)};
    bench_job j = {entry, memory[0], memory[1], memory[2], memory[3], N, 0};
    for (; j.what < 2; j.what++) {
        const double t = bench_best(bench_run, &j, 10, 0.001);
        printf("vector_u8 %-8s %-10s %6.2f G elements/s\n", entry->name, j.what == 0 ? "add" : "quantize",
               (double)N / t * 1e-9);
    }
    for (size_t i = 0; i < 4; i++)
        bench_free(memory[i]);
}

void check_vector_u8(bool benchmark)
{
    for (size_t x = 0; taper_vector_u8_entry_at(x) != NULL; x++) {
        const taper_vector_u8_entry *entry = taper_vector_u8_entry_at(x);
        if ((entry->cpu & check_cpu()) != entry->cpu)
            continue;
        check_begin("vector_u8", entry->name);
        if (benchmark) {
            bench(entry);
            continue;
        }
        for (size_t n = 1; n < MOST; n++) {
            const check_place place = check_below(2) ? CHECK_TAIL : CHECK_HEAD;
            sums(entry, n, place);
            products(entry, n, place);
            interpolation(entry, n % 41 + 1, place);
            floats(entry, n, place);
            pools(entry, n, place);
            if (entry->translate != NULL)
                translations(entry, n, place);
            if (entry->interleave != NULL)
                planes(entry, n, place);
            check_memory_reset();
        }
    }
}
