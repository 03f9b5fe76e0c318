// SPDX-License-Identifier: BSD-2-Clause
// Small builds do without.
#ifndef TAPER_OPS_KERNELS_WINDOWS_H
#define TAPER_OPS_KERNELS_WINDOWS_H

#define TAPER_GEMM_WINDOWS(function) NULL

#endif
