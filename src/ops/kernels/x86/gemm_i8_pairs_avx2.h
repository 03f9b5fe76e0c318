// SPDX-License-Identifier: BSD-2-Clause
// The products of the AVX2 gemm for quantized numbers, written with the macros of simd_i8_x86.h. pmaddubsw multiplies
// unsigned by signed bytes and adds two such products in 16 bits, where it saturates. A step is two groups of four k.
// If all four products of a lane fit into 16 bits, a step takes two pmaddubsw, one addition of 16 bits and one widening
// to 32 bits. The weights decide if they fit, for inputs of at most 127 and of at most 255 (taper_gemm_i8_marks). Each
// strip therefore checks its inputs first. If few inputs are above 127, 128 is subtracted from each of these inputs,
// and 128 times their weights is added in advance. If many inputs are above 127 and few weights allow such inputs,
// inputs are widened to 16 bits (WORDS).
#include <stdbool.h>

#include "ops/kernels/gemm_i8.h"

#define OWN_PRODUCTS // replaces the products of gemm_i8_tmpl.h by the functions below

enum {
    STEP_BYTES = 2 * 4 * 2 * LANES,
    GROUP_BYTES = STEP_BYTES / 2,
    ROW_BYTES = 4608,       // largest number of bytes in a gathered row: 3x3 of 512 channels
    MOST_HIGHS = 512,       // largest number of inputs above 127 in a strip that are added separately
    COLUMNS_FOR_HIGHS = 48, // smallest number of columns for which it pays to add inputs above 127 separately
};

// Methods of adding the products of a strip: by the template's instructions, as bytes, or as 16-bit numbers.
enum { PLAIN, BYTES, WORDS };

// The row and the offset of an input above 127.
typedef struct high {
    uint16_t row, at;
} high;

typedef struct adding {
    unsigned shift; // position in a mark of the bits that apply to this strip
    size_t high_count;
    const high *highs;
} adding;

// Adds the products of one group of a row. The function four_products does this for two groups.
TAPER_TEMPLATE void two_products(const size_t nv, const uint8_t *p, const Q w[2], Q one, S acc[2])
{
    const int32_t *const x = (const int32_t *)(const void *)p;
    Q a, b;
    if (nv == 2) {
        __asm__("vpbroadcastd %[x], %[a]\n\t"
                "vpmaddubsw %[w0], %[a], %[b]\n\t"
                "vpmaddubsw %[w1], %[a], %[a]\n\t"
                "vpmaddwd %[one], %[b], %[b]\n\t"
                "vpmaddwd %[one], %[a], %[a]\n\t"
                "vpaddd %[b], %[sum0], %[sum0]\n\t"
                "vpaddd %[a], %[sum1], %[sum1]"
                : [sum0] "+x"(acc[0]), [sum1] "+x"(acc[1]), [a] "=&x"(a), [b] "=&x"(b)
                : [x] "m"(*x), [w0] "xm"(w[0]), [w1] "xm"(w[1]), [one] "xm"(one));
    } else {
        __asm__("vpbroadcastd %[x], %[a]\n\t"
                "vpmaddubsw %[w0], %[a], %[a]\n\t"
                "vpmaddwd %[one], %[a], %[a]\n\t"
                "vpaddd %[a], %[sum0], %[sum0]"
                : [sum0] "+x"(acc[0]), [a] "=&x"(a)
                : [x] "m"(*x), [w0] "xm"(w[0]), [one] "xm"(one));
        (void)b;
    }
}

