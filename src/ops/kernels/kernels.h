// SPDX-License-Identifier: BSD-2-Clause
// All families of CPU kernels. A kernel is a pure function: it has no allocations, threads, global variables or errors.
// It writes only the memory that its arguments name, and reads at most `over_read` bytes (a column of its list) after
// its inputs.
//
// Kernels by task:
//   convolution 1x1 stride 1, fully connected, matrix products    gemm_f32.h, gemm
//   convolution k x k, strided 1x1, dilated, grouped, transposed  gemm_f32.h, igemm (pointers per pixel and tap)
//   3x3 convolutions with stride 1 or 2; of bytes with stride 1    winograd_f32.h, winograd_i8.h
//   first layer with 3 channels                                   gemm_f32.h, igemm over kernel rows
//   one input row (m = 1), weights used once                      vector_f32.h, gemv (no packing); or gemm, mr = 1
//   few channels, groups of few channels                          planar_f32.h, over planes
//   products with weights of halves                               gemm_half.h
//   one input row times halves, or integers with scales           narrow_f32.h
//   depthwise convolution                                         dwconv_f32.h, rows; other shapes: taps
//   batch norm, bias, squeeze-and-excite on NHWC                  vector_f32.h, channels
//   activations, arithmetic, pooling, resize, softmax,
//   layer norm, transposes                                        vector_f32.h
//   conversions between dtypes                                    cast.h
//   arithmetic of integers, bools, complex numbers, doubles;
//   losses and special functions of floats; reductions and
//   product tiles of other dtypes than floats                     native.h
//   Fourier transforms                                            fft_f32.h
// Fuse bias, residual sum and clamp into gemm, and bias and clamp into dwconv. Other activations run over the result of
// a strip or band while it is in the cache.
//
// Speed also depends on the caches: data that one layer writes and the next layer reads should stay in L2. Maps larger
// than L2 are computed fastest in bands of rows through several layers.
//
// An instruction set is a row of platform/isa_list.inc. A simd_<isa>.h with the functions of simd_scalar.h gives
// kernels of the depthwise and vector families, which need two more files of ten lines; gemm is written by hand
// (gemm_f32_<isa>.c). docs/inside/cpu.md and CONTRIBUTING.md explain the rest.
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
