// SPDX-License-Identifier: BSD-2-Clause
// The plan of the CPU's segments (ops/backend.h): a convolution or linear layer (the root), then batch norm, a sum with
// another tensor, and an activation. The segment runs the root's kernel. call->args contains the root's arguments, then
// the values for the other steps, at the positions that the struct taper_fusion gives.
#ifndef TAPER_BACKENDS_CPU_FUSION_H
#define TAPER_BACKENDS_CPU_FUSION_H

#include "ops/backend.h"

typedef enum taper_activation {
    TAPER_ACTIVATION_CLAMP, // clamps to [min, max]; a missing bound is infinite
    TAPER_ACTIVATION_HARDSWISH,
    TAPER_ACTIVATION_HARDSIGMOID,
    TAPER_ACTIVATION_SILU,
    TAPER_ACTIVATION_SIGMOID,
    TAPER_ACTIVATION_GELU,
    TAPER_ACTIVATION_TANH
} taper_activation;

typedef struct taper_fusion {
    taper_kernel kernel;
    // Position of batch norm's weight in call->args, followed by bias, mean, variance; or 0 if there is no norm.
    uint32_t norm_at;
    double norm_eps;
    uint32_t add_at;             // position in call->args of the tensor that is added, or 0 if none is added
    taper_activation activation; // activation, applied after the sum
    float min, max;
} taper_fusion;

// Returns the fusion of the call, or NULL if the call is a single operator.
static inline const taper_fusion *taper_fusion_of(const taper_call *call)
{
    return call->plan;
}

taper_status taper_cpu_claim(taper_device *device, taper_region *region, taper_claim *claim, taper_error *error);
taper_status taper_cpu_plan(taper_device *device, taper_segment *segment, taper_arena *arena, taper_error *error);
taper_status taper_cpu_run(const taper_segment *segment, taper_call *call, void *recording);

#endif
