// SPDX-License-Identifier: BSD-2-Clause
// Programs that PyTorch 2 quantized (PT2E) compute with floats between quantized_decomposed::dequantize_… and
// quantize_…. This pass makes of an operator and what is around it the quantized operator that it stands for:
// recompose.c walks the graph, recompose_values.c finds which values are quantized how, recompose_steps.c makes the
// operators, recompose_weights.c the packed weights of layers.
//
// Integers become quint8, which the fast kernels take: an int8 tensor is one of uint8 with a zero point that is 128
// more. What does not fit stays as it is: parameters that are no constants, a range of fewer integers, a result that
// somebody wants as a float, anything that is written to.
#ifndef TAPER_COMPILER_RECOMPOSE_H
#define TAPER_COMPILER_RECOMPOSE_H

#include "compiler/layer.h"
#include "compiler/quantization.h"
#include "ir/alias.h"

// Of scales: products and quotients of three are normal floats.
#define TAPER_RECOMPOSED_LEAST 0x1p-40
#define TAPER_RECOMPOSED_MOST 0x1p+40

typedef struct taper_recomposed {
    bool known;
    bool computed; // by a quantized operator, which may order images otherwise in memory than the float one
    taper_qparams qparams;
    int64_t rank;              // it has at least so many dimensions
    const taper_op *with_relu; // the row of the layer that gives it with a relu behind that; NULL: there is none
} taper_recomposed;

typedef struct taper_recomposer {
    taper_compilation *compilation;
    taper_graph *graph;
    taper_aliases *aliases;
    taper_recomposed *values; // by number, of quint8 tensors
    size_t capacity;
} taper_recomposer;

// ---- recompose_values.c

// What is known of a value; all zero where nothing is.
taper_recomposed taper_recomposed_of(const taper_recomposer *r, const taper_ir_value *value);
TAPER_MUST_USE taper_status taper_recomposed_set(taper_recomposer *r, const taper_ir_value *value,
                                                 taper_recomposed what);
// Whether value is a dequantize of integers that are, or can be had as, a quint8 tensor, and how they are quantized.
bool taper_recompose_source(const taper_recomposer *r, const taper_ir_value *value, taper_qparams *qparams);
// That tensor, made now if need be; value is such a dequantize.
TAPER_MUST_USE taper_status taper_recompose_take(taper_recomposer *r, const taper_ir_value *value,
                                                 taper_ir_value **taken);
// Whether value is a dequantize of floats that are quantized in that run by their own range, and which these are; scale
// and zero_point: tensors that hold them, zero_point of integers that are `raised` below those of uint8.
bool taper_recompose_dynamic(const taper_recomposer *r, const taper_ir_value *value, taper_ir_value *found[3],
                             int64_t *raised);
// The floats that such a value, or a source, stands for, and its own where these may be others by now.
taper_ir_value *taper_recompose_floats(const taper_recomposer *r, taper_ir_value *value);
// Whether value is quantized, always in the same way, and nobody looks at the floats, nor at the integers as such.
bool taper_recompose_result(const taper_recomposer *r, const taper_ir_value *value, taper_qparams *qparams);
// Returns whether node quantizes floats again as they are quantized already, and all uses dequantize its result.
bool taper_recompose_again(const taper_recomposer *r, const taper_node *node);
// Whoever dequantizes the integers takes made instead, which is the same as quint8.
TAPER_MUST_USE taper_status taper_recompose_replace(taper_recomposer *r, const taper_ir_value *integers,
                                                    taper_ir_value *made);
// Whoever dequantizes what value is quantized to takes made instead.
TAPER_MUST_USE taper_status taper_recompose_give(taper_recomposer *r, const taper_ir_value *value,
                                                 taper_ir_value *made);
// A number of dimensions that value has at least.
int64_t taper_least_rank(const taper_recomposer *r, const taper_ir_value *value);
// The arguments `from` to `to` of a decomposed operator as numbers; false where one is no constant.
bool taper_constant_numbers(const taper_node *node, size_t from, size_t to, double *numbers);
// Returns whether the argument is a constant, and None or float32.
bool taper_constant_float_dtype(const taper_node *node, size_t index);

// ---- recompose_steps.c

// Makes of node, if it can, what it stands for.
TAPER_MUST_USE taper_status taper_recompose_node(taper_recomposer *r, taper_node *node);

// ---- recompose_weights.c

typedef struct taper_recomposed_layer {
    taper_layer layer;                  // the weight is the tensor of int8
    taper_tensor *scales, *zero_points; // NULL: the weight has one of each:
    taper_qparams qparams;
    int64_t axis;
} taper_recomposed_layer;
// Whether node is a convolution or linear layer whose weight is dequantized from constant int8.
bool taper_recompose_layer(const taper_recomposer *r, taper_node *node, taper_recomposed_layer *layer);
// A product with the transpose of such a weight, and perhaps a bias, becomes a linear layer, which takes node's place;
// *linear NULL: it is none.
TAPER_MUST_USE taper_status taper_recompose_product(taper_recomposer *r, taper_node *node, taper_node **linear);
// Whether integers hold all of it, for an input of that scale and a result of this one; 0: the result is floats. The
// bias is one of 32 bits in units of a channel's products, as small as these are where a channel is dead.
bool taper_recompose_fits(const taper_recomposed_layer *layer, double in, double out);
// Its packed weights; None when the prepack operator refuses.
TAPER_MUST_USE taper_status taper_recompose_pack(taper_recomposer *r, const taper_recomposed_layer *layer,
                                                 taper_val *object);

#endif
