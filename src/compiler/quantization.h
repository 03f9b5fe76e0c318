// SPDX-License-Identifier: BSD-2-Clause
// Quantization after training, in four parts. quantize_plan.c chooses the operators that shall compute with integers
// (called steps), and the groups of values that share a scale and a zero point. quantization.c passes the values of
// calibration runs to observers. quantize_rewrite.c turns each step into the quantized operator, with
// quantize_per_tensor and dequantize between integers and floats. quantize_weights.c makes the packed parameters. The
// list of operators is in quantize_steps.c.
//
// The rules are the same as in PyTorch's quantize_fx for QNNPACK, with one difference. An activation that clamps
// (relu6, hardtanh, clamp) is merged into the layer before it. The result of the layer then has the clamped range, and
// no integers are wasted on numbers outside that range.
//
// All data is stored by the numbers of values, which are equal in every draft of a file that was prepared in the same
// way. One draft is planned and calibrated; other drafts are rewritten with the data of the planned draft.
#ifndef TAPER_COMPILER_QUANTIZATION_H
#define TAPER_COMPILER_QUANTIZATION_H

#include "compiler/layer.h"
#include "compiler/observer.h"
#include "ir/alias.h"

extern const taper_quantization_table taper_quantization_functions;

typedef enum taper_step_kind {
    TAPER_STEP_LAYER,     // convolution or linear layer with constant weights
    TAPER_STEP_DYNAMIC,   // linear layer whose input is quantized during the run
    TAPER_STEP_RECURRENT, // LSTM or GRU whose linear layers quantize their inputs during the run
    TAPER_STEP_PAIR,      // sum or product of two tensors
    TAPER_STEP_CURVE,     // operator on one tensor that takes the scale and zero point of its result as arguments
    TAPER_STEP_FIXED,     // operator whose result always has the same scale and zero point
    TAPER_STEP_KEEP,      // operator whose result has the scale and zero point of its input
    TAPER_STEP_JOIN       // cat: all inputs and the result have the same scale and zero point
} taper_step_kind;

typedef struct taper_quantize_step {
    taper_step_kind kind;
    uint32_t value;  // number of the operator's result
    uint32_t result; // number of the step's result: the result of a merged activation, otherwise equal to `value`
    uint32_t made;   // number of the quantized result in a rewritten graph
    bool relu;       // true if the step includes a relu, or an activation that clamps at 0 from below
    bool kept_float;
    const char *name;    // name of the module, or name of the operator plus a number; owned by the quantization
    const char *op_name; // name of the operator, borrowed from the schema
} taper_quantize_step;

#define TAPER_NO_STEP UINT32_MAX

#define TAPER_NO_VALUE UINT32_MAX

// One value of the graph; the index is the number of the value.
typedef struct taper_quantize_value {
    uint32_t group;     // number of another value of the group; the head of the group has its own number here
    uint32_t step;      // number of the step whose `value` is this value, or TAPER_NO_STEP
    bool is_float;      // true if the value was a non-empty float32 tensor in the first run
    bool native;        // true if a step computes the value as integers, or the caller passes integers
    bool wanted;        // true if a step takes the value as integers
    bool parameter;     // true for a parameter of forward that the caller quantizes
    bool observed;      // true if the observer of the group records this value
    uint8_t rank;       // number of dimensions in the first run
    uint32_t feeds;     // number of the result of the If that this value may become, or TAPER_NO_VALUE
    uint32_t made_from; // in the graph being rewritten: number of the float value that was quantized to make this one
    // The following members are valid only in the head of a group.
    bool fixed, bounded;
    // Scale and zero point of the group; if the group is not fixed, valid after the ranges are computed.
    taper_qparams qparams;
    float low, high; // smallest and largest possible element, valid if `bounded`
    taper_observer observer;
    // Statistics for bias correction of a layer with this input: the sum of each channel.
    double *sums;
    // Number of channels, their dimension, and number of elements of each channel.
    int64_t channels, channel_dim, elements;
} taper_quantize_value;

struct taper_quantization {
    const taper_allocator *allocator;
    taper_quantize_options options;
    taper_arena arena; // memory for names
    taper_quantize_value *values;
    uint32_t value_count;
    taper_quantize_step *steps;
    size_t step_count, step_capacity;
    bool planned, ranged;
    bool learned; // true if values were observed since the ranges were last computed
};

