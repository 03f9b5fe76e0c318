// SPDX-License-Identifier: BSD-2-Clause
// Dropout in training.
#ifndef TAPER_OPS_DROPOUT_H
#define TAPER_OPS_DROPOUT_H

#include "ops/call/call.h"

typedef struct taper_dropout {
    bool features; // true if whole channels are dropped
    bool alpha;    // true for alpha dropout, which keeps the mean and the variance of a SELU's output
} taper_dropout;

extern const taper_dropout taper_dropout_plain, taper_dropout_features, taper_dropout_alpha,
    taper_dropout_alpha_features;

#endif
