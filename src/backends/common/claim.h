// SPDX-License-Identifier: BSD-2-Clause
// Chooses the nodes of a region that a backend runs (the claim). A claim contains the nodes that the backend supports.
// It leaves out a supported node that depends on an unsupported node, if that unsupported node depends on a node of the
// claim.
#ifndef TAPER_BACKENDS_CLAIM_H
#define TAPER_BACKENDS_CLAIM_H

#include "backends/common/node_reader.h"
#include "ops/backend.h"

typedef struct taper_claimer taper_claimer;
struct taper_claimer {
    // Returns why the backend does not support the node (a static text, "" if the reason is not known), or NULL if the
    // backend probably supports the node.
    const char *(*refuses)(const taper_claimer *claimer, taper_region *region, taper_node *node);
    // Returns true if a claim of this node alone is worth its overhead. The pointer is NULL if this is true for every
    // node.
    bool (*pays)(const taper_node *node);
    // True if the backend takes nodes that compute with sizes (shape_nodes.h), together with all their users.
    bool computes_sizes;
    const void *user;
};

// Claims nodes of the region. Returns TAPER_DECLINED if no further node can be claimed.
TAPER_MUST_USE taper_status taper_claim_nodes(const taper_claimer *claimer, taper_region *region, taper_claim *claim);
// Fills *known with what is known about a value while nodes of a region are claimed, as taper_node_reader.know
// requires. `user` is the region.
void taper_region_know(void *user, const taper_ir_value *value, taper_known_value *known);

#endif
