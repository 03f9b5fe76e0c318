// SPDX-License-Identifier: BSD-2-Clause
// The last steps on a result that is still in the cache: the sum with another tensor and the activation of a fused
// operator (backends/cpu/fusion.h).
#ifndef TAPER_BACKENDS_CPU_EPILOGUE_H
#define TAPER_BACKENDS_CPU_EPILOGUE_H

#include "backends/cpu/fusion.h"
#include "ops/kernels/kernels.h"

typedef struct taper_epilogue {
    // Data of the summand in the layout of the result, or NULL if nothing is added.
    const float *add;
    float min, max;                       // bounds that the kernel itself applies
    taper_unary_f32_function *activation; // function that is applied after the bounds, or NULL for none
} taper_epilogue;

// Makes the epilogue of the call's fusion. If `clamped` is set, the layer's own operator clamps to [min, max], and the
// epilogue includes this clamp. Returns TAPER_DECLINED if the fusion and this clamp cannot be merged, or if the
// summand's layout differs from the result's (strides of result: NHWC or contiguous, dense). `summand` is the data of
// the added tensor if the caller has converted this tensor to the result's layout, otherwise NULL.
TAPER_MUST_USE taper_status taper_epilogue_make(const taper_call *call, bool clamped, double min, double max,
                                                size_t rank, const int64_t *sizes, bool channels_last, bool hidden,
                                                const float *summand, taper_epilogue *epilogue);

// Returns the number of strips of `floats` floats to compute before their activation is applied, so that the strips are
// still in the L1 cache.
static inline size_t taper_epilogue_strips(const taper_epilogue *e, size_t floats, size_t most)
{
    enum { LEAST_L1_FLOATS = 4096 };
    return e->activation == NULL ? most : taper_min_size(most, LEAST_L1_FLOATS / floats + 1);
}

// Applies the activation to rows of `count` floats, which are `stride` floats apart.
static inline void taper_epilogue_finish(const taper_epilogue *e, size_t rows, size_t count, float *y, size_t stride)
{
    if (e->activation != NULL) {
        if (stride == count) { // one long row is faster than many short rows
            count *= rows;
            rows = 1;
        }
        for (size_t i = 0; i < rows; i++) {
            e->activation(count, y + i * stride, y + i * stride, NULL);
        }
    }
}

#endif
