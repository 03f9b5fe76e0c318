// SPDX-License-Identifier: BSD-2-Clause
// Arithmetic in the tensors' own dtypes with the instructions that every CPU of the architecture has.
#include "ops/kernels/native_tmpl.h"

NATIVE_ENTRY(scalar)
