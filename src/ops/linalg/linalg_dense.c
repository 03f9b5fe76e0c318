// SPDX-License-Identifier: BSD-2-Clause
// Vector operations, triangular solves, LU and Cholesky on dense matrices. They follow LAPACK where the difference
// would be visible: in the choice of pivots, and in the state after a zero pivot.
#include "ops/linalg/linalg_dense.h"

#include "base/single.h"

// Definitions that compilers link if they call an inline function instead of inlining it.
extern double *taper_dense_at(const taper_dense *m, int64_t i, int64_t j);
extern taper_c128 taper_dense_get(const taper_dense *m, int64_t i, int64_t j);
extern void taper_dense_set(const taper_dense *m, int64_t i, int64_t j, taper_c128 value);
extern bool taper_dense_goes_on(const taper_dense *m, int64_t elements);

// ---- vectors

void taper_vector_add(bool complex, int64_t n, taper_c128 factor, const double *x, int64_t x_step, double *y,
                      int64_t y_step)
{
    if (!complex) {
        for (int64_t i = 0; i < n; i++) {
            y[i * y_step] += factor.re * x[i * x_step];
        }
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const double re = x[2 * i * x_step], im = x[2 * i * x_step + 1];
        y[2 * i * y_step] += factor.re * re - factor.im * im;
        y[2 * i * y_step + 1] += factor.re * im + factor.im * re;
    }
}

void taper_vector_scale(bool complex, int64_t n, taper_c128 factor, double *x, int64_t step)
{
    for (int64_t i = 0; i < n; i++) {
        if (complex) {
            const taper_c128 product = taper_c_mul(factor, taper_c(x[2 * i * step], x[2 * i * step + 1]));
            x[2 * i * step] = product.re;
            x[2 * i * step + 1] = product.im;
        } else {
            x[i * step] *= factor.re;
        }
    }
}

void taper_vector_swap(bool complex, int64_t n, double *x, int64_t x_step, double *y, int64_t y_step)
{
    const int64_t width = complex ? 2 : 1;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t part = 0; part < width; part++) {
            double *const a = x + i * x_step * width + part, *const b = y + i * y_step * width + part;
            const double t = *a;
            *a = *b;
            *b = t;
        }
    }
}

// Returns the dot product. It uses four independent sums, which the CPU overlaps.
static double real_dot(int64_t n, const double *x, int64_t x_step, const double *y, int64_t y_step)
{
    double sums[4] = {0.0, 0.0, 0.0, 0.0};
    int64_t i = 0;
    for (; i + 4 <= n && x_step == 1 && y_step == 1; i += 4) {
        for (int64_t k = 0; k < 4; k++) {
            sums[k] += x[i + k] * y[i + k];
        }
    }
    for (; i + 4 <= n; i += 4) {
        for (int64_t k = 0; k < 4; k++) {
            sums[k] += x[(i + k) * x_step] * y[(i + k) * y_step];
        }
    }
    for (; i < n; i++) {
        sums[0] += x[i * x_step] * y[i * y_step];
    }
    return sums[0] + sums[1] + (sums[2] + sums[3]);
}

taper_c128 taper_vector_dot(bool complex, bool conjugate, int64_t n, const double *x, int64_t x_step, const double *y,
                            int64_t y_step)
{
    taper_c128 sum = taper_c(0.0, 0.0);
    if (!complex) {
        sum.re = real_dot(n, x, x_step, y, y_step);
        return sum;
    }
    const double sign = conjugate ? -1.0 : 1.0;
    for (int64_t i = 0; i < n; i++) {
        const taper_c128 a = taper_c(x[2 * i * x_step], sign * x[2 * i * x_step + 1]);
        sum = taper_c_add(sum, taper_c_mul(a, taper_c(y[2 * i * y_step], y[2 * i * y_step + 1])));
    }
    return sum;
}

double taper_vector_length(bool complex, int64_t n, const double *x, int64_t step)
{
    const int64_t width = complex ? 2 : 1;
    double largest = 0.0, sum = 0.0;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t part = 0; part < width; part++) {
            const double value = fabs(x[i * step * width + part]);
            largest = value > largest || value != value ? value : largest;
        }
    }
    if (largest == 0.0 || !isfinite(largest)) {
        return largest;
    }
    for (int64_t i = 0; i < n; i++) {
        for (int64_t part = 0; part < width; part++) {
            const double value = x[i * step * width + part] / largest;
            sum += value * value;
        }
    }
    return largest * sqrt(sum);
}

void taper_vector_conjugate(bool complex, int64_t n, double *x, int64_t step)
{
    for (int64_t i = 0; complex && i < n; i++) {
        x[2 * i * step + 1] = -x[2 * i * step + 1];
    }
}