// Adds the products of a row's two groups and a step's weights. The code is assembly, because compilers move sums
// around and keep one of the sums in memory, although all registers are needed. Weights without a register are read
// from memory.
TAPER_TEMPLATE void four_products(const size_t nv, const uint8_t *p, const uint8_t *q, const Q w[2], const Q v[2],
                                  const int8_t *last, Q one, S acc[2])
{
    const int32_t *const x = (const int32_t *)(const void *)p, *const y = (const int32_t *)(const void *)q;
    Q a, b, c, d;
    if (nv == 2) {
        __asm__("vpbroadcastd %[x], %[a]\n\t"
                "vpbroadcastd %[y], %[b]\n\t"
                "vpmaddubsw %[w0], %[a], %[c]\n\t"
                "vpmaddubsw %[w1], %[a], %[a]\n\t"
                "vpmaddubsw %[v0], %[b], %[d]\n\t"
                "vpmaddubsw %[v1], %[b], %[b]\n\t"
                "vpaddw %[d], %[c], %[c]\n\t"
                "vpaddw %[b], %[a], %[a]\n\t"
                "vpmaddwd %[one], %[c], %[c]\n\t"
                "vpmaddwd %[one], %[a], %[a]\n\t"
                "vpaddd %[c], %[sum0], %[sum0]\n\t"
                "vpaddd %[a], %[sum1], %[sum1]"
                : [sum0] "+x"(acc[0]), [sum1] "+x"(acc[1]), [a] "=&x"(a), [b] "=&x"(b), [c] "=&x"(c), [d] "=&x"(d)
                : [x] "m"(*x), [y] "m"(*y), [w0] "xm"(w[0]), [w1] "xm"(w[1]), [v0] "xm"(v[0]),
                  [v1] "m"(*(const Q *)(const void *)last), [one] "xm"(one));
    } else {
        __asm__("vpbroadcastd %[x], %[a]\n\t"
                "vpbroadcastd %[y], %[b]\n\t"
                "vpmaddubsw %[w0], %[a], %[a]\n\t"
                "vpmaddubsw %[v0], %[b], %[b]\n\t"
                "vpaddw %[b], %[a], %[a]\n\t"
                "vpmaddwd %[one], %[a], %[a]\n\t"
                "vpaddd %[a], %[sum0], %[sum0]"
                : [sum0] "+x"(acc[0]), [a] "=&x"(a), [b] "=&x"(b)
                : [x] "m"(*x), [y] "m"(*y), [w0] "xm"(w[0]), [v0] "xm"(v[0]), [one] "xm"(one));
        (void)last;
    }
}

// ---- marks of panels

// Returns the bits of a mark. `first` and `second` contain sums that magnitudes computes for the two groups of a step.
// `most` is the largest sum that fits.
TAPER_TEMPLATE int mark_of(Q first, Q second, int most)
{
    const Q limit = P(set1_epi16)((int16_t)most);
    return (P(movemask_epi8)(P(cmpgt_epi16)(P(add_epi16)(first, second), limit)) != 0 ? TAPER_I8_TWO : 0) |
           (P(movemask_epi8)(P(cmpgt_epi16)(first, limit)) != 0 ? TAPER_I8_FIRST : 0) |
           (P(movemask_epi8)(P(cmpgt_epi16)(second, limit)) != 0 ? TAPER_I8_SECOND : 0);
}

// Computes, for each lane of two weights, the sum of the positive weights and the sum of the magnitudes of the other
// weights.
TAPER_TEMPLATE void magnitudes(const int8_t *w, Q sums[2])
{
    const Q x = I8(load)(w), none = B(setzero)(), one = P(set1_epi8)(1);
    sums[0] = P(maddubs_epi16)(P(max_epi8)(x, none), one);
    // The magnitudes are unsigned bytes, because a magnitude may be 128.
    sums[1] = P(maddubs_epi16)(P(sub_epi8)(none, P(min_epi8)(x, none)), one);
}

void taper_gemm_i8_mark_steps_avx2(const int8_t *panel, size_t groups, int8_t *marks)
{
    static const int8_t none[GROUP_BYTES];
    size_t without = 0; // number of groups in which the sum of two products may not fit into 16 bits
    for (size_t g = 0; g < groups; g += 2, marks++, panel += STEP_BYTES) {
        int narrow = 0, wide = 0;
        for (size_t j = 0; j < 2; j++) {
            Q first[2], second[2];
            magnitudes(panel + I8_BYTES * j, first);
            magnitudes((g + 1 < groups ? panel + GROUP_BYTES : none) + I8_BYTES * j, second);
            for (size_t sign = 0; sign < 2; sign++) {
                narrow |= mark_of(first[sign], second[sign], INT16_MAX / INT8_MAX);
                wide |= mark_of(first[sign], second[sign], INT16_MAX / UINT8_MAX);
            }
        }
        *marks = (int8_t)(narrow | wide << TAPER_I8_WIDE);
        without += (wide & TAPER_I8_FIRST) != 0;
        without += (wide & TAPER_I8_SECOND) != 0;
    }
    *marks = without > groups / 4;
}

