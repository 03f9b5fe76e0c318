// SPDX-License-Identifier: BSD-2-Clause
// gemm and igemm of floats with NEON: up to 5 rows by 16 columns in 20 accumulators. For eight k, a tile takes 7 loads
// of A, 8 loads of weights and 160 multiply-adds by lane, which need all registers. Compilers would spill some
// registers and copy others, so tiles are in assembler. A multiply-add takes 1.11 instructions; in C, with 8 rows by 8
// columns, a multiply-add took 1.42.
//
// A tile does not handle padding: it has a list of taps without those that are padding for all rows. If 8 columns are
// enough, the last panel uses a tile of 8 columns. Columns that do not exist are computed in a buffer.
#include <math.h>
#include <string.h>

#include "ops/kernels/assembler_neon.h"
#include "ops/kernels/gemm_f32.h"

#define MR_MAX 5
#define NR 16
enum { MOST_TAPS = 32 };

typedef struct tap {
    size_t weights; // offset of the tap's weights from the panel's start, in bytes
    const float *rows[MR_MAX];
} tap;
_Static_assert(sizeof(tap) == 48, "tiles know where the members are");

// The operands and results of a strip, at its next panel of columns. Strides, and the steps to the next panel
// (`_next`), are in bytes.
typedef struct strip {
    tap *taps;
    size_t count, kc;   // number of taps; number of elements of a tap
    const float *first; // first of the initial sums, which are the bias (stride 0) or the sums of earlier taps
    size_t first_stride, first_next;
    const float *w;
    size_t w_next;
    const float *add; // first element of the summand, or NULL
    size_t add_stride, add_next;
    float *c;
    size_t c_stride, c_next;
    const float *bounds; // minimum and maximum of the results
    size_t clamps;       // bit 0: there is a minimum; bit 1: there is a maximum
    size_t nc;           // number of columns, a multiple of 8
    size_t rows_step;    // number of bytes from a row of A to the same row of the next strip
} strip;

// Registers: v0 to v19 are the sums, four for each row. With one or two rows, the registers of the other rows contain
// partial sums, because the latency of the multiply-add would limit a single sum. v28 to v31 are weights, and v16 to
// v19 too if there are fewer than five rows. v20 to v27 are A. x9 to x13 are rows of A, x14 weights; x15 counts k, x16
// and x17 taps.
// clang-format off
#define C0 0, 1, 2, 3
#define C1 4, 5, 6, 7
#define C2 8, 9, 10, 11
#define C3 12, 13, 14, 15
#define C4 16, 17, 18, 19
#define B0 28, 29, 30, 31
#define B1 C4

// Instructions for the registers of a row, for tiles of 16 and of 8 columns.
#define MOVE_16(op, r0, r1, r2, r3, from) LINE(op " {v" #r0 ".4s, v" #r1 ".4s, v" #r2 ".4s, v" #r3 ".4s}, " from)
#define MOVE_8(op, r0, r1, r2, r3, from) LINE(op " {v" #r0 ".4s, v" #r1 ".4s}, " from)
#define EACH_16(op, r0, r1, r2, r3, with) MATH(op, r0, with) MATH(op, r1, with) MATH(op, r2, with) MATH(op, r3, with)
#define EACH_8(op, r0, r1, r2, r3, with) MATH(op, r0, with) MATH(op, r1, with)
#define MATH(op, r, with) LINE(op " v" #r ".4s, v" #r ".4s, v" #with ".4s")
#define PLUS_16(r0, r1, r2, r3, s0, s1, s2, s3) \
    MATH("fadd", r0, s0) MATH("fadd", r1, s1) MATH("fadd", r2, s2) MATH("fadd", r3, s3)
#define PLUS_8(r0, r1, r2, r3, s0, s1, s2, s3) MATH("fadd", r0, s0) MATH("fadd", r1, s1)
#define PRODUCT(c, b, x, lane) LINE("fmla v" #c ".4s, v" #b ".4s, v" #x ".s[" #lane "]")
#define PRODUCTS_16(c0, c1, c2, c3, b0, b1, b2, b3, x, lane) \
    PRODUCT(c0, b0, x, lane) PRODUCT(c1, b1, x, lane) PRODUCT(c2, b2, x, lane) PRODUCT(c3, b3, x, lane)
