// SPDX-License-Identifier: BSD-2-Clause
// Which algorithm computes a dense 3x3 convolution: directly, or by Winograd's transforms of 4x4 or 2x2 outputs. What
// each costs is counted in multiply-adds of a vector: the products, with what a strip of few rows wastes; the
// transforms; and the weights, which come from memory once per run where they are larger than a cache.
#include "backends/cpu/conv_strips.h"
#include "backends/cpu/conv_winograd.h"

enum {
    LEAST_CHANNELS_FOUR = 64, // with fewer the error of 4x4 outputs is more than twice that of the direct sums
    LEAST_CHANNELS = 16,      // with fewer the transforms cost what the products save
    ROW_OVERHEAD = 2,         // a strip of r rows costs as r + 2 at full speed: loads of weights
};

typedef struct machine {
    double rows, lanes, cache;
} machine;

// A product of so many rows, vectors of columns times k, and weights that are read once.
static double product(const machine *m, double rows, double depth, double weights)
{
    const double strips = rows <= m->rows ? 1 : rows / m->rows, bytes = weights * sizeof(float);
    return (rows + ROW_OVERHEAD * strips) * depth + (bytes > m->cache ? bytes / 6 : 0);
}

static double winograd(const taper_conv2d *job, const machine *m, size_t outputs)
{
    // Of a tile and a vector of channels: loads, stores and arithmetic.
    const double into = outputs == 4 ? 222 : 48, out_of = outputs == 4 ? 160 : 45;
    const double positions = (double)((outputs + 2) * (outputs + 2)), channels = (double)job->in_c;
    const double rows = taper_winograd_rows(job, outputs), tiles = rows / positions;
    const double vectors = (double)job->out_c / m->lanes;
    return positions * product(m, tiles, channels * vectors, 0) +
           product(m, 0, 0, positions * channels * (double)job->out_c) +
           tiles * (into * channels / m->lanes + out_of * vectors);
}

size_t taper_conv2d_winograd_outputs(const taper_conv2d *job)
{
    if (job->kernel_h != 3 || job->kernel_w != 3 || job->stride_h != 1 || job->stride_w != 1 || job->groups != 1 ||
        job->in_c < LEAST_CHANNELS || job->out_c < LEAST_CHANNELS) {
        return 0;
    }
    const taper_run *run = job->call->run;
    const taper_gemm_entry *entry = taper_gemm_f32_select(run->cpu);
    const machine m = {.rows = entry->mr,
                       .lanes = taper_winograd_f32_select(run->cpu, 4)->lanes,
                       .cache = (double)taper_pool_caches(run->pool).l2};
    const double taps = 9 * (double)job->in_c, pixels = (double)(job->batch * job->out_h * job->out_w);
    const double direct = product(&m, pixels, taps * (double)job->out_c / m.lanes, taps * (double)job->out_c) *
                          taper_conv_strips_share(job, entry->mr);
    const double two = winograd(job, &m, 2), four = winograd(job, &m, 4);
    if (four < two && job->in_c >= LEAST_CHANNELS_FOUR) {
        return four < direct ? 4 : 0;
    }
    return two < direct ? 2 : 0;
}
