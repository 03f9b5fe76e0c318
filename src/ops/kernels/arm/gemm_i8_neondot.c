// SPDX-License-Identifier: BSD-2-Clause
// gemm of quantized numbers with NEON's dot products by lane: up to 6 rows by 16 columns in 24 accumulators. The
// instruction multiplies signed numbers, so 128 is subtracted from A by inverting its highest bit.
#include <arm_neon.h>

#include "ops/kernels/gemm_i8.h"

#define MR_MAX 6
#define NR 16
#define KR 4
#define ROWS(mr) (mr)
#define ACC 4
#define EACH_MR(X) X(1) X(2) X(3) X(4) X(5) X(6)

// A group has four bytes of each row. The groups of rows 0 to 3 have 16 bytes. The groups of rows 4 and 5 have 8 bytes,
// and are stored from offset HIGH on. gemm_i8_neon.h explains GATHERED and A_BYTES.
enum { HIGH = 5 * 4096, GATHERED = HIGH / 16 - 4, A_BYTES = HIGH / 2 * 3 };

#include "ops/kernels/gemm_i8_neon.h"

TAPER_TEMPLATE int32x4_t turned(const uint8_t *p)
{
    return vreinterpretq_s32_u8(veorq_u8(vld1q_u8(p), vdupq_n_u8(0x80)));
}

TAPER_TEMPLATE void store(int8_t *to, int32x4_t x)
{
    vst1q_s8(to, vreinterpretq_s8_s32(x));
}

TAPER_TEMPLATE void gather_16(int8_t *a, size_t group, const uint8_t *const *p, size_t k)
{
    const int32x4_t x0 = turned(p[0] + k), x1 = turned(p[1] + k), x2 = turned(p[2] + k), x3 = turned(p[3] + k);
    const int64x2_t u = vreinterpretq_s64_s32(vzip1q_s32(x0, x1)), v = vreinterpretq_s64_s32(vzip2q_s32(x0, x1));
    const int64x2_t x = vreinterpretq_s64_s32(vzip1q_s32(x2, x3)), y = vreinterpretq_s64_s32(vzip2q_s32(x2, x3));
    int8_t *to = a + 16 * group;
    store(to, vreinterpretq_s32_s64(vzip1q_s64(u, x)));
    store(to + 16, vreinterpretq_s32_s64(vzip2q_s64(u, x)));
    store(to + 32, vreinterpretq_s32_s64(vzip1q_s64(v, y)));
    store(to + 48, vreinterpretq_s32_s64(vzip2q_s64(v, y)));
    const int32x4_t x4 = turned(p[4] + k), x5 = turned(p[5] + k);
    to = a + HIGH + 8 * group;
    store(to, vzip1q_s32(x4, x5));
    store(to + 16, vzip2q_s32(x4, x5));
}

// ---- five and six rows by 16 columns: two groups alternate, whose weights are v0 to v3. A is v4 of the first group,
// v5 of the second group and v6 of rows 4 and 5 of both groups. The values for the next two groups are loaded as soon
// as a register is free.

// clang-format off: each line is an instruction of assembly
#define TEXT(...) __VA_ARGS__ "\n\t"
#define DOT(row, j, a, lane) TEXT("sdot %[s" #row #j "].4s, v" #j ".16b, v" #a ".4b[" #lane "]")
#define LOW(j, a) DOT(0, j, a, 0) DOT(1, j, a, 1) DOT(2, j, a, 2) DOT(3, j, a, 3)
#define HIGH_5(j, lane, next) DOT(4, j, 6, lane)
#define HIGH_6(j, lane, next) DOT(4, j, 6, lane) DOT(5, j, 6, next)
#define COLUMN(HIGH_ROWS, j, a, lane, next) LOW(j, a) HIGH_ROWS(j, lane, next)
#define COPY(row, j) TEXT("mov %[s" #row #j "].16b, %[s0" #j "].16b")
#define START(row) COPY(row, 0) COPY(row, 1) COPY(row, 2) COPY(row, 3)
#define START_5 START(1) START(2) START(3) START(4)
#define START_6 START_5 START(5)

#define PRODUCT(START_ROWS, HIGH_ROWS) \
    TEXT("ldp %q[s00], %q[s01], [%[start]]") \
    TEXT("ldp q0, q1, [%[w]]") \
    TEXT("ldr q4, [%[a]]") \
    TEXT("ldp %q[s02], %q[s03], [%[start], #32]") \
    TEXT("add x9, %[a], #5, lsl #12") \
    TEXT("ldp q2, q3, [%[w], #32]") \
    TEXT("mov x10, %[a]") \
    TEXT("ldr q6, [x9]") \
    TEXT("add x11, %[w], #32") \
    START_ROWS \
    TEXT("subs x12, %[groups], #2") \
    TEXT("b.lo 2f") \
    "1:\n\t" \
    TEXT("ldr q5, [x10, #16]") \
    COLUMN(HIGH_ROWS, 0, 4, 0, 1) COLUMN(HIGH_ROWS, 1, 4, 0, 1) \
    TEXT("ldp q0, q1, [x11, #32]") \
    COLUMN(HIGH_ROWS, 2, 4, 0, 1) COLUMN(HIGH_ROWS, 3, 4, 0, 1) \
    TEXT("ldp q2, q3, [x11, #64]") \
    COLUMN(HIGH_ROWS, 0, 5, 2, 3) \
    TEXT("ldr q4, [x10, #32]!") \
    COLUMN(HIGH_ROWS, 1, 5, 2, 3) \
    TEXT("ldp q0, q1, [x11, #96]") \
    COLUMN(HIGH_ROWS, 2, 5, 2, 3) HIGH_ROWS(3, 2, 3) \
    TEXT("ldr q6, [x9, #16]!") \
    TEXT("subs x12, x12, #2") \
    LOW(3, 5) \
    TEXT("ldp q2, q3, [x11, #128]!") \
    TEXT("b.hs 1b") \
    "2:\n\t" \
    TEXT("tbz x12, #0, 3f") \
    COLUMN(HIGH_ROWS, 0, 4, 0, 1) COLUMN(HIGH_ROWS, 1, 4, 0, 1) \
    COLUMN(HIGH_ROWS, 2, 4, 0, 1) COLUMN(HIGH_ROWS, 3, 4, 0, 1) \
    "3:\n"

