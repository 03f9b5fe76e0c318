// SPDX-License-Identifier: BSD-2-Clause
// The options of GPUs (backends/option_list.inc). Except `software`, they are for finding out what a driver does wrong,
// and how it is fastest.
#ifndef TAPER_BACKENDS_GPU_OPTIONS_H
#define TAPER_BACKENDS_GPU_OPTIONS_H

#include "base/status.h"

typedef struct taper_gpu_options {
    int software; // a driver that computes on the CPU is taken, too, where nothing else is there
    int texels;   // reading texel buffers; -1: as is best for the device
    int alias;    // memory between dispatches is used again; -1 the same
    int tiles;    // 0: small, 1: large; -1 the same
    int share;    // threads of a subgroup load for each other; -1 the same
    int teams;    // threads share the making of a result where there are few; -1 the same
    int checks;   // first results are held against the CPU's; -1 the same
    int half;     // vectors are of half precision in memory
    int winograd; // 3x3 convolutions by Winograd: 0: never, 1: all that can; -1: where most of a segment is such layers
    int background; // pipelines are made in the background; -1: where a run's time is limited
    int estimate;   // segments that seem slower than on the CPU are not tried; -1: where the device is no CPU
    int times;      // every tenth run says what each dispatch took (TAPER_LOG_INFO)
} taper_gpu_options;

// The settings that a device was opened with; what they do not name is -1 or 0.
void taper_gpu_options_set(const taper_device_setting *settings, size_t count, taper_gpu_options *options);
// Whether a device of that name is meant by `called`: a part of it, in letters of any case.
bool taper_gpu_is_called(const char *name, const char *called);

#endif
