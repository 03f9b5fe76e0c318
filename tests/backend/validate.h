// SPDX-License-Identifier: BSD-2-Clause
// A layer that holds both sides of the seam to what ops/backend.h says, and counts where they do not keep to it.
#ifndef TAPER_TESTS_VALIDATE_H
#define TAPER_TESTS_VALIDATE_H

#include "tests/backend/layer.h"

typedef struct validator {
    layer layer;              // first
    atomic_size_t complaints; // said on stderr, too
    atomic_size_t calls[LAYER_CALLS];
    atomic_size_t devices, recordings, memories; // alive
} validator;

void validator_init(validator *validator, const taper_backend *inner);
// When all contexts that had it are gone: nothing was wrong, and nothing is left.
bool validator_is_content(validator *validator);

#endif
