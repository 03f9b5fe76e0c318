// SPDX-License-Identifier: BSD-2-Clause
// Vulkan devices: the choice of a device, its properties, and the table of the interface. Vulkan 1.0 is sufficient.
// Version 1.1 is requested only to ask if threads of a subgroup can exchange values.
#include "backends/gpu/vulkan/vulkan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/gpu/gpu_kernels.h"
#include "backends/gpu/gpu_options.h"
#include "base/checked.h"
#include "ir/tensor_def.h"

enum { MOST_DEVICES = 16, MOST_FAMILIES = 32 };

// ---- choosing a device

static uint64_t gcd(uint64_t a, uint64_t b)
{
    return b == 0 ? a : gcd(b, a % b);
}

static uint64_t both(uint64_t a, uint64_t b) // returns the least common multiple; Vulkan's limits are powers of two
{
    return a == 0 || b == 0 ? a + b : a / gcd(a, b) * b;
}

static void read_limits(taper_vulkan *v, const VkPhysicalDeviceProperties *p)
{
    taper_gpu *gpu = &v->gpu;
    const VkPhysicalDeviceLimits *limits = &p->limits;
    VkFormatProperties format, half;
    v->call.GetPhysicalDeviceFormatProperties(v->physical, VK_FORMAT_R32G32B32A32_SFLOAT, &format);
    v->call.GetPhysicalDeviceFormatProperties(v->physical, VK_FORMAT_R16G16B16A16_SFLOAT, &half);
    snprintf(gpu->name, sizeof gpu->name, "%s", p->deviceName);
    gpu->vendor = p->vendorID;
    gpu->device = p->deviceID;
    gpu->driver = p->driverVersion;
    memcpy(gpu->build, p->pipelineCacheUUID, sizeof gpu->build);
    gpu->is_cpu = p->deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
    gpu->discrete = p->deviceType == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU;
    gpu->has_texels = (format.bufferFeatures & half.bufferFeatures & VK_FORMAT_FEATURE_UNIFORM_TEXEL_BUFFER_BIT) != 0;
    gpu->most_texels = limits->maxTexelBufferElements;
    gpu->most_bytes = limits->maxStorageBufferRange;
    gpu->align = both(both(limits->minStorageBufferOffsetAlignment, limits->minTexelBufferOffsetAlignment),
                      both(limits->minUniformBufferOffsetAlignment, 64));
    gpu->most_threads = limits->maxComputeWorkGroupInvocations;
    memcpy(gpu->most_groups, limits->maxComputeWorkGroupCount, sizeof gpu->most_groups);
    gpu->shared_bytes = limits->maxComputeSharedMemorySize;
    v->atom = limits->nonCoherentAtomSize;
    gpu->tick = (double)limits->timestampPeriod * 1e-9;
}

static uint32_t read_lanes(const taper_vulkan *v, const VkPhysicalDeviceProperties *p)
{
    VkPhysicalDeviceSubgroupProperties groups = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceProperties2 all = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &groups};
    const PFN_vkGetPhysicalDeviceProperties2 get =
        (PFN_vkGetPhysicalDeviceProperties2)v->call.GetInstanceProcAddr(v->instance, "vkGetPhysicalDeviceProperties2");
    if (v->version < VK_API_VERSION_1_1 || p->apiVersion < VK_API_VERSION_1_1 || get == NULL) {
        return 0;
    }
    get(v->physical, &all);
    return (groups.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) != 0 &&
                   (groups.supportedOperations & VK_SUBGROUP_FEATURE_SHUFFLE_BIT) != 0
               ? groups.subgroupSize
               : 0;
}

// Prefers hardware to a driver that computes on the CPU, and a device with its own memory to one with shared memory.
static int rank_of(VkPhysicalDeviceType type)
{
    return type == VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU     ? 0
           : type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU ? 1
           : type == VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU    ? 2
           : type == VK_PHYSICAL_DEVICE_TYPE_OTHER          ? 3
                                                            : 4;
}

