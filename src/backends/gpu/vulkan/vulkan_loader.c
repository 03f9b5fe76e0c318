// SPDX-License-Identifier: BSD-2-Clause
// Loads Vulkan's functions from the system's loader at run time. Nothing is linked, so a system without Vulkan runs
// models on the CPU. Also reports failed calls.
#include "backends/gpu/vulkan/vulkan.h"

#include "ir/tensor_def.h"

#define LIBRARY_NAMES "libvulkan.so.1", "libvulkan.so", "libvulkan.1.dylib", "libMoltenVK.dylib", "vulkan-1.dll"

const char *taper_vulkan_load(taper_vulkan *v)
{
    static const char *const names[] = {LIBRARY_NAMES};
    for (size_t i = 0; i < sizeof names / sizeof *names && v->library == NULL; i++) {
        v->library = taper_library_open(names[i]);
    }
    if (v->library == NULL) {
        return "there is no Vulkan loader on this system (libvulkan.so.1)";
    }
    v->call.GetInstanceProcAddr = (PFN_vkGetInstanceProcAddr)taper_library_find(v->library, "vkGetInstanceProcAddr");
    if (v->call.GetInstanceProcAddr == NULL) {
        return "Vulkan's loader lacks vkGetInstanceProcAddr";
    }
#define INSTANCE(name)
#define DEVICE(name)
#define GLOBAL(name)                                                                                                   \
    v->call.name = (PFN_vk##name)v->call.GetInstanceProcAddr(VK_NULL_HANDLE, "vk" #name);                              \
    if (v->call.name == NULL) {                                                                                        \
        return "Vulkan's loader lacks vk" #name;                                                                       \
    }
#include "backends/gpu/vulkan/vulkan_functions.inc"
    return NULL;
}

const char *taper_vulkan_load_instance(taper_vulkan *v)
{
#undef INSTANCE
#undef GLOBAL
#define GLOBAL(name)
#define INSTANCE(name)                                                                                                 \
    v->call.name = (PFN_vk##name)v->call.GetInstanceProcAddr(v->instance, "vk" #name);                                 \
    if (v->call.name == NULL) {                                                                                        \
        return "the Vulkan instance lacks vk" #name;                                                                   \
    }
#include "backends/gpu/vulkan/vulkan_functions.inc"
    return NULL;
}

const char *taper_vulkan_load_device(taper_vulkan *v)
{
#undef INSTANCE
#undef DEVICE
#define INSTANCE(name)
#define DEVICE(name)                                                                                                   \
    v->call.name = (PFN_vk##name)v->call.GetDeviceProcAddr(v->device, "vk" #name);                                     \
    if (v->call.name == NULL) {                                                                                        \
        return "the Vulkan device lacks vk" #name;                                                                     \
    }
#include "backends/gpu/vulkan/vulkan_functions.inc"
    return NULL;
}

taper_status taper_vulkan_check(taper_vulkan *v, const char *function, VkResult result)
{
    if (result == VK_SUCCESS) {
        return TAPER_OK;
    }
    const char *what = result == VK_ERROR_DEVICE_LOST             ? "the device was lost"
                       : result == VK_ERROR_OUT_OF_DEVICE_MEMORY  ? "out of the device's memory"
                       : result == VK_ERROR_OUT_OF_HOST_MEMORY    ? "the driver is out of memory"
                       : result == VK_ERROR_INITIALIZATION_FAILED ? "initialization failed"
                       : result == VK_TIMEOUT                     ? "it took too long"
                                                                  : "";
    taper_gpu_note(&v->gpu, "%s: %s (%d)", function, what, (int)result);
    return TAPER_DEVICE_LOST;
}
