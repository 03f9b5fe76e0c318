// SPDX-License-Identifier: BSD-2-Clause
// The precisions of packed weights that the CPU kernels support.
#ifndef TAPER_OPS_KERNELS_PRECISIONS_H
#define TAPER_OPS_KERNELS_PRECISIONS_H

#include "ops/kernels/kernel_select.h"

static inline const taper_gemm_entry *taper_gemm_of(uint64_t cpu, taper_precision precision)
{
    return taper_gemm_select(cpu, precision);
}

static inline bool taper_gemm_has(taper_precision precision)
{
    (void)precision;
    return true;
}

#endif