#define PRODUCTS_8(c0, c1, c2, c3, b0, b1, b2, b3, x, lane) PRODUCT(c0, b0, x, lane) PRODUCT(c1, b1, x, lane)
#define ZERO(r) LINE("movi d" #r ", #0")
#define ZERO_FOUR(r0, r1, r2, r3) ZERO(r0) ZERO(r1) ZERO(r2) ZERO(r3)

// These macros do what the macros above do, but first expand lists of registers to arguments.
#define MOVE(W, op, ...) MOVE_##W(op, __VA_ARGS__)
#define EACH(W, op, ...) EACH_##W(op, __VA_ARGS__)
#define PLUS(W, ...) PLUS_##W(__VA_ARGS__)
#define PRODUCTS(W, ...) PRODUCTS_##W(__VA_ARGS__)
#define ZEROS(...) ZERO_FOUR(__VA_ARGS__)
#define WEIGHTS(W, ...) MOVE(W, "ld1", __VA_ARGS__, "[x14], %[panel]")
// Loads the weights of one of eight values of k. With few rows the loads limit the speed, and plain loads (SINGLES:
// ldr, PAIRS: ldp) are faster than WEIGHTS (ld1).
#define SINGLES(W, k, ...) SINGLES_##W(k, __VA_ARGS__)
#define SINGLES_16(k, r0, r1, r2, r3) SINGLE(r0, k, 0) SINGLE(r1, k, 1) SINGLE(r2, k, 2) SINGLE(r3, k, 3)
#define SINGLES_8(k, r0, r1, r2, r3) SINGLE(r0, k, 0) SINGLE(r1, k, 1)
#define SINGLE(r, k, column) LINE("ldr q" #r ", [x14, #64 * " #k " + 16 * " #column "]")
#define PAIRS(W, k, ...) PAIRS_##W(k, __VA_ARGS__)
#define PAIRS_16(k, r0, r1, r2, r3) PAIR(r0, r1, k, 0) PAIR(r2, r3, k, 2)
#define PAIRS_8(k, r0, r1, r2, r3) PAIR(r0, r1, k, 0)
#define PAIR(r0, r1, k, column) LINE("ldp q" #r0 ", q" #r1 ", [x14, #64 * " #k " + 16 * " #column "]")
#define PASS_EIGHT LINE("add x14, x14, #512")

// Expands X once for each row.
#define ROWS_1(X, W) X(W, C0)
#define ROWS_2(X, W) ROWS_1(X, W) X(W, C1)
#define ROWS_3(X, W) ROWS_2(X, W) X(W, C2)
#define ROWS_4(X, W) ROWS_3(X, W) X(W, C3)
#define ROWS_5(X, W) ROWS_4(X, W) X(W, C4)
#define FIRST(W, ...) MOVE(W, "ld1", __VA_ARGS__, "[%[first]], %[first_stride]")
#define ADD(W, ...) MOVE(W, "ld1", B0, "[%[add]], %[add_stride]") PLUS(W, __VA_ARGS__, B0)
#define AT_LEAST(W, ...) EACH(W, "fmax", __VA_ARGS__, 28)
#define AT_MOST(W, ...) EACH(W, "fmin", __VA_ARGS__, 29)
#define STORE(W, ...) MOVE(W, "st1", __VA_ARGS__, "[%[c]], %[c_stride]")

// Loads the pointers of the next tap.
#define TAKE_1 LINE("ldp x14, x9, [x16], #48")
#define TAKE_2 LINE("ldr x10, [x16, #16]") TAKE_1
#define TAKE_3 LINE("ldp x10, x11, [x16, #16]") TAKE_1
#define TAKE_4 LINE("ldr x12, [x16, #32]") TAKE_3
#define TAKE_5 LINE("ldp x12, x13, [x16, #32]") TAKE_3

