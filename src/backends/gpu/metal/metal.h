// SPDX-License-Identifier: BSD-2-Clause
// Declarations shared by the files of the Metal interface. References are counted by hand, because C structs own the
// objects.
#ifndef TAPER_BACKENDS_METAL_H
#define TAPER_BACKENDS_METAL_H

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include "backends/gpu/gpu_api.h"
#include "backends/gpu/gpu_kernels.h"

typedef struct taper_metal {
    taper_gpu gpu; // must be the first member
    id<MTLDevice> device;
    id<MTLCommandQueue> queue;
    id<MTLLibrary> libraries[TAPER_GPU_KERNEL_COUNT]; // library of each kernel for which a pipeline was made
} taper_metal;

struct taper_gpu_pipeline {
    id<MTLComputePipelineState> state;
    MTLSize threads; // numbers of threads of a workgroup
};

static inline id<MTLBuffer> taper_metal_buffer(const taper_gpu_buffer *buffer)
{
    return (id<MTLBuffer>)(uintptr_t)buffer->handles[0];
}

// Records a failure and returns TAPER_DEVICE_LOST. `error` may be nil.
taper_status taper_metal_fail(taper_metal *metal, const char *what, NSError *error);

// The functions of metal_record.m.
taper_status taper_metal_pipeline_new(taper_gpu *gpu, const taper_gpu_shader *shader, const uint32_t *constants,
                                      uint32_t constant_count, taper_gpu_pipeline **pipeline);
void taper_metal_pipeline_free(taper_gpu *gpu, taper_gpu_pipeline *pipeline);
taper_status taper_metal_record(taper_gpu *gpu, const taper_gpu_dispatch *dispatches, size_t count, bool timed,
                                taper_gpu_recorded **recorded);
taper_status taper_metal_run(taper_gpu *gpu, taper_gpu_recorded *recorded, double *seconds);
void taper_metal_recorded_free(taper_gpu *gpu, taper_gpu_recorded *recorded);

#endif
