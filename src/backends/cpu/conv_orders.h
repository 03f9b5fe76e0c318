// SPDX-License-Identifier: BSD-2-Clause
// Part of conv_cpu.c: decides which memory orders of the input are read in place, and which are converted first.
#ifndef TAPER_BACKENDS_CPU_CONV_ORDERS_H
#define TAPER_BACKENDS_CPU_CONV_ORDERS_H

// Returns true if the convolution is a matrix product, which reads no element after the input. The other algorithms
// read past a pixel's channels.
static bool is_product(const taper_conv2d *job)
{
    return !job->args.params.transposed && !is_depthwise(job) && winograd_of(job) == NULL;
}

// Returns true if the input must be copied to NHWC first. For few channels, or groups of few channels, the algorithms
// read the input in place, but only if it is contiguous or channels-last.
static bool is_turned(const taper_conv2d *job)
{
    enum { FEW = 16 };
    const taper_tensor *x = job->args.input;
    return !job->args.params.transposed && !is_depthwise(job) && (job->in_c < FEW || job->groups > 1) &&
           !x->hidden_nhwc && !taper_tensor_is_contiguous(x) && !taper_tensor_is_channels_last(x);
}

#endif