static const char *choose(taper_vulkan *v, unsigned index, const char *called, bool software)
{
    VkPhysicalDevice devices[MOST_DEVICES];
    VkPhysicalDeviceProperties properties[MOST_DEVICES];
    uint32_t count = MOST_DEVICES;
    const VkResult result = v->call.EnumeratePhysicalDevices(v->instance, &count, devices);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE) {
        return "Vulkan's devices cannot be listed";
    }
    for (uint32_t i = 0; i < count; i++) {
        v->call.GetPhysicalDeviceProperties(devices[i], &properties[i]);
    }
    unsigned seen = 0;
    for (int rank = 0; rank <= 4; rank++) {
        for (uint32_t i = 0; i < count; i++) {
            if (rank_of(properties[i].deviceType) != rank ||
                (called != NULL && !taper_gpu_is_called(properties[i].deviceName, called))) {
                continue;
            }
            if (rank == 4 && called == NULL && index == 0 && !software) {
                return "only a driver that computes on the CPU is there; name it to have it";
            }
            if (seen++ == (called != NULL ? 0 : index)) {
                v->physical = devices[i];
                read_limits(v, &properties[i]);
                v->gpu.lanes = read_lanes(v, &properties[i]);
                return NULL;
            }
        }
    }
    return called != NULL ? "Vulkan has no device of that name" : "Vulkan has no such device";
}

static const char *choose_family(taper_vulkan *v)
{
    VkQueueFamilyProperties families[MOST_FAMILIES];
    uint32_t count = MOST_FAMILIES;
    v->call.GetPhysicalDeviceQueueFamilyProperties(v->physical, &count, families);
    v->family = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) { // prefers the family of the graphics queue, which drivers test most
        if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) != 0 && families[i].queueCount != 0 &&
            v->family == UINT32_MAX) {
            v->family = i;
            v->tick_mask =
                families[i].timestampValidBits >= 64 ? UINT64_MAX : (UINT64_C(1) << families[i].timestampValidBits) - 1;
        }
    }
    v->gpu.tick = v->tick_mask == 0 ? 0 : v->gpu.tick;
    return v->family == UINT32_MAX ? "the Vulkan device computes nothing" : NULL;
}

// ---- opening the device

static bool instance_has(const taper_vulkan *v, const char *extension)
{
    VkExtensionProperties properties[64];
    uint32_t count = 64;
    v->call.EnumerateInstanceExtensionProperties(NULL, &count, properties);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(properties[i].extensionName, extension) == 0) {
            return true;
        }
    }
    return false;
}

// This extension must be requested, otherwise a layered implementation (MoltenVK) is not listed.
#define PORTABILITY "VK_KHR_portability_enumeration"
enum { ENUMERATES_PORTABILITY = 1 };

static const char *make_instance(taper_vulkan *v)
{
    static const char *const portability[] = {PORTABILITY};
    const bool portable = instance_has(v, PORTABILITY);
    const PFN_vkEnumerateInstanceVersion get_version =
        (PFN_vkEnumerateInstanceVersion)v->call.GetInstanceProcAddr(VK_NULL_HANDLE, "vkEnumerateInstanceVersion");
    // Vulkan 1.0 lacks vkEnumerateInstanceVersion, and refuses applications that request a later version.
    const bool newer =
        get_version != NULL && get_version(&v->version) == VK_SUCCESS && v->version >= VK_API_VERSION_1_1;
    v->version = newer ? VK_API_VERSION_1_1 : VK_API_VERSION_1_0;
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .pEngineName = "taper", .apiVersion = v->version};
    const VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
                                       .flags = portable ? ENUMERATES_PORTABILITY : 0,
                                       .pApplicationInfo = &application,
                                       .enabledExtensionCount = portable,
                                       .ppEnabledExtensionNames = portability};
    if (v->call.CreateInstance(&info, NULL, &v->instance) != VK_SUCCESS) {
        v->instance = VK_NULL_HANDLE;
        return "Vulkan cannot be started (vkCreateInstance)";
    }
    return taper_vulkan_load_instance(v);
}

