// SPDX-License-Identifier: BSD-2-Clause
// The loops of native.h. NATIVE_ENTRY(instruction set) defines the entry. The including file is built with that set's
// flags.
#include <math.h>

#include "base/half.h"
#include "ops/kernels/cast.h"
#include "ops/kernels/native.h"

// The functions of math_f32_tmpl.h with one lane. The compiler vectorizes the loops that call them.
#include "ops/kernels/simd_scalar.h"

#include "ops/kernels/math_f32_more_tmpl.h"
#include "ops/kernels/math_f64_more_tmpl.h"
#include "ops/kernels/math_special_tmpl.h"

// VECTORIZED precedes a loop that reads and writes elements with the same index. So GCC may vectorize the loop although
// its result may be an input. clang does not need this.
#if defined(__GNUC__) && !defined(__clang__)
#define VECTORIZED _Pragma("GCC ivdep")
#else
#define VECTORIZED
#endif

// The first macro tests if a shift is less than the number of bits of W. The second macro reduces a shift modulo that
// number.
#define TAPER_NATIVE_IN_WORD(y, W) ((W)(y) < sizeof(W) * 8)
#define TAPER_NATIVE_BITS(y, W) ((W)(y) & (sizeof(W) * 8 - 1))

#define TAPER_NATIVE_NEGATIVE(x, W) ((W)(x) >> (sizeof(W) * 8 - 1) != 0)

// Clamps x. If x or a bound is NaN, the result is NaN.
TAPER_TEMPLATE float taper_native_clamp(float x, float low, float high)
{
    const float a = x < low ? low : x, b = a > high ? high : a;
    const float c = high != high ? high : b, d = low != low ? low : c;
    return x != x ? x : d;
}

// Returns the float next to x in the direction of y.
TAPER_TEMPLATE float taper_native_next(float x, float y)
{
    const uint32_t bits = taper_float_to_bits(x);
    const uint32_t moved = (x < y) == (x > 0) ? bits + 1 : bits - 1;
    const uint32_t from_zero = (taper_float_to_bits(y) & 0x80000000u) | 1u;
    const float next = taper_bits_to_float(x == 0 ? from_zero : moved);
    return x == y ? y : x < y || x > y ? next : x + y;
}

// Returns the cross entropy of a number in [0, 1] and a target, with logarithms of at least -100.
TAPER_TEMPLATE float taper_native_entropy(float x, float target)
{
    const float log = v_log(x), other = v_log1p(-x);
    return (target - 1) * (other < -100 ? -100 : other) - target * (log < -100 ? -100 : log);
}
// Computes log(1 + exp(-x)).
TAPER_TEMPLATE float taper_native_softplus(float x)
{
    return v_log1p(v_exp(-fabsf(x))) + (x < 0 ? -x : 0);
}

TAPER_TEMPLATE float taper_native_atanh(float x)
{
    const float a = fabsf(x), y = 0.5f * v_log1p(2 * a / (1 - a));
    return v_sign(a == 0 ? a : y, x);
}

// Computes the hypotenuse in double, where the squares neither overflow nor underflow. The result of infinity and NaN
// is infinity.
TAPER_TEMPLATE float taper_native_hypot(float x, float y)
{
    const float length = (float)sqrt((double)x * (double)x + (double)y * (double)y);
    return fabsf(x) == INFINITY || fabsf(y) == INFINITY ? INFINITY : length;
}

