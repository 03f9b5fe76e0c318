// SPDX-License-Identifier: BSD-2-Clause
// Depthwise 5x5 convolution with NEON, for dwconv_f32_neon.c: two rows of seven outputs, four channels at a time. Each
// input is loaded once, and multiplied with the weights of one kernel row for each of the two output rows. A block
// has seven outputs per row because the widths of usual maps are multiples of 7. For other widths the last block of a
// row overlaps the block before it. The kernel is in assembler and needs 1.6 instructions per product; gcc 12 emitted
// 3.1.
#ifndef TAPER_KERNELS_DWCONV_F32_5X5_NEON_H
#define TAPER_KERNELS_DWCONV_F32_5X5_NEON_H

#include <math.h>
#include <string.h>

#include "ops/kernels/assembler_neon.h"
#include "ops/kernels/dwconv_f32.h"
#include "ops/kernels/simd_neon.h"

enum { OUTPUTS = 7, MOST_ROWS = 7, MOST_COLUMNS = 17 };

// A block of outputs and its inputs. Steps are in bytes.
typedef struct block {
    const float *in[MOST_ROWS]; // NULL for a row of padding
    size_t in_step;             // step to the next column
    size_t absent; // bits for the first, the second, the last but one and the last column: set if the column is padding
    const float *w; // bias of a block of channels, then weights
    float *out[2];
    size_t out_step[2];
    const float *bounds; // minimum and maximum, or NULL
} block;

// Registers: v0 to v6 are sums of the first row, v7 to v13 of the second. v14 to v18 are weights of the first row, v19
// to v23 of the second, v24 to v27 inputs. x9 points to the inputs, x10 to weights of the first row, x11 of the second;
// x12 counts.
// clang-format off
#define SUM_0_0 "v0.4s"
#define SUM_0_1 "v1.4s"
#define SUM_0_2 "v2.4s"
#define SUM_0_3 "v3.4s"
#define SUM_0_4 "v4.4s"
#define SUM_0_5 "v5.4s"
#define SUM_0_6 "v6.4s"
#define SUM_1_0 "v7.4s"
#define SUM_1_1 "v8.4s"
#define SUM_1_2 "v9.4s"
#define SUM_1_3 "v10.4s"
#define SUM_1_4 "v11.4s"
#define SUM_1_5 "v12.4s"
#define SUM_1_6 "v13.4s"
#define WEIGHT_0_0 "v14.4s"
#define WEIGHT_0_1 "v15.4s"
#define WEIGHT_0_2 "v16.4s"
#define WEIGHT_0_3 "v17.4s"
#define WEIGHT_0_4 "v18.4s"
#define WEIGHT_1_0 "v19.4s"
#define WEIGHT_1_1 "v20.4s"
#define WEIGHT_1_2 "v21.4s"
#define WEIGHT_1_3 "v22.4s"
#define WEIGHT_1_4 "v23.4s"

// Multiplies input x by weight k, and adds the product to output p of the first row, of the second row, or of both
// rows.
#define OF_ROW(row, x, p, k) LINE("fmla " SUM_##row##_##p ", v" #x ".4s, " WEIGHT_##row##_##k)
#define INTO_FIRST(x, p, k) OF_ROW(0, x, p, k)
#define INTO_SECOND(x, p, k) OF_ROW(1, x, p, k)
#define INTO_BOTH(x, p, k) OF_ROW(0, x, p, k) OF_ROW(1, x, p, k)
#define IN(x) LINE("ld1 {v" #x ".4s}, [x9], %[in_step]")
#define UNLESS(bit, label) LINE("tbnz %[absent], #" #bit ", " #label "f")

#define COLUMNS_1(INTO) \
    UNLESS(0, 1) IN(24) INTO(24, 0, 0) LINE("1:") \
    UNLESS(1, 1) IN(25) INTO(25, 1, 0) INTO(25, 0, 1) LINE("1:") \
    IN(26) IN(27) INTO(26, 2, 0) INTO(26, 1, 1) INTO(26, 0, 2) \
    IN(24) INTO(27, 3, 0) INTO(27, 2, 1) INTO(27, 1, 2) INTO(27, 0, 3) \
    IN(25) INTO(24, 4, 0) INTO(24, 3, 1) INTO(24, 2, 2) INTO(24, 1, 3) INTO(24, 0, 4) \
    IN(26) INTO(25, 5, 0) INTO(25, 4, 1) INTO(25, 3, 2) INTO(25, 2, 3) INTO(25, 1, 4) \
    IN(27) INTO(26, 6, 0) INTO(26, 5, 1) INTO(26, 4, 2) INTO(26, 3, 3) INTO(26, 2, 4) \
    IN(24) INTO(27, 6, 1) INTO(27, 5, 2) INTO(27, 4, 3) INTO(27, 3, 4) \
    INTO(24, 6, 2) INTO(24, 5, 3) INTO(24, 4, 4) \
    UNLESS(2, 1) IN(25) INTO(25, 6, 3) INTO(25, 5, 4) LINE("1:") \
    UNLESS(3, 1) IN(26) INTO(26, 6, 4) LINE("1:")
