// SPDX-License-Identifier: BSD-2-Clause
// Programs that PyTorch 2 quantized (PT2E) compute with floats between quantized_decomposed::dequantize_… and
// quantize_…. This pass replaces an operator and the nodes around it by the quantized operator that they stand for.
// recompose.c walks the graph, recompose_values.c finds how values are quantized, recompose_steps.c makes the
// operators, and recompose_weights.c makes the packed weights of layers.
//
// Integers become quint8, which the fast kernels take: an int8 tensor becomes a uint8 tensor with a zero point that is
// 128 larger. The following remains as it is: parameters that are not constant, a smaller range of integers, a result
// that is also used as a float, anything that is written to.
#ifndef TAPER_COMPILER_RECOMPOSE_H
#define TAPER_COMPILER_RECOMPOSE_H

#include "compiler/layer.h"
#include "compiler/quantization.h"
#include "ir/alias.h"

// Bounds of scales. Products and quotients of three such scales are normal floats.
#define TAPER_RECOMPOSED_LEAST 0x1p-40
#define TAPER_RECOMPOSED_MOST 0x1p+40

typedef struct taper_recomposed {
    bool known;
    // True if a quantized operator made it, which may order images in memory differently from the float operator.
    bool computed;
    taper_qparams qparams;
    int64_t rank; // least number of dimensions
    // Row of the layer that made it, with a following relu included, or NULL if there is none.
    const taper_op *with_relu;
} taper_recomposed;

typedef struct taper_recomposer {
    taper_compilation *compilation;
    taper_graph *graph;
    taper_aliases *aliases;
    taper_recomposed *values; // quint8 tensors, by number of the value
    size_t capacity;
} taper_recomposer;

// ---- recompose_values.c

// Returns what is known of a value. All members are zero if nothing is known.
taper_recomposed taper_recomposed_of(const taper_recomposer *r, const taper_ir_value *value);
TAPER_MUST_USE taper_status taper_recomposed_set(taper_recomposer *r, const taper_ir_value *value,
                                                 taper_recomposed what);
// Returns true if value is a dequantize of integers that are, or can be converted to, a quint8 tensor. *qparams: how
// they are quantized.
bool taper_recompose_source(const taper_recomposer *r, const taper_ir_value *value, taper_qparams *qparams);
// Gives the quint8 tensor of such a dequantize, which is made now if necessary.
TAPER_MUST_USE taper_status taper_recompose_take(taper_recomposer *r, const taper_ir_value *value,
                                                 taper_ir_value **taken);
// Returns true if value is a dequantize of floats that are quantized in each run by their own range. found: the floats,
// then the tensors with scale and zero_point. The integers belong to zero_point plus *raised in uint8.
bool taper_recompose_dynamic(const taper_recomposer *r, const taper_ir_value *value, taper_ir_value *found[3],
                             int64_t *raised);
// Returns the floats that such a dynamic value, or a source, stands for. Returns value itself if these floats may have
// changed by now.
taper_ir_value *taper_recompose_floats(const taper_recomposer *r, taper_ir_value *value);
// Returns true if all uses of value quantize it in the same way, and neither the floats nor the raw integers have other
// uses.
bool taper_recompose_result(const taper_recomposer *r, const taper_ir_value *value, taper_qparams *qparams);
// Returns true if node quantizes floats exactly as they are already quantized, and all uses dequantize its result.
bool taper_recompose_again(const taper_recomposer *r, const taper_node *node);
// Replaces the integers in every dequantize by made, their quint8 form.
TAPER_MUST_USE taper_status taper_recompose_replace(taper_recomposer *r, const taper_ir_value *integers,
                                                    taper_ir_value *made);
// Replaces the quantized form of value in every dequantize by made.
TAPER_MUST_USE taper_status taper_recompose_give(taper_recomposer *r, const taper_ir_value *value,
                                                 taper_ir_value *made);
// Returns a number of dimensions that value has at least.
int64_t taper_least_rank(const taper_recomposer *r, const taper_ir_value *value);
// Reads the arguments `from` to `to` of a decomposed operator as numbers. Returns false if one of them is not constant.
bool taper_constant_numbers(const taper_node *node, size_t from, size_t to, double *numbers);
// Returns true if the argument is a constant that is None or float32.
bool taper_constant_float_dtype(const taper_node *node, size_t index);

// ---- recompose_steps.c

// Replaces node by the quantized operator that it stands for, if this is possible.
TAPER_MUST_USE taper_status taper_recompose_node(taper_recomposer *r, taper_node *node);

// ---- recompose_weights.c

typedef struct taper_recomposed_layer {
    taper_layer layer;                  // layer whose weight is the int8 tensor
    taper_tensor *scales, *zero_points; // scale and zero point per channel; NULL if the whole weight has `qparams`
    taper_qparams qparams;
    int64_t axis;
} taper_recomposed_layer;
// Returns true if node is a convolution or linear layer whose weight is dequantized from constant int8.
bool taper_recompose_layer(const taper_recomposer *r, taper_node *node, taper_recomposed_layer *layer);
// Replaces a product with the transpose of such a weight, with or without a bias, by a linear layer. *linear is that
// layer, or NULL if node does not match.
TAPER_MUST_USE taper_status taper_recompose_product(taper_recomposer *r, taper_node *node, taper_node **linear);
// Returns true if all numbers of the layer fit in integers, for an input with scale `in` and a result with scale `out`
// (0 if the result is float). The bias has 32 bits, in units of the products of its channel; these units are tiny for a
// dead channel.
bool taper_recompose_fits(const taper_recomposed_layer *layer, double in, double out);
// Makes the packed weights of the layer. *object is None if the prepack operator refuses.
TAPER_MUST_USE taper_status taper_recompose_pack(taper_recomposer *r, const taper_recomposed_layer *layer,
                                                 taper_val *object);

#endif
