// SPDX-License-Identifier: BSD-2-Clause
// A layer that checks whether a backend and the library keep the contract in ops/backend.h, and counts violations.
#ifndef TAPER_TESTS_VALIDATE_H
#define TAPER_TESTS_VALIDATE_H

#include "tests/backend/layer.h"

typedef struct validator {
    layer layer;              // must be the first member
    atomic_size_t complaints; // number of violations, which are also printed on stderr
    atomic_size_t calls[LAYER_CALLS];
    atomic_size_t devices, recordings, memories; // numbers of live objects
} validator;

void validator_init(validator *validator, const taper_backend *inner);
// Call this after all contexts with the layer are destroyed. Returns true if there were no violations and no object of
// the backend is left.
bool validator_is_content(validator *validator);

#endif
