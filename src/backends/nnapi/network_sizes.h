// SPDX-License-Identifier: BSD-2-Clause
// Computes the sizes that a network leaves open until the run (stored as 0), from the sizes of its inputs. The rules
// follow NNAPI's operations, whose sizes equal the sizes of PyTorch's operators.
#ifndef TAPER_BACKENDS_NETWORK_SIZES_H
#define TAPER_BACKENDS_NETWORK_SIZES_H

#include "backends/nnapi/network.h"

typedef enum taper_size_kind {
    TAPER_SIZE_KNOWN,   // the constant `number`
    TAPER_SIZE_INPUT,   // dimension `b` (in the operand's order) of the network's input `a`
    TAPER_SIZE_ADD,     // the sum of size `a` and `number`
    TAPER_SIZE_TIMES,   // the product of size `a` and `number`
    TAPER_SIZE_OVER,    // size `a` / `number`, rounded down
    TAPER_SIZE_SUM,     // the sum of size `a` and size `b`
    TAPER_SIZE_PRODUCT, // the product of size `a` and size `b`
} taper_size_kind;

// A size and how it is computed. `a` and `b` are indices of earlier sizes.
typedef struct taper_size {
    taper_size_kind kind;
    uint32_t a, b;
    int64_t number;
    uint32_t next; // 1 + the index of the previous size with the same hash, or 0 if there is none
} taper_size;

typedef struct taper_network_sizes {
    taper_size *sizes; // the sizes, each of them once
    size_t count;
    uint32_t (*of)[TAPER_MAX_RANK]; // index in `sizes` for each dimension of each operand
} taper_network_sizes;

// Finds all sizes, in the arena. Returns TAPER_ERROR_UNSUPPORTED for an operation without a rule.
TAPER_MUST_USE taper_status taper_network_find_sizes(const taper_network *network, taper_arena *arena,
                                                     taper_network_sizes *sizes, taper_error *error);

#endif
