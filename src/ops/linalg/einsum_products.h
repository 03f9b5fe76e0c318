// SPDX-License-Identifier: BSD-2-Clause
// What einsum does with operands: sums, and the products of two of them.
#ifndef TAPER_OPS_EINSUM_PRODUCTS_H
#define TAPER_OPS_EINSUM_PRODUCTS_H

#include "ops/engine/matmul.h"

enum { TAPER_EINSUM_DIMS = 64 };

// A tensor seen with the dimensions of the equation; those that it has not are of size 1.
typedef struct taper_einsum_operand {
    taper_tensor *tensor; // owned: storage and dtype
    int64_t offset;
    int64_t sizes[TAPER_EINSUM_DIMS], strides[TAPER_EINSUM_DIMS];
} taper_einsum_operand;

// Replaces the operand by its sums over the marked dimensions (which stay, with size 1).
TAPER_MUST_USE taper_status taper_einsum_sum(taper_run *run, size_t dims, taper_einsum_operand *o, const bool *summed);
// a times b, element by element. *to starts zeroed, here and below, and its tensor is the caller's also after a
// failure.
TAPER_MUST_USE taper_status taper_einsum_multiply(taper_run *run, size_t dims, const taper_einsum_operand *a,
                                                  const taper_einsum_operand *b, taper_einsum_operand *to);
// a times b, summed over the marked dimensions, which both have. Where b is the model's, it is packed once.
TAPER_MUST_USE taper_status taper_einsum_contract(taper_call *call, size_t dims, const taper_einsum_operand *a,
                                                  const taper_einsum_operand *b, const bool *summed,
                                                  taper_einsum_operand *to);

#endif
