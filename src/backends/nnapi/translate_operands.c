// SPDX-License-Identifier: BSD-2-Clause
// Operands of a translation: values in the required order, constants, reordered weights, results.
#include <string.h>

#include "backends/nnapi/translating.h"
#include "base/checked.h"
#include "ir/tensor.h"

static const uint8_t to_image[4] = {0, 2, 3, 1}, to_plain[4] = {0, 3, 1, 2};

// ---- small constants

static taper_status immediate(taper_translator *t, int32_t type, uint32_t rank, const void *value, size_t bytes,
                              uint32_t *operand)
{
    *operand = TAPER_NO_OPERAND;
    return t->asking ? TAPER_OK : taper_network_add_immediate(t->network, type, rank, value, bytes, operand, t->error);
}

taper_status taper_translate_int32(taper_translator *t, int64_t number, uint32_t *operand)
{
    const int32_t value = (int32_t)number;
    TAPER_REFUSE(t, value != number, "a number that 32 bits do not hold");
    return immediate(t, ANEURALNETWORKS_INT32, 0, &value, sizeof value, operand);
}

taper_status taper_translate_float32(taper_translator *t, double number, uint32_t *operand)
{
    const float value = (float)number;
    return immediate(t, ANEURALNETWORKS_FLOAT32, 0, &value, sizeof value, operand);
}

taper_status taper_translate_bool(taper_translator *t, bool flag, uint32_t *operand)
{
    const uint8_t value = flag;
    return immediate(t, ANEURALNETWORKS_BOOL, 0, &value, sizeof value, operand);
}

taper_status taper_translate_vector(taper_translator *t, const int64_t *numbers, size_t count, uint32_t *operand)
{
    int32_t values[2 * TAPER_MAX_RANK];
    for (size_t i = 0; i < count; i++) {
        values[i] = (int32_t)numbers[i];
        TAPER_REFUSE(t, values[i] != numbers[i], "a number that 32 bits do not hold");
    }
    return immediate(t, ANEURALNETWORKS_TENSOR_INT32, 1, values, count * sizeof *values, operand);
}

taper_status taper_translate_paddings(taper_translator *t, const int32_t *numbers, size_t rank, uint32_t *operand)
{
    const int64_t sizes[2] = {(int64_t)rank, 2};
    taper_tensor *made;
    *operand = TAPER_NO_OPERAND;
    if (t->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_tensor_new(t->options->heap, TAPER_I32, 2, sizes, NULL, &made, t->error));
    memcpy(taper_tensor_mutable(made), numbers, 2 * rank * sizeof *numbers);
    return taper_translate_add_tensor(t, made, ANEURALNETWORKS_TENSOR_INT32, 0, 0, operand);
}

// ---- constants from tensors

// Sets the sizes of the operand, in the operand's own order of dimensions.
static taper_status set_sizes(taper_translator *t, const taper_shape *shape, const uint8_t *order,
                              taper_network_operand *operand)
{
    operand->rank = (uint32_t)shape->rank;
    for (int d = 0; d < shape->rank; d++) {
        const int64_t size = shape->sizes[order != NULL ? order[d] : d];
        if (size == TAPER_UNKNOWN && t->options->open) {
            operand->sizes[d] = 0;
            continue;
        }
        TAPER_REFUSE(t, size < 0 || size > INT32_MAX, "a tensor whose sizes are not known, or too large");
        TAPER_REFUSE(t, size == 0, "a tensor without elements");
        operand->sizes[d] = (uint32_t)size;
    }
    return TAPER_OK;
}

taper_status taper_translate_add_tensor(taper_translator *t, taper_tensor *tensor, int32_t type, double scale,
                                        int64_t zero_point, uint32_t *operand)
{
    taper_network_operand o = {.type = type,
                               .scale = (float)scale,
                               .zero_point = (int32_t)zero_point,
                               .tensor = tensor,
                               .bytes = (size_t)taper_tensor_numel(tensor) * taper_tensor_item(tensor)};
    const taper_shape shape = taper_shape_of(tensor);
    taper_status status = set_sizes(t, &shape, NULL, &o);
    if (status == TAPER_OK) {
        status = taper_network_add_operand(t->network, &o, operand, t->error);
    }
    if (status != TAPER_OK) {
        taper_obj_release(&tensor->head);
    }
    return status;
}

