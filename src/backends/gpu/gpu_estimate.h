// SPDX-License-Identifier: BSD-2-Clause
// What a recording costs on the device, and what the plain nodes cost on the CPU, before either has run. It is coarse:
// a table by kinds of devices, or what was measured of this one (gpu_peak.h), and what first runs of other recordings
// took. So who is slower by a little is tried anyway.
#ifndef TAPER_BACKENDS_GPU_ESTIMATE_H
#define TAPER_BACKENDS_GPU_ESTIMATE_H

#include "backends/gpu/gpu_program.h"
#include "backends/gpu/gpu_state.h"

typedef struct taper_gpu_estimate {
    double device, plain; // seconds of a run
} taper_gpu_estimate;

// Of a program whose memories have their sizes. host_bytes: that go from and to the host in each run; cpu: TAPER_ISA_
// bits; threads: of the CPU.
taper_gpu_estimate taper_gpu_estimate_program(const taper_gpu_state *state, const taper_gpu_program *program,
                                              uint64_t host_bytes, uint64_t cpu, size_t threads);
// A recording with this estimate took so many seconds both ways. Under the lock.
void taper_gpu_estimate_learn(taper_gpu_state *state, const taper_gpu_estimate *estimate,
                              const taper_gpu_estimate *measured);
// The estimate, corrected by what was learned. Under the lock.
taper_gpu_estimate taper_gpu_estimate_corrected(const taper_gpu_state *state, const taper_gpu_estimate *estimate);
// Whether the device is to be tried: it may well be the faster one. corrected: as it is now. Under the lock.
bool taper_gpu_estimate_pays(const taper_gpu_state *state, const taper_gpu_estimate *corrected);

#endif
