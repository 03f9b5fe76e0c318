// SPDX-License-Identifier: BSD-2-Clause
// The body of Winograd's transforms, in the words of simd_scalar.h. A tile is transformed column by column into a
// buffer, then row by row; A, B and G are those of Toom and Cook for the points 0, +-P, +-Q (f4: +-1 alone for f2) and
// infinity. Products of the values at +p and at -p share their even and odd parts.
#include "ops/kernels/winograd_f32.h"

#define P 0.625f
#define Q 1.5f
#define P2 (P * P)
#define Q2 (Q * Q)

// In builds for size the outer loops of a transform stay loops.
#if TAPER_SMALL
#define WINOGRAD_UNROLL TAPER_NO_UNROLL
#else
#define WINOGRAD_UNROLL TAPER_UNROLL
#endif

// The values at +p and -p of the polynomial with these even and odd parts.
TAPER_TEMPLATE void pair(V even, V odd, float p, V *v)
{
    v[0] = v_fma(v_set(p), odd, even);
    v[1] = v_fma(v_set(-p), odd, even);
}

// B^T d
TAPER_TEMPLATE void input_line(const size_t outputs, const V *d, V *v)
{
    if (outputs == 2) {
        v[0] = v_sub(d[0], d[2]);
        v[1] = v_add(d[1], d[2]);
        v[2] = v_sub(d[2], d[1]);
        v[3] = v_sub(d[3], d[1]);
        return;
    }
    const V both = v_set(-(P2 + Q2)), product = v_set(P2 * Q2), q2 = v_set(-Q2), p2 = v_set(-P2);
    v[0] = v_fma(product, d[0], v_fma(both, d[2], d[4]));
    pair(v_fma(q2, d[2], d[4]), v_fma(q2, d[1], d[3]), P, v + 1);
    pair(v_fma(p2, d[2], d[4]), v_fma(p2, d[1], d[3]), Q, v + 3);
    v[5] = v_fma(product, d[1], v_fma(both, d[3], d[5]));
}

// A^T m
TAPER_TEMPLATE void output_line(const size_t outputs, const V *m, V *y)
{
    const V even = v_add(m[1], m[2]), odd = v_sub(m[1], m[2]);
    if (outputs == 2) {
        y[0] = v_add(m[0], even);
        y[1] = v_add(odd, m[3]);
        return;
    }
    const V even_q = v_add(m[3], m[4]), odd_q = v_sub(m[3], m[4]);
    y[0] = v_add(v_add(m[0], even), even_q);
    y[1] = v_fma(v_set(P), odd, v_mul(v_set(Q), odd_q));
    y[2] = v_fma(v_set(P2), even, v_mul(v_set(Q2), even_q));
    y[3] = v_add(v_fma(v_set(P * P2), odd, v_mul(v_set(Q * Q2), odd_q)), m[5]);
}

// G g of so many weights, in double precision: the error of the weights would otherwise be a third of the whole.
enum { WEIGHTS = 8 };

TAPER_TEMPLATE void weights_line(const size_t outputs, const double *const *g, double (*u)[WEIGHTS])
{
    const double p = (double)P, q = (double)Q, p2 = p * p, q2 = q * q;
    const double at_p = 1 / (2 * p2 * (p2 - q2)), at_q = 1 / (2 * q2 * (q2 - p2));
    for (size_t i = 0; i < WEIGHTS; i++) {
        if (outputs == 2) {
            u[0][i] = g[0][i];
            u[1][i] = (g[0][i] + g[1][i] + g[2][i]) * 0.5;
            u[2][i] = (g[0][i] - g[1][i] + g[2][i]) * 0.5;
            u[3][i] = g[2][i];
        } else {
            const double even_p = (g[0][i] + p2 * g[2][i]) * at_p, odd_p = p * at_p * g[1][i];
            const double even_q = (g[0][i] + q2 * g[2][i]) * at_q, odd_q = q * at_q * g[1][i];
            u[0][i] = g[0][i] * (1 / (p2 * q2));
            u[1][i] = even_p + odd_p;
            u[2][i] = even_p - odd_p;
            u[3][i] = even_q + odd_q;
            u[4][i] = even_q - odd_q;
            u[5][i] = g[2][i];
        }
    }
}

TAPER_TEMPLATE void input(const size_t outputs, size_t channels, const float *const *x, float *v, size_t v_stride)
{
    const size_t side = outputs + 2;
    for (size_t at = 0; at < channels; at += VN) {
        const size_t c = at + VN <= channels ? at : channels - VN; // the last ones once more
        V d[TAPER_WINOGRAD_SIDE], t[TAPER_WINOGRAD_SIDE][TAPER_WINOGRAD_SIDE], made[TAPER_WINOGRAD_SIDE];
        WINOGRAD_UNROLL
        for (size_t j = 0; j < side; j++) {
            TAPER_UNROLL
            for (size_t i = 0; i < side; i++)
                d[i] = v_load(x[side * i + j] + c);
            input_line(outputs, d, made);
            TAPER_UNROLL
            for (size_t i = 0; i < side; i++)
                t[i][j] = made[i];
        }
        WINOGRAD_UNROLL
        for (size_t i = 0; i < side; i++) {
            input_line(outputs, t[i], made);
            TAPER_UNROLL
            for (size_t j = 0; j < side; j++)
                v_store(v + (side * i + j) * v_stride + c, made[j]);
        }
    }
}

