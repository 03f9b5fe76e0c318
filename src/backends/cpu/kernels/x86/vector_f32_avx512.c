// SPDX-License-Identifier: BSD-2-Clause
// The kernels of vector_f32.h with AVX-512.
#include "backends/cpu/kernels/arch.h"

#if TAPER_LEVEL_AVX512

#include "backends/cpu/kernels/simd_avx512.h"

#include "backends/cpu/kernels/vector_f32_tmpl.h"
#include "taper/taper.h"

VECTOR_ENTRY("avx512", TAPER_CPU_AVX512)

#else
typedef int taper_vector_f32_avx512_is_left_out;
#endif
