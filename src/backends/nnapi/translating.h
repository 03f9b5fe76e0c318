// SPDX-License-Identifier: BSD-2-Clause
// Declarations for the files of the translation: its state, functions that read arguments and make operands for rules,
// and the rules.
//
// A rule reads everything it needs from a node, refuses what NNAPI does not support, and adds operations. The same
// rules run to find out if a node is supported (asking). Then no operands are made, and unknown dimensions are assumed
// to fit. Operands are made in the same order as in PyTorch's converter.
#ifndef TAPER_BACKENDS_TRANSLATING_H
#define TAPER_BACKENDS_TRANSLATING_H

#include "backends/nnapi/translate.h"
#include "ir/effects.h"
#include "ops/call/call.h"

#define TAPER_NO_OPERAND UINT32_MAX

// The operands that exist for a value so far.
typedef struct taper_translated_value {
    uint32_t plain, image; // operand in PyTorch's order; operand in NNAPI's order of images
    bool quantized;
    double scale; // exact scale, which an operand has only rounded to float
    int64_t zero_point;
    taper_shape shape;
} taper_translated_value;

typedef struct taper_translator {
    taper_node_reader reader; // reader with the function `know` of the options
    const taper_translate_options *options;
    taper_network *network;
    bool asking;                    // true if rules run only to find out if nodes are supported; nothing is made
    taper_translated_value *values; // translated values, by id; NULL if `asking` is set
    size_t value_count;
    const taper_ir_value **inputs;
    uint32_t *input_operands;
    size_t input_count, input_capacity;
    taper_error *error;
    const taper_ir_value *result; // result of the node, or of a following activation that the node includes
    int32_t fuse;                 // activation of the operation, a code ANEURALNETWORKS_FUSED_…
    int32_t code;                 // argument of the rule (translate_list.inc)
} taper_translator;

// Refuses the node if the condition is true, so that the CPU runs it. `why` is a static text.
#define TAPER_REFUSE(t, condition, why)                                                                                \
    do {                                                                                                               \
        if (condition) {                                                                                               \
            return taper_read_refuse(&(t)->reader, why);                                                               \
        }                                                                                                              \
    } while (0)

// ---- shapes (translate_arguments.c)

taper_shape taper_translate_shape(const taper_translator *t, const taper_ir_value *value);
// Returns true if the rank and all sizes are known.
bool taper_translate_is_known(const taper_shape *shape);
// Returns true if unknown parts of a shape may be known when the node is translated.
static inline bool taper_translate_may_learn(const taper_translator *t)
{
    return t->asking && !t->options->portable;
}
// Computes the sizes for an operation that has them as arguments. At most one size may be unknown, and becomes -1.
TAPER_MUST_USE taper_status taper_translate_told_sizes(taper_translator *t, const taper_shape *shape, int64_t *sizes);
// Converts a dimension argument to a dimension counted from the front. Refuses a number that counts from the end if the
// rank is unknown.
TAPER_MUST_USE taper_status taper_translate_dim(taper_translator *t, const taper_shape *shape, int64_t number,
                                                size_t *dim);
bool taper_translate_is_quantized(const taper_translator *t, const taper_ir_value *value);

// ---- operands (translate_operands.c)

// These functions get the value as an operand: taper_translate_plain with PyTorch's dimensions, taper_translate_image
// as an image. The second function refuses ranks other than four.
TAPER_MUST_USE taper_status taper_translate_plain(taper_translator *t, const taper_ir_value *value, uint32_t *operand);
TAPER_MUST_USE taper_status taper_translate_image(taper_translator *t, const taper_ir_value *value, uint32_t *operand);
// Gets the input of a layer on images as an image. For PyTorch's converter, gets it in the order that it already has,
// and sets *nchw to true if this order is PyTorch's.
TAPER_MUST_USE taper_status taper_translate_layer_input(taper_translator *t, const taper_ir_value *value,
                                                        uint32_t *operand, bool *nchw);
// Gets the operand that the value already has: the NHWC operand (*image is true) if there is one, otherwise the operand
// in PyTorch's order.
TAPER_MUST_USE taper_status taper_translate_either(taper_translator *t, const taper_ir_value *value, uint32_t *operand,
                                                   bool *image);
bool taper_translate_has_image(const taper_translator *t, const taper_ir_value *value);
// Converts an operand to floats if it is quantized.
TAPER_MUST_USE taper_status taper_translate_floats(taper_translator *t, uint32_t operand, uint32_t *floats);
TAPER_MUST_USE taper_status taper_translate_int32(taper_translator *t, int64_t number, uint32_t *operand);
TAPER_MUST_USE taper_status taper_translate_float32(taper_translator *t, double number, uint32_t *operand);
TAPER_MUST_USE taper_status taper_translate_bool(taper_translator *t, bool flag, uint32_t *operand);
TAPER_MUST_USE taper_status taper_translate_vector(taper_translator *t, const int64_t *numbers, size_t count,
                                                   uint32_t *operand);
