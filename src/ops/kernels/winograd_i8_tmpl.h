// SPDX-License-Identifier: BSD-2-Clause
// The body of winograd_i8.h's functions. The including file defines vectors W of 16 bits and N of 32 bits, with w_widen
// and w_widen_signed (of bytes), w_store, w_set; n_load, n_mul, n_sra; add, sub and shl of both; store_row, which
// requantizes up to four pixels of N_LANES channels; and product_tile.
#include "ops/kernels/winograd_i8.h"

enum { SIDE = TAPER_WINOGRAD_I8_SIDE, OUTPUTS = 4 };

// ---- transform of the inputs d0 to d5: 4d0 - 5d2 + d4, d4 - 4d2 +- (d3 - 4d1), d4 - d2 +- 2(d3 - d1), 4d1 - 5d3 + d5

TAPER_TEMPLATE void input_line(const W *d, W *v)
{
    const W a = w_sub(d[4], w_shl(d[2], 2)), b = w_sub(d[3], w_shl(d[1], 2));
    const W c = w_sub(d[4], d[2]), e = w_sub(d[3], d[1]), twice = w_add(e, e);
    v[0] = w_add(w_shl(w_sub(d[0], d[2]), 2), c);
    v[1] = w_add(a, b);
    v[2] = w_sub(a, b);
    v[3] = w_add(c, twice);
    v[4] = w_sub(c, twice);
    v[5] = w_sub(w_sub(d[5], d[3]), w_shl(e, 2));
}

TAPER_TEMPLATE void input_block(const uint8_t *const *x, size_t c, W zero, int16_t *v, size_t v_stride)
{
    W t[SIDE][SIDE];
    TAPER_NO_UNROLL
    for (size_t j = 0; j < SIDE; j++) {
        W d[SIDE], made[SIDE];
        TAPER_UNROLL
        for (size_t i = 0; i < SIDE; i++)
            d[i] = w_widen(x[SIDE * i + j] + c);
        input_line(d, made);
        TAPER_UNROLL
        for (size_t i = 0; i < SIDE; i++)
            t[i][j] = made[i];
    }
    // A constant that is added to all inputs changes only one transformed value, by 36 times the constant. The zero
    // point is therefore subtracted only from that value.
    TAPER_NO_UNROLL
    for (size_t i = 0; i < SIDE; i++, v += SIDE * v_stride) {
        W made[SIDE];
        input_line(t[i], made);
        if (i == 1)
            made[1] = w_sub(made[1], zero);
        TAPER_UNROLL
        for (size_t j = 0; j < SIDE; j++)
            w_store(v + j * v_stride, made[j]);
    }
}

// ---- the transform of the weights g0 to g2: g0, g0 + g2 +- g1, g0 + 4g2 +- 2g1, g2

TAPER_TEMPLATE void weights_line(W a, W b, W c, W *u)
{
    const W even = w_add(a, c), far = w_add(a, w_shl(c, 2)), twice = w_add(b, b);
    u[0] = a;
    u[1] = w_add(even, b);
    u[2] = w_sub(even, b);
    u[3] = w_add(far, twice);
    u[4] = w_sub(far, twice);
    u[5] = c;
}

TAPER_TEMPLATE void weights_block(const int8_t *g, int16_t *u, size_t u_stride)
{
    W t[3][SIDE];
    TAPER_NO_UNROLL
    for (size_t j = 0; j < 3; j++, g += 2 * NR)
        weights_line(w_widen_signed(g), w_widen_signed(g + 3 * 2 * NR), w_widen_signed(g + 6 * 2 * NR), t[j]);
    TAPER_NO_UNROLL
    for (size_t i = 0; i < SIDE; i++, u += SIDE * u_stride) {
        W made[SIDE];
        weights_line(t[0][i], t[1][i], t[2][i], made);
        TAPER_UNROLL
        for (size_t j = 0; j < SIDE; j++)
            w_store(u + j * u_stride, made[j]);
    }
}

// ---- the transform of the outputs

// Returns 24 times the sums of a line. The weights' denominators were left out, so the positions have the factors 6,
// -4, -4, 1, 1, 24.
TAPER_TEMPLATE void output_line(const N *m, N *y)
{
    const N s = n_shl(n_add(m[1], m[2]), 2), d = n_shl(n_sub(m[1], m[2]), 2);
    const N p = n_add(m[3], m[4]), q = n_shl(n_sub(m[3], m[4]), 1);
    const N first = n_add(n_shl(m[0], 2), n_add(m[0], m[0])), last = n_add(n_shl(m[5], 4), n_shl(m[5], 3));
    y[0] = n_add(n_sub(first, s), p);
    y[1] = n_sub(q, d);
    y[2] = n_sub(n_shl(p, 2), s);
    y[3] = n_add(n_sub(n_shl(q, 2), d), last);
}

