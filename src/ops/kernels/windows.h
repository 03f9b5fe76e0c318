// SPDX-License-Identifier: BSD-2-Clause
// What a row of a gemm has for windows: rows that overlap.
#ifndef TAPER_OPS_KERNELS_WINDOWS_H
#define TAPER_OPS_KERNELS_WINDOWS_H

#define TAPER_GEMM_WINDOWS(function) function

#endif
