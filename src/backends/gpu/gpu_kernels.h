// SPDX-License-Identifier: BSD-2-Clause
// The compiled shaders, by kernel and by kind of buffer. They are built from shaders/*.comp (sources.cmake) and listed
// in gpu_kernels.inc.
#ifndef TAPER_BACKENDS_GPU_KERNELS_H
#define TAPER_BACKENDS_GPU_KERNELS_H

#include "backends/gpu/gpu_api.h"

typedef enum taper_gpu_kernel {
#define KERNEL(id, source, defines) TAPER_GPU_KERNEL_##id,
#include "backends/gpu/gpu_kernels.inc"
#undef KERNEL
    TAPER_GPU_KERNEL_COUNT
} taper_gpu_kernel;

enum { TAPER_GPU_LANES = 8 }; // number of threads that share what they load, in kernels compiled with LANES

extern const taper_gpu_packed taper_gpu_vulkan_shaders[2 * TAPER_GPU_KERNEL_COUNT];
extern const taper_gpu_packed taper_gpu_metal_shaders[2 * TAPER_GPU_KERNEL_COUNT];

// Inflates a shader of the interface: the variant for texel buffers if `texels` is true and this variant exists.
// Returns TAPER_ERROR_RESOURCE if memory is missing. On success the caller frees the shader.
TAPER_MUST_USE taper_status taper_gpu_shader_load(const taper_allocator *allocator, const taper_gpu_packed *shaders,
                                                  taper_gpu_kernel kernel, bool texels, taper_gpu_shader *shader);
void taper_gpu_shader_free(const taper_allocator *allocator, taper_gpu_shader *shader);
uint64_t taper_gpu_shaders_hash(const taper_gpu_packed *shaders); // returns a hash of all shaders
const char *taper_gpu_kernel_name(taper_gpu_kernel kernel);

#endif
