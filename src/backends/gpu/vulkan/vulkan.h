// SPDX-License-Identifier: BSD-2-Clause
// Declarations shared by the files of the Vulkan interface: the device, the loader's functions, the report of failed
// calls.
#ifndef TAPER_BACKENDS_VULKAN_H
#define TAPER_BACKENDS_VULKAN_H

#include <string.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan.h>

#include "backends/gpu/gpu_api.h"
#include "platform/dynamic_library.h"
#include "platform/threads.h"

typedef struct taper_vulkan_functions {
    PFN_vkGetInstanceProcAddr GetInstanceProcAddr;
#define GLOBAL(name) PFN_vk##name name;
#define INSTANCE(name) PFN_vk##name name;
#define DEVICE(name) PFN_vk##name name;
#include "backends/gpu/vulkan/vulkan_functions.inc"
#undef GLOBAL
#undef INSTANCE
#undef DEVICE
} taper_vulkan_functions;

typedef struct taper_vulkan {
    taper_gpu gpu; // must be the first member
    taper_library *library;
    taper_vulkan_functions call;
    VkInstance instance;
    uint32_t version; // version of Vulkan that was requested
    VkPhysicalDevice physical;
    VkDevice device;
    VkQueue queue;
    uint32_t family;
    VkPhysicalDeviceMemoryProperties memory;
    VkDeviceSize atom;  // granularity of flushes, in bytes
    uint64_t tick_mask; // mask of the valid bits of a timestamp
    // Layouts for the two kinds of shaders: with storage buffers, with texel buffers.
    VkDescriptorSetLayout set_layouts[2];
    VkPipelineLayout layouts[2];
    VkPipelineCache cache;
    // Command pool for copies; pool, buffer and fence are made at the first copy, which takes milliseconds on some
    // drivers.
    VkCommandPool copies_pool;
    VkCommandBuffer copies;
    VkFence copied;
} taper_vulkan;

// These functions load the functions of the loader, of an instance, and of a device. They return NULL, or the name of a
// missing function.
const char *taper_vulkan_load(taper_vulkan *vulkan);
const char *taper_vulkan_load_instance(taper_vulkan *vulkan);
const char *taper_vulkan_load_device(taper_vulkan *vulkan);

// Returns TAPER_OK, or records the failure and returns TAPER_DEVICE_LOST.
taper_status taper_vulkan_check(taper_vulkan *vulkan, const char *function, VkResult result);
#define TAPER_VULKAN(vulkan, function, ...)                                                                            \
    taper_vulkan_check(vulkan, "vk" #function, (vulkan)->call.function(__VA_ARGS__))

// The functions of vulkan_memory.c. On drivers that compute on the CPU, buffers are slightly longer than requested, and
// views have sizes that are not near a multiple of 64 KB. lavapipe takes bits 8 to 15 of a view's number of bytes as an
// image's number of levels. It compiles a shader again if these bits are 0, or if a buffer's number of bytes is a power
// of two. In the next process, lavapipe's cache does not find these shaders. Longer buffers shorten ResNet50's first
// run from 3.3 s to 2.5 s, and in a second process from 1.5 s to 0.55 s.
enum { TAPER_VULKAN_VIEW_MORE = 256, TAPER_VULKAN_BUFFER_MORE = TAPER_VULKAN_VIEW_MORE + 4 };
taper_status taper_vulkan_buffer_new(taper_gpu *gpu, uint64_t bytes, taper_gpu_use use, taper_gpu_buffer *buffer);
void taper_vulkan_buffer_free(taper_gpu *gpu, taper_gpu_buffer *buffer);
taper_status taper_vulkan_flush(taper_gpu *gpu, const taper_gpu_buffer *buffer);
taper_status taper_vulkan_invalidate(taper_gpu *gpu, const taper_gpu_buffer *buffer);
static inline VkBuffer taper_vulkan_buffer(const taper_gpu_buffer *buffer)
{
    VkBuffer handle;
    memcpy(&handle, &buffer->handles[0], sizeof handle);
    return handle;
}

// The functions of vulkan_copy.c.
taper_status taper_vulkan_copy(taper_gpu *gpu, const taper_gpu_range *from, const taper_gpu_range *to, size_t count);
void taper_vulkan_free_copies(taper_vulkan *vulkan); // frees the objects for copies

// The functions of vulkan_pipeline.c.
taper_status taper_vulkan_make_layouts(taper_vulkan *vulkan);
void taper_vulkan_free_layouts(taper_vulkan *vulkan);
taper_status taper_vulkan_pipeline_new(taper_gpu *gpu, const taper_gpu_shader *shader, const uint32_t *constants,
                                       uint32_t constant_count, taper_gpu_pipeline **pipeline);
void taper_vulkan_pipeline_free(taper_gpu *gpu, taper_gpu_pipeline *pipeline);
taper_status taper_vulkan_take_compiled(taper_gpu *gpu, const void *data, size_t bytes);
taper_status taper_vulkan_compiled(taper_gpu *gpu, void *data, size_t *bytes);
struct taper_gpu_pipeline {
    VkPipeline handle;
    bool texels;
};

// The functions of vulkan_record.c.
taper_status taper_vulkan_record(taper_gpu *gpu, const taper_gpu_dispatch *dispatches, size_t count, bool timed,
                                 taper_gpu_recorded **recorded);
taper_status taper_vulkan_run(taper_gpu *gpu, taper_gpu_recorded *recorded, double *seconds);
void taper_vulkan_recorded_free(taper_gpu *gpu, taper_gpu_recorded *recorded);
// Submits the command buffer and waits for the fence.
taper_status taper_vulkan_submit(taper_vulkan *vulkan, const VkCommandBuffer *commands, VkFence fence);

#endif
