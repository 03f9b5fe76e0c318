// SPDX-License-Identifier: BSD-2-Clause
// Fusion. A TAPER_NODE_FUSED node stands for a root operator (a convolution or a linear layer) and what follows it:
// batch norm, a sum with another tensor, an activation. The nodes it stands for are kept in its block as the fallback:
// when the backend's kernel declines (another dtype, rank, layout …) they run as they were, so a kernel only needs to
// do the cases it is made for.
//
// The kernel is that of the root operator. call->args are the root's arguments; behind them, at the positions given
// here, stand the values that the rest needs.
#ifndef TAPER_OPS_FUSION_H
#define TAPER_OPS_FUSION_H

#include "ops/call/call.h"

typedef enum taper_activation {
    TAPER_ACTIVATION_CLAMP, // to [min, max], which are infinite where there is no bound
    TAPER_ACTIVATION_HARDSWISH,
    TAPER_ACTIVATION_HARDSIGMOID,
    TAPER_ACTIVATION_SILU,
    TAPER_ACTIVATION_SIGMOID,
    TAPER_ACTIVATION_GELU,
    TAPER_ACTIVATION_TANH
} taper_activation;

typedef struct taper_fusion {
    uint32_t norm_at; // position in call->args of batch norm's weight, bias, mean, variance; 0: none
    double norm_eps;
    uint32_t add_at;             // position of the other summand; 0: none
    taper_activation activation; // after the sum
    float min, max;
} taper_fusion;

#endif
