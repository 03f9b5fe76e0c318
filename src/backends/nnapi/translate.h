// SPDX-License-Identifier: BSD-2-Clause
// Nodes of a graph as a network of NNAPI. One table says of every operator how (translate_nodes.c); the device's
// recordings and the converter use it, and whether an operator could be taken is asked by the same rules, with less
// known.
//
// Images ([N, C, H, W] for PyTorch) are [N, H, W, C] in a network, unless it is made as PyTorch's converter makes it.
#ifndef TAPER_BACKENDS_TRANSLATE_H
#define TAPER_BACKENDS_TRANSLATE_H

#include "backends/common/claim.h"
#include "backends/nnapi/network.h"

typedef struct taper_translate_options {
    int level;                           // 27 to 31: what the device, or who runs the file, knows
    bool pytorch;                        // as PyTorch's converter does it: one operation for a node, nothing turned
    bool images;                         // inputs of four dimensions come as NNAPI wants images
    bool portable;                       // for a file: operand types that PyTorch's format has, and no more is known of
                                         // shapes than when nodes are asked about
    bool open;                           // sizes that are not known are left to the run
    const taper_ir_value *const *inputs; // which shall be the first inputs, needed or not; may be NULL
    size_t input_count;
    const taper_allocator *allocator;
    taper_heap *heap; // of weights that are laid out anew
    void (*know)(void *user, const taper_ir_value *value, taper_known_value *known);
    void *user;
} taper_translate_options;

typedef struct taper_translated {
    taper_network network;
    // In the network's arena: the values that its inputs are, and of its outputs the scales as doubles (0: of floats).
    const taper_ir_value **inputs;
    const double *scales;
    // TAPER_DECLINED: the node that could not be had, and why, a static text.
    const taper_node *refused;
    const char *why;
} taper_translated;

// The nodes, in order; results are the network's outputs, one for each. Fails with TAPER_DECLINED where a node cannot
// be had with these shapes. The caller frees translated->network, also on failure.
TAPER_MUST_USE taper_status taper_translate(const taper_translate_options *options, taper_node *const *nodes,
                                            size_t count, const taper_ir_value *const *results, size_t result_count,
                                            taper_translated *translated, taper_error *error);

// Why the node cannot be had, as far as it is known (a static text); NULL: it probably can.
const char *taper_translate_refuses(const taper_translate_options *options, taper_node *node);

// taper_claimer.refuses; user: the taper_translate_options, whose `know` is the region's.
const char *taper_nnapi_refuses(const taper_claimer *claimer, taper_region *region, taper_node *node);
// Whether it is a convolution or linear layer, which make going to a device pay.
bool taper_translate_is_layer(const taper_node *node);
// Multiplications and additions of the node, sizes that are not known counted as 1; 0: it has none to speak of.
double taper_translate_work(const taper_translate_options *options, const taper_node *node);

#endif
