// SPDX-License-Identifier: BSD-2-Clause
// Checks the kernels of vector_f32.h with two operands. vector_f32_check.c calls these functions.
#include <math.h>
#include <string.h>

#include "vector_f32_check.h"

// Returns the expected result of maximum, minimum, fmod, remainder, or a division with a rounded quotient.
static float whole_quotient(taper_binary op, float a, float b)
{
    const float r = fmodf(a, b);
    const bool turns = r != 0 && (r < 0) != (b < 0);
    if (isnan(a) || isnan(b)) {
        return NAN;
    }
    switch (op) {
    case TAPER_BINARY_MAXIMUM:
        return a > b ? a : b;
    case TAPER_BINARY_MINIMUM:
        return a < b ? a : b;
    case TAPER_BINARY_FMOD:
        return r;
    case TAPER_BINARY_REMAINDER:
        return turns ? r + b : r;
    default: {
        const float d = (a - r) / b - (turns ? 1.0f : 0.0f), low = floorf(d);
        return b == 0 ? a / b : d - low > 0.5f ? low + 1 : low;
    }
    }
}

// Uses operands of all magnitudes: fmod must be exact, and the quotient must match it.
void check_vector_f32_quotients(const taper_vector_entry *v)
{
    const size_t n = 4096;
    float *a = check_floats(n, CHECK_TAIL, 0), *b = check_floats(n, CHECK_TAIL, 0), *y = check_floats(n, CHECK_TAIL, 0);
    for (size_t round = 0; round < 64; round++) {
        for (size_t i = 0; i < n; i++) {
            const uint32_t low = (uint32_t)check_below(1 << 16);
            a[i] = check_of_bits((uint32_t)check_below(1 << 16) << 16 | low);
            b[i] = round % 4 == 0   ? check_of_bits((uint32_t)check_below(1 << 16) << 16 | (low ^ 0x5A5A))
                   : round % 4 == 1 ? check_number(a[i] / (float)(1 + check_below(1000)))
                   : round % 4 == 2 ? check_of_bits((uint32_t)(1 << 30) | low << 4)
                                    : 0.1f * (float)(1 + check_below(30));
            a[i] = round % 4 >= 2 ? fmodf(a[i], 1000.0f) : a[i];
            if (check_lost() > 0 && fabsf(b[i]) < 0x1p-100f)
                b[i] = 3; // a fixed divisor avoids a denormal remainder, which the kernel may flush to zero
        }
        for (int op = TAPER_BINARY_FMOD; op <= TAPER_BINARY_DIV_FLOOR && v->binary[op][0] != NULL; op++) {
            v->binary[op][TAPER_OPERANDS_VV](n, a, b, y, -INFINITY, INFINITY);
            for (size_t i = 0; i < n; i++) {
                const float want = whole_quotient((taper_binary)op, a[i], b[i]);
                check_that(y[i] == want || (isnan(y[i]) && isnan(want)) || fabsf(y[i] - want) < check_lost(),
                           "binary %d: %a, %a gives %a, not %a", op, (double)a[i], (double)b[i], (double)y[i],
                           (double)want);
            }
        }
    }
    check_memory_reset();
}

static double function_of_two(int op, double a, double b)
{
    switch (op) {
    case TAPER_BINARY_ATAN2:
        return atan2(a, b);
    case TAPER_BINARY_XLOGY:
        return isnan(b) ? b : a == 0 ? 0 : a * log(b);
    case TAPER_BINARY_XLOG1PY:
        return isnan(b) ? b : a == 0 ? 0 : a * log1p(b);
    case TAPER_BINARY_LOGADDEXP:
        return a == b ? a + log(2.0) : (a < b ? b : a) + log1p(exp(-fabs(a - b)));
    default:
        return a == b ? a + 1 : (a < b ? b : a) + log1p(exp2(-fabs(a - b))) / log(2.0);
    }
}

