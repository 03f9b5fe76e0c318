// SPDX-License-Identifier: BSD-2-Clause
// Quantization after training, in four parts: quantize_plan.c chooses the operators that shall compute with integers
// (the steps) and which of their values share scale and zero point (the groups); quantization.c lets observers look at
// calibration runs; quantize_rewrite.c turns each step into the quantized operator, with quantize_per_tensor and
// dequantize where integers meet floats; quantize_weights.c makes the packed parameters. quantize_steps.c knows the
// operators.
//
// The rules are those of PyTorch's quantize_fx for QNNPACK. One differs: an activation that clamps (relu6, hardtanh,
// clamp) goes into the layer before it, whose result then has the range that is left, and needs no steps for the rest.
//
// Everything is kept by the numbers of values, which are the same in every draft of a file that was prepared alike: one
// draft is planned and calibrated, others are rewritten.
#ifndef TAPER_COMPILER_QUANTIZATION_H
#define TAPER_COMPILER_QUANTIZATION_H

#include "compiler/layer.h"
#include "compiler/observer.h"
#include "ir/alias.h"

extern const taper_quantization_table taper_quantization_functions;

typedef enum taper_step_kind {
    TAPER_STEP_LAYER,     // convolution or linear layer with constant weights
    TAPER_STEP_DYNAMIC,   // linear layer whose input is quantized as it comes
    TAPER_STEP_RECURRENT, // LSTM or GRU of dynamic layers
    TAPER_STEP_PAIR,      // sum or product of two tensors
    TAPER_STEP_CURVE,     // an operator of one tensor that is told scale and zero point of its result
    TAPER_STEP_FIXED,     // whose scale and zero point are always the same
    TAPER_STEP_KEEP,      // whose result has those of its input
    TAPER_STEP_JOIN       // cat: those of its inputs, which are all the same
} taper_step_kind;

typedef struct taper_quantize_step {
    taper_step_kind kind;
    uint32_t value;  // the operator's result
    uint32_t result; // what it stands for: that of an activation behind it, or value
    uint32_t made;   // the quantized result in a rewritten graph
    bool relu;       // the activation is relu, or starts at 0
    bool kept_float;
    const char *name;    // of the module, or the operator with a number; the quantization's
    const char *op_name; // the schema's text
} taper_quantize_step;

#define TAPER_NO_STEP UINT32_MAX

#define TAPER_NO_VALUE UINT32_MAX

// By number of value.
typedef struct taper_quantize_value {
    uint32_t group;     // another value of the group, or itself
    uint32_t step;      // that has it as `value`; TAPER_NO_STEP
    bool is_float;      // a float32 tensor with elements in the first run
    bool native;        // a step computes it as integers, or it comes as such
    bool wanted;        // a step takes it as integers
    bool parameter;     // of forward, quantized by the caller
    bool observed;      // its group learns from it
    uint8_t rank;       // in the first run
    uint32_t feeds;     // the result of an If that this one may become; TAPER_NO_VALUE
    uint32_t made_from; // of what it was quantized in the graph being rewritten, as a number of a value
    // The group's, where group is the value itself:
    bool fixed, bounded;
    taper_qparams qparams; // of fixed ones, and of all once the ranges are known
    float low, high;       // where bounded: no element is outside
    taper_observer observer;
    // What bias correction wants of a layer's input: the sums of each channel.
    double *sums;
    int64_t channels, channel_dim, elements; // of each channel
} taper_quantize_value;

struct taper_quantization {
    const taper_allocator *allocator;
    taper_quantize_options options;
    taper_arena arena; // names
    taper_quantize_value *values;
    uint32_t value_count;
    taper_quantize_step *steps;
    size_t step_count, step_capacity;
    bool planned, ranged;
    bool learned; // values were observed since the ranges were computed
};

static inline bool taper_is_static(const taper_quantization *q)
{
    return q->options.mode != TAPER_QUANTIZE_DYNAMIC;
}
// The value that stands for the group.
uint32_t taper_group_of(const taper_quantization *q, uint32_t value);
static inline taper_qparams taper_group_qparams(const taper_quantization *q, uint32_t value)
{
    return q->values[taper_group_of(q, value)].qparams;
}

// ---- quantize_steps.c

// What kind of step an operator that is no layer would be. False: none, as far as this call's constants tell.
bool taper_step_kind_of(const taper_node *node, taper_step_kind *kind);
// The operator that takes its place; with relu: with that behind it. NULL: this build has none.
const taper_op *taper_quantized_row(const taper_node *node, bool relu);
// Of a step that is FIXED: scale and zero point of the result.
taper_qparams taper_fixed_qparams(const taper_node *node);
// The bounds of an activation that only clamps; they include 0.
bool taper_activation_bounds(const taper_node *node, float *low, float *high);
// Whether the layer has a quantized operator.
bool taper_layer_is_quantizable(const taper_layer *layer, bool dynamic);
// The node's only user, when that may become part of it: an operator of the same block.
taper_node *taper_only_user(const taper_node *node);

// ---- quantize_plan.c
TAPER_MUST_USE taper_status taper_quantize_plan(taper_quantization *q, taper_compilation *compilation,
                                                taper_graph *graph);
// Whether the use returns its value, alone or in a tuple, list or dict.
bool taper_use_is_returned(const taper_value_use *use);

// ---- quantization.c

// Scales and zero points of all groups.
void taper_quantize_ranges(taper_quantization *q);

// ---- quantize_weights.c

// The object of packed parameters that the quantized layer takes, made by its prepack operator; None when that refuses.
// input: the number of the layer's input.
TAPER_MUST_USE taper_status taper_pack_layer(const taper_quantization *q, taper_compilation *compilation,
                                             const taper_layer *layer, uint32_t input, taper_val *object);
// The same of a weight that is quantized; bias: a tensor or None.
TAPER_MUST_USE taper_status taper_pack_quantized(taper_compilation *compilation, const taper_layer *layer,
                                                 taper_val weight, taper_val bias, taper_val *object);
// The weight as qint8. axis: of the output channels, for per_channel.
TAPER_MUST_USE taper_status taper_quantize_weight(taper_compilation *compilation, taper_tensor *weight,
                                                  bool per_channel, size_t axis, taper_val *quantized);
// The prepack operator's result for these arguments; None when it refuses.
TAPER_MUST_USE taper_status taper_prepack(taper_compilation *compilation, const taper_op *op, taper_val *args,
                                          size_t count, taper_val *object);

// ---- quantize_recurrent.c
// The first of its weights; NULL when node is no LSTM or GRU with constant weights.
taper_tensor *taper_recurrent_weight(const taper_compilation *compilation, const taper_node *node);
bool taper_recurrent_is_quantizable(const taper_compilation *compilation, const taper_node *node);
// The quantized node before node; *made NULL when some operator refuses.
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