#define SUMS(row) [s##row##0] "=w"(acc[row][0]), [s##row##1] "=w"(acc[row][1]), [s##row##2] "=w"(acc[row][2]), \
                  [s##row##3] "=w"(acc[row][3])
#define INPUTS [a] "r"(a), [w] "r"(w), [groups] "r"(groups), [start] "r"(start)
#define CLOBBERS "v0", "v1", "v2", "v3", "v4", "v5", "v6", "x9", "x10", "x11", "x12", "cc", "memory"
// clang-format on

TAPER_TEMPLATE void product_5(size_t groups, const int8_t *a, const int8_t *w, const int32_t *start,
                              int32x4_t acc[][ACC])
{
    __asm__ volatile(PRODUCT(START_5, HIGH_5) : SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4) : INPUTS : CLOBBERS);
}

TAPER_TEMPLATE void product_6(size_t groups, const int8_t *a, const int8_t *w, const int32_t *start,
                              int32x4_t acc[][ACC])
{
    __asm__ volatile(PRODUCT(START_6, HIGH_6)
                     : SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5)
                     : INPUTS
                     : CLOBBERS);
}

// ---- other numbers of rows and columns

#define ROW(i, x, lane)                                                                                                \
    if (mr > (i)) {                                                                                                    \
        TAPER_UNROLL                                                                                                   \
        for (size_t j = 0; j < nv; j++)                                                                                \
            acc[i][j] = vdotq_laneq_s32(acc[i][j], b[j], x, lane);                                                     \
    }

TAPER_TEMPLATE void step(const size_t mr, const size_t nv, const int8_t *a, const int8_t *high, const int8_t *w,
                         int32x4_t acc[][ACC])
{
    int8x16_t b[4];
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++)
        b[j] = vld1q_s8(w + 16 * j);
    const int8x16_t x = vld1q_s8(a);
    ROW(0, x, 0)
    ROW(1, x, 1)
    ROW(2, x, 2)
    ROW(3, x, 3)
    if (mr > 4) {
        const int8x16_t y = vcombine_s8(vld1_s8(high), vdup_n_s8(0));
        ROW(4, y, 0)
        ROW(5, y, 1)
    }
}

TAPER_TEMPLATE void product(const size_t mr, const size_t nv, size_t groups, int half, const int8_t *a, const int8_t *w,
                            const int8_t *marks, const int32_t *start, int32x4_t acc[][ACC])
{
    (void)half, (void)marks;
    if (nv == 4 && mr == 6) {
        product_6(groups, a, w, start, acc);
        return;
    }
    if (nv == 4 && mr == 5) {
        product_5(groups, a, w, start, acc);
        return;
    }
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++) {
        const int32x4_t first = vld1q_s32(start + 4 * j);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            acc[i][j] = first;
    }
    const int8_t *high = a + HIGH;
    TAPER_NO_UNROLL
    for (; groups >= 2; groups -= 2, a += 32, high += 16, w += 2 * KR * NR) {
        step(mr, nv, a, high, w, acc);
        step(mr, nv, a + 16, high + 8, w + KR * NR, acc);
    }
    if (groups > 0)
        step(mr, nv, a, high, w, acc);
}

TAPER_TEMPLATE void product_of_piece(size_t groups, const int8_t *a, const int8_t *w, const int32_t *start,
                                     int32x4_t acc[][ACC])
{
    product_6(groups, a, w, start, acc);
}

TAPER_TEMPLATE void sums_of_row(const size_t nv, size_t i, int32x4_t acc[][ACC], int32_t *sums)
{
    TAPER_UNROLL
    for (size_t j = 0; j < nv; j++)
        vst1q_s32(sums + 4 * j, acc[i][j]);
}

TAPER_TEMPLATE void finish(const size_t mr, const size_t nv, results *r, int32x4_t acc[][ACC])
{
    float32x4_t scale[ACC];
    TAPER_UNROLL
    for (size_t j = 0; j < ACC; j++)
        scale[j] = vld1q_f32(r->scale + 4 * (j % nv));
    uint8x16_t y[MR_MAX];
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i += 4 / nv) {
        const int32x4_t *other = acc[i + 1 < mr ? i + 1 : i], *next = nv == 4 ? acc[i] + 2 : other;
        const int32x4_t sums[4] = {acc[i][0], acc[i][1], next[0], next[1]};
        y[i] = i8_requantize(sums, scale, r->range);
        if (nv == 2 && i + 1 < mr)
            y[i + 1] = vextq_u8(y[i], y[i], 8);
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

GEMM_I8(6x16_neondot)