static bool device_has(const taper_vulkan *v, const char *extension)
{
    uint32_t count = 0;
    bool has = false;
    if (v->call.EnumerateDeviceExtensionProperties(v->physical, NULL, &count, NULL) != VK_SUCCESS || count == 0) {
        return false;
    }
    VkExtensionProperties *properties = taper_alloc(v->gpu.allocator, count * sizeof *properties);
    const size_t bytes = count * sizeof *properties;
    if (properties == NULL) {
        return false;
    }
    v->call.EnumerateDeviceExtensionProperties(v->physical, NULL, &count, properties);
    for (uint32_t i = 0; i < count && !has; i++) {
        has = strcmp(properties[i].extensionName, extension) == 0;
    }
    taper_free(v->gpu.allocator, properties, bytes);
    return has;
}

static const char *make_device(taper_vulkan *v)
{
    static const char *const subset[] = {"VK_KHR_portability_subset"};
    const float priority = 1;
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = v->family,
                                           .queueCount = 1,
                                           .pQueuePriorities = &priority};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     // The extension in `subset` must be enabled if the device has it.
                                     .enabledExtensionCount = device_has(v, subset[0]),
                                     .ppEnabledExtensionNames = subset};
    if (v->call.CreateDevice(v->physical, &info, NULL, &v->device) != VK_SUCCESS) {
        v->device = VK_NULL_HANDLE;
        return "the Vulkan device cannot be opened (vkCreateDevice)";
    }
    const char *why = taper_vulkan_load_device(v);
    if (why == NULL) {
        v->call.GetDeviceQueue(v->device, v->family, 0, &v->queue);
        v->call.GetPhysicalDeviceMemoryProperties(v->physical, &v->memory);
    }
    return why;
}

static void close(taper_gpu *gpu)
{
    taper_vulkan *v = (taper_vulkan *)gpu;
    if (v->device != VK_NULL_HANDLE && v->call.DestroyDevice != NULL) {
        if (v->call.DeviceWaitIdle != NULL) {
            (void)v->call.DeviceWaitIdle(v->device);
        }
        taper_vulkan_free_copies(v);
        taper_vulkan_free_layouts(v);
        v->call.DestroyDevice(v->device, NULL);
    }
    if (v->instance != VK_NULL_HANDLE && v->call.DestroyInstance != NULL) {
        v->call.DestroyInstance(v->instance, NULL);
    }
    if (v->library != NULL) {
        taper_library_close(v->library);
    }
    taper_free(gpu->allocator, v, sizeof *v);
}

static const char *open_all(taper_vulkan *v, unsigned index, const char *called, bool software)
{
    const char *why = taper_vulkan_load(v);
    why = why != NULL ? why : make_instance(v);
    why = why != NULL ? why : choose(v, index, called, software);
    why = why != NULL ? why : choose_family(v);
    why = why != NULL ? why : make_device(v);
    return why != NULL || taper_vulkan_make_layouts(v) == TAPER_OK ? why : "the Vulkan device has no room for layouts";
}

static taper_status open(const taper_allocator *allocator, unsigned index, const char *called, bool software,
                         taper_gpu **gpu, const char **why)
{
    taper_vulkan *v = taper_alloc_zeroed(allocator, sizeof *v);
    if (v == NULL) {
        return TAPER_ERROR_RESOURCE;
    }
    v->gpu.api = &taper_gpu_vulkan;
    v->gpu.allocator = allocator;
    *why = open_all(v, index, called, software);
    if (*why != NULL) {
        close(&v->gpu);
        return TAPER_DEVICE_LOST;
    }
    *gpu = &v->gpu;
    return TAPER_OK;
}

const taper_gpu_api taper_gpu_vulkan = {.name = "vulkan",
                                        .shaders = taper_gpu_vulkan_shaders,
                                        .open = open,
                                        .close = close,
                                        .buffer_new = taper_vulkan_buffer_new,
                                        .buffer_free = taper_vulkan_buffer_free,
                                        .flush = taper_vulkan_flush,
                                        .invalidate = taper_vulkan_invalidate,
                                        .copy = taper_vulkan_copy,
                                        .pipeline_new = taper_vulkan_pipeline_new,
                                        .pipeline_free = taper_vulkan_pipeline_free,
                                        .take_compiled = taper_vulkan_take_compiled,
                                        .compiled = taper_vulkan_compiled,
                                        .record = taper_vulkan_record,
                                        .run = taper_vulkan_run,
                                        .recorded_free = taper_vulkan_recorded_free};
