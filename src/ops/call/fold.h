// SPDX-License-Identifier: BSD-2-Clause
// Results that are known before the run.
#ifndef TAPER_OPS_FOLD_H
#define TAPER_OPS_FOLD_H

#include "ops/list/registry.h"

// The result of a pure operator on numbers, strings, None and frozen lists. False when it is left to the run: it would
// be a tensor, a container or a long string, or the operator raises. *result gets a reference, and lies on heap.
enum { TAPER_FOLD_INPUTS = 16 };
bool taper_fold(taper_registry *registry, taper_heap *heap, const taper_op *op, const taper_schema *schema,
                taper_val *args, size_t count, taper_val *result);

// The same for an operator on constant tensors and, without tensors, for one that makes a small tensor. The result is
// at most most_bytes large, or a view of an argument. The caller knows that the operator is cheap for these arguments.
bool taper_fold_tensor(taper_registry *registry, taper_heap *heap, const taper_op *op, taper_val *args, size_t count,
                       size_t most_bytes, taper_val *result, bool *view);

#endif
