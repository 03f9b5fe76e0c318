// SPDX-License-Identifier: BSD-2-Clause
// The CPU kernels, all families. A kernel is a pure function: no allocation, threads, globals or errors; it writes
// only what it is told to write and reads at most `over_read` bytes (of its list entry) behind its inputs.
//
// Which kernel for what
//   convolution 1x1 stride 1, fully connected, matrix products    gemm_f32.h, gemm
//   convolution k x k, strided 1x1, dilated, grouped, transposed  gemm_f32.h, igemm (pointers per pixel and tap)
//   3x3 convolutions with stride 1 or 2, of bytes with 1           winograd_f32.h, winograd_i8.h
//   first layer with 3 channels                                   gemm_f32.h, igemm over kernel rows
//   one input row (m = 1), weights used once                      vector_f32.h, gemv (no packing); else gemm, mr = 1
//   few channels, groups of few                                   planar_f32.h, over planes
//   the same with weights of halves                               gemm_half.h
//   one input row times halves, or integers with scales           narrow_f32.h
//   depthwise convolution                                         dwconv_f32.h, rows; odd shapes: taps
//   batch norm, bias, squeeze-and-excite on NHWC                  vector_f32.h, channels
//   activations, arithmetic, pooling, resize, softmax,
//   layer norm, transposes                                        vector_f32.h
//   conversions between dtypes                                    cast.h
//   arithmetic of integers, truth values, complex numbers,
//   doubles; losses and special functions of floats;
//   reductions and tiles of products of all but floats            native.h
//   Fourier transforms                                            fft_f32.h
// Fuse into gemm: bias, residual sum, clamp. Into dwconv: bias, clamp. Other activations run over the result of a strip
// or band while it is in the cache.
//
// What decides speed beyond the kernels: data that is made in one layer and used in the next should not leave L2. Maps
// larger than L2 are best made in bands of rows through several layers.
//
// An instruction set is a row of platform/isa_list.inc. A simd_<isa>.h with the words of simd_scalar.h gives the
// depthwise and vector families by two files of ten lines; gemm is written by hand (gemm_f32_<isa>.c).
// docs/inside/cpu.md and CONTRIBUTING.md say the rest.
#ifndef TAPER_KERNELS_H
#define TAPER_KERNELS_H

#include "ops/kernels/arch.h"
#include "ops/kernels/cast.h"
#include "ops/kernels/dwconv_f32.h"
#include "ops/kernels/dwconv_i8.h"
#include "ops/kernels/fft_f32.h"
#include "ops/kernels/gemm_f32.h"
#include "ops/kernels/gemm_half.h"
#include "ops/kernels/gemm_i8.h"
#include "ops/kernels/narrow_f32.h"
#include "ops/kernels/native.h"
#include "ops/kernels/planar_f32.h"
#include "ops/kernels/vector_f32.h"
#include "ops/kernels/vector_u8.h"
#include "ops/kernels/winograd_f32.h"
#include "ops/kernels/winograd_i8.h"

#endif
