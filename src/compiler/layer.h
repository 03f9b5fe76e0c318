// SPDX-License-Identifier: BSD-2-Clause
// Convolutions and linear layers as passes look at them: whatever the operator is called, with constant weights.
#ifndef TAPER_COMPILER_LAYER_H
#define TAPER_COMPILER_LAYER_H

#include "compiler/pass.h"
#include "ir/tensor_def.h"

enum { TAPER_LAYER_DIMS = 3 };

typedef struct taper_layer {
    taper_node *node;
    taper_tensor *weight; // constant, float32, written by nobody; [out, in / groups, kernel…], or when transposed
                          // [in, out / groups, kernel…]
    taper_tensor *bias;   // the same; NULL: none
    taper_ir_value *input, *weight_value, *bias_value;
    bool convolution, transposed;
    size_t dims; // of the kernel: 1 to 3; 0: linear
    int64_t stride[TAPER_LAYER_DIMS], padding[TAPER_LAYER_DIMS], dilation[TAPER_LAYER_DIMS],
        output_padding[TAPER_LAYER_DIMS];
    int64_t groups;
    int64_t channels; // of the output
} taper_layer;

// Whether node is such a layer and everything about it is known. Padding given as a word is not.
bool taper_layer_match(const taper_compilation *compilation, taper_node *node, taper_layer *layer);
// The same of a layer whose weight is computed, from this tensor, which has its sizes. NULL: as taper_layer_match.
bool taper_layer_match_weight(const taper_compilation *compilation, taper_node *node, taper_tensor *weight,
                              taper_layer *layer);

// The matrix that this one is the transpose of, by t, transpose or permute; NULL: it is something else.
taper_ir_value *taper_transposed_of(const taper_ir_value *matrix);

#endif
