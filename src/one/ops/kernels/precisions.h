// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/kernels/precisions.h in a library for one model, which packs weights only as floats.
#ifndef TAPER_OPS_KERNELS_PRECISIONS_H
#define TAPER_OPS_KERNELS_PRECISIONS_H

#include "ops/kernels/kernel_select.h"

static inline const taper_gemm_entry *taper_gemm_of(uint64_t cpu, taper_precision precision)
{
    (void)precision;
    return taper_gemm_f32_select(cpu);
}

static inline bool taper_gemm_has(taper_precision precision)
{
    return precision == TAPER_PRECISION_FP32;
}

#endif