// ---- matrices

void taper_dense_conjugate(const taper_dense *m)
{
    for (int64_t j = 0; j < m->columns && taper_dense_goes_on(m, m->rows); j++) {
        taper_vector_conjugate(m->complex, m->rows, taper_dense_at(m, 0, j), m->down);
    }
}

void taper_dense_clear(const taper_dense *m, bool above)
{
    for (int64_t j = 0; j < m->columns && taper_dense_goes_on(m, m->rows); j++) {
        for (int64_t i = above ? 0 : j + 1; i < (above ? taper_min_i64(j, m->rows) : m->rows); i++) {
            taper_dense_set(m, i, j, taper_c(0.0, 0.0));
        }
    }
}

void taper_dense_identity(const taper_dense *m)
{
    for (int64_t j = 0; j < m->columns && taper_dense_goes_on(m, m->rows); j++) {
        for (int64_t i = 0; i < m->rows; i++) {
            taper_dense_set(m, i, j, taper_c(i == j ? 1.0 : 0.0, 0.0));
        }
    }
}

static inline taper_c128 quotient(bool complex, taper_c128 a, taper_c128 b)
{
    return complex ? taper_c_div(a, b) : taper_c(a.re / b.re, 0.0);
}

#include "ops/linalg/linalg_triangular.h"

// Handles one column x at a time, as the BLAS does: by columns of `a`, skipping zeros of x, or by rows of `a` if
// `transposed` is set.
void taper_dense_triangular(const taper_dense *a, bool upper, bool transposed, bool unit, const taper_dense *b)
{
    if (triangular_real(a, upper, transposed, unit, b)) {
        return;
    }
    const int64_t n = a->rows, width = a->complex ? 2 : 1;
    for (int64_t c = 0; c < b->columns; c++) {
        double *const x = taper_dense_at(b, 0, c);
        const int64_t step = b->down;
        for (int64_t at = 0; at < n; at++) {
            const int64_t k = upper != transposed ? n - 1 - at : at;
            taper_c128 value = taper_dense_get(b, k, c);
            // Column k of a's triangle, without the diagonal, has `count` elements, from row `first` on.
            const int64_t first = upper ? 0 : k + 1, count = upper ? k : n - 1 - k;
            if (!taper_dense_goes_on(a, count)) {
                return;
            }
            const double *const beside = count == 0 ? a->data : taper_dense_at(a, first, k);
            double *const others = x + first * step * width;
            if (transposed) {
                value = taper_c_sub(value, taper_vector_dot(a->complex, false, count, beside, a->down, others, step));
            }
            if (!transposed && !taper_c_true(value)) {
                continue;
            }
            if (!unit) {
                value = quotient(a->complex, value, taper_dense_get(a, k, k));
            }
            taper_dense_set(b, k, c, value);
            if (!transposed) {
                taper_vector_add(a->complex, count, taper_c_neg(value), beside, a->down, others, step);
            }
        }
    }
}

static inline double rounded(bool single, double x)
{
    return taper_step(single, x);
}

// Computes 1 / x by Smith's method, as Fortran divides.
static taper_c128 reciprocal(const taper_dense *a, taper_c128 x)
{
    const bool single = a->single;
    if (!a->complex) {
        return taper_c(rounded(single, 1.0 / x.re), 0.0);
    }
    const bool steep = fabs(x.re) < fabs(x.im);
    const double small = steep ? x.re : x.im, large = steep ? x.im : x.re, ratio = rounded(single, small / large);
    const double sum = rounded(single, rounded(single, small * ratio) + large);
    const double with = rounded(single, ratio / sum), without = rounded(single, 1.0 / sum);
    return steep ? taper_c(with, -without) : taper_c(without, -with);
}

static taper_c128 product(const taper_dense *a, taper_c128 x, taper_c128 y)
{
    const bool single = a->single;
    if (!a->complex) {
        return taper_c(rounded(single, x.re * y.re), 0.0);
    }
    return taper_c(rounded(single, rounded(single, x.re * y.re) - rounded(single, x.im * y.im)),
                   rounded(single, rounded(single, x.re * y.im) + rounded(single, x.im * y.re)));
}

