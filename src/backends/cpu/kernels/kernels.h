// SPDX-License-Identifier: BSD-2-Clause
// The CPU kernels, all families. A kernel is a pure function: no allocation, threads, globals or errors; it writes
// only what it is told to write and reads at most `over_read` bytes (of its list entry) behind its inputs.
// Selection: kernel_select.h. What a family does and how an operator uses it stands in the family's header.
#ifndef TAPER_KERNELS_H
#define TAPER_KERNELS_H

#include "backends/cpu/kernels/arch.h"
#include "backends/cpu/kernels/dwconv_f32.h"
#include "backends/cpu/kernels/gemm_f32.h"
#include "backends/cpu/kernels/vector_f32.h"

#endif
