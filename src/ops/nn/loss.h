// SPDX-License-Identifier: BSD-2-Clause
// Losses. Model files contain them if they were scripted with their training code. Few losses run on a device, so most
// of them are plain loops in doubles.
#ifndef TAPER_OPS_LOSS_H
#define TAPER_OPS_LOSS_H

#include "ops/engine/volume.h"

enum { TAPER_REDUCE_NONE = 0, TAPER_REDUCE_MEAN = 1, TAPER_REDUCE_SUM = 2 };

typedef enum taper_loss_kind {
    TAPER_LOSS_MSE,
    TAPER_LOSS_SMOOTH_L1,
    TAPER_LOSS_HUBER,
    TAPER_LOSS_BCE,
    TAPER_LOSS_BCE_LOGITS,
    TAPER_LOSS_KL_DIV,
    TAPER_LOSS_SOFT_MARGIN,
    TAPER_LOSS_HINGE,
    TAPER_LOSS_POISSON
} taper_loss_kind;

// The parameter of elementwise loss operators.
typedef struct taper_loss {
    taper_loss_kind kind;
} taper_loss;
extern const taper_loss taper_loss_mse, taper_loss_smooth_l1, taper_loss_huber, taper_loss_bce, taper_loss_bce_logits,
    taper_loss_kl_div, taper_loss_soft_margin, taper_loss_hinge, taper_loss_poisson;

TAPER_MUST_USE taper_status taper_loss_reduction(const taper_call *call, size_t at, int64_t *reduction);
// Sets result `at` to a 0-dim tensor with this value.
TAPER_MUST_USE taper_status taper_loss_scalar(taper_call *call, size_t at, taper_dtype dtype, double value);

#endif
