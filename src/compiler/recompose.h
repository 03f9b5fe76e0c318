// SPDX-License-Identifier: BSD-2-Clause
// Programs that PyTorch 2 quantized (PT2E) compute with floats between quantized_decomposed::dequantize_… and
// quantize_…. This pass replaces such an operator and the conversions around it by one quantized operator. recompose.c
// visits the graph, recompose_values.c finds how values are quantized, recompose_steps.c makes the operators, and
// recompose_weights.c makes the packed weights of layers.
//
// The fast kernels take quint8, so all integers become quint8: an int8 tensor becomes a uint8 tensor with a zero point
// that is 128 larger. The pass does not change operators with parameters that are not constant, with a smaller range of
// integers, with a result that is also used as a float, or with tensors that are written to.
#ifndef TAPER_COMPILER_RECOMPOSE_H
#define TAPER_COMPILER_RECOMPOSE_H

#include "compiler/layer.h"
#include "compiler/quantization.h"
#include "ir/alias.h"

// Smallest and largest scale of the operators that this pass replaces. Products and quotients of three such scales are
// normal floats.
#define TAPER_RECOMPOSED_LEAST 0x1p-40
#define TAPER_RECOMPOSED_MOST 0x1p+40

typedef struct taper_recomposed {
    bool known;
    // True if a quantized operator made the value. Such an operator may store images in another memory format than the
    // float operator does.
    bool computed;
    taper_qparams qparams;
    int64_t rank; // smallest number of dimensions that the value can have
    // Operator for the layer that made the value, including the relu that follows, or NULL if there is no such
    // operator.
    const taper_op *with_relu;
} taper_recomposed;

typedef struct taper_recomposer {
    taper_compilation *compilation;
    taper_graph *graph;
    taper_aliases *aliases;
    taper_recomposed *values; // quint8 tensors, indexed by the number of the value
    size_t capacity;
} taper_recomposer;

// ---- recompose_values.c

// Returns the known facts about a value. All members are zero if nothing is known.
taper_recomposed taper_recomposed_of(const taper_recomposer *r, const taper_ir_value *value);
TAPER_MUST_USE taper_status taper_recomposed_set(taper_recomposer *r, const taper_ir_value *value,
                                                 taper_recomposed what);
// Returns true if `value` is the dequantized form of integers that are, or can be converted to, a quint8 tensor.
// *qparams receives the scale and zero point.
bool taper_recompose_source(const taper_recomposer *r, const taper_ir_value *value, taper_qparams *qparams);
// Returns in *taken the quint8 tensor whose dequantized form is `value`. Inserts a conversion to quint8 if necessary.
TAPER_MUST_USE taper_status taper_recompose_take(taper_recomposer *r, const taper_ir_value *value,
                                                 taper_ir_value **taken);
// Returns true if `value` was quantized dynamically and dequantized: each run computes scale and zero_point from the
// range of the floats. found: the floats, then the tensors scale and zero_point. *raised is 128 if the integers are
// int8, or 0 if they are uint8; zero_point plus *raised is the zero point for uint8.
bool taper_recompose_dynamic(const taper_recomposer *r, const taper_ir_value *value, taper_ir_value *found[3],
                             int64_t *raised);
// Returns the floats from which a dequantized value was quantized. Returns `value` itself if these floats may have
// changed since.
taper_ir_value *taper_recompose_floats(const taper_recomposer *r, taper_ir_value *value);
// Returns true if all uses quantize `value` in the same way, and neither the floats nor the integers before their
// conversion have other uses.
bool taper_recompose_result(const taper_recomposer *r, const taper_ir_value *value, taper_qparams *qparams);
// Returns true if `node` quantizes floats with the scale and zero point with which they were quantized before, and all
// uses dequantize its result.
bool taper_recompose_again(const taper_recomposer *r, const taper_node *node);
// Makes every dequantize node of `integers` read `made`, their quint8 form.
TAPER_MUST_USE taper_status taper_recompose_replace(taper_recomposer *r, const taper_ir_value *integers,
                                                    taper_ir_value *made);
// Makes every dequantize node of the quantized form of `value` read `made`.
TAPER_MUST_USE taper_status taper_recompose_give(taper_recomposer *r, const taper_ir_value *value,
                                                 taper_ir_value *made);
// Returns a lower bound of the number of dimensions of `value`.
int64_t taper_least_rank(const taper_recomposer *r, const taper_ir_value *value);
// Reads the arguments from index `from` to before `to` of a decomposed operator as numbers. Returns false if one of
// them is not constant.
bool taper_constant_numbers(const taper_node *node, size_t from, size_t to, double *numbers);
// Returns true if the argument is the constant None or the constant dtype float32.
bool taper_constant_float_dtype(const taper_node *node, size_t index);

// ---- recompose_steps.c

// Replaces a float node and the conversions around it by the quantized operator, if this is possible.
TAPER_MUST_USE taper_status taper_recompose_node(taper_recomposer *r, taper_node *node);

// ---- recompose_weights.c

typedef struct taper_recomposed_layer {
    taper_layer layer;                  // layer whose weight is an int8 tensor
    taper_tensor *scales, *zero_points; // scale and zero point of each channel; NULL if the whole weight has `qparams`
    taper_qparams qparams;
    int64_t axis;
} taper_recomposed_layer;
// Returns true if `node` is a convolution or linear layer whose weight is dequantized from a constant int8 tensor.
bool taper_recompose_layer(const taper_recomposer *r, taper_node *node, taper_recomposed_layer *layer);
// Replaces a product with the transpose of a dequantized int8 weight, with or without a bias, by a linear layer.
// *linear receives that layer, or NULL if `node` does not match.
TAPER_MUST_USE taper_status taper_recompose_product(taper_recomposer *r, taper_node *node, taper_node **linear);
// Returns true if all integers of the layer are in range, for an input with scale `in` and a result with scale `out` (0
// if the result is float). The bias is a 32-bit integer in units of input scale times the channel's weight scale, which
// is tiny for a channel whose weights are all 0.
bool taper_recompose_fits(const taper_recomposed_layer *layer, double in, double out);
// Makes the packed weights of the layer. *object is None if the prepack operator refuses the layer.
TAPER_MUST_USE taper_status taper_recompose_pack(taper_recomposer *r, const taper_recomposed_layer *layer,
                                                 taper_val *object);

#endif