// Makes a contiguous copy of the tensor with its dimensions in this order. The copy has no quantizer, because the
// operand stores the scale and zero point.
static taper_status laid_out(taper_translator *t, taper_tensor *tensor, const uint8_t *order, taper_tensor **made)
{
    taper_tensor from = taper_tensor_local(tensor);
    from.quantizer = NULL;
    for (size_t d = 0; order != NULL && d < tensor->rank; d++) {
        from.sizes[d] = tensor->sizes[order[d]];
        from.strides[d] = tensor->strides[order[d]];
    }
    from.hidden_nhwc = false;
    TAPER_TRY(
        taper_tensor_new(t->options->heap, (taper_dtype)tensor->dtype, tensor->rank, from.sizes, NULL, made, t->error));
    const taper_status status = taper_tensor_copy(*made, &from, t->error);
    if (status != TAPER_OK) {
        taper_obj_release(&(*made)->head);
    }
    return status;
}

taper_status taper_translate_weight(taper_translator *t, taper_tensor *tensor, const uint8_t *order, uint32_t *operand)
{
    *operand = TAPER_NO_OPERAND;
    TAPER_REFUSE(t, tensor->dtype != TAPER_F32, "weights that are not float32");
    TAPER_REFUSE(t, tensor->rank > 4 || taper_tensor_numel(tensor) == 0,
                 "weights of more than four dimensions, or none");
    if (t->asking) {
        return TAPER_OK;
    }
    taper_tensor *made;
    TAPER_TRY(laid_out(t, tensor, order, &made));
    return taper_translate_add_tensor(t, made, ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0, operand);
}

