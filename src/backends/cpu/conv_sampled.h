// SPDX-License-Identifier: BSD-2-Clause
// Part of conv_cpu.c: 1x1 convolutions with a stride. Only the pixels that are read are copied into NHWC.
#ifndef TAPER_BACKENDS_CPU_CONV_SAMPLED_H
#define TAPER_BACKENDS_CPU_CONV_SAMPLED_H

// Returns true for a 1x1 convolution that has a stride and a contiguous input.
static bool is_sampled(const taper_conv2d *job)
{
    const taper_tensor *x = job->args.input;
    return !job->args.params.transposed && job->kernel_h == 1 && job->kernel_w == 1 &&
           (job->stride_h != 1 || job->stride_w != 1) && job->pad_top == 0 && job->pad_left == 0 &&
           (job->out_h - 1) * job->stride_h < job->in_h && (job->out_w - 1) * job->stride_w < job->in_w &&
           taper_tensor_is_contiguous(x) && !x->hidden_nhwc && !taper_tensor_is_channels_last(x);
}

#endif