// ---- inputs of at most 127

// Adds one group, with only the weights that mask keeps.
TAPER_TEMPLATE void add_masked(const size_t mr, const size_t nv, const uint8_t *const *p, size_t at, const int8_t *w,
                               Q mask, S acc[MR_MAX][2])
{
    Q b[2];
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++)
        b[j] = B(and)(I8(load)(w + I8_BYTES * j), mask);
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++)
        two_products(nv, p[i] + at, b, P(set1_epi16)(1), acc[i]);
}

// Adds the products of a group. If `exact` is set, the sum of two products may not fit in 16 bits. The function then
// adds first the products of even k, and then the products of odd k.
TAPER_TEMPLATE void add_group(const size_t mr, const size_t nv, bool exact, const uint8_t *const *p, size_t at,
                              const int8_t *w, S acc[MR_MAX][2])
{
    if (__builtin_expect(exact, 0)) {
        // Keeps compilers from moving the common part of both branches before the branch.
        __asm__("" : "+r"(w), "+r"(at));
        Q mask = P(set1_epi16)(255);
        TAPER_NO_UNROLL
        for (unsigned passes = 2; passes > 0; passes--, mask = P(set1_epi16)(-256))
            add_masked(mr, nv, p, at, w, mask, acc);
    } else {
        __asm__("" : "+r"(w), "+r"(at));
        add_masked(mr, nv, p, at, w, P(set1_epi16)(-1), acc);
    }
}

// Adds two groups: the group at byte `at` of the rows p, and the group `further` bytes later of the rows q.
TAPER_TEMPLATE void add_step(const size_t mr, const size_t nv, unsigned mark, size_t at, const uint8_t *const *p,
                             const uint8_t *const *q, const size_t further, const int8_t *w, S acc[MR_MAX][2])
{
    if (__builtin_expect((mark & 7) != 0, 0)) {
        add_group(mr, nv, (mark & TAPER_I8_FIRST) != 0, p, at, w, acc);
        add_group(mr, nv, (mark & TAPER_I8_SECOND) != 0, q, at + further, w + GROUP_BYTES, acc);
    } else {
        __asm__("" : "+r"(w), "+r"(at));
        const Q one = P(set1_epi16)(1);
        Q first[2], second[2];
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++) {
            first[j] = I8(load)(w + I8_BYTES * j);
            second[j] = I8(load)(w + GROUP_BYTES + I8_BYTES * j);
        }
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            four_products(nv, p[i] + at, q[i] + at + further, first, second, w + GROUP_BYTES + I8_BYTES, one, acc[i]);
    }
}

// Adds the groups of a tap, from p on. The first of them is the panel's group number `first`. Returns the address after
// the weights.
TAPER_TEMPLATE const int8_t *add_bytes(const size_t mr, const size_t nv, const uint8_t *const *p, const int8_t *w,
                                       size_t first, size_t groups, const uint8_t *marks, unsigned shift,
                                       S acc[MR_MAX][2])
{
    size_t at = 0;
    marks += first / 2;
    if (first % 2 == 1) {
        add_group(mr, nv, (*marks++ >> shift & TAPER_I8_SECOND) != 0, p, 0, w, acc);
        w += GROUP_BYTES;
        at = 4;
        groups--;
    }
    TAPER_NO_UNROLL
    for (; groups >= 2; groups -= 2, at += 8) {
        _mm_prefetch((const char *)w + 8192, _MM_HINT_T0);
        _mm_prefetch((const char *)w + 8192 + 64, _MM_HINT_T0);
        add_step(mr, nv, (unsigned)*marks++ >> shift, at, p, p, 4, w, acc);
        w += STEP_BYTES;
    }
    if (groups != 0) {
        add_group(mr, nv, (*marks >> shift & TAPER_I8_FIRST) != 0, p, at, w, acc);
        w += GROUP_BYTES;
    }
    return w;
}

