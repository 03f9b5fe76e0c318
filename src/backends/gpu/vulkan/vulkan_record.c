// SPDX-License-Identifier: BSD-2-Clause
// Recordings: dispatches become a command buffer once, and every run submits it.
#include <string.h>

#include "backends/gpu/vulkan/vulkan.h"
#include "ir/tensor_def.h"

struct taper_gpu_recorded {
    VkCommandPool commands_pool;
    VkCommandBuffer commands;
    VkDescriptorPool sets_pool;
    VkFence fence;
    VkQueryPool times; // query pool with two timestamps for each dispatch
    size_t count, view_count, view_room;
    VkBufferView *views;
    uint64_t *ticks; // memory to which timestamps are read
};

// Waits have no time limit, because objects that a driver still uses must not be freed, and because the driver itself
// reports a lost device.
static const uint64_t most_nanoseconds = UINT64_MAX;

// ---- descriptors

static taper_status make_pool(taper_vulkan *v, const taper_gpu_dispatch *dispatches, size_t count,
                              taper_gpu_recorded *r)
{
    uint32_t texels = 0, all = (uint32_t)count;
    for (size_t i = 0; i < count; i++) {
        texels += dispatches[i].pipeline->texels;
    }
    const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, all},
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, all * TAPER_GPU_BINDINGS},
        {VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER, texels * TAPER_GPU_READS + 1},
    };
    const VkDescriptorPoolCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = all,
                                             .poolSizeCount = sizeof sizes / sizeof *sizes,
                                             .pPoolSizes = sizes};
    TAPER_TRY(TAPER_VULKAN(v, CreateDescriptorPool, v->device, &info, NULL, &r->sets_pool));
    r->view_room = (size_t)texels * TAPER_GPU_READS;
    r->views = taper_alloc_zeroed(v->gpu.allocator, (r->view_room + 1) * sizeof *r->views);
    return r->views != NULL ? TAPER_OK : TAPER_ERROR_RESOURCE;
}

static taper_status make_view(taper_vulkan *v, taper_gpu_recorded *r, const taper_gpu_range *range, bool half,
                              VkBufferView *view)
{
    const uint64_t all = range->bytes / (half ? 8 : 16) + TAPER_VULKAN_VIEW_MORE / 8;
    const bool longer = v->gpu.is_cpu && (range->bytes & 0xff00) == 0 && all <= v->gpu.most_texels;
    const VkBufferViewCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
                                         .buffer = taper_vulkan_buffer(range->buffer),
                                         .format = half ? VK_FORMAT_R16G16B16A16_SFLOAT : VK_FORMAT_R32G32B32A32_SFLOAT,
                                         .offset = range->offset,
                                         .range = range->bytes + (longer ? TAPER_VULKAN_VIEW_MORE : 0)};
    TAPER_TRY(TAPER_VULKAN(v, CreateBufferView, v->device, &info, NULL, view));
    r->views[r->view_count++] = *view;
    return TAPER_OK;
}

// Unused bindings get the buffer that the shader writes, because every binding must be valid.
static taper_status write_set(taper_vulkan *v, taper_gpu_recorded *r, const taper_gpu_dispatch *d, VkDescriptorSet set)
{
    VkDescriptorBufferInfo buffers[TAPER_GPU_BINDINGS + 1];
    VkBufferView views[TAPER_GPU_BINDINGS];
    VkWriteDescriptorSet writes[TAPER_GPU_BINDINGS + 1];
    const bool texels = d->pipeline->texels;
    for (uint32_t i = 0; i <= TAPER_GPU_BINDINGS; i++) {
        const taper_gpu_range *range = i == TAPER_GPU_BINDINGS                 ? &d->parameters
                                       : d->ranges[i].buffer != NULL           ? &d->ranges[i]
                                       : texels && d->ranges[1].buffer != NULL ? &d->ranges[1]
                                                                               : &d->ranges[0];
        const bool texel = texels && i != 0 && i != TAPER_GPU_BINDINGS;
        buffers[i] = (VkDescriptorBufferInfo){taper_vulkan_buffer(range->buffer), range->offset, range->bytes};
        if (texel) {
            TAPER_TRY(make_view(v, r, range, d->half, &views[i]));
        }
        writes[i] = (VkWriteDescriptorSet){.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                           .dstSet = set,
                                           .dstBinding = i,
                                           .descriptorCount = 1,
                                           .descriptorType = i == TAPER_GPU_BINDINGS ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
                                                             : texel ? VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER
                                                                     : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                           .pBufferInfo = texel ? NULL : &buffers[i],
                                           .pTexelBufferView = texel ? &views[i] : NULL};
    }
    v->call.UpdateDescriptorSets(v->device, TAPER_GPU_BINDINGS + 1, writes, 0, NULL);
    return TAPER_OK;
}