TAPER_TEMPLATE void output_block(const int32_t *m, size_t m_stride, const taper_winograd_i8_output *o, size_t c,
                                 LIMITS limits)
{
    N t[OUTPUTS][SIDE];
    TAPER_NO_UNROLL
    for (size_t j = 0; j < SIDE; j++) {
        N d[SIDE], made[OUTPUTS];
        TAPER_UNROLL
        for (size_t i = 0; i < SIDE; i++)
            d[i] = n_load(m + (SIDE * i + j) * m_stride);
        output_line(d, made);
        TAPER_UNROLL
        for (size_t i = 0; i < OUTPUTS; i++)
            t[i][j] = made[i];
    }
    const N ninth = n_set(0x38E38E39); // inverse of 9 modulo 2^32
    const N middle = n_load(o->middle + c), start = n_shl(middle, 6), bias = n_add(middle, n_load(o->e.bias + c));
    uint8_t *y = o->y + c;
    TAPER_NO_UNROLL
    for (size_t i = 0; i < o->rows; i++, y += o->row) {
        N made[OUTPUTS];
        output_line(t[i], made);
        TAPER_UNROLL
        for (size_t j = 0; j < OUTPUTS; j++)
            made[j] = n_add(n_sra(n_sub(n_mul(made[j], ninth), start), 6), bias);
        store_row(y, o->pixel, o->columns, made, o->e.scale + c, limits);
    }
}

// ---- products of transformed inputs and weights

// Computes a panel's product for mr rows. Between the products it prefetches the next weights, `asked` bytes for every
// two inputs.
TAPER_TEMPLATE void product_tile(const size_t mr, const taper_winograd_i8_product *t, const int16_t *w, int32_t *c,
                                 const char *next, size_t asked);

TAPER_TEMPLATE void product_strip(const size_t mr, const taper_winograd_i8_product *t)
{
    const int16_t *w = t->w;
    const char *next = t->next;
    const size_t asked = 4 * NR / t->parts;
    for (size_t column = 0; column < t->columns; column += NR, w += t->depth * NR) {
        product_tile(mr, t, w, t->c + column, next, asked);
        next += t->depth / 2 * asked;
    }
}

// ---- the functions of an entry

// Builds for size have no entries of this family.
#if !TAPER_WINOGRAD_I8
#define WINOGRAD_I8(isa)
#define WINOGRAD_I8_PRODUCT(isa)
#else
#define WINOGRAD_I8(isa)                                                                                               \
    void taper_winograd_i8_input_##isa(size_t channels, const uint8_t *const *x, int32_t zero_point, int16_t *v,       \
                                       size_t v_stride)                                                                \
    {                                                                                                                  \
        const W zero = w_set((int16_t)(36 * zero_point));                                                              \
        for (size_t at = 0; at < channels; at += W_LANES) { /* the last vector repeats channels */                     \
            const size_t c = at + W_LANES <= channels ? at : channels - W_LANES;                                       \
            input_block(x, c, zero, v + c, v_stride);                                                                  \
        }                                                                                                              \
    }                                                                                                                  \
    void taper_winograd_i8_weights_##isa(const int8_t *g, int16_t *u, size_t u_stride)                                 \
    {                                                                                                                  \
        for (size_t n = 0; n < 2 * NR; n += W_LANES)                                                                   \
            weights_block(g + n, u + n, u_stride);                                                                     \
    }                                                                                                                  \
    void taper_winograd_i8_output_##isa(size_t channels, const int32_t *m, size_t m_stride,                            \
                                        const taper_winograd_i8_output *o)                                             \
    {                                                                                                                  \
        const LIMITS limits = limits_of(&o->e);                                                                        \
        for (size_t at = 0; at < channels; at += N_LANES) {                                                            \
            const size_t c = at + N_LANES <= channels ? at : channels - N_LANES;                                       \
            output_block(m + c, m_stride, o, c, limits);                                                               \
        }                                                                                                              \
    }

#define STRIP(mr)                                                                                                      \
    TAPER_INSTANCE void product_strip_##mr(const taper_winograd_i8_product *t)                                         \
    {                                                                                                                  \
        product_strip(mr, t);                                                                                          \
    }
#define STRIP_NAME(mr) product_strip_##mr,
#define WINOGRAD_I8_PRODUCT(isa)                                                                                       \
    EACH_MR(STRIP)                                                                                                     \
    static void (*const strips[])(const taper_winograd_i8_product *t) = {EACH_MR(STRIP_NAME)};                         \
    void taper_winograd_i8_product_##isa(const taper_winograd_i8_product *job)                                         \
    {                                                                                                                  \
        strips[job->rows - 1](job);                                                                                    \
    }
#endif
