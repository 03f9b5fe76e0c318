// SPDX-License-Identifier: BSD-2-Clause
// Kernels for Metal: sources in Metal's language, made of the same SPIR-V. The table is made while building
// (sources.cmake).
#include "backends/gpu/gpu_kernels.h"

#include "backends/gpu/metal_shaders.inc"
