// SPDX-License-Identifier: BSD-2-Clause
// Checks the elementwise functions on a sample of all floats (one in 101 with --thorough), for all lengths, in place
// and to other memory. Also checks the reductions, poolings and reorderings of vector_f32.h.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "check.h"
#include "vector_f32_check.h"

#define MARK 12345.0f

// ---- unary: reference in double, and allowed error

static double clamp(double x, double low, double high)
{
    if (x < low)
        x = low;
    return x > high ? high : x;
}

// Solves erf(y) = x by Newton's method, starting from the approximation for the tail.
static double inverse_erf(double x)
{
    const double a = fabs(x);
    if (!(a < 1)) {
        return a == 1 ? copysign(INFINITY, x) : NAN;
    }
    double y = a < 0.7 ? a : sqrt(-log((1 - a) * 1.5));
    for (int i = 0; i < 40; i++) {
        y += (a < 0.5 ? a - erf(y) : erfc(y) - (1 - a)) * 0.88622692545275801365 * exp(y * y);
    }
    return copysign(y, x);
}

static double reference(taper_unary op, double x, const float *p)
{
    switch (op) {
    case TAPER_UNARY_CLAMP:
        return clamp(x, (double)p[0], (double)p[1]);
    case TAPER_UNARY_AFFINE:
        return clamp(x * (double)p[0] + (double)p[1], (double)p[2], (double)p[3]);
    case TAPER_UNARY_LEAKY_RELU:
        return x < 0 ? x * (double)p[0] : x;
    case TAPER_UNARY_ELU:
        return x > 0 ? x * (double)p[1] : (double)p[0] * expm1(x * (double)p[2]);
    case TAPER_UNARY_HARDSWISH:
        return x * clamp(x + 3, 0, 6) / 6;
    case TAPER_UNARY_HARDSIGMOID:
        return clamp(x + 3, 0, 6) / 6;
    case TAPER_UNARY_SIGMOID:
        return 1 / (1 + exp(-x));
    case TAPER_UNARY_SILU:
        return x / (1 + exp(-x));
    case TAPER_UNARY_GELU:
        return x / 2 * erfc(-x * 0.70710678118654752440);
    case TAPER_UNARY_GELU_TANH:
        return x / 2 * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
    case TAPER_UNARY_TANH:
        return tanh(x);
    case TAPER_UNARY_EXP:
        return exp(x);
    case TAPER_UNARY_ERF:
        return erf(x);
    case TAPER_UNARY_EXPM1:
        return expm1(x);
    case TAPER_UNARY_SQRT:
        return sqrt(x);
    case TAPER_UNARY_SQUARED:
        return x * x;
    case TAPER_UNARY_ABS:
        return fabs(x);
    case TAPER_UNARY_NEG:
        return -x;
    case TAPER_UNARY_LOG:
        return log(x);
    case TAPER_UNARY_LOG1P:
        return log1p(x);
    case TAPER_UNARY_SIN:
        return sin(x);
    case TAPER_UNARY_COS:
        return cos(x);
    case TAPER_UNARY_RECIPROCAL:
        return 1 / x;
    case TAPER_UNARY_RSQRT:
        return 1 / sqrt(x);
    case TAPER_UNARY_CUBED:
        return x * x * x;
    case TAPER_UNARY_SIGN:
        return (x > 0) - (x < 0);
    case TAPER_UNARY_ROUND:
        return rint(x);
    case TAPER_UNARY_FLOOR:
        return floor(x);
    case TAPER_UNARY_CEIL:
        return ceil(x);
    case TAPER_UNARY_TRUNC:
        return trunc(x);
    case TAPER_UNARY_SOFTPLUS:
        return x * (double)p[0] > (double)p[1] ? x : log1p(exp(x * (double)p[0])) / (double)p[0];
    case TAPER_UNARY_MISH:
        return x * tanh(log1p(exp(x)));
    case TAPER_UNARY_LOG_SIGMOID:
        return (x < 0 ? x : 0) - log1p(exp(-fabs(x)));
    case TAPER_UNARY_ERFC:
        return erfc(x);
    case TAPER_UNARY_ERFINV:
        return inverse_erf(x);
    case TAPER_UNARY_EXP2:
        return exp2(x);
    case TAPER_UNARY_LOG2:
        return log2(x);
    case TAPER_UNARY_LOG10:
        return log10(x);
    case TAPER_UNARY_LOGIT:
        x = p[0] < 0 ? x : clamp(x, (double)p[0], (double)(1 - p[0]));
        return log(x / (1 - x));
    case TAPER_UNARY_ATAN:
        return atan(x);
    case TAPER_UNARY_ASIN:
        return asin(x);
    case TAPER_UNARY_ACOS:
        return acos(x);
    case TAPER_UNARY_TAN:
        return tan(x);
    case TAPER_UNARY_SINH:
        return sinh(x);
    case TAPER_UNARY_COSH:
        return cosh(x);
    case TAPER_UNARY_FRAC:
        return x - trunc(x);
    default:
        return 0;
    }
}

