// SPDX-License-Identifier: BSD-2-Clause
// gemm of quantized numbers with NEON's matrix products of 2 rows by 2 columns by 8 k: up to 6 rows by 16 columns in 24
// accumulators. A is unsigned and weights are signed, as the instruction needs them.
#include <arm_neon.h>

#include "ops/kernels/gemm_i8.h"

#define MR_MAX 6
#define NR 16
#define KR 8
#define ROWS(mr) (((mr) + 1) / 2)
#define ACC 8
#define EACH_MR(X) X(1) X(2) X(3) X(4) X(5) X(6)

// A group of A_GROUP bytes has eight k of rows 0 and 1, then of rows 2 and 3, then of rows 4 and 5. gemm_i8_neon.h
// explains GATHERED and A_BYTES.
enum { A_GROUP = 48, GATHERED = 640, A_BYTES = (GATHERED + 2) * A_GROUP };

#include "ops/kernels/gemm_i8_neon.h"

TAPER_TEMPLATE void gather_16(int8_t *a, size_t group, const uint8_t *const *p, size_t k)
{
    uint8_t *at = (uint8_t *)a + group * A_GROUP;
    TAPER_UNROLL
    for (size_t i = 0; i < MR_MAX / 2; i++) {
        const uint64x2_t even = vreinterpretq_u64_u8(vld1q_u8(p[2 * i] + k));
        const uint64x2_t odd = vreinterpretq_u64_u8(vld1q_u8(p[2 * i + 1] + k));
        vst1q_u8(at + 16 * i, vreinterpretq_u8_u64(vzip1q_u64(even, odd)));
        vst1q_u8(at + A_GROUP + 16 * i, vreinterpretq_u8_u64(vzip2q_u64(even, odd)));
    }
}

// acc[i][j] contains the sums of rows 2 i and 2 i + 1 and columns 2 j and 2 j + 1, row by row.

// ---- five and six rows by 16 columns: A is v4 to v6. v0 to v3 are the weights of two columns each, and are loaded
// again, for the next columns or the next group, as soon as they are free.

// clang-format off: each line is an instruction of assembly
#define TEXT(...) __VA_ARGS__ "\n\t"
#define MMLA(i, j, a, w) TEXT("usmmla %[s" #i #j "].4s, v" #a ".16b, v" #w ".16b")
#define PAIR(j, k, u, v) \
    MMLA(2, j, 6, u) MMLA(2, k, 6, v) MMLA(0, j, 4, u) MMLA(0, k, 4, v) MMLA(1, j, 5, u) MMLA(1, k, 5, v)
// Multiplies a group of A. It also loads the next group of A, the rest of this group's weights, and the first weights
// of the next group.
#define GROUP(w0, w1, w2, w3, a0, a1) \
    PAIR(0, 1, 0, 1) \
    TEXT("ldp q0, q1, [x10, #" w0) \
    PAIR(2, 3, 2, 3) \
    TEXT("ldp q2, q3, [x10, #" w1) \
    PAIR(4, 5, 0, 1) \
    TEXT("ldp q0, q1, [x10, #" w2) \
    MMLA(2, 6, 6, 2) MMLA(2, 7, 6, 3) \
    TEXT("ldr q6, [x9, #" a0) \
    MMLA(0, 6, 4, 2) MMLA(0, 7, 4, 3) MMLA(1, 6, 5, 2) MMLA(1, 7, 5, 3) \
    TEXT("ldp q4, q5, [x9, #" a1) \
    TEXT("ldp q2, q3, [x10, #" w3)
#define FIRST_GROUP GROUP("32]", "64]", "96]", "128]", "80]", "48]")
#define SECOND_GROUP GROUP("160]", "192]", "224]", "256]!", "128]", "96]!")
#define EACH_PAIR(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define START(j) TEXT("ld1r {%[s0" #j "].2d}, [x11], #8")
#define COPY(j) TEXT("mov %[s1" #j "].16b, %[s0" #j "].16b") TEXT("mov %[s2" #j "].16b, %[s0" #j "].16b")
#define SUM(i, j) [s##i##j] "=w"(acc[i][j])
#define SUMS(i) SUM(i, 0), SUM(i, 1), SUM(i, 2), SUM(i, 3), SUM(i, 4), SUM(i, 5), SUM(i, 6), SUM(i, 7)