// Checks the functions that are not exact, with operands of all magnitudes and with operands close to each other.
void check_vector_f32_functions(const taper_vector_entry *v)
{
    enum { COUNT = 1001 };
    float *a = check_floats(COUNT, CHECK_TAIL, 0), *b = check_floats(COUNT, CHECK_TAIL, 0),
          *y = check_floats(COUNT, CHECK_TAIL, 0);
    for (size_t round = 0; round < 24; round++) {
        check_fill(a, COUNT, -40, 40), check_fill(b, COUNT, -40, 40);
        for (size_t i = 0; i < COUNT && round % 2 == 0; i++) {
            a[i] = check_of_bits((uint32_t)check_random());
            b[i] = check_below(4) == 0 ? a[i] : check_of_bits((uint32_t)check_random());
        }
        check_fill_special(a, COUNT, 40, false), check_fill_special(b, COUNT, 40, false);
        for (int op = TAPER_BINARY_ATAN2; op < TAPER_BINARY_COUNT && v->binary[op][0] != NULL; op++) {
            v->binary[op][TAPER_OPERANDS_VV](COUNT, a, b, y, -INFINITY, INFINITY);
            for (size_t i = 0; i < COUNT; i++) {
                const double want = function_of_two(op, (double)a[i], (double)b[i]), got = (double)y[i];
                const double part = op == TAPER_BINARY_XLOGY || op == TAPER_BINARY_XLOG1PY || op == TAPER_BINARY_ATAN2
                                        ? 0
                                        : fabs((double)(fabsf(a[i]) > fabsf(b[i]) ? a[i] : b[i]));
                const double bound =
                    (fabs(want) + (isfinite(part) ? part : 0)) * 3.6e-7 + 0x1p-148 + (double)check_lost();
                const bool same_sign = op != TAPER_BINARY_ATAN2 || !signbit(got) == !signbit(want);
                const bool good = isnan(want)          ? isnan(got)
                                  : isinf((float)want) ? got == (double)(float)want
                                                       : fabs(got - want) <= bound && same_sign;
                check_that(good, "binary %d: %a, %a gives %a, not %a", op, (double)a[i], (double)b[i], got, want);
            }
        }
    }
    check_memory_reset();
}

void check_vector_f32_pairs(const taper_vector_entry *v, size_t n)
{
    for (int op = 0; op < TAPER_BINARY_COUNT; op++) {
        for (int kind = 0; kind < TAPER_OPERANDS_COUNT && v->binary[op][kind] != NULL && op < TAPER_BINARY_ATAN2;
             kind++) {
            const size_t na = kind == TAPER_OPERANDS_SV ? 1 : n, nb = kind == TAPER_OPERANDS_VS ? 1 : n;
            float *a = check_floats(na, CHECK_TAIL, 0), *b = check_floats(nb, CHECK_TAIL, 0);
            check_fill(a, na, -4, 4), check_fill(b, nb, -4, 4);
            check_fill_special(a, na, 8, false), check_fill_special(b, nb, 8, false);
            float *y = check_below(2) && na == n ? a : check_floats(n, CHECK_TAIL, 0);
            float *a_copy = check_floats(na, CHECK_TAIL, 0);
            memcpy(a_copy, a, na * sizeof *a);
            const float low = check_below(2) ? 0 : -INFINITY, high = check_below(2) ? 6 : INFINITY;
            v->binary[op][kind](n, a, b, y, low, high);
            for (size_t i = 0; i < n; i++) {
                const float p = a_copy[na == 1 && kind == TAPER_OPERANDS_SV ? 0 : i],
                            q = b[kind == TAPER_OPERANDS_VS ? 0 : i];
                float want = op == TAPER_BINARY_ADD     ? p + q
                             : op == TAPER_BINARY_SUB   ? p - q
                             : op == TAPER_BINARY_MUL   ? p * q
                             : op == TAPER_BINARY_DIV   ? p / q
                             : op == TAPER_BINARY_PRELU ? (p > 0 ? p : p * q)
                                                        : whole_quotient((taper_binary)op, p, q);
                want = want < low ? low : want;
                want = want > high ? high : want;
                if (op == TAPER_BINARY_GLU && q < -87) {
                    continue; // skipped, because the sigmoid is denormal or 0 here, and p may be infinite
                }
                if (op == TAPER_BINARY_GLU) {
                    const double product = (double)p / (1 + exp(-(double)q));
                    want = (float)(product < (double)low    ? (double)low
                                   : product > (double)high ? (double)high
                                                            : product);
                }
                const float bound = op == TAPER_BINARY_GLU && isfinite(want) ? fabsf(want) * 4e-7f + 1e-37f : 0;
                check_that(check_close(y[i], want, bound), "binary %d kind %d: %g, %g gives %g", op, kind, (double)p,
                           (double)q, (double)y[i]);
            }
            check_memory_reset();
        }
    }
}
