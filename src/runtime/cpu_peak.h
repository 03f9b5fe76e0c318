// SPDX-License-Identifier: BSD-2-Clause
// Measures the peak rates of the CPU's kernels on this machine. A profile compares the rate of each operator with these
// peak rates.
#ifndef TAPER_RUNTIME_CPU_PEAK_H
#define TAPER_RUNTIME_CPU_PEAK_H

#include "runtime/context.h"

// Peak rates per second, using all threads of the context. A rate is 0 if unknown.
typedef struct taper_cpu_peak {
    double flops;      // floating-point operations per second in products of floats
    double operations; // operations per second in products of quantized numbers
    double bytes;      // bytes per second read from memory that is not in a cache
} taper_cpu_peak;

// Measures the rates, which takes some tens of milliseconds. A rate remains 0 if memory for its measurement is missing.
taper_cpu_peak taper_cpu_measure_peak(const taper_context *context);

#endif
