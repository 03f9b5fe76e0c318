// SPDX-License-Identifier: BSD-2-Clause
// Products of floats with weights that are narrower than floats: halves as they lie in a file, and integers of 8 or 4
// bits with a scale for each group. They are for the products that wait for memory: each weight is read once, becomes a
// float in a register and is multiplied there. Sums are floats.
//
// Integers lie in panels of `nr` outputs, nr as in the gemm_f32 entry of the same instruction set. A panel holds its
// groups one after the other, and a group holds:
//   scales   nr floats
//   points   nr floats, where the format has zero points
//   weights  8 bits: for each input nr signed bytes; 4 bits: for each 8 inputs nr words of 32 bits, one for each
//            output, whose nibble i (from the lowest) is the weight of input i plus 8
// A weight stands for (integer - point) * scale. Outputs behind the last have scale 0. Inputs behind the last of a
// 4-bit panel have weights that stand for 0, and x has a zero there: the caller pads it to whole groups.
#ifndef TAPER_KERNELS_NARROW_F32_H
#define TAPER_KERNELS_NARROW_F32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops/kernels/arch.h"

typedef struct taper_narrow_format {
    unsigned bits; // 8 or 4
    bool points;
    size_t group; // inputs; a multiple of 8 where bits is 4
} taper_narrow_format;

// y[i] = Σ x[j] w[i * w_stride + j] for n outputs and k inputs.
typedef void taper_gemv_half_function(size_t n, size_t k, const float *x, const uint16_t *w, size_t w_stride, float *y);
// y[i] = Σ x[j] w[i][j] of a panel's nr outputs, for so many groups.
typedef void taper_gemv_panel_function(const taper_narrow_format *format, size_t groups, const float *x,
                                       const void *panel, float *y);
// Inputs [first, first + count) of a group as floats, nr for each input. first and count are multiples of 8 where bits
// is 4.
typedef void taper_widen_panel_function(const taper_narrow_format *format, const void *group, size_t first,
                                        size_t count, float *to);

typedef struct taper_narrow_entry {
    const char *name;
    uint64_t cpu;
    uint32_t nr;
    taper_gemv_half_function *gemv_bf16, *gemv_fp16;
    taper_gemv_panel_function *gemv_panel;
    taper_widen_panel_function *widen_panel;
} taper_narrow_entry;

// Bytes of a group of a panel.
static inline size_t taper_narrow_group_bytes(const taper_narrow_format *format, size_t nr)
{
    return nr * (sizeof(float) * (format->points ? 2 : 1) + format->group * format->bits / 8);
}

#define KERNEL(isa, nr) extern const taper_narrow_entry taper_narrow_f32_##isa;
#include "ops/kernels/narrow_f32_list.inc"
#undef KERNEL

#endif
