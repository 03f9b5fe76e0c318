// SPDX-License-Identifier: BSD-2-Clause
// Estimates the time of a recording on the device, and of the segment's nodes on the CPU, before either has run. The
// estimate is coarse. It uses a table of kinds of devices, or the measured peak of this device (gpu_peak.h), and is
// corrected by the first runs of other recordings. A device that seems slightly slower is therefore tried anyway.
#ifndef TAPER_BACKENDS_GPU_ESTIMATE_H
#define TAPER_BACKENDS_GPU_ESTIMATE_H

#include "backends/gpu/gpu_program.h"
#include "backends/gpu/gpu_state.h"

typedef struct taper_gpu_estimate {
    double device, plain; // seconds of a run on the device; seconds of a run of the segment's nodes on the CPU
} taper_gpu_estimate;

// Estimates the times of a run of the program, whose memories must already have sizes. `host_bytes` is the number of
// bytes copied from and to the host in each run. `cpu` is a set of TAPER_ISA_ bits. `threads` is the number of threads
// of the CPU.
taper_gpu_estimate taper_gpu_estimate_program(const taper_gpu_state *state, const taper_gpu_program *program,
                                              uint64_t host_bytes, uint64_t cpu, size_t threads);
// Records the measured times of a recording with this estimate. The caller holds the lock.
void taper_gpu_estimate_learn(taper_gpu_state *state, const taper_gpu_estimate *estimate,
                              const taper_gpu_estimate *measured);
// Returns the estimate, corrected by earlier measurements. The caller holds the lock.
taper_gpu_estimate taper_gpu_estimate_corrected(const taper_gpu_state *state, const taper_gpu_estimate *estimate);
// Returns true if the device should be tried, because it may be faster. `corrected` is the present corrected estimate.
// The caller holds the lock.
bool taper_gpu_estimate_pays(const taper_gpu_state *state, const taper_gpu_estimate *corrected);

#endif
