// SPDX-License-Identifier: BSD-2-Clause
// A backend for tests. It claims what its policy says, runs the plain nodes with the CPU's kernels, and keeps its
// tensors scrambled in memory of its own, so that whoever reads them without fetching gets nonsense.
#ifndef TAPER_TESTS_AWAY_H
#define TAPER_TESTS_AWAY_H

#include "ops/backend.h"

typedef enum away_claims {
    AWAY_EVERYTHING,   // a region is one segment
    AWAY_EVERY_SECOND, // one segment of the nodes 0, 2, 4, …
    AWAY_ODD_PAIRS,    // segments of the nodes 2 and 3, 6 and 7, …
    AWAY_CLAIMS
} away_claims;

typedef struct away_backend {
    taper_backend table; // first
    away_claims claims;
    unsigned declines; // one in so many shapes is declined when it is met; 0: none
    bool always_away;  // every input and every result is with the device, else most
    bool keeps_layout; // no input is wanted in PyTorch's order, in which some kernels round otherwise than in hidden
                       // NHWC
    // What happened, in all contexts that have it.
    atomic_size_t segments, nodes, runs, declined, stored, fetched, memories;
} away_backend;

// Its kind of device, which no host can name.
enum { AWAY_KIND = 1000 };
static const taper_device_choice away_choice = {.struct_size = sizeof away_choice,
                                                .kind = (taper_device_kind)AWAY_KIND};
static const taper_device_choice away_required = {
    .struct_size = sizeof away_required, .kind = (taper_device_kind)AWAY_KIND, .required = 1};

// As device "away". records: it has recordings, which say later calls whether they are the calls they were made for.
void away_init(away_backend *backend, away_claims claims, bool records);
const char *away_claims_name(away_claims claims);

#endif
