// SPDX-License-Identifier: BSD-2-Clause
// Conversions for AVX-512; builds for size have none.
#include "ops/kernels/cast.h"

#if !TAPER_SMALL
#include "ops/kernels/cast_tmpl.h"

CAST_ENTRY(avx512)
#endif
