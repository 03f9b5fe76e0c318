// SPDX-License-Identifier: BSD-2-Clause
// The functions that the GPU backend needs from a graphics interface: buffers, pipelines, and recordings that are
// submitted repeatedly. vulkan/ implements them for Vulkan, metal/ for Metal. The planner, the rules and the arena do
// not depend on the interface.
//
// A shader has five bindings: it writes binding 0, reads bindings 1 to 3, and gets its parameters from binding 4.
// Bindings 1 to 3 are storage buffers of vec4. In the shader's texel variant (TAPER_GPU_TEXEL), bindings 1 to 3 are
// texel buffers of the same memory.
#ifndef TAPER_BACKENDS_GPU_API_H
#define TAPER_BACKENDS_GPU_API_H

#include <stdatomic.h>

#include "base/memory.h"
#include "base/status.h"

typedef struct taper_gpu taper_gpu;
typedef struct taper_gpu_api taper_gpu_api;
typedef struct taper_gpu_recorded taper_gpu_recorded; // recorded dispatches, defined by the interface
typedef struct taper_gpu_pipeline taper_gpu_pipeline; // pipeline, defined by the interface

enum {
    TAPER_GPU_READS = 3,      // number of bindings that a shader reads
    TAPER_GPU_BINDINGS = 4,   // number of bindings of data: first the written one, then the bindings that are read
    TAPER_GPU_CONSTANTS = 22, // number of specialization constants of a shader
    TAPER_GPU_PARAMETERS = 64 // number of 32-bit words of a dispatch's parameters
};

// Numbers of specialization constants that all shaders have (common.glsl). Constants 0, 1 and TEAM are the numbers of
// threads of a workgroup in the three dimensions.
enum { TAPER_GPU_AXIS = 19, TAPER_GPU_TEAM = 20, TAPER_GPU_SPREAD = 21, TAPER_GPU_TEAM_THREADS = 128 };

typedef enum taper_gpu_use {
    TAPER_GPU_FOR_DEVICE, // for weights and intermediate data: the fastest memory for shaders
    TAPER_GPU_FOR_UPLOAD, // for data written by the host and read by shaders
    // For a few bytes, written once by the host and read often by shaders: memory that shaders read fast.
    TAPER_GPU_FOR_PARAMETERS,
    TAPER_GPU_FOR_DOWNLOAD // for data written by shaders and read by the host: cached memory
} taper_gpu_use;

typedef struct taper_gpu_buffer {
    uint64_t bytes;
    void *data;          // permanent mapping of the buffer for the host, or NULL if there is none
    bool coherent;       // true if host and device see each other's writes without flush or invalidate
    bool cached;         // true if the host reads the memory as fast as ordinary memory
    uint64_t handles[3]; // handles of the graphics interface for the buffer
} taper_gpu_buffer;

typedef struct taper_gpu_range {
    const taper_gpu_buffer *buffer; // buffer, or NULL if nothing is bound
    // Offset in the buffer: a multiple of taper_gpu.align, except in copies; length of the range.
    uint64_t offset, bytes;
} taper_gpu_range;

typedef struct taper_gpu_shader {
    const void *code; // SPIR-V or Metal's shading language, depending on the interface
    size_t bytes;
    uint32_t kernel; // number of the shader's kernel (gpu_kernels.h)
    bool texels;     // true if the shader reads texel buffers
} taper_gpu_shader;

// A compiled shader as the library contains it: deflated. All members are zero if there is no shader.
typedef struct taper_gpu_packed {
    const unsigned char *data;
    uint32_t packed, bytes;
    bool planes; // true if the bytes of 4-byte words are stored in planes: all first bytes, all second bytes, and so on
} taper_gpu_packed;

typedef struct taper_gpu_dispatch {
    taper_gpu_pipeline *pipeline;
    taper_gpu_range ranges[TAPER_GPU_BINDINGS];
    taper_gpu_range parameters;
    uint32_t groups[3];
    bool half;    // true if texel buffers are half precision
    bool barrier; // true if the dispatch must wait until all earlier dispatches are complete and their writes are
                  // visible
} taper_gpu_dispatch;

