// SPDX-License-Identifier: BSD-2-Clause
// The kernels of vector_f32.h with AVX2.
#include "ops/kernels/simd_avx2.h"

// Asks for gemv_stream, which reads one stream. With several streams the prefetchers of x86 reach only half of the
// bandwidth.
#define GEMV_STREAMS
#include "ops/kernels/vector_f32_tmpl.h"

VECTOR_ENTRY(avx2)
