// SPDX-License-Identifier: BSD-2-Clause
// Converts blocks of elements between memory and the classes of arithmetic. Each dtype has a natural class, which its
// elements are loaded to and stored from. A second step converts between classes. Conversions that C leaves undefined
// behave like PyTorch's on x86.
#include "base/half.h"
#include "ops/engine/elementwise.h"

#ifdef __x86_64__
#include <emmintrin.h>
#endif

static const uint8_t natural[TAPER_DTYPE_COUNT] = {
    TAPER_EW_I64,     TAPER_EW_I64,     TAPER_EW_I64,     TAPER_EW_I64,  TAPER_EW_I64,     TAPER_EW_F32,
    TAPER_EW_F32,     TAPER_EW_F64,     TAPER_EW_C128,    TAPER_EW_C128, TAPER_EW_C128,    TAPER_EW_U8,
    TAPER_EW_CLASSES, TAPER_EW_CLASSES, TAPER_EW_CLASSES, TAPER_EW_F32,  TAPER_EW_CLASSES, TAPER_EW_CLASSES,
};

taper_ew_class taper_ew_class_of(taper_dtype dtype)
{
    return (taper_ew_class)natural[dtype];
}

taper_dtype taper_ew_native(taper_ew_class class_)
{
    static const uint8_t native[TAPER_EW_CLASSES] = {TAPER_F32, TAPER_F64, TAPER_I64, TAPER_BOOL, TAPER_C128};
    return (taper_dtype)native[class_];
}

bool taper_ew_is_native(taper_dtype dtype, taper_ew_class class_)
{
    return class_ < TAPER_EW_CLASSES && taper_ew_native(class_) == dtype;
}

size_t taper_ew_class_size(taper_ew_class class_)
{
    static const uint8_t sizes[TAPER_EW_CLASSES] = {4, 8, 8, 1, 16};
    return sizes[class_];
}

#include "ops/engine/elementwise_pairs.h"

// ---- memory and natural class: two loops for each dtype, one with a step that the compiler knows

