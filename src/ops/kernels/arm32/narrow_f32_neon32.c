// SPDX-License-Identifier: BSD-2-Clause
// Products with narrow weights in 32-bit NEON.
#include "ops/kernels/simd_neon32.h"

#include "ops/kernels/narrow_words_neon.h"

#define HALF_ROWS 4
#include "ops/kernels/narrow_f32_tmpl.h"

NARROW_ENTRY(neon32, 8)