// Returns true if the error is within a bound in units in the last place, or within an absolute bound.
static bool near_enough(taper_unary op, float got, double want, double x, const float *p, double *ulp)
{
    *ulp = check_ulp(got, want);
    switch (op) {
    case TAPER_UNARY_CLAMP:
    case TAPER_UNARY_ABS:
    case TAPER_UNARY_NEG:
    case TAPER_UNARY_SIGN:
    case TAPER_UNARY_ROUND:
    case TAPER_UNARY_FLOOR:
    case TAPER_UNARY_CEIL:
    case TAPER_UNARY_TRUNC:
        return *ulp == 0 && (isnan(got) || !signbit(got) == !signbit(want) || op == TAPER_UNARY_SIGN);
    case TAPER_UNARY_RECIPROCAL:
        return *ulp <= 0.5;
    case TAPER_UNARY_LOG:
    case TAPER_UNARY_RSQRT:
    case TAPER_UNARY_CUBED:
        return *ulp <= 1.5;
    case TAPER_UNARY_LOG1P:
        return *ulp <= 2;
    case TAPER_UNARY_SIN:
    case TAPER_UNARY_COS:
        return *ulp <= 2 || fabs((double)got - want) <= 0x1p-22;
    case TAPER_UNARY_SOFTPLUS:
        return *ulp <= 4 + fabs(x * (double)p[0]); // the product x * p[0] is rounded first
    case TAPER_UNARY_MISH:                         // below -87 the result of exp is denormal
        return *ulp <= 4 || (x < -87 && fabs((double)got - want) <= 1e-36);
    case TAPER_UNARY_LOG_SIGMOID:
        return *ulp <= 4;
    case TAPER_UNARY_SQRT:
    case TAPER_UNARY_SQUARED:
        return *ulp <= 0.5;
    case TAPER_UNARY_LEAKY_RELU:
        return *ulp <= 0.5;
    case TAPER_UNARY_AFFINE:
        return *ulp <= 1 || fabs((double)got - want) <= 0x1p-23 * (fabs(x * (double)p[0]) + fabs((double)p[1]));
    case TAPER_UNARY_ELU:
        return *ulp <= 3;
    // The sum x + 3 is rounded, so for x near -3 the result has the rounding error of a number near 3.
    case TAPER_UNARY_HARDSIGMOID:
        return *ulp <= 1.5 || fabs((double)got - want) <= 0x1p-24;
    case TAPER_UNARY_HARDSWISH:
        return *ulp <= 2.1 || fabs((double)got - want) <= 0x1p-22;
    case TAPER_UNARY_SIGMOID:
        return *ulp <= 3;
    // For x below -104 the sigmoid is 0 as a float.
    case TAPER_UNARY_SILU:
        return *ulp <= 3.5 || (x < -87 && fabs((double)got - want) <= 1e-36);
    case TAPER_UNARY_GELU:
        return *ulp <= 2 || fabs((double)got - want) <= 0x1p-23 * fabs(x);
    case TAPER_UNARY_GELU_TANH:
        return *ulp <= 4 || fabs((double)got - want) <= 0x1p-22 * fabs(x);
    case TAPER_UNARY_TANH:
    case TAPER_UNARY_ERF:
        return *ulp <= 2;
    case TAPER_UNARY_EXP:
        return *ulp <= 1.5;
    case TAPER_UNARY_EXPM1:
        return *ulp <= 2;
    case TAPER_UNARY_FRAC:
        return *ulp == 0;
    case TAPER_UNARY_LOG2:
    case TAPER_UNARY_LOG10:
    case TAPER_UNARY_ATAN:
    case TAPER_UNARY_EXP2:
        return *ulp <= 2;
    case TAPER_UNARY_ASIN:
    case TAPER_UNARY_ACOS:
        return *ulp <= 3;
    case TAPER_UNARY_ERFINV:
        return *ulp <= 4;
    case TAPER_UNARY_TAN: // near its poles the rounding error of x dominates
        return *ulp <= 4 || fabs((double)got - want) <= 0x1p-22 * (1 + want * want);
    case TAPER_UNARY_SINH:
    case TAPER_UNARY_COSH:
        return *ulp <= 5;
    case TAPER_UNARY_ERFC: // rounding of 1 - erf for small x, of the exponential for larger x
        return *ulp <= 6 || (x > 8.5 && fabs((double)got - want) <= 1e-36);
    case TAPER_UNARY_LOGIT: // the function rounds the quotient x / (1 - x), so the bound includes this error
        return *ulp <= 2 || fabs((double)got - want) <= 0x1p-22;
    default:
        return false;
    }
}