TAPER_TEMPLATE bool output(const size_t outputs, size_t channels, const float *m, size_t m_stride,
                           const taper_winograd_output *o)
{
    const size_t side = outputs + 2;
    const V low = v_set(o->min), high = v_set(o->max);
    V corners = v_set(0);
    for (size_t at = 0; at < channels; at += VN) {
        const size_t c = at + VN <= channels ? at : channels - VN;
        V d[TAPER_WINOGRAD_SIDE], t[4][TAPER_WINOGRAD_SIDE], made[4];
        WINOGRAD_UNROLL
        for (size_t j = 0; j < side; j++) {
            TAPER_UNROLL
            for (size_t i = 0; i < side; i++)
                d[i] = v_load(m + (side * i + j) * m_stride + c);
            output_line(outputs, d, made);
            TAPER_UNROLL
            for (size_t i = 0; i < outputs; i++)
                t[i][j] = made[i];
        }
        const V bias = v_load(o->bias + c);
        WINOGRAD_UNROLL
        for (size_t i = 0; i < outputs; i++) {
            output_line(outputs, t[i], made);
            if (i == 0 || i + 1 == outputs) { // times zero: an infinity or NaN stays
                corners = v_fma(made[0], v_set(0), corners);
                corners = v_fma(made[outputs - 1], v_set(0), corners);
            }
            if (i >= o->rows)
                continue;
            float *y = o->y + i * o->row + c;
            const float *add = o->add != NULL ? o->add + i * o->row + c : NULL;
            TAPER_UNROLL
            for (size_t j = 0; j < outputs; j++) {
                if (j >= o->columns)
                    break;
                V z = v_add(made[j], bias);
                if (add != NULL)
                    z = v_add(z, v_load(add + j * o->pixel));
                v_store(y + j * o->pixel, v_min(high, v_max(low, z)));
            }
        }
    }
    const float sum = v_sum(corners);
    return sum != sum;
}

TAPER_TEMPLATE void weights_block(const size_t outputs, const size_t n, const float *g, size_t g_stride, float *u,
                                  size_t u_stride)
{
    const size_t side = outputs + 2;
    double d[9][WEIGHTS] = {{0}}, t[3][TAPER_WINOGRAD_SIDE][WEIGHTS], made[TAPER_WINOGRAD_SIDE][WEIGHTS];
    for (size_t tap = 0; tap < 9; tap++) {
        for (size_t i = 0; i < n; i++)
            d[tap][i] = (double)g[tap * g_stride + i];
    }
    for (size_t j = 0; j < 3; j++) {
        const double *const column[3] = {d[j], d[3 + j], d[6 + j]};
        weights_line(outputs, column, t[j]);
    }
    for (size_t i = 0; i < side; i++) {
        const double *const row[3] = {t[0][i], t[1][i], t[2][i]};
        weights_line(outputs, row, made);
        for (size_t j = 0; j < side; j++) {
            for (size_t k = 0; k < n; k++)
                u[(side * i + j) * u_stride + k] = (float)made[j][k];
        }
    }
}

TAPER_TEMPLATE void weights(const size_t outputs, size_t count, const float *g, size_t g_stride, float *u,
                            size_t u_stride)
{
    size_t at = 0;
    for (; at + WEIGHTS <= count; at += WEIGHTS)
        weights_block(outputs, WEIGHTS, g + at, g_stride, u + at, u_stride);
    if (at < count)
        weights_block(outputs, count - at, g + at, g_stride, u + at, u_stride);
}

// The functions of a row of winograd_f32_list.inc.
#define WINOGRAD_F32(size, outputs)                                                                                    \
    void SIMD(taper_winograd_f32_##size##_input)(size_t channels, const float *const *x, float *v, size_t v_stride)    \
    {                                                                                                                  \
        input(outputs, channels, x, v, v_stride);                                                                      \
    }                                                                                                                  \
    bool SIMD(taper_winograd_f32_##size##_output)(size_t channels, const float *m, size_t m_stride,                    \
                                                  const taper_winograd_output *o)                                      \
    {                                                                                                                  \
        return output(outputs, channels, m, m_stride, o);                                                              \
    }                                                                                                                  \
    void SIMD(taper_winograd_f32_##size##_weights)(size_t count, const float *g, size_t g_stride, float *u,            \
                                                   size_t u_stride)                                                    \
    {                                                                                                                  \
        weights(outputs, count, g, g_stride, u, u_stride);                                                             \
    }