// ---- recording commands

static void order(const taper_vulkan *v, VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags wrote,
                  VkPipelineStageFlags to, VkAccessFlags will)
{
    const VkMemoryBarrier barrier = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER, .srcAccessMask = wrote, .dstAccessMask = will};
    v->call.CmdPipelineBarrier(commands, from, to, 0, 1, &barrier, 0, NULL, 0, NULL);
}

static taper_status write_commands(taper_vulkan *v, const taper_gpu_dispatch *dispatches, size_t count,
                                   taper_gpu_recorded *r)
{
    enum { COMPUTE = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT, HOST = VK_PIPELINE_STAGE_HOST_BIT };
    enum { READ = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_UNIFORM_READ_BIT, WRITE = VK_ACCESS_SHADER_WRITE_BIT };
    const VkCommandBufferBeginInfo begin = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
    taper_gpu_pipeline *bound = NULL;
    TAPER_TRY(TAPER_VULKAN(v, BeginCommandBuffer, r->commands, &begin));
    if (r->times != VK_NULL_HANDLE) {
        v->call.CmdResetQueryPool(r->commands, r->times, 0, (uint32_t)(2 * count));
    }
    // The first dispatch also waits for earlier recordings, which may use the same memory.
    order(v, r->commands, COMPUTE | HOST, WRITE | VK_ACCESS_HOST_WRITE_BIT, COMPUTE, READ | WRITE);
    for (size_t i = 0; i < count; i++) {
        const taper_gpu_dispatch *d = &dispatches[i];
        const VkDescriptorSetAllocateInfo wants = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
                                                   .descriptorPool = r->sets_pool,
                                                   .descriptorSetCount = 1,
                                                   .pSetLayouts = &v->set_layouts[d->pipeline->texels]};
        VkDescriptorSet set;
        TAPER_TRY(TAPER_VULKAN(v, AllocateDescriptorSets, v->device, &wants, &set));
        TAPER_TRY(write_set(v, r, d, set));
        if (d->barrier && i != 0) {
            order(v, r->commands, COMPUTE, WRITE, COMPUTE, READ | WRITE);
        }
        if (d->pipeline != bound) {
            v->call.CmdBindPipeline(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, d->pipeline->handle);
            bound = d->pipeline;
        }
        v->call.CmdBindDescriptorSets(r->commands, VK_PIPELINE_BIND_POINT_COMPUTE, v->layouts[d->pipeline->texels], 0,
                                      1, &set, 0, NULL);
        if (r->times != VK_NULL_HANDLE) {
            v->call.CmdWriteTimestamp(r->commands, VK_PIPELINE_STAGE_TOP_OF_PIPE_BIT, r->times, (uint32_t)(2 * i));
        }
        v->call.CmdDispatch(r->commands, d->groups[0], d->groups[1], d->groups[2]);
        if (r->times != VK_NULL_HANDLE) {
            v->call.CmdWriteTimestamp(r->commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, r->times,
                                      (uint32_t)(2 * i + 1));
        }
    }
    order(v, r->commands, COMPUTE, WRITE, HOST, VK_ACCESS_HOST_READ_BIT);
    return TAPER_VULKAN(v, EndCommandBuffer, r->commands);
}

