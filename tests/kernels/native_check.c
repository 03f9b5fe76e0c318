// SPDX-License-Identifier: BSD-2-Clause
// Checks the arithmetic of native.h: every kernel is compared with the arithmetic of the widest integers or of doubles.
// The memory ends at an inaccessible page, and results are computed in place and to other memory.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "check.h"
#include "ops/kernels/kernel_select.h"

enum { MOST = 4 * TAPER_NATIVE_STEP };

static const struct {
    const char *name;
    taper_native native;
    taper_native_type type;
    bool where;
    uint8_t item, result; // size of an element of an operand, and of an element of a result, in bytes
} rows[] = {
#define RESULT_SAME(T) sizeof(T)
#define RESULT_TRUTH(T) 1
#define RESULT_REAL(T) sizeof(float)
#define NATIVE(name, type, T, W, result, value)                                                                        \
    {#name " " #type, TAPER_NATIVE_##name, TAPER_NATIVE_##type, false, sizeof(T), RESULT_##result(T)},
#define DIVISION(name, type, T, W, R, value) NATIVE(name, type, T, W, SAME, value)
#define STEPWISE(name, type, T, ...)                                                                                   \
    {#name " " #type, TAPER_NATIVE_##name, TAPER_NATIVE_##type, false, sizeof(T), sizeof(T)},
#define WHERE(type, T) {"WHERE " #type, TAPER_NATIVE_WHERE, TAPER_NATIVE_##type, true, sizeof(T), sizeof(T)},
    TAPER_NATIVES(NATIVE) TAPER_NATIVE_DIVISIONS(DIVISION) TAPER_NATIVE_STEPWISE(STEPWISE) TAPER_NATIVE_WHERES(WHERE)
#undef NATIVE
#undef DIVISION
#undef STEPWISE
#undef WHERE
};
enum { ROWS = sizeof rows / sizeof *rows };

static bool is_float(taper_native_type type)
{
    return type == TAPER_NATIVE_F32 || type == TAPER_NATIVE_C64;
}

// Fills memory with small numbers, numbers at the limits of the type, and random numbers.
static void fill(taper_native_type type, void *p, size_t bytes, size_t item)
{
    static const float edges[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1e30f, -1e-30f, 0x1p-149f, 0.5f, 1.0f};
    if (type == TAPER_NATIVE_F64) {
        check_doubles_fill(p, bytes / sizeof(double));
        return;
    }
    if (is_float(type)) {
        const bool any = check_below(2); // false to fill without special numbers
        float *x = p;
        for (size_t i = 0; i < bytes / sizeof *x; i++) {
            x[i] = any && check_below(6) == 0 ? edges[check_below(10)] : check_uniform(-3, 3);
        }
        return;
    }
    for (size_t i = 0; i < bytes / item; i++) {
        const uint64_t any = (uint64_t)check_random() << 32 | check_random();
        const int64_t least = (int64_t)(UINT64_C(1) << (item * 8 - 1));
        const int64_t edge[] = {0, -1, 1, least, (int64_t)((uint64_t)least - 1), INT32_MIN, INT32_MAX, -2};
        const size_t kind = check_below(8);
        const int64_t value = kind == 0 ? (int64_t)any : kind == 1 ? edge[check_below(8)] : (int64_t)(any % 200) - 100;
        memcpy((char *)p + i * item, &value, item); // assumes little endian
    }
}

static int64_t read_int(taper_native_type type, const char *p)
{
    uint8_t u8;
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    switch (type) {
    case TAPER_NATIVE_I8:
        return memcpy(&i8, p, sizeof i8), i8;
    case TAPER_NATIVE_I16:
        return memcpy(&i16, p, sizeof i16), i16;
    case TAPER_NATIVE_I32:
        return memcpy(&i32, p, sizeof i32), i32;
    case TAPER_NATIVE_I64:
        return memcpy(&i64, p, sizeof i64), i64;
    default:
        return memcpy(&u8, p, sizeof u8), u8;
    }
}

static int64_t wrap(uint64_t x)
{
    return (int64_t)x;
}

// Returns the result for integers; the caller uses only its lowest bytes. The divisor must not be zero.
static int64_t whole(taper_native native, int64_t x, int64_t y, const taper_native_numbers *p)
{
    const uint64_t a = (uint64_t)x, b = (uint64_t)y;
    const bool divides = y != 0 && y != -1;
    const int64_t q = divides ? x / y : wrap(0 - a), r = divides ? x % y : 0;
    const bool turns = r != 0 && (r < 0) != (y < 0);
    switch (native) {
    case TAPER_NATIVE_ADD:
        return wrap(a + b);
    case TAPER_NATIVE_SUB:
        return wrap(a - b);
    case TAPER_NATIVE_MUL:
        return wrap(a * b);
    case TAPER_NATIVE_MAXIMUM:
        return x > y ? x : y;
    case TAPER_NATIVE_MINIMUM:
        return x < y ? x : y;
    case TAPER_NATIVE_AND:
        return x & y;
    case TAPER_NATIVE_OR:
        return x | y;
    case TAPER_NATIVE_XOR:
        return x ^ y;
    case TAPER_NATIVE_NOT:
        return ~x;
    case TAPER_NATIVE_NEG:
        return wrap(0 - a);
    case TAPER_NATIVE_ABS:
        return x < 0 ? wrap(0 - a) : x;
    case TAPER_NATIVE_SHIFT_LEFT:
        return y < 0 || y > 63 ? 0 : wrap(a << y);
    case TAPER_NATIVE_SHIFT_RIGHT:
        return x >> (y < 0 || y > 63 ? 63 : y);
    case TAPER_NATIVE_CLAMP:
        return x < p->i[0] ? (p->i[0] > p->i[1] ? p->i[1] : p->i[0]) : x > p->i[1] ? p->i[1] : x;
    case TAPER_NATIVE_DIV_TRUNC:
        return q;
    case TAPER_NATIVE_DIV_FLOOR:
        return turns ? q - 1 : q;
    case TAPER_NATIVE_FMOD:
        return r;
    case TAPER_NATIVE_REMAINDER:
        return turns ? r + y : r;
    case TAPER_NATIVE_EQ:
        return x == y;
    case TAPER_NATIVE_NE:
        return x != y;
    case TAPER_NATIVE_LT:
        return x < y;
    default:
        return x <= y;
    }
}

static double at_least(double x, double low)
{
    return x < low ? low : x;
}

// Returns the error bound of a product inside a sum. It is infinite if a float cannot represent the product.
static double product_bound(double product)
{
    return fabs(product) < 0x1p126 ? fabs(product) * 0x1p-22 : (double)INFINITY;
}

static double loss(taper_native native, double x, double y, double z, double f, double *bound)
{
    const double apart = fabs(x - y);
    *bound = 0x1p-148;
    switch (native) {
    case TAPER_NATIVE_MSE:
        *bound += apart * (fabs(x) + fabs(y)) * 0x1p-22;
        return apart * apart;
    case TAPER_NATIVE_SMOOTH_L1:
        *bound += (apart + fabs(x) + fabs(y) + fabs(f)) * (1 + 1 / fabs(f)) * 0x1p-21;
        return apart < f ? 0.5 * apart * apart / f : apart - 0.5 * f;
    case TAPER_NATIVE_HUBER:
        *bound += (apart + fabs(x) + fabs(y) + fabs(f)) * (1 + fabs(f)) * 0x1p-21;
        return apart <= f ? 0.5 * apart * apart : f * (apart - 0.5 * f);
    case TAPER_NATIVE_BCE: {
        const double other = at_least(log1p(-x), -100), log_x = at_least(log(x), -100);
        *bound += (fabs((y - 1) * other) + fabs(y * log_x)) * fabs(z) * 0x1p-20;
        return ((y - 1) * other - y * log_x) * z;
    }
    case TAPER_NATIVE_BCE_LOGITS:
        *bound += (0x1p-20 + 4 * product_bound(x * (1 + fabs(y)))) * fabs(z);
        return ((1 - y) * x + log1p(exp(-fabs(x))) + (x < 0 ? -x : 0)) * z;
    case TAPER_NATIVE_KL_DIV: {
        const double own = isnan(y) ? y : y == 0 ? 0 : y * log(y);
        *bound += (fabs(own) + fabs(y * x)) * 0x1p-21;
        return own - y * x;
    }
    case TAPER_NATIVE_KL_DIV_LOG:
        *bound += exp(y) * (fabs(x) + fabs(y)) * 0x1p-20;
        return exp(y) * (y - x);
    case TAPER_NATIVE_SOFT_MARGIN: // the exponential of a float overflows from 89 on, in PyTorch as well
        *bound += (1 + fabs(x * y)) * log1p(exp(-x * y)) * 0x1p-20;
        *bound = -x * y > 88 ? (double)INFINITY : *bound;
        return log1p(exp(-x * y));
    case TAPER_NATIVE_HINGE:
        *bound += (fabs(x) + fabs(f)) * 0x1p-22;
        return (y != 1 ? at_least(f - x, 0) : 0) + (y != -1 ? x : 0);
    case TAPER_NATIVE_POISSON:
        *bound += (fabs(x) + fabs(y * log(x + f)) + fabs(y) * (fabs(x) + fabs(f)) / fabs(x + f)) * 0x1p-20;
        return x - y * log(x + f);
    default:
        *bound += (exp(x) + fabs(y * x)) * 0x1p-20;
        return exp(x) - y * x;
    }
}

// Returns the result for floats, and its error bound.
static double real(taper_native native, const float *v, const taper_native_numbers *p, double *bound)
{
    const double x = (double)v[0], y = (double)v[1], z = (double)v[2];
    *bound = 0;
    switch (native) {
    case TAPER_NATIVE_CLAMP_TENSORS: {
        const double low = x < y ? y : x;
        return x != x || y != y || z != z ? NAN : low > z ? z : low;
    }
    case TAPER_NATIVE_ADDCMUL:
        *bound = product_bound(p->f[0] * y * z) + 0x1p-149 * (1 + fabs(z));
        return x + p->f[0] * y * z;
    case TAPER_NATIVE_ADDCDIV:
        *bound = product_bound(p->f[0] * y / z) + 0x1p-149 * (1 + 1 / fabs(z));
        return x + p->f[0] * y / z;
    case TAPER_NATIVE_LERP:
        *bound = (fabs(x) + fabs(y)) * (1 + fabs(z)) * 0x1p-21 + 0x1p-148;
        return z < 0.5 ? x + z * (y - x) : y - (y - x) * (1 - z);
    case TAPER_NATIVE_NEXTAFTER:
        return (double)nextafterf(v[0], v[1]);
    case TAPER_NATIVE_HYPOT:
        *bound = 0x1p-149;
        return hypot(x, y);
    case TAPER_NATIVE_SOFTSHRINK:
        return x > (double)(float)p->f[0]    ? x - (double)(float)p->f[0]
               : x < -(double)(float)p->f[0] ? x + (double)(float)p->f[0]
                                             : 0;
    case TAPER_NATIVE_HARDSHRINK:
        return x >= -(double)(float)p->f[0] && x <= (double)(float)p->f[0] ? 0 : x;
    case TAPER_NATIVE_THRESHOLD:
        return x <= (double)(float)p->f[0] ? (double)(float)p->f[1] : x;
    default:
        return loss(native, x, y, z, (double)(float)p->f[0], bound);
    }
}

// An infinite or NaN bound means that intermediate results exceed the range of floats.
static bool agrees(float got, double want, double bound)
{
    if (isnan(want)) {
        return isnan(got) || isinf(bound);
    }
    if (!(bound < 0x1p126) || (isfinite(want) && fabs(want) >= 0x1p126)) {
        return true;
    }
    return (double)got == want || fabs((double)got - want) <= bound + fabs(want) * 0x1p-23;
}

static bool element_is(size_t row, const char *x, const char *y, const char *z, const char *got,
                       const taper_native_numbers *p)
{
    const taper_native native = rows[row].native;
    float v[6] = {0}, g[2] = {0};
    double bound;
    if (rows[row].where) {
        return memcmp(got, *x != 0 ? y : z, rows[row].item) == 0;
    }
    if (rows[row].type == TAPER_NATIVE_F32) {
        memcpy(v, x, 4), memcpy(v + 1, y, 4), memcpy(v + 2, z, 4), memcpy(g, got, 4);
        const double want = real(native, v, p, &bound);
        return agrees(g[0], want, bound);
    }
    if (rows[row].type == TAPER_NATIVE_F64) {
        double wide[4];
        memcpy(wide, x, 8), memcpy(wide + 1, y, 8), memcpy(wide + 2, z, 8), memcpy(wide + 3, got, 8);
        return check_double_is((int)native, wide[0], wide[1], wide[2], wide[3], p);
    }
    if (rows[row].type == TAPER_NATIVE_C64) {
        memcpy(v, x, 8), memcpy(v + 2, y, 8), memcpy(g, got, rows[row].result);
        const double a = (double)v[0], b = (double)v[1], c = (double)v[2], d = (double)v[3];
        switch (native) {
        case TAPER_NATIVE_ADD:
            return agrees(g[0], a + c, 0) && agrees(g[1], b + d, 0);
        case TAPER_NATIVE_SUB:
            return agrees(g[0], a - c, 0) && agrees(g[1], b - d, 0);
        case TAPER_NATIVE_MUL:
            bound = (fabs(a) + fabs(b)) * (fabs(c) + fabs(d)) * 0x1p-23 + 0x1p-148;
            return agrees(g[0], a * c - b * d, bound) && agrees(g[1], a * d + b * c, bound);
        case TAPER_NATIVE_NEG:
            return agrees(g[0], -a, 0) && agrees(g[1], -b, 0);
        case TAPER_NATIVE_COMPLEX:
            return agrees(g[0], a, 0) && agrees(g[1], c, 0);
        case TAPER_NATIVE_ANGLE:
            return agrees(g[0], atan2(b, a), 4e-7) && !signbit(g[0]) == !signbit(atan2(b, a));
        case TAPER_NATIVE_DIV: {
            const double norm = c * c + d * d;
            bound = (fabs(a) + fabs(b)) * (fabs(c) + fabs(d)) / norm * 0x1p-21 + 0x1p-148;
            return agrees(g[0], (a * c + b * d) / norm, bound) && agrees(g[1], (b * c - a * d) / norm, bound);
        }
        case TAPER_NATIVE_POLAR:
            bound = fabs(a) * 0x1p-21 + 0x1p-148;
            return agrees(g[0], a * cos(c), bound) && agrees(g[1], a * sin(c), bound);
        case TAPER_NATIVE_EXP:
            bound = exp(a) * 0x1p-20 + 0x1p-148;
            return agrees(g[0], exp(a) * cos(b), bound) && agrees(g[1], exp(a) * sin(b), bound);
        case TAPER_NATIVE_CONJ:
            return agrees(g[0], a, 0) && agrees(g[1], -b, 0);
        default:
            return agrees(g[0], hypot(a, b), 0x1p-149);
        }
    }
    const int64_t a = read_int(rows[row].type, x), b = read_int(rows[row].type, y);
    const bool truth = rows[row].type == TAPER_NATIVE_BOOL;
    const int64_t want = whole(native, truth ? a != 0 : a, truth ? b != 0 : b, p);
    return memcmp(got, &want, rows[row].result) == 0;
}

static bool divides(size_t row)
{
    return rows[row].native >= TAPER_NATIVE_DIV_TRUNC && rows[row].native <= TAPER_NATIVE_REMAINDER &&
           rows[row].type != TAPER_NATIVE_F64;
}

static void check_row(taper_native_function *function, size_t row, size_t n)
{
    const size_t item = rows[row].item, first = rows[row].where ? 1 : item;
    const taper_native native = rows[row].native;
    const check_place place = check_below(2) ? CHECK_TAIL : CHECK_HEAD;
    taper_native_numbers p = {
        {(double)check_uniform(-2, 2), (double)check_uniform(-2, 2), (double)check_uniform(-2, 2)},
        {INT64_MIN, INT64_MAX}};
    if (check_below(2)) {
        p.i[0] = (int64_t)check_below(100) - 50, p.i[1] = (int64_t)check_below(100) - 50;
        p.i[0] = rows[row].type == TAPER_NATIVE_U8 && p.i[0] < 0 ? 0 : p.i[0];
        p.i[1] = rows[row].type == TAPER_NATIVE_U8 && p.i[1] < 0 ? 0 : p.i[1];
    }
    char *x = check_bytes(n * first, place, 0), *y = check_bytes(n * item, place, 0),
         *z = check_bytes(n * item, place, 0);
    fill(rows[row].where ? TAPER_NATIVE_BOOL : rows[row].type, x, n * first, first);
    fill(rows[row].type, y, n * item, item), fill(rows[row].type, z, n * item, item);
    if (rows[row].type == TAPER_NATIVE_F64 && check_below(2)) {
        check_doubles_tame((int)native, (double *)(void *)x, (double *)(void *)y, n);
    }
    // If `small` is true, dividends and divisors of 64 bits are in the range of 32 bits.
    const bool small = check_below(2);
    bool zero = false;
    for (size_t i = 0; divides(row) && i < n; i++) {
        if (rows[row].type == TAPER_NATIVE_I64 && small) {
            const int64_t low = (int32_t)read_int(TAPER_NATIVE_I64, x + i * item),
                          divisor = (int32_t)read_int(TAPER_NATIVE_I64, y + i * item);
            memcpy(x + i * item, &low, item), memcpy(y + i * item, &divisor, item);
        }
        if (read_int(rows[row].type, y + i * item) == 0 && check_below(8) != 0) {
            y[i * item] = 1;
        }
        zero = zero || read_int(rows[row].type, y + i * item) == 0;
    }
    char *copy = check_bytes(n * item, place, 0);
    memcpy(copy, y, n * item);
    char *out = rows[row].result == item && check_below(2) ? copy : check_bytes(n * rows[row].result, place, 0);
    const void *in[] = {x, out == copy ? copy : y, z};
    const bool noted = function(n, in, out, &p);
    check_that(noted == zero, "%s of %zu: division by zero is %d", rows[row].name, n, noted);
    for (size_t i = 0; i < n; i++) {
        const char *a = x + i * first, *b = y + i * item, *c = z + i * item, *got = out + i * rows[row].result;
        if (!(divides(row) && read_int(rows[row].type, b) == 0)) {
            check_that(element_is(row, a, b, c, got, &p), "%s of %zu: element %zu differs", rows[row].name, n, i);
        }
    }
}

// ---- reductions

#define FOLD(name, dtype, type, wide, ...) {#name " " #dtype, TAPER_FOLD_##name, TAPER_FOLD_##dtype, sizeof(type)},
static const struct fold_row {
    const char *name;
    taper_native_fold fold;
    taper_fold_type type;
    size_t item;
} fold_rows[] = {TAPER_NATIVE_FOLDS(FOLD){"PRODUCT F32", TAPER_FOLD_PRODUCT, TAPER_FOLD_F32, sizeof(float)}};
#undef FOLD
enum { FOLD_ROWS = sizeof fold_rows / sizeof *fold_rows, FOLDED = 1500 };

// Adds an element to an accumulator of the same type.
static void join(taper_native_fold fold, bool real, const void *x, size_t item, void *acc)
{
    double *f = acc;
    int64_t *i = acc;
    if (real) {
        float narrow;
        double v;
        memcpy(&narrow, x, sizeof narrow);
        v = (double)narrow;
        if (item == sizeof v)
            memcpy(&v, x, sizeof v);
        *f = fold == TAPER_FOLD_SUM       ? *f + v
             : fold == TAPER_FOLD_NANSUM  ? *f + (isnan(v) ? 0 : v)
             : fold == TAPER_FOLD_PRODUCT ? *f * v
             : fold == TAPER_FOLD_MOST    ? (isnan(v) || v > *f ? v : *f)
             : fold == TAPER_FOLD_LEAST   ? (isnan(v) || v < *f ? v : *f)
             : fold == TAPER_FOLD_ANY     ? (v != 0 ? 1 : *f)
             : fold == TAPER_FOLD_EVERY   ? (v != 0 ? *f : 0)
                                          : *f + (v != 0);
        return;
    }
    const int64_t v = read_int(item == 1 ? TAPER_NATIVE_U8 : item == 4 ? TAPER_NATIVE_I32 : TAPER_NATIVE_I64, x);
    *i = fold == TAPER_FOLD_SUM       ? (int64_t)((uint64_t)*i + (uint64_t)v)
         : fold == TAPER_FOLD_PRODUCT ? (int64_t)((uint64_t)*i * (uint64_t)v)
         : fold == TAPER_FOLD_MOST    ? (v > *i ? v : *i)
         : fold == TAPER_FOLD_LEAST   ? (v < *i ? v : *i)
         : fold == TAPER_FOLD_ANY     ? *i | (v != 0)
         : fold == TAPER_FOLD_EVERY   ? *i & (v != 0)
                                      : *i + (v != 0);
}

// Returns true if rounding of n numbers in any order explains the difference. size: for a sum, the sum of magnitudes;
// for a product, the product of the factors above 1, by which the error of a denormal may have grown. If products
// overflow, the result depends on the order.
static bool is_close(double got, double want, size_t n, taper_native_fold fold, double size)
{
    const bool product = fold == TAPER_FOLD_PRODUCT;
    const double most = product ? fabs(want) * 0x1p-23 + 0x1p-1074 * size : size * 0x1p-50;
    return got == want || (product && isinf(size)) || (isnan(got) && isnan(want)) ||
           fabs(got - want) <= most * (double)n;
}

static void check_fold(const taper_native_folder *folder, const struct fold_row *row, size_t m, size_t n)
{
    const bool real = row->type <= TAPER_FOLD_F64, line = m == 0;
    const size_t stride = n + check_below(3), count = line ? n : m * stride, item = row->item;
    char *x = check_bytes(count * item, CHECK_TAIL, 0);
    const size_t kind = check_below(4); // floats: of any size, with zeros, with overflow and underflow, or with NaN
    for (size_t i = 0; i < count; i++) {
        const double wide = kind == 1 && check_below(8) == 0     ? 0
                            : kind == 2 && check_below(128) == 0 ? ldexp(1, (int)check_below(250) - 125)
                            : kind == 3 && check_below(99) == 0  ? (double)NAN
                                                                 : (double)check_uniform(-2, 2);
        const float narrow = (float)wide;
        const int64_t whole = (int64_t)(check_uniform(-2, 2) * (kind < 2 ? 1 : 1e18f));
        memcpy(x + i * item, real ? (item == 8 ? (const void *)&wide : &narrow) : &whole, item);
    }
    double acc[FOLDED], want[FOLDED], growth[FOLDED], size = 0; // int64 numbers are stored in these by their bits
    const size_t results = line ? 1 : n;
    for (size_t k = 0; k < results; k++) {
        const int64_t number = (int64_t)check_below(2);
        acc[k] = (double)number;
        if (!real)
            memcpy(&acc[k], &number, sizeof number);
        want[k] = acc[k];
        growth[k] = 1;
    }
    for (size_t r = 0; r < (line ? 1 : m); r++) {
        for (size_t k = 0; k < n; k++) {
            join(row->fold, real, x + (r * stride + k) * item, item, &want[line ? 0 : k]);
            double value = 0;
            join(TAPER_FOLD_NANSUM, real, x + (r * stride + k) * item, item, &value);
            size += real ? fabs(value) : 0;
            growth[line ? 0 : k] *= real && fabs(value) > 1 ? fabs(value) : 1;
        }
    }
    if (line) {
        folder->line(n, x, acc);
    } else {
        folder->rows(m, n, x, stride, acc);
    }
    for (size_t k = 0; k < results; k++) {
        const double grown = row->fold == TAPER_FOLD_PRODUCT ? growth[k] : size + 1;
        check_that(real ? is_close(acc[k], want[k], line ? n : m, row->fold, grown)
                        : memcmp(&acc[k], &want[k], sizeof *acc) == 0,
                   "fold %s of %zu rows of %zu: result %zu is %g, not %g", row->name, m, n, k, acc[k], want[k]);
    }
}

static void check_folds(const taper_native_entry *entry)
{
    static const size_t lengths[] = {0, 1, 7, 31, 32, 33, 64, 100, 129, 1024, 1100};
    for (size_t i = 0; i < FOLD_ROWS; i++) {
        const taper_native_folder *folder = &entry->folds[fold_rows[i].fold][fold_rows[i].type];
        for (size_t at = 0; at < sizeof lengths / sizeof *lengths; at++) {
            for (int again = 0; again < 8; again++) {
                check_fold(folder, &fold_rows[i], 0, lengths[at]);
                check_fold(folder, &fold_rows[i], check_below(40), lengths[at] % 200);
                check_memory_reset();
            }
        }
    }
}

// Checks sums of complex numbers. Also checks maxima of neighbours with equal numbers, zeros of both signs and NaN.
static void check_pairs_and_picks(const taper_native_entry *entry)
{
    enum { MOST_ROWS = 12, MOST_WIDTH = 2300 };
    for (int again = 0; again < 60; again++) {
        const size_t count = 1 + check_below(MOST_ROWS), n = 1 + check_below(MOST_WIDTH), stride = n + check_below(3);
        float *x = check_floats(count * stride * 2, CHECK_TAIL, 0);
        double line[2] = {1, 2}, sums[2 * MOST_WIDTH] = {0}, want[2 * MOST_WIDTH] = {0}, whole[2] = {1, 2};
        for (size_t i = 0; i < 2 * count * stride; i++)
            x[i] = check_uniform(-2, 2);
        for (size_t r = 0; r < count; r++) {
            for (size_t k = 0; k < 2 * n; k++)
                want[k] += (double)x[2 * r * stride + k];
        }
        for (size_t k = 0; k < 2 * n; k++)
            whole[k % 2] += (double)x[k];
        entry->folds[TAPER_FOLD_SUM][TAPER_FOLD_C64].rows(count, n, x, stride, sums);
        entry->folds[TAPER_FOLD_SUM][TAPER_FOLD_C64].line(n, x, line);
        for (size_t k = 0; k < 2 * n; k++)
            check_that(sums[k] == want[k], "complex sum of %zu rows: %zu is %g, not %g", count, k, sums[k], want[k]);
        for (size_t k = 0; k < 2; k++)
            check_that(fabs(line[k] - whole[k]) < 4e-7 * (double)n, "complex sum of %zu: %g, not %g", n, line[k],
                       whole[k]);
        float best[MOST_WIDTH];
        int32_t where[MOST_WIDTH];
        static const float numbers[] = {0.0f, -0.0f, 1, -1, INFINITY, -INFINITY, NAN, 2};
        for (size_t i = 0; i < count * stride; i++)
            x[i] = numbers[check_below(again % 2 == 0 ? 8 : 6)];
        for (int least = 0; least < 2; least++) {
            entry->pick_f32(count, n, x, stride, least != 0, best, where);
            for (size_t k = 0; k < n; k++) {
                size_t at = 0;
                for (size_t r = 1; r < count; r++) {
                    const float v = x[r * stride + k], b = x[at * stride + k];
                    at = !isnan(b) && (isnan(v) || (least != 0 ? v < b : v > b)) ? r : at;
                }
                check_that(where[k] == (int32_t)at && memcmp(&best[k], &x[at * stride + k], sizeof *best) == 0,
                           "extreme of %zu rows, %d: %d, not %zu", count, least, (int)where[k], at);
            }
        }
        float most[MOST_WIDTH]; // maxima as in pooling: if several elements are NaN, the last NaN is the result
        const float *places[MOST_ROWS];
        int32_t names[MOST_ROWS];
        int64_t greatest[MOST_WIDTH];
        for (size_t r = 0; r < count; r++)
            places[r] = x + r * stride, names[r] = (int32_t)r;
        entry->window_f32(count, n, places, names, -1, most, greatest);
        for (size_t k = 0; k < n; k++) {
            int32_t at = -1;
            for (size_t r = 0; r < count; r++) {
                const float v = x[r * stride + k], b = at < 0 ? -INFINITY : x[(size_t)at * stride + k];
                at = v > b || isnan(v) ? (int32_t)r : at;
            }
            const float want_most = at < 0 ? -INFINITY : x[(size_t)at * stride + k];
            check_that(greatest[k] == at && memcmp(&most[k], &want_most, sizeof want_most) == 0,
                       "greatest of %zu rows: %d, not %d", count, (int)greatest[k], (int)at);
        }
        double doubles[MOST_WIDTH], deviations = 0;
        for (size_t k = 0; k < n; k++) {
            doubles[k] = (double)check_uniform(-2, 2);
            deviations += (doubles[k] - 0.25) * (doubles[k] - 0.25);
        }
        check_that(fabs(entry->deviations_f64(n, doubles, 0.25) - deviations) <= deviations * 1e-13,
                   "deviations of %zu", n);
        check_memory_reset();
    }
}

// ---- products of small integers, whose sums are exact

static void check_tiles(const taper_native_entry *entry)
{
    enum { DEPTH = 40, CELLS = TAPER_TILE_ROWS * TAPER_TILE_COLUMNS };
    for (int64_t k = 0; k < DEPTH; k++) {
        uint64_t x[DEPTH * TAPER_TILE_ROWS], y[DEPTH * TAPER_TILE_COLUMNS], whole[CELLS];
        for (int64_t i = 0; i < k * TAPER_TILE_ROWS; i++) {
            x[i] = (uint64_t)check_below(1000) - 500;
        }
        for (int64_t i = 0; i < k * TAPER_TILE_COLUMNS; i++) {
            y[i] = (uint64_t)check_below(1000) - 500;
        }
        entry->tile_u64(x, y, k, whole);
        for (int64_t cell = 0; cell < CELLS; cell++) {
            uint64_t want = 0;
            for (int64_t p = 0; p < k; p++)
                want += x[p * TAPER_TILE_ROWS + cell / TAPER_TILE_COLUMNS] *
                        y[p * TAPER_TILE_COLUMNS + cell % TAPER_TILE_COLUMNS];
            check_that(whole[cell] == want, "tile of depth %d: cell %d is %lld", (int)k, (int)cell,
                       (long long)whole[cell]);
        }
    }
}

// Rows and columns are in guarded memory, so an access beyond them stops the program.
#define CHECK_BLOCK(name, T)                                                                                           \
    static void check_block_##name(const taper_native_entry *entry)                                                    \
    {                                                                                                                  \
        for (size_t round = 0; round < 400; round++) {                                                                 \
            const size_t count = check_below(11), columns = 1 + check_below(TAPER_BLOCK_COLUMNS), k = check_below(20); \
            const bool turned = check_below(2) != 0, add = check_below(2) != 0;                                        \
            const size_t gap = check_below(3), c_row = columns + gap;                                                  \
            T *a = check_bytes(count * k * sizeof *a, CHECK_TAIL, 0),                                                  \
              *b = check_bytes(k * TAPER_BLOCK_COLUMNS * sizeof *b, CHECK_TAIL, 0);                                    \
            T *c = check_bytes(count * c_row * sizeof *c, CHECK_TAIL, 0), want[11 * 11];                               \
            for (size_t i = 0; i < count * k; i++) {                                                                   \
                a[i] = (T)check_below(100) - 50;                                                                       \
            }                                                                                                          \
            for (size_t i = 0; i < k * TAPER_BLOCK_COLUMNS; i++) {                                                     \
                b[i] = (T)check_below(100) - 50;                                                                       \
            }                                                                                                          \
            for (size_t i = 0; i < count * c_row; i++) {                                                               \
                c[i] = want[i] = (T)check_below(100);                                                                  \
            }                                                                                                          \
            const size_t row = turned ? 1 : k, column = turned ? count : 1;                                            \
            for (size_t r = 0; r < count; r++) {                                                                       \
                for (size_t j = 0; j < columns; j++) {                                                                 \
                    T sum = add ? want[r * c_row + j] : 0;                                                             \
                    for (size_t p = 0; p < k; p++) {                                                                   \
                        sum += a[r * row + p * column] * b[p * TAPER_BLOCK_COLUMNS + j];                               \
                    }                                                                                                  \
                    want[r * c_row + j] = sum;                                                                         \
                }                                                                                                      \
            }                                                                                                          \
            entry->block_##name(count, columns, k, a, (int64_t)row, (int64_t)column, b, c, (int64_t)c_row, add);       \
            check_that(memcmp(c, want, count *c_row * sizeof *c) == 0, "block of %zu rows, %zu columns, depth %zu",    \
                       count, columns, k);                                                                             \
            check_memory_reset();                                                                                      \
        }                                                                                                              \
    }
CHECK_BLOCK(f32, float)
CHECK_BLOCK(f64, double)
#undef CHECK_BLOCK

// ---- lines of doubles, some of which are broadcast

static void check_lines(const taper_native_entry *entry)
{
    enum { LENGTH = 20 };
    for (size_t round = 0; round < 2000; round++) {
        const size_t lines = check_below(LENGTH), n = 1 + check_below(LENGTH), kind = check_below(TAPER_LINES_COUNT);
        taper_line_operand in[2];
        double *memory[2], *out, want[LENGTH * (LENGTH + 2)];
        const size_t spread = check_below(3), out_line = n + check_below(3); // operand `spread` has one element a line
        for (size_t k = 0; k < 2; k++) {
            const bool repeats = check_below(3) == 0; // true if all lines are the same
            const size_t wide = spread == k ? 1 : n, line = repeats ? 0 : wide + check_below(3);
            const size_t count = lines == 0 ? 0 : (lines - 1) * line + wide;
            memory[k] = check_bytes(count * sizeof(double), CHECK_TAIL, 0);
            for (size_t i = 0; i < count; i++) {
                memory[k][i] = (double)check_below(100) + 1;
            }
            in[k] = (taper_line_operand){memory[k], spread == k ? 0 : 1, (int64_t)line};
        }
        out = check_bytes(lines * out_line * sizeof(double), CHECK_TAIL, 0);
        for (size_t i = 0; i < lines * out_line; i++) {
            out[i] = want[i] = -1;
        }
        for (size_t l = 0; l < lines; l++) {
            for (size_t i = 0; i < n; i++) {
                const double x = memory[0][(int64_t)l * in[0].line + (int64_t)i * in[0].step];
                const double y = memory[1][(int64_t)l * in[1].line + (int64_t)i * in[1].step];
                want[l * out_line + i] = kind == TAPER_LINES_ADD   ? x + y
                                         : kind == TAPER_LINES_SUB ? x - y
                                         : kind == TAPER_LINES_MUL ? x * y
                                                                   : x / y;
            }
        }
        entry->lines_f64[kind](lines, n, &in[0], &in[1], out, (int64_t)out_line);
        check_that(memcmp(out, want, lines * out_line * sizeof *out) == 0, "%zu lines of %zu doubles, kind %zu", lines,
                   n, kind);
        check_memory_reset();
    }
}

typedef struct bench_job {
    taper_native_function *function;
    const void *in[3];
    void *out;
} bench_job;

static void bench_run(void *argument)
{
    const bench_job *j = argument;
    const taper_native_numbers p = {{1, 0, 0}, {-10, 10}};
    (void)j->function(4096, j->in, j->out, &p);
}

void check_native(bool benchmark)
{
    for (size_t index = 0; taper_native_entry_at(index) != NULL; index++) {
        const taper_native_entry *entry = taper_native_entry_at(index);
        if ((entry->cpu & check_cpu()) != entry->cpu)
            continue;
        check_begin("native", entry->name);
        if (!benchmark) {
            check_folds(entry);
            check_native_special(entry);
            check_native_bytes(entry);
            check_pairs_and_picks(entry);
            check_tiles(entry);
            check_block_f32(entry);
            check_block_f64(entry);
            check_lines(entry);
        }
        for (size_t row = 0; row < ROWS; row++) {
            taper_native_function *function = entry->functions[rows[row].native][rows[row].type];
            if (benchmark) {
                bench_job j = {
                    function, {bench_floats(8192), bench_floats(8192), bench_floats(8192)}, bench_floats(8192)};
                const double t = bench_best(bench_run, &j, 10, 0.0005);
                printf("native %-8s %-18s %6.2f G elements/s\n", entry->name, rows[row].name, 4096 / t * 1e-9);
                bench_free((void *)(uintptr_t)j.in[0]), bench_free((void *)(uintptr_t)j.in[1]);
                bench_free((void *)(uintptr_t)j.in[2]), bench_free(j.out);
                continue;
            }
            if (rows[row].native >= TAPER_NATIVE_ATANH && rows[row].native <= TAPER_NATIVE_TRIGAMMA)
                continue; // skipped here, because native_special_check.c checks special functions on fine grids
            for (size_t n = 0; n <= MOST; n += TAPER_NATIVE_STEP) {
                for (int i = 0; i < 20; i++) {
                    check_row(function, row, n);
                    check_memory_reset();
                }
            }
        }
    }
}
