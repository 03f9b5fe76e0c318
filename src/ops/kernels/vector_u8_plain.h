// SPDX-License-Identifier: BSD-2-Clause
// The functions of vector_u8.h for one element, in plain C: the scalar entry, and the last elements of the other
// entries.
#include <math.h>

#include "ops/kernels/vector_u8.h"

TAPER_TEMPLATE uint8_t one_sum(uint8_t a, uint8_t b, const taper_u8_sum *p)
{
    const int32_t sum = (int32_t)((uint32_t)p->offset + a * (uint32_t)p->a_factor + b * (uint32_t)p->b_factor);
    const int32_t mask = (int32_t)((UINT32_C(1) << p->shift) - 1), rest = (sum & mask) - (sum < 0);
    // The expression shifts right arithmetically, in a form that C defines for negative numbers too.
    const int32_t quotient = sum < 0 ? ~(~sum >> p->shift) : sum >> p->shift;
    int32_t y = quotient + (rest > mask >> 1);
    y = y > 32767 ? 32767 : y < -32768 ? -32768 : y;
    y += p->zero_point;
    return (uint8_t)(y < p->min ? p->min : y > p->max ? p->max : y);
}

TAPER_TEMPLATE uint8_t one_product(uint8_t a, uint8_t b, const taper_u8_product *p)
{
    int32_t y = (int32_t)nearbyintf((float)((a - p->a_point) * (b - p->b_point)) * p->multiplier);
    y = (y > 32767 ? 32767 : y < -32768 ? -32768 : y) + p->zero_point;
    return (uint8_t)(y < p->min ? p->min : y > 255 ? 255 : y);
}

TAPER_TEMPLATE uint8_t one_quantized(float x, float inverse, int32_t zero_point)
{
    const float low = (float)-zero_point, high = (float)(255 - zero_point), y = x * inverse;
    const float held = y > low && y <= TAPER_U8_TOO_MUCH ? (y < high ? y : high) : low;
    return (uint8_t)((int32_t)nearbyintf(held) + zero_point);
}

static void stretch(size_t pixels, size_t channels, const uint8_t *const *taps, const float *w, float *to)
{
    for (size_t i = 0; i < pixels; i++, taps += 2, w += 2, to += channels) {
        const uint8_t *const a = taps[0], *const b = taps[1];
        const float left = w[0], right = w[1];
        size_t c = 0;
        for (; c + 8 <= channels; c += 8) {
            TAPER_UNROLL
            for (size_t k = 0; k < 8; k++)
                to[c + k] = fmaf(right, (float)b[c + k], left * (float)a[c + k]);
        }
        for (; c < channels; c++)
            to[c] = fmaf(left, (float)a[c], right * (float)b[c]);
    }
}

TAPER_TEMPLATE uint8_t one_blended(float sum, int32_t zero_point)
{
    const int32_t q = (int32_t)nearbyintf(sum - (float)zero_point) + zero_point;
    return (uint8_t)(q < 0 ? 0 : q > 255 ? 255 : q);
}

static void blend(size_t pixels, size_t channels, const float *a, const float *b, const float *w, int32_t zero_point,
                  uint8_t *y, size_t y_stride)
{
    const float up = w[0], down = w[1];
    for (size_t i = 0; i < pixels; i++, a += channels, b += channels, y += y_stride) {
        size_t c = 0;
        for (; c + 8 <= channels; c += 8) {
            TAPER_UNROLL
            for (size_t k = 0; k < 8; k++)
                y[c + k] = one_blended(fmaf(down, b[c + k], up * a[c + k]), zero_point);
        }
        for (; c < channels; c++)
            y[c] = one_blended(fmaf(up, a[c], down * b[c]), zero_point);
    }
}
