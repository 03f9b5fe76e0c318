// SPDX-License-Identifier: BSD-2-Clause
// What is done to a result while it is still in the cache: the sum with another tensor and the activation of a fused
// operator (backends/cpu/fusion.h).
#ifndef TAPER_BACKENDS_CPU_EPILOGUE_H
#define TAPER_BACKENDS_CPU_EPILOGUE_H

#include "backends/cpu/fusion.h"
#include "ops/kernels/kernels.h"

typedef struct taper_epilogue {
    const float *add;                     // same layout as the result; NULL: none
    float min, max;                       // of the kernels' own clamp
    taper_unary_f32_function *activation; // applied afterwards; NULL: none
} taper_epilogue;

// The epilogue of call's fusion, joined with a clamp that the root operator brings itself. TAPER_DECLINED when the two
// cannot be joined or the summand's layout is not the result's (strides of result: NHWC or contiguous, dense).
// summand: the other one's elements in the result's layout, where the caller has brought them into it; NULL: it is as
// it is.
TAPER_MUST_USE taper_status taper_epilogue_make(const taper_call *call, bool clamped, double min, double max,
                                                size_t rank, const int64_t *sizes, bool channels_last, bool hidden,
                                                const float *summand, taper_epilogue *epilogue);

// How many strips, of so many floats, are made before their activation is applied: it finds them in the L1 cache.
static inline size_t taper_epilogue_strips(const taper_epilogue *e, size_t floats, size_t most)
{
    enum { LEAST_L1_FLOATS = 4096 };
    return e->activation == NULL ? most : taper_min_size(most, LEAST_L1_FLOATS / floats + 1);
}

// Applies the activation to rows of `count` floats, `stride` apart.
static inline void taper_epilogue_finish(const taper_epilogue *e, size_t rows, size_t count, float *y, size_t stride)
{
    if (e->activation != NULL) {
        if (stride == count) { // rows of few channels are many
            count *= rows;
            rows = 1;
        }
        for (size_t i = 0; i < rows; i++) {
            e->activation(count, y + i * stride, y + i * stride, NULL);
        }
    }
}

#endif