static const struct {
    const char *name;
    size_t parameters;
} unary_names[] = {
#define UNARY(NAME, function, parameters, at_once, built) {#function, parameters},
    TAPER_UNARY_F32(UNARY)
#undef UNARY
};

static void unary(const taper_vector_entry *v, taper_unary op, bool thorough)
{
    static const float sets[4][4] = {
        {0, 6, 1, -1}, {0.01f, 1.5f, 2.0f, 100}, {-INFINITY, INFINITY, 1, 1}, {1.67f, 1.05f, 1.0f, 1.06f}};
    const size_t n = 4096;
    double worst = 0, worst_at = 0;
    float *x = check_floats(n, CHECK_TAIL, 0), *y = check_floats(n, CHECK_TAIL, 0);
    const uint32_t step = thorough ? 101 : 40009;
    for (uint64_t first = 0; first <= UINT32_MAX; first += (uint64_t)step * n) {
        float p[4];
        memcpy(p, sets[first / step / n % 4], sizeof p);
        if (op == TAPER_UNARY_CLAMP && p[1] < p[0])
            p[1] = 6;
        if (op == TAPER_UNARY_AFFINE)
            p[2] = -10, p[3] = INFINITY;
        if (op != TAPER_UNARY_CLAMP && op != TAPER_UNARY_AFFINE)
            p[0] = isinf(p[0]) ? 1 : p[0], p[1] = isinf(p[1]) ? 1 : p[1];
        if (op == TAPER_UNARY_AFFINE && isinf(p[0]))
            p[0] = 2, p[1] = -3;
        for (size_t i = 0; i < n; i++)
            x[i] = check_of_bits((uint32_t)(first + i * step));
        v->unary[op](n, x, y, p);
        for (size_t i = 0; i < n; i++) {
            double ulp;
            const double want = reference(op, (double)x[i], p);
            if (isnan(want) && isnan(y[i]))
                continue;
            const bool good =
                near_enough(op, y[i], want, (double)x[i], p, &ulp) || fabs((double)y[i] - want) <= (double)check_lost();
            if (isfinite(want) && fabs(want) > 1e-37 && ulp > worst && isfinite(ulp))
                worst = ulp, worst_at = (double)x[i];
            if (!good)
                check_that(false, "%s(%a) is %a, not %a (%g ulp)", unary_names[op].name, (double)x[i], (double)y[i],
                           want, ulp);
        }
        check_that(true, "sample");
    }
    if (thorough)
        printf("%-8s %-12s worst %.3f ulp at %g\n", v->name, unary_names[op].name, worst, worst_at);
    // All lengths, tails and in-place calls must give bit-identical results to the long run above.
    float p[4] = {0.5f, 2, -1, 3};
    check_fill(x, n, -8, 8);
    check_fill_special(x, n, 10, false);
    v->unary[op](n, x, y, p);
    for (size_t m = 0; m <= 70; m++) {
        const bool in_place = check_below(2);
        const check_place place = check_below(2) ? CHECK_TAIL : CHECK_HEAD;
        const size_t from = check_below(n - m);
        float *a = check_floats(m, place, 0), *b = in_place ? a : check_floats(m, place, 0);
        memcpy(a, x + from, m * sizeof *a);
        v->unary[op](m, a, b, p);
        bool same = true;
        for (size_t i = 0; i < m; i++) {
            if (!check_close(b[i], y[from + i], 0))
                same = false;
        }
        check_that(same, "%s of %zu differs from the long run", unary_names[op].name, m);
    }
    check_memory_reset();
}

// ---- other kernels: lengths up to a few vectors, memory without slack

// Checks a reduction of n floats that are `step` apart: a contiguous array, or one column of a matrix.
static bool fold_is(taper_reduction kind, float got, size_t n, const float *x, size_t step)
{
    double want = kind == TAPER_REDUCTION_MOST ? -INFINITY : kind == TAPER_REDUCTION_LEAST ? INFINITY : 0, size = 0;
    bool nan = false;
    for (size_t i = 0; i < n; i++) {
        const double value = (double)x[i * step];
        const double term = kind == TAPER_REDUCTION_SQUARES                   ? value * value
                            : kind == TAPER_REDUCTION_ABS                     ? fabs(value)
                            : kind == TAPER_REDUCTION_NUMBERS && isnan(value) ? 0
                                                                              : value;
        nan = nan || isnan(term);
        size += fabs(term);
        want = kind == TAPER_REDUCTION_MOST    ? fmax(want, value)
               : kind == TAPER_REDUCTION_LEAST ? fmin(want, value)
                                               : want + term;
    }
    if (nan) {
        return isnan(got);
    }
    return kind < TAPER_REDUCTION_MOST ? check_close(got, (float)want, (float)(size * 0x1p-23 * 8))
                                       : (double)got == want;
}

