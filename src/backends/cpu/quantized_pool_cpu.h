// SPDX-License-Identifier: BSD-2-Clause
#ifndef TAPER_CPU_QUANTIZED_POOL_CPU_H
#define TAPER_CPU_QUANTIZED_POOL_CPU_H

#include "ops/nn/pool.h"

// Computes max or average pooling of a quantized tensor x. Returns TAPER_DECLINED if the reference must run. Averages
// divide by the size of the window, including padding.
TAPER_MUST_USE taper_status taper_cpu_pool_u8(taper_call *call, const taper_tensor *x, const taper_pooling *pooling,
                                              bool max);

#endif
