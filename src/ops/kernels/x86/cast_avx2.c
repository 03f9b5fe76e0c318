// SPDX-License-Identifier: BSD-2-Clause
// Conversions for AVX2.
#include "ops/kernels/cast.h"
#include "ops/kernels/cast_tmpl.h"

CAST_ENTRY(avx2)