// Returns true if quotients with this complex number neither overflow nor lose digits. Zero fits only as the dividend
// (`zero` is true).
TAPER_TEMPLATE unsigned taper_native_fits(taper_native_pair x, const bool zero)
{
    const float a = fabsf(x.re), b = fabsf(x.im), most = a > b ? a : b;
    return (unsigned)(((most >= 0x1p-30f) | (zero & (most == 0))) & (a <= 0x1p30f) & (b <= 0x1p30f));
}
TAPER_TEMPLATE taper_native_pair taper_native_quotient(taper_native_pair x, taper_native_pair y)
{
    const float r = 1.0f / (y.re * y.re + y.im * y.im);
    return (taper_native_pair){(x.re * y.re + x.im * y.im) * r, (x.im * y.re - x.re * y.im) * r};
}
TAPER_TEMPLATE taper_native_pair taper_native_wide_quotient(taper_native_pair x, taper_native_pair y)
{
    const double a = (double)x.re, b = (double)x.im, c = (double)y.re, d = (double)y.im, norm = c * c + d * d;
    return (taper_native_pair){(float)((a * c + b * d) / norm), (float)((b * c - a * d) / norm)};
}
// Returns the complex number with this radius and angle. For an angle of 0 the imaginary part is 0, even if the radius
// is infinite.
TAPER_TEMPLATE taper_native_pair taper_native_polar(float radius, float angle)
{
    return (taper_native_pair){radius * v_sin_turned(angle, 0.5f), radius * v_sin_turned(angle, 0.0f)};
}
TAPER_TEMPLATE taper_native_pair taper_native_wide_polar(double radius, double angle)
{
    return (taper_native_pair){(float)(radius * cos(angle)), (float)(radius * sin(angle))};
}

// Bounds of a clamp, limited to the range of the type.
#define BOUND_U8(v) (uint8_t)((v) < 0 ? 0 : (v) > UINT8_MAX ? UINT8_MAX : (v))
#define BOUND_I8(v) (int8_t)((v) < INT8_MIN ? INT8_MIN : (v) > INT8_MAX ? INT8_MAX : (v))
#define BOUND_I16(v) (int16_t)((v) < INT16_MIN ? INT16_MIN : (v) > INT16_MAX ? INT16_MAX : (v))
#define BOUND_I32(v) (int32_t)((v) < INT32_MIN ? INT32_MIN : (v) > INT32_MAX ? INT32_MAX : (v))
#define BOUND_I64(v) (v)
#define BOUND_BOOL(v) BOUND_U8(v)
#define BOUND_F32(v) 0
#define BOUND_F64(v) 0
#define BOUND_C64(v) 0

