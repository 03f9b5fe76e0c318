// SPDX-License-Identifier: BSD-2-Clause
// Computes results before the run, from known arguments.
#ifndef TAPER_OPS_FOLD_H
#define TAPER_OPS_FOLD_H

#include "ops/list/registry.h"

// Computes the result of a pure operator on numbers, strings, None and frozen lists. Returns false if the operator must
// run in each run: the result would be a tensor, a container or a long string, or the operator raises. *result receives
// a reference to a value on `heap`. TAPER_FOLD_INPUTS: largest number of arguments of a folded operator.
enum { TAPER_FOLD_INPUTS = 16 };
bool taper_fold(taper_registry *registry, taper_heap *heap, const taper_op *op, const taper_schema *schema,
                taper_val *args, size_t count, taper_val *result);

// Computes the result of an operator on constant tensors, or of an operator without tensor arguments that makes a small
// tensor. The result has at most most_bytes bytes, or is a view of an argument. The caller knows that the operator is
// cheap for these arguments.
bool taper_fold_tensor(taper_registry *registry, taper_heap *heap, const taper_op *op, taper_val *args, size_t count,
                       size_t most_bytes, taper_val *result, bool *view);

#endif
