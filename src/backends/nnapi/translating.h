// SPDX-License-Identifier: BSD-2-Clause
// Between the parts of the translation: its state, how rules ask for arguments and operands, and the rules themselves.
//
// A rule asks for everything it needs of a node, refuses what NNAPI has no operation for, and adds operations. While
// nodes are only asked about, the same rules run, operands are none and what is not known of a shape is taken to fit.
// Operands are made in the order in which PyTorch's converter makes them.
#ifndef TAPER_BACKENDS_TRANSLATING_H
#define TAPER_BACKENDS_TRANSLATING_H

#include "backends/nnapi/translate.h"
#include "ir/effects.h"
#include "ops/call/call.h"

#define TAPER_NO_OPERAND UINT32_MAX

// What has become of a value so far.
typedef struct taper_translated_value {
    uint32_t plain, image; // operands with PyTorch's order of dimensions and with NNAPI's of images
    bool quantized;
    double scale; // exactly; operands have a float
    int64_t zero_point;
    taper_shape shape;
} taper_translated_value;

typedef struct taper_translator {
    taper_node_reader reader; // over what options know
    const taper_translate_options *options;
    taper_network *network;
    bool asking;                    // nothing is made
    taper_translated_value *values; // by id; NULL while asking
    size_t value_count;
    const taper_ir_value **inputs;
    uint32_t *input_operands;
    size_t input_count, input_capacity;
    taper_error *error;
    const taper_ir_value *result; // of the node: what it gives, or the activation behind it that it does too
    int32_t fuse;                 // ANEURALNETWORKS_FUSED_
    int32_t code;                 // what the rule is told: translate_list.inc
} taper_translator;

// The node stays with the CPU; why is a static text.
#define TAPER_REFUSE(t, condition, why)                                                                                \
    do {                                                                                                               \
        if (condition) {                                                                                               \
            return taper_read_refuse(&(t)->reader, why);                                                               \
        }                                                                                                              \
    } while (0)

// ---- shapes (translate_arguments.c)

taper_shape taper_translate_shape(const taper_translator *t, const taper_ir_value *value);
// Whether all of it is known.
bool taper_translate_is_known(const taper_shape *shape);
// Whether what is not known of a shape may be known by the time the node is translated.
static inline bool taper_translate_may_learn(const taper_translator *t)
{
    return t->asking && !t->options->portable;
}
// The shape for an operation that is told sizes: of them one may be left open, as -1.
TAPER_MUST_USE taper_status taper_translate_told_sizes(taper_translator *t, const taper_shape *shape, int64_t *sizes);
// A dimension argument, from the front; refuses where the rank is not known and it counts from the end.
TAPER_MUST_USE taper_status taper_translate_dim(taper_translator *t, const taper_shape *shape, int64_t number,
                                                size_t *dim);
bool taper_translate_is_quantized(const taper_translator *t, const taper_ir_value *value);

// ---- operands (translate_operands.c)

// The value with PyTorch's dimensions; as an image, refused where it has other than four.
TAPER_MUST_USE taper_status taper_translate_plain(taper_translator *t, const taper_ir_value *value, uint32_t *operand);
TAPER_MUST_USE taper_status taper_translate_image(taper_translator *t, const taper_ir_value *value, uint32_t *operand);
// For layers of images: as an image, but of PyTorch's converter as it is, *nchw.
TAPER_MUST_USE taper_status taper_translate_layer_input(taper_translator *t, const taper_ir_value *value,
                                                        uint32_t *operand, bool *nchw);
// In the form that it has, an image if both.
TAPER_MUST_USE taper_status taper_translate_either(taper_translator *t, const taper_ir_value *value, uint32_t *operand,
                                                   bool *image);
bool taper_translate_has_image(const taper_translator *t, const taper_ir_value *value);
// As floats, whatever it is.
TAPER_MUST_USE taper_status taper_translate_floats(taper_translator *t, uint32_t operand, uint32_t *floats);
TAPER_MUST_USE taper_status taper_translate_int32(taper_translator *t, int64_t number, uint32_t *operand);
TAPER_MUST_USE taper_status taper_translate_float32(taper_translator *t, double number, uint32_t *operand);
TAPER_MUST_USE taper_status taper_translate_bool(taper_translator *t, bool flag, uint32_t *operand);
TAPER_MUST_USE taper_status taper_translate_vector(taper_translator *t, const int64_t *numbers, size_t count,
                                                   uint32_t *operand);
// The paddings of `rank` dimensions, before and behind each.
TAPER_MUST_USE taper_status taper_translate_paddings(taper_translator *t, const int32_t *numbers, size_t rank,
                                                     uint32_t *operand);
// A constant of floats of these sizes, filled by the caller; *data NULL while asking.
TAPER_MUST_USE taper_status taper_translate_new_floats(taper_translator *t, size_t rank, const int64_t *sizes,
                                                       float **data, uint32_t *operand);
// A weight's operand with its dimensions in this order (NULL: as they are).
TAPER_MUST_USE taper_status taper_translate_weight(taper_translator *t, taper_tensor *tensor, const uint8_t *order,
                                                   uint32_t *operand);
// A tensor as a constant; the reference is taken over, also on failure.
TAPER_MUST_USE taper_status taper_translate_add_tensor(taper_translator *t, taper_tensor *tensor, int32_t type,
                                                       double scale, int64_t zero_point, uint32_t *operand);
// An operand that is computed, as `like` but of these sizes (in the operand's own order), as floats or not.
TAPER_MUST_USE taper_status taper_translate_between(taper_translator *t, uint32_t like, const taper_shape *shape,
                                                    bool is_image, uint32_t *operand);
TAPER_MUST_USE taper_status taper_translate_operation(taper_translator *t, int32_t code, const uint32_t *in,
                                                      size_t count, uint32_t out);
#define TAPER_OPERATION(t, code, out, ...)                                                                             \
    taper_translate_operation(t, ANEURALNETWORKS_##code, (const uint32_t[]){__VA_ARGS__},                              \
                              sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), out)

// ---- results: operand of t->result

typedef struct taper_result_quantizer {
    double scale;
    int64_t zero_point;
} taper_result_quantizer;

// q NULL: of floats.
TAPER_MUST_USE taper_status taper_translate_result(taper_translator *t, const taper_ir_value *value,
                                                   const taper_result_quantizer *q, bool is_image, uint32_t *operand);
// With the quantizer of another value, if it has one.
TAPER_MUST_USE taper_status taper_translate_result_like(taper_translator *t, const taper_ir_value *value,
                                                        const taper_ir_value *like, bool is_image, uint32_t *operand);
// The very operands of another value.
taper_status taper_translate_same(taper_translator *t, const taper_ir_value *value, const taper_ir_value *as);
// A result that is computed as floats and may be quantized (q NULL: it is not): what the last operation writes, and
// then what quantizes it.
TAPER_MUST_USE taper_status taper_translate_float_result(taper_translator *t, const taper_ir_value *value,
                                                         const taper_result_quantizer *q, bool is_image,
                                                         uint32_t *floats);
TAPER_MUST_USE taper_status taper_translate_give(taper_translator *t, const taper_ir_value *value, uint32_t floats,
                                                 const taper_result_quantizer *q, bool is_image);

// Multiplications of a layer with packed weights.
double taper_translate_packed_work(const taper_translator *t, const taper_node *node);

// ---- rules

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

// The rule of the first of several nodes that shuffle channels together.
taper_translate_rule taper_translate_channel_shuffle;

#endif
