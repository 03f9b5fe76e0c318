// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic in the tensors' own dtypes for AVX2.
#include "ops/kernels/native.h"
#include "ops/kernels/native_tmpl.h"

NATIVE_ENTRY(avx2)