static void folds(const taper_vector_entry *v, size_t n, const float *x, size_t rows, size_t stride)
{
    float *out = check_floats(n, CHECK_TAIL, 0);
    for (int kind = 0; kind < TAPER_REDUCTION_COUNT; kind++) {
        if (v->fold[kind] == NULL)
            continue; // builds for size lack this reduction
        const float got = rows == 1 ? v->fold[kind](n, x) : 0;
        check_that(rows != 1 || fold_is((taper_reduction)kind, got, n, x, 1), "fold %d of %zu: %g", kind, n,
                   (double)got);
        v->fold_rows[kind](rows, n, x, stride, out);
        for (size_t c = 0; c < n; c++) {
            check_that(fold_is((taper_reduction)kind, out[c], rows, x + c, stride), "rows %d, %zu of %zu: %g", kind, c,
                       n, (double)out[c]);
        }
    }
}

static void distances(const taper_vector_entry *v, size_t n, const float *x, size_t rows, size_t stride)
{
    static const double powers[] = {1, 2, 3.5, INFINITY, 0};
    float *from = check_floats(rows, CHECK_TAIL, 0), *out = check_floats(n, CHECK_TAIL, 0);
    check_fill(from, rows, -4, 4);
    for (size_t r = 0; r < rows && n > 0; r++) {
        from[r] = check_below(4) == 0 ? x[r * stride] : from[r];
    }
    for (int kind = 0; kind < TAPER_DISTANCE_COUNT && v->distances[kind] != NULL; kind++) {
        v->distances[kind](rows, n, from, x, stride, (float)powers[kind], out);
        for (size_t c = 0; c < n; c++) {
            double want = 0;
            for (size_t r = 0; r < rows; r++) {
                const double d = fabs((double)from[r] - (double)x[r * stride + c]);
                want = kind == TAPER_DISTANCE_MOST ? fmax(want, d)
                                                   : want + (powers[kind] == 0 ? d != 0 : pow(d, powers[kind]));
            }
            check_that(check_close(out[c], (float)want, (float)(want * 4e-6)), "distances %d: %g, not %g", kind,
                       (double)out[c], want);
        }
    }
    float number = NAN;
    for (int kind = 0; kind < TAPER_DISTANCE_COUNT && v->distances[kind] != NULL && n > 0; kind++) {
        v->distances[kind](1, n, &number, x, stride, (float)powers[kind], out);
        check_that(isnan(out[n - 1]), "distances of NaN: %d", kind);
    }
}

