// SPDX-License-Identifier: BSD-2-Clause
// Pipelines, and the layout of bindings that they share.
#include "backends/gpu/vulkan/spirv.h"
#include "backends/gpu/vulkan/vulkan.h"
#include "ir/tensor_def.h"
#include "ops/call/call.h"

static taper_status make_layout(taper_vulkan *v, int texels)
{
    VkDescriptorSetLayoutBinding bindings[TAPER_GPU_BINDINGS + 1];
    for (uint32_t i = 0; i <= TAPER_GPU_BINDINGS; i++) {
        const VkDescriptorType type = i == TAPER_GPU_BINDINGS ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
                                      : i != 0 && texels      ? VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER
                                                              : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
        bindings[i] = (VkDescriptorSetLayoutBinding){
            .binding = i, .descriptorType = type, .descriptorCount = 1, .stageFlags = VK_SHADER_STAGE_COMPUTE_BIT};
    }
    const VkDescriptorSetLayoutCreateInfo set = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
                                                 .bindingCount = TAPER_GPU_BINDINGS + 1,
                                                 .pBindings = bindings};
    TAPER_TRY(TAPER_VULKAN(v, CreateDescriptorSetLayout, v->device, &set, NULL, &v->set_layouts[texels]));
    const VkPipelineLayoutCreateInfo layout = {.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &v->set_layouts[texels]};
    return TAPER_VULKAN(v, CreatePipelineLayout, v->device, &layout, NULL, &v->layouts[texels]);
}

taper_status taper_vulkan_make_layouts(taper_vulkan *v)
{
    const VkPipelineCacheCreateInfo cache = {.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
    TAPER_TRY(make_layout(v, 0));
    TAPER_TRY(make_layout(v, 1));
    return TAPER_VULKAN(v, CreatePipelineCache, v->device, &cache, NULL, &v->cache);
}

void taper_vulkan_free_layouts(taper_vulkan *v)
{
    for (int i = 0; i < 2; i++) {
        if (v->layouts[i] != VK_NULL_HANDLE) {
            v->call.DestroyPipelineLayout(v->device, v->layouts[i], NULL);
        }
        if (v->set_layouts[i] != VK_NULL_HANDLE) {
            v->call.DestroyDescriptorSetLayout(v->device, v->set_layouts[i], NULL);
        }
    }
    if (v->cache != VK_NULL_HANDLE) {
        v->call.DestroyPipelineCache(v->device, v->cache, NULL);
    }
}

static taper_status make_pipeline(taper_vulkan *v, VkShaderModule module, const uint32_t *constants, uint32_t count,
                                  taper_gpu_pipeline *pipeline)
{
    VkSpecializationMapEntry entries[TAPER_GPU_CONSTANTS];
    for (uint32_t i = 0; i < count; i++) {
        entries[i] = (VkSpecializationMapEntry){
            .constantID = i, .offset = i * (uint32_t)sizeof *constants, .size = sizeof *constants};
    }
    const VkSpecializationInfo special = {
        .mapEntryCount = count, .pMapEntries = entries, .dataSize = count * sizeof *constants, .pData = constants};
    const VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                              .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                        .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                        .module = module,
                                                        .pName = "main",
                                                        .pSpecializationInfo = count != 0 ? &special : NULL},
                                              .layout = v->layouts[pipeline->texels]};
    TAPER_TRY(TAPER_VULKAN(v, CreateComputePipelines, v->device, v->cache, 1, &info, NULL, &pipeline->handle));
    // Adreno's drivers sometimes return success without a pipeline.
    return pipeline->handle != VK_NULL_HANDLE
               ? TAPER_OK
               : taper_vulkan_check(v, "vkCreateComputePipelines", VK_ERROR_INITIALIZATION_FAILED);
}

// Replaces the constants in the shader and removes code that they rule out, as far as this is supported. *code receives
// the words. `room` has space for the words of two shaders. TAPER_DECLINED means that the driver must replace the
// constants.
static taper_status fold(taper_gpu *gpu, const taper_gpu_shader *shader, const uint32_t *constants,
                         uint32_t constant_count, uint32_t *room, VkShaderModuleCreateInfo *code)
{
    uint32_t *cut = room + shader->bytes / 4;
    size_t words = 0, cut_words = 0;
    TAPER_TRY(
        taper_spirv_fold(gpu->allocator, shader->code, shader->bytes / 4, constants, constant_count, room, &words));
    const taper_status status = taper_spirv_cut(gpu->allocator, room, words, cut, &cut_words);
    code->pCode = status == TAPER_OK ? cut : room;
    code->codeSize = (status == TAPER_OK ? cut_words : words) * sizeof *room;
    return status == TAPER_DECLINED ? TAPER_OK : status;
}

taper_status taper_vulkan_pipeline_new(taper_gpu *gpu, const taper_gpu_shader *shader, const uint32_t *constants,
                                       uint32_t constant_count, taper_gpu_pipeline **made)
{
    taper_vulkan *v = (taper_vulkan *)gpu;
    uint32_t *room = taper_alloc(gpu->allocator, 2 * shader->bytes);
    taper_gpu_pipeline *pipeline = taper_alloc_zeroed(gpu->allocator, sizeof *pipeline);
    VkShaderModuleCreateInfo code = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = shader->bytes, .pCode = shader->code};
    taper_status status = TAPER_ERROR_RESOURCE;
    if (room != NULL && pipeline != NULL) {
        status = fold(gpu, shader, constants, constant_count, room, &code);
    }
    const bool folds = status == TAPER_OK;
    if (folds || status == TAPER_DECLINED) {
        VkShaderModule module;
        pipeline->texels = shader->texels;
        status = TAPER_VULKAN(v, CreateShaderModule, v->device, &code, NULL, &module);
        if (status == TAPER_OK) {
            status = make_pipeline(v, module, constants, folds ? 0 : constant_count, pipeline);
            v->call.DestroyShaderModule(v->device, module, NULL);
        }
    }
    taper_free(gpu->allocator, room, 2 * shader->bytes);
    if (pipeline == NULL) {
        return status;
    }
    if (status != TAPER_OK) {
        taper_vulkan_pipeline_free(gpu, pipeline);
        return status;
    }
    *made = pipeline;
    return TAPER_OK;
}

void taper_vulkan_pipeline_free(taper_gpu *gpu, taper_gpu_pipeline *pipeline)
{
    const taper_vulkan *v = (const taper_vulkan *)gpu;
    if (pipeline->handle != VK_NULL_HANDLE) {
        v->call.DestroyPipeline(v->device, pipeline->handle, NULL);
    }
    taper_free(gpu->allocator, pipeline, sizeof *pipeline);
}

// ---- code that the driver compiled

taper_status taper_vulkan_take_compiled(taper_gpu *gpu, const void *data, size_t bytes)
{
    taper_vulkan *v = (taper_vulkan *)gpu;
    const VkPipelineCacheCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO, .initialDataSize = bytes, .pInitialData = data};
    VkPipelineCache cache;
    if (v->call.CreatePipelineCache(v->device, &info, NULL, &cache) != VK_SUCCESS) {
        return TAPER_DECLINED; // the driver compiles the shaders again
    }
    v->call.DestroyPipelineCache(v->device, v->cache, NULL);
    v->cache = cache;
    return TAPER_OK;
}

taper_status taper_vulkan_compiled(taper_gpu *gpu, void *data, size_t *bytes)
{
    taper_vulkan *v = (taper_vulkan *)gpu;
    return v->call.GetPipelineCacheData(v->device, v->cache, bytes, data) == VK_SUCCESS ? TAPER_OK : TAPER_DECLINED;
}
