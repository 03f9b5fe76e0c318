// SPDX-License-Identifier: BSD-2-Clause
// Part of conv_cpu.c: which orders of the input are read as they lie, and which are worth another.
#ifndef TAPER_BACKENDS_CPU_CONV_ORDERS_H
#define TAPER_BACKENDS_CPU_CONV_ORDERS_H

// Which read no element that is not there; the other ways read on behind a pixel's channels.
static bool is_product(const taper_conv2d *job)
{
    return !job->args.params.transposed && !is_depthwise(job) && winograd_of(job) == NULL;
}

// What reads the input as it lies reads two orders: for few channels, and groups of few, others are brought into one.
static bool is_turned(const taper_conv2d *job)
{
    enum { FEW = 16 };
    const taper_tensor *x = job->args.input;
    return !job->args.params.transposed && !is_depthwise(job) && (job->in_c < FEW || job->groups > 1) &&
           !x->hidden_nhwc && !taper_tensor_is_contiguous(x) && !taper_tensor_is_channels_last(x);
}

#endif
