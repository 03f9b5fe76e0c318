// SPDX-License-Identifier: BSD-2-Clause
// Tiles of Winograd's transforms over the outputs of a convolution. The algorithm and its cost model share this code.
#ifndef TAPER_CPU_CONV_WINOGRAD_H
#define TAPER_CPU_CONV_WINOGRAD_H

#include "backends/cpu/conv_cpu.h"

// Tiles along an axis of the largest phase of the dilation: whole tiles, and the outputs (2, 3 or none) of a smaller
// tile at the edge.
typedef struct taper_winograd_axis {
    size_t whole, edge;
} taper_winograd_axis;

// A smaller tile at the edge saves products, but its transforms take longer than those of a whole tile. With few
// columns, all tiles are therefore whole.
static inline taper_winograd_axis taper_winograd_axis_of(const taper_conv2d *job, const taper_winograd_entry *entry,
                                                         size_t out, size_t dilation)
{
    enum { LEAST_COLUMNS = 64 };
    const size_t outputs = entry->outputs, most = (out - 1) / dilation + 1, left = most % outputs;
    if (outputs != 4 || left == 0 || job->out_c < LEAST_COLUMNS) {
        return (taper_winograd_axis){(most - 1) / outputs + 1, 0};
    }
    return (taper_winograd_axis){most / outputs, taper_max_size(left, 2)};
}

// Returns the number of transform positions along the axis.
static inline double taper_winograd_axis_positions(const taper_winograd_axis *axis, const taper_winograd_entry *entry)
{
    const size_t edge = axis->edge != 0 ? (axis->edge - 1) * entry->stride + 3 : 0;
    return (double)axis->whole * (double)taper_winograd_side(entry) + (double)edge;
}

typedef struct taper_winograd_counts {
    double rows;         // number of rows of the products, summed over all positions of the transform
    double whole, edges; // number of whole tiles; number of tiles at an edge
} taper_winograd_counts;

static inline taper_winograd_counts taper_winograd_count(const taper_conv2d *job, const taper_winograd_entry *entry)
{
    const taper_winograd_axis down = taper_winograd_axis_of(job, entry, job->out_h, job->dilation_h);
    const taper_winograd_axis along = taper_winograd_axis_of(job, entry, job->out_w, job->dilation_w);
    const double phases = (double)taper_min_size(job->dilation_h, job->out_h) *
                          (double)taper_min_size(job->dilation_w, job->out_w) * (double)job->batch;
    const double whole = (double)down.whole * (double)along.whole;
    const double all = (double)(down.whole + (down.edge != 0)) * (double)(along.whole + (along.edge != 0));
    return (taper_winograd_counts){.rows = taper_winograd_axis_positions(&down, entry) *
                                           taper_winograd_axis_positions(&along, entry) * phases,
                                   .whole = whole * phases,
                                   .edges = (all - whole) * phases};
}

#endif
