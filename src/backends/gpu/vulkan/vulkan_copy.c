// SPDX-License-Identifier: BSD-2-Clause
// Copies between buffers on the device.
#include "backends/gpu/vulkan/vulkan.h"

// Makes the command pool, the command buffer and the fence for all copies, because only one copy is in progress at a
// time.
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
    // The copy sees writes of shaders and copies in earlier submissions. Later submissions and the host see the copy.
    const VkMemoryBarrier sees = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                  .srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT,
                                  .dstAccessMask = VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT};
    const VkMemoryBarrier seen = {.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER,
                                  .srcAccessMask = VK_ACCESS_TRANSFER_WRITE_BIT,
                                  .dstAccessMask = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_HOST_READ_BIT};
    TAPER_TRY(make_copies(v));
    TAPER_TRY(TAPER_VULKAN(v, BeginCommandBuffer, v->copies, &begin)); // beginning a command buffer also resets it
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
