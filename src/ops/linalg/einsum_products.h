// SPDX-License-Identifier: BSD-2-Clause
// The operations of einsum on operands: sums, and products of two operands.
#ifndef TAPER_OPS_EINSUM_PRODUCTS_H
#define TAPER_OPS_EINSUM_PRODUCTS_H

#include "ops/engine/matmul.h"

enum { TAPER_EINSUM_DIMS = 64 };

// A tensor viewed with the dimensions of the equation. Dimensions that it lacks have size 1.
typedef struct taper_einsum_operand {
    taper_tensor *tensor; // owned tensor that gives storage and dtype
    int64_t offset;
    int64_t sizes[TAPER_EINSUM_DIMS], strides[TAPER_EINSUM_DIMS];
} taper_einsum_operand;

// Replaces the operand by its sums over the marked dimensions, which remain with size 1.
TAPER_MUST_USE taper_status taper_einsum_sum(taper_run *run, size_t dims, taper_einsum_operand *o, const bool *summed);
// Multiplies a and b element by element. In this function and in taper_einsum_contract *to must be zeroed; the caller
// owns to->tensor, also after a failure.
TAPER_MUST_USE taper_status taper_einsum_multiply(taper_run *run, size_t dims, const taper_einsum_operand *a,
                                                  const taper_einsum_operand *b, taper_einsum_operand *to);
// Multiplies a and b and sums over the marked dimensions, which both operands have. If b belongs to the model, it is
// packed once.
TAPER_MUST_USE taper_status taper_einsum_contract(taper_call *call, size_t dims, const taper_einsum_operand *a,
                                                  const taper_einsum_operand *b, const bool *summed,
                                                  taper_einsum_operand *to);
// Brings the elements of an operand into the order of dimensions `order`, which names all of them. Replaces the
// operand's tensor if it needs a copy.
TAPER_MUST_USE taper_status taper_einsum_arrange(taper_run *run, size_t dims, taper_einsum_operand *o,
                                                 const size_t *order);

#endif
