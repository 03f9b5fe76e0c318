// SPDX-License-Identifier: BSD-2-Clause
// gemm of quantized numbers with NEON alone: up to 4 rows by 4 columns in 16 accumulators, each with four sums along k.
// 128 is subtracted from A. Two or four products of 8 bits are added in 16 bits, and pairs of these sums in 32 bits.
// The weights decide how many products fit: taper_gemm_i8_marks. If two weights of -128 are multiplied by two elements
// of A that are -128, not even two products fit. Such panels are rare, and each of their products is added separately.
#include <arm_neon.h>

#include "ops/kernels/gemm_i8.h"

#define MR_MAX 4
#define NR 4
#define KR 16
#define ROWS(mr) (mr)
#define ACC 1
#define EACH_MR(X) X(1) X(2) X(3) X(4)

enum { A_GROUP = 64, GATHERED = 320, A_BYTES = (GATHERED + 2) * A_GROUP };

#include "ops/kernels/gemm_i8_neon.h"

// Returns the address of a group (16 k of one row) in A. Two groups of a row are contiguous; then the two groups of the
// next row follow.
TAPER_TEMPLATE const int8_t *group_at(const int8_t *a, size_t group)
{
    return a + A_GROUP * group - (A_GROUP - 16) * (group % 2);
}

TAPER_TEMPLATE void gather_16(int8_t *a, size_t group, const uint8_t *const *p, size_t k)
{
    uint8_t *to = (uint8_t *)(uintptr_t)group_at(a, group);
    TAPER_UNROLL
    for (size_t i = 0; i < MR_MAX; i++)
        vst1q_u8(to + 32 * i, veorq_u8(vld1q_u8(p[i] + k), vdupq_n_u8(0x80)));
}

// ---- products: v0 to v3 are 16-bit sums of one row and four columns. v4 to v7 are the columns' weights in a group,
// v12 to v15 in the next one. v8 to v11 belong to A. The next values are loaded as soon as a register is free.

// clang-format off: each line is an instruction of assembly
#define TEXT(...) __VA_ARGS__ "\n\t"
#define LOWER(j, a, w) TEXT("smull v" #j ".8h, v" #a ".8b, v" #w ".8b")
#define UPPER(j, a, w) TEXT("smlal2 v" #j ".8h, v" #a ".16b, v" #w ".16b")
#define LOWER_MORE(j, a, w) TEXT("smlal v" #j ".8h, v" #a ".8b, v" #w ".8b")
#define FIRST(DO, a) DO(0, a, 4) DO(1, a, 5) DO(2, a, 6) DO(3, a, 7)
#define SECOND(DO, a) DO(0, a, 12) DO(1, a, 13) DO(2, a, 14) DO(3, a, 15)
#define BEGIN(row, j) TEXT("saddlp %[s" #row #j "].4s, v" #j ".8h")
#define ADD(row, j) TEXT("sadalp %[s" #row #j "].4s, v" #j ".8h")
#define ZERO(row, j) TEXT("movi %d[s" #row #j "], #0")
#define ROW(DO, row) DO(row, 0) DO(row, 1) DO(row, 2) DO(row, 3)
#define ONE(KEEP, row, a) FIRST(LOWER, a) FIRST(UPPER, a) ROW(KEEP, row)
#define HALF(row, a) FIRST(LOWER, a) ROW(ADD, row)

// Computes two groups of four rows, and loads the next mark. The arguments are the instructions on the 16-bit sums
// after the first group (none, or an addition to 32 bits) and after the second. The distance between loads, and from a
// load to its use, is as long as the registers allow.
#define LOAD_A(a, b, at) TEXT("ldp q" #a ", q" #b ", [x9, #" at)
#define LOAD_W(a, b, at) TEXT("ldp q" #a ", q" #b ", [x10, #" at)
#define TWO_GROUPS(MORE, KEEP_FIRST, KEEP) \
    FIRST(LOWER, 8) LOAD_W(14, 15, "32]") FIRST(UPPER, 8) KEEP_FIRST(0) \
    MORE(0, 9, 12) MORE(1, 9, 13) MORE(2, 9, 14) LOAD_A(10, 11, "32]") MORE(3, 9, 15) SECOND(UPPER, 9) ROW(KEEP, 0) \
    FIRST(LOWER, 10) LOAD_A(8, 9, "64]") FIRST(UPPER, 10) KEEP_FIRST(1) \
    SECOND(MORE, 11) SECOND(UPPER, 11) ROW(KEEP, 1) \
    FIRST(LOWER, 8) LOAD_A(10, 11, "96]") FIRST(UPPER, 8) KEEP_FIRST(2) \
    SECOND(MORE, 9) TEXT("ldrb w12, [x11, #1]!") SECOND(UPPER, 9) ROW(KEEP, 2) LOAD_A(8, 9, "128]!") \
    FIRST(LOWER, 10) UPPER(0, 10, 4) UPPER(1, 10, 5) LOAD_W(4, 5, "64]") UPPER(2, 10, 6) UPPER(3, 10, 7) \
    KEEP_FIRST(3) \
    SECOND(MORE, 11) LOAD_W(6, 7, "96]") SECOND(UPPER, 11) \
    KEEP(3, 0) KEEP(3, 1) LOAD_W(12, 13, "128]!") KEEP(3, 2) KEEP(3, 3)
