// SPDX-License-Identifier: BSD-2-Clause
// Buffers and their memory, which is permanently mapped for the host if the device permits it.
#include <string.h>

#include "backends/gpu/vulkan/vulkan.h"
#include "ir/tensor_def.h"

static VkDeviceMemory memory_of(const taper_gpu_buffer *buffer)
{
    VkDeviceMemory memory;
    memcpy(&memory, &buffer->handles[1], sizeof memory);
    return memory;
}

enum { WISHES = 5 };

// Chooses a memory type of the set `allowed` that has all flags of wish number *wish. If there is no such type,
// increases *wish and tries again. Returns UINT32_MAX if no wish is left.
static uint32_t choose_type(const taper_vulkan *v, uint32_t allowed, taper_gpu_use use, int *wish)
{
    enum {
        LOCAL = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
        SEEN = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT,
        COHERENT = VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
        CACHED = VK_MEMORY_PROPERTY_HOST_CACHED_BIT
    };
    static const uint32_t wishes[4][WISHES] = {
        [TAPER_GPU_FOR_DEVICE] = {LOCAL | SEEN | COHERENT | CACHED, LOCAL | SEEN | COHERENT, LOCAL | SEEN, LOCAL, 0},
        [TAPER_GPU_FOR_UPLOAD] = {LOCAL | SEEN | COHERENT, SEEN | COHERENT, SEEN, SEEN, SEEN},
        [TAPER_GPU_FOR_PARAMETERS] = {LOCAL | SEEN | COHERENT, SEEN | COHERENT, SEEN, SEEN, SEEN},
        [TAPER_GPU_FOR_DOWNLOAD] = {LOCAL | SEEN | COHERENT | CACHED, SEEN | COHERENT | CACHED, SEEN | CACHED,
                                    SEEN | COHERENT, SEEN}};
    for (; *wish < WISHES; ++*wish) {
        for (uint32_t i = 0; i < v->memory.memoryTypeCount; i++) {
            if ((allowed >> i & 1) != 0 &&
                (v->memory.memoryTypes[i].propertyFlags & wishes[use][*wish]) == wishes[use][*wish]) {
                return i;
            }
        }
    }
    return UINT32_MAX;
}

// Returns the index of the first kind of memory to try. A discrete GPU maps at most a window of its memory for the
// host, which may be small. Weights are therefore copied to memory outside the window. A buffer that would fill much of
// the window, or for which the window has no room, remains in the host's memory.
static int first_wish(const taper_vulkan *v, taper_gpu_use use, uint64_t bytes)
{
    enum { MOST_IN_WINDOW = 16 << 20 };
    if (!v->gpu.discrete || use == TAPER_GPU_FOR_PARAMETERS) {
        return 0;
    }
    return use == TAPER_GPU_FOR_DEVICE ? 3 : use == TAPER_GPU_FOR_UPLOAD && bytes <= MOST_IN_WINDOW ? 0 : 1;
}

static taper_status fill(taper_vulkan *v, taper_gpu_use use, taper_gpu_buffer *b)
{
    const VkBufferUsageFlags usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT |
                                     VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                     (v->gpu.has_texels ? VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT : 0);
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = b->bytes + (v->gpu.is_cpu ? TAPER_VULKAN_BUFFER_MORE : 0),
                                     .usage = usage};
    VkBuffer buffer;
    VkDeviceMemory memory;
    VkMemoryRequirements needs;
    TAPER_TRY(TAPER_VULKAN(v, CreateBuffer, v->device, &info, NULL, &buffer));
    memcpy(&b->handles[0], &buffer, sizeof buffer);
    v->call.GetBufferMemoryRequirements(v->device, buffer, &needs);
    VkMemoryAllocateInfo wants = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO, .allocationSize = needs.size};
    int wish = first_wish(v, use, b->bytes);
    VkResult result = VK_ERROR_FEATURE_NOT_PRESENT;
    while (result != VK_SUCCESS) {
        wants.memoryTypeIndex = choose_type(v, needs.memoryTypeBits, use, &wish);
        if (wants.memoryTypeIndex == UINT32_MAX) {
            return taper_vulkan_check(v, "vkAllocateMemory", result);
        }
        result = v->call.AllocateMemory(v->device, &wants, NULL, &memory);
        if (result != VK_SUCCESS && (use == TAPER_GPU_FOR_DEVICE || !v->gpu.discrete || ++wish >= WISHES)) {
            return taper_vulkan_check(v, "vkAllocateMemory", result);
        }
    }
    memcpy(&b->handles[1], &memory, sizeof memory);
    TAPER_TRY(TAPER_VULKAN(v, BindBufferMemory, v->device, buffer, memory, 0));
    const VkMemoryPropertyFlags flags = v->memory.memoryTypes[wants.memoryTypeIndex].propertyFlags;
    b->coherent = (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) != 0;
    b->cached = (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
    if ((flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) != 0) {
        TAPER_TRY(TAPER_VULKAN(v, MapMemory, v->device, memory, 0, VK_WHOLE_SIZE, 0, &b->data));
    }
    return TAPER_OK;
}

taper_status taper_vulkan_buffer_new(taper_gpu *gpu, uint64_t bytes, taper_gpu_use use, taper_gpu_buffer *buffer)
{
    *buffer = (taper_gpu_buffer){.bytes = bytes};
    const taper_status status = fill((taper_vulkan *)gpu, use, buffer);
    if (status != TAPER_OK) {
        taper_vulkan_buffer_free(gpu, buffer);
    }
    return status;
}

void taper_vulkan_buffer_free(taper_gpu *gpu, taper_gpu_buffer *buffer)
{
    const taper_vulkan *v = (const taper_vulkan *)gpu;
    if (buffer->handles[0] != 0) {
        v->call.DestroyBuffer(v->device, taper_vulkan_buffer(buffer), NULL);
    }
    if (buffer->handles[1] != 0) {
        v->call.FreeMemory(v->device, memory_of(buffer), NULL);
    }
    *buffer = (taper_gpu_buffer){0};
}

static VkMappedMemoryRange all_of(const taper_gpu_buffer *buffer)
{
    return (VkMappedMemoryRange){
        .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE, .memory = memory_of(buffer), .size = VK_WHOLE_SIZE};
}

taper_status taper_vulkan_flush(taper_gpu *gpu, const taper_gpu_buffer *buffer)
{
    taper_vulkan *v = (taper_vulkan *)gpu;
    const VkMappedMemoryRange range = all_of(buffer);
    return buffer->coherent ? TAPER_OK : TAPER_VULKAN(v, FlushMappedMemoryRanges, v->device, 1, &range);
}

taper_status taper_vulkan_invalidate(taper_gpu *gpu, const taper_gpu_buffer *buffer)
{
    taper_vulkan *v = (taper_vulkan *)gpu;
    const VkMappedMemoryRange range = all_of(buffer);
    return buffer->coherent ? TAPER_OK : TAPER_VULKAN(v, InvalidateMappedMemoryRanges, v->device, 1, &range);
}
