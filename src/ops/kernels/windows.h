// SPDX-License-Identifier: BSD-2-Clause
// The column of a gemm list for windows (overlapping rows), in builds that have them.
#ifndef TAPER_OPS_KERNELS_WINDOWS_H
#define TAPER_OPS_KERNELS_WINDOWS_H

#define TAPER_GEMM_WINDOWS(function) function

#endif
