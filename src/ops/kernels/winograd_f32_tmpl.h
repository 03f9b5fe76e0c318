// SPDX-License-Identifier: BSD-2-Clause
// The body of Winograd's transforms, in the words of simd_scalar.h. A tile is transformed column by column into a
// buffer, then row by row; A, B and G are those of Toom and Cook for the points 0, +-P, +-Q (f4: +-1 alone for f2) and
// infinity. Products of the values at +p and at -p share their even and odd parts. Lines of 3 and 2 outputs leave out
// the point -Q, or both of Q: the weights' divisors for those are multiplied away in the inputs.
#include "ops/kernels/winograd_f32.h"

#define P 0.65625f
#define Q 1.5f
#define P2 (P * P)
#define Q2 (Q * Q)

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

// The same of 4 inputs for 2 outputs of a tile of f4, with the points 0, +-P and infinity; of 5 for 3, with Q too.
static void input_2(const V *d, V *v)
{
    v[0] = v_fma(v_set(P2 * Q2), d[0], v_mul(v_set(-Q2), d[2]));
    pair(v_mul(v_set(P2 - Q2), d[2]), v_mul(v_set(P2 - Q2), d[1]), P, v + 1);
    v[3] = v_fma(v_set(-P2), d[1], d[3]);
}

static void input_3(const V *d, V *v)
{
    const V square = v_fma(v_set(-P2), d[0], d[2]), cube = v_fma(v_set(-P2), d[1], d[3]); // x^n - P^2 x^(n-2)
    v[0] = v_fma(v_set(Q), cube, v_mul(v_set(-Q2), square));
    pair(v_fma(v_set(Q), cube, v_mul(v_set(P2 - Q2), d[2])), v_fma(v_set(-Q2), d[1], d[3]), P, v + 1);
    v[3] = v_mul(v_set(2 * Q), cube);
    v[4] = v_fma(v_set(-Q), cube, v_fma(v_set(-P2), d[2], d[4]));
}