static taper_status make(taper_vulkan *v, const taper_gpu_dispatch *dispatches, size_t count, bool timed,
                         taper_gpu_recorded *r)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = v->family};
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    const VkQueryPoolCreateInfo times = {.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
                                         .queryType = VK_QUERY_TYPE_TIMESTAMP,
                                         .queryCount = (uint32_t)(2 * count)};
    r->count = count;
    TAPER_TRY(TAPER_VULKAN(v, CreateCommandPool, v->device, &pool, NULL, &r->commands_pool));
    const VkCommandBufferAllocateInfo wants = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                               .commandPool = r->commands_pool,
                                               .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
                                               .commandBufferCount = 1};
    TAPER_TRY(TAPER_VULKAN(v, AllocateCommandBuffers, v->device, &wants, &r->commands));
    TAPER_TRY(TAPER_VULKAN(v, CreateFence, v->device, &fence, NULL, &r->fence));
    if (timed && v->gpu.tick > 0) {
        TAPER_TRY(TAPER_VULKAN(v, CreateQueryPool, v->device, &times, NULL, &r->times));
        r->ticks = taper_alloc_zeroed(v->gpu.allocator, 2 * count * sizeof *r->ticks);
        if (r->ticks == NULL) {
            return TAPER_ERROR_RESOURCE;
        }
    }
    TAPER_TRY(make_pool(v, dispatches, count, r));
    return write_commands(v, dispatches, count, r);
}

taper_status taper_vulkan_record(taper_gpu *gpu, const taper_gpu_dispatch *dispatches, size_t count, bool timed,
                                 taper_gpu_recorded **recorded)
{
    taper_gpu_recorded *r = taper_alloc_zeroed(gpu->allocator, sizeof *r);
    if (r == NULL) {
        return TAPER_ERROR_RESOURCE;
    }
    const taper_status status = make((taper_vulkan *)gpu, dispatches, count, timed, r);
    if (status != TAPER_OK) {
        taper_vulkan_recorded_free(gpu, r);
        return status;
    }
    *recorded = r;
    return TAPER_OK;
}

void taper_vulkan_recorded_free(taper_gpu *gpu, taper_gpu_recorded *r)
{
    const taper_vulkan *v = (const taper_vulkan *)gpu;
    for (size_t i = 0; i < r->view_count; i++) {
        v->call.DestroyBufferView(v->device, r->views[i], NULL);
    }
    if (r->views != NULL) {
        taper_free(gpu->allocator, r->views, (r->view_room + 1) * sizeof *r->views);
    }
    if (r->times != VK_NULL_HANDLE) {
        v->call.DestroyQueryPool(v->device, r->times, NULL);
    }
    if (r->ticks != NULL) {
        taper_free(gpu->allocator, r->ticks, 2 * r->count * sizeof *r->ticks);
    }
    if (r->sets_pool != VK_NULL_HANDLE) {
        v->call.DestroyDescriptorPool(v->device, r->sets_pool, NULL);
    }
    if (r->fence != VK_NULL_HANDLE) {
        v->call.DestroyFence(v->device, r->fence, NULL);
    }
    if (r->commands_pool != VK_NULL_HANDLE) {
        v->call.DestroyCommandPool(v->device, r->commands_pool, NULL);
    }
    taper_free(gpu->allocator, r, sizeof *r);
}

// ---- running recorded commands

taper_status taper_vulkan_submit(taper_vulkan *v, const VkCommandBuffer *commands, VkFence fence)
{
    const VkSubmitInfo info = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO, .commandBufferCount = 1, .pCommandBuffers = commands};
    TAPER_TRY(TAPER_VULKAN(v, QueueSubmit, v->queue, 1, &info, fence));
    return TAPER_VULKAN(v, WaitForFences, v->device, 1, &fence, VK_TRUE, most_nanoseconds);
}

taper_status taper_vulkan_run(taper_gpu *gpu, taper_gpu_recorded *r, double *seconds)
{
    taper_vulkan *v = (taper_vulkan *)gpu;
    TAPER_TRY(TAPER_VULKAN(v, ResetFences, v->device, 1, &r->fence));
    TAPER_TRY(taper_vulkan_submit(v, &r->commands, r->fence));
    if (seconds == NULL || r->times == VK_NULL_HANDLE) {
        return TAPER_OK;
    }
    TAPER_TRY(TAPER_VULKAN(v, GetQueryPoolResults, v->device, r->times, 0, (uint32_t)(2 * r->count),
                           2 * r->count * sizeof *r->ticks, r->ticks, sizeof *r->ticks,
                           VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT));
    for (size_t i = 0; i < r->count; i++) {
        seconds[i] = (double)((r->ticks[2 * i + 1] - r->ticks[2 * i]) & v->tick_mask) * v->gpu.tick;
    }
    return TAPER_OK;
}
