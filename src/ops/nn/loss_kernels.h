// SPDX-License-Identifier: BSD-2-Clause
// Part of loss.c: the losses that a kernel of native.h computes.
#ifndef TAPER_OPS_NN_LOSS_KERNELS_H
#define TAPER_OPS_NN_LOSS_KERNELS_H

// Returns true if a kernel of native.h computes the loss: all tensors are float32, and there is at most one weight.
// *native is the kernel, plus 1.
static bool has_kernel(const taper_call *call, const loss_work *work, uint8_t *native)
{
    static const uint8_t natives[] = {
        [TAPER_LOSS_MSE] = TAPER_NATIVE_MSE,
        [TAPER_LOSS_SMOOTH_L1] = TAPER_NATIVE_SMOOTH_L1,
        [TAPER_LOSS_HUBER] = TAPER_NATIVE_HUBER,
        [TAPER_LOSS_BCE] = TAPER_NATIVE_BCE,
        [TAPER_LOSS_BCE_LOGITS] = TAPER_NATIVE_BCE_LOGITS,
        [TAPER_LOSS_KL_DIV] = TAPER_NATIVE_KL_DIV,
        [TAPER_LOSS_SOFT_MARGIN] = TAPER_NATIVE_SOFT_MARGIN,
        [TAPER_LOSS_HINGE] = TAPER_NATIVE_HINGE,
        [TAPER_LOSS_POISSON] = TAPER_NATIVE_POISSON,
    };
    bool floats = work->inputs[3] == NULL && !work->flags[1];
    for (size_t i = 0; i < work->input_count; i++) {
        floats = floats && (work->inputs[i] == NULL || work->inputs[i]->dtype == TAPER_F32);
    }
    // The kernel with logarithms follows the kernel without them in the table.
    *native = (uint8_t)(1 + natives[work->kind] + (work->flags[0] ? 1 : 0));
    // Some builds lack this reduction kernel.
    return floats && !call->run->portable && taper_ret_target(call, 0) == NULL &&
           taper_vector_f32_select(call->run->cpu)->fold[TAPER_REDUCTION_LEAST] != NULL;
}

#endif
