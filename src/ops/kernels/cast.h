// SPDX-License-Identifier: BSD-2-Clause
// Conversions between dtypes, element by element, with PyTorch's results on x86. A float is first converted to int32 or
// int64, where NaN and a number that does not fit become the smallest int32 or int64. A narrower result type receives
// the low bits of that integer.
//
// The loops are plain C that the compiler vectorizes, once for each instruction set; every entry gives the same bits.
// Only the elements that the arguments name are read or written. y must not overlap x.
#ifndef TAPER_KERNELS_CAST_H
#define TAPER_KERNELS_CAST_H

#include "base/half.h"
#include "ops/kernels/arch.h"

// Converts the float v. Gives the smallest int64 (or int32) if v is NaN or does not fit, as the instructions of x86 do.
#if defined(TAPER_ARCH_x86) && defined(__GNUC__) && !defined(__clang__)
#define TAPER_CAST_I64(v) (int64_t)(v)
#define TAPER_CAST_I32(v) (int32_t)(v)
#else
#define TAPER_CAST_I64(v) ((v) >= -0x1p63f && (v) < 0x1p63f ? (int64_t)(v) : INT64_MIN)
#define TAPER_CAST_I32(v) ((v) >= -0x1p31f && (v) < 0x1p31f ? (int32_t)(v) : INT32_MIN)
#endif

typedef struct taper_cast_pair {
    float re, im;
} taper_cast_pair;

