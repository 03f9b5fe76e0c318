// SPDX-License-Identifier: BSD-2-Clause
// Winograd's transforms of quantized numbers with NEON of 32-bit ARM: products of 4 tiles by 8 columns.
#include "ops/kernels/simd_i8_neon32.h"

#define MR_MAX 4
#define NR 8
#define EACH_MR(X) X(1) X(2) X(3) X(4)
#include "ops/kernels/winograd_i8_neon.h"

TAPER_TEMPLATE uint32x4_t pixels_of(const N *sums, float32x4_t scale, LIMITS limits)
{
    const uint8x8_t first = i8_requantize(sums[0], sums[1], scale, scale, limits);
    return vreinterpretq_u32_u8(vcombine_u8(first, i8_requantize(sums[2], sums[3], scale, scale, limits)));
}

// ---- products: q0 to q3 are inputs of the four rows. q4 to q7 are weights of four inputs; each pair is loaded two
// inputs before its use. The code is assembly because compilers move sums between registers and load weights only just
// before their use.

// clang-format off
#define TEXT(...) __VA_ARGS__ "\n\t"
#define ROW(row, x, b, d) \
    TEXT("vmlal.s16 %q[s" #row "0], " #b ", " x) TEXT("vmlal.s16 %q[s" #row "1], " #d ", " x)
// Multiplies the inputs in lane l of the first half of each row's register, or of the second half.
#define FIRST(l, b, d) ROW(0, "d0[" #l "]", b, d) ROW(1, "d2[" #l "]", b, d) ROW(2, "d4[" #l "]", b, d) ROW(3, "d6[" #l "]", b, d)
#define SECOND(l, b, d) ROW(0, "d1[" #l "]", b, d) ROW(1, "d3[" #l "]", b, d) ROW(2, "d5[" #l "]", b, d) ROW(3, "d7[" #l "]", b, d)
#define LOAD(registers) TEXT("vld1.16 {" #registers "}, [%[w]]!")
#define LOAD_ROW(row, registers) TEXT("vld1.16 {" #registers "}, [%[a" #row "]]!")
#define ZERO(row) TEXT("vmov.i32 %q[s" #row "0], #0") TEXT("vmov.i32 %q[s" #row "1], #0")
#define SUMS(row) [s##row##0] "=&w"(acc[row][0]), [s##row##1] "=&w"(acc[row][1])

TAPER_TEMPLATE void product_of_all(const int16_t *const *a, const int16_t *w, size_t steps, const char *next,
                                   size_t asked, int32x4_t acc[][NR / 4])
{
    const int16_t *a0 = a[0], *a1 = a[1], *a2 = a[2], *a3 = a[3];
    __asm__ volatile(
        LOAD(d8-d11)
        LOAD_ROW(0, d0-d1) LOAD_ROW(1, d2-d3) LOAD_ROW(2, d4-d5) LOAD_ROW(3, d6-d7)
        ZERO(0) ZERO(1) ZERO(2) ZERO(3)
        "1:\n\t"
        LOAD(d12-d15)
        FIRST(0, d8, d9)
        FIRST(1, d10, d11)
        LOAD(d8-d11)
        FIRST(2, d12, d13)
        FIRST(3, d14, d15)
        LOAD(d12-d15)
        TEXT("subs %[steps], %[steps], #1")
        TEXT("pld [%[next]]")
        SECOND(0, d8, d9)
        TEXT("add %[next], %[next], %[asked]")
        SECOND(1, d10, d11)
        TEXT("beq 2f")
        LOAD(d8-d11)
        SECOND(2, d12, d13)
        ROW(0, "d1[3]", d14, d15) LOAD_ROW(0, d0-d1)
        ROW(1, "d3[3]", d14, d15) LOAD_ROW(1, d2-d3)
        ROW(2, "d5[3]", d14, d15) LOAD_ROW(2, d4-d5)
        ROW(3, "d7[3]", d14, d15) LOAD_ROW(3, d6-d7)
        TEXT("b 1b")
        "2:\n\t"
        SECOND(2, d12, d13)
        SECOND(3, d14, d15)
        : SUMS(0), SUMS(1), SUMS(2), SUMS(3), [w] "+r"(w), [next] "+r"(next), [steps] "+r"(steps), [a0] "+r"(a0),
          [a1] "+r"(a1), [a2] "+r"(a2), [a3] "+r"(a3)
        : [asked] "r"(asked)
        : "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "cc", "memory");
}
// clang-format on

WINOGRAD_I8(neon32)
WINOGRAD_I8_PRODUCT(neon32)
