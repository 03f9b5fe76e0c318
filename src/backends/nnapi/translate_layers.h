// SPDX-License-Identifier: BSD-2-Clause
// Functions that the rules for convolutions and linear layers share, float and quantized.
#ifndef TAPER_BACKENDS_TRANSLATE_LAYERS_H
#define TAPER_BACKENDS_TRANSLATE_LAYERS_H

#include "backends/nnapi/translating.h"

typedef struct taper_conv_geometry {
    int64_t stride[2], padding[2], padding_end[2], dilation[2], groups; // arrays in the order height, width
    bool transposed;
} taper_conv_geometry;

// The operands of a convolution.
typedef struct taper_conv_layer {
    uint32_t input, weight, bias;
    bool nchw;
} taper_conv_layer;

enum { TAPER_CONV_PLAIN, TAPER_CONV_DEPTHWISE, TAPER_CONV_GROUPED };

// Returns the kind of convolution: TAPER_CONV_PLAIN, TAPER_CONV_DEPTHWISE or TAPER_CONV_GROUPED. `in` is the number of
// channels of the input.
int taper_conv_kind(const taper_conv_geometry *g, int64_t in);
int32_t taper_conv_code(const taper_conv_geometry *g, int kind); // returns the operation, a code ANEURALNETWORKS_…
TAPER_MUST_USE taper_status taper_translate_check_geometry(taper_translator *t, const taper_conv_geometry *g, int kind);
// Refuses a layer if the size of x's dimension `dim` (counted from the end) is known and is not the number of inputs of
// the layer's weights. Such a layer fails in a run, and its network would be invalid.
TAPER_MUST_USE taper_status taper_translate_check_inputs(taper_translator *t, const taper_ir_value *x, int dim,
                                                         int64_t inputs);
// Returns the order in which a weight's dimensions must be: [out, in, H, W] becomes [out, H, W, in]; depthwise [C, 1,
// H, W] becomes [1, H, W, C]; transposed [in, out, H, W] becomes [out, H, W, in].
const uint8_t *taper_conv_weight_order(const taper_conv_geometry *g, int kind);
// Adds the operation with its arguments. The operands in l exist already.
TAPER_MUST_USE taper_status taper_translate_add_conv(taper_translator *t, const taper_conv_geometry *g, int kind,
                                                     int64_t multiplier, const taper_conv_layer *l, uint32_t *in,
                                                     size_t *count);
// Adds a linear layer on rows of inputs. An input of more than two dimensions is viewed as rows, and the result gets
// the input's leading dimensions. q is the quantizer of the result, or NULL for float.
TAPER_MUST_USE taper_status taper_translate_add_linear(taper_translator *t, const taper_ir_value *x, uint32_t weight,
                                                       uint32_t bias, int64_t outs, const taper_result_quantizer *q);
// Reads the object of packed weights, argument 1 of the node. The operator that packed the weights has checked it.
TAPER_MUST_USE taper_status taper_translate_packed(taper_translator *t, const taper_node *node, taper_object **object);

#endif