TAPER_TEMPLATE void product_6(size_t groups, const int8_t *a, const int8_t *w, const int32_t *start,
                              int32x4_t acc[][ACC])
{
    __asm__ volatile(
        TEXT("ldp q0, q1, [%[w]]")
        TEXT("ldr q6, [%[a], #32]")
        TEXT("ldp q4, q5, [%[a]]")
        TEXT("mov x11, %[start]")
        TEXT("ldp q2, q3, [%[w], #32]")
        EACH_PAIR(START)
        TEXT("mov x9, %[a]")
        TEXT("add x10, %[w], #32")
        EACH_PAIR(COPY)
        TEXT("subs x12, %[groups], #2")
        TEXT("b.lo 2f")
        "1:\n\t"
        FIRST_GROUP
        TEXT("subs x12, x12, #2")
        SECOND_GROUP
        TEXT("b.hs 1b")
        "2:\n\t"
        TEXT("tbz x12, #0, 3f")
        FIRST_GROUP
        "3:\n"
        : SUMS(0), SUMS(1), SUMS(2)
        : [a] "r"(a), [w] "r"(w), [groups] "r"(groups), [start] "r"(start)
        : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "x9", "x10", "x11", "x12", "cc", "memory");
}
// clang-format on

// ---- other numbers of rows and columns

TAPER_TEMPLATE void step(const size_t mr, const size_t nv, const int8_t *a, const int8_t *w, int32x4_t acc[][ACC])
{
    uint8x16_t x[MR_MAX / 2];
    TAPER_UNROLL
    for (size_t i = 0; i < ROWS(mr); i++)
        x[i] = vld1q_u8((const uint8_t *)a + 16 * i);
    TAPER_UNROLL
    for (size_t j = 0; j < 2 * nv; j++) {
        const int8x16_t b = vld1q_s8(w + 16 * j);
        TAPER_UNROLL
        for (size_t i = 0; i < ROWS(mr); i++)
            acc[i][j] = vusmmlaq_s32(acc[i][j], x[i], b);
    }
}

TAPER_TEMPLATE void product(const size_t mr, const size_t nv, size_t groups, int half, const int8_t *a, const int8_t *w,
                            const int8_t *marks, const int32_t *start, int32x4_t acc[][ACC])
{
    (void)half, (void)marks;
    if (nv == 4 && mr > 4) {
        product_6(groups, a, w, start, acc);
        return;
    }
    TAPER_UNROLL
    for (size_t j = 0; j < 2 * nv; j++) {
        const int32x2_t two = vld1_s32(start + 2 * j);
        TAPER_UNROLL
        for (size_t i = 0; i < ROWS(mr); i++)
            acc[i][j] = vcombine_s32(two, two);
    }
    TAPER_NO_UNROLL
    for (; groups >= 2; groups -= 2, a += 2 * A_GROUP, w += 2 * KR * NR) {
        step(mr, nv, a, w, acc);
        step(mr, nv, a + A_GROUP, w + KR * NR, acc);
    }
    if (groups > 0)
        step(mr, nv, a, w, acc);
}

// ---- storing results

TAPER_TEMPLATE void product_of_piece(size_t groups, const int8_t *a, const int8_t *w, const int32_t *start,
                                     int32x4_t acc[][ACC])
{
    product_6(groups, a, w, start, acc);
}

TAPER_TEMPLATE void sums_of_row(const size_t nv, size_t i, int32x4_t acc[][ACC], int32_t *sums)
{
    TAPER_UNROLL
    for (size_t j = 0; j < 2 * nv; j++)
        vst1_s32(sums + 2 * j, i % 2 == 0 ? vget_low_s32(acc[i / 2][j]) : vget_high_s32(acc[i / 2][j]));
}

TAPER_TEMPLATE void finish(const size_t mr, const size_t nv, results *r, int32x4_t acc[][ACC])
{
    // Results of two rows stay in one register until they are converted to bytes: two columns of one row, then two
    // columns of the other row.
    float32x4_t scale[ACC];
    TAPER_UNROLL
    for (size_t j = 0; j < 2 * nv; j++) {
        const float32x2_t two = vld1_f32(r->scale + 2 * j);
        scale[j] = vcombine_f32(two, two);
    }
    uint8x16_t y[MR_MAX];
    TAPER_UNROLL
    for (size_t i = 0; i < ROWS(mr); i++) {
        const uint16x8_t u = vreinterpretq_u16_u8(i8_requantize(acc[i], scale, r->range));
        const uint16x8_t v = nv == 2 ? u : vreinterpretq_u16_u8(i8_requantize(acc[i] + 4, scale + 4, r->range));
        y[2 * i] = vreinterpretq_u8_u16(vuzp1q_u16(u, v));
        y[2 * i + 1] = vreinterpretq_u8_u16(vuzp2q_u16(u, v));
    }
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++) {
        if (nv == 4)
            vst1q_u8(r->c[i], y[i]);
        else
            vst1_u8(r->c[i], vget_low_u8(y[i]));
        r->c[i] += NR;
    }
    r->scale += NR;
}

GEMM_I8(6x16_neoni8mm)