// Clears and adds partial sums: with one row they are in C1 to C3, with two rows in C2 and C3.
#define BEGIN_1 ZEROS(C1) ZEROS(C2) ZEROS(C3)
#define BEGIN_2 ZEROS(C2) ZEROS(C3)
#define BEGIN_3
#define BEGIN_4
#define BEGIN_5
#define JOIN_1(W) PLUS(W, C0, C1) PLUS(W, C2, C3) PLUS(W, C0, C2)
#define JOIN_2(W) PLUS(W, C0, C2) PLUS(W, C1, C3)
#define JOIN_3(W)
#define JOIN_4(W)
#define JOIN_5(W)

#define EIGHT(r0, r1, x) LINE("ld1 {v" #r0 ".4s, v" #r1 ".4s}, [" #x "], #32")
#define LOAD(r, x, bytes) LINE("ldr " #r ", [" #x "], #" #bytes)

// Adds the products of one k of each row. x0 to x4 contain the elements of A.
#define PRODUCTS_OF_0(W, ...) PRODUCTS(W, C0, __VA_ARGS__)
#define PRODUCTS_OF_1(W, ...) PRODUCTS(W, C1, __VA_ARGS__)
#define PRODUCTS_OF_2(W, ...) PRODUCTS(W, C2, __VA_ARGS__)
#define PRODUCTS_OF_3(W, ...) PRODUCTS(W, C3, __VA_ARGS__)
#define PRODUCTS_OF_4(W, ...) PRODUCTS(W, C4, __VA_ARGS__)
#define STEP_3(W, b, x0, x1, x2, lane) \
    PRODUCTS_OF_0(W, b, x0, lane) PRODUCTS_OF_1(W, b, x1, lane) PRODUCTS_OF_2(W, b, x2, lane)
#define STEP_4(W, b, x0, x1, x2, x3, lane) \
    PRODUCTS_OF_0(W, b, x0, lane) PRODUCTS_OF_1(W, b, x1, lane) PRODUCTS_OF_2(W, b, x2, lane) \
    PRODUCTS_OF_3(W, b, x3, lane)
#define STEP_5(W, b, x0, x1, x2, x3, x4, lane) \
    PRODUCTS_OF_0(W, b, x0, lane) PRODUCTS_OF_1(W, b, x1, lane) PRODUCTS_OF_2(W, b, x2, lane) \
    PRODUCTS_OF_3(W, b, x3, lane) PRODUCTS_OF_4(W, b, x4, lane)

// Adds the products of eight k. If two sets of weights fit into the registers, one is loaded while the other is
// multiplied.
#define BLOCK_1(W) \
    EIGHT(20, 21, x9) \
    PAIRS(W, 0, B0) PAIRS(W, 1, B1) PRODUCTS(W, C0, B0, 20, 0) \
    PAIRS(W, 2, B0) PRODUCTS(W, C1, B1, 20, 1) PAIRS(W, 3, B1) PRODUCTS(W, C2, B0, 20, 2) \
    PAIRS(W, 4, B0) PRODUCTS(W, C3, B1, 20, 3) PAIRS(W, 5, B1) PRODUCTS(W, C0, B0, 21, 0) \
    PAIRS(W, 6, B0) PRODUCTS(W, C1, B1, 21, 1) PAIRS(W, 7, B1) PRODUCTS(W, C2, B0, 21, 2) PRODUCTS(W, C3, B1, 21, 3) \
    PASS_EIGHT
#define EVEN_2(W, b, x0, x1, lane) PRODUCTS_OF_0(W, b, x0, lane) PRODUCTS_OF_1(W, b, x1, lane)
#define ODD_2(W, b, x0, x1, lane) PRODUCTS_OF_2(W, b, x0, lane) PRODUCTS_OF_3(W, b, x1, lane)
#define BLOCK_2(W) \
    EIGHT(20, 21, x9) EIGHT(22, 23, x10) \
    SINGLES(W, 0, B0) SINGLES(W, 1, B1) EVEN_2(W, B0, 20, 22, 0) SINGLES(W, 2, B0) ODD_2(W, B1, 20, 22, 1) \
    SINGLES(W, 3, B1) EVEN_2(W, B0, 20, 22, 2) SINGLES(W, 4, B0) ODD_2(W, B1, 20, 22, 3) \
    SINGLES(W, 5, B1) EVEN_2(W, B0, 21, 23, 0) SINGLES(W, 6, B0) ODD_2(W, B1, 21, 23, 1) \
    SINGLES(W, 7, B1) EVEN_2(W, B0, 21, 23, 2) ODD_2(W, B1, 21, 23, 3) \
    PASS_EIGHT
