// SPDX-License-Identifier: BSD-2-Clause
// The order in which einsum multiplies its operands.
#ifndef TAPER_OPS_EINSUM_PATH_H
#define TAPER_OPS_EINSUM_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A product of two operands. The product replaces operand `left`, and operand `right` is removed.
typedef struct taper_einsum_step {
    uint8_t left, right; // left < right
} taper_einsum_step;

// Chooses the steps that multiply all operands: count - 1 steps. An operand is a set of dimensions, bit d for dimension
// d of size sizes[d]. `result` is the set of the result's dimensions. The operands are multiplied from left to right,
// as PyTorch does, unless another order is clearly cheaper. Returns true if it chose another order.
bool taper_einsum_path(size_t count, const uint64_t *operands, uint64_t result, const int64_t *sizes,
                       taper_einsum_step *steps);

#endif
