// SPDX-License-Identifier: BSD-2-Clause
// Depthwise 3x3 convolution with NEON, for dwconv_f32_neon.c: two rows of outputs, column by column, four channels at a
// time. The nine weights and the columns of the window stay in registers, so each input is loaded once. The kernel is
// in assembler because gcc 12 emits 118 instructions for three outputs of two rows, which need 90. With stride 1, two
// columns of outputs are computed together: four independent sums, because in-order cores wait for the previous
// addition.
#ifndef TAPER_KERNELS_DWCONV_F32_3X3_NEON_H
#define TAPER_KERNELS_DWCONV_F32_3X3_NEON_H

#include <math.h>

#include "ops/kernels/assembler_neon.h"
#include "ops/kernels/dwconv_f32.h"
#include "ops/kernels/simd_neon.h"

// SEGMENT is the number of output columns that are computed for some channels before the next channels follow. The
// inputs of these columns are then still in the L1 cache. MOST_INPUTS is the largest number of input rows of two output
// rows.
enum { SEGMENT = 56, MOST_INPUTS = 5 };

// A segment of two rows of outputs for four channels. Steps are in bytes.
typedef struct window {
    const float *in[MOST_INPUTS];
    size_t in_step[MOST_INPUTS]; // step to the next column, in bytes; 0 for a row of padding, which is four zeros
    // at: index of the window's first input column, negative in the padding. valid: number of columns of the inputs.
    size_t at, valid;
    // turns: number of turns of the loop without a check for borders; with stride 1 a turn computes two outputs. rest:
    // number of remaining outputs.
    size_t turns, rest;
    float *out[2];
    size_t out_step[2]; // number of bytes between columns of outputs; 0 for a row that does not exist
} window;

// The weights of a segment's current four channels, and values that all channels of the segment share.
typedef struct window_constants {
    const float *w; // bias of four channels, then their nine weights
    float bounds[2];
    size_t skipped;                  // number of columns of inputs that the turns of the loop consume
    _Alignas(16) float bias[2 * VN]; // the bias of four channels, twice
} window_constants;
_Static_assert(offsetof(window_constants, skipped) == 16 && offsetof(window_constants, bias) == 32,
               "the assembler below knows where the members are");

// Registers: v1 to v9 are weights, v10 and v11 the bounds, A to D columns of inputs, v28 and above sums. x9 points to
// the bias, stored twice.
// clang-format off
#define A_1 12, 13, 14, 15
#define B_1 16, 17, 18, 19
#define C_1 20, 21, 22, 23
#define D_1 24, 25, 26, 27
#define A_2 12, 13, 14, 15, 16
#define B_2 17, 18, 19, 20, 21
#define C_2 22, 23, 24, 25, 26