// Adds all products of a tile of windows. The tile's first window is at byte `at` of each tap. Taps with one group are
// combined in pairs.
TAPER_TEMPLATE void add_window_bytes(const size_t step, const size_t nv, const uint8_t *const *a, size_t taps,
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
        add_step(MR_MAX, nv, (unsigned)marks[tap / 2] >> shift, 0, p, q, 0, w, acc);
    }
    TAPER_NO_UNROLL
    for (; tap < taps; tap++) {
        TAPER_UNROLL
        for (size_t i = 0; i < MR_MAX; i++)
            p[i] = a[tap] + at + i * step;
        w = add_bytes(MR_MAX, nv, p, w, tap * groups, groups, marks, shift, acc);
    }
}

// Adds 128 times the weights of a strip's inputs above 127 to a panel's sums.
static __attribute__((noinline)) void add_highs(size_t nv, const adding *way, const int8_t *w, S sums[MR_MAX][2])
{
    const Q weight = P(set1_epi16)(128);
    for (size_t i = 0; i < way->high_count; i++) {
        const high h = way->highs[i];
        const Q one = P(set1_epi32)(1 << 8 * (h.at % 4));
        const int8_t *group = w + h.at / 4 * GROUP_BYTES;
        for (size_t j = 0; j < nv; j++) {
            const Q product = P(maddubs_epi16)(one, I8(load)(group + I8_BYTES * j));
            sums[h.row][j] = (S)P(add_epi32)((Q)sums[h.row][j], P(madd_epi16)(product, weight));
        }
    }
}

// ---- inputs of 16 bits: the two even elements of each group, then the two odd elements

TAPER_TEMPLATE void add_words(const size_t mr, const size_t nv, const uint8_t *const *p, const int8_t *w, size_t groups,
                              S acc[MR_MAX][2])
{
    TAPER_NO_UNROLL
    for (size_t at = 0; groups > 0; groups--, at += 8, w += GROUP_BYTES) {
        Q even[2], odd[2];
        _mm_prefetch((const char *)w + 8192, _MM_HINT_T0);
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++) {
            const Q b = I8(load)(w + I8_BYTES * j);
            even[j] = P(srai_epi16)(P(slli_epi16)(b, 8), 8);
            odd[j] = P(srai_epi16)(b, 8);
        }
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            const Q x0 = I8(four)(p[i] + at), x1 = I8(four)(p[i] + at + 4);
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++) {
                const Q sum = P(add_epi32)(P(madd_epi16)(x0, even[j]), P(madd_epi16)(x1, odd[j]));
                acc[i][j] = (S)P(add_epi32)((Q)acc[i][j], sum);
            }
        }
    }
}

// ---- the rows of a strip: n bytes, which is a multiple of four

TAPER_TEMPLATE void copy_groups(uint8_t *to, const uint8_t *from, size_t n)
{
    for (; n >= 32; n -= 32, from += 32, to += 32)
        _mm256_storeu_si256((__m256i *)(void *)to, I8(load)(from));
    for (; n > 0; n -= 4, from += 4, to += 4)
        __builtin_memcpy(to, from, 4);
}

TAPER_TEMPLATE bool has_highs(const uint8_t *p, size_t n)
{
    Q any = B(setzero)();
    uint32_t some = 0;
    for (; n >= 32; n -= 32, p += 32)
        any = B(or)(any, I8(load)(p));
    for (; n > 0; n -= 4, p += 4) {
        uint32_t four;
        __builtin_memcpy(&four, p, 4);
        some |= four;
    }
    return ((some & 0x80808080u) | (unsigned)P(movemask_epi8)(any)) != 0;
}

// Copies a row and subtracts 128 from inputs above 127. Returns the number of such inputs so far, or a number above
// `most`.
static size_t take_highs(uint8_t *to, const uint8_t *from, size_t n, size_t row, high *highs, size_t count, size_t most)
{
    uint8_t last[32] = {0};
    for (size_t at = 0; at < n && count <= most; at += 32, to += 32) {
        const uint8_t *p = from + at;
        if (n - at < 32) {
            copy_groups(last, p, n - at);
            p = last;
        }
        const Q x = I8(load)(p);
        B(storeu)((Q *)(void *)to, B(and)(x, P(set1_epi8)(127)));
        for (unsigned m = (unsigned)P(movemask_epi8)(x); m != 0 && count <= most; m &= m - 1)
            highs[count++] = (high){(uint16_t)row, (uint16_t)(at + (size_t)__builtin_ctz(m))};
    }
    return count;
}