static void input_4(const V *d, V *v)
{
    input_line(4, d, v);
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

static void output_2(const V *m, V *y)
{
    y[0] = v_add(m[0], v_add(m[1], m[2]));
    y[1] = v_fma(v_set(P), v_sub(m[1], m[2]), m[3]);
}

static void output_3(const V *m, V *y)
{
    const V even = v_add(m[1], m[2]), odd = v_sub(m[1], m[2]);
    y[0] = v_add(v_add(m[0], even), m[3]);
    y[1] = v_fma(v_set(P), odd, v_mul(v_set(Q), m[3]));
    y[2] = v_add(v_fma(v_set(P2), even, v_mul(v_set(Q2), m[3])), m[4]);
}

static void output_4(const V *m, V *y)
{
    output_line(4, m, y);
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

typedef V input_tile[TAPER_WINOGRAD_SIDE][TAPER_WINOGRAD_SIDE][2]; // line, value, vector

TAPER_TEMPLATE void input_column(const size_t outputs, const size_t vectors, const float *const *x, size_t c, size_t j,
                                 input_tile t)
{
    const size_t side = outputs + 2;
    V d[2][TAPER_WINOGRAD_SIDE], made[TAPER_WINOGRAD_SIDE];
    TAPER_UNROLL
    for (size_t i = 0; i < side; i++) {
        const float *from = x[side * i + j] + c;
        TAPER_UNROLL
        for (size_t k = 0; k < vectors; k++)
            d[k][i] = v_load(from + k * VN);
    }
    TAPER_UNROLL
    for (size_t k = 0; k < vectors; k++) {
        input_line(outputs, d[k], made);
        TAPER_UNROLL
        for (size_t i = 0; i < side; i++)
            t[i][j][k] = made[i];
    }
}

TAPER_TEMPLATE void input_row(const size_t outputs, const size_t vectors, V (*t)[2], float *v, size_t v_stride)
{
    const size_t side = outputs + 2;
    V d[TAPER_WINOGRAD_SIDE], made[2][TAPER_WINOGRAD_SIDE];
    TAPER_UNROLL
    for (size_t k = 0; k < vectors; k++) {
        TAPER_UNROLL
        for (size_t j = 0; j < side; j++)
            d[j] = t[j][k];
        input_line(outputs, d, made[k]);
    }
    TAPER_UNROLL
    for (size_t j = 0; j < side; j++, v += v_stride) {
        TAPER_UNROLL
        for (size_t k = 0; k < vectors; k++)
            v_store(v + k * VN, made[k][j]);
    }
}

// So many vectors of channels from c. A tile of 6x6 is more than the registers hold: its loops stay loops.
TAPER_TEMPLATE void input_block(const size_t outputs, const size_t vectors, const float *const *x, float *v,
                                size_t v_stride, size_t c)
{
    const size_t side = outputs + 2;
    input_tile t;
    if (outputs == 2) {
        TAPER_UNROLL
        for (size_t j = 0; j < side; j++)
            input_column(outputs, vectors, x, c, j, t);
        TAPER_UNROLL
        for (size_t i = 0; i < side; i++)
            input_row(outputs, vectors, t[i], v + side * i * v_stride + c, v_stride);
        return;
    }
    TAPER_NO_UNROLL
    for (size_t j = 0; j < side; j++)
        input_column(outputs, vectors, x, c, j, t);
    TAPER_NO_UNROLL
    for (size_t i = 0; i < side; i++)
        input_row(outputs, vectors, t[i], v + side * i * v_stride + c, v_stride);
}

TAPER_TEMPLATE void input(const size_t outputs, size_t channels, const float *const *x, float *v, size_t v_stride)
{
    const size_t vectors = outputs == 2 || TAPER_SMALL || VN == 1 ? 1 : 2;
    size_t c = 0;
    for (; c + vectors * VN <= channels; c += vectors * VN)
        input_block(outputs, vectors, x, v, v_stride, c);
    for (; c < channels; c += VN) // the last ones once more
        input_block(outputs, 1, x, v, v_stride, c + VN <= channels ? c : channels - VN);
}

// ---- outputs

typedef struct finishing {
    taper_winograd_output o; // a copy: stores could change the caller's
    V bias, low, high;
    V corners; // times zero: an infinity or NaN stays
} finishing;

TAPER_TEMPLATE finishing finishing_of(const taper_winograd_output *o)
{
    return (finishing){.o = *o, .low = v_set(o->min), .high = v_set(o->max), .corners = v_set(0)};
}

TAPER_TEMPLATE V finished(const finishing *f, V x)
{
    return v_min(f->high, v_max(f->low, v_add(x, f->bias)));
}

// Row i of so many, from channel c.
TAPER_TEMPLATE void finish_row(finishing *f, const size_t rows, const size_t columns, size_t i, size_t c, V *made)
{
    const size_t pixel = f->o.pixel;
    if (i == 0 || i + 1 == rows) {
        f->corners = v_fma(made[0], v_set(0), f->corners);
        f->corners = v_fma(made[columns - 1], v_set(0), f->corners);
    }
    if (i >= f->o.rows)
        return;
    float *y = f->o.y + i * f->o.row + c;
    const float *add = f->o.add != NULL ? f->o.add + i * f->o.row + c : NULL;
    if (f->o.columns >= columns) {
        if (add != NULL) {
            TAPER_UNROLL
            for (size_t j = 0; j < columns; j++, add += pixel)
                made[j] = v_add(made[j], v_load(add));
        }
        TAPER_UNROLL
        for (size_t j = 0; j < columns; j++, y += pixel)
            v_store(y, finished(f, made[j]));
        return;
    }
    TAPER_UNROLL // without an index that varies they stay in registers
        for (size_t j = 0; j < columns; j++)
    {
        if (j < f->o.columns)
            v_store(y + j * pixel, finished(f, add != NULL ? v_add(made[j], v_load(add + j * pixel)) : made[j]));
    }
}

TAPER_TEMPLATE bool is_spread(const finishing *f)
{
    const float sum = v_sum(f->corners);
    return sum != sum;
}

TAPER_TEMPLATE void output_column(const size_t outputs, const float *m, size_t m_stride, size_t j,
                                  V (*t)[TAPER_WINOGRAD_SIDE])
{
    const size_t side = outputs + 2;
    V d[TAPER_WINOGRAD_SIDE], made[4];
    TAPER_UNROLL
    for (size_t i = 0; i < side; i++)
        d[i] = v_load(m + (side * i + j) * m_stride);
    output_line(outputs, d, made);
    TAPER_UNROLL
    for (size_t i = 0; i < outputs; i++)
        t[i][j] = made[i];
}

TAPER_TEMPLATE void output_row(const size_t outputs, const V *t, size_t i, size_t c, finishing *f)
{
    V made[4];
    output_line(outputs, t, made);
    finish_row(f, outputs, outputs, i, c, made);
}

TAPER_TEMPLATE bool output(const size_t outputs, size_t channels, const float *m, size_t m_stride,
                           const taper_winograd_output *o)
{
    const size_t side = outputs + 2;
    finishing f = finishing_of(o);
    for (size_t at = 0; at < channels; at += VN) {
        const size_t c = at + VN <= channels ? at : channels - VN;
        V t[4][TAPER_WINOGRAD_SIDE];
        f.bias = v_load(o->bias + c);
        if (outputs == 2) {
            TAPER_UNROLL
            for (size_t j = 0; j < side; j++)
                output_column(outputs, m + c, m_stride, j, t);
            TAPER_UNROLL
            for (size_t i = 0; i < outputs; i++)
                output_row(outputs, t[i], i, c, &f);
            continue;
        }
        TAPER_NO_UNROLL
        for (size_t j = 0; j < side; j++)
            output_column(outputs, m + c, m_stride, j, t);
        TAPER_NO_UNROLL
        for (size_t i = 0; i < outputs; i++)
            output_row(outputs, t[i], i, c, &f);
    }
    return is_spread(&f);
}

// ---- tiles at the edges: 4, 3 or 2 outputs of a side, all by one code

typedef void line_function(const V *from, V *to);

enum { SIDE = TAPER_WINOGRAD_SIDE };

static void edge_input(size_t rows, size_t columns, size_t channels, const float *const *x, float *v, size_t v_stride)
{
    static line_function *const lines[] = {input_2, input_3, input_4};
    const uint8_t *down = taper_winograd_positions[rows - 2], *along = taper_winograd_positions[columns - 2];
    for (size_t at = 0; at < channels; at += VN) {
        const size_t c = at + VN <= channels ? at : channels - VN;
        V d[SIDE], t[SIDE][SIDE], made[SIDE];
        for (size_t j = 0; j < columns + 2; j++) {
            for (size_t i = 0; i < rows + 2; i++)
                d[i] = v_load(x[SIDE * i + j] + c);
            lines[rows - 2](d, made);
            for (size_t i = 0; i < rows + 2; i++)
                t[i][j] = made[i];
        }
        for (size_t i = 0; i < rows + 2; i++) {
            lines[columns - 2](t[i], made);
            for (size_t j = 0; j < columns + 2; j++)
                v_store(v + ((size_t)SIDE * down[i] + along[j]) * v_stride + c, made[j]);
        }
    }
}

static bool edge_output(size_t rows, size_t columns, size_t channels, const float *m, size_t m_stride,
                        const taper_winograd_output *o)
{
    static line_function *const lines[] = {output_2, output_3, output_4};
    const uint8_t *down = taper_winograd_positions[rows - 2], *along = taper_winograd_positions[columns - 2];
    finishing f = finishing_of(o);
    for (size_t at = 0; at < channels; at += VN) {
        const size_t c = at + VN <= channels ? at : channels - VN;
        V d[SIDE], t[4][SIDE], made[4];
        for (size_t j = 0; j < columns + 2; j++) {
            for (size_t i = 0; i < rows + 2; i++)
                d[i] = v_load(m + ((size_t)SIDE * down[i] + along[j]) * m_stride + c);
            lines[rows - 2](d, made);
            for (size_t i = 0; i < rows; i++)
                t[i][j] = made[i];
        }
        f.bias = v_load(o->bias + c);
        for (size_t i = 0; i < rows; i++) {
            lines[columns - 2](t[i], made);
            finish_row(&f, rows, columns, i, c, made);
        }
    }
    return is_spread(&f);
}

// ---- weights

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

// The functions of a row of winograd_f32_list.inc. Tiles of f2 are whole.
#define WINOGRAD_F32(size, outputs)                                                                                    \
    void SIMD(taper_winograd_f32_##size##_input)(size_t rows, size_t columns, size_t channels, const float *const *x,  \
                                                 float *v, size_t v_stride)                                            \
    {                                                                                                                  \
        if ((outputs) == 2 || (rows == (outputs) && columns == (outputs)))                                             \
            input(outputs, channels, x, v, v_stride);                                                                  \
        else                                                                                                           \
            edge_input(rows, columns, channels, x, v, v_stride);                                                       \
    }                                                                                                                  \
    bool SIMD(taper_winograd_f32_##size##_output)(size_t rows, size_t columns, size_t channels, const float *m,        \
                                                  size_t m_stride, const taper_winograd_output *o)                     \
    {                                                                                                                  \
        if ((outputs) == 2 || (rows == (outputs) && columns == (outputs)))                                             \
            return output(outputs, channels, m, m_stride, o);                                                          \
        return edge_output(rows, columns, channels, m, m_stride, o);                                                   \
    }                                                                                                                  \
    void SIMD(taper_winograd_f32_##size##_weights)(size_t count, const float *g, size_t g_stride, float *u,            \
                                                   size_t u_stride)                                                    \
    {                                                                                                                  \
        weights(outputs, count, g, g_stride, u, u_stride);                                                             \
    }
