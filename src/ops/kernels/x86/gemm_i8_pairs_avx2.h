// SPDX-License-Identifier: BSD-2-Clause
// The products of the AVX2 gemm of quantized numbers, in the words of simd_i8_x86.h. pmaddubsw multiplies a byte by a
// signed one and adds two such products in 16 bits, where it saturates: two groups of four k, which are a step, take two
// of them, a sum of 16 bits and one widening to 32, if all four products of a lane fit in 16 bits. What fits is known
// from the weights, for inputs of up to 127 and of up to 255: marks say how a step is done (taper_gemm_i8_marks).
// Quantizers leave most inputs below 128; each strip looks at its own.
#include "ops/kernels/gemm_i8.h"

enum { STEP_BYTES = 2 * 4 * 2 * LANES, GROUP_BYTES = STEP_BYTES / 2 };

TAPER_TEMPLATE S two_products(S sum, Q a, const int8_t *w)
{
    return (S)P(add_epi32)((Q)sum, P(madd_epi16)(P(maddubs_epi16)(a, I8(load)(w)), P(set1_epi16)(1)));
}

TAPER_TEMPLATE S four_products(S sum, Q a0, Q a1, Q w0, Q w1)
{
    const Q four = P(add_epi16)(P(maddubs_epi16)(a0, w0), P(maddubs_epi16)(a1, w1));
    return (S)P(add_epi32)((Q)sum, P(madd_epi16)(four, P(set1_epi16)(1)));
}

TAPER_TEMPLATE void add_group(const size_t mr, const size_t nv, const uint8_t *const *p, size_t at, const int8_t *w,
                              S acc[MR_MAX][2])
{
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        const Q x = I8(four)(p[i] + at);
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++)
            acc[i][j] = two_products(acc[i][j], x, w + I8_BYTES * j);
    }
}

// One group where not even two products fit. Its code is not in the tiles': it is for few steps, or for models whose
// weights leave no other way.
static __attribute__((noinline)) void add_exact(size_t mr, size_t nv, const uint8_t *const *p, size_t at,
                                                const int8_t *w, S acc[MR_MAX][2])
{
    for (size_t i = 0; i < mr; i++) {
        const Q x = I8(four)(p[i] + at);
        for (size_t j = 0; j < nv; j++)
            acc[i][j] = I8(dot)(acc[i][j], x, I8(load)(w + I8_BYTES * j));
    }
}

// The group at byte `at` of the rows p, and the one `further` bytes on of the rows q; count: 1 or 2, of them that are to
// be added.
TAPER_TEMPLATE void add_step(const size_t mr, const size_t nv, const size_t count, unsigned level, size_t at,
                             const uint8_t *const *p, const uint8_t *const *q, const size_t further, const int8_t *w,
                             S acc[MR_MAX][2])
{
    if (__builtin_expect(level == TAPER_I8_EXACT, 0)) {
        const uint8_t *rows[2][MR_MAX];
        S sums[MR_MAX][2]; // that of the tile stays in registers
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            rows[0][i] = p[i];
            rows[1][i] = q[i];
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++)
                sums[i][j] = acc[i][j];
        }
        add_exact(mr, nv, rows[0], at, w, sums);
        if (count == 2)
            add_exact(mr, nv, rows[1], at + further, w + GROUP_BYTES, sums);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++)
                acc[i][j] = sums[i][j];
        }
    } else if (count == 1 || __builtin_expect(level == TAPER_I8_TWO_FIT, 0)) {
        __asm__("" : "+r"(w), "+r"(at)); // or compilers would do before the branch what both ways have in common
        add_group(mr, nv, p, at, w, acc);
        if (count == 2)
            add_group(mr, nv, q, at + further, w + GROUP_BYTES, acc);
    } else {
        __asm__("" : "+r"(w), "+r"(at));
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            const Q x0 = I8(four)(p[i] + at), x1 = I8(four)(q[i] + at + further);
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++)
                acc[i][j] = four_products(acc[i][j], x0, x1, I8(load)(w + I8_BYTES * j),
                                          I8(load)(w + GROUP_BYTES + I8_BYTES * j));
            __asm__ volatile("" : "+x"(acc[i][0]), "+x"(acc[i][nv - 1])); // row after row: registers hold no more
        }
    }
}

