// SPDX-License-Identifier: BSD-2-Clause
// The peak of the CPU's kernels on this machine, measured when operators are profiled, for comparison with them.
#ifndef TAPER_RUNTIME_CPU_PEAK_H
#define TAPER_RUNTIME_CPU_PEAK_H

#include "runtime/context.h"

// Per second, on all threads of the context. 0 if unknown.
typedef struct taper_cpu_peak {
    double flops;      // floating-point operations in products of floats
    double operations; // operations in products of quantized numbers
    double bytes;      // bytes read from memory that is in no cache
} taper_cpu_peak;

// Measures for some tens of milliseconds. A value for which memory is missing remains unknown.
taper_cpu_peak taper_cpu_measure_peak(const taper_context *context);

#endif
