// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic whose overflow is defined. taper_add_* and taper_mul_* return false if the result does not fit;
// taper_wrap_* keep the low 64 bits of two's complement, as PyTorch's integers and strides do.
#ifndef TAPER_BASE_CHECKED_H
#define TAPER_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool taper_add_size(size_t a, size_t b, size_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

static inline bool taper_mul_size(size_t a, size_t b, size_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

static inline bool taper_add_i64(int64_t a, int64_t b, int64_t *sum)
{
    return !__builtin_add_overflow(a, b, sum);
}

static inline bool taper_mul_i64(int64_t a, int64_t b, int64_t *product)
{
    return !__builtin_mul_overflow(a, b, product);
}

static inline int64_t taper_wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t taper_wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t taper_wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static inline int64_t taper_wrap_neg(int64_t a)
{
    return (int64_t)(0 - (uint64_t)a);
}

static inline size_t taper_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t taper_max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

static inline uint64_t taper_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline int64_t taper_min_i64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t taper_max_i64(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

// Returns the smallest multiple of `step` that is at least `n`. `step` is a power of two; n + step must not overflow.
static inline size_t taper_round_up(size_t n, size_t step)
{
    return (n + step - 1) & ~(step - 1);
}

#endif