static void rows_and_channels(const taper_vector_entry *v, size_t n)
{
    const size_t rows = check_below(7), stride = n + check_below(3), y_stride = n + check_below(3);
    const size_t count = rows > 0 ? (rows - 1) * stride + n : 0, y_count = rows > 0 ? (rows - 1) * y_stride + n : 0;
    float *x = check_floats(count, CHECK_TAIL, 0), *scale = check_floats(n, CHECK_TAIL, 0),
          *shift = check_floats(n, CHECK_TAIL, 0);
    check_fill(x, count, -4, 4), check_fill(scale, n, -2, 2), check_fill(shift, n, -2, 2);
    const float *s = check_below(3) ? scale : NULL, *h = check_below(3) ? shift : NULL;
    float *y = check_floats(y_count, CHECK_TAIL, 0);
    for (size_t i = 0; i < y_count; i++)
        y[i] = MARK;
    v->channels(rows, n, x, stride, s, h, y, y_stride, -1, 3);
    for (size_t i = 0; i < y_count; i++) {
        const size_t r = i / y_stride, c = i % y_stride;
        if (c >= n) {
            check_that(y[i] == MARK, "channels wrote behind a row");
        } else {
            const double want = clamp(
                (double)x[r * stride + c] * (s != NULL ? (double)s[c] : 1) + (h != NULL ? (double)h[c] : 0), -1, 3);
            check_that(check_close(y[i], (float)want, 2e-6f), "channels %zu: %g, not %g", n, (double)y[i], want);
        }
    }
    folds(v, n, x, rows, stride);
    if (rows > 0)
        distances(v, n, x, rows, stride);
    float *out = check_floats(n, CHECK_TAIL, 0);
    v->sum_rows(rows, n, x, stride, 0.25f, out);
    for (size_t c = 0; c < n; c++) {
        double want = 0;
        for (size_t r = 0; r < rows; r++)
            want += (double)x[r * stride + c];
        check_that(check_close(out[c], (float)(want * 0.25), 4e-6f), "sum_rows: %g, not %g", (double)out[c],
                   want * 0.25);
    }
    if (v->multiply_rows != NULL && rows > 0) {
        const bool held = v->multiply_rows(rows, n, x, stride, out);
        check_that(!held || n >= 2 * (size_t)v->lanes, "multiply_rows: %zu columns", n);
        bool narrow = false;
        for (size_t c = 0; c < n; c++) {
            double want = (double)x[c];
            for (size_t r = 1; r < rows; r++) {
                narrow = narrow || !(fabs(want) >= FLT_MIN && fabs(want) <= FLT_MAX);
                want *= (double)x[r * stride + c];
            }
            check_that(!held || check_close(out[c], (float)want, 1e-7f * (float)((double)rows * fabs(want))),
                       "multiply_rows: %g, not %g", (double)out[c], want);
        }
        check_that(held == (!narrow && n >= 2 * (size_t)v->lanes), "multiply_rows: held %d", held);
    }
    for (int kind = TAPER_REDUCTION_MOST; kind <= TAPER_REDUCTION_LEAST && v->fold_lines[kind] && n >= v->lanes;
         kind++) {
        float *extremes = check_floats(rows, CHECK_TAIL, 0);
        v->fold_lines[kind](rows, n, x, stride, extremes);
        for (size_t r = 0; r < rows; r++) {
            const float want = v->fold[kind](n, x + r * stride);
            check_that(extremes[r] == want, "fold_lines: %g, not %g", (double)extremes[r], (double)want);
        }
    }
    if (v->fold_lines[TAPER_REDUCTION_SUM] != NULL && n >= v->lanes) {
        float *sums = check_floats(rows, CHECK_TAIL, 0);
        v->fold_lines[TAPER_REDUCTION_SUM](rows, n, x, stride, sums);
        for (size_t r = 0; r < rows; r++) {
            double want = 0, most = 0;
            for (size_t c = 0; c < n; c++) {
                want += (double)x[r * stride + c];
                most += fabs((double)x[r * stride + c]);
            }
            check_that(fabs((double)sums[r] - want) <= 4e-6 * most + 1e-30, "fold_lines: %g, not %g", (double)sums[r],
                       want);
        }
    }
    check_memory_reset();
}

static void reductions(const taper_vector_entry *v, size_t n, bool special)
{
    float *x = check_floats(n, CHECK_TAIL, 0), *y = check_floats(n, CHECK_TAIL, 0);
    check_fill(x, n, -5, 5);
    if (special)
        check_fill_special(x, n, n / 2 + 1, true);
    double total = 0, most = -INFINITY;
    bool nan = false;
    for (size_t i = 0; i < n; i++) {
        total += (double)x[i];
        nan = nan || isnan(x[i]);
        if ((double)x[i] > most)
            most = (double)x[i];
    }
    folds(v, n, x, 1, 1);
    if (n == 0) {
        check_memory_reset();
        return;
    }
    double e = 0;
    for (size_t i = 0; i < n; i++)
        e += exp((double)x[i] - most);
    if (nan)
        e = NAN;
    v->softmax(n, x, y);
    for (size_t i = 0; i < n; i++) {
        const double want = exp((double)x[i] - most) / e;
        // The softmax rounds the difference to the maximum before exp, so the bound grows with the difference.
        const double distance = want > 0 ? fabs((double)x[i] - most) : 0;
        const double bound = want * (5e-7 + 0x1p-24 * (distance + (double)n)) + 0x1p-148;
        check_that(check_close(y[i], (float)want, (float)bound), "softmax of %zu: %g, not %g", n, (double)y[i], want);
    }
    v->log_softmax(n, x, y);
    for (size_t i = 0; i < n; i++) {
        const double want = (double)x[i] - most - log(e);
        check_that(check_close(y[i], (float)want, (float)(1e-6 + fabs(want) * 1e-6)), "log_softmax of %zu: %g, not %g",
                   n, (double)y[i], want);
    }
    if (!special) {
        float *gamma = check_floats(n, CHECK_TAIL, 0), *beta = check_floats(n, CHECK_TAIL, 0);
        check_fill(gamma, n, -2, 2), check_fill(beta, n, -2, 2);
        const float *g = check_below(3) ? gamma : NULL, *b = check_below(3) ? beta : NULL;
        double variance = 0;
        for (size_t i = 0; i < n; i++)
            variance += ((double)x[i] - total / (double)n) * ((double)x[i] - total / (double)n);
        v->layer_norm(n, x, g, b, 1e-5f, y);
        for (size_t i = 0; i < n; i++) {
            double want = ((double)x[i] - total / (double)n) / sqrt(variance / (double)n + 1e-5);
            const double unit = fabs(want);
            want = want * (g != NULL ? (double)g[i] : 1) + (b != NULL ? (double)b[i] : 0);
            // For n = 1 the variance is 0, and the division by the root of eps magnifies the rounding error of the
            // mean.
            const double bound = 1e-6 * (unit * 2 + 2) + (n < 4 ? 1e-3 : 0);
            check_that(check_close(y[i], (float)want, (float)bound), "layer_norm of %zu: %g, not %g", n, (double)y[i],
                       want);
        }
    }
    float *b = check_floats(n, CHECK_TAIL, 0);
    check_fill(b, n, -5, 5);
    v->blend(n, x, b, 0.25f, 0.75f, y);
    for (size_t i = 0; i < n; i++) {
        const double want = (double)x[i] * 0.25 + (double)b[i] * 0.75;
        check_that(check_close(y[i], (float)want, 1e-5f * (1 + fabsf(x[i]))), "blend: %g, not %g", (double)y[i], want);
    }
    check_memory_reset();
}

