// SPDX-License-Identifier: BSD-2-Clause
// The kernels of vector_f32.h with NEON.
#include "backends/cpu/kernels/arch.h"

#if TAPER_LEVEL_NEON

#include "backends/cpu/kernels/simd_neon.h"

#include "backends/cpu/kernels/vector_f32_tmpl.h"
#include "taper/taper.h"

VECTOR_ENTRY("neon", TAPER_CPU_NEON)

#else
typedef int taper_vector_f32_neon_is_left_out;
#endif
