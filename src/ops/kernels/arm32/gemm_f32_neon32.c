// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm of floats with NEON of 32-bit ARM: up to 4 rows by 8 columns in 8 of 16 registers. For four k, a tile
// takes 4 loads of A, 4 loads of weights and 32 multiply-adds by lane, which need all registers. In assembler each
// multiply-add takes 1.34 instructions; in C it took 2.3.
#include "ops/kernels/simd_neon32.h"

#define MR_MAX 4
#define EACH_MR(X) X(1) X(2) TAPER_ODD_MR(X(3)) X(4)
#define SPLIT 4
#define FETCH_AHEAD 256
#define FETCH(w, ahead) __builtin_prefetch((const char *)(w) + (ahead))
#define OWN_PRODUCTS

// lo and hi are registers with four k of row r; their lanes can be operands. q12 and q13 are weights of one k, q14 and
// q15 weights of the next k.
// clang-format off
#define TEXT(...) __VA_ARGS__ "\n\t"
#define LOAD_A(r, lo, hi) TEXT("vld1.32 {" #lo "-" #hi "}, [%[p" #r "]]!")
#define LOAD_W(from, to) TEXT("vldmia %[w]!, {" #from "-" #to "}")
#define PRODUCT(r, b0, b1, d, lane) \
    TEXT("vmla.f32 %q[c" #r "0], " #b0 ", " #d "[" #lane "]") TEXT("vmla.f32 %q[c" #r "1], " #b1 ", " #d "[" #lane "]")
#define K_0(r, lo, hi) PRODUCT(r, q12, q13, lo, 0)
#define K_1(r, lo, hi) PRODUCT(r, q14, q15, lo, 1)
#define K_2(r, lo, hi) PRODUCT(r, q12, q13, hi, 0)
#define K_3(r, lo, hi) PRODUCT(r, q14, q15, hi, 1)
#define ROWS_2(X) X(0, d0, d1) X(1, d2, d3)
#define ROWS_3(X) ROWS_2(X) X(2, d4, d5)
#define ROWS_4(X) ROWS_3(X) X(3, d6, d7)
#define FOURS(ROWS) \
    "1:\n\t" LOAD_W(d24, d27) ROWS(LOAD_A) LOAD_W(d28, d31) TEXT("pld [%[w], #256]") TEXT("subs %[n], %[n], #1") \
    ROWS(K_0) LOAD_W(d24, d27) ROWS(K_1) LOAD_W(d28, d31) ROWS(K_2) ROWS(K_3) "bne 1b\n"
#define SUMS(r) [c##r##0] "+w"(acc[r][0]), [c##r##1] "+w"(acc[r][1]), [p##r] "+r"(p[r])
#define TAKEN "q0", "q1", "q2", "q3", "q12", "q13", "q14", "q15", "cc", "memory"

// Adds the products of 4 * n elements of k. Returns the address after their weights.
TAPER_TEMPLATE const float *fours(const size_t mr, const float **p, const float *w, size_t n, V acc[MR_MAX][2])
{
    if (mr == 4)
        __asm__ volatile(FOURS(ROWS_4) : SUMS(0), SUMS(1), SUMS(2), SUMS(3), [w] "+r"(w), [n] "+r"(n) : : TAKEN);
    else if (mr == 3)
        __asm__ volatile(FOURS(ROWS_3) : SUMS(0), SUMS(1), SUMS(2), [w] "+r"(w), [n] "+r"(n) : : TAKEN);
    else
        __asm__ volatile(FOURS(ROWS_2) : SUMS(0), SUMS(1), [w] "+r"(w), [n] "+r"(n) : : TAKEN);
    return w;
}
// clang-format on

// Adds products as gemm_f32_tmpl.h explains. For a single row, the products of four k are added at a time, each k to
// sums of its own.
TAPER_TEMPLATE const float *add_products(const size_t mr, const size_t nv, const size_t ku, const float **p,
                                         const float *w, size_t kc, size_t ahead, V acc[MR_MAX][2], V part[][2])
{
    enum { COLUMNS = 2 * VN };
    size_t k = kc;
    for (; ku > 1 && k >= 4; k -= 4) {
        const float32x2_t x = vld1_f32(p[0]), y = vld1_f32(p[0] + 2);
        p[0] += 4;
        FETCH(w, ahead);
        TAPER_UNROLL
        for (size_t j = 0; j < nv; j++) {
            const float *b = w + VN * j;
            acc[0][j] = vmlaq_lane_f32(acc[0][j], v_load(b), x, 0);
            part[0][j] = vmlaq_lane_f32(part[0][j], v_load(b + COLUMNS), x, 1);
            part[1][j] = vmlaq_lane_f32(part[1][j], v_load(b + 2 * COLUMNS), y, 0);
            part[2][j] = vmlaq_lane_f32(part[2][j], v_load(b + 3 * COLUMNS), y, 1);
        }
        w += 4 * COLUMNS;
    }
    if (mr > 1 && nv == 2 && k >= 4) {
        w = fours(mr, p, w, k / 4, acc);
        k %= 4;
    }
    TAPER_NO_UNROLL
    for (; k > 0; k--, w += COLUMNS) {
        TAPER_UNROLL
        for (size_t i = 0; i < mr; i++) {
            const V x = v_set(*p[i]++);
            TAPER_UNROLL
            for (size_t j = 0; j < nv; j++)
                acc[i][j] = v_fma(x, v_load(w + VN * j), acc[i][j]);
        }
    }
    return w;
}

#include "ops/kernels/gemm_f32_tmpl.h"

GEMM_F32(taper_gemm_f32_4x8_neon32, taper_igemm_f32_4x8_neon32)
