// SPDX-License-Identifier: BSD-2-Clause
// Dropout while training.
#ifndef TAPER_OPS_DROPOUT_H
#define TAPER_OPS_DROPOUT_H

#include "ops/call/call.h"

typedef struct taper_dropout {
    bool features; // whole channels
    bool alpha;    // keeps mean and variance of what a SELU gives
} taper_dropout;

extern const taper_dropout taper_dropout_plain, taper_dropout_features, taper_dropout_alpha,
    taper_dropout_alpha_features;

#endif
