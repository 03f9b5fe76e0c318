// SPDX-License-Identifier: BSD-2-Clause
// The backend "metal", and its kernels: sources in Metal's language, made of the same SPIR-V.
#include "backends/gpu/gpu_backend.h"
#include "backends/gpu/gpu_kernels.h"
#include "backends/gpu/metal_shaders.inc"

TAPER_GPU_BACKEND(metal, TAPER_DEVICE_METAL);
