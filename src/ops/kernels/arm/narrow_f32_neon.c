// SPDX-License-Identifier: BSD-2-Clause
// Products with narrow weights in NEON.
#include "ops/kernels/simd_neon.h"

#include "ops/kernels/narrow_words_neon.h"

#define HALF_ROWS 4
#include "ops/kernels/narrow_f32_tmpl.h"

NARROW_ENTRY(neon, 16)
