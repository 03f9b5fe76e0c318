// SPDX-License-Identifier: BSD-2-Clause
// The parts of taper_fast (ops/call/fast.h), by the file that has them.
#ifndef TAPER_BACKENDS_CPU_FAST_CPU_H
#define TAPER_BACKENDS_CPU_FAST_CPU_H

#include "ops/call/fast.h"
#include "ops/call/parallel.h"

// The nanoseconds that simple work on so many floats takes.
static inline double taper_cpu_floats_work(double floats)
{
    return floats / 4;
}

// matmul_cpu.c
taper_status taper_cpu_gemm(taper_run *run, const taper_gemm *gemm, const taper_gemm_batch *batch);
// elementwise_cpu.c
taper_status taper_cpu_elementwise(taper_run *run, const taper_ew_op *op, const taper_ew_args *args,
                                   const taper_ew_walk *walk);
taper_status taper_cpu_activate(taper_run *run, taper_fast_function function, size_t count, float *x);
// rows_cpu.c
taper_status taper_cpu_softmax_rows(taper_run *run, bool logarithm, size_t rows, size_t width, const float *x,
                                    float *y);
taper_status taper_cpu_layer_norm_rows(taper_run *run, size_t rows, size_t width, const float *x, const float *weight,
                                       const float *bias, double eps, float *y);
taper_status taper_cpu_channels(taper_run *run, size_t rows, size_t count, const float *x, size_t x_stride,
                                const float *scale, const float *shift, float *y, size_t y_stride);
taper_status taper_cpu_planes(taper_run *run, size_t planes, size_t count, const float *x, const float *scale,
                              const float *shift, float *y);
// resize_cpu.c
taper_status taper_cpu_bilinear(taper_run *run, const taper_resize_axis *axes, const taper_volume *x, const float *in,
                                const taper_volume *y, float *out);
taper_status taper_cpu_bilinear_u8(taper_run *run, const taper_resize_axis *axes, const taper_volume *x,
                                   const uint8_t *in, const taper_volume *y, uint8_t *out, int32_t zero_point);
taper_status taper_cpu_linear_dynamic(taper_call *call, const struct taper_qlinear_params *params, const float *x,
                                      size_t rows, bool relu, float *y);

// A range of `count` items of so many floats each.
TAPER_MUST_USE taper_status taper_cpu_range(taper_run *run, taper_range_task task, void *argument, size_t count,
                                            double floats);

#endif
