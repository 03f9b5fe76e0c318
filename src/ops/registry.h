// SPDX-License-Identifier: BSD-2-Clause
// Finds operators by name. One registry per context: an index over the static rows, and the schemas parsed so far.
#ifndef TAPER_OPS_REGISTRY_H
#define TAPER_OPS_REGISTRY_H

#include "ops/call.h"
#include "ops/op_config.h"

// Row numbers: TAPER_ROW_aten_add_Tensor and so on.
enum {
#define OP(id, schema, kernel, param, flags) TAPER_OP_IF(id, TAPER_ROW_##id, )
#include "ops/op_list.h"
#undef OP
    TAPER_ROW_COUNT
};

extern const taper_op taper_ops[]; // by row number
#define TAPER_OP_ROW(id) (&taper_ops[TAPER_ROW_##id])

typedef struct taper_registry taper_registry;

TAPER_MUST_USE taper_status taper_registry_create(const taper_allocator *allocator, taper_types *types,
                                                  taper_registry **registry, taper_error *error);
void taper_registry_destroy(taper_registry *registry);

taper_heap *taper_registry_heap(taper_registry *registry); // of constants that live as long as the registry

// LAPACK (platform/lapack.h), opened when it is first asked for; NULL when there is none. Thread-safe.
struct taper_lapack;
struct taper_lapack *taper_registry_lapack(taper_registry *registry);

// NULL when there is no such operator.
const taper_op *taper_registry_find(const taper_registry *registry, const char *name, const char *overload);
// The rows of one name, in the order of the list: the first (after NULL) or the next; NULL at the end. Thread-safe.
const taper_op *taper_registry_overloads(taper_registry *registry, const char *name, const taper_op *after);
// The parsed schema of a row; kept by the registry. Thread-safe.
TAPER_MUST_USE taper_status taper_registry_schema(taper_registry *registry, const taper_op *op,
                                                  const taper_schema **schema, taper_error *error);

#endif
