// SPDX-License-Identifier: BSD-2-Clause
// Pipelines, recordings, runs. A command buffer of Metal can be submitted only once. A recording is therefore a list,
// from which each run encodes a command buffer: a few messages per dispatch, in memory that the system reuses.
#import "backends/gpu/metal/metal.h"

#include <string.h>

#include "base/checked.h"
#include "ir/tensor.h"
#include "ops/call/call.h"

enum { BINDINGS = TAPER_GPU_BINDINGS + 1 }; // number of bindings; the last one has the parameters

// ---- pipelines

// Compiles the kernel's source once. The device keeps the library.
static id<MTLLibrary> library_of(taper_metal *m, const taper_gpu_shader *shader, NSError **error)
{
    id<MTLLibrary> *const library = &m->libraries[shader->kernel];
    if (*library != nil) {
        return *library;
    }
    NSString *const source = [[NSString alloc] initWithBytes:shader->code
                                                      length:shader->bytes
                                                    encoding:NSUTF8StringEncoding];
    MTLCompileOptions *const options = [[MTLCompileOptions alloc] init];
    [options setFastMathEnabled:NO]; // to preserve NaN and infinity
    [options setLanguageVersion:MTLLanguageVersion2_1];
    *library = [m->device newLibraryWithSource:source options:options error:error];
    [options release];
    [source release];
    return *library;
}

static taper_status make_pipeline(taper_metal *m, const taper_gpu_shader *shader, const uint32_t *constants,
                                  uint32_t constant_count, taper_gpu_pipeline *pipeline)
{
    NSError *error = nil;
    const id<MTLLibrary> library = library_of(m, shader, &error);
    if (library == nil) {
        return taper_metal_fail(m, "newLibraryWithSource", error);
    }
    MTLFunctionConstantValues *const values = [[MTLFunctionConstantValues alloc] init];
    [values setConstantValues:constants type:MTLDataTypeUInt withRange:NSMakeRange(0, constant_count)];
    const id<MTLFunction> function = [library newFunctionWithName:[NSString stringWithUTF8String:"main0"]
                                                   constantValues:values
                                                            error:&error];
    [values release];
    if (function == nil) {
        return taper_metal_fail(m, "newFunctionWithName", error);
    }
    pipeline->state = [m->device newComputePipelineStateWithFunction:function error:&error];
    [function release];
    if (pipeline->state == nil) {
        return taper_metal_fail(m, "newComputePipelineStateWithFunction", error);
    }
    pipeline->threads = MTLSizeMake(constants[0], constants[1], constants[TAPER_GPU_TEAM]);
    if ([pipeline->state maxTotalThreadsPerThreadgroup] <
        (NSUInteger)constants[0] * constants[1] * constants[TAPER_GPU_TEAM]) {
        return taper_metal_fail(m, "fewer threads in a group than a kernel has", nil);
    }
    return TAPER_OK;
}

taper_status taper_metal_pipeline_new(taper_gpu *gpu, const taper_gpu_shader *shader, const uint32_t *constants,
                                      uint32_t constant_count, taper_gpu_pipeline **made)
{
    taper_gpu_pipeline *pipeline = taper_alloc_zeroed(gpu->allocator, sizeof *pipeline);
    if (pipeline == NULL) {
        return TAPER_ERROR_RESOURCE;
    }
    taper_status status;
    @autoreleasepool {
        status = make_pipeline((taper_metal *)gpu, shader, constants, constant_count, pipeline);
    }
    if (status != TAPER_OK) {
        taper_metal_pipeline_free(gpu, pipeline);
        return status;
    }
    *made = pipeline;
    return TAPER_OK;
}

void taper_metal_pipeline_free(taper_gpu *gpu, taper_gpu_pipeline *pipeline)
{
    @autoreleasepool {
        [pipeline->state release];
    }
    taper_free(gpu->allocator, pipeline, sizeof *pipeline);
}

// ---- recordings

typedef struct step {
    const taper_gpu_pipeline *pipeline;
    id<MTLBuffer> buffers[BINDINGS]; // buffers, owned by the backend, which outlives the recording
    NSUInteger offsets[BINDINGS];
    MTLSize groups;
    bool barrier;
} step;

struct taper_gpu_recorded {
    size_t count;
    step steps[];
};

