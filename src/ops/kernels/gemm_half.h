// SPDX-License-Identifier: BSD-2-Clause
// Matrix products with weights packed as halves (fp16 or bf16). The functions are called as in gemm_f32.h; A, the bias,
// the summand and C are floats. Each instruction set has an entry for each precision:
//
// - If the CPU multiplies halves, `rounds` is not 0, and a strip of A is rounded to halves before it is multiplied.
//   Sums are either floats, or halves for `rounds` elements at a time, which are then added to a float sum.
// - Otherwise blocks of weights are converted to floats, and the kernel of gemm_f32.h multiplies (gemm_half_widen.h).
//   This takes half the memory of float weights and about the same time, and rounds only the weights.
//
// A result therefore differs from the result in floats by the rounding of weights and inputs, and, if sums are halves,
// of sums of `rounds` halves. A number outside the range of a half becomes infinite.
#ifndef TAPER_KERNELS_GEMM_HALF_H
#define TAPER_KERNELS_GEMM_HALF_H

#include "ops/kernels/gemm_f32.h"

#define KERNEL(isa, precision, tile, mr, nr, kr, rounds, over_read)                                                    \
    taper_gemm_f32_function taper_gemm_##precision##_##tile##_##isa;                                                   \
    taper_igemm_f32_function taper_igemm_##precision##_##tile##_##isa;
#include "ops/kernels/gemm_half_list.inc"
#undef KERNEL

// Returns the cost of a multiply-add, as a multiple of the cost of a multiply-add of floats. The cost includes rounding
// A, or converting the weights of a strip.
static inline double taper_gemm_cost(const taper_gemm_entry *entry)
{
    // AMX multiplies in a sixteenth of the time of floats; most of the cost is the rounding of A.
    const double tiles = 0.25;
    return entry->precision == TAPER_PRECISION_fp32 ? 1
           : entry->rounds == 0                     ? 1.1
           : entry->cpu == TAPER_ISA_amx            ? tiles
                                                    : 0.55;
}

// ---- packed weights of any entry, in the units of gemm_f32.h: a panel of halves is {bias[nr] as floats, then for
// every tap, for every kr elements: halves [nr][kr]}, with zeros for elements that do not exist.

// Returns the number of floats from one panel to the next. It cannot overflow, because the weights exist.
size_t taper_gemm_panel_floats(const taper_gemm_entry *entry, size_t ks, size_t kc);
// Returns the number of floats of packed weights, or 0 if it does not fit into size_t.
size_t taper_gemm_packed_count(const taper_gemm_entry *entry, size_t n, size_t ks, size_t kc);
// Packs weights that already have the half precision of the entry. There is one tap, and element (n, k) is at
// n * n_stride + k * k_stride. pack->weights, scale and transpose are not read.
void taper_gemm_pack_halves(const taper_gemm_entry *entry, const taper_gemm_pack *pack, const uint16_t *weights,
                            size_t first, size_t last, float *packed);
// Does the work of taper_gemm_f32_pack for any precision. For halves k_inner is at most 16.
void taper_gemm_pack_panels(const taper_gemm_entry *entry, const taper_gemm_pack *pack, size_t first, size_t last,
                            float *packed);

#endif