// CAST(dtype of x, dtype of y, their types, expression of v). A conversion of an integer to an integer that is not
// wider, or to bool, gives the same bits if x is signed or unsigned. The table has no row for I8 if the row for U8
// gives the same bits; taper_cast_find then returns the row for U8.
// clang-format off
#define TAPER_CASTS(CAST)                                                                                              \
    CAST(U8, F32, uint8_t, float, (float)v)                                                                            \
    CAST(I8, F32, int8_t, float, (float)v)                                                                             \
    CAST(I16, F32, int16_t, float, (float)v)                                                                           \
    CAST(I32, F32, int32_t, float, (float)v)                                                                           \
    CAST(I64, F32, int64_t, float, (float)v)                                                                           \
    CAST(BOOL, F32, uint8_t, float, v != 0 ? 1.0f : 0.0f)                                                              \
    CAST(F64, F32, double, float, (float)v)                                                                            \
    CAST(F32, U8, float, uint8_t, (uint8_t)TAPER_CAST_I64(v))                                                          \
    CAST(F32, I8, float, int8_t, (int8_t)(uint8_t)TAPER_CAST_I32(v))                                                   \
    CAST(F32, I16, float, int16_t, (int16_t)(uint16_t)TAPER_CAST_I32(v))                                               \
    CAST(F32, I32, float, int32_t, TAPER_CAST_I32(v))                                                                  \
    CAST(F32, I64, float, int64_t, TAPER_CAST_I64(v))                                                                  \
    CAST(F32, F64, float, double, (double)v)                                                                           \
    CAST(F32, BOOL, float, uint8_t, v != 0 ? 1 : 0)                                                                    \
    CAST(F64, I16, double, int16_t, (int16_t)(uint16_t)TAPER_CAST_I32(v))                                              \
    CAST(F64, I32, double, int32_t, TAPER_CAST_I32(v))                                                                 \
    CAST(F64, I64, double, int64_t, TAPER_CAST_I64(v))                                                                 \
    CAST(F64, U8, double, uint8_t, (uint8_t)TAPER_CAST_I64(v))                                                         \
    CAST(F64, BOOL, double, uint8_t, v != 0 ? 1 : 0)                                                                   \
    CAST(U8, F64, uint8_t, double, (double)v)                                                                          \
    CAST(I8, F64, int8_t, double, (double)v)                                                                           \
    CAST(I16, F64, int16_t, double, (double)v)                                                                         \
    CAST(I32, F64, int32_t, double, (double)v)                                                                         \
    CAST(I64, F64, int64_t, double, (double)v)                                                                         \
    CAST(BOOL, F64, uint8_t, double, v != 0 ? 1.0 : 0.0)                                                               \
    CAST(I64, I32, int64_t, int32_t, (int32_t)(uint32_t)v)                                                             \
    CAST(I64, I16, int64_t, int16_t, (int16_t)(uint16_t)v)                                                             \
    CAST(I64, U8, int64_t, uint8_t, (uint8_t)v)                                                                        \
    CAST(I64, BOOL, int64_t, uint8_t, v != 0 ? 1 : 0)                                                                  \
    CAST(I32, I64, int32_t, int64_t, (int64_t)v)                                                                       \
    CAST(I32, I16, int32_t, int16_t, (int16_t)(uint16_t)v)                                                             \
    CAST(I32, U8, int32_t, uint8_t, (uint8_t)v)                                                                        \
    CAST(I32, BOOL, int32_t, uint8_t, v != 0 ? 1 : 0)                                                                  \
    CAST(I16, I64, int16_t, int64_t, (int64_t)v)                                                                       \
    CAST(I16, I32, int16_t, int32_t, (int32_t)v)                                                                       \
    CAST(I16, U8, int16_t, uint8_t, (uint8_t)v)                                                                        \
    CAST(I16, BOOL, int16_t, uint8_t, v != 0 ? 1 : 0)                                                                  \
    CAST(U8, I64, uint8_t, int64_t, (int64_t)v)                                                                        \
    CAST(U8, I32, uint8_t, int32_t, (int32_t)v)                                                                        \
    CAST(U8, I16, uint8_t, int16_t, (int16_t)v)                                                                        \
    CAST(U8, U8, uint8_t, uint8_t, v)                                                                                  \
    CAST(U8, BOOL, uint8_t, uint8_t, v != 0 ? 1 : 0)                                                                   \
    CAST(I8, I64, int8_t, int64_t, (int64_t)v)                                                                         \
    CAST(I8, I32, int8_t, int32_t, (int32_t)v)                                                                         \
    CAST(I8, I16, int8_t, int16_t, (int16_t)v)                                                                         \
    CAST(BOOL, I64, uint8_t, int64_t, v != 0 ? 1 : 0)                                                                  \
    CAST(BOOL, I32, uint8_t, int32_t, v != 0 ? 1 : 0)                                                                  \
    CAST(BOOL, I16, uint8_t, int16_t, v != 0 ? 1 : 0)                                                                  \
    CAST(BOOL, U8, uint8_t, uint8_t, v != 0 ? 1 : 0)                                                                   \
    CAST(F32, C64, float, taper_cast_pair, ((taper_cast_pair){v, 0.0f}))                                               \
    CAST(BF16, F32, uint16_t, float, taper_bf16_to_float(v))                                                           \
    CAST(F32, BF16, float, uint16_t, taper_float_to_bf16(v))
// Conversions of halves, for which instruction sets have instructions.
#define TAPER_CASTS_OF_HALVES(CAST)                                                                                    \
    CAST(F16, F32, uint16_t, float, taper_f16_to_float(v))                                                             \
    CAST(F32, F16, float, uint16_t, taper_float_to_f16(v))
// clang-format on

#define CAST(from, to, x_type, y_type, value) TAPER_CAST_##from##_##to,
typedef enum taper_cast { TAPER_CASTS(CAST) TAPER_CASTS_OF_HALVES(CAST) TAPER_CAST_COUNT } taper_cast;
#undef CAST

typedef void taper_cast_function(size_t n, const void *x, void *y);

typedef struct taper_cast_entry {
    const char *name;
    uint64_t cpu;
    taper_cast_function *casts[TAPER_CAST_COUNT];
} taper_cast_entry;

#define KERNEL(isa) extern const taper_cast_entry taper_cast_##isa;
#include "ops/kernels/cast_list.inc"
#undef KERNEL

#endif
