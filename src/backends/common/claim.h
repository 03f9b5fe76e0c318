// SPDX-License-Identifier: BSD-2-Clause
// Which nodes of a region a backend takes: all that it can have and that need nothing which needs a node that it
// cannot.
#ifndef TAPER_BACKENDS_CLAIM_H
#define TAPER_BACKENDS_CLAIM_H

#include "backends/common/node_reader.h"
#include "ops/backend.h"

typedef struct taper_claimer taper_claimer;
struct taper_claimer {
    // Why the node cannot be had, as far as it is known (a static text, may be ""); NULL: it probably can.
    const char *(*refuses)(const taper_claimer *claimer, taper_region *region, taper_node *node);
    bool (*pays)(const taper_node *node); // one such node makes a claim worth its way; NULL: any does
    bool computes_sizes;                  // nodes that compute with sizes (shape_nodes.h) go with all that look at them
    const void *user;
};

// TAPER_DECLINED: nothing (more) here.
TAPER_MUST_USE taper_status taper_claim_nodes(const taper_claimer *claimer, taper_region *region, taper_claim *claim);
// What a region knows of a value, as taper_node_reader.know; user: the region.
void taper_region_know(void *user, const taper_ir_value *value, taper_known_value *known);

#endif