// Makes an operand of paddings: for each of `rank` dimensions, the padding before and after it.
TAPER_MUST_USE taper_status taper_translate_paddings(taper_translator *t, const int32_t *numbers, size_t rank,
                                                     uint32_t *operand);
// Makes a constant of floats with these sizes. *data receives the memory that the caller fills, or NULL if t->asking is
// set.
TAPER_MUST_USE taper_status taper_translate_new_floats(taper_translator *t, size_t rank, const int64_t *sizes,
                                                       float **data, uint32_t *operand);
// Makes an operand of a weight with its dimensions in the given order, or in the tensor's order if `order` is NULL.
TAPER_MUST_USE taper_status taper_translate_weight(taper_translator *t, taper_tensor *tensor, const uint8_t *order,
                                                   uint32_t *operand);
// Makes a constant of a tensor. Takes over the reference, also on failure.
TAPER_MUST_USE taper_status taper_translate_add_tensor(taper_translator *t, taper_tensor *tensor, int32_t type,
                                                       double scale, int64_t zero_point, uint32_t *operand);
// Makes an operand for an intermediate result with the type of `like`. The operand has the sizes of `shape`, in the
// operand's own order, or the sizes of `like` if `shape` is NULL.
TAPER_MUST_USE taper_status taper_translate_between(taper_translator *t, uint32_t like, const taper_shape *shape,
                                                    bool is_image, uint32_t *operand);
TAPER_MUST_USE taper_status taper_translate_operation(taper_translator *t, int32_t code, const uint32_t *in,
                                                      size_t count, uint32_t out);
#define TAPER_OPERATION(t, code, out, ...)                                                                             \
    taper_translate_operation(t, ANEURALNETWORKS_##code, (const uint32_t[]){__VA_ARGS__},                              \
                              sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), out)

// ---- results: the operand of t->result

typedef struct taper_result_quantizer {
    double scale;
    int64_t zero_point;
} taper_result_quantizer;

// Makes the operand of a result. q: its quantizer, or NULL for float.
TAPER_MUST_USE taper_status taper_translate_result(taper_translator *t, const taper_ir_value *value,
                                                   const taper_result_quantizer *q, bool is_image, uint32_t *operand);
// Makes the operand of a result with the quantizer of `like`, if `like` has one.
TAPER_MUST_USE taper_status taper_translate_result_like(taper_translator *t, const taper_ir_value *value,
                                                        const taper_ir_value *like, bool is_image, uint32_t *operand);
// Gives the value the same operands as the value `as`.
taper_status taper_translate_same(taper_translator *t, const taper_ir_value *value, const taper_ir_value *as);
// Makes the operands of a result that is computed as floats and may then be quantized (q, or NULL). *floats receives
// the operand that the last operation must write. taper_translate_give adds the quantization.
TAPER_MUST_USE taper_status taper_translate_float_result(taper_translator *t, const taper_ir_value *value,
                                                         const taper_result_quantizer *q, bool is_image,
                                                         uint32_t *floats);
TAPER_MUST_USE taper_status taper_translate_give(taper_translator *t, const taper_ir_value *value, uint32_t floats,
                                                 const taper_result_quantizer *q, bool is_image);

// Returns the number of multiplications of a layer with packed weights.
double taper_translate_packed_work(const taper_translator *t, const taper_node *node);

// ---- rules, one for each kind of operator

typedef taper_status taper_translate_rule(taper_translator *t, const taper_node *node);
taper_translate_rule taper_translate_conv, taper_translate_quantized_conv, taper_translate_linear,
    taper_translate_addmm, taper_translate_quantized_linear, taper_translate_prepacked_conv,
    taper_translate_prepacked_linear, taper_translate_max_pool, taper_translate_avg_pool, taper_translate_adaptive_pool,
    taper_translate_batch_norm, taper_translate_nearest, taper_translate_bilinear, taper_translate_binary,
    taper_translate_quantized_binary, taper_translate_unary, taper_translate_clamp, taper_translate_sigmoid,
    taper_translate_hardswish, taper_translate_hardsigmoid, taper_translate_silu, taper_translate_leaky_relu,
    taper_translate_prelu, taper_translate_softmax, taper_translate_mean, taper_translate_quantize,
    taper_translate_dequantize, taper_translate_identity, taper_translate_reshape, taper_translate_flatten,
    taper_translate_unsqueeze, taper_translate_squeeze, taper_translate_permute, taper_translate_transpose,
    taper_translate_slice, taper_translate_pieces, taper_translate_unpack, taper_translate_list, taper_translate_cat,
    taper_translate_pad;

// The rule for the first node of a channel shuffle.
taper_translate_rule taper_translate_channel_shuffle;

#endif