// An open device. It is the first member of the interface's struct.
struct taper_gpu {
    const taper_gpu_api *api;
    const taper_allocator *allocator;
    char name[256];
    uint32_t vendor, device, driver; // PCI numbers of vendor and device; version of the driver
    uint8_t build[16];               // build of the driver, if known; compiled code is valid only for this build
    bool is_cpu;                     // true if the driver computes on the CPU
    bool discrete;                   // true if the device has its own memory
    bool has_texels;                 // true if the device has texel buffers of four floats and of four halves
    uint64_t most_texels;            // largest number of elements in a texel buffer
    uint64_t most_bytes;             // largest number of bytes in a storage buffer
    uint64_t align;                  // alignment of every range, in bytes
    uint32_t most_threads;           // largest number of threads in a workgroup
    uint32_t most_groups[3];         // largest number of workgroups in a dispatch
    uint32_t shared_bytes;           // number of bytes of shared memory of a workgroup
    uint32_t lanes;      // number of threads of a subgroup if they can read each other's values, otherwise 0
    double tick;         // seconds per tick of a timestamp, or 0 without timestamps
    atomic_int troubled; // state of `trouble`: empty, being written or complete
    char trouble[160];   // text that taper_gpu_trouble returns
};

// Records a failure for taper_gpu_trouble. Only the first failure is kept, because it is the reason why a device is
// lost. Any thread may call this at any time.
void taper_gpu_note(taper_gpu *gpu, const char *format, ...) TAPER_PRINTF(2, 3);
const char *taper_gpu_trouble(const taper_gpu *gpu); // the text is valid until the device is closed

// The functions that return a status return TAPER_DEVICE_LOST (ir/tensor.h) if a call of the interface failed, and
// TAPER_ERROR_RESOURCE if the host has no memory. They record a failed call in the device (taper_gpu_note). One thread
// at a time uses a device. Exceptions are buffer_new, buffer_free, pipeline_new and pipeline_free, which may run at the
// same time for objects that no other thread uses.
struct taper_gpu_api {
    const char *name; // name of the interface, such as "vulkan"
    // Two shaders for each kernel (gpu_kernels.h): one reads storage buffers, one reads texel buffers.
    const taper_gpu_packed *shaders;
    // Opens the device with this number, or the device whose name contains `called`. A driver that computes on the CPU
    // is chosen only if the number or the name selects it, or if `software` allows it. On failure *why is a static
    // text.
    taper_status (*open)(const taper_allocator *allocator, unsigned index, const char *called, bool software,
                         taper_gpu **gpu, const char **why);
    void (*close)(taper_gpu *gpu);
    taper_status (*buffer_new)(taper_gpu *gpu, uint64_t bytes, taper_gpu_use use, taper_gpu_buffer *buffer);
    void (*buffer_free)(taper_gpu *gpu, taper_gpu_buffer *buffer); // does nothing for a zeroed buffer
    // For a mapped buffer that is not coherent. flush must follow writes of the host, invalidate must precede reads of
    // the host. Both apply to the whole buffer.
    taper_status (*flush)(taper_gpu *gpu, const taper_gpu_buffer *buffer);
    taper_status (*invalidate)(taper_gpu *gpu, const taper_gpu_buffer *buffer);
    // Copies `count` ranges of buffers to other ranges, which must not overlap any of the sources, and waits. The
    // copies come after everything submitted before, and before everything submitted later.
    taper_status (*copy)(taper_gpu *gpu, const taper_gpu_range *from, const taper_gpu_range *to, size_t count);
    // Makes a pipeline. constants[i] is the value of constant_id i.
    taper_status (*pipeline_new)(taper_gpu *gpu, const taper_gpu_shader *shader, const uint32_t *constants,
                                 uint32_t constant_count, taper_gpu_pipeline **pipeline);
    void (*pipeline_free)(taper_gpu *gpu, taper_gpu_pipeline *pipeline);
    // Code that the driver has compiled so far. A later process gives it back by take_compiled before its first
    // pipeline. Both members are NULL if the interface has no such code. For `compiled`, *bytes is the size of `data`,
    // and afterwards the number of bytes written. If `data` is NULL, *bytes becomes the size needed. TAPER_DECLINED
    // means that the driver refused, which is not an error.
    taper_status (*take_compiled)(taper_gpu *gpu, const void *data, size_t bytes);
    taper_status (*compiled)(taper_gpu *gpu, void *data, size_t *bytes);
    taper_status (*record)(taper_gpu *gpu, const taper_gpu_dispatch *dispatches, size_t count, bool timed,
                           taper_gpu_recorded **recorded);
    // Submits the recording and waits. `seconds` is NULL, or receives the time of each dispatch if the dispatches were
    // recorded with `timed`.
    taper_status (*run)(taper_gpu *gpu, taper_gpu_recorded *recorded, double *seconds);
    void (*recorded_free)(taper_gpu *gpu, taper_gpu_recorded *recorded);
};

extern const taper_gpu_api taper_gpu_vulkan, taper_gpu_metal;

#endif
