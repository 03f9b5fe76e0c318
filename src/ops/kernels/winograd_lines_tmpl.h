// SPDX-License-Identifier: BSD-2-Clause
// One line of Winograd's transforms, a part of winograd_f32_tmpl.h: the matrices B, A and G of Toom and Cook.
//
//   f2  2 outputs of 4 inputs, points 0, +-1 and infinity
//   f4  4 outputs of 6 inputs, points 0, +-P, +-Q and infinity
//   s4  4 outputs of 9 inputs with stride 2. The outer taps use only the even inputs: two taps on 5 inputs, with points
//       +-P, +-Q (other values than f4's) and infinity. The middle tap multiplies the 4 odd inputs untransformed.
//
// The values at +p and at -p share their even and odd parts. Lines of 3 and 2 outputs (f4, s4) leave out the point -Q,
// or both +Q and -Q. The inputs are then multiplied by the factors that correct the weights' divisors for the missing
// points.

enum { F2, F4, S4 };

#define OUTPUTS(how) ((size_t)((how) == F2 ? 2 : 4))
#define SIDE_OF(how) ((size_t)((how) == F2 ? 4 : (how) == F4 ? 6 : 9))
#define SETS(how) (OUTPUTS(how) + 2) // number of sets of weights on a side
#define MOST_SIDE TAPER_WINOGRAD_SIDE

// Computes the values at +p and -p of the polynomial with these even and odd parts.
TAPER_TEMPLATE void pair(V even, V odd, float p, V *v)
{
    v[0] = v_fma(v_set(p), odd, even);
    v[1] = v_fma(v_set(-p), odd, even);
}

// ---- f2: 2 outputs of 4 inputs

TAPER_TEMPLATE void f2_input(const V *d, V *v)
{
    v[0] = v_sub(d[0], d[2]);
    v[1] = v_add(d[1], d[2]);
    v[2] = v_sub(d[2], d[1]);
    v[3] = v_sub(d[3], d[1]);
}

TAPER_TEMPLATE void f2_output(const V *m, V *y)
{
    y[0] = v_add(m[0], v_add(m[1], m[2]));
    y[1] = v_add(v_sub(m[1], m[2]), m[3]);
}

TAPER_TEMPLATE void f2_weights(const double *g, double *u)
{
    u[0] = g[0];
    u[1] = (g[0] + g[1] + g[2]) * 0.5;
    u[2] = (g[0] - g[1] + g[2]) * 0.5;
    u[3] = g[2];
}

// ---- f4: 4 outputs of 6 inputs

#define P 0.65625f
#define Q 1.5f
#define P2 (P * P)
#define Q2 (Q * Q)

TAPER_TEMPLATE void f4_input(const V *d, V *v)
{
    const V both = v_set(-(P2 + Q2)), product = v_set(P2 * Q2), q2 = v_set(-Q2), p2 = v_set(-P2);
    v[0] = v_fma(product, d[0], v_fma(both, d[2], d[4]));
    pair(v_fma(q2, d[2], d[4]), v_fma(q2, d[1], d[3]), P, v + 1);
    pair(v_fma(p2, d[2], d[4]), v_fma(p2, d[1], d[3]), Q, v + 3);
    v[5] = v_fma(product, d[1], v_fma(both, d[3], d[5]));
}

TAPER_TEMPLATE void f4_output(const V *m, V *y)
{
    const V even = v_add(m[1], m[2]), odd = v_sub(m[1], m[2]), even_q = v_add(m[3], m[4]), odd_q = v_sub(m[3], m[4]);
    y[0] = v_add(v_add(m[0], even), even_q);
    y[1] = v_fma(v_set(P), odd, v_mul(v_set(Q), odd_q));
    y[2] = v_fma(v_set(P2), even, v_mul(v_set(Q2), even_q));
    y[3] = v_add(v_fma(v_set(P * P2), odd, v_mul(v_set(Q * Q2), odd_q)), m[5]);
}