// The groups of a tap at p, the first of which is the panel's group number `first`. Returns the weights behind.
TAPER_TEMPLATE const int8_t *add_products(const size_t mr, const size_t nv, const uint8_t *const *p, const int8_t *w,
                                          size_t first, size_t groups, const uint8_t *marks, unsigned shift,
                                          S acc[MR_MAX][2])
{
    size_t at = 0;
    marks += first / 2;
    if (first % 2 == 1) {
        add_step(mr, nv, 1, *marks++ >> shift & 3, 0, p, p, 0, w, acc);
        w += GROUP_BYTES;
        at = 4;
        groups--;
    }
    TAPER_NO_UNROLL
    for (; groups >= 2; groups -= 2, at += 8) {
        _mm_prefetch((const char *)w + 8192, _MM_HINT_T0);
        _mm_prefetch((const char *)w + 8192 + 64, _MM_HINT_T0);
        add_step(mr, nv, 2, *marks++ >> shift & 3, at, p, p, 4, w, acc);
        w += STEP_BYTES;
    }
    if (groups != 0) {
        add_step(mr, nv, 1, *marks >> shift & 3, at, p, p, 0, w, acc);
        w += GROUP_BYTES;
    }
    return w;
}

// All products of a tile of windows, the first at byte `at` of each tap. Taps of one group go two by two.
TAPER_TEMPLATE void add_window_products(const size_t step, const size_t nv, const uint8_t *const *a, size_t taps,
                                        size_t at, size_t groups, const int8_t *w, unsigned shift, S acc[MR_MAX][2])
{
    const uint8_t *const marks = (const uint8_t *)w + taps * groups * GROUP_BYTES;
    const uint8_t *p[MR_MAX], *q[MR_MAX];
    size_t tap = 0;
    const size_t paired = groups == 1 ? taps / 2 * 2 : 0;
    TAPER_NO_UNROLL
    for (; tap < paired; tap += 2, w += STEP_BYTES) {
        TAPER_UNROLL
        for (size_t i = 0; i < MR_MAX; i++) {
            p[i] = a[tap] + at + i * step;
            q[i] = a[tap + 1] + at + i * step;
        }
        add_step(MR_MAX, nv, 2, marks[tap / 2] >> shift & 3, 0, p, q, 0, w, acc);
    }
    TAPER_NO_UNROLL
    for (; tap < taps; tap++) {
        TAPER_UNROLL
        for (size_t i = 0; i < MR_MAX; i++)
            p[i] = a[tap] + at + i * step;
        w = add_products(MR_MAX, nv, p, w, tap * groups, groups, marks, shift, acc);
    }
}

// Whether one of n bytes is more than 127.
TAPER_TEMPLATE int is_wide(const uint8_t *p, size_t n)
{
    __m256i any = _mm256_setzero_si256();
    if (n < 16) {
        uint32_t some = 0, four;
        size_t k = 0;
        for (; k + 4 <= n; k += 4) {
            __builtin_memcpy(&four, p + k, 4);
            some |= four;
        }
        for (; k < n; k++)
            some |= p[k];
        return (some & 0x80808080u) != 0;
    }
    size_t k = 0;
    for (; k + 32 <= n; k += 32)
        any = _mm256_or_si256(any, I8(load)(p + k));
    __m128i last = _mm_loadu_si128((const __m128i *)(const void *)(p + n - 16));
    if (n - k > 16)
        last = _mm_or_si128(last, _mm_loadu_si128((const __m128i *)(const void *)(p + k)));
    return _mm256_movemask_epi8(any) != 0 || _mm_movemask_epi8(last) != 0;
}

// Where in a mark the way of doing is for the rows of a job.
static unsigned mark_shift(const taper_gemm_i8 *t)
{
    const uint8_t *const *a = t->a;
    for (size_t tap = 0; tap < t->ks; tap++, a += t->a_tap_stride) {
        for (size_t i = 0; i < t->mr; i++) {
            if (is_wide(a[i] + t->a_offset, t->kc))
                return TAPER_I8_WIDE;
        }
    }
    return 0;
}

// The same of windows, whose rows lie `step` bytes apart.
static unsigned mark_shift_of_windows(const taper_gemm_i8 *t, size_t step)
{
    for (size_t tap = 0; tap < t->ks; tap++) {
        if (is_wide(t->a[tap] + t->a_offset, (t->mr - 1) * step + t->kc))
            return TAPER_I8_WIDE;
    }
    return 0;
}
