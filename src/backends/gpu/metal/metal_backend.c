// SPDX-License-Identifier: BSD-2-Clause
// The backend "metal".
#include "backends/gpu/gpu_backend.h"

TAPER_GPU_BACKEND(metal, TAPER_DEVICE_METAL);
