// SPDX-License-Identifier: BSD-2-Clause
// Normalization of bytes (native.h), a part of native_tmpl.h.

static void moments_u8(size_t n, const uint8_t *x, uint8_t flip, uint64_t *sum, uint64_t *squares)
{
    enum { PIECE = 1 << 14 }; // number of bytes whose sum of squares surely fits into 32 bits
    *sum = *squares = 0;
    while (n != 0) {
        const size_t count = n < PIECE ? n : PIECE;
        uint32_t own = 0, own_squares = 0;
        VECTORIZED for (size_t i = 0; i < count; i++)
        {
            const uint16_t v = x[i] ^ flip;
            own += v;
            own_squares += (uint16_t)(v * v);
        }
        *sum += own;
        *squares += own_squares;
        x += count;
        n -= count;
    }
}

TAPER_TEMPLATE uint8_t norm_one(uint8_t x, float weight, float bias, const taper_norm_numbers *p)
{
    const float whole = 12582912.0f; // adding 1.5 * 2^23 rounds to an integer, which is then in the low bits
    const float v = fmaf(((float)(x ^ p->flip) - p->x_point - p->mean) * p->step, weight, bias) * p->inverse;
    const float below = v < p->high ? v : p->high, held = below > p->low ? below : p->low;
    return (uint8_t)(taper_float_to_bits(held + whole) + (uint32_t)p->point) ^ p->flip;
}
static void norm_u8(size_t n, const uint8_t *x, const float *weight, const float *bias, size_t stride,
                    const taper_norm_numbers *numbers, uint8_t *y)
{
    const taper_norm_numbers p = *numbers;
    if (stride == 0) {
        const float w = *weight, b = *bias;
        VECTORIZED for (size_t i = 0; i < n; i++) y[i] = norm_one(x[i], w, b, &p);
    } else {
        VECTORIZED for (size_t i = 0; i < n; i++) y[i] = norm_one(x[i], weight[i], bias[i], &p);
    }
}