#define MEMORY(name, type, wide, read, write)                                                                          \
    static void get_##name(void *to, const char *from, int64_t step, size_t n)                                         \
    {                                                                                                                  \
        wide *t = to;                                                                                                  \
        if (step == (int64_t)sizeof(type)) {                                                                           \
            const type *f = (const type *)(const void *)from;                                                          \
            for (size_t k = 0; k < n; k++) {                                                                           \
                const type v = f[k];                                                                                   \
                t[k] = read;                                                                                           \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        GET_PAIRS(type, read)                                                                                          \
        for (size_t k = 0; k < n; k++) {                                                                               \
            const type v = *(const type *)(const void *)from;                                                          \
            t[k] = read;                                                                                               \
            from += step;                                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    static void put_##name(char *to, int64_t step, const void *from, size_t n)                                         \
    {                                                                                                                  \
        const wide *f = from;                                                                                          \
        if (step == (int64_t)sizeof(type)) {                                                                           \
            type *t = (type *)(void *)to;                                                                              \
            for (size_t k = 0; k < n; k++) {                                                                           \
                const wide v = f[k];                                                                                   \
                t[k] = write;                                                                                          \
            }                                                                                                          \
            return;                                                                                                    \
        }                                                                                                              \
        for (size_t k = 0; k < n; k++) {                                                                               \
            const wide v = f[k];                                                                                       \
            *(type *)(void *)to = write;                                                                               \
            to += step;                                                                                                \
        }                                                                                                              \
    }

typedef struct pair16 {
    uint16_t re, im;
} pair16;
typedef struct pair32 {
    float re, im;
} pair32;

MEMORY(u8, uint8_t, int64_t, (int64_t)v, (uint8_t)v)
MEMORY(i8, int8_t, int64_t, (int64_t)v, (int8_t)(uint8_t)v)
MEMORY(i16, int16_t, int64_t, (int64_t)v, (int16_t)(uint16_t)v)
MEMORY(i32, int32_t, int64_t, (int64_t)v, (int32_t)(uint32_t)v)
MEMORY(i64, int64_t, int64_t, v, v)
MEMORY(f16, uint16_t, float, taper_f16_to_float(v), taper_float_to_f16(v))
MEMORY(bf16, uint16_t, float, taper_bf16_to_float(v), taper_float_to_bf16(v))
MEMORY(f32, float, float, v, v)
MEMORY(f64, double, double, v, v)
MEMORY(bool, uint8_t, uint8_t, v != 0, v != 0)
#define COMPLEX(type, r, i) ((type){r, i})
MEMORY(c32, pair16, taper_c128, COMPLEX(taper_c128, (double)taper_f16_to_float(v.re), (double)taper_f16_to_float(v.im)),
       COMPLEX(pair16, taper_float_to_f16((float)v.re), taper_float_to_f16((float)v.im)))
MEMORY(c64, pair32, taper_c128, COMPLEX(taper_c128, (double)v.re, (double)v.im),
       COMPLEX(pair32, (float)v.re, (float)v.im))
MEMORY(c128, taper_c128, taper_c128, v, v)

typedef void (*get_function)(void *to, const char *from, int64_t step, size_t n);
typedef void (*put_function)(char *to, int64_t step, const void *from, size_t n);
static const get_function getters[TAPER_DTYPE_COUNT] = {
    [TAPER_U8] = get_u8,     [TAPER_I8] = get_i8,   [TAPER_I16] = get_i16,   [TAPER_I32] = get_i32,
    [TAPER_I64] = get_i64,   [TAPER_F16] = get_f16, [TAPER_F32] = get_f32,   [TAPER_F64] = get_f64,
    [TAPER_C32] = get_c32,   [TAPER_C64] = get_c64, [TAPER_C128] = get_c128, [TAPER_BOOL] = get_bool,
    [TAPER_BF16] = get_bf16,
};
static const put_function putters[TAPER_DTYPE_COUNT] = {
    [TAPER_U8] = put_u8,     [TAPER_I8] = put_i8,   [TAPER_I16] = put_i16,   [TAPER_I32] = put_i32,
    [TAPER_I64] = put_i64,   [TAPER_F16] = put_f16, [TAPER_F32] = put_f32,   [TAPER_F64] = put_f64,
    [TAPER_C32] = put_c32,   [TAPER_C64] = put_c64, [TAPER_C128] = put_c128, [TAPER_BOOL] = put_bool,
    [TAPER_BF16] = put_bf16,
};

// ---- conversions between classes of arithmetic

static int64_t double_to_i64(double v)
{
#ifdef __x86_64__
    return _mm_cvttsd_si64(_mm_set_sd(v)); // gives INT64_MIN for a value that does not fit
#else
    return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? (int64_t)v : INT64_MIN;
#endif
}

static int64_t float_to_i64(float v)
{
#ifdef __x86_64__
    return _mm_cvttss_si64(_mm_set_ss(v));
#else
    return double_to_i64((double)v);
#endif
}

static int64_t double_to_i32(double v) // returns an int32, whose low bits are the result for narrower integers
{
    return v > -2147483649.0 && v < 2147483648.0 ? (int64_t)v : INT32_MIN;
}

#define CONVERT(name, from_type, to_type, expression)                                                                  \
    static void name(void *to, const void *from, size_t n)                                                             \
    {                                                                                                                  \
        const from_type *f = from;                                                                                     \
        to_type *t = to;                                                                                               \
        for (size_t k = 0; k < n; k++) {                                                                               \
            const from_type v = f[k];                                                                                  \
            t[k] = expression;                                                                                         \
        }                                                                                                              \
    }
CONVERT(f32_f64, float, double, (double)v)
CONVERT(f32_i64, float, int64_t, float_to_i64(v))
CONVERT(f32_i32, float, int64_t, double_to_i32((double)v))
CONVERT(f32_u8, float, uint8_t, v != 0)
CONVERT(f32_c128, float, taper_c128, COMPLEX(taper_c128, (double)v, 0))
CONVERT(f64_f32, double, float, (float)v)
CONVERT(f64_i64, double, int64_t, double_to_i64(v))
CONVERT(f64_i32, double, int64_t, double_to_i32(v))
CONVERT(f64_u8, double, uint8_t, v != 0)
CONVERT(f64_c128, double, taper_c128, COMPLEX(taper_c128, v, 0))
CONVERT(i64_f32, int64_t, float, (float)v)
CONVERT(i64_f64, int64_t, double, (double)v)
CONVERT(i64_u8, int64_t, uint8_t, v != 0)
CONVERT(i64_c128, int64_t, taper_c128, COMPLEX(taper_c128, (double)v, 0))
CONVERT(u8_f32, uint8_t, float, (float)v)
CONVERT(u8_f64, uint8_t, double, (double)v)
CONVERT(u8_i64, uint8_t, int64_t, (int64_t)v)
CONVERT(u8_c128, uint8_t, taper_c128, COMPLEX(taper_c128, (double)v, 0))
CONVERT(c128_f32, taper_c128, float, (float)v.re)
CONVERT(c128_f64, taper_c128, double, v.re)
CONVERT(c128_i64, taper_c128, int64_t, double_to_i64(v.re))
CONVERT(c128_u8, taper_c128, uint8_t, v.re != 0 || v.im != 0)

typedef void (*convert_function)(void *to, const void *from, size_t n);
static const convert_function converters[TAPER_EW_CLASSES][TAPER_EW_CLASSES] = {
    [TAPER_EW_F32] = {NULL, f32_f64, f32_i64, f32_u8, f32_c128},
    [TAPER_EW_F64] = {f64_f32, NULL, f64_i64, f64_u8, f64_c128},
    [TAPER_EW_I64] = {i64_f32, i64_f64, NULL, i64_u8, i64_c128},
    [TAPER_EW_U8] = {u8_f32, u8_f64, u8_i64, NULL, u8_c128},
    [TAPER_EW_C128] = {c128_f32, c128_f64, c128_i64, c128_u8, NULL},
};

void taper_ew_load(taper_dtype dtype, taper_ew_class class_, void *to, const void *from, int64_t step, size_t n,
                   taper_ew_block *temp)
{
    const taper_ew_class own = (taper_ew_class)natural[dtype];
    if (own == class_) {
        getters[dtype](to, from, step, n);
        return;
    }
    getters[dtype](temp, from, step, n);
    converters[own][class_](to, temp, n);
}

void taper_ew_store(taper_dtype dtype, taper_ew_class class_, void *to, int64_t step, const void *from, size_t n,
                    taper_ew_block *temp)
{
    const taper_ew_class own = (taper_ew_class)natural[dtype];
    if (own != class_) {
        const bool narrow = dtype == TAPER_I8 || dtype == TAPER_I16 || dtype == TAPER_I32;
        if (narrow && class_ == TAPER_EW_F32) {
            f32_i32(temp, from, n);
        } else if (narrow && class_ == TAPER_EW_F64) {
            f64_i32(temp, from, n);
        } else {
            converters[class_][own](temp, from, n);
        }
        from = temp;
    }
    putters[dtype](to, step, from, n);
}
