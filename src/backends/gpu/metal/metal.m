// SPDX-License-Identifier: BSD-2-Clause
// Metal devices and their buffers, and the table of the interface. iOS 12 and macOS 11 have all functions that are
// called. All memory is shared with the host, because Apple's GPUs have no separate memory.
#import "backends/gpu/metal/metal.h"

#ifdef __APPLE__
#include <TargetConditionals.h>
#endif
#include <stdio.h>
#include <string.h>

#include "backends/gpu/gpu_options.h"
#include "base/checked.h"
#include "ir/tensor.h"

enum {
    APPLE = 0x106B, // PCI number of the vendor
    OFFSETS = 256,  // alignment, in bytes, of buffers in the constant address space on Macs
    MOST_GROUPS = 1024 * 1024
};

taper_status taper_metal_fail(taper_metal *metal, const char *what, NSError *error)
{
    const char *why = error != nil ? [[error localizedDescription] UTF8String] : NULL;
    taper_gpu_note(&metal->gpu, "%s: %s", what, why != NULL ? why : "none was made");
    return TAPER_DEVICE_LOST;
}

// ---- opening the device

// Finds the device. The result is an owned reference, or nil.
static id<MTLDevice> find_device(unsigned index, const char *called)
{
#if defined(__APPLE__) && TARGET_OS_OSX
    NSArray<id<MTLDevice>> *const devices = MTLCopyAllDevices();
    id<MTLDevice> found = nil;
    unsigned seen = 0;
    for (NSUInteger i = 0; i < [devices count] && found == nil; i++) {
        const id<MTLDevice> device = [devices objectAtIndex:i];
        if ((called == NULL || taper_gpu_is_called([[device name] UTF8String], called)) &&
            seen++ == (called != NULL ? 0 : index)) {
            found = [device retain];
        }
    }
    [devices release];
    return found;
#else
    const id<MTLDevice> device = MTLCreateSystemDefaultDevice();
    if (device != nil && (index != 0 || (called != NULL && !taper_gpu_is_called([[device name] UTF8String], called)))) {
        [device release];
        return nil;
    }
    return device;
#endif
}

static void read_limits(taper_metal *m)
{
    taper_gpu *gpu = &m->gpu;
    const NSOperatingSystemVersion system = [[NSProcessInfo processInfo] operatingSystemVersion];
    const char *name = [[m->device name] UTF8String];
    snprintf(gpu->name, sizeof gpu->name, "%s", name != NULL ? name : "");
    gpu->vendor = APPLE;
    // Drivers are part of the system, so the system's version is used as the driver's version.
    gpu->driver = (uint32_t)(system.majorVersion << 16 | system.minorVersion << 8 | system.patchVersion);
    gpu->most_bytes = [m->device maxBufferLength];
    gpu->align = OFFSETS;
    gpu->most_threads = (uint32_t)[m->device maxThreadsPerThreadgroup].width;
    for (size_t i = 0; i < 3; i++) {
        gpu->most_groups[i] = MOST_GROUPS;
    }
    gpu->shared_bytes = (uint32_t)[m->device maxThreadgroupMemoryLength];
    gpu->tick = 1;
}

static void close(taper_gpu *gpu)
{
    taper_metal *m = (taper_metal *)gpu;
    @autoreleasepool {
        for (size_t i = 0; i < TAPER_GPU_KERNEL_COUNT; i++) {
            [m->libraries[i] release];
        }
        [m->queue release];
        [m->device release];
    }
    taper_free(gpu->allocator, m, sizeof *m);
}

static const char *open_all(taper_metal *m, unsigned index, const char *called)
{
    m->device = find_device(index, called);
    if (m->device == nil) {
        return called != NULL ? "Metal has no device of that name" : "Metal has no such device";
    }
    read_limits(m);
    m->queue = [m->device newCommandQueue];
    return m->queue != nil ? NULL : "the Metal device has no queue";
}

static taper_status open(const taper_allocator *allocator, unsigned index, const char *called, bool software,
                         taper_gpu **gpu, const char **why)
{
    (void)software; // no driver of Metal computes on the CPU
    taper_metal *m = taper_alloc_zeroed(allocator, sizeof *m);
    if (m == NULL) {
        return TAPER_ERROR_RESOURCE;
    }
    m->gpu.api = &taper_gpu_metal;
    m->gpu.allocator = allocator;
    @autoreleasepool {
        *why = open_all(m, index, called);
    }
    if (*why != NULL) {
        close(&m->gpu);
        return TAPER_DEVICE_LOST;
    }
    *gpu = &m->gpu;
    return TAPER_OK;
}

// ---- buffers

static taper_status buffer_new(taper_gpu *gpu, uint64_t bytes, taper_gpu_use use, taper_gpu_buffer *buffer)
{
    taper_metal *m = (taper_metal *)gpu;
    (void)use;
    *buffer = (taper_gpu_buffer){0};
    if (bytes > gpu->most_bytes || bytes > SIZE_MAX / 2) {
        return taper_metal_fail(m, "a buffer larger than the device allows", nil);
    }
    @autoreleasepool {
        const id<MTLBuffer> made = [m->device newBufferWithLength:(NSUInteger)bytes
                                                          options:MTLResourceStorageModeShared];
        if (made == nil) {
            return taper_metal_fail(m, "newBufferWithLength", nil);
        }
        *buffer = (taper_gpu_buffer){.bytes = bytes,
                                     .data = [made contents],
                                     .coherent = true,
                                     .cached = true,
                                     .handles = {(uint64_t)(uintptr_t)made}};
    }
    return TAPER_OK;
}

static void buffer_free(taper_gpu *gpu, taper_gpu_buffer *buffer)
{
    (void)gpu;
    @autoreleasepool {
        [taper_metal_buffer(buffer) release];
    }
    *buffer = (taper_gpu_buffer){0};
}

static taper_status seen(taper_gpu *gpu, const taper_gpu_buffer *buffer)
{
    (void)gpu, (void)buffer;
    return TAPER_OK;
}

static taper_status copy(taper_gpu *gpu, const taper_gpu_range *from, const taper_gpu_range *to, size_t count)
{
    (void)gpu;
    for (size_t i = 0; i < count; i++) {
        memcpy((char *)to[i].buffer->data + to[i].offset, (const char *)from[i].buffer->data + from[i].offset,
               (size_t)from[i].bytes);
    }
    return TAPER_OK;
}

const taper_gpu_api taper_gpu_metal = {.name = "metal",
                                       .shaders = taper_gpu_metal_shaders,
                                       .open = open,
                                       .close = close,
                                       .buffer_new = buffer_new,
                                       .buffer_free = buffer_free,
                                       .flush = seen,
                                       .invalidate = seen,
                                       .copy = copy,
                                       .pipeline_new = taper_metal_pipeline_new,
                                       .pipeline_free = taper_metal_pipeline_free,
                                       .record = taper_metal_record,
                                       .run = taper_metal_run,
                                       .recorded_free = taper_metal_recorded_free};
