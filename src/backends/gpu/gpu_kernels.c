// SPDX-License-Identifier: BSD-2-Clause
// The shaders: see gpu_kernels.h. They lie deflated in the library.
#include "backends/gpu/gpu_kernels.h"

#include <zlib.h>

#include "backends/gpu/gpu_shaders.inc"
#include "base/hash.h"

taper_status taper_gpu_shader_load(const taper_allocator *allocator, taper_gpu_kernel kernel, bool texels,
                                   taper_gpu_shader *shader)
{
    texels = texels && shaders[2 * kernel + 1].bytes != 0;
    const size_t i = 2 * (size_t)kernel + texels;
    uLongf bytes = shaders[i].bytes;
    uint32_t *code = taper_alloc(allocator, bytes);
    if (code == NULL) {
        return TAPER_ERROR_RESOURCE;
    }
    *shader = (taper_gpu_shader){.code = code, .words = (uint32_t)(bytes / sizeof *code), .texels = texels};
    if (uncompress((Bytef *)code, &bytes, shaders[i].data, shaders[i].packed) != Z_OK) {
        taper_gpu_shader_free(allocator, shader);
        return TAPER_ERROR_RESOURCE; // zlib had none
    }
    return TAPER_OK;
}

void taper_gpu_shader_free(const taper_allocator *allocator, taper_gpu_shader *shader)
{
    taper_free(allocator, (void *)(uintptr_t)shader->code, shader->words * sizeof *shader->code);
    shader->code = NULL;
}

uint64_t taper_gpu_shaders_hash(void)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof shaders / sizeof *shaders; i++) {
        if (shaders[i].packed != 0) {
            hash = taper_hash(hash, shaders[i].data, shaders[i].packed);
        }
    }
    return hash;
}

bool taper_gpu_kernel_reads_texels(taper_gpu_kernel kernel)
{
    return shaders[2 * kernel + 1].bytes != 0;
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