#define BLOCK_3(W) \
    EIGHT(20, 21, x9) EIGHT(22, 23, x10) EIGHT(24, 25, x11) \
    SINGLES(W, 0, B0) SINGLES(W, 1, B1) STEP_3(W, B0, 20, 22, 24, 0) SINGLES(W, 2, B0) STEP_3(W, B1, 20, 22, 24, 1) \
    SINGLES(W, 3, B1) STEP_3(W, B0, 20, 22, 24, 2) SINGLES(W, 4, B0) STEP_3(W, B1, 20, 22, 24, 3) \
    SINGLES(W, 5, B1) STEP_3(W, B0, 21, 23, 25, 0) SINGLES(W, 6, B0) STEP_3(W, B1, 21, 23, 25, 1) \
    SINGLES(W, 7, B1) STEP_3(W, B0, 21, 23, 25, 2) STEP_3(W, B1, 21, 23, 25, 3) \
    PASS_EIGHT
#define BLOCK_4(W) \
    EIGHT(20, 21, x9) EIGHT(22, 23, x10) EIGHT(24, 25, x11) EIGHT(26, 27, x12) \
    WEIGHTS(W, B0) WEIGHTS(W, B1) STEP_4(W, B0, 20, 22, 24, 26, 0) WEIGHTS(W, B0) STEP_4(W, B1, 20, 22, 24, 26, 1) \
    WEIGHTS(W, B1) STEP_4(W, B0, 20, 22, 24, 26, 2) WEIGHTS(W, B0) STEP_4(W, B1, 20, 22, 24, 26, 3) \
    WEIGHTS(W, B1) STEP_4(W, B0, 21, 23, 25, 27, 0) WEIGHTS(W, B0) STEP_4(W, B1, 21, 23, 25, 27, 1) \
    WEIGHTS(W, B1) STEP_4(W, B0, 21, 23, 25, 27, 2) STEP_4(W, B1, 21, 23, 25, 27, 3)
#define BLOCK_5(W) \
    EIGHT(20, 21, x9) EIGHT(22, 23, x10) EIGHT(24, 25, x11) LOAD(q26, x12, 16) LOAD(q27, x13, 16) \
    WEIGHTS(W, B0) STEP_5(W, B0, 20, 22, 24, 26, 27, 0) WEIGHTS(W, B0) STEP_5(W, B0, 20, 22, 24, 26, 27, 1) \
    WEIGHTS(W, B0) STEP_5(W, B0, 20, 22, 24, 26, 27, 2) WEIGHTS(W, B0) STEP_5(W, B0, 20, 22, 24, 26, 27, 3) \
    LOAD(q26, x12, 16) LOAD(q27, x13, 16) \
    WEIGHTS(W, B0) STEP_5(W, B0, 21, 23, 25, 26, 27, 0) WEIGHTS(W, B0) STEP_5(W, B0, 21, 23, 25, 26, 27, 1) \
    WEIGHTS(W, B0) STEP_5(W, B0, 21, 23, 25, 26, 27, 2) WEIGHTS(W, B0) STEP_5(W, B0, 21, 23, 25, 26, 27, 3)

// Adds the products of one k.
#define LOAD_1 LOAD(s20, x9, 4)
#define LOAD_2 LOAD_1 LOAD(s21, x10, 4)
#define LOAD_3 LOAD_2 LOAD(s22, x11, 4)
#define LOAD_4 LOAD_3 LOAD(s23, x12, 4)
#define LOAD_5 LOAD_4 LOAD(s24, x13, 4)
#define ONE_1(W) PRODUCTS(W, C0, B0, 20, 0)
#define ONE_2(W) EVEN_2(W, B0, 20, 21, 0)
#define ONE_3(W) STEP_3(W, B0, 20, 21, 22, 0)
#define ONE_4(W) STEP_4(W, B0, 20, 21, 22, 23, 0)
#define ONE_5(W) STEP_5(W, B0, 20, 21, 22, 23, 24, 0)