// Subtracts from column j of the matrix `a` the elements below the diagonal of column c, multiplied by `top`.
static void subtract(const taper_dense *a, int64_t c, int64_t j, taper_c128 top)
{
    const int64_t below = a->rows - c - 1;
    if (!a->single) {
        taper_vector_add(a->complex, below, taper_c_neg(top), taper_dense_at(a, c + 1, c), a->down,
                         taper_dense_at(a, c + 1, j), a->down);
        return;
    }
    if (!a->complex && below > 0) {
        const double *const x = taper_dense_at(a, c + 1, c);
        double *const y = taper_dense_at(a, c + 1, j);
        const int64_t step = a->down;
        for (int64_t i = 0; i < below; i++) {
            y[i * step] = (double)(float)(y[i * step] - (double)(float)(top.re * x[i * step]));
        }
        return;
    }
    for (int64_t r = c + 1; r < a->rows; r++) {
        const taper_c128 old = taper_dense_get(a, r, j), part = product(a, top, taper_dense_get(a, r, c));
        taper_dense_set(a, r, j, taper_c(rounded(true, old.re - part.re), rounded(true, old.im - part.im)));
    }
}

int64_t taper_dense_lu(const taper_dense *a, int32_t *pivots)
{
    const int64_t m = a->rows, n = a->columns;
    int64_t singular = 0;
    for (int64_t c = 0; c < m && c < n && taper_dense_goes_on(a, m - c); c++) {
        int64_t pivot = c;
        double largest = taper_dense_modulus(taper_dense_get(a, c, c));
        for (int64_t r = c + 1; r < m; r++) {
            const double modulus = taper_dense_modulus(taper_dense_get(a, r, c));
            if (modulus > largest) {
                largest = modulus;
                pivot = r;
            }
        }
        pivots[c] = (int32_t)(pivot + 1);
        if (largest == 0.0) {
            singular = singular == 0 ? c + 1 : singular;
            continue;
        }
        if (pivot != c) {
            taper_vector_swap(a->complex, n, taper_dense_at(a, c, 0), a->right, taper_dense_at(a, pivot, 0), a->right);
        }
        const taper_c128 d = taper_dense_get(a, c, c);
        const bool tiny = (a->complex ? taper_c_abs(d) : fabs(d.re)) < (a->single ? 0x1p-126 : 0x1p-1022);
        const taper_c128 inverse = reciprocal(a, d);
        for (int64_t r = c + 1; r < m; r++) {
            const taper_c128 x = taper_dense_get(a, r, c);
            taper_dense_set(a, r, c, tiny ? quotient(a->complex, x, d) : product(a, inverse, x));
        }
        for (int64_t j = c + 1; c + 1 < m && j < n && taper_dense_goes_on(a, m - c); j++) {
            subtract(a, c, j, taper_dense_get(a, c, j));
        }
    }
    return singular;
}

static void exchange(const int32_t *pivots, int64_t n, bool backwards, const taper_dense *b)
{
    for (int64_t at = 0; at < n; at++) {
        const int64_t i = backwards ? n - 1 - at : at, other = pivots[i] - 1;
        if (other != i) {
            taper_vector_swap(b->complex, b->columns, taper_dense_at(b, i, 0), b->right, taper_dense_at(b, other, 0),
                              b->right);
        }
    }
}

void taper_dense_lu_solve(const taper_dense *lu, const int32_t *pivots, taper_transpose transpose, const taper_dense *b)
{
    if (b->rows == 0 || b->columns == 0) {
        return;
    }
    if (transpose == TAPER_PLAIN) {
        exchange(pivots, lu->rows, false, b);
        taper_dense_triangular(lu, false, false, true, b);
        taper_dense_triangular(lu, true, false, false, b);
        return;
    }
    if (transpose == TAPER_ADJOINT) { // solves a^H x = b as a' conj(x) = conj(b)
        taper_dense_conjugate(b);
    }
    taper_dense_triangular(lu, true, true, false, b);
    taper_dense_triangular(lu, false, true, true, b);
    exchange(pivots, lu->rows, true, b);
    if (transpose == TAPER_ADJOINT) {
        taper_dense_conjugate(b);
    }
}

// Works by rows, so that a failure leaves the same state as LAPACK's unblocked routine.
int64_t taper_dense_cholesky(const taper_dense *a)
{
    const int64_t n = a->rows;
    for (int64_t c = 0; c < n; c++) {
        const double *const row = taper_dense_at(a, c, 0);
        double d = taper_dense_get(a, c, c).re - taper_vector_dot(a->complex, true, c, row, a->right, row, a->right).re;
        if (!(d > 0.0)) {
            taper_dense_set(a, c, c, taper_c(d, 0.0));
            return c + 1;
        }
        d = sqrt(d);
        taper_dense_set(a, c, c, taper_c(d, 0.0));
        for (int64_t r = c + 1; r < n && taper_dense_goes_on(a, c); r++) {
            const taper_c128 sum =
                taper_vector_dot(a->complex, true, c, row, a->right, taper_dense_at(a, r, 0), a->right);
            const taper_c128 rest = taper_c_sub(taper_dense_get(a, r, c), sum);
            taper_dense_set(a, r, c, taper_c(rest.re / d, rest.im / d));
        }
    }
    return 0;
}
