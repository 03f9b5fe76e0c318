// SPDX-License-Identifier: BSD-2-Clause
// Part of pool_planes.c: rows of few windows, many rows at a time.
#ifndef TAPER_OPS_NN_POOL_BESIDE_H
#define TAPER_OPS_NN_POOL_BESIDE_H

// Returns true if BLOCK rows from row h on can be computed together: they have few windows each, and the rows' windows
// have equal sizes and equal distances.
static bool are_beside(const taper_pool_planes *job, int64_t h)
{
    const taper_pool_axis *axis = job->pooling->axis;
    const taper_pool_window *w = job->windows[1];
    bool beside = job->indices == NULL && axis[2].output < BLOCK / 2 && axis[1].output - h >= BLOCK;
    for (int64_t c = 1; beside && c < BLOCK; c++) {
        beside = w[h + c].taps == w[h].taps && w[h + c].step == w[h].step && w[h + c].padded == w[h].padded &&
                 w[h + c].first - w[h + c - 1].first == w[h + 1].first - w[h].first;
    }
    return beside;
}

#endif
