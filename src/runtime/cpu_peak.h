// SPDX-License-Identifier: BSD-2-Clause
// What the CPU's kernels do at most on this machine, measured where operators are timed: what these are held against.
#ifndef TAPER_RUNTIME_CPU_PEAK_H
#define TAPER_RUNTIME_CPU_PEAK_H

#include "runtime/context.h"

// In a second, on all threads of the context. 0: not known.
typedef struct taper_cpu_peak {
    double flops;      // of products of floats
    double operations; // of products of quantized numbers
    double bytes;      // read from memory that no cache holds
} taper_cpu_peak;

// Some tens of milliseconds. What there is no memory for stays unknown.
taper_cpu_peak taper_cpu_measure_peak(const taper_context *context);

#endif