#define COLUMNS_2(INTO) \
    UNLESS(0, 1) IN(24) INTO(24, 0, 0) LINE("1:") \
    UNLESS(1, 1) IN(25) INTO(25, 0, 1) LINE("1:") \
    IN(26) IN(27) INTO(26, 1, 0) INTO(26, 0, 2) \
    IN(24) INTO(27, 1, 1) INTO(27, 0, 3) \
    IN(25) INTO(24, 2, 0) INTO(24, 1, 2) INTO(24, 0, 4) \
    IN(26) INTO(25, 2, 1) INTO(25, 1, 3) \
    IN(27) INTO(26, 3, 0) INTO(26, 2, 2) INTO(26, 1, 4) \
    IN(24) INTO(27, 3, 1) INTO(27, 2, 3) \
    IN(25) INTO(24, 4, 0) INTO(24, 3, 2) INTO(24, 2, 4) \
    IN(26) INTO(25, 4, 1) INTO(25, 3, 3) \
    IN(27) INTO(26, 5, 0) INTO(26, 4, 2) INTO(26, 3, 4) \
    IN(24) INTO(27, 5, 1) INTO(27, 4, 3) \
    IN(25) INTO(24, 6, 0) INTO(24, 5, 2) INTO(24, 4, 4) \
    IN(26) INTO(25, 6, 1) INTO(25, 5, 3) \
    INTO(26, 6, 2) INTO(26, 5, 4) \
    UNLESS(2, 1) IN(27) INTO(27, 6, 3) LINE("1:") \
    UNLESS(3, 1) IN(24) INTO(24, 6, 4) LINE("1:")

#define WEIGHTS_FIRST LINE("ld1 {v14.4s, v15.4s, v16.4s, v17.4s}, [x10], #64") LINE("ldr q18, [x10], #16")
#define WEIGHTS_SECOND LINE("ld1 {v19.4s, v20.4s, v21.4s, v22.4s}, [x11], #64") LINE("ldr q23, [x11], #16")
#define WEIGHTS_BOTH WEIGHTS_FIRST WEIGHTS_SECOND