static bool bytes_of(size_t count, size_t *bytes)
{
    return taper_mul_size(count, sizeof(step), bytes) && taper_add_size(*bytes, sizeof(taper_gpu_recorded), bytes);
}

taper_status taper_metal_record(taper_gpu *gpu, const taper_gpu_dispatch *dispatches, size_t count, bool timed,
                                taper_gpu_recorded **recorded)
{
    size_t bytes;
    taper_gpu_recorded *r = bytes_of(count, &bytes) ? taper_alloc_zeroed(gpu->allocator, bytes) : NULL;
    (void)timed;
    if (r == NULL) {
        return TAPER_ERROR_RESOURCE;
    }
    r->count = count;
    for (size_t i = 0; i < count; i++) {
        const taper_gpu_dispatch *d = &dispatches[i];
        step *s = &r->steps[i];
        s->pipeline = d->pipeline;
        s->groups = MTLSizeMake(d->groups[0], d->groups[1], d->groups[2]);
        s->barrier = d->barrier;
        for (size_t b = 0; b < BINDINGS; b++) {
            const taper_gpu_range *range = b < TAPER_GPU_BINDINGS ? &d->ranges[b] : &d->parameters;
            range = range->buffer != NULL ? range : &d->parameters; // every argument of a kernel must be set
            s->buffers[b] = taper_metal_buffer(range->buffer);
            s->offsets[b] = (NSUInteger)range->offset;
        }
    }
    *recorded = r;
    return TAPER_OK;
}

void taper_metal_recorded_free(taper_gpu *gpu, taper_gpu_recorded *recorded)
{
    size_t bytes;
    (void)bytes_of(recorded->count, &bytes);
    taper_free(gpu->allocator, recorded, bytes);
}

// ---- running recorded commands

static void encode(id<MTLComputeCommandEncoder> encoder, const taper_gpu_recorded *r, size_t first, size_t end)
{
    const step *before = NULL;
    for (size_t i = first; i < end; i++) {
        const step *s = &r->steps[i];
        if (s->barrier && before != NULL) {
            [encoder memoryBarrierWithScope:MTLBarrierScopeBuffers];
        }
        if (before == NULL || s->pipeline != before->pipeline) {
            [encoder setComputePipelineState:s->pipeline->state];
        }
        for (size_t b = 0; b < BINDINGS; b++) {
            if (before == NULL || s->buffers[b] != before->buffers[b] || s->offsets[b] != before->offsets[b]) {
                [encoder setBuffer:s->buffers[b] offset:s->offsets[b] atIndex:b];
            }
        }
        [encoder dispatchThreadgroups:s->groups threadsPerThreadgroup:s->pipeline->threads];
        before = s;
    }
}

// Submits dispatches [first, end) and waits.
static taper_status submit(taper_metal *m, const taper_gpu_recorded *r, size_t first, size_t end, double *seconds)
{
    // All objects of a recording outlive its runs, so the command buffer need not retain them.
    const id<MTLCommandBuffer> commands = [m->queue commandBufferWithUnretainedReferences];
    const id<MTLComputeCommandEncoder> encoder =
        [commands computeCommandEncoderWithDispatchType:MTLDispatchTypeConcurrent];
    if (encoder == nil) {
        return taper_metal_fail(m, "computeCommandEncoder", nil);
    }
    encode(encoder, r, first, end);
    [encoder endEncoding];
    [commands commit];
    [commands waitUntilCompleted];
    if ([commands status] == MTLCommandBufferStatusCompleted) {
        if (seconds != NULL) {
            *seconds = [commands GPUEndTime] - [commands GPUStartTime];
        }
        return TAPER_OK;
    }
    NSError *const error = [commands error];
    // An app in the background must not use the GPU now, but may use it later.
    return error != nil && [error code] == MTLCommandBufferErrorNotPermitted
               ? TAPER_DECLINED
               : taper_metal_fail(m, "a command buffer", error);
}

taper_status taper_metal_run(taper_gpu *gpu, taper_gpu_recorded *r, double *seconds)
{
    taper_metal *m = (taper_metal *)gpu;
    @autoreleasepool {
        if (seconds == NULL) {
            return submit(m, r, 0, r->count, NULL);
        }
        // The system measures the time of command buffers only, so each dispatch gets a command buffer of its own.
        for (size_t i = 0; i < r->count; i++) {
            TAPER_TRY(submit(m, r, i, i + 1, &seconds[i]));
        }
    }
    return TAPER_OK;
}