static void f4_input_2(const V *d, V *v)
{
    v[0] = v_fma(v_set(P2 * Q2), d[0], v_mul(v_set(-Q2), d[2]));
    pair(v_mul(v_set(P2 - Q2), d[2]), v_mul(v_set(P2 - Q2), d[1]), P, v + 1);
    v[3] = v_fma(v_set(-P2), d[1], d[3]);
}

static void f4_output_2(const V *m, V *y)
{
    y[0] = v_add(m[0], v_add(m[1], m[2]));
    y[1] = v_fma(v_set(P), v_sub(m[1], m[2]), m[3]);
}

static void f4_input_3(const V *d, V *v)
{
    // Multiplies by the factor x^2 - P^2: square is d[2] - P^2 d[0], cube is d[3] - P^2 d[1].
    const V square = v_fma(v_set(-P2), d[0], d[2]), cube = v_fma(v_set(-P2), d[1], d[3]);
    v[0] = v_fma(v_set(Q), cube, v_mul(v_set(-Q2), square));
    pair(v_fma(v_set(Q), cube, v_mul(v_set(P2 - Q2), d[2])), v_fma(v_set(-Q2), d[1], d[3]), P, v + 1);
    v[3] = v_mul(v_set(2 * Q), cube);
    v[4] = v_fma(v_set(-Q), cube, v_fma(v_set(-P2), d[2], d[4]));
}

static void f4_output_3(const V *m, V *y)
{
    const V even = v_add(m[1], m[2]), odd = v_sub(m[1], m[2]);
    y[0] = v_add(v_add(m[0], even), m[3]);
    y[1] = v_fma(v_set(P), odd, v_mul(v_set(Q), m[3]));
    y[2] = v_add(v_fma(v_set(P2), even, v_mul(v_set(Q2), m[3])), m[4]);
}

TAPER_TEMPLATE void f4_weights(const double *g, double *u)
{
    const double p = (double)P, q = (double)Q, p2 = p * p, q2 = q * q;
    const double at_p = 1 / (2 * p2 * (p2 - q2)), at_q = 1 / (2 * q2 * (q2 - p2));
    const double even_p = (g[0] + p2 * g[2]) * at_p, odd_p = p * at_p * g[1];
    const double even_q = (g[0] + q2 * g[2]) * at_q, odd_q = q * at_q * g[1];
    u[0] = g[0] * (1 / (p2 * q2));
    u[1] = even_p + odd_p;
    u[2] = even_p - odd_p;
    u[3] = even_q + odd_q;
    u[4] = even_q - odd_q;
    u[5] = g[2];
}

#undef P
#undef Q

// ---- s4: 4 outputs of 9 inputs, with stride 2

#define P 0.5f
#define Q 1.25f

TAPER_TEMPLATE void s4_input(const V *d, V *v)
{
    const V q2 = v_set(-Q2), p2 = v_set(-P2);
    pair(v_fma(q2, d[2], d[6]), v_fma(q2, d[0], d[4]), P, v);
    pair(v_fma(p2, d[2], d[6]), v_fma(p2, d[0], d[4]), Q, v + 2);
    v[4] = v_fma(v_set(P2 * Q2), d[0], v_fma(v_set(-(P2 + Q2)), d[4], d[8]));
    TAPER_UNROLL
    for (size_t i = 0; i < 4; i++)
        v[5 + i] = d[2 * i + 1];
}

TAPER_TEMPLATE void s4_output(const V *m, V *y)
{
    const V even = v_add(m[0], m[1]), odd = v_sub(m[0], m[1]), even_q = v_add(m[2], m[3]), odd_q = v_sub(m[2], m[3]);
    y[0] = v_add(v_add(even, even_q), m[5]);
    y[1] = v_fma(v_set(P), odd, v_fma(v_set(Q), odd_q, m[6]));
    y[2] = v_fma(v_set(P2), even, v_fma(v_set(Q2), even_q, m[7]));
    y[3] = v_fma(v_set(P * P2), odd, v_fma(v_set(Q * Q2), odd_q, v_add(m[4], m[8])));
}