#define RESULT_SAME(type) type
#define RESULT_TRUTH(type) uint8_t
#define RESULT_REAL(type) float
#define NATIVE(name, dtype, type, wide, result, value)                                                                 \
    static bool native_##name##_##dtype(size_t n, const void *const *in, void *out, const taper_native_numbers *p)     \
    {                                                                                                                  \
        typedef type T;                                                                                                \
        typedef wide W;                                                                                                \
        const T *a = in[0], *b = in[1], *c = in[2];                                                                    \
        RESULT_##result(type) *o = out;                                                                                \
        const float f0 = (float)p->f[0], f1 = (float)p->f[1];                                                          \
        const double d0 = p->f[0], d1 = p->f[1], d2 = p->f[2];                                                         \
        const T low = {BOUND_##dtype(p->i[0])}, high = {BOUND_##dtype(p->i[1])};                                       \
        (void)f0, (void)f1, (void)d0, (void)d1, (void)d2, (void)low, (void)high, (void)sizeof(W);                      \
        const size_t whole = n / TAPER_NATIVE_STEP * TAPER_NATIVE_STEP;                                                \
        VECTORIZED for (size_t i = 0; i < whole; i++)                                                                  \
        {                                                                                                              \
            const T x = a[i], y = b[i], z = c[i];                                                                      \
            (void)x, (void)y, (void)z;                                                                                 \
            o[i] = value;                                                                                              \
        }                                                                                                              \
        return false;                                                                                                  \
    }
TAPER_NATIVES(NATIVE)
#undef NATIVE

// Returns true if the elements of a step (TAPER_NATIVE_STEP elements) may be divided as doubles; otherwise they are
// divided one by one. The quotient of two integers of less than 32 bits, divided as doubles, is never rounded up to an
// integer, because its distance to the integer is larger than a double's last place. Quotients of integers of up to 16
// bits, divided as floats, are not rounded up to an integer either. A step with wider integers does not fit. A step
// with the smallest int32 as a dividend does not fit either, because the quotient of that number and -1 does not fit
// into an int32.
static bool fits(const int64_t *a, const int64_t *b)
{
    int64_t beyond = 0;
    for (size_t i = 0; i < TAPER_NATIVE_STEP; i++) {
        const int64_t x = a[i] - (a[i] == INT32_MIN);
        beyond |= (x ^ (int32_t)(uint32_t)x) | (b[i] ^ (int32_t)(uint32_t)b[i]);
    }
    return beyond == 0;
}
#define WIDE_U8(value)
#define WIDE_I8(value)
#define WIDE_I16(value)
#define WIDE_I32(value)
#define WIDE_I64(value)                                                                                                \
    if (!fits(a, b)) {                                                                                                 \
        for (size_t i = 0; i < TAPER_NATIVE_STEP; i++) {                                                               \
            const T x = a[i], y = b[i];                                                                                \
            const bool divides = y != 0 && y != -1; /* a division by -1 can overflow */                                \
            const T q = divides ? x / y : (T)((W)0 - (W)x), r = divides ? x - q * y : 0;                               \
            (void)r;                                                                                                   \
            zero |= y == 0;                                                                                            \
            o[i] = value;                                                                                              \
        }                                                                                                              \
        continue;                                                                                                      \
    }
#define DIVISION(name, dtype, type, wide, real, value)                                                                 \
    static bool native_##name##_##dtype(size_t n, const void *const *in, void *out, const taper_native_numbers *p)     \
    {                                                                                                                  \
        typedef type T;                                                                                                \
        typedef wide W;                                                                                                \
        unsigned zero = 0;                                                                                             \
        (void)p, (void)sizeof(W);                                                                                      \
        for (size_t at = 0; at + TAPER_NATIVE_STEP <= n; at += TAPER_NATIVE_STEP) {                                    \
            const T *a = (const T *)in[0] + at, *b = (const T *)in[1] + at;                                            \
            T *o = (T *)out + at;                                                                                      \
            WIDE_##dtype(value) VECTORIZED for (size_t i = 0; i < TAPER_NATIVE_STEP; i++)                              \
            {                                                                                                          \
                const int32_t x = (int32_t)a[i], y = (int32_t)b[i];                                                    \
                const int32_t q = TAPER_CAST_I32((real)x / (real)y);                                                   \
                const int32_t r = (int32_t)((uint32_t)x - (uint32_t)q * (uint32_t)y);                                  \
                (void)r;                                                                                               \
                zero |= y == 0;                                                                                        \
                o[i] = value;                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
        return zero != 0;                                                                                              \
    }
TAPER_NATIVE_DIVISIONS(DIVISION)
#undef DIVISION

#define STEPWISE(name, dtype, type, fits, value, wide_value)                                                           \
    static bool native_##name##_##dtype(size_t n, const void *const *in, void *out, const taper_native_numbers *p)     \
    {                                                                                                                  \
        (void)p;                                                                                                       \
        for (size_t at = 0; at + TAPER_NATIVE_STEP <= n; at += TAPER_NATIVE_STEP) {                                    \
            const type *a = (const type *)in[0] + at, *b = (const type *)in[1] + at;                                   \
            type *o = (type *)out + at;                                                                                \
            unsigned all = 1;                                                                                          \
            for (size_t i = 0; i < TAPER_NATIVE_STEP; i++) {                                                           \
                const type x = a[i], y = b[i];                                                                         \
                (void)x, (void)y;                                                                                      \
                all &= (unsigned)(fits);                                                                               \
            }                                                                                                          \
            if (all != 0) {                                                                                            \
                VECTORIZED for (size_t i = 0; i < TAPER_NATIVE_STEP; i++)                                              \
                {                                                                                                      \
                    const type x = a[i], y = b[i];                                                                     \
                    (void)x, (void)y;                                                                                  \
                    o[i] = value;                                                                                      \
                }                                                                                                      \
                continue;                                                                                              \
            }                                                                                                          \
            for (size_t i = 0; i < TAPER_NATIVE_STEP; i++) {                                                           \
                const type x = a[i], y = b[i];                                                                         \
                (void)x, (void)y;                                                                                      \
                o[i] = wide_value;                                                                                     \
            }                                                                                                          \
        }                                                                                                              \
        return false;                                                                                                  \
    }
TAPER_NATIVE_STEPWISE(STEPWISE)
#undef STEPWISE

#define WHERE(dtype, type)                                                                                             \
    static bool native_WHERE_##dtype(size_t n, const void *const *in, void *out, const taper_native_numbers *p)        \
    {                                                                                                                  \
        const uint8_t *a = in[0];                                                                                      \
        const type *b = in[1], *c = in[2];                                                                             \
        type *o = out;                                                                                                 \
        (void)p;                                                                                                       \
        const size_t whole = n / TAPER_NATIVE_STEP * TAPER_NATIVE_STEP;                                                \
        VECTORIZED for (size_t i = 0; i < whole; i++)                                                                  \
        {                                                                                                              \
            const type mask = (type)(0 - (type)(a[i] != 0)); /* ?: would compile to a branch */                        \
            o[i] = (type)((b[i] & mask) | (c[i] & ~mask));                                                             \
        }                                                                                                              \
        return false;                                                                                                  \
    }
TAPER_NATIVE_WHERES(WHERE)
#undef WHERE

// LINES(name, value) defines a function; `value` is computed from x and y. The result may be one of the operands.
#define LINE(first, second, count, value)                                                                              \
    for (size_t l = 0; l < lines; l++) {                                                                               \
        const double *const xs = a->data + (int64_t)l * a->line, *const ys = b->data + (int64_t)l * b->line;           \
        double *const to = out + (int64_t)l * out_line;                                                                \
        VECTORIZED for (size_t i = 0; i < count; i++)                                                                  \
        {                                                                                                              \
            const double x = xs[first], y = ys[second];                                                                \
            to[i] = value;                                                                                             \
        }                                                                                                              \
    }
#define LINES(name, value)                                                                                             \
    static void lines_##name##_f64(size_t lines, size_t n, const taper_line_operand *a, const taper_line_operand *b,   \
                                   double *out, int64_t out_line)                                                      \
    {                                                                                                                  \
        if (a->step != 0 && b->step != 0) {                                                                            \
            LINE(i, i, n, value)                                                                                       \
        } else if (a->step != 0) {                                                                                     \
            LINE(i, 0, n, value)                                                                                       \
        } else {                                                                                                       \
            LINE(0, i, n, value)                                                                                       \
        }                                                                                                              \
    }
LINES(ADD, x + y)
LINES(SUB, x - y)
LINES(MUL, x *y)
LINES(DIV, x / y)
#undef LINES
#undef LINE

#include "ops/kernels/native_block_tmpl.h"
#include "ops/kernels/native_fold_tmpl.h"
#include "ops/kernels/native_u8_tmpl.h"

#define NATIVE_ROW(name, dtype, ...) [TAPER_NATIVE_##name][TAPER_NATIVE_##dtype] = native_##name##_##dtype,
#define STEPWISE_ROW(name, dtype, ...) NATIVE_ROW(name, dtype, __VA_ARGS__)
#define WHERE_ROW(dtype, type) NATIVE_ROW(WHERE, dtype, type)
#define NATIVE_ENTRY(isa)                                                                                              \
    const taper_native_entry taper_native_##isa = {                                                                    \
        .name = #isa,                                                                                                  \
        .cpu = TAPER_ISA_##isa,                                                                                        \
        .block_f32 = product_f32,                                                                                      \
        .block_f64 = product_f64,                                                                                      \
        .lines_f64 = {lines_ADD_f64, lines_SUB_f64, lines_MUL_f64, lines_DIV_f64},                                     \
        .tile_u64 = tile_u64,                                                                                          \
        .pick_f32 = pick_f32,                                                                                          \
        .window_f32 = window_f32,                                                                                      \
        .deviations_f64 = deviations_f64,                                                                              \
        .moments_u8 = moments_u8,                                                                                      \
        .norm_u8 = norm_u8,                                                                                            \
        .folds = {TAPER_NATIVE_FOLDS(FOLD_ROW) FOLD_ROW(PRODUCT, F32, float) FOLD_ROW(SUM, C64, float)},               \
        .functions = {TAPER_NATIVES(NATIVE_ROW) TAPER_NATIVE_DIVISIONS(NATIVE_ROW) TAPER_NATIVE_STEPWISE(STEPWISE_ROW) \
                          TAPER_NATIVE_WHERES(WHERE_ROW)}};
