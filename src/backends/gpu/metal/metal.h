// SPDX-License-Identifier: BSD-2-Clause
// Between the files of the Metal interface. References are counted by hand: what a struct of C holds, it owns.
#ifndef TAPER_BACKENDS_METAL_H
#define TAPER_BACKENDS_METAL_H

#import <Foundation/Foundation.h>
#import <Metal/Metal.h>

#include "backends/gpu/gpu_api.h"
#include "backends/gpu/gpu_kernels.h"

typedef struct taper_metal {
    taper_gpu gpu; // first
    id<MTLDevice> device;
    id<MTLCommandQueue> queue;
    id<MTLLibrary> libraries[TAPER_GPU_KERNEL_COUNT]; // of the kernels that a pipeline was made of
} taper_metal;

struct taper_gpu_pipeline {
    id<MTLComputePipelineState> state;
    MTLSize threads; // of a workgroup
};

static inline id<MTLBuffer> taper_metal_buffer(const taper_gpu_buffer *buffer)
{
    return (id<MTLBuffer>)(uintptr_t)buffer->handles[0];
}

// Notes what failed; error may be nil.
taper_status taper_metal_fail(taper_metal *metal, const char *what, NSError *error);

// metal_record.m
taper_status taper_metal_pipeline_new(taper_gpu *gpu, const taper_gpu_shader *shader, const uint32_t *constants,
                                      uint32_t constant_count, taper_gpu_pipeline **pipeline);
void taper_metal_pipeline_free(taper_gpu *gpu, taper_gpu_pipeline *pipeline);
taper_status taper_metal_record(taper_gpu *gpu, const taper_gpu_dispatch *dispatches, size_t count, bool timed,
                                taper_gpu_recorded **recorded);
taper_status taper_metal_run(taper_gpu *gpu, taper_gpu_recorded *recorded, double *seconds);
void taper_metal_recorded_free(taper_gpu *gpu, taper_gpu_recorded *recorded);

#endif
