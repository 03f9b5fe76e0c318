// SPDX-License-Identifier: BSD-2-Clause
// Buffers and the memory under them, which the host sees all the time where the device lets it.
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

// Flags in the order in which they are wished for, from *wish on; what is needed comes first.
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

// A discrete GPU shows the host a window of its memory, if any, which may be small: weights are copied there, and what
// would take much of the window, or finds it full, stays with the host.
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

// Of all copies: one at a time is under way.
static taper_status make_copies(taper_vulkan *v)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
                                          .queueFamilyIndex = v->family};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    if (v->copies_pool == VK_NULL_HANDLE) {
        TAPER_TRY(TAPER_VULKAN(v, CreateCommandPool, v->device, &pool, NULL, &v->copies_pool));
    }
    if (v->copies == VK_NULL_HANDLE) {
        const VkCommandBufferAllocateInfo wants = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                                   .commandPool = v->copies_pool,
                                                   .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                                   .commandBufferCount = 1};
        TAPER_TRY(TAPER_VULKAN(v, AllocateCommandBuffers, v->device, &wants, &v->copies));
    }
    return v->copied == VK_NULL_HANDLE ? TAPER_VULKAN(v, CreateFence, v->device, &fence, NULL, &v->copied)
                                       : TAPER_VULKAN(v, ResetFences, v->device, 1, &v->copied);
}

void taper_vulkan_free_copies(taper_vulkan *v)
{
    if (v->copied != VK_NULL_HANDLE) {
        v->call.DestroyFence(v->device, v->copied, NULL);
    }
    if (v->copies_pool != VK_NULL_HANDLE) {
        v->call.DestroyCommandPool(v->device, v->copies_pool, NULL);
    }
}

taper_status taper_vulkan_copy(taper_gpu *gpu, const taper_gpu_range *from, const taper_gpu_range *to, size_t count)
{
    taper_vulkan *v = (taper_vulkan *)gpu;
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                            .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT};
    enum { SHADERS = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, COPIES = VK_PIPELINE_STAGE_TRANSFER_BIT };
    // It sees what shaders and copies did in earlier submissions; they see it in later ones, and so does the host.
    const VkMemoryBarrier sees = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                  .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                                  .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
    const VkMemoryBarrier seen = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                  .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                  .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_HOST_READ_BIT};
    TAPER_TRY(make_copies(v));
    TAPER_TRY(TAPER_VULKAN(v, BeginCommandBuffer, v->copies, &begin)); // which forgets the one before
    v->call.CmdPipelineBarrier(v->copies, SHADERS | COPIES, COPIES, 0, 1, &sees, 0, NULL, 0, NULL);
    for (size_t i = 0; i < count; i++) {
        const VkBufferCopy region = {.srcOffset = from[i].offset, .dstOffset = to[i].offset, .size = from[i].bytes};
        v->call.CmdCopyBuffer(v->copies, taper_vulkan_buffer(from[i].buffer), taper_vulkan_buffer(to[i].buffer), 1,
                              &region);
    }
    v->call.CmdPipelineBarrier(v->copies, COPIES, SHADERS | VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &seen, 0, NULL, 0, NULL);
    TAPER_TRY(TAPER_VULKAN(v, EndCommandBuffer, v->copies));
    return taper_vulkan_submit(v, &v->copies, v->copied);
}
