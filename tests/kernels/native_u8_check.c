// SPDX-License-Identifier: BSD-2-Clause
// Compares the functions of native.h for bytes with scalar code: sums must be exact, and normalised bytes bit-exact.
#include <math.h>

#include "check.h"
#include "ops/kernels/native.h"

static void check_sums(const taper_native_entry *entry, size_t n, const uint8_t *x, uint8_t flip)
{
    uint64_t sum, squares, want = 0, want_squares = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t v = x[i] ^ flip;
        want += v;
        want_squares += v * v;
    }
    entry->moments_u8(n, x, flip, &sum, &squares);
    check_that(sum == want && squares == want_squares, "moments of %zu bytes: %llu and %llu, not %llu and %llu", n,
               (unsigned long long)sum, (unsigned long long)squares, (unsigned long long)want,
               (unsigned long long)want_squares);
}

static uint8_t norm(uint8_t x, float weight, float bias, const taper_norm_numbers *p)
{
    const float v = fmaf(((float)(x ^ p->flip) - p->x_point - p->mean) * p->step, weight, bias) * p->inverse;
    const float held = !(v < p->high) ? p->high : v > p->low ? v : p->low;
    return (uint8_t)((uint8_t)((int)nearbyintf(held) + p->point) ^ p->flip);
}

void check_native_bytes(const taper_native_entry *entry)
{
    enum { MOST = 300, LONG = 40000 };
    static const float edges[] = {NAN, INFINITY, -INFINITY, 1e30f, 0.5f, -0.0f, 0x1p-149f, 2.5f};
    for (size_t again = 0; again < 600; again++) {
        const size_t n = again < MOST ? again : again % 50 == 0 ? LONG : 1 + check_below(MOST);
        const uint8_t flip = check_below(2) ? 0x80 : 0;
        const size_t stride = check_below(2);
        const int32_t point = (int32_t)check_below(256);
        const taper_norm_numbers p = {.x_point = (float)check_below(256),
                                      .mean = check_uniform(-100, 100),
                                      .step = check_uniform(0, 0.1f),
                                      .inverse = check_below(9) == 0 ? 1e30f : 1 / check_uniform(0.01f, 1),
                                      .low = (float)-point,
                                      .high = (float)(255 - point),
                                      .point = point,
                                      .flip = flip};
        uint8_t *x = check_bytes(n, CHECK_TAIL, 0), *y = check_bytes(n, CHECK_TAIL, 0);
        float *weight = check_floats(stride != 0 ? n : 1, CHECK_TAIL, 0),
              *bias = check_floats(stride != 0 ? n : 1, CHECK_TAIL, 0);
        const bool full = check_below(4) == 0; // true to make the largest possible sums
        for (size_t i = 0; i < n; i++) {
            x[i] = full ? (uint8_t)~flip : (uint8_t)check_below(256);
        }
        for (size_t i = 0; i < (stride != 0 ? n : 1); i++) {
            weight[i] = check_below(20) == 0 ? edges[check_below(8)] : check_uniform(-2, 2);
            bias[i] = check_below(20) == 0 ? edges[check_below(8)] : check_uniform(-2, 2);
        }
        check_sums(entry, n, x, flip);
        entry->norm_u8(n, x, weight, bias, stride, &p, y);
        for (size_t i = 0; i < n; i++) {
            const uint8_t want = norm(x[i], weight[i * stride], bias[i * stride], &p);
            check_that(y[i] == want, "normalised byte %zu of %zu: %u, not %u", i, n, y[i], want);
        }
        check_memory_reset();
    }
}
