// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic in the tensors' own dtypes for AVX-512; builds for size have none.
#include "ops/kernels/native.h"

#if !TAPER_SMALL
#include "ops/kernels/native_tmpl.h"

NATIVE_ENTRY(avx512)
#endif
