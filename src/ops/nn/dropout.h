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

// native_dropout(x, p) in training: result and mask.
TAPER_MUST_USE taper_status taper_native_dropout_train(taper_call *call, taper_tensor *x, double p);
// rrelu(self, …) in training. noise: receives the slopes; NULL: nobody wants them.
TAPER_MUST_USE taper_status taper_rrelu_train(taper_call *call, taper_tensor *noise, double lower, double upper);

#endif
