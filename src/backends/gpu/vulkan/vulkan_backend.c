// SPDX-License-Identifier: BSD-2-Clause
// The backend "vulkan", and its kernels: SPIR-V.
#include "backends/gpu/gpu_backend.h"
#include "backends/gpu/gpu_kernels.h"
#include "backends/gpu/vulkan_shaders.inc"

TAPER_GPU_BACKEND(vulkan, TAPER_DEVICE_VULKAN);
