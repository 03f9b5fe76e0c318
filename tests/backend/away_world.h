// SPDX-License-Identifier: BSD-2-Clause
// A context whose models may run on the backend for tests. A validating layer is above the backend, and a layer that
// can fail is below the validating layer. The context has a counting allocator.
#ifndef TAPER_TESTS_AWAY_WORLD_H
#define TAPER_TESTS_AWAY_WORLD_H

#include "tests/api/fixture.h"
#include "tests/backend/away.h"
#include "tests/backend/failing.h"
#include "tests/backend/validate.h"

typedef struct world {
    away_backend away;
    failing failing;
    validator validator;
    taper_backend cpu;
    const taper_backend *backends[3];
    test_allocator allocator;
    taper_context *context;
    taper_error *error;
} world;

// Opens the context. `declines`: see away_backend. The CPU does not fuse nodes into chains, because a chain and the
// separate nodes compute batch norm in different orders.
void open_world(world *w, away_claims claims, bool records, unsigned declines);
// Closes the context. Fails the test if the validating layer has found violations or objects are not freed.
void close_world(world *w, const char *what);
// Loads a committed model on the device "away".
taper_status world_load(taper_context *context, const char *file, taper_model **model, taper_error *error);

#endif