taper_status taper_translate_new_floats(taper_translator *t, size_t rank, const int64_t *sizes, float **data,
                                        uint32_t *operand)
{
    taper_tensor *made;
    *operand = TAPER_NO_OPERAND;
    *data = NULL;
    if (t->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(taper_tensor_zeros(t->options->heap, TAPER_F32, rank, sizes, &made, t->error));
    *data = taper_tensor_mutable(made);
    return taper_translate_add_tensor(t, made, ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0, operand);
}

// ---- operands of values

static taper_status type_of(taper_translator *t, int dtype, bool quantized, int32_t *type)
{
    *type = ANEURALNETWORKS_TENSOR_FLOAT32;
    if (quantized) {
        *type = ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
        TAPER_REFUSE(t, dtype >= 0 && dtype != TAPER_QU8, "a quantized tensor that is not quint8");
        return TAPER_OK;
    }
    TAPER_REFUSE(t, dtype >= 0 && dtype != TAPER_F32, "a tensor that is neither float32 nor quint8");
    return TAPER_OK;
}

// Adds an input of the network for a value from outside the segment, as an image if possible.
static taper_status add_input(taper_translator *t, const taper_ir_value *value, taper_translated_value *made)
{
    taper_known_value known = {.shape = taper_shape_unknown()};
    t->options->know(t->options->user, value, &known);
    TAPER_REFUSE(t, known.shape.rank < 0, "a tensor whose shape is not known");
    TAPER_REFUSE(t, known.shape.rank > 4 || known.shape.rank == 0, "a tensor of more than four dimensions, or none");
    TAPER_REFUSE(t, known.shape.dtype == TAPER_QU8 && !known.quantized, "a quantized tensor whose scale is not known");
    made->shape = known.shape;
    made->quantized = known.quantized;
    made->scale = known.scale;
    made->zero_point = known.zero_point;
    taper_network_operand o = {.scale = (float)known.scale, .zero_point = (int32_t)known.zero_point};
    o.is_image = known.shape.rank == 4 && t->options->images;
    TAPER_TRY(type_of(t, known.shape.dtype, known.quantized, &o.type));
    TAPER_TRY(set_sizes(t, &known.shape, o.is_image ? to_image : NULL, &o));
    if (t->input_count == t->input_capacity) { // two arrays that always grow together
        const size_t capacity = t->input_capacity == 0 ? 8 : 2 * t->input_capacity;
        const taper_ir_value **inputs = taper_arena_array(&t->network->arena, capacity, sizeof *inputs);
        uint32_t *operands = taper_arena_array(&t->network->arena, capacity, sizeof *operands);
        if (inputs == NULL || operands == NULL) {
            return taper_fail_memory(t->error);
        }
        for (size_t i = 0; i < t->input_count; i++) {
            inputs[i] = t->inputs[i];
            operands[i] = t->input_operands[i];
        }
        t->inputs = inputs;
        t->input_operands = operands;
        t->input_capacity = capacity;
    }
    uint32_t operand;
    TAPER_TRY(taper_network_add_operand(t->network, &o, &operand, t->error));
    *(o.is_image ? &made->image : &made->plain) = operand;
    t->inputs[t->input_count] = value;
    t->input_operands[t->input_count++] = operand;
    return TAPER_OK;
}

// Makes an operand of a constant tensor argument.
static taper_status add_constant(taper_translator *t, taper_tensor *tensor, const uint8_t *order, uint32_t *operand)
{
    taper_tensor *made;
    if (tensor->quantizer == NULL) {
        TAPER_REFUSE(t, tensor->rank == 0, "a constant without dimensions");
        return taper_translate_weight(t, tensor, order, operand);
    }
    TAPER_REFUSE(t, tensor->dtype != TAPER_QU8 || tensor->quantizer->scheme != TAPER_PER_TENSOR_AFFINE,
                 "a quantized constant that is not quint8 with one scale");
    TAPER_TRY(laid_out(t, tensor, order, &made));
    return taper_translate_add_tensor(t, made, ANEURALNETWORKS_TENSOR_QUANT8_ASYMM, tensor->quantizer->scale,
                                      tensor->quantizer->zero_point, operand);
}

static taper_status state_of(taper_translator *t, const taper_ir_value *value, bool image,
                             taper_translated_value **state)
{
    *state = &t->values[value->id];
    if ((*state)->plain != TAPER_NO_OPERAND || (*state)->image != TAPER_NO_OPERAND) {
        return TAPER_OK;
    }
    taper_tensor *tensor = taper_read_tensor(&t->reader, value);
    if (tensor == NULL) {
        return add_input(t, value, *state);
    }
    image = image && tensor->rank == 4;
    TAPER_TRY(add_constant(t, tensor, image ? to_image : NULL, image ? &(*state)->image : &(*state)->plain));
    (*state)->shape = taper_shape_of(tensor);
    (*state)->quantized = tensor->quantizer != NULL;
    if (tensor->quantizer != NULL) {
        (*state)->scale = tensor->quantizer->scale;
        (*state)->zero_point = tensor->quantizer->zero_point;
    }
    return TAPER_OK;
}

// Adds a transpose of the 4-D operand `from`: from NCHW to NHWC if `image` is true, otherwise from NHWC to NCHW.
static taper_status turn(taper_translator *t, uint32_t from, bool image, uint32_t *turned)
{
    static const int64_t orders[2][4] = {{0, 3, 1, 2}, {0, 2, 3, 1}};
    const uint8_t *order = image ? to_image : to_plain;
    uint32_t vector;
    TAPER_REFUSE(t, t->options->level < 28, "an operation that the device's level lacks");
    TAPER_TRY(taper_translate_vector(t, orders[image], 4, &vector));
    taper_network_operand o = t->network->operands[from];
    o.immediate = NULL;
    o.tensor = NULL;
    o.bytes = 0;
    o.is_image = image;
    for (size_t d = 0; d < 4; d++) {
        o.sizes[d] = t->network->operands[from].sizes[order[d]];
    }
    TAPER_TRY(taper_network_add_operand(t->network, &o, turned, t->error));
    return TAPER_OPERATION(t, TRANSPOSE, *turned, from, vector);
}

// Refuses an unknown shape. Accepts it only while nodes are checked for support and a later recording will know the
// shape, or if the network may have unknown sizes (`open`) and the rank is known.
static taper_status check_shape(taper_translator *t, const taper_shape *shape)
{
    TAPER_REFUSE(t, shape->rank < 0 && !taper_translate_may_learn(t), "a tensor whose shape is not known");
    TAPER_REFUSE(t, !taper_translate_is_known(shape) && !taper_translate_may_learn(t) && !t->options->open,
                 "a tensor whose sizes are not known");
    return TAPER_OK;
}

taper_status taper_translate_plain(taper_translator *t, const taper_ir_value *value, uint32_t *operand)
{
    taper_translated_value *state;
    *operand = TAPER_NO_OPERAND;
    if (t->asking) {
        const taper_shape shape = taper_translate_shape(t, value);
        TAPER_REFUSE(t, shape.rank > 4, "a tensor of more than four dimensions");
        TAPER_TRY(check_shape(t, &shape));
        int32_t type;
        return type_of(t, shape.dtype, taper_translate_is_quantized(t, value), &type);
    }
    TAPER_TRY(state_of(t, value, false, &state));
    if (state->plain == TAPER_NO_OPERAND) {
        const uint32_t image = state->image;
        TAPER_TRY(turn(t, image, false, &state->plain));
    }
    *operand = state->plain;
    return TAPER_OK;
}

taper_status taper_translate_image(taper_translator *t, const taper_ir_value *value, uint32_t *operand)
{
    taper_translated_value *state;
    *operand = TAPER_NO_OPERAND;
    const taper_shape shape = !t->asking && value->id < t->value_count && t->values[value->id].shape.rank >= 0
                                  ? t->values[value->id].shape
                                  : taper_translate_shape(t, value);
    TAPER_REFUSE(t, shape.rank >= 0 && shape.rank != 4, "an image of other than four dimensions");
    if (t->asking) {
        TAPER_TRY(check_shape(t, &shape));
        int32_t type;
        return type_of(t, shape.dtype, taper_translate_is_quantized(t, value), &type);
    }
    TAPER_TRY(state_of(t, value, true, &state));
    if (state->image == TAPER_NO_OPERAND) {
        const uint32_t plain = state->plain;
        TAPER_TRY(turn(t, plain, true, &state->image));
    }
    *operand = state->image;
    return TAPER_OK;
}

bool taper_translate_has_image(const taper_translator *t, const taper_ir_value *value)
{
    return !t->asking && t->values[value->id].image != TAPER_NO_OPERAND;
}

taper_status taper_translate_layer_input(taper_translator *t, const taper_ir_value *value, uint32_t *operand,
                                         bool *nchw)
{
    *nchw = false;
    if (t->options->pytorch && !t->asking) {
        taper_translated_value *state;
        TAPER_TRY(state_of(t, value, false, &state));
        *nchw = state->image == TAPER_NO_OPERAND;
    }
    return *nchw ? taper_translate_plain(t, value, operand) : taper_translate_image(t, value, operand);
}

taper_status taper_translate_either(taper_translator *t, const taper_ir_value *value, uint32_t *operand, bool *image)
{
    taper_translated_value *state;
    *image = false;
    if (!t->asking) {
        TAPER_TRY(state_of(t, value, false, &state));
        *image = state->image != TAPER_NO_OPERAND;
    }
    return *image ? taper_translate_image(t, value, operand) : taper_translate_plain(t, value, operand);
}

// ---- operands of intermediate results

taper_status taper_translate_operation(taper_translator *t, int32_t code, const uint32_t *in, size_t count,
                                       uint32_t out)
{
    return t->asking ? TAPER_OK : taper_network_add_operation(t->network, code, in, (uint32_t)count, &out, 1, t->error);
}

taper_status taper_translate_between(taper_translator *t, uint32_t like, const taper_shape *shape, bool is_image,
                                     uint32_t *operand)
{
    *operand = TAPER_NO_OPERAND;
    if (t->asking) {
        return TAPER_OK;
    }
    const taper_network_operand *as = &t->network->operands[like];
    taper_network_operand o = {
        .type = as->type, .scale = as->scale, .zero_point = as->zero_point, .is_image = is_image};
    if (shape != NULL) {
        TAPER_REFUSE(t, shape->rank > 4 || shape->rank < 1, "a tensor of more than four dimensions, or none");
        TAPER_TRY(set_sizes(t, shape, NULL, &o));
    } else {
        o.rank = as->rank;
        memcpy(o.sizes, as->sizes, sizeof o.sizes);
    }
    return taper_network_add_operand(t->network, &o, operand, t->error);
}

taper_status taper_translate_floats(taper_translator *t, uint32_t operand, uint32_t *floats)
{
    *floats = operand;
    if (t->asking || t->network->operands[operand].type == ANEURALNETWORKS_TENSOR_FLOAT32) {
        return TAPER_OK;
    }
    taper_network_operand o = t->network->operands[operand];
    o.type = ANEURALNETWORKS_TENSOR_FLOAT32;
    o.scale = 0;
    o.zero_point = 0;
    o.immediate = NULL;
    o.tensor = NULL;
    o.bytes = 0;
    TAPER_TRY(taper_network_add_operand(t->network, &o, floats, t->error));
    return TAPER_OPERATION(t, DEQUANTIZE, *floats, operand);
}

// ---- operands of results

static taper_status add_result(taper_translator *t, const taper_ir_value *value, bool quantized, double scale,
                               int64_t zero_point, bool is_image, uint32_t *operand)
{
    *operand = TAPER_NO_OPERAND;
    const taper_shape shape = taper_translate_shape(t, value);
    TAPER_REFUSE(t, shape.rank > 4 || (!t->asking && shape.rank < 1), "a result of more than four dimensions, or none");
    if (t->asking) {
        int32_t type;
        return type_of(t, shape.dtype, quantized || shape.dtype == TAPER_QU8, &type);
    }
    taper_network_operand o = {.scale = (float)scale, .zero_point = (int32_t)zero_point, .is_image = is_image};
    TAPER_TRY(type_of(t, quantized ? -1 : shape.dtype, quantized, &o.type));
    TAPER_REFUSE(t, is_image && shape.rank != 4, "a result that is no image");
    TAPER_TRY(set_sizes(t, &shape, is_image ? to_image : NULL, &o));
    TAPER_TRY(taper_network_add_operand(t->network, &o, operand, t->error));
    taper_translated_value *state = &t->values[value->id];
    *state = (taper_translated_value){.plain = is_image ? TAPER_NO_OPERAND : *operand,
                                      .image = is_image ? *operand : TAPER_NO_OPERAND,
                                      .quantized = quantized,
                                      .scale = scale,
                                      .zero_point = zero_point,
                                      .shape = shape};
    return TAPER_OK;
}

taper_status taper_translate_result(taper_translator *t, const taper_ir_value *value, const taper_result_quantizer *q,
                                    bool is_image, uint32_t *operand)
{
    TAPER_REFUSE(t, q != NULL && (!(q->scale > 0) || q->zero_point < 0 || q->zero_point > 255),
                 "a scale or zero point that eight bits do not have");
    return add_result(t, value, q != NULL, q != NULL ? q->scale : 0, q != NULL ? q->zero_point : 0, is_image, operand);
}

taper_status taper_translate_result_like(taper_translator *t, const taper_ir_value *value, const taper_ir_value *like,
                                         bool is_image, uint32_t *operand)
{
    if (t->asking) {
        return add_result(t, value, false, 0, 0, is_image, operand);
    }
    const taper_translated_value as = t->values[like->id];
    return add_result(t, value, as.quantized, as.scale, as.zero_point, is_image, operand);
}

taper_status taper_translate_same(taper_translator *t, const taper_ir_value *value, const taper_ir_value *as)
{
    if (!t->asking) {
        t->values[value->id] = t->values[as->id];
    }
    return TAPER_OK;
}

taper_status taper_translate_float_result(taper_translator *t, const taper_ir_value *value,
                                          const taper_result_quantizer *q, bool is_image, uint32_t *floats)
{
    if (q == NULL || t->asking) {
        return taper_translate_result(t, value, q, is_image, floats);
    }
    const taper_shape shape = taper_translate_shape(t, value);
    taper_network_operand o = {.type = ANEURALNETWORKS_TENSOR_FLOAT32, .is_image = is_image};
    TAPER_REFUSE(t, shape.rank > 4 || shape.rank < 1, "a result of more than four dimensions, or none");
    TAPER_TRY(set_sizes(t, &shape, is_image ? to_image : NULL, &o));
    return taper_network_add_operand(t->network, &o, floats, t->error);
}

taper_status taper_translate_give(taper_translator *t, const taper_ir_value *value, uint32_t floats,
                                  const taper_result_quantizer *q, bool is_image)
{
    uint32_t out;
    if (q == NULL || t->asking) {
        return TAPER_OK;
    }
    TAPER_REFUSE(t, t->options->level < 29, "an operation that the device's level lacks");
    TAPER_TRY(taper_translate_result(t, value, q, is_image, &out));
    return TAPER_OPERATION(t, QUANTIZE, out, floats);
}
