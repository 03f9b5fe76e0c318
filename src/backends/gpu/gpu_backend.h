// SPDX-License-Identifier: BSD-2-Clause
// The functions of the GPU backend that implement ops/backend.h, for each graphics interface.
#ifndef TAPER_BACKENDS_GPU_BACKEND_H
#define TAPER_BACKENDS_GPU_BACKEND_H

#include "backends/gpu/gpu_recording.h"
#include "backends/gpu/gpu_state.h"

void taper_gpu_close(taper_device *device);
void taper_gpu_describe(const taper_device *device, taper_device_words *words);
TAPER_MUST_USE taper_status taper_gpu_claim(taper_device *device, taper_region *region, taper_claim *claim,
                                            taper_error *error);
TAPER_MUST_USE taper_status taper_gpu_plan(taper_device *device, taper_segment *segment, taper_arena *arena,
                                           taper_error *error);

// Defines taper_backend_NAME for a kind of device, with the functions of the interface taper_gpu_NAME.
#define TAPER_GPU_BACKEND(interface, device_kind)                                                                      \
    static taper_status open_##interface(taper_device *device, const char **why, taper_error *error)                   \
    {                                                                                                                  \
        return taper_gpu_open(device, &taper_gpu_##interface, why, error);                                             \
    }                                                                                                                  \
    const taper_backend taper_backend_##interface = {.struct_size = sizeof taper_backend_##interface,                  \
                                                     .name = #interface,                                               \
                                                     .kind = device_kind,                                              \
                                                     .state_bytes = sizeof(taper_gpu_state),                           \
                                                     .copies = true,                                                   \
                                                     .recording_bytes = sizeof(taper_gpu_recording),                   \
                                                     .open = open_##interface,                                         \
                                                     .close = taper_gpu_close,                                         \
                                                     .claim = taper_gpu_claim,                                         \
                                                     .plan = taper_gpu_plan,                                           \
                                                     .record = taper_gpu_record,                                       \
                                                     .run = taper_gpu_run,                                             \
                                                     .forget = taper_gpu_forget,                                       \
                                                     .measured = taper_gpu_measured,                                   \
                                                     .describe = taper_gpu_describe,                                   \
                                                     .storages = taper_gpu_storages,                                   \
                                                     .listing = TAPER_GPU_SOFTWARE,                                    \
                                                     .half = TAPER_GPU_HALF,                                           \
                                                     .lasting = true}

#endif
