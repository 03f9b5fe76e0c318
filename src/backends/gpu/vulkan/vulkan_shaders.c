// SPDX-License-Identifier: BSD-2-Clause
// The shaders for Vulkan, as SPIR-V. The build makes the table (sources.cmake).
#include "backends/gpu/gpu_kernels.h"

#include "backends/gpu/vulkan_shaders.inc"
