// SPDX-License-Identifier: BSD-2-Clause
// The backend "vulkan".
#include "backends/gpu/gpu_backend.h"

TAPER_GPU_BACKEND(vulkan, TAPER_DEVICE_VULKAN);