static inline bool taper_is_static(const taper_quantization *q)
{
    return q->options.mode != TAPER_QUANTIZE_DYNAMIC;
}
// Returns the head of the value's group.
uint32_t taper_group_of(const taper_quantization *q, uint32_t value);
static inline taper_qparams taper_group_qparams(const taper_quantization *q, uint32_t value)
{
    return q->values[taper_group_of(q, value)].qparams;
}

// ---- quantize_steps.c

// Finds the kind of step for an operator that is not a layer. Returns false if the operator, with the constant
// arguments of this call, cannot be a step.
bool taper_step_kind_of(const taper_node *node, taper_step_kind *kind);
// Returns the quantized operator for `node`. If `relu` is true, returns the operator that also applies the relu after
// the node. Returns NULL if this build has no such operator.
const taper_op *taper_quantized_row(const taper_node *node, bool relu);
// Returns the scale and zero point of the result of a TAPER_STEP_FIXED step.
taper_qparams taper_fixed_qparams(const taper_node *node);
// Finds the bounds of an activation that only clamps. The bounds include 0.
bool taper_activation_bounds(const taper_node *node, float *low, float *high);
// Returns true if a quantized operator exists for the layer.
bool taper_layer_is_quantizable(const taper_layer *layer, bool dynamic);
// Returns the only user of `node` if it is an operator of the same block, so that it can be merged into `node`.
// Otherwise returns NULL.
taper_node *taper_only_user(const taper_node *node);

// ---- quantize_plan.c
TAPER_MUST_USE taper_status taper_quantize_plan(taper_quantization *q, taper_compilation *compilation,
                                                taper_graph *graph);
// Returns true if the use returns the value, alone or in a tuple, list or dict.
bool taper_use_is_returned(const taper_value_use *use);

// ---- quantization.c

// Computes the scale and zero point of every group.
void taper_quantize_ranges(taper_quantization *q);

// ---- quantize_weights.c

// Makes the object of packed parameters for the quantized layer by calling its prepack operator. *object is None if the
// operator refuses. input: number of the value that is the layer's input.
TAPER_MUST_USE taper_status taper_pack_layer(const taper_quantization *q, taper_compilation *compilation,
                                             const taper_layer *layer, uint32_t input, taper_val *object);
// Works like taper_pack_layer, for a weight that is already quantized. bias: a tensor or None.
TAPER_MUST_USE taper_status taper_pack_quantized(taper_compilation *compilation, const taper_layer *layer,
                                                 taper_val weight, taper_val bias, taper_val *object);
// Quantizes the weight to qint8. If per_channel is true, `axis` is the dimension of the output channels.
TAPER_MUST_USE taper_status taper_quantize_weight(taper_compilation *compilation, taper_tensor *weight,
                                                  bool per_channel, size_t axis, taper_val *quantized);
// Calls the prepack operator `op` with the arguments `args`. *object is None if the operator refuses.
TAPER_MUST_USE taper_status taper_prepack(taper_compilation *compilation, const taper_op *op, taper_val *args,
                                          size_t count, taper_val *object);

// ---- quantize_recurrent.c
// Returns the first weight of the layer, or NULL if node is not an LSTM or GRU with constant weights.
taper_tensor *taper_recurrent_weight(const taper_compilation *compilation, const taper_node *node);
bool taper_recurrent_is_quantizable(const taper_compilation *compilation, const taper_node *node);
// Inserts the quantized LSTM or GRU before `node`. *made is NULL if an operator refuses.
TAPER_MUST_USE taper_status taper_rewrite_recurrent(const taper_quantization *q, taper_compilation *compilation,
                                                    taper_node *node, taper_node **made);

// ---- quantize_equalize.c
TAPER_MUST_USE taper_status taper_equalize(taper_compilation *compilation, taper_graph *graph);

// ---- quantize_functional.c
TAPER_MUST_USE taper_status taper_make_functional(const taper_quantization *q, taper_compilation *compilation,
                                                  taper_graph *graph);

// ---- quantize_rewrite.c
TAPER_MUST_USE taper_status taper_quantize_rewrite(taper_quantization *q, taper_compilation *compilation,
                                                   taper_graph *graph);

#endif
