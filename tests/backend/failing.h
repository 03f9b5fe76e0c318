// SPDX-License-Identifier: BSD-2-Clause
// A layer that fails on command: the N-th call of a kind has the answer that it is told.
#ifndef TAPER_TESTS_FAILING_H
#define TAPER_TESTS_FAILING_H

#include "tests/backend/layer.h"

typedef struct failing {
    layer layer; // first
    layer_call call;
    size_t at; // the N-th, from 1; 0: none
    taper_status status;
    atomic_size_t seen; // of that kind
} failing;

void failing_init(failing *failing, const taper_backend *inner);                     // fails at nothing yet
void failing_arm(failing *failing, layer_call call, size_t at, taper_status status); // counts from here

#endif
