// SPDX-License-Identifier: BSD-2-Clause
// Winograd's transforms of quantized numbers with NEON alone: products of 4 tiles by 16 columns.
#include "ops/kernels/assembler_neon.h"
#include "ops/kernels/simd_i8_neon.h"

#define MR_MAX 4
#define NR 16
#define EACH_MR(X) X(1) X(2) X(3) X(4)
#include "ops/kernels/winograd_i8_neon.h"

TAPER_TEMPLATE uint32x4_t pixels_of(const N *sums, float32x4_t scale, LIMITS limits)
{
    const float32x4_t scales[] = {scale, scale, scale, scale};
    return vreinterpretq_u32_u8(i8_requantize(sums, scales, limits));
}

// ---- products: v0 to v3 are inputs of the four rows. v4 to v11 are weights of four inputs; each pair is loaded two
// inputs before its use. The code is assembly because compilers move a tenth of the sums between registers and load
// weights only just before their use.

// clang-format off
#define ROW(l, row, b, d) \
    LINE("smlal %[s" #row "0].4s, v" #b ".4h, v" #row ".h[" #l "]") \
    LINE("smlal2 %[s" #row "1].4s, v" #b ".8h, v" #row ".h[" #l "]") \
    LINE("smlal %[s" #row "2].4s, v" #d ".4h, v" #row ".h[" #l "]") \
    LINE("smlal2 %[s" #row "3].4s, v" #d ".8h, v" #row ".h[" #l "]")
#define INPUT(l, b, d, more) ROW(l, 0, b, d) more ROW(l, 1, b, d) ROW(l, 2, b, d) ROW(l, 3, b, d)
#define LOAD(b, d, at) LINE("ldp q" #b ", q" #d ", [%[w], #" #at "]")
#define LOAD_ROW(row) LINE("ldr q" #row ", [%[a" #row "], %[at]]")
#define ZERO(row) \
    LINE("movi %d[s" #row "0], #0") LINE("movi %d[s" #row "1], #0") \
    LINE("movi %d[s" #row "2], #0") LINE("movi %d[s" #row "3], #0")
#define SUMS(row) [s##row##0] "=&w"(acc[row][0]), [s##row##1] "=&w"(acc[row][1]), [s##row##2] "=&w"(acc[row][2]), \
                  [s##row##3] "=&w"(acc[row][3])

TAPER_TEMPLATE void product_of_all(const int16_t *const *a, const int16_t *w, size_t steps, const char *next,
                                   size_t asked, int32x4_t acc[][NR / 4])
{
    const size_t all = steps * STEP;
    ptrdiff_t at = -(ptrdiff_t)(all * sizeof *w); // the index counts up to zero from the ends of the rows
    __asm__ volatile(
        LOAD_ROW(0) LOAD(4, 5, 0) LOAD_ROW(1) LOAD_ROW(2) LOAD_ROW(3) LOAD(6, 7, 32)
        ZERO(0) ZERO(1) ZERO(2) ZERO(3)
        "1:\n\t"
        INPUT(0, 4, 5, LOAD(8, 9, 64))
        INPUT(1, 6, 7, LOAD(10, 11, 96))
        INPUT(2, 8, 9, LOAD(4, 5, 128))
        INPUT(3, 10, 11, LOAD(6, 7, 160))
        INPUT(4, 4, 5, LOAD(8, 9, 192))
        INPUT(5, 6, 7, LOAD(10, 11, 224))
        LINE("adds %[at], %[at], #16")
        LINE("prfm pldl1keep, [%[next]]")
        INPUT(6, 8, 9, LINE("add %[w], %[w], #256"))
        LINE("add %[next], %[next], %[asked]")
        LINE("b.eq 2f")
        ROW(7, 0, 10, 11) LOAD_ROW(0) ROW(7, 1, 10, 11) LOAD(4, 5, 0) LOAD_ROW(1)
        ROW(7, 2, 10, 11) LOAD_ROW(2) ROW(7, 3, 10, 11) LOAD(6, 7, 32) LOAD_ROW(3)
        LINE("b 1b")
        "2:\n\t"
        INPUT(7, 10, 11, )
        : SUMS(0), SUMS(1), SUMS(2), SUMS(3), [w] "+r"(w), [at] "+r"(at), [next] "+r"(next)
        : [a0] "r"(a[0] + all), [a1] "r"(a[1] + all), [a2] "r"(a[2] + all), [a3] "r"(a[3] + all), [asked] "r"(asked)
        : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "cc", "memory");
}
// clang-format on

WINOGRAD_I8(neon)
WINOGRAD_I8_PRODUCT(neon)