// Loads a column of the inputs for two rows of outputs: four inputs for stride 1, five for stride 2.
#define TAKE(r, i) LINE("ld1 {v" #r ".4s}, [%[in" #i "]], %[step" #i "]")
#define TAKE_1(r0, r1, r2, r3) TAKE(r0, 0) TAKE(r1, 1) TAKE(r2, 2) TAKE(r3, 3)
#define TAKE_2(r0, r1, r2, r3, r4) TAKE_1(r0, r1, r2, r3) TAKE(r4, 4)
#define ZERO(r) LINE("movi d" #r ", #0")
#define ZERO_1(r0, r1, r2, r3) ZERO(r0) ZERO(r1) ZERO(r2) ZERO(r3)
#define ZERO_2(r0, r1, r2, r3, r4) ZERO_1(r0, r1, r2, r3) ZERO(r4)
#define COPY(to, from) LINE("mov v" #to ".16b, v" #from ".16b")
#define COPY_1(r0, r1, r2, r3, s0, s1, s2, s3) COPY(r0, s0) COPY(r1, s1) COPY(r2, s2) COPY(r3, s3)
#define COPY_2(r0, r1, r2, r3, r4, s0, s1, s2, s3, s4) COPY_1(r0, r1, r2, r3, s0, s1, s2, s3) COPY(r4, s4)
// Loads a column that may be in the padding.
#define ANY(stride, column, label) \
    LINE("cmp %[at], %[valid]") \
    LINE("add %[at], %[at], #1") \
    LINE("b.hs " #label "f") \
    SPREAD(TAKE_##stride, column) \
    LINE("b " #label "1f") \
    LINE(#label ":") \
    SPREAD(ZERO_##stride, column) \
    LINE(#label "1:")

// The bias is loaded from memory, because a register copy would use an arithmetic unit.
#define BIAS(sum, next) LINE("ldp q" #sum ", q" #next ", [x9]")
#define PRODUCT(sum, x, w) LINE("fmla v" #sum ".4s, v" #x ".4s, v" #w ".4s")
#define FIRST_PRODUCT(sum, x, w) LINE("fmul v" #sum ".4s, v" #x ".4s, v" #w ".4s")
#define PLUS(sum, other) LINE("fadd v" #sum ".4s, v" #sum ".4s, v" #other ".4s")
#define TWO(w, x0, x1) PRODUCT(28, x0, w) PRODUCT(29, x1, w)
#define FOUR(w, x0, x1, y0, y1) TWO(w, x0, x1) PRODUCT(30, y0, w) PRODUCT(31, y1, w)
#define BOUND(sum) LINE("fmax v" #sum ".4s, v" #sum ".4s, v10.4s") LINE("fmin v" #sum ".4s, v" #sum ".4s, v11.4s")
#define PUT(sum, i) LINE("st1 {v" #sum ".4s}, [%[out" #i "]], %[out_step" #i "]")
#define CLAMPED_TWO BOUND(28) BOUND(29)
#define CLAMPED_FOUR CLAMPED_TWO BOUND(30) BOUND(31)
#define PLAIN_TWO
#define PLAIN_FOUR

// Computes the outputs of input columns `a` to `c` and of input columns `b` to `d`, for stride 1. It also loads columns
// `c` and `d`; `d` may be padding.
#define OUTPUTS_OF_FOUR(ends, last, a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3) \
    TAKE_1(c0, c1, c2, c3) BIAS(28, 29) BIAS(30, 31) \
    FOUR(1, a0, a1, b0, b1) FOUR(4, a1, a2, b1, b2) FOUR(7, a2, a3, b2, b3) last##_1(d0, d1, d2, d3) \
    FOUR(2, b0, b1, c0, c1) FOUR(5, b1, b2, c1, c2) FOUR(8, b2, b3, c2, c3) \
    FOUR(3, c0, c1, d0, d1) FOUR(6, c1, c2, d1, d2) FOUR(9, c2, c3, d2, d3) \
    ends##_FOUR PUT(28, 0) PUT(29, 1) PUT(30, 0) PUT(31, 1)
// Computes the outputs of input columns `a` to `c`. Half of the taps are added to separate sums.
#define HALF(w, x0, x1) PRODUCT(30, x0, w) PRODUCT(31, x1, w)
#define FIRST_OF_HALF(w, x0, x1) FIRST_PRODUCT(30, x0, w) FIRST_PRODUCT(31, x1, w)
#define OUTPUTS_1(ends, a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3) \
    BIAS(28, 29) FIRST_OF_HALF(4, a1, a2) TWO(1, a0, a1) HALF(7, a2, a3) TWO(2, b0, b1) HALF(5, b1, b2) \
    TWO(8, b2, b3) HALF(3, c0, c1) TWO(6, c1, c2) TWO(9, c2, c3) PLUS(28, 30) PLUS(29, 31) \
    ends##_TWO PUT(28, 0) PUT(29, 1)
#define OUTPUTS_2(ends, a0, a1, a2, a3, a4, b0, b1, b2, b3, b4, c0, c1, c2, c3, c4) \
    BIAS(28, 29) FIRST_OF_HALF(4, a1, a3) TWO(1, a0, a2) HALF(7, a2, a4) TWO(2, b0, b2) HALF(5, b1, b3) \
    TWO(8, b2, b4) HALF(3, c0, c2) TWO(6, c1, c3) TWO(9, c2, c4) PLUS(28, 30) PLUS(29, 31) \
    ends##_TWO PUT(28, 0) PUT(29, 1)

// The parts of SLIDE: code before the loop (BEGIN), in the loop (TURN, OTHER_TURN) and after the loop. TURN leaves the
// first columns of the next window in other registers than the ones it read. So OTHER_TURN computes the next turn, with
// exchanged registers. BACK copies these columns back if the loop ends after TURN.
#define BEGIN_1 ANY(1, A_1, 1) ANY(1, B_1, 2)
#define TURN_1(ends) SPREAD(OUTPUTS_OF_FOUR, ends, TAKE, A_1, B_1, C_1, D_1)
#define OTHER_TURN_1(ends) SPREAD(OUTPUTS_OF_FOUR, ends, TAKE, C_1, D_1, A_1, B_1)
#define BACK_1 SPREAD(COPY_1, A_1, C_1) SPREAD(COPY_1, B_1, D_1)
// Computes the last two outputs of a row, which has padding after it.
#define END_1(ends) \
    LINE("add x10, %[at], #1") \
    LINE("cmp x10, %[valid]") \
    LINE("ccmp %[rest], #2, #0, eq") \
    LINE("b.ne 7f") \
    SPREAD(OUTPUTS_OF_FOUR, ends, ZERO, A_1, B_1, C_1, D_1) \
    LINE("b 8f")
#define END_2(ends)
#define REST_1(ends) ANY(1, C_1, 6) SPREAD(OUTPUTS_1, ends, A_1, B_1, C_1)
#define AGAIN_1 SPREAD(COPY_1, A_1, B_1) SPREAD(COPY_1, B_1, C_1)
#define BEGIN_2 ANY(2, A_2, 1)
#define TURN_2(ends) SPREAD(TAKE_2, B_2) SPREAD(TAKE_2, C_2) SPREAD(OUTPUTS_2, ends, A_2, B_2, C_2)
#define OTHER_TURN_2(ends) SPREAD(TAKE_2, B_2) SPREAD(TAKE_2, A_2) SPREAD(OUTPUTS_2, ends, C_2, B_2, A_2)
#define BACK_2 SPREAD(COPY_2, A_2, C_2)
#define REST_2(ends) ANY(2, B_2, 2) ANY(2, C_2, 6) SPREAD(OUTPUTS_2, ends, A_2, B_2, C_2)
#define AGAIN_2 BACK_2
#define FIFTH_1
#define FIFTH_2 , [in4] "+&r"(s.in[4])
#define FIFTH_STEP_1
#define FIFTH_STEP_2 , [step4] "r"(s.in_step[4])

#define SLIDE(name, stride, ends) \
    TAPER_TEMPLATE void name(window s, const window_constants *k) \
    { \
        __asm__ volatile( \
            LINE("ldr x9, [%[k]]") \
            LINE("add x10, %[k], #8") \
            LINE("ld2r {v10.4s, v11.4s}, [x10]") \
            LINE("add x10, x9, #16") \
            LINE("ld1 {v1.4s, v2.4s, v3.4s, v4.4s}, [x10], #64") \
            LINE("ld1 {v5.4s, v6.4s, v7.4s, v8.4s}, [x10], #64") \
            LINE("ld1 {v9.4s}, [x10]") \
            LINE("ldr q12, [x9]") \
            LINE("add x9, %[k], #32") \
            LINE("stp q12, q12, [x9]") \
            BEGIN_##stride \
            LINE("cbz %[turns], 5f") \
            LINE("3:") \
            TURN_##stride(ends) \
            LINE("subs %[turns], %[turns], #1") \
            LINE("b.eq 4f") \
            OTHER_TURN_##stride(ends) \
            LINE("subs %[turns], %[turns], #1") \
            LINE("b.ne 3b") \
            LINE("b 5f") \
            LINE("4:") \
            BACK_##stride \
            LINE("5:") \
            LINE("ldr x10, [%[k], #16]") \
            LINE("add %[at], %[at], x10") \
            LINE("cbz %[rest], 8f") \
            END_##stride(ends) \
            LINE("7:") \
            REST_##stride(ends) \
            LINE("subs %[rest], %[rest], #1") \
            LINE("b.eq 8f") \
            AGAIN_##stride \
            LINE("b 7b") \
            LINE("8:") \
            : [in0] "+&r"(s.in[0]), [in1] "+&r"(s.in[1]), [in2] "+&r"(s.in[2]), [in3] "+&r"(s.in[3]), \
              [out0] "+&r"(s.out[0]), [out1] "+&r"(s.out[1]), [at] "+&r"(s.at), [turns] "+&r"(s.turns), \
              [rest] "+&r"(s.rest) FIFTH_##stride \
            : [step0] "r"(s.in_step[0]), [step1] "r"(s.in_step[1]), [step2] "r"(s.in_step[2]), \
              [step3] "r"(s.in_step[3]), [out_step0] "r"(s.out_step[0]), [out_step1] "r"(s.out_step[1]), \
              [valid] "r"(s.valid), [k] "r"(k) FIFTH_STEP_##stride \
            : "x9", "x10", "cc", "memory", VECTOR_REGISTERS); \
    }
SLIDE(slide_1_clamped, 1, CLAMPED)
SLIDE(slide_1_plain, 1, PLAIN)
SLIDE(slide_2_clamped, 2, CLAMPED)
SLIDE(slide_2_plain, 2, PLAIN)
// clang-format on

// Computes a segment of the two rows from y on. The second row may not exist.
TAPER_TEMPLATE void segment_of_3x3(const size_t stride, const taper_dwconv_rows *j, size_t y, size_t x,
                                   void slide(window *s, window_constants *k, size_t times))
{
    static const float zeros[VN];
    // Buffers for outputs of channels that do not exist, and for outputs of a row that does not exist (which overwrite
    // each other).
    float made[2][SEGMENT * VN];
    const size_t first = x * stride, count = j->out_width - x < SEGMENT ? j->out_width - x : SEGMENT;
    const size_t column = first > j->pad_left ? first - j->pad_left : 0;
    const size_t made_step = VN * sizeof(float), out_step = j->out_stride * sizeof(float);
    const int two = y + 1 < j->out_rows;
    window s = {.at = first - j->pad_left,
                .valid = j->in_width > column ? j->in_width - column : 0,
                .out_step = {out_step, two ? out_step : 0}};
    s.at -= column; // becomes the negative number of columns of padding before the window
    window_constants k = {.w = j->w, .bounds = {j->min, j->max}};
    // The loop starts when the first columns are loaded, and ends before the inputs end.
    const size_t known = stride == 1 ? 2 : 1, outputs = stride == 1 ? 2 : 1, columns = stride == 1 ? 2 : 2;
    const size_t inside = s.valid - s.at; // number of columns until the end of the inputs
    if (s.valid > 0 && (size_t)0 - s.at <= known && inside > known)
        s.turns = (inside - known) / columns;
    if (s.turns > count / outputs)
        s.turns = count / outputs;
    s.rest = count - s.turns * outputs;
    k.skipped = s.turns * columns;
    for (size_t i = 0; i < stride + 3; i++) {
        const float *row = two || i < 3 ? j->rows[y * stride + i] : NULL;
        s.in[i] = row != NULL ? row + j->channel_offset + (s.valid > 0 ? column * j->in_stride : 0) : zeros;
        s.in_step[i] = row != NULL ? j->in_stride * sizeof(float) : 0;
    }
    s.out[0] = j->out + y * j->out_row_stride + x * j->out_stride;
    s.out[1] = two ? s.out[0] + j->out_row_stride : made[1];
    slide(&s, &k, j->channels / VN);
    const size_t c = j->channels % VN;
    if (c == 0)
        return;
    float *to[2] = {s.out[0], s.out[1]};
    for (size_t r = 0; r < 2; r++) {
        s.out[r] = made[r];
        s.out_step[r] = made_step;
    }
    slide(&s, &k, 1);
    for (size_t r = 0; r < (two ? 2 : 1); r++) {
        for (size_t i = 0; i < count; i++)
            v_store_t(to[r] + i * j->out_stride, v_load(made[r] + VN * i), v_first(c));
    }
}

// Computes a segment of four channels `count` times, and advances to the next channels.
#define SLIDES(name, stride, ends)                                                                                     \
    TAPER_INSTANCE void name##_##ends(window *s, window_constants *k, size_t times)                                    \
    {                                                                                                                  \
        size_t in_next[(stride) + 3];                                                                                  \
        const size_t out_next = s->out_step[1] != 0 ? VN : 0;                                                          \
        TAPER_UNROLL                                                                                                   \
        for (size_t i = 0; i < (stride) + 3; i++)                                                                      \
            in_next[i] = s->in_step[i] != 0 ? VN : 0;                                                                  \
        for (; times > 0; times--) {                                                                                   \
            slide_##stride##_##ends(*s, k);                                                                            \
            TAPER_UNROLL                                                                                               \
            for (size_t i = 0; i < (stride) + 3; i++)                                                                  \
                s->in[i] += in_next[i];                                                                                \
            s->out[0] += VN;                                                                                           \
            s->out[1] += out_next;                                                                                     \
            k->w += 10 * VN;                                                                                           \
        }                                                                                                              \
    }

#define OF_3X3(name, stride)                                                                                           \
    SLIDES(name, stride, clamped)                                                                                      \
    SLIDES(name, stride, plain)                                                                                        \
    void SIMD(taper_dwconv_f32_##name)(const taper_dwconv_rows *job)                                                   \
    {                                                                                                                  \
        const int clamps = job->min > -INFINITY || job->max < INFINITY;                                                \
        for (size_t y = 0; y < job->out_rows; y += 2) {                                                                \
            for (size_t x = 0; x < job->out_width; x += SEGMENT)                                                       \
                segment_of_3x3(stride, job, y, x, clamps ? name##_clamped : name##_plain);                             \
        }                                                                                                              \
    }

#endif
