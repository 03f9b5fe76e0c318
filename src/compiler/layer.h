// SPDX-License-Identifier: BSD-2-Clause
// Describes convolutions and linear layers with constant weights in one struct, whichever operator computes them.
#ifndef TAPER_COMPILER_LAYER_H
#define TAPER_COMPILER_LAYER_H

#include "compiler/pass.h"
#include "ir/tensor_def.h"

enum { TAPER_LAYER_DIMS = 3 };

typedef struct taper_layer {
    taper_node *node;
    // Constant float32 weight that no code writes: [out, in / groups, kernel…], or [in, out / groups, kernel…] if the
    // layer is transposed.
    taper_tensor *weight;
    taper_tensor *bias; // constant float32 bias that no code writes, or NULL
    taper_ir_value *input, *weight_value, *bias_value;
    bool convolution, transposed;
    size_t dims; // dimensions of the kernel, 1 to 3; 0 for a linear layer
    int64_t stride[TAPER_LAYER_DIMS], padding[TAPER_LAYER_DIMS], dilation[TAPER_LAYER_DIMS],
        output_padding[TAPER_LAYER_DIMS];
    int64_t groups;
    int64_t channels; // channels of the output
} taper_layer;

// Returns true if `node` is a layer with constant weights and constant settings, and fills *layer. Padding given as a
// string ("same") does not match.
bool taper_layer_match(const taper_compilation *compilation, taper_node *node, taper_layer *layer);
// Works like taper_layer_match, but reads the weight from the tensor `weight`, from which the layer's weight is
// computed and which has the same sizes. If `weight` is NULL, this is taper_layer_match.
bool taper_layer_match_weight(const taper_compilation *compilation, taper_node *node, taper_tensor *weight,
                              taper_layer *layer);

// Returns the matrix that `matrix` is the transpose of (made by t, transpose or permute), or NULL if `matrix` is not a
// transpose.
taper_ir_value *taper_transposed_of(const taper_ir_value *matrix);

#endif