// Widens a row to 16 bits.
static void widen_groups(uint8_t *to, const uint8_t *from, size_t n)
{
    const Q low = P(set1_epi16)(255);
    for (; n >= 32; n -= 32, from += 32, to += 64) {
        const Q x = I8(load)(from), even = B(and)(x, low), odd = P(srli_epi16)(x, 8);
        const Q a = P(unpacklo_epi32)(even, odd), b = P(unpackhi_epi32)(even, odd);
        B(storeu)((Q *)(void *)to, P(permute2x128_si256)(a, b, 0x20));
        B(storeu)((Q *)(void *)(to + 32), P(permute2x128_si256)(a, b, 0x31));
    }
    for (; n > 0; n -= 4, from += 4, to += 8) {
        uint32_t four, words[2];
        __builtin_memcpy(&four, from, 4);
        words[0] = four & 0x00FF00FFu;
        words[1] = four >> 8 & 0x00FF00FFu;
        __builtin_memcpy(to, words, 8);
    }
}

typedef void strip_function(const taper_gemm_i8 *t, const adding *way);

// Computes a strip with the function for its method. Rows of several taps are gathered first.
static void run_strip(const taper_gemm_i8 *job, strip_function *const functions[3])
{
    enum { ROW = ROW_BYTES + 128 };
    // Gathered rows are in the second half of `room`, converted rows in the first half.
    uint8_t room[MR_MAX][2][ROW] __attribute__((aligned(32)));
    high highs[MOST_HIGHS + 1];
    const uint8_t *rows[MR_MAX];
    adding way = {.highs = highs};
    taper_gemm_i8 t = *job;
    const size_t groups = (t.kc + 3) / 4, bytes = 4 * groups * t.ks;
    if (bytes > ROW_BYTES) {
        functions[PLAIN](job, &way);
        return;
    }
    bool any = false;
    for (size_t i = 0; i < t.mr; i++) {
        rows[i] = t.a[i] + t.a_offset;
        for (size_t tap = 0; tap < t.ks && t.ks > 1; tap++)
            copy_groups(room[i][1] + tap * 4 * groups, t.a[tap * t.a_tap_stride + i] + t.a_offset, 4 * groups);
        if (t.ks > 1)
            rows[i] = room[i][1];
        any |= has_highs(rows[i], bytes);
    }
    t.a = rows;
    t.a_offset = 0;
    t.kc = bytes;
    t.ks = 1;
    const bool full = t.w[bytes / 4 * GROUP_BYTES + (bytes + 4) / 8] != 0;
    if (!any || !full) {
        way.shift = any ? TAPER_I8_WIDE : 0;
        functions[BYTES](&t, &way);
        return;
    }
    const size_t some = t.nc < COLUMNS_FOR_HIGHS ? 0 : t.mr * bytes / 32, most = some < MOST_HIGHS ? some : MOST_HIGHS;
    for (size_t i = 0; i < t.mr && way.high_count <= most; i++)
        way.high_count = take_highs(room[i][0], rows[i], bytes, i, highs, way.high_count, most);
    const bool few = way.high_count <= most;
    for (size_t i = 0; i < t.mr; i++) {
        if (!few)
            widen_groups(room[i][0], rows[i], bytes);
        rows[i] = room[i][0];
    }
    functions[few ? BYTES : WORDS](&t, &way);
}

// Returns the method by which the products of windows are added, PLAIN or BYTES, and sets its parameters in *way. The
// rows of windows are `step` bytes apart.
static size_t way_of_windows(const taper_gemm_i8 *t, size_t step, adding *way)
{
    bool any = false;
    for (size_t tap = 0; tap < t->ks; tap++)
        any |= has_highs(t->a[tap] + t->a_offset, ((t->mr - 1) * step + t->kc + 3) / 4 * 4);
    const size_t groups = (t->kc + 3) / 4 * t->ks;
    way->shift = any ? TAPER_I8_WIDE : 0;
    return any && t->w[groups * GROUP_BYTES + (groups + 1) / 2] != 0 ? PLAIN : BYTES;
}
