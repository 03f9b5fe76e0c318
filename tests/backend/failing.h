// SPDX-License-Identifier: BSD-2-Clause
// A layer that fails on command: the N-th call of some kind returns a given status.
#ifndef TAPER_TESTS_FAILING_H
#define TAPER_TESTS_FAILING_H

#include "tests/backend/layer.h"

typedef struct failing {
    layer layer; // must be the first member
    layer_call call;
    size_t at; // number of the call that fails, counted from 1; 0 if no call fails
    taper_status status;
    atomic_size_t seen; // number of calls of this kind so far
} failing;

void failing_init(failing *failing, const taper_backend *inner); // prepares the layer; no call fails yet
// Makes the at-th call of this kind fail, counted from now.
void failing_arm(failing *failing, layer_call call, size_t at, taper_status status);

#endif
