// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/kernels/windows.h in small builds, which omit its code.
#ifndef TAPER_OPS_KERNELS_WINDOWS_H
#define TAPER_OPS_KERNELS_WINDOWS_H

#define TAPER_GEMM_WINDOWS(function) NULL

#endif