static void s4_input_2(const V *d, V *v)
{
    pair(v_mul(v_set(P2 - Q2), d[2]), v_mul(v_set(P2 - Q2), d[0]), P, v);
    v[2] = v_fma(v_set(-P2), d[0], d[4]);
    v[3] = d[1];
    v[4] = d[3];
}

static void s4_output_2(const V *m, V *y)
{
    y[0] = v_add(v_add(m[0], m[1]), m[3]);
    y[1] = v_fma(v_set(P), v_sub(m[0], m[1]), v_add(m[2], m[4]));
}

static void s4_input_3(const V *d, V *v)
{
    const V square = v_fma(v_set(-P2), d[0], d[4]); // multiplies by the factor x^2 - P^2
    pair(v_fma(v_set(Q), square, v_mul(v_set(P2 - Q2), d[2])), v_fma(v_set(-Q2), d[0], d[4]), P, v);
    v[2] = v_mul(v_set(2 * Q), square);
    v[3] = v_fma(v_set(-Q), square, v_fma(v_set(-P2), d[2], d[6]));
    for (size_t i = 0; i < 3; i++)
        v[4 + i] = d[2 * i + 1];
}

static void s4_output_3(const V *m, V *y)
{
    const V even = v_add(m[0], m[1]), odd = v_sub(m[0], m[1]);
    y[0] = v_add(v_add(even, m[2]), m[4]);
    y[1] = v_fma(v_set(P), odd, v_fma(v_set(Q), m[2], m[5]));
    y[2] = v_fma(v_set(P2), even, v_fma(v_set(Q2), m[2], v_add(m[3], m[6])));
}

TAPER_TEMPLATE void s4_weights(const double *g, double *u)
{
    const double p = (double)P, q = (double)Q, at_p = 1 / (2 * p * (p * p - q * q)),
                 at_q = 1 / (2 * q * (q * q - p * p));
    u[0] = g[0] * at_p + g[2] * (p * at_p);
    u[1] = g[2] * (p * at_p) - g[0] * at_p;
    u[2] = g[0] * at_q + g[2] * (q * at_q);
    u[3] = g[2] * (q * at_q) - g[0] * at_q;
    u[4] = g[2];
    u[5] = g[1];
}

#undef P
#undef Q
#undef P2
#undef Q2

// ---- choice of the size

// Multiplies by the matrix of inputs: B^T d.
TAPER_TEMPLATE void input_line(const int how, const V *d, V *v)
{
    if (how == F2)
        f2_input(d, v);
    else if (how == F4)
        f4_input(d, v);
    else
        s4_input(d, v);
}

// Multiplies by the matrix of outputs: A^T m.
TAPER_TEMPLATE void output_line(const int how, const V *m, V *y)
{
    if (how == F2)
        f2_output(m, y);
    else if (how == F4)
        f4_output(m, y);
    else
        s4_output(m, y);
}

// Transforms one line of weights g: u = G g, where G is Winograd's matrix for weights. It computes with doubles,
// because with floats the rounding of the weights would cause a third of the total error.
TAPER_TEMPLATE void weights_line(const int how, const double *g, double *u)
{
    if (how == F2)
        f2_weights(g, u);
    else if (how == F4)
        f4_weights(g, u);
    else
        s4_weights(g, u);
}

static void f4_input_4(const V *d, V *v)
{
    f4_input(d, v);
}
static void f4_output_4(const V *m, V *y)
{
    f4_output(m, y);
}
static void s4_input_4(const V *d, V *v)
{
    s4_input(d, v);
}
static void s4_output_4(const V *m, V *y)
{
    s4_output(m, y);
}

// Functions for lines of 2, 3 and 4 outputs, for tiles at edges.
typedef void line_function(const V *from, V *to);

static line_function *const edge_lines[2][2][3] = {
    {{f4_input_2, f4_input_3, f4_input_4}, {f4_output_2, f4_output_3, f4_output_4}},
    {{s4_input_2, s4_input_3, s4_input_4}, {s4_output_2, s4_output_3, s4_output_4}}};
