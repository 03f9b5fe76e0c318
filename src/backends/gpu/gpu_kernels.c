// SPDX-License-Identifier: BSD-2-Clause
// The shaders: see gpu_kernels.h. The library contains them deflated.
#include "backends/gpu/gpu_kernels.h"

#include "base/hash.h"
#include "base/inflate.h"

static void join_planes(const unsigned char *planes, size_t words, unsigned char *to)
{
    for (size_t i = 0; i < words; i++) {
        for (size_t plane = 0; plane < 4; plane++) {
            to[4 * i + plane] = planes[plane * words + i];
        }
    }
}

taper_status taper_gpu_shader_load(const taper_allocator *allocator, const taper_gpu_packed *shaders,
                                   taper_gpu_kernel kernel, bool texels, taper_gpu_shader *shader)
{
    texels = texels && shaders[2 * kernel + 1].bytes != 0;
    const taper_gpu_packed *packed = &shaders[2 * (size_t)kernel + texels];
    const size_t bytes = packed->bytes;
    unsigned char *code = taper_alloc(allocator, bytes), *planes = NULL;
    *shader = (taper_gpu_shader){.code = code, .bytes = bytes, .kernel = kernel, .texels = texels};
    taper_status status = code != NULL ? TAPER_OK : TAPER_ERROR_RESOURCE;
    if (status == TAPER_OK && packed->planes) {
        planes = taper_alloc(allocator, bytes);
        status = planes != NULL ? TAPER_OK : TAPER_ERROR_RESOURCE;
    }
    if (status == TAPER_OK) { // inflating fails only if memory is missing
        unsigned char *const to = planes != NULL ? planes : code;
        status = taper_inflate(allocator, packed->data, packed->packed, to, bytes);
    }
    if (status == TAPER_OK && planes != NULL) {
        join_planes(planes, bytes / 4, code);
    }
    if (planes != NULL) {
        taper_free(allocator, planes, bytes);
    }
    if (status != TAPER_OK) {
        if (code != NULL) {
            taper_gpu_shader_free(allocator, shader);
        }
        return TAPER_ERROR_RESOURCE;
    }
    return TAPER_OK;
}

void taper_gpu_shader_free(const taper_allocator *allocator, taper_gpu_shader *shader)
{
    taper_free(allocator, (void *)(uintptr_t)shader->code, shader->bytes);
    shader->code = NULL;
}

// Change this number whenever the processing of shaders before the driver gets them (vulkan/spirv.c, spirv_cut.c)
// changes, because verdicts are about the processed shaders.
static const uint64_t version = 2;

uint64_t taper_gpu_shaders_hash(const taper_gpu_packed *shaders)
{
    uint64_t hash = version;
    for (size_t i = 0; i < 2 * (size_t)TAPER_GPU_KERNEL_COUNT; i++) {
        if (shaders[i].packed != 0) {
            hash = taper_hash(hash, shaders[i].data, shaders[i].packed);
        }
    }
    return hash;
}

const char *taper_gpu_kernel_name(taper_gpu_kernel kernel)
{
    static const char *const names[] = {
#define KERNEL(id, source, defines) #id,
#include "backends/gpu/gpu_kernels.inc"
#undef KERNEL
    };
    return names[kernel];
}