static void outers(const taper_vector_entry *v, size_t n)
{
    const size_t rows = check_below(5), step = check_below(3), x_stride = n + check_below(3),
                 y_stride = n + check_below(3);
    const size_t x_count = rows != 0 && n != 0 ? (rows - 1) * x_stride + n : 0,
                 y_count = rows != 0 && n != 0 ? (rows - 1) * y_stride + n : 0;
    float *a = check_floats(rows != 0 ? (rows - 1) * step + 1 : 0, CHECK_TAIL, 0), *b = check_floats(n, CHECK_TAIL, 0),
          *x = check_floats(x_count, CHECK_TAIL, 0), *y = check_floats(y_count, CHECK_TAIL, 0);
    check_fill(a, rows != 0 ? (rows - 1) * step + 1 : 0, -4, 4), check_fill(b, n, -4, 4), check_fill(x, x_count, -4, 4);
    if (check_below(2))
        check_fill_special(b, n, 30, true);
    for (int added = 0; added < 2 && v->outer != NULL; added++) {
        v->outer(rows, n, a, step, b, added != 0 ? x : NULL, x_stride, y, y_stride);
        for (size_t i = 0; i < rows * n; i++) {
            const size_t r = i / n, c = i % n;
            const float product = a[r * step] * b[c], want = added != 0 ? x[r * x_stride + c] + product : product;
            check_that(check_close(y[r * y_stride + c], want, 0), "outer product of %zu by %zu: %g, not %g", rows, n,
                       (double)y[r * y_stride + c], (double)want);
        }
    }
    check_memory_reset();
}

static void pools(const taper_vector_entry *v, size_t n)
{
    const size_t m = 1 + check_below(4), taps = 1 + check_below(9), stride = m + check_below(2),
                 y_stride = n + check_below(3);
    const size_t rows = m * taps, offset = check_below(2) * 5;
    float *x = check_floats(rows * n + offset, CHECK_TAIL, 0), *zero = check_floats(n, CHECK_TAIL, 0);
    check_fill(x, rows * n + offset, -4, 4);
    if (check_below(2))
        check_fill_special(x, rows * n + offset, 30, true);
    memset(zero, 0, n * sizeof *zero);
    const float **a = check_bytes(((taps - 1) * stride + m) * sizeof *a, CHECK_TAIL, 0);
    for (size_t t = 0; t < taps; t++) {
        for (size_t i = 0; i < m; i++)
            a[t * stride + i] = x + (t * m + i) * n;
    }
    float *y = check_floats((m - 1) * y_stride + n, CHECK_TAIL, 0), scale[4] = {0.5f, 0.25f, 1, 0.125f};
    v->max_pool(m, n, taps, a, stride, offset * sizeof(float), y, y_stride);
    for (size_t i = 0; i < m; i++) {
        for (size_t c = 0; c < n; c++) {
            float want = -INFINITY;
            for (size_t t = 0; t < taps; t++) {
                const float p = a[t * stride + i][offset + c];
                if (p > want || isnan(p))
                    want = p;
                if (isnan(want))
                    break;
            }
            check_that(check_close(y[i * y_stride + c], want, 0), "max_pool: %g, not %g", (double)y[i * y_stride + c],
                       (double)want);
        }
    }
    for (size_t k = 0; k < taps; k++) {
        if (check_below(3) == 0)
            a[k * stride + check_below(m)] = zero;
    }
    v->avg_pool(m, n, taps, a, stride, offset * sizeof(float), zero, scale, y, y_stride);
    for (size_t i = 0; i < m; i++) {
        for (size_t c = 0; c < n; c++) {
            double want = 0, terms = 0;
            for (size_t t = 0; t < taps; t++) {
                const double x_t = a[t * stride + i] != zero ? (double)a[t * stride + i][offset + c] : 0;
                want += x_t;
                terms += fabs(x_t);
            }
            want /= (double)scale[i];
            // Each addition rounds by at most half a unit of the sum of magnitudes, and some terms are large, so the
            // bound grows with `terms`.
            const double bound = 2e-4 + (isfinite(terms) ? (double)taps * 6e-8 * terms / (double)scale[i] : 0);
            check_that(check_close(y[i * y_stride + c], (float)want, (float)bound), "avg_pool: %g, not %g",
                       (double)y[i * y_stride + c], want);
        }
    }
    check_memory_reset();
}

