// SPDX-License-Identifier: BSD-2-Clause
// The options of GPUs (backends/option_list.inc). All except `software` serve to find faults of a driver, and the
// fastest way to use it.
#ifndef TAPER_BACKENDS_GPU_OPTIONS_H
#define TAPER_BACKENDS_GPU_OPTIONS_H

#include "base/status.h"

// Each option is 1 (yes), 0 (no), or -1 if the caller did not choose.
typedef struct taper_gpu_options {
    int software; // 1: allow a driver that computes on the CPU if there is no other driver
    int texels;   // 1: read texel buffers; -1: what is best for the device
    int alias;    // 1: reuse memory between dispatches; -1: what is best for the device
    int tiles;    // 1: large tiles; 0: small tiles; -1: what is best for the device
    int share;    // 1: threads of a subgroup share what they load; -1: what is best for the device
    int teams; // 1: threads share the computation of a result if there are few results; -1: what is best for the device
    int checks;     // 1: compare first results with the CPU's; -1: the default, which is 1
    int half;       // 1: store vectors in half precision
    int winograd;   // Winograd for 3x3 convolutions: 0 never, 1 always, -1 if such layers are most of a segment's
                    // arithmetic
    int background; // 1: make pipelines in the background; -1: only if the run's time is limited
    int estimate; // 1: do not try segments that seem slower on the device than on the CPU; -1: the default, which is 1
                  // unless the device is a CPU
    int times;    // 1: log the time of each dispatch in every tenth run (TAPER_LOG_INFO)
} taper_gpu_options;

// Reads the settings with which a device was opened. An option that the settings do not name gets its default: 0 for
// `software`, `half` and `times`, -1 for all other options.
void taper_gpu_options_set(const taper_device_setting *settings, size_t count, taper_gpu_options *options);
// Returns true if the name contains `called`, ignoring case.
bool taper_gpu_is_called(const char *name, const char *called);

#endif
