// SPDX-License-Identifier: BSD-2-Clause
// The shaders: see gpu_kernels.h. They lie deflated in the library.
#include "backends/gpu/gpu_kernels.h"

#include "base/hash.h"
#include "base/inflate.h"

taper_status taper_gpu_shader_load(const taper_allocator *allocator, const taper_gpu_packed *shaders,
                                   taper_gpu_kernel kernel, bool texels, taper_gpu_shader *shader)
{
    texels = texels && shaders[2 * kernel + 1].bytes != 0;
    const taper_gpu_packed *packed = &shaders[2 * (size_t)kernel + texels];
    const size_t bytes = packed->bytes;
    void *code = taper_alloc(allocator, bytes);
    if (code == NULL) {
        return TAPER_ERROR_RESOURCE;
    }
    *shader = (taper_gpu_shader){.code = code, .bytes = bytes, .kernel = kernel, .texels = texels};
    if (taper_inflate(allocator, packed->data, packed->packed, code, bytes) != TAPER_OK) {
        taper_gpu_shader_free(allocator, shader);
        return TAPER_ERROR_RESOURCE; // zlib had none
    }
    return TAPER_OK;
}

void taper_gpu_shader_free(const taper_allocator *allocator, taper_gpu_shader *shader)
{
    taper_free(allocator, (void *)(uintptr_t)shader->code, shader->bytes);
    shader->code = NULL;
}

uint64_t taper_gpu_shaders_hash(const taper_gpu_packed *shaders)
{
    uint64_t hash = 0;
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
