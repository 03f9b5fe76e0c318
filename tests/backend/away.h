// SPDX-License-Identifier: BSD-2-Clause
// A backend for tests. It claims nodes by one of several policies, runs them with the CPU's kernels, and keeps its
// tensors scrambled in its own memory. Code that reads such a tensor without fetching it gets wrong numbers.
#ifndef TAPER_TESTS_AWAY_H
#define TAPER_TESTS_AWAY_H

#include "ops/backend.h"

typedef enum away_claims {
    AWAY_EVERYTHING,   // each region becomes one segment
    AWAY_EVERY_SECOND, // one segment with the nodes 0, 2, 4, …
    AWAY_ODD_PAIRS,    // segments of the nodes 2 and 3, 6 and 7, …
    AWAY_CLAIMS
} away_claims;

typedef struct away_backend {
    taper_backend table; // must be the first member
    away_claims claims;
    unsigned declines; // one in `declines` input shapes is declined when it first occurs; 0: no shape is declined
    bool always_away;  // true if all inputs and results stay on the device, false if some of them stay on the host
    bool keeps_layout; // true if inputs keep PyTorch's memory format; some kernels round differently if it is NHWC
    // Counts of events, in all contexts with this backend.
    atomic_size_t segments, nodes, runs, declined, stored, fetched, memories;
} away_backend;

// A number for the kind of this device, which taper.h does not define.
enum { AWAY_KIND = 1000 };
static const taper_device_choice away_choice = {.struct_size = sizeof away_choice,
                                                .kind = (taper_device_kind)AWAY_KIND};
static const taper_device_choice away_required = {
    .struct_size = sizeof away_required, .kind = (taper_device_kind)AWAY_KIND, .required = 1};

// Fills the backend for the device "away". records: true if the backend makes recordings; a recording checks that later
// calls equal the recorded calls.
void away_init(away_backend *backend, away_claims claims, bool records);
const char *away_claims_name(away_claims claims);

#endif
