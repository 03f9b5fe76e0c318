// SPDX-License-Identifier: BSD-2-Clause
// Networks built in C (backends/nnapi/network.h), with their expected results.
#ifndef TAPER_TESTS_NETWORKS_H
#define TAPER_TESTS_NETWORKS_H

#include "backends/nnapi/execution.h"

typedef enum made_kind {
    MADE_CONV_RELU,   // convolution of floats, with weights that are too large for NNAPI to copy
    MADE_QUANT8,      // convolution of 8-bit integers
    MADE_PER_CHANNEL, // convolution with a scale for each channel; from API level 29 on
    MADE_OPEN,        // sum whose first size is known only at run time; from API level 29 on
    MADE_OPEN_LARGE,  // like MADE_OPEN, but larger than the initial memory for results
    MADE_TWO,         // network with two inputs and two results
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
// Returns true if the results of a run are as expected.
bool made_network_is_right(const made_network *made, const taper_nnapi_execution *execution);

#endif
