// SPDX-License-Identifier: BSD-2-Clause
// The kernels of vector_u8.h in plain C.
#include "ops/kernels/vector_u8_plain.h"

static void add(size_t n, const uint8_t *a, const uint8_t *b, const taper_u8_sum *p, uint8_t *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = one_sum(a[i], b[i], p);
}

static void multiply(size_t n, const uint8_t *a, const uint8_t *b, size_t b_step, const taper_u8_product *p, uint8_t *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = one_product(a[i], b[i * b_step], p);
}

static void quantize(size_t n, const float *x, float inverse, int32_t zero_point, uint8_t *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = one_quantized(x[i], inverse, zero_point);
}

static void dequantize(size_t n, const uint8_t *x, float scale, int32_t zero_point, float *y)
{
    for (size_t i = 0; i < n; i++)
        y[i] = scale * (float)(x[i] - zero_point);
}

static void range(size_t n, const float *x, float *min, float *max)
{
    float low = 0, high = 0, bad = 0;
    for (size_t i = 0; i < n; i++) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
        bad = x[i] != x[i] ? x[i] : bad;
    }
    *min = bad != bad ? bad : low;
    *max = bad != bad ? bad : high;
}

static void max_pool(size_t m, size_t count, size_t taps, const uint8_t *const *a, size_t a_tap_stride, uint8_t *y,
                     size_t y_stride)
{
    for (size_t i = 0; i < m; i++, a++, y += y_stride) {
        for (size_t c = 0; c < count; c++) {
            uint8_t most = 0;
            for (size_t t = 0; t < taps; t++) {
                const uint8_t x = a[t * a_tap_stride][c];
                most = x > most ? x : most;
            }
            y[c] = most;
        }
    }
}

VECTOR_U8_ENTRY(scalar, NULL, NULL)
