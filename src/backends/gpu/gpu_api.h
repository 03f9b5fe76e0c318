// SPDX-License-Identifier: BSD-2-Clause
// What the GPU backend wants of a graphics interface: buffers, pipelines, recordings that are submitted again and
// again. Vulkan has it in vulkan/, Metal in metal/; what computes (planner, rules, arena) knows neither.
//
// A shader sees five bindings: 0 is written, 1 to 3 are read, 4 has its parameters. Binding 1 to 3 are storage buffers
// of vec4, or texel buffers of the same memory where the shader is the variant for these (TAPER_GPU_TEXEL).
#ifndef TAPER_BACKENDS_GPU_API_H
#define TAPER_BACKENDS_GPU_API_H

#include <stdatomic.h>

#include "base/memory.h"
#include "base/status.h"

typedef struct taper_gpu taper_gpu;
typedef struct taper_gpu_api taper_gpu_api;
typedef struct taper_gpu_recorded taper_gpu_recorded; // the interface's own
typedef struct taper_gpu_pipeline taper_gpu_pipeline; // the same

enum {
    TAPER_GPU_READS = 3,      // bindings that are read
    TAPER_GPU_BINDINGS = 4,   // of data: the one that is written, then those
    TAPER_GPU_CONSTANTS = 22, // specialization constants of a shader
    TAPER_GPU_PARAMETERS = 64 // 32-bit words of a dispatch's parameters
};

// Constants of all shaders (common.glsl). A workgroup has as many threads as constants 0, 1 and TEAM say.
enum { TAPER_GPU_AXIS = 19, TAPER_GPU_TEAM = 20, TAPER_GPU_SPREAD = 21, TAPER_GPU_TEAM_THREADS = 128 };

typedef enum taper_gpu_use {
    TAPER_GPU_FOR_DEVICE,     // weights and what lies between: the fastest memory for shaders
    TAPER_GPU_FOR_UPLOAD,     // what the host writes and shaders read
    TAPER_GPU_FOR_PARAMETERS, // the same, little of it, written once and read again and again: near the shaders
    TAPER_GPU_FOR_DOWNLOAD    // what shaders write and the host reads: cached
} taper_gpu_use;

typedef struct taper_gpu_buffer {
    uint64_t bytes;
    void *data;          // where the host sees it, all the time; NULL: it does not
    bool coherent;       // writes of either side are seen by the other without being asked for
    bool cached;         // the host reads it as fast as its own
    uint64_t handles[3]; // the interface's own
} taper_gpu_buffer;

typedef struct taper_gpu_range {
    const taper_gpu_buffer *buffer; // NULL: nothing is bound
    uint64_t offset, bytes;         // offset a multiple of taper_gpu.align, but of copies
} taper_gpu_range;

typedef struct taper_gpu_shader {
    const void *code; // as the interface has it: SPIR-V, or Metal's language
    size_t bytes;
    uint32_t kernel; // which it is of (gpu_kernels.h)
    bool texels;     // reads texel buffers
} taper_gpu_shader;

// A compiled shader as it lies in the library: deflated. Zeroed: there is none.
typedef struct taper_gpu_packed {
    const unsigned char *data;
    uint32_t packed, bytes;
    bool planes; // words of four bytes: all first bytes are in front, then all second ones, and so on
} taper_gpu_packed;

typedef struct taper_gpu_dispatch {
    taper_gpu_pipeline *pipeline;
    taper_gpu_range ranges[TAPER_GPU_BINDINGS];
    taper_gpu_range parameters;
    uint32_t groups[3];
    bool half;    // texel buffers are of half precision
    bool barrier; // what was recorded before is done and seen first
} taper_gpu_dispatch;