// Loops over `count` rows of inputs. `which` (FIRST, SECOND or BOTH) says to which rows of outputs their products are
// added.
#define ROWS(count, stride, which) \
    LINE("mov x12, #" #count) \
    LINE("2:") \
    LINE("ldr x9, [%[in]], #8") \
    WEIGHTS_##which \
    LINE("cbz x9, 3f") \
    LINE("add x9, x9, %[channel]") \
    COLUMNS_##stride(INTO_##which) \
    LINE("3:") \
    LINE("subs x12, x12, #1") \
    LINE("b.ne 2b")
#define ROWS_1 ROWS(1, 1, FIRST) ROWS(4, 1, BOTH) ROWS(1, 1, SECOND)
#define ROWS_2 ROWS(2, 2, FIRST) ROWS(3, 2, BOTH) ROWS(2, 2, SECOND)

#define EACH_SUM(op) op(0, 0) op(1, 0) op(2, 0) op(3, 0) op(4, 0) op(5, 0) op(6, 0) \
    op(7, 1) op(8, 1) op(9, 1) op(10, 1) op(11, 1) op(12, 1) op(13, 1)
#define BEGIN(r, row) LINE("ldr q" #r ", [%[w]]")
#define AT_LEAST(r, row) LINE("fmax v" #r ".4s, v" #r ".4s, v24.4s")
#define AT_MOST(r, row) LINE("fmin v" #r ".4s, v" #r ".4s, v25.4s")
#define OUT(r, row) LINE("st1 {v" #r ".4s}, [%[out" #row "]], %[out_step" #row "]")

// Computes a block for four channels, `channel` bytes after the first channel.
#define BLOCK(stride) \
    TAPER_TEMPLATE void block_##stride(block s, size_t channel) \
    { \
        const float *const *in = s.in; \
        __asm__ volatile( \
            EACH_SUM(BEGIN) \
            LINE("add x10, %[w], #16") \
            LINE("mov x11, x10") \
            ROWS_##stride \
            LINE("cbz %[bounds], 4f") \
            LINE("ld2r {v24.4s, v25.4s}, [%[bounds]]") \
            EACH_SUM(AT_LEAST) \
            EACH_SUM(AT_MOST) \
            LINE("4:") \
            EACH_SUM(OUT) \
            : [in] "+&r"(in), [out0] "+&r"(s.out[0]), [out1] "+&r"(s.out[1]) \
            : [in_step] "r"(s.in_step), [channel] "r"(channel), [absent] "r"(s.absent), [w] "r"(s.w), \
              [out_step0] "r"(s.out_step[0]), [out_step1] "r"(s.out_step[1]), [bounds] "r"(s.bounds) \
            : "x9", "x10", "x11", "x12", "cc", "memory", VECTOR_REGISTERS); \
    }
BLOCK(1)
BLOCK(2)
// clang-format on

// The numbers of columns and of rows of inputs that a block needs.
#define COLUMNS_OF(stride) ((stride) * (OUTPUTS - 1) + 5)
#define ROWS_OF(stride) ((stride) + 5)

// The position of a block: outputs from x on, in rows y and y + 1. The second row may not exist.
typedef struct block_place {
    size_t y, x;
    size_t before, behind; // number of columns of padding before and after the image
    int two;
} block_place;

// Computes a block at any position, for `lanes` channels from c on. Inputs and outputs are copied through buffers.
TAPER_TEMPLATE void any_block(const size_t stride, const taper_dwconv_rows *j, const block_place *at, size_t c,
                              size_t lanes, const float *bounds, void run(const block *s, size_t channel))
{
    float from[MOST_ROWS][MOST_COLUMNS * VN], made[2][OUTPUTS * VN];
    block s = {.in_step = VN * sizeof(float),
               .w = j->w + c * 26,
               .out = {made[0], made[1]},
               .out_step = {VN * sizeof(float), VN * sizeof(float)},
               .bounds = bounds};
    memset(from, 0, sizeof from);
    for (size_t r = 0; r < ROWS_OF(stride); r++) {
        const float *row = at->two || r < 5 ? j->rows[at->y * stride + r] : NULL;
        for (size_t i = 0; row != NULL && i < COLUMNS_OF(stride); i++) {
            const size_t column = at->x * stride + i - j->pad_left;
            if (column < j->in_width)
                memcpy(from[r] + VN * i, row + j->channel_offset + column * j->in_stride + c, lanes * sizeof(float));
        }
        s.in[r] = row != NULL ? from[r] : NULL;
    }
    run(&s, 0);
    for (size_t r = 0; r < (at->two ? 2 : 1); r++) {
        float *to = j->out + (at->y + r) * j->out_row_stride + at->x * j->out_stride + c;
        for (size_t i = 0; i < OUTPUTS && at->x + i < j->out_width; i++)
            memcpy(to + i * j->out_stride, made[r] + VN * i, lanes * sizeof(float));
    }
}

TAPER_TEMPLATE void blocks_at(const size_t stride, const taper_dwconv_rows *j, const block_place *at,
                              const float *bounds, void run(const block *s, size_t channel))
{
    float beside[OUTPUTS * VN]; // buffer for the outputs of a row that does not exist
    const size_t first = at->x * stride, column = first > j->pad_left ? first - j->pad_left : 0;
    block s = {.in_step = j->in_stride * sizeof(float),
               .absent = ((size_t)1 << at->before) - 1 + (at->behind > 0 ? 8 : 0) + (at->behind > 1 ? 4 : 0),
               .out_step = {j->out_stride * sizeof(float), (at->two ? j->out_stride : VN) * sizeof(float)},
               .w = j->w,
               .bounds = bounds};
    for (size_t r = 0; r < ROWS_OF(stride); r++) {
        const float *row = at->two || r < 5 ? j->rows[at->y * stride + r] : NULL;
        s.in[r] = row != NULL ? row + j->channel_offset + column * j->in_stride : NULL;
    }
    s.out[0] = j->out + at->y * j->out_row_stride + at->x * j->out_stride;
    s.out[1] = at->two ? s.out[0] + j->out_row_stride : beside;
    for (size_t c = 0; c + VN <= j->channels; c += VN) {
        run(&s, c * sizeof(float));
        s.out[0] += VN;
        s.out[1] += at->two ? VN : 0;
        s.w += 26 * VN;
    }
}

TAPER_TEMPLATE void rows_of_5x5(const size_t stride, const taper_dwconv_rows *j, size_t y,
                                void run(const block *s, size_t channel))
{
    const float clamp[2] = {j->min, j->max}, *bounds = j->min > -INFINITY || j->max < INFINITY ? clamp : NULL;
    for (size_t x = 0; x < j->out_width; x += OUTPUTS) {
        block_place at = {.y = y, .x = x, .two = y + 1 < j->out_rows};
        const size_t left = j->out_width - x;
        if (left < OUTPUTS && x > 0)
            at.x = x = j->out_width - OUTPUTS;
        const size_t first = at.x * stride, end = first + COLUMNS_OF(stride), inputs = j->pad_left + j->in_width;
        at.before = first < j->pad_left ? j->pad_left - first : 0;
        at.behind = end > inputs ? end - inputs : 0;
        const size_t whole = j->out_width >= OUTPUTS && at.before <= 2 && at.behind <= 2 ? j->channels / VN * VN : 0;
        if (whole > 0)
            blocks_at(stride, j, &at, bounds, run);
        for (size_t c = whole; c < j->channels; c += VN)
            any_block(stride, j, &at, c, j->channels - c < VN ? j->channels - c : VN, bounds, run);
    }
}

#define OF_5X5(name, stride)                                                                                           \
    TAPER_INSTANCE void name##_block(const block *s, size_t channel)                                                   \
    {                                                                                                                  \
        block_##stride(*s, channel);                                                                                   \
    }                                                                                                                  \
    void SIMD(taper_dwconv_f32_##name)(const taper_dwconv_rows *job)                                                   \
    {                                                                                                                  \
        for (size_t y = 0; y < job->out_rows; y += 2)                                                                  \
            rows_of_5x5(stride, job, y, name##_block);                                                                 \
    }

#endif
