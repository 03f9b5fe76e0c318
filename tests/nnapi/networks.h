// SPDX-License-Identifier: BSD-2-Clause
// Networks made by hand (backends/nnapi/network.h), with what they give for their inputs.
#ifndef TAPER_TESTS_NETWORKS_H
#define TAPER_TESTS_NETWORKS_H

#include "backends/nnapi/execution.h"

typedef enum made_kind {
    MADE_CONV_RELU,   // floats, weights longer than what NNAPI copies
    MADE_QUANT8,      // a convolution of 8-bit integers
    MADE_PER_CHANNEL, // with a scale for each channel: from level 29 on
    MADE_OPEN,        // a sum whose first size only the run tells: from level 29 on
    MADE_OPEN_LARGE,  // the same, larger than the memory is at first
    MADE_TWO,         // two inputs, two results
    MADE_KINDS
} made_kind;

typedef struct made_network {
    made_kind kind;
    taper_network network;
    int first_level;
    size_t in_bytes[2], out_bytes[2];
    unsigned char *in[2], *out[2];
} made_network;

void made_network_create(made_network *made, made_kind kind, const taper_allocator *allocator);
void made_network_free(made_network *made);
// The answers of a run are what they should be.
bool made_network_is_right(const made_network *made, const taper_nnapi_execution *execution);

#endif
