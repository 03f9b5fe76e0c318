// SPDX-License-Identifier: BSD-2-Clause
// Kernels for Vulkan: SPIR-V. The table is made while building (sources.cmake).
#include "backends/gpu/gpu_kernels.h"

#include "backends/gpu/vulkan_shaders.inc"