// An open device. The interface's struct begins with it.
struct taper_gpu {
    const taper_gpu_api *api;
    const taper_allocator *allocator;
    char name[256];
    uint32_t vendor, device, driver; // numbers of PCI, and of the driver's version
    uint8_t build[16];               // of the driver, if it says: what it compiled is for this one
    bool is_cpu;                     // a driver that computes on the CPU
    bool discrete;                   // its memory is its own
    bool has_texels;                 // texel buffers of four floats, and of four halves
    uint64_t most_texels;            // elements of one
    uint64_t most_bytes;             // of a storage buffer
    uint64_t align;                  // of every range
    uint32_t most_threads;           // of a workgroup
    uint32_t most_groups[3];         // of a dispatch
    uint32_t shared_bytes;           // of a workgroup
    uint32_t lanes;                  // threads of a subgroup, which take each other's numbers; 0: they cannot
    double tick;                     // seconds of a timestamp's tick; 0: there are none
    atomic_int troubled;             // of taper_gpu_note
    char trouble[160];               // the same
};

// What failed, for taper_gpu_trouble. What was noted first stays: it is what a device is lost for. Any thread at any
// time.
void taper_gpu_note(taper_gpu *gpu, const char *format, ...) TAPER_PRINTF(2, 3);
const char *taper_gpu_trouble(const taper_gpu *gpu); // valid as long as the device

// Whatever returns a status: TAPER_DEVICE_LOST (ir/tensor.h) when a call failed, which it notes, and
// TAPER_ERROR_RESOURCE when there is no memory of ours. One thread at a time uses a device, but for buffer_new and
// buffer_free, pipeline_new and pipeline_free of others: those may run beside.
struct taper_gpu_api {
    const char *name; // "vulkan"
    // Two of each kernel (gpu_kernels.h): reading storage buffers, reading texel buffers.
    const taper_gpu_packed *shaders;
    // The device of that number, or whose name has `called` in it; a driver that computes on the CPU is taken only
    // where one of these says so, or where `software` allows it. On failure *why is a static text.
    taper_status (*open)(const taper_allocator *allocator, unsigned index, const char *called, bool software,
                         taper_gpu **gpu, const char **why);
    void (*close)(taper_gpu *gpu);
    taper_status (*buffer_new)(taper_gpu *gpu, uint64_t bytes, taper_gpu_use use, taper_gpu_buffer *buffer);
    void (*buffer_free)(taper_gpu *gpu, taper_gpu_buffer *buffer); // zeroed: none
    // The host has written, or will read, all of a mapped buffer that is not coherent.
    taper_status (*flush)(taper_gpu *gpu, const taper_gpu_buffer *buffer);
    taper_status (*invalidate)(taper_gpu *gpu, const taper_gpu_buffer *buffer);
    // From ranges of buffers to as many others, none of which has bytes of another one; before what is submitted next
    // and behind what was; waits.
    taper_status (*copy)(taper_gpu *gpu, const taper_gpu_range *from, const taper_gpu_range *to, size_t count);
    // constants[i] is that of constant_id i.
    taper_status (*pipeline_new)(taper_gpu *gpu, const taper_gpu_shader *shader, const uint32_t *constants,
                                 uint32_t constant_count, taper_gpu_pipeline **pipeline);
    void (*pipeline_free)(taper_gpu *gpu, taper_gpu_pipeline *pipeline);
    // What the driver compiled so far, for a later process that gives it back before its first pipeline. NULL: there is
    // no such thing. compiled: *bytes is the room in data, then what was written, or, with data NULL, what there is.
    // TAPER_DECLINED: the driver would not, which is no trouble.
    taper_status (*take_compiled)(taper_gpu *gpu, const void *data, size_t bytes);
    taper_status (*compiled)(taper_gpu *gpu, void *data, size_t *bytes);
    taper_status (*record)(taper_gpu *gpu, const taper_gpu_dispatch *dispatches, size_t count, bool timed,
                           taper_gpu_recorded **recorded);
    // Submits it and waits. seconds: of each dispatch, where it was recorded `timed`; NULL: nobody asks.
    taper_status (*run)(taper_gpu *gpu, taper_gpu_recorded *recorded, double *seconds);
    void (*recorded_free)(taper_gpu *gpu, taper_gpu_recorded *recorded);
};

extern const taper_gpu_api taper_gpu_vulkan, taper_gpu_metal;

#endif