#define NOTHING(row)
#define ADD_ROW(row) ROW(ADD, row)

#define SUMS(row) [s##row##0] "=w"(sum[row][0]), [s##row##1] "=w"(sum[row][1]), [s##row##2] "=w"(sum[row][2]), \
                  [s##row##3] "=w"(sum[row][3])

// Computes two groups at a time, with as many additions in 16 bits as the marks allow (gemm_i8.h); `mark` is the first
// mark. Then it computes one group if tail & 1, and half a group if tail & 2.
TAPER_TEMPLATE void product_4(uint32_t mark, uint32_t tail, const int8_t *a, const int8_t *w, const int8_t *marks,
                              int32x4_t sum[][4])
{
    __asm__ volatile(
        TEXT("ldp q4, q5, [%[w]]")
        TEXT("ldp q6, q7, [%[w], #32]")
        TEXT("tbnz %w[mark], #1, 5f")
        TEXT("ldp q8, q9, [%[a]]")
        TEXT("ldp q12, q13, [%[w], #64]")
        TEXT("mov x9, %[a]")
        TEXT("add x10, %[w], #64")
        TEXT("mov x11, %[marks]")
        TEXT("cbnz %w[mark], 8f")
        TWO_GROUPS(LOWER_MORE, NOTHING, BEGIN)
        TEXT("cbnz w12, 3f")
        "2:\n\t"
        TWO_GROUPS(LOWER_MORE, NOTHING, ADD)
        TEXT("cbz w12, 2b")
        "3:\n\t"
        TEXT("tbnz w12, #0, 9f")
        TEXT("cbz %w[tail], 7f")
        TEXT("tbz %w[tail], #0, 6f")
        TEXT("ldr q9, [x9, #32]")
        TEXT("ldr q10, [x9, #64]")
        TEXT("ldr q11, [x9, #96]")
        ONE(ADD, 0, 8) ONE(ADD, 1, 9) ONE(ADD, 2, 10) ONE(ADD, 3, 11)
        TEXT("add x9, x9, #16")
        TEXT("add x10, x10, #64")
        TEXT("tbnz %w[tail], #1, 6f")
        TEXT("b 7f")
        "5:\n\t"
        TEXT("ldr q8, [%[a]]")
        TEXT("ldr q9, [%[a], #32]")
        TEXT("ldr q10, [%[a], #64]")
        TEXT("ldr q11, [%[a], #96]")
        ONE(BEGIN, 0, 8) ONE(BEGIN, 1, 9) ONE(BEGIN, 2, 10) ONE(BEGIN, 3, 11)
        TEXT("tbz %w[tail], #1, 7f")
        TEXT("add x9, %[a], #16")
        TEXT("add x10, %[w], #128")
        "6:\n\t"
        TEXT("ldp q4, q5, [x10, #-64]")
        TEXT("ldp q6, q7, [x10, #-32]")
        TEXT("ldr d8, [x9]")
        TEXT("ldr d9, [x9, #32]")
        TEXT("ldr d10, [x9, #64]")
        TEXT("ldr d11, [x9, #96]")
        HALF(0, 8) HALF(1, 9) HALF(2, 10) HALF(3, 11)
        TEXT("b 7f")
        "8:\n\t"
        ROW(ZERO, 0) ROW(ZERO, 1) ROW(ZERO, 2) ROW(ZERO, 3)
        "9:\n\t"
        TWO_GROUPS(LOWER, ADD_ROW, ADD)
        TEXT("cbz w12, 2b")
        TEXT("b 3b")
        "7:\n"
        : SUMS(0), SUMS(1), SUMS(2), SUMS(3)
        : [a] "r"(a), [w] "r"(w), [marks] "r"(marks), [mark] "r"(mark), [tail] "r"(tail)
        : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15", "x9",
          "x10", "x11", "x12", "cc", "memory");
}
// clang-format on

// ---- products of fewer than four rows

// Multiplies eight or sixteen pairs of 8-bit numbers and adds the products to 32-bit sums, for `count` columns.
TAPER_TEMPLATE void add_to(const size_t count, const int wide, int8x16_t x, const int8x16_t *b, int32x4_t *sum)
{
    int16x8_t y[4];
    TAPER_UNROLL
    for (size_t j = 0; j < count; j++)
        y[j] = vmull_s8(vget_low_s8(x), vget_low_s8(b[j]));
    TAPER_UNROLL
    for (size_t j = 0; j < count && wide; j++)
        y[j] = vmlal_high_s8(y[j], x, b[j]);
    TAPER_UNROLL
    for (size_t j = 0; j < count; j++)
        sum[j] = vpadalq_s16(sum[j], y[j]);
}

TAPER_TEMPLATE void load_columns(const int8_t *w, int8x16_t b[4])
{
    TAPER_UNROLL
    for (size_t j = 0; j < 4; j++)
        b[j] = vld1q_s8(w + 16 * j);
}

TAPER_TEMPLATE void product_few(const size_t mr, size_t groups, int half, const int8_t *a, const int8_t *w,
                                int32x4_t sum[][4])
{
    int8x16_t b[4];
    TAPER_UNROLL
    for (size_t i = 0; i < 4 * mr; i++)
        sum[i / 4][i % 4] = vdupq_n_s32(0);
    size_t g = 0;
    TAPER_NO_UNROLL
    for (; g < groups; g++, w += KR * NR) {
        const int8_t *x = group_at(a, g);
        load_columns(w, b);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            add_to(4, 1, vld1q_s8(x + 32 * i), b, sum[i]);
    }
    if (half) {
        const int8_t *x = group_at(a, g);
        load_columns(w, b);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            add_to(4, 0, vld1q_s8(x + 32 * i), b, sum[i]);
    }
}

TAPER_TEMPLATE int32x4_t row_of(const int32x4_t sum[4])
{
    return vpaddq_s32(vpaddq_s32(sum[0], sum[1]), vpaddq_s32(sum[2], sum[3]));
}

// Computes the sums of mr rows of a panel in which weights of -128 may meet inputs of -128.
TAPER_INSTANCE void product_apart(size_t mr, size_t groups, const int8_t *a, const int8_t *w, int32x4_t *rows)
{
    for (size_t i = 0; i < mr; i++) {
        int8x16_t b[4];
        int32x4_t sum[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
        for (size_t g = 0; g < groups; g++) {
            const int8x16_t x = vld1q_s8(group_at(a, g) + 32 * i);
            load_columns(w + KR * NR * g, b);
            add_to(4, 0, x, b, sum);
            TAPER_UNROLL
            for (size_t j = 0; j < 4; j++)
                b[j] = vextq_s8(b[j], b[j], 8);
            add_to(4, 0, vextq_s8(x, x, 8), b, sum);
        }
        rows[i] = row_of(sum);
    }
}

TAPER_TEMPLATE void product_of_piece(size_t groups, const int8_t *a, const int8_t *w, const int32_t *start,
                                     int32x4_t acc[][ACC])
{
    product_apart(MR_MAX, groups, a, w, &acc[0][0]);
    TAPER_UNROLL
    for (size_t i = 0; i < MR_MAX; i++)
        acc[i][0] = vaddq_s32(acc[i][0], vld1q_s32(start));
}

TAPER_TEMPLATE void product(const size_t mr, const size_t nv, size_t groups, int half, const int8_t *a, const int8_t *w,
                            const int8_t *marks, const int32_t *start, int32x4_t acc[][ACC])
{
    (void)nv;
    const uint32_t mark = *(const uint8_t *)marks;
    if (__builtin_expect(mark & TAPER_I8_ONE, 0)) {
        int32x4_t rows[MR_MAX];
        product_apart(mr, groups, a, w, rows);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            acc[i][0] = rows[i];
    } else {
        int32x4_t sum[MR_MAX][4];
        groups -= (size_t)half;
        if (mr > 2) // product_4 is used for three rows too, because four rows are faster than three single rows
            product_4(mark, ((uint32_t)groups & 1) + 2 * (uint32_t)half, a, w, marks, sum);
        else
            product_few(mr, groups, half, a, w, sum);
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++)
            acc[i][0] = row_of(sum[i]);
    }
    const int32x4_t bias = vld1q_s32(start);
    TAPER_UNROLL
    for (size_t i = 0; i < mr; i++)
        acc[i][0] = vaddq_s32(acc[i][0], bias);
}

// ---- storing results

TAPER_TEMPLATE void sums_of_row(const size_t nv, size_t i, int32x4_t acc[][ACC], int32_t *sums)
{
    (void)nv;
    vst1q_s32(sums, acc[i][0]);
}

// A store that advances the pointer. Compilers do not use this instruction for a lane.
#define STORE_LANE(to, y, lane) __asm__ volatile("st1 {%1.s}[" #lane "], [%0], #4" : "+r"(to) : "w"(y) : "memory")

TAPER_TEMPLATE void finish(const size_t mr, const size_t nv, results *r, int32x4_t acc[][ACC])
{
    (void)nv;
    const float32x4_t one = vld1q_f32(r->scale), scale[] = {one, one, one, one};
    const int32x4_t rows[] = {acc[0][0], acc[mr > 1 ? 1 : 0][0], acc[mr > 2 ? 2 : 0][0], acc[mr > 3 ? 3 : 0][0]};
    const uint8x16_t y = i8_requantize(rows, scale, r->range);
    STORE_LANE(r->c[0], y, 0);
    if (mr > 1)
        STORE_LANE(r->c[1], y, 1);
    if (mr > 2)
        STORE_LANE(r->c[2], y, 2);
    if (mr > 3)
        STORE_LANE(r->c[3], y, 3);
    r->scale += NR;
}

GEMM_I8(4x4_neon)
