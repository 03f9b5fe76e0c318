// SPDX-License-Identifier: BSD-2-Clause
// Convolutions and linear layers with constant weights, in one form for all passes and all names of the operators.
#ifndef TAPER_COMPILER_LAYER_H
#define TAPER_COMPILER_LAYER_H

#include "compiler/pass.h"
#include "ir/tensor_def.h"

enum { TAPER_LAYER_DIMS = 3 };

typedef struct taper_layer {
    taper_node *node;
    // Constant, float32, never written; [out, in / groups, kernel…], or if transposed [in, out / groups, kernel…].
    taper_tensor *weight;
    taper_tensor *bias; // constant, float32, never written; or NULL
    taper_ir_value *input, *weight_value, *bias_value;
    bool convolution, transposed;
    size_t dims; // dimensions of the kernel, 1 to 3; 0 for a linear layer
    int64_t stride[TAPER_LAYER_DIMS], padding[TAPER_LAYER_DIMS], dilation[TAPER_LAYER_DIMS],
        output_padding[TAPER_LAYER_DIMS];
    int64_t groups;
    int64_t channels; // channels of the output
} taper_layer;

// Returns true if node is such a layer and all its numbers are known. Padding given as a word does not match.
bool taper_layer_match(const taper_compilation *compilation, taper_node *node, taper_layer *layer);
// Like taper_layer_match, for a layer whose weight is computed from the tensor weight, which has the sizes of the
// layer's weight. If weight is NULL, this is taper_layer_match.
bool taper_layer_match_weight(const taper_compilation *compilation, taper_node *node, taper_tensor *weight,
                              taper_layer *layer);

// The matrix that this one is the transpose of, by t, transpose or permute; NULL: it is something else.
taper_ir_value *taper_transposed_of(const taper_ir_value *matrix);

#endif
