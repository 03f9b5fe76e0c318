// SPDX-License-Identifier: BSD-2-Clause
// Part of conv_run.c: gathering patches of elements of each size, and the test for dtypes that have their own loops.
#ifndef TAPER_OPS_NN_CONV_PATCHES_H
#define TAPER_OPS_NN_CONV_PATCHES_H

#define SIZE sizeof(ELEMENT)
#define AT(pointer, index) ((pointer) + (index))
#define MOVE(to, from) (*(to) = *(from))
#define ELEMENT uint32_t
#define NAME(x) gather4_##x
#include "ops/nn/conv_gather.h"
#undef ELEMENT
#undef NAME
#define ELEMENT uint64_t
#define NAME(x) gather8_##x
#include "ops/nn/conv_gather.h"
#undef ELEMENT
#undef NAME
typedef struct pair {
    uint64_t re, im;
} pair;
#define ELEMENT pair
#define NAME(x) gather16_##x
#include "ops/nn/conv_gather.h"
#undef ELEMENT
#undef NAME
#undef SIZE
#undef AT
#undef MOVE

#define GATHER(name)                                                                                                   \
    (p->points ? name##_points(p->job, x, p->first, from, behind, p->column)                                           \
               : name##_rows(p->job, x, p->first, p->count, from, behind, p->column))
static void gather_range(void *argument, size_t begin, size_t end)
{
    const patches *p = argument;
    const void *x = p->x;
    const int64_t from = (int64_t)begin, behind = (int64_t)end;
    switch (p->job->item) {
    case 4:
        GATHER(gather4);
        break;
    case 8:
        GATHER(gather8);
        break;
    default:
        GATHER(gather16);
        break;
    }
}
#undef GATHER

// Returns true for doubles, which have their own loops for depthwise convolutions and for scattering, as floats do.
static bool has_doubles(taper_dtype dtype)
{
    return dtype == TAPER_F64;
}

// Returns true if channels are contiguous in the input of a grouped convolution, but not in its result.
static bool are_apart(const taper_conv_args *args, const conv_job *job, const taper_tensor *result)
{
    const taper_conv_params *params = &args->params;
    return params->groups > 1 && params->groups == args->weight->sizes[0] && job->x_channel == 1 &&
           result->strides[args->unbatched ? 0 : 1] != 1;
}

#endif