static void resize(const taper_vector_entry *v, size_t n)
{
    const size_t m = 1 + check_below(4), stride = m, y_stride = n + check_below(3);
    float *x = check_floats(4 * m * n, CHECK_TAIL, 0), *w = check_floats(2 * m, CHECK_TAIL, 0);
    check_fill(x, 4 * m * n, -4, 4), check_fill(w, 2 * m, 0, 1);
    const float **a = check_bytes(4 * m * sizeof *a, CHECK_TAIL, 0);
    for (size_t i = 0; i < 4 * m; i++)
        a[i] = x + i * n - 2;
    float *y = check_floats((m - 1) * y_stride + n, CHECK_TAIL, 0);
    v->bilinear(m, n, a, stride, 2 * sizeof(float), w, y, y_stride);
    for (size_t i = 0; i < m; i++) {
        for (size_t c = 0; c < n; c++) {
            double q[4];
            for (size_t k = 0; k < 4; k++)
                q[k] = (double)a[k * stride + i][2 + c];
            const double wx = (double)w[2 * i], wy = (double)w[2 * i + 1];
            const double want = (q[0] * (1 - wx) + q[1] * wx) * (1 - wy) + (q[2] * (1 - wx) + q[3] * wx) * wy;
            check_that(check_close(y[i * y_stride + c], (float)want, 2e-6f), "bilinear: %g, not %g",
                       (double)y[i * y_stride + c], want);
        }
    }
    check_memory_reset();
}

static void transposes(const taper_vector_entry *v, size_t rows, size_t columns)
{
    const size_t x_stride = columns + check_below(3), y_stride = rows + check_below(3);
    const size_t x_count = (rows - 1) * x_stride + columns, y_count = (columns - 1) * y_stride + rows;
    float *x = check_floats(x_count, CHECK_TAIL, 0), *y = check_floats(y_count, CHECK_TAIL, 0);
    check_fill(x, x_count, -4, 4);
    for (size_t i = 0; i < y_count; i++)
        y[i] = MARK;
    v->transpose(rows, columns, x, x_stride, y, y_stride);
    bool good = true;
    for (size_t i = 0; i < y_count; i++) {
        const size_t c = i / y_stride, r = i % y_stride;
        if (y[i] != (r < rows ? x[r * x_stride + c] : MARK))
            good = false;
    }
    check_that(good, "transpose %zu x %zu", rows, columns);
    float *pairs = check_floats(2 * rows - 1, CHECK_TAIL, 0), *firsts = check_floats(rows, CHECK_TAIL, 0);
    check_fill(pairs, 2 * rows - 1, -4, 4);
    v->every_second(rows, pairs, firsts);
    for (size_t i = 0; i < rows; i++)
        check_that(firsts[i] == pairs[2 * i], "every second of %zu: %zu", rows, i);
    check_memory_reset();
}

static void gemvs(const taper_vector_entry *v, size_t n, size_t k)
{
    const size_t stride = k + check_below(3);
    float *x = check_floats(k, CHECK_TAIL, 0), *w = check_floats((n - 1) * stride + k, CHECK_TAIL, 0),
          *y = check_floats(n, CHECK_TAIL, 0);
    float *bias = check_below(2) ? check_floats(n, CHECK_TAIL, 0) : NULL;
    check_fill(x, k, -1, 1), check_fill(w, (n - 1) * stride + k, -1, 1);
    if (bias != NULL)
        check_fill(bias, n, -1, 1);
    v->gemv(n, k, x, w, stride, bias, y, -2, INFINITY);
    for (size_t i = 0; i < n; i++) {
        double want = bias != NULL ? (double)bias[i] : 0;
        for (size_t j = 0; j < k; j++)
            want += (double)x[j] * (double)w[i * stride + j];
        want = clamp(want, -2, INFINITY);
        check_that(check_close(y[i], (float)want, (float)(k + 2) * 0x1p-23f), "gemv %zu x %zu: %g, not %g", n, k,
                   (double)y[i], want);
    }
    if (v->gemv_stream != NULL) {
        float *again = check_floats(n, CHECK_TAIL, 0);
        v->gemv_stream(n, k, x, w, stride, bias, again, -2, INFINITY);
        check_that(memcmp(y, again, n * sizeof *y) == 0, "gemv_stream %zu x %zu differs from gemv", n, k);
    }
    check_memory_reset();
}

