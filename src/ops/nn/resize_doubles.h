// SPDX-License-Identifier: BSD-2-Clause
// Part of resize_loops.c: the loops for doubles.
#ifndef TAPER_OPS_NN_RESIZE_DOUBLES_H
#define TAPER_OPS_NN_RESIZE_DOUBLES_H

#define ELEMENT double
#define NAME(name) name##_f64
#include "ops/nn/resize_weighted.h"
#undef ELEMENT
#undef NAME

static bool has_doubles(taper_dtype dtype)
{
    return dtype == TAPER_F64;
}

#endif
