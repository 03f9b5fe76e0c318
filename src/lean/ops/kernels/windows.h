// SPDX-License-Identifier: BSD-2-Clause
// In place of src/ops/kernels/windows.h: small builds omit this code.
#ifndef TAPER_OPS_KERNELS_WINDOWS_H
#define TAPER_OPS_KERNELS_WINDOWS_H

#define TAPER_GEMM_WINDOWS(function) NULL

#endif