// ---- speed

typedef struct bench_job {
    const taper_vector_entry *v;
    taper_unary op;
    size_t n;
    const float *x;
    float *y;
} bench_job;

static void bench_unary(void *argument)
{
    const bench_job *j = argument;
    static const float p[4] = {0, 6, 1, 100};
    j->v->unary[j->op](j->n, j->x, j->y, p);
}
static void bench_add(void *argument)
{
    const bench_job *j = argument;
    j->v->binary[TAPER_BINARY_ADD][TAPER_OPERANDS_VV](j->n, j->x, j->x + j->n, j->y, 0, INFINITY);
}
static void bench_transpose(void *argument)
{
    const bench_job *j = argument;
    j->v->transpose(64, j->n / 64, j->x, j->n / 64, j->y, 64);
}
static void bench_sum_rows(void *argument)
{
    const bench_job *j = argument;
    j->v->sum_rows(49, j->n / 49, j->x, j->n / 49, 1, j->y);
}
static void bench_softmax(void *argument)
{
    const bench_job *j = argument;
    j->v->softmax(j->n, j->x, j->y);
}
static void bench_gemv(void *argument)
{
    const bench_job *j = argument;
    j->v->gemv(j->n / 256, 256, j->x, j->x, 256, NULL, j->y, -INFINITY, INFINITY);
}

static void bench(const taper_vector_entry *v)
{
    bench_job j = {v, TAPER_UNARY_CLAMP, 8192, NULL, NULL};
    float *x = bench_floats(j.n * 2), *y = bench_floats(j.n);
    j.x = x, j.y = y;
    for (int op = 0; op < TAPER_UNARY_COUNT; op++) {
        j.op = (taper_unary)op;
        if (v->unary[op] == NULL)
            continue;
        const double t = bench_best(bench_unary, &j, 20, 0.0005);
        printf("vector_f32 %-8s %-12s %8.1f GB/s %7.3f ns each\n", v->name, unary_names[op].name,
               8e-9 * (double)j.n / t, t / (double)j.n * 1e9);
    }
    const struct {
        const char *name;
        void (*run)(void *);
        double bytes;
    } others[] = {{"add_relu", bench_add, 12},
                  {"transpose", bench_transpose, 8},
                  {"sum_rows", bench_sum_rows, 4},
                  {"softmax", bench_softmax, 8},
                  {"gemv", bench_gemv, 4}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const double t = bench_best(others[i].run, &j, 20, 0.0005);
        printf("vector_f32 %-8s %-12s %8.1f GB/s\n", v->name, others[i].name, others[i].bytes * 1e-9 * (double)j.n / t);
    }
    bench_free(x), bench_free(y);
}

static void check(bool benchmark, bool thorough)
{
    for (size_t x = 0; taper_vector_f32_entry(x) != NULL; x++) {
        const taper_vector_entry *v = taper_vector_f32_entry(x);
        if ((v->cpu & check_cpu()) != v->cpu)
            continue;
        check_begin("vector_f32", v->name);
        if (benchmark) {
            bench(v);
            continue;
        }
        for (int op = 0; op < TAPER_UNARY_COUNT; op++) {
            if (v->unary[op] != NULL) // builds for size lack some functions
                unary(v, (taper_unary)op, thorough);
        }
        check_vector_f32_quotients(v);
        check_vector_f32_functions(v);
        const size_t most = 5 * v->lanes + 3;
        for (size_t n = 0; n <= most; n++) {
            check_vector_f32_pairs(v, n);
            check_vector_f32_cells(v, n);
            for (int i = 0; i < 4; i++)
                rows_and_channels(v, n);
            reductions(v, n, false);
            reductions(v, n, true);
            for (int i = 0; i < 4 && n > 0; i++)
                pools(v, n);
            outers(v, n);
            if (n > 0)
                resize(v, n);
            for (size_t k = 1; k <= 2 * v->lanes + 3 && n > 0; k += 1 + check_below(3))
                transposes(v, n, k);
            if (n > 0)
                transposes(v, 3, n);
            if (n > 0)
                gemvs(v, 1 + check_below(9), n);
        }
        reductions(v, 1000, false);
        gemvs(v, 5, 1003);
    }
}

void check_vector_f32(bool benchmark)
{
    check(benchmark, false);
}

void check_vector_f32_thorough(bool benchmark)
{
    check(benchmark, true);
}
