// SPDX-License-Identifier: BSD-2-Clause
// Conversions for AVX2; builds for size have none.
#include "ops/kernels/cast.h"

#if !TAPER_SMALL
#include "ops/kernels/cast_tmpl.h"

CAST_ENTRY(avx2)
#endif
