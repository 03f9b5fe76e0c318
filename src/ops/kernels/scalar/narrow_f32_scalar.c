// SPDX-License-Identifier: BSD-2-Clause
// Products with narrow weights in portable C.
#include "ops/kernels/simd_scalar.h"

TAPER_TEMPLATE V v_bytes(const int8_t *p)
{
    return (float)*p;
}
TAPER_TEMPLATE VI v_words(const uint32_t *p)
{
    return (VI)*p;
}
TAPER_TEMPLATE V v_nibble(VI words, int i)
{
    return (float)((int)((uint32_t)words >> 4 * i & 15) - 8);
}

#define HALF_ROWS 4
#include "ops/kernels/narrow_f32_tmpl.h"

NARROW_ENTRY(scalar, 4)
