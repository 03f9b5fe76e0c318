// SPDX-License-Identifier: BSD-2-Clause
// Replaces src/ops/nn/conv_patches.h in small builds, which have a single loop that copies patches, and only for
// floats.
#ifndef TAPER_OPS_NN_CONV_PATCHES_H
#define TAPER_OPS_NN_CONV_PATCHES_H

#define ELEMENT char
#define SIZE job->item
#define AT(pointer, index) ((pointer) + (index) * (int64_t)job->item)
#define MOVE(to, from) memcpy(to, from, job->item)
#define NAME(x) gather_##x
#include "ops/nn/conv_gather.h"
#undef ELEMENT
#undef SIZE
#undef AT
#undef MOVE
#undef NAME

static void gather_range(void *argument, size_t begin, size_t end)
{
    const patches *p = argument;
    const int64_t from = (int64_t)begin, behind = (int64_t)end;
    p->points ? gather_points(p->job, p->x, p->first, from, behind, p->column)
              : gather_rows(p->job, p->x, p->first, p->count, from, behind, p->column);
}

static inline bool has_doubles(taper_dtype dtype)
{
    (void)dtype;
    return false;
}

static inline bool are_apart(const taper_conv_args *args, const conv_job *job, const taper_tensor *result)
{
    (void)args, (void)job, (void)result;
    return false;
}

#endif
