// SPDX-License-Identifier: BSD-2-Clause
// The kernels of vector_f32.h with AVX2.
#include "backends/cpu/kernels/arch.h"

#if TAPER_LEVEL_AVX2

#include "backends/cpu/kernels/simd_avx2.h"

#include "backends/cpu/kernels/vector_f32_tmpl.h"
#include "taper/taper.h"

VECTOR_ENTRY("avx2", TAPER_CPU_AVX2)

#else
typedef int taper_vector_f32_avx2_is_left_out;
#endif
