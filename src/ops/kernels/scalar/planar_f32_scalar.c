// SPDX-License-Identifier: BSD-2-Clause
// Convolution of planes in plain C.
#include "ops/kernels/simd_scalar.h"

#include "ops/kernels/planar_f32_tmpl.h"
