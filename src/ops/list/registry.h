// SPDX-License-Identifier: BSD-2-Clause
// Finds operators by name. Each context has one registry, with the schemas parsed so far.
#ifndef TAPER_OPS_REGISTRY_H
#define TAPER_OPS_REGISTRY_H

#include "ops/list/op_table.h"

typedef struct taper_registry taper_registry;

TAPER_MUST_USE taper_status taper_registry_create(const taper_allocator *allocator, taper_types *types,
                                                  taper_registry **registry, taper_error *error);
void taper_registry_destroy(taper_registry *registry);

// Returns the heap for constants that live as long as the registry.
taper_heap *taper_registry_heap(taper_registry *registry);

// Returns LAPACK (platform/lapack.h), opened at the first call, or NULL if there is none. Any thread may call this.
struct taper_lapack;
struct taper_lapack *taper_registry_lapack(taper_registry *registry);

// Returns the parsed schema of a row, which the registry owns. Any thread may call this.
TAPER_MUST_USE taper_status taper_registry_schema(taper_registry *registry, const taper_op *op,
                                                  const taper_schema **schema, taper_error *error);

#endif
