// SPDX-License-Identifier: BSD-2-Clause
// Conversions for AVX-512.
#include "ops/kernels/cast.h"
#include "ops/kernels/cast_tmpl.h"

CAST_ENTRY(avx512)
