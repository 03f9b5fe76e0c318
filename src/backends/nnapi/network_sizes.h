// SPDX-License-Identifier: BSD-2-Clause
// Sizes that a network leaves to the run (0), as what follows from the sizes of its inputs: by the rules of NNAPI's
// operations, which are those of PyTorch's operators here.
#ifndef TAPER_BACKENDS_NETWORK_SIZES_H
#define TAPER_BACKENDS_NETWORK_SIZES_H

#include "backends/nnapi/network.h"

typedef enum taper_size_kind {
    TAPER_SIZE_KNOWN,   // number
    TAPER_SIZE_INPUT,   // dimension b, as the operand has it, of the network's input a
    TAPER_SIZE_ADD,     // a + number
    TAPER_SIZE_TIMES,   // a * number
    TAPER_SIZE_OVER,    // a / number, rounded down
    TAPER_SIZE_SUM,     // a + b
    TAPER_SIZE_PRODUCT, // a * b
} taper_size_kind;

// A size; a and b are others that stand before it.
typedef struct taper_size {
    taper_size_kind kind;
    uint32_t a, b;
    int64_t number;
    uint32_t next; // 1 + the one before with the same hash; 0: there is none
} taper_size;

typedef struct taper_network_sizes {
    taper_size *sizes; // each once
    size_t count;
    uint32_t (*of)[TAPER_MAX_RANK]; // of each operand's dimensions
} taper_network_sizes;

// In the arena. TAPER_ERROR_UNSUPPORTED where an operation's rule is not known here.
TAPER_MUST_USE taper_status taper_network_find_sizes(const taper_network *network, taper_arena *arena,
                                                     taper_network_sizes *sizes, taper_error *error);

#endif
