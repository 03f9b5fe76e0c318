// SPDX-License-Identifier: BSD-2-Clause
// Translates nodes of a graph to a network of NNAPI. One table has a rule for every operator (translate_nodes.c).
// Recordings of the device and the converter use this table. While nodes are claimed, when less is known about them,
// the same rules decide if an operator is supported.
//
// Images ([N, C, H, W] in PyTorch) are [N, H, W, C] in a network, unless nodes are translated as PyTorch's converter
// does it.
#ifndef TAPER_BACKENDS_TRANSLATE_H
#define TAPER_BACKENDS_TRANSLATE_H

#include "backends/common/claim.h"
#include "backends/nnapi/network.h"

typedef struct taper_translate_options {
    int level;    // API level, 27 to 31, of the device or of the phones that will run the file
    bool pytorch; // true to translate as PyTorch's converter does: one operation per node, without transposing
    bool images;  // true if four-dimensional inputs have NNAPI's order of images
    // True if the network is for a file: it has only operand types of PyTorch's format, and no shapes are learned
    // later.
    bool portable;
    bool open;                           // true if one size of a tensor may be unknown until the run
    const taper_ir_value *const *inputs; // values that become the first inputs, even if no node uses them; may be NULL
    size_t input_count;
    const taper_allocator *allocator;
    taper_heap *heap; // heap for reordered copies of weights
    void (*know)(void *user, const taper_ir_value *value, taper_known_value *known);
    void *user;
} taper_translate_options;

typedef struct taper_translated {
    taper_network network;
    // Arrays in the network's arena: the values of the inputs; the exact scales of the outputs, 0 for floats.
    const taper_ir_value **inputs;
    const double *scales;
    // After TAPER_DECLINED: the unsupported node and the reason, a static text.
    const taper_node *refused;
    const char *why;
} taper_translated;

// Translates the nodes, in order. Each of the results becomes an output of the network. Returns TAPER_DECLINED if a
// node is not supported for these shapes. The caller frees translated->network, also on failure.
TAPER_MUST_USE taper_status taper_translate(const taper_translate_options *options, taper_node *const *nodes,
                                            size_t count, const taper_ir_value *const *results, size_t result_count,
                                            taper_translated *translated, taper_error *error);

// Returns a static text that says why the node is not supported. Returns NULL if the known facts do not exclude the
// node.
const char *taper_translate_refuses(const taper_translate_options *options, taper_node *node);

// Does what taper_translate_refuses does, as a function for taper_claimer.refuses. claimer->user is the
// taper_translate_options, whose `know` reads facts of the region.
const char *taper_nnapi_refuses(const taper_claimer *claimer, taper_region *region, taper_node *node);
// Returns true for a convolution or linear layer. Only such layers make a device worthwhile.
bool taper_translate_is_layer(const taper_node *node);
// Returns the number of multiplications and additions of the node, with unknown sizes counted as 1, or 0 if this number
// is negligible.
double taper_translate_work(const taper_translate_options *options, const taper_node *node);

#endif
