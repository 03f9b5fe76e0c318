// SPDX-License-Identifier: BSD-2-Clause
// Matrix products whose packed weights are halves (fp16 or bf16): the functions and the calls are those of gemm_f32.h;
// A, the bias, the summand and C are floats. There is an entry for each precision with every instruction set:
//
// - Where a CPU multiplies halves, a strip of A is rounded to them before it meets the weights, and `rounds` is not 0.
//   Sums are floats, or halves over `rounds` elements, which are then added to floats.
// - Anywhere else blocks of weights become floats again and the kernel of gemm_f32.h multiplies (gemm_half_widen.h):
//   half the memory, about the same speed, and the weights are all that is rounded.
//
// So a result differs from the float one by the rounding of weights and inputs, and never by more than that of sums of
// `rounds` halves. What a half cannot hold is infinite in it, as everywhere.
#ifndef TAPER_KERNELS_GEMM_HALF_H
#define TAPER_KERNELS_GEMM_HALF_H

#include "ops/kernels/gemm_f32.h"

#define KERNEL(isa, precision, tile, mr, nr, kr, rounds, over_read)                                                    \
    taper_gemm_f32_function taper_gemm_##precision##_##tile##_##isa;                                                   \
    taper_igemm_f32_function taper_igemm_##precision##_##tile##_##isa;
#include "ops/kernels/gemm_half_list.inc"
#undef KERNEL

// What a multiply-add takes, in those of floats: with rounding A, or with widening the weights of a strip.
static inline double taper_gemm_cost(const taper_gemm_entry *entry)
{
    const double tiles = 0.25; // AMX: a sixteenth by the instructions, and rounding A
    return entry->precision == TAPER_PRECISION_fp32 ? 1
           : entry->rounds == 0                     ? 1.1
           : entry->cpu == TAPER_ISA_amx            ? tiles
                                                    : 0.55;
}

// ---- packed weights of any entry, in the units of gemm_f32.h: a panel of halves is {bias[nr] as floats, then for
// every tap, for every kr elements: halves [nr][kr]}, with zeros where the last kr of a tap are not there.

// Floats from one panel to the next. The sizes are those of weights that exist, so it does not overflow.
size_t taper_gemm_panel_floats(const taper_gemm_entry *entry, size_t ks, size_t kc);
// Number of floats; 0 when it does not fit size_t.
size_t taper_gemm_packed_count(const taper_gemm_entry *entry, size_t n, size_t ks, size_t kc);
// The same from weights that are halves of the entry's precision already: one tap, element (n, k) at n * n_stride +
// k * k_stride. pack->weights, scale and transpose are not read.
void taper_gemm_pack_halves(const taper_gemm_entry *entry, const taper_gemm_pack *pack, const uint16_t *weights,
                            size_t first, size_t last, float *packed);
// As taper_gemm_f32_pack. Of halves k_inner is 16 at most.
void taper_gemm_pack_panels(const taper_gemm_entry *entry, const taper_gemm_pack *pack, size_t first, size_t last,
                            float *packed);

#endif
