// SPDX-License-Identifier: BSD-2-Clause
// The shaders for Metal, as sources in Metal's language that are made from the same SPIR-V. The build makes the table
// (sources.cmake).
#include "backends/gpu/gpu_kernels.h"

#include "backends/gpu/metal_shaders.inc"
