// SPDX-License-Identifier: BSD-2-Clause
// Tiles of Winograd's transforms over the outputs of a convolution: what its plan and the choice of an algorithm share.
#ifndef TAPER_CPU_CONV_WINOGRAD_H
#define TAPER_CPU_CONV_WINOGRAD_H

#include "backends/cpu/conv_cpu.h"

// An axis of the largest phase of the dilation: whole tiles, and the outputs (2 or 3; 0: none) of one behind them.
typedef struct taper_winograd_axis {
    size_t whole, edge;
} taper_winograd_axis;

static inline taper_winograd_axis taper_winograd_axis_of(size_t out, size_t dilation, size_t outputs)
{
    const size_t most = (out - 1) / dilation + 1, left = most % outputs;
    if (outputs != 4 || left == 0) {
        return (taper_winograd_axis){(most - 1) / outputs + 1, 0};
    }
    return (taper_winograd_axis){most / outputs, taper_max_size(left, 2)};
}

// Whether the tile at the edge has a position of this side; there may be none.
static inline bool taper_winograd_axis_has(const taper_winograd_axis *axis, size_t position)
{
    bool has = axis->edge == 0;
    for (size_t i = 0; axis->edge != 0 && i < axis->edge + 2; i++) {
        has |= taper_winograd_positions[axis->edge - 2][i] == position;
    }
    return has;
}

static inline double taper_winograd_axis_points(const taper_winograd_axis *axis, size_t outputs)
{
    return (double)axis->whole * (double)(outputs + 2) + (axis->edge != 0 ? (double)axis->edge + 2 : 0);
}

static inline double taper_winograd_phases(const taper_conv2d *job)
{
    return (double)taper_min_size(job->dilation_h, job->out_h) * (double)taper_min_size(job->dilation_w, job->out_w) *
           (double)job->batch;
}

// The rows of all positions' products.
static inline double taper_winograd_rows(const taper_conv2d *job, size_t outputs)
{
    const taper_winograd_axis down = taper_winograd_axis_of(job->out_h, job->dilation_h, outputs),
                              along = taper_winograd_axis_of(job->out_w, job->dilation_w, outputs);
    return taper_winograd_axis_points(&down, outputs) * taper_winograd_axis_points(&along, outputs) *
           taper_winograd_phases(job);
}

#endif
