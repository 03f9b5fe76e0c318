// SPDX-License-Identifier: BSD-2-Clause
// Chooses kernels: the first entry of a family's list whose instruction set is in `cpu` (TAPER_ISA_ bits, as
// taper_cpu_features returns them). Unless noted below there is always an entry, because the portable entry is last and
// needs no instruction set.
#ifndef TAPER_KERNELS_SELECT_H
#define TAPER_KERNELS_SELECT_H

#include "ops/kernels/kernels.h"

const taper_gemm_entry *taper_gemm_f32_select(uint64_t cpu);
// Returns an entry for weights of this precision.
const taper_gemm_entry *taper_gemm_select(uint64_t cpu, taper_precision precision);
// Returns NULL if no kernel of this shape is as fast as the entry that taper_dwconv_taps_f32_select returns. That
// function never returns NULL.
const taper_dwconv_entry *taper_dwconv_f32_select(uint64_t cpu, size_t kernel, size_t stride);
const taper_dwconv_taps_entry *taper_dwconv_taps_f32_select(uint64_t cpu);
const taper_vector_entry *taper_vector_f32_select(uint64_t cpu);
// Returns an entry whose tiles have this number of outputs on a side: 4 or 2. For stride 2 it must be 4.
const taper_winograd_entry *taper_winograd_f32_select(uint64_t cpu, size_t outputs, size_t stride);
const taper_planar_entry *taper_planar_f32_select(uint64_t cpu);
const taper_gemm_i8_entry *taper_gemm_i8_select(uint64_t cpu);
const taper_dwconv_i8_entry *taper_dwconv_i8_select(uint64_t cpu);
// Returns NULL if the CPU multiplies bytes so fast that Winograd's products of 16 bits would save no time.
const taper_winograd_i8_entry *taper_winograd_i8_select(uint64_t cpu);
const taper_vector_u8_entry *taper_vector_u8_select(uint64_t cpu);
// Returns an entry with the same nr as the entry of taper_gemm_f32_select.
const taper_narrow_entry *taper_narrow_f32_select(uint64_t cpu);
const taper_cast_entry *taper_cast_select(uint64_t cpu);
const taper_native_entry *taper_native_select(uint64_t cpu);
const taper_fft_entry *taper_fft_f32_select(uint64_t cpu);

// For checks and benchmarks. These functions return entry `index` of the list, or NULL after the last entry.
const taper_gemm_entry *taper_gemm_f32_entry(size_t index);
const taper_gemm_entry *taper_gemm_half_entry(size_t index);
const taper_dwconv_entry *taper_dwconv_f32_entry(size_t index);
const taper_dwconv_taps_entry *taper_dwconv_taps_f32_entry(size_t index);
const taper_vector_entry *taper_vector_f32_entry(size_t index);
const taper_winograd_entry *taper_winograd_f32_entry(size_t index);
const taper_planar_entry *taper_planar_f32_entry(size_t index);
const taper_gemm_i8_entry *taper_gemm_i8_entry_at(size_t index);
const taper_dwconv_i8_entry *taper_dwconv_i8_entry_at(size_t index);
const taper_winograd_i8_entry *taper_winograd_i8_entry_at(size_t index);
const taper_vector_u8_entry *taper_vector_u8_entry_at(size_t index);
const taper_narrow_entry *taper_narrow_f32_entry_at(size_t index);
const taper_cast_entry *taper_cast_entry_at(size_t index);
const taper_native_entry *taper_native_entry_at(size_t index);
const taper_fft_entry *taper_fft_f32_entry(size_t index);

#endif
