// SPDX-License-Identifier: BSD-2-Clause
// Products of floats with weights that are narrower than floats: half-precision weights as files store them, and
// integers of 8 or 4 bits with a scale for each group. The kernels are for products whose speed is limited by memory.
// Each weight is read once, converted to a float in a register and multiplied there. Sums are floats.
//
// Integers are stored in panels of `nr` outputs, nr as in the gemm_f32 entry of the same instruction set. A panel has
// its groups one after the other, and a group has:
//   scales   nr numbers, floats or halves
//   points   nr numbers of the same kind, if the format has zero points
//   weights  8 bits: nr signed bytes for each input; 4 bits: nr words of 32 bits for each 8 inputs, one word for each
//            output, whose nibble i (from the lowest) is the weight of input i, plus 8
// The value of a weight is (integer - point) * scale. Outputs of the last panel that do not exist have scale 0. A 4-bit
// panel is filled to whole groups of inputs with weights whose value is 0, and the caller pads x with zeros to the same
// length.
#ifndef TAPER_KERNELS_NARROW_F32_H
#define TAPER_KERNELS_NARROW_F32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ops/kernels/arch.h"

// The dtype of the scales and zero points.
typedef enum taper_narrow_numbers { TAPER_NARROW_F32, TAPER_NARROW_BF16, TAPER_NARROW_FP16 } taper_narrow_numbers;

typedef struct taper_narrow_format {
    unsigned bits; // number of bits of a weight, 8 or 4
    bool points;
    taper_narrow_numbers numbers;
    size_t group; // number of inputs that share a scale; a multiple of 8 if bits is 4
} taper_narrow_format;

// Computes y[i] = Σ x[j] w[i * w_stride + j] for n outputs and k inputs.
typedef void taper_gemv_half_function(size_t n, size_t k, const float *x, const uint16_t *w, size_t w_stride, float *y);
// Computes y[i] = Σ x[j] w[i][j] for the nr outputs of a panel. The sum is over the inputs of `groups` groups.
typedef void taper_gemv_panel_function(const taper_narrow_format *format, size_t groups, const float *x,
                                       const void *panel, float *y);
// Converts the weights of `count` inputs of a group to floats, from input `first` on. Each input has nr weights. If the
// format has 4 bits, `first` and `count` are multiples of 8.
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

// Returns the size in bytes of the scales and zero points for one group in a panel.
static inline size_t taper_narrow_number_bytes(const taper_narrow_format *format, size_t nr)
{
    const size_t item = format->numbers == TAPER_NARROW_F32 ? sizeof(float) : sizeof(uint16_t);
    return nr * item * (format->points ? 2 : 1);
}

// Returns the size in bytes of one group in a panel.
static inline size_t taper_narrow_group_bytes(const taper_narrow_format *format, size_t nr)
{
    return taper_narrow_number_bytes(format, nr) + nr * format->group * format->bits / 8;
}

#define KERNEL(isa, nr) extern const taper_narrow_entry taper_narrow_f32_##isa;
#include "ops/kernels/narrow_f32_list.inc"
#undef KERNEL

#endif
