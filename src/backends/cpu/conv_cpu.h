// SPDX-License-Identifier: BSD-2-Clause
// 2-D convolution of floats on the CPU: what the dense (GEMM) and the depthwise path share.
#ifndef TAPER_CPU_CONV_CPU_H
#define TAPER_CPU_CONV_CPU_H

#include "backends/cpu/epilogue.h"
#include "backends/cpu/kernel_select.h"
#include "ops/call/packs.h"
#include "ops/call/parallel.h"
#include "ops/nn/conv.h"

typedef struct taper_conv2d {
    taper_call *call;
    taper_conv_args args;
    size_t batch, in_h, in_w, in_c, out_h, out_w, out_c, kernel_h, kernel_w, groups;
    size_t stride_h, stride_w, dilation_h, dilation_w;
    int64_t pad_top, pad_left;
    const float *x; // NHWC, dense
    float *y;       // NHWC, dense
    taper_epilogue epilogue;
    // Per output channel, from batch norm and bias; NULL where there is nothing to fold. Filled when weights are
    // packed.
    float *scale, *shift;
    bool hidden; // the result is hidden NHWC
    bool keeps;  // x is read where it lies, and the weights are constants: the call may be prepared
} taper_conv2d;

// The weights' values before packing: fills job->scale and job->shift when there is a batch norm.
void taper_conv2d_fold(const taper_conv2d *job);
// Whether the weights are still those of the model, which nobody wrote to: then what was packed of them holds.
bool taper_conv2d_weights_stand(const taper_conv2d *job);
// The key of a pack of this convolution's weights.
void taper_conv2d_pack_key(const taper_conv2d *job, const void *kind, taper_pack_request *request);

// The kernel: parses the call, and prepares it.
taper_status taper_cpu_conv2d(taper_call *call);
TAPER_MUST_USE taper_status taper_conv2d_dense(taper_conv2d *job);
TAPER_MUST_USE taper_status taper_conv2d_depthwise(taper_conv2d *job);
// Few input channels (images): reads x as it is, contiguous or channels-last, and needs no NHWC copy of it.
bool taper_conv2d_is_stem(const taper_conv2d *job);
TAPER_MUST_USE taper_status taper_conv2d_stem(taper_conv2d *job, const taper_tensor *input);

#endif
