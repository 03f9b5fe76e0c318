// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/backends/cpu/conv_orders.h in small builds, which omit its code.
#ifndef TAPER_BACKENDS_CPU_CONV_ORDERS_H
#define TAPER_BACKENDS_CPU_CONV_ORDERS_H

static inline bool is_product(const taper_conv2d *job)
{
    (void)job;
    return false;
}

static inline bool is_turned(const taper_conv2d *job)
{
    (void)job;
    return false;
}

#endif
