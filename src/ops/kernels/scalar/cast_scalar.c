// SPDX-License-Identifier: BSD-2-Clause
// Conversions with the instructions that every CPU of the architecture has.
#include "ops/kernels/cast_tmpl.h"

CAST_ENTRY(scalar)