// Loops over blocks of eight k. Afterwards x15 is the number of remaining k, minus 8. The loop of the largest tile
// contains two blocks, and starts at the second block if the number of blocks is odd.
#define BLOCKS_OF(mr, W) \
    LINE("2:") \
    BLOCK_##mr(W) \
    LINE("subs x15, x15, #8") \
    LINE("b.hs 2b")
#define BLOCKS_1(W) BLOCKS_OF(1, W)
#define BLOCKS_2(W) BLOCKS_OF(2, W)
#define BLOCKS_3(W) BLOCKS_OF(3, W)
#define BLOCKS_4(W) BLOCKS_OF(4, W)
#define BLOCKS_5(W) BLOCKS_5_##W
#define BLOCKS_5_8 BLOCKS_OF(5, 8)
#define BLOCKS_5_16 \
    LINE("tbnz x15, #3, 2f") \
    LINE("add x15, x15, #8") \
    LINE("b 10f") \
    LINE("2:") \
    BLOCK_5(16) \
    LINE("10:") \
    BLOCK_5(16) \
    LINE("subs x15, x15, #16") \
    LINE("b.hs 2b")

// Computes tiles of mr rows by W columns, while at least W columns remain.
typedef struct place {
    const float *first, *w, *add;
    float *c;
    size_t columns; // number of remaining columns, minus W
} place;
#define TILES(mr, W) \
    TAPER_TEMPLATE void tiles_##mr##x##W(const strip *s, place *at) \
    { \
        __asm__ volatile( \
            LINE("0:") \
            ROWS_##mr(FIRST, W) BEGIN_##mr \
            LINE("mov x16, %[taps]") \
            LINE("mov x17, %[count]") \
            LINE("cbz x17, 6f") \
            LINE("1:") /* starts a tap */ \
            TAKE_##mr \
            LINE("subs x15, %[kc], #8") \
            LINE("add x14, x14, %[w]") \
            LINE("b.lo 3f") \
            BLOCKS_##mr(W) \
            LINE("3:") \
            LINE("adds x15, x15, #8") \
            LINE("b.eq 5f") \
            LINE("4:") \
            LOAD_##mr WEIGHTS(W, B0) ONE_##mr(W) \
            LINE("subs x15, x15, #1") \
            LINE("b.ne 4b") \
            LINE("5:") \
            LINE("subs x17, x17, #1") \
            LINE("b.ne 1b") \
            JOIN_##mr(W) \
            LINE("6:") \
            LINE("cbz %[add], 7f") \
            ROWS_##mr(ADD, W) \
            LINE("add %[add], %[add], %[add_next]") \
            LINE("7:") \
            LINE("cbz %[clamps], 9f") \
            LINE("ld2r {v28.4s, v29.4s}, [%[bounds]]") \
            LINE("tbz %[clamps], #0, 8f") \
            ROWS_##mr(AT_LEAST, W) \
            LINE("8:") \
            LINE("tbz %[clamps], #1, 9f") \
            ROWS_##mr(AT_MOST, W) \
            LINE("9:") \
            ROWS_##mr(STORE, W) \
            LINE("add %[first], %[first], %[first_next]") \
            LINE("add %[w], %[w], %[w_next]") \
            LINE("add %[c], %[c], %[c_next]") \
            LINE("subs %[columns], %[columns], #" #W) \
            LINE("b.hs 0b") \
            : [first] "+&r"(at->first), [w] "+&r"(at->w), [add] "+&r"(at->add), [c] "+&r"(at->c), \
              [columns] "+&r"(at->columns) \
            : [taps] "r"(s->taps), [count] "r"(s->count), [kc] "r"(s->kc), [first_stride] "r"(s->first_stride), \
              [first_next] "r"(s->first_next), [w_next] "r"(s->w_next), [add_stride] "r"(s->add_stride), \
              [add_next] "r"(s->add_next), [c_stride] "r"(s->c_stride), [c_next] "r"(s->c_next), \
              [bounds] "r"(s->bounds), [clamps] "r"(s->clamps), [panel] "r"(NR * sizeof(float)) \
            : "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "cc", "memory", VECTOR_REGISTERS); \
    }
// clang-format on

TAPER_TEMPLATE void move_columns(size_t mr, size_t n, const float *from, size_t from_stride, float *to,
                                 size_t to_stride)
{
    for (size_t i = 0; i < mr; i++, from += from_stride, to += to_stride)
        memcpy(to, from, n * sizeof *to);
}

// Computes `times` strips of mr rows. Several strips are possible only with one tap. Advances to the next strip.
#define STRIPS(mr)                                                                                                     \
    TAPER_INSTANCE void strips_##mr(strip *s, size_t times)                                                            \
    {                                                                                                                  \
        for (; times > 0; times--) {                                                                                   \
            place at = {s->first, s->w, s->add, s->c, s->nc - NR};                                                     \
            if (s->nc >= NR)                                                                                           \
                tiles_##mr##x16(s, &at);                                                                               \
            if (s->nc % NR != 0) {                                                                                     \
                at.columns = 0;                                                                                        \
                tiles_##mr##x8(s, &at);                                                                                \
            }                                                                                                          \
            TAPER_UNROLL                                                                                               \
            for (size_t i = 0; i < mr; i++)                                                                            \
                s->taps->rows[i] = taper_f32_at(s->taps->rows[i], s->rows_step);                                       \
            s->c += mr * s->c_stride / sizeof(float);                                                                  \
            s->add = s->add != NULL ? s->add + mr * s->add_stride / sizeof(float) : NULL;                              \
        }                                                                                                              \
    }

#define INSTANCES(mr) TILES(mr, 16) TILES(mr, 8) STRIPS(mr)
INSTANCES(1)
INSTANCES(2)
INSTANCES(3)
INSTANCES(4)
INSTANCES(5)

static void (*const strips[MR_MAX])(strip *s, size_t times) = {strips_1, strips_2, strips_3, strips_4, strips_5};

// Computes columns that do not fill a vector of 8, in a buffer of whole vectors.
TAPER_INSTANCE void last_columns(size_t mr, size_t left, strip s)
{
    float made[MR_MAX * NR] = {0}, summand[MR_MAX * NR] = {0};
    float *const c = s.c;
    const size_t c_stride = s.c_stride / sizeof(float), stride = NR * sizeof(float);
    if (s.first_stride != 0) { // copies the sums of earlier taps to the buffer
        move_columns(mr, left, s.first, c_stride, made, NR);
        s.first = made;
        s.first_stride = stride;
    }
    if (s.add != NULL) {
        move_columns(mr, left, s.add, s.add_stride / sizeof(float), summand, NR);
        s.add = summand;
        s.add_stride = stride;
    }
    s.c = made;
    s.c_stride = stride;
    s.nc = left < 8 ? 8 : NR;
    strips[mr - 1](&s, 1);
    move_columns(mr, left, made, NR, c, c_stride);
}

// Computes the next `times` strips of mr rows.
static void run_strips(size_t mr, size_t nc, strip *s, size_t times)
{
    const size_t left = nc % 8 != 0 ? nc % NR : 0, panels = nc / NR;
    s->nc = nc - left;
    s->add_next = NR * sizeof(float) - mr * s->add_stride;
    s->c_next = NR * sizeof(float) - mr * s->c_stride;
    if (left == 0) {
        strips[mr - 1](s, times);
        return;
    }
    for (; times > 0; times--) {
        strip last = *s;
        last.first += (s->first_stride != 0 ? NR * sizeof(float) : s->w_next) / sizeof(float) * panels;
        last.w += s->w_next / sizeof(float) * panels;
        last.c += NR * panels;
        if (s->add != NULL)
            last.add += NR * panels;
        tap one;
        if (s->count == 1) { // the tiles have already advanced the strip
            one = *s->taps;
            last.taps = &one;
        }
        strips[mr - 1](s, 1);
        last_columns(mr, left, last);
    }
}

static strip make_strip(size_t kc, size_t ks, const float *w, float *c, size_t c_stride, const taper_gemm_epilogue *e,
                        tap *taps)
{
    const size_t panel = (ks * kc + 1) * NR * sizeof(float);
    return (strip){.taps = taps,
                   .count = ks,
                   .kc = kc,
                   .first = w,
                   .first_next = panel,
                   .w = w + NR,
                   .w_next = panel,
                   .add = e->add,
                   .add_stride = e->add_stride * sizeof(float),
                   .c = c,
                   .c_stride = c_stride * sizeof(float),
                   .bounds = &e->min,
                   .clamps = (size_t)(e->min > -INFINITY) | (size_t)(e->max < INFINITY) << 1};
}

void taper_gemm_f32_5x16_neon(size_t m, size_t nc, size_t kc, const float *a, size_t a_stride, const float *w, float *c,
                              size_t c_stride, const taper_gemm_epilogue *e)
{
    const taper_gemm_strips cut = taper_gemm_cut(m, MR_MAX);
    tap one;
    one.weights = 0;
    strip s = make_strip(kc, 1, w, c, c_stride, e, &one);
    size_t mr = cut.even + (cut.longer > 0), times = cut.longer > 0 ? cut.longer : cut.count;
    for (size_t left = cut.count; left > 0; left -= times, times = left, mr = cut.even) {
        for (size_t i = 0; i < mr; i++, a += a_stride)
            one.rows[i] = a;
        a += (times - 1) * mr * a_stride;
        s.rows_step = mr * a_stride * sizeof(float);
        run_strips(mr, nc, &s, times);
    }
}

// Lists the taps [first, end) that are not padding for all rows. Returns their number.
static size_t take_taps(size_t mr, size_t kc, const float *const *a, size_t a_tap_stride, size_t a_offset,
                        const float *zero, size_t first, size_t end, tap *taps)
{
    const size_t step = kc * NR * sizeof(float);
    tap *to = taps;
    a += first * a_tap_stride;
    for (size_t i = first; i < end; i++, a += a_tap_stride) {
        uintptr_t other = 0; // stays 0 if every row points to `zero`
        TAPER_UNROLL
        for (size_t r = 0; r < MR_MAX; r++) {
            if (r < mr) {
                to->rows[r] = a[r];
                other |= (uintptr_t)a[r] ^ (uintptr_t)zero;
            }
        }
        if (other == 0)
            continue;
        if (a_offset != 0) {
            for (size_t r = 0; r < mr; r++)
                to->rows[r] = taper_f32_at(to->rows[r], to->rows[r] != zero ? a_offset : 0);
        }
        to->weights = i * step;
        to++;
    }
    return (size_t)(to - taps);
}

void taper_igemm_f32_5x16_neon(size_t mr, size_t nc, size_t kc, size_t ks, const float *const *a, size_t a_tap_stride,
                               size_t a_offset, const float *zero, const float *w, float *c, size_t c_stride,
                               const taper_gemm_epilogue *e)
{
    tap taps[MOST_TAPS];
    // If there are more taps than MOST_TAPS, the product is computed in parts of MOST_TAPS taps, and partial sums are
    // kept in C. The first part adds the summand, which may be C itself.
    for (size_t first = 0; first < ks; first += MOST_TAPS) {
        const size_t end = ks - first > MOST_TAPS ? first + MOST_TAPS : ks;
        strip s = make_strip(kc, ks, w, c, c_stride, e, taps);
        s.count = take_taps(mr, kc, a, a_tap_stride, a_offset, zero, first, end, taps);
        if (end < ks)
            s.clamps = 0;
        if (first > 0) {
            s.add = NULL;
            s.first = c;
            s.first_stride = s.c_stride;
            s.first_next = NR * sizeof(float) - mr * s.c_stride;
        }
        run_strips(mr, nc, &s, 1);
    }
}
