// SPDX-License-Identifier: BSD-2-Clause
// Finds operators by name. One registry per context: the schemas parsed so far.
#ifndef TAPER_OPS_REGISTRY_H
#define TAPER_OPS_REGISTRY_H

#include "ops/list/op_table.h"

typedef struct taper_registry taper_registry;

TAPER_MUST_USE taper_status taper_registry_create(const taper_allocator *allocator, taper_types *types,
                                                  taper_registry **registry, taper_error *error);
void taper_registry_destroy(taper_registry *registry);

taper_heap *taper_registry_heap(taper_registry *registry); // of constants that live as long as the registry

// LAPACK (platform/lapack.h), opened when it is first asked for; NULL when there is none. Thread-safe.
struct taper_lapack;
struct taper_lapack *taper_registry_lapack(taper_registry *registry);

// The parsed schema of a row; kept by the registry. Thread-safe.
TAPER_MUST_USE taper_status taper_registry_schema(taper_registry *registry, const taper_op *op,
                                                  const taper_schema **schema, taper_error *error);

#endif
