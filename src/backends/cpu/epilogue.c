// SPDX-License-Identifier: BSD-2-Clause
// Makes the epilogue of a fused operator. See epilogue.h.
#include "backends/cpu/epilogue.h"

#include <math.h>

#include "ops/kernels/kernel_select.h"

static bool same_layout(const taper_tensor *t, size_t rank, const int64_t *sizes, bool channels_last, bool hidden)
{
    if (t->dtype != TAPER_F32 || t->rank != rank || memcmp(t->sizes, sizes, rank * sizeof *sizes) != 0) {
        return false;
    }
    if (!channels_last && !hidden) {
        return taper_tensor_is_contiguous(t) && !t->hidden_nhwc;
    }
    // In PyTorch, the sum is channels-last like the layer's result only if the other summand `t` is channels-last too.
    if (taper_tensor_is_contiguous(t) && taper_tensor_is_channels_last(t)) {
        return true; // a tensor with one pixel or one channel has both layouts
    }
    return taper_tensor_is_channels_last(t) && t->hidden_nhwc == hidden;
}

taper_status taper_epilogue_make(const taper_call *call, bool clamped, double min, double max, size_t rank,
                                 const int64_t *sizes, bool channels_last, bool hidden, const float *summand,
                                 taper_epilogue *epilogue)
{
    *epilogue = (taper_epilogue){.min = -INFINITY, .max = INFINITY};
    const taper_fusion *f = taper_fusion_of(call);
    if (clamped) {
        epilogue->min = (float)min;
        epilogue->max = (float)max;
    }
    if (f == NULL) {
        return TAPER_OK;
    }
    if (clamped && (f->add_at != 0 || f->norm_at != 0)) {
        // the clamp of the layer's own operator comes before the norm and the sum, so it cannot be merged with a clamp
        // after the sum
        return TAPER_DECLINED;
    }
    if (f->add_at != 0) {
        const taper_val other = call->args[f->add_at];
        if (summand == NULL &&
            (other.tag != TAPER_TENSOR || !same_layout(other.as.tensor, rank, sizes, channels_last, hidden))) {
            return TAPER_DECLINED;
        }
        epilogue->add = summand != NULL ? summand : taper_tensor_data(other.as.tensor);
    }
    const taper_vector_entry *v = taper_vector_f32_select(call->run->cpu);
    static const uint8_t functions[] = {
        [TAPER_ACTIVATION_HARDSWISH] = TAPER_UNARY_HARDSWISH, [TAPER_ACTIVATION_HARDSIGMOID] = TAPER_UNARY_HARDSIGMOID,
        [TAPER_ACTIVATION_SILU] = TAPER_UNARY_SILU,           [TAPER_ACTIVATION_SIGMOID] = TAPER_UNARY_SIGMOID,
        [TAPER_ACTIVATION_GELU] = TAPER_UNARY_GELU,           [TAPER_ACTIVATION_TANH] = TAPER_UNARY_TANH};
    if (f->activation != TAPER_ACTIVATION_CLAMP) {
        epilogue->activation = v->unary[functions[f->activation]];
        return epilogue->activation != NULL ? TAPER_OK : TAPER_DECLINED;
    }
    if (f->min > epilogue->max || f->max < epilogue->min) {
        return TAPER_DECLINED;
    }
    epilogue->min = fmaxf(epilogue->min, f->min);
    epilogue->max = fminf(epilogue->max, f->max);
    return TAPER_OK;
}
