// SPDX-License-Identifier: BSD-2-Clause
// Part of resize_loops.c: elements that are neighbours in the input and in the output are copied together.
#ifndef TAPER_OPS_NN_RESIZE_RUNS_H
#define TAPER_OPS_NN_RESIZE_RUNS_H

static bool has_long_run(const taper_resize_axis *axis)
{
    enum { LONG = 8 };
    return axis->run >= LONG;
}

#endif
