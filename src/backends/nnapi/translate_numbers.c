// SPDX-License-Identifier: BSD-2-Clause
// Rules for element-wise operators, softmax, means, and quantization.
#include <math.h>
#include <string.h>

#include "backends/nnapi/translating.h"
#include "ir/tensor.h"

// ---- operators on two tensors

static bool has_relu(const taper_node *node)
{
    const unsigned function = TAPER_FIELD(taper_node_facts(node), FUNCTION);
    return function == TAPER_FUNCTION_ADD_RELU || function == TAPER_FUNCTION_MUL_RELU;
}

static bool number_of(const taper_val *constant, double *number)
{
    if (constant == NULL || (constant->tag != TAPER_INT && constant->tag != TAPER_DOUBLE)) {
        return false;
    }
    *number = constant->tag == TAPER_INT ? (double)constant->as.i : constant->as.f;
    return true;
}

// Makes a constant operand for an operator whose other operand has `rank` dimensions and may be an image. The constant
// is a number, or a tensor whose dimensions are aligned with the last dimensions of the other operand.
static taper_status constant_beside(taper_translator *t, const taper_ir_value *value, int rank, bool image,
                                    uint32_t *operand)
{
    const int64_t one = 1;
    const taper_tensor *tensor = taper_read_tensor(&t->reader, value);
    double number;
    float *data;
    if (number_of(taper_read_constant(&t->reader, value), &number)) {
        TAPER_TRY(taper_translate_new_floats(t, 1, &one, &data, operand));
        if (data != NULL) {
            *data = (float)number;
        }
        return TAPER_OK;
    }
    TAPER_REFUSE(t, tensor == NULL || tensor->dtype != TAPER_F32, "an argument that is no float32 tensor");
    if (t->asking) {
        return TAPER_OK;
    }
    // The constant has as many dimensions as the other operand, in the same order.
    static const uint8_t orders[2][4] = {{0, 1, 2, 3}, {0, 2, 3, 1}};
    taper_tensor from = taper_tensor_local(tensor), *made;
    const int wanted = image ? 4 : tensor->rank == 0 ? 1 : (int)tensor->rank;
    TAPER_REFUSE(t, tensor->rank > 4 || tensor->rank > rank, "a constant of more dimensions");
    for (int d = 0; d < wanted; d++) {
        const int at = (image ? orders[1][d] : d) - (wanted - (int)tensor->rank);
        from.sizes[d] = at < 0 ? 1 : tensor->sizes[at];
        from.strides[d] = at < 0 ? 0 : tensor->strides[at];
    }
    from.rank = (uint8_t)wanted;
    from.hidden_nhwc = false;
    TAPER_TRY(taper_tensor_new(t->options->heap, TAPER_F32, (size_t)wanted, from.sizes, NULL, &made, t->error));
    const taper_status status = taper_tensor_copy(made, &from, t->error);
    if (status != TAPER_OK) {
        taper_obj_release(&made->head);
        return status;
    }
    return taper_translate_add_tensor(t, made, ANEURALNETWORKS_TENSOR_FLOAT32, 0, 0, operand);
}

static bool is_fixed(const taper_translator *t, const taper_ir_value *value)
{
    return taper_read_constant(&t->reader, value) != NULL;
}

// Makes the operands of a sum or product of two values, in the same order of dimensions. For PyTorch's converter,
// constants adapt to the other operand and nothing is transposed.
static taper_status pair(taper_translator *t, const taper_ir_value *const *values, bool quantized, uint32_t *operands,
                         bool *image)
{
    taper_shape shapes[2];
    bool images = true;
    for (size_t i = 0; i < 2; i++) {
        shapes[i] = taper_translate_shape(t, values[i]);
        double number;
        const bool is_number = number_of(taper_read_constant(&t->reader, values[i]), &number);
        TAPER_REFUSE(t,
                     !is_number && shapes[i].dtype >= 0 && shapes[i].dtype != TAPER_F32 && shapes[i].dtype != TAPER_QU8,
                     "an argument that is neither float32 nor quint8");
        TAPER_REFUSE(t, is_number && quantized, "a number beside integers");
        images =
            images && (is_fixed(t, values[i]) || (shapes[i].rank == 4 && taper_translate_has_image(t, values[i])) ||
                       (!t->asking && !t->options->pytorch && shapes[i].rank == 4 &&
                        t->values[values[i]->id].plain == TAPER_NO_OPERAND));
    }
    // If both values are 4-D and one of them already has an operand in NHWC order (`image`), the other value is also
    // translated in NHWC order.
    for (size_t i = 0; !images && !t->options->pytorch && i < 2; i++) {
        images = shapes[0].rank == 4 && shapes[1].rank == 4 && taper_translate_has_image(t, values[i]);
    }
    TAPER_REFUSE(t, is_fixed(t, values[0]) && is_fixed(t, values[1]), "two constants");
    const int rank = shapes[is_fixed(t, values[0]) ? 1 : 0].rank;
    *image = images && !t->asking && rank == 4;
    for (size_t i = 0; i < 2; i++) {
        if (is_fixed(t, values[i]) && !quantized) {
            TAPER_REFUSE(t, t->options->pytorch && shapes[i].rank != rank,
                         "PyTorch's converter has no such broadcasting");
            TAPER_TRY(constant_beside(t, values[i], t->asking ? 4 : rank, *image, &operands[i]));
        } else {
            TAPER_TRY(*image ? taper_translate_image(t, values[i], &operands[i])
                             : taper_translate_plain(t, values[i], &operands[i]));
        }
    }
    return TAPER_OK;
}

taper_status taper_translate_binary(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *const values[2] = {taper_node_in(node, 0), taper_node_in(node, 1)};
    double alpha;
    uint32_t operands[2], fuse, out;
    bool image;
    TAPER_TRY(taper_read_number(&t->reader, node, "alpha", 1, &alpha));
    const taper_val *rounding = taper_read_constant(&t->reader, taper_read_argument(node, "rounding_mode"));
    TAPER_REFUSE(t, alpha != 1, "a factor of the second argument");
    TAPER_REFUSE(t, has_relu(node) && (t->fuse != ANEURALNETWORKS_FUSED_NONE || t->options->pytorch),
                 "two activations of one operator");
    t->fuse = has_relu(node) ? ANEURALNETWORKS_FUSED_RELU : t->fuse;
    TAPER_REFUSE(t, rounding != NULL && rounding->tag != TAPER_NONE, "a division that rounds");
    for (size_t i = 0; i < 2; i++) {
        TAPER_REFUSE(t, !t->asking && taper_translate_is_quantized(t, values[i]),
                     "floats expected, but an argument is quantized");
    }
    TAPER_TRY(pair(t, values, false, operands, &image));
    TAPER_TRY(taper_translate_result(t, t->result, NULL, image, &out));
    if (t->code == ANEURALNETWORKS_MAXIMUM || t->code == ANEURALNETWORKS_MINIMUM) {
        return taper_translate_operation(t, t->code, operands, 2, out);
    }
    TAPER_TRY(taper_translate_int32(t, t->fuse, &fuse));
    return taper_translate_operation(t, t->code, (const uint32_t[]){operands[0], operands[1], fuse}, 3, out);
}

taper_status taper_translate_quantized_binary(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *const values[2] = {taper_node_in(node, 0), taper_node_in(node, 1)};
    taper_result_quantizer q;
    uint32_t operands[2], fuse, out;
    bool image;
    const bool relu = has_relu(node);
    TAPER_REFUSE(t, taper_read_argument(node, "scale") == NULL, "an operator of a tensor and a number");
    TAPER_TRY(taper_read_number(&t->reader, node, "scale", 0, &q.scale));
    TAPER_TRY(taper_read_int(&t->reader, node, "zero_point", 0, &q.zero_point));
    TAPER_REFUSE(t, t->options->pytorch && relu && t->code == ANEURALNETWORKS_MUL,
                 "PyTorch's converter has no such operation");
    TAPER_TRY(pair(t, values, true, operands, &image));
    TAPER_TRY(taper_translate_result(t, t->result, &q, image, &out));
    TAPER_TRY(taper_translate_int32(t, relu ? ANEURALNETWORKS_FUSED_RELU : ANEURALNETWORKS_FUSED_NONE, &fuse));
    return taper_translate_operation(t, t->code, (const uint32_t[]){operands[0], operands[1], fuse}, 3, out);
}

// ---- operators on one tensor

// Gets the input as floats, and the quantizer of the result from the arguments output_scale and output_zero_point.
// *quantizer is NULL if the node lacks these arguments.
static taper_status float_input(taper_translator *t, const taper_node *node, taper_result_quantizer *q,
                                const taper_result_quantizer **quantizer, uint32_t *x, bool *image)
{
    const taper_ir_value *value = taper_node_in(node, 0);
    *quantizer = NULL;
    if (taper_read_argument(node, "output_scale") != NULL) {
        TAPER_TRY(taper_read_number(&t->reader, node, "output_scale", 0, &q->scale));
        TAPER_TRY(taper_read_int(&t->reader, node, "output_zero_point", 0, &q->zero_point));
        *quantizer = q;
    }
    TAPER_TRY(taper_translate_either(t, value, x, image));
    TAPER_REFUSE(t, *quantizer == NULL && taper_translate_is_quantized(t, value),
                 "floats expected, but the input is quantized");
    return taper_translate_floats(t, *x, x);
}

taper_status taper_translate_unary(taper_translator *t, const taper_node *node)
{
    taper_result_quantizer q;
    const taper_result_quantizer *quantizer;
    uint32_t x, out;
    bool image;
    TAPER_TRY(float_input(t, node, &q, &quantizer, &x, &image));
    TAPER_TRY(taper_translate_result(t, t->result, NULL, image, &out));
    return taper_translate_operation(t, t->code, &x, 1, out);
}

taper_status taper_translate_clamp(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *x = taper_node_in(node, 0);
    double bounds[2];
    uint32_t in, out, bound;
    bool image;
    TAPER_REFUSE(t, !taper_node_bounds(node, bounds), "bounds that are no constants");
    const int32_t code = bounds[0] == 0 && bounds[1] > 1e38  ? ANEURALNETWORKS_RELU
                         : bounds[0] == 0 && bounds[1] == 6  ? ANEURALNETWORKS_RELU6
                         : bounds[0] == -1 && bounds[1] == 1 ? ANEURALNETWORKS_RELU1
                                                             : -1;
    TAPER_REFUSE(t, t->options->pytorch && code < 0, "PyTorch's converter has no such bounds");
    TAPER_TRY(taper_translate_either(t, x, &in, &image));
    if (code >= 0) {
        TAPER_TRY(taper_translate_result_like(t, t->result, x, image, &out));
        return taper_translate_operation(t, code, &in, 1, out);
    }
    TAPER_REFUSE(t, t->options->level < 29, "an operation that the device's level lacks");
    TAPER_REFUSE(t, taper_translate_is_quantized(t, x), "bounds of integers other than those of relu and relu6");
    TAPER_REFUSE(t, bounds[0] != bounds[0] || bounds[1] != bounds[1] || bounds[0] > bounds[1], "bounds out of order");
    const bool low = !isinf(bounds[0]), high = !isinf(bounds[1]);
    const int64_t one = 1;
    float *data;
    for (int i = 0; i < 2; i++) {
        if (i == 0 ? !low : !high) {
            continue;
        }
        TAPER_TRY(taper_translate_new_floats(t, 1, &one, &data, &bound));
        if (data != NULL) {
            *data = (float)bounds[i];
        }
        if (i == 0 && high) {
            TAPER_TRY(taper_translate_between(t, in, NULL, image, &out));
        } else {
            TAPER_TRY(taper_translate_result(t, t->result, NULL, image, &out));
        }
        TAPER_TRY(taper_translate_operation(t, i == 0 ? ANEURALNETWORKS_MAXIMUM : ANEURALNETWORKS_MINIMUM,
                                            (const uint32_t[]){in, bound}, 2, out));
        in = out;
    }
    return low || high ? TAPER_OK : taper_translate_same(t, t->result, x);
}

taper_status taper_translate_sigmoid(taper_translator *t, const taper_node *node)
{
    static const taper_result_quantizer fixed = {1.0 / 256, 0};
    const taper_ir_value *x = taper_node_in(node, 0);
    uint32_t in, out;
    bool image;
    TAPER_TRY(taper_translate_either(t, x, &in, &image));
    const bool quantized = taper_translate_is_quantized(t, x);
    TAPER_TRY(taper_translate_result(t, t->result, quantized ? &fixed : NULL, image, &out));
    return TAPER_OPERATION(t, LOGISTIC, out, in);
}

static taper_status one_number(taper_translator *t, double number, uint32_t *operand)
{
    const int64_t one = 1;
    float *data;
    TAPER_TRY(taper_translate_new_floats(t, 1, &one, &data, operand));
    if (data != NULL) {
        *data = (float)number;
    }
    return TAPER_OK;
}

// Adds the operations for min(max(x + 3, 0), 6) on floats.
static taper_status shifted_relu6(taper_translator *t, uint32_t x, bool image, uint32_t *made)
{
    uint32_t three, fuse;
    TAPER_TRY(one_number(t, 3, &three));
    TAPER_TRY(taper_translate_int32(t, ANEURALNETWORKS_FUSED_RELU6, &fuse));
    TAPER_TRY(taper_translate_between(t, x, NULL, image, made));
    return TAPER_OPERATION(t, ADD, *made, x, three, fuse);
}

taper_status taper_translate_hardswish(taper_translator *t, const taper_node *node)
{
    taper_result_quantizer q;
    const taper_result_quantizer *quantizer;
    uint32_t x, out, shifted, product, sixth, none;
    bool image;
    TAPER_TRY(float_input(t, node, &q, &quantizer, &x, &image));
    TAPER_TRY(taper_translate_int32(t, ANEURALNETWORKS_FUSED_NONE, &none));
    if (t->options->level >= 30) {
        TAPER_TRY(taper_translate_float_result(t, t->result, quantizer, image, &out));
        TAPER_TRY(TAPER_OPERATION(t, HARD_SWISH, out, x));
    } else {
        TAPER_TRY(shifted_relu6(t, x, image, &shifted));
        TAPER_TRY(taper_translate_between(t, x, NULL, image, &product));
        TAPER_TRY(TAPER_OPERATION(t, MUL, product, x, shifted, none));
        TAPER_TRY(one_number(t, 1.0 / 6, &sixth));
        TAPER_TRY(taper_translate_float_result(t, t->result, quantizer, image, &out));
        TAPER_TRY(TAPER_OPERATION(t, MUL, out, product, sixth, none));
    }
    return taper_translate_give(t, t->result, out, quantizer, image);
}

// Translates hardsigmoid. The quantized result has a fixed scale, 1 / 256, which covers the range of hardsigmoid, 0 to
// 1.
taper_status taper_translate_hardsigmoid(taper_translator *t, const taper_node *node)
{
    static const taper_result_quantizer fixed = {1.0 / 256, 0};
    const taper_ir_value *value = taper_node_in(node, 0);
    uint32_t x, out, shifted, sixth, none;
    bool image;
    TAPER_TRY(taper_translate_either(t, value, &x, &image));
    const taper_result_quantizer *quantizer = taper_translate_is_quantized(t, value) ? &fixed : NULL;
    TAPER_TRY(taper_translate_floats(t, x, &x));
    TAPER_TRY(taper_translate_int32(t, ANEURALNETWORKS_FUSED_NONE, &none));
    TAPER_TRY(shifted_relu6(t, x, image, &shifted));
    TAPER_TRY(one_number(t, 1.0 / 6, &sixth));
    TAPER_TRY(taper_translate_float_result(t, t->result, quantizer, image, &out));
    TAPER_TRY(TAPER_OPERATION(t, MUL, out, shifted, sixth, none));
    return taper_translate_give(t, t->result, out, quantizer, image);
}

taper_status taper_translate_silu(taper_translator *t, const taper_node *node)
{
    taper_result_quantizer q;
    const taper_result_quantizer *quantizer;
    uint32_t x, out, sigmoid, none;
    bool image;
    TAPER_TRY(float_input(t, node, &q, &quantizer, &x, &image));
    TAPER_TRY(taper_translate_int32(t, ANEURALNETWORKS_FUSED_NONE, &none));
    TAPER_TRY(taper_translate_between(t, x, NULL, image, &sigmoid));
    TAPER_TRY(TAPER_OPERATION(t, LOGISTIC, sigmoid, x));
    TAPER_TRY(taper_translate_result(t, t->result, NULL, image, &out));
    return TAPER_OPERATION(t, MUL, out, x, sigmoid, none);
}

taper_status taper_translate_leaky_relu(taper_translator *t, const taper_node *node)
{
    taper_result_quantizer q;
    const taper_result_quantizer *quantizer;
    uint32_t x, out, alpha;
    bool image;
    double slope;
    TAPER_TRY(taper_read_number(&t->reader, node, "negative_slope", 0.01, &slope));
    TAPER_TRY(float_input(t, node, &q, &quantizer, &x, &image));
    TAPER_TRY(one_number(t, slope, &alpha));
    TAPER_TRY(taper_translate_float_result(t, t->result, quantizer, image, &out));
    TAPER_TRY(TAPER_OPERATION(t, PRELU, out, x, alpha));
    return taper_translate_give(t, t->result, out, quantizer, image);
}

// Translates prelu. If there is a slope for each channel, the slopes are along the last dimension of an NHWC image.
taper_status taper_translate_prelu(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *x = taper_node_in(node, 0);
    taper_tensor *slopes = taper_read_tensor(&t->reader, taper_node_in(node, 1));
    const taper_shape shape = taper_translate_shape(t, x);
    uint32_t in, out, alpha;
    bool image = false;
    TAPER_REFUSE(t, slopes == NULL || slopes->rank != 1, "slopes that are no constant vector");
    TAPER_REFUSE(t, taper_translate_is_quantized(t, x), "floats expected, but the input is quantized");
    const bool many = slopes->sizes[0] > 1;
    TAPER_REFUSE(t, many && shape.rank >= 0 && shape.rank != 4 && shape.rank != 2,
                 "a slope for each channel of other than images and rows");
    if (many && shape.rank == 4 && !t->asking) {
        bool nchw;
        TAPER_TRY(taper_translate_layer_input(t, x, &in, &nchw));
        TAPER_REFUSE(t, nchw, "PyTorch's converter has no slopes for channels but in NHWC");
        image = true;
    } else {
        TAPER_TRY(taper_translate_either(t, x, &in, &image));
    }
    TAPER_TRY(taper_translate_weight(t, slopes, NULL, &alpha));
    TAPER_TRY(taper_translate_result(t, t->result, NULL, image, &out));
    return TAPER_OPERATION(t, PRELU, out, in, alpha);
}

taper_status taper_translate_softmax(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *x = taper_node_in(node, 0);
    const taper_shape shape = taper_translate_shape(t, x);
    int64_t number;
    size_t dim;
    uint32_t in, beta, axis, out;
    bool image = false;
    const taper_val *dtype = taper_read_constant(&t->reader, taper_read_argument(node, "dtype"));
    TAPER_REFUSE(t, dtype != NULL && dtype->tag != TAPER_NONE, "a dtype of its own");
    TAPER_TRY(taper_read_int(&t->reader, node, "dim", -1, &number));
    TAPER_TRY(taper_translate_dim(t, &shape, number, &dim));
    TAPER_REFUSE(t, taper_translate_is_quantized(t, x), "floats expected, but the input is quantized");
    if (t->options->pytorch) { // PyTorch's converter ignores the memory order
        TAPER_TRY(taper_translate_either(t, x, &in, &image));
        TAPER_REFUSE(t, image, "a softmax of an image, which PyTorch's converter does wrong");
    } else {
        // The input is an image if the softmax is over channels.
        image = !t->asking && shape.rank == 4 && dim == 1 && taper_translate_has_image(t, x);
        TAPER_TRY(image ? taper_translate_image(t, x, &in) : taper_translate_plain(t, x, &in));
    }
    TAPER_REFUSE(t, t->options->level < 29 && shape.rank >= 0 && (shape.rank != 2 || dim != 1),
                 "a softmax over another than the last of two dimensions before level 29");
    // For softmax, PyTorch's converter makes the operand of the result first.
    const bool whole = t->code == ANEURALNETWORKS_SOFTMAX;
    if (whole) {
        TAPER_TRY(taper_translate_result(t, t->result, NULL, image, &out));
    }
    TAPER_TRY(taper_translate_float32(t, 1, &beta));
    if (t->options->level < 29) {
        return TAPER_OPERATION(t, SOFTMAX, out, in, beta);
    }
    TAPER_TRY(taper_translate_int32(t, t->options->pytorch ? number : image ? 3 : (int64_t)dim, &axis));
    if (whole) {
        return TAPER_OPERATION(t, SOFTMAX, out, in, beta, axis);
    }
    TAPER_TRY(taper_translate_result(t, t->result, NULL, image, &out));
    return TAPER_OPERATION(t, LOG_SOFTMAX, out, in, beta, axis);
}

// ---- means

taper_status taper_translate_mean(taper_translator *t, const taper_node *node)
{
    static const int64_t image_dims[4] = {0, 3, 1, 2};
    const taper_ir_value *x = taper_node_in(node, 0), *dims = taper_read_argument(node, "dim");
    const taper_shape shape = taper_translate_shape(t, x);
    int64_t numbers[TAPER_MAX_RANK], keep;
    bool image, reduced[4] = {false};
    size_t count;
    uint32_t in, axes, keeps, out;
    const taper_val *dtype = taper_read_constant(&t->reader, taper_read_argument(node, "dtype"));
    const taper_val *none = taper_read_constant(&t->reader, dims);
    TAPER_REFUSE(t, dims == NULL || (none != NULL && none->tag == TAPER_NONE), "a mean of everything");
    TAPER_REFUSE(t, dtype != NULL && dtype->tag != TAPER_NONE, "a dtype of its own");
    TAPER_TRY(taper_read_int_list(&t->reader, dims, numbers, &count));
    TAPER_TRY(taper_read_int(&t->reader, node, "keepdim", 0, &keep));
    TAPER_REFUSE(t, count == 0 || count > 4, "a mean over no dimension");
    TAPER_TRY(taper_translate_either(t, x, &in, &image));
    for (size_t i = 0; i < count; i++) {
        size_t dim;
        TAPER_TRY(taper_translate_dim(t, &shape, numbers[i], &dim));
        TAPER_REFUSE(t, dim > 3, "a tensor of more than four dimensions");
        reduced[dim] = true;
        numbers[i] = t->options->pytorch && !image ? numbers[i] : (int64_t)dim;
    }
    TAPER_REFUSE(t, !keep && shape.rank >= 0 && (size_t)shape.rank == count, "a mean of everything");
    // If reduced dimensions are removed, the remaining dimensions of an image are in PyTorch's order only if the
    // channels are removed, or height and width are both removed.
    if (image && !keep && !(reduced[2] && reduced[3]) && !reduced[1]) {
        TAPER_REFUSE(t, t->options->pytorch, "PyTorch's converter has no such mean of an image");
        TAPER_TRY(taper_translate_plain(t, x, &in));
        image = false;
    }
    for (size_t i = 0; image && i < count; i++) {
        numbers[i] = image_dims[numbers[i]];
    }
    TAPER_TRY(taper_translate_vector(t, numbers, count, &axes));
    TAPER_TRY(taper_translate_int32(t, keep, &keeps));
    TAPER_TRY(taper_translate_result_like(t, t->result, x, image && keep != 0, &out));
    return TAPER_OPERATION(t, MEAN, out, in, axes, keeps);
}

// ---- quantizing and dequantizing

taper_status taper_translate_quantize(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *x = taper_node_in(node, 0);
    taper_result_quantizer q;
    int64_t dtype;
    uint32_t in, out;
    bool image;
    TAPER_TRY(taper_read_number(&t->reader, node, "scale", 0, &q.scale));
    TAPER_TRY(taper_read_int(&t->reader, node, "zero_point", 0, &q.zero_point));
    TAPER_TRY(taper_read_int(&t->reader, node, "dtype", 0, &dtype));
    TAPER_REFUSE(t, dtype != TAPER_QU8, "a quantized dtype other than quint8");
    TAPER_TRY(taper_translate_either(t, x, &in, &image));
    TAPER_REFUSE(t, t->options->pytorch && !image && !t->asking, "PyTorch's converter quantizes images in NHWC only");
    TAPER_TRY(taper_translate_result(t, t->result, &q, image, &out));
    return TAPER_OPERATION(t, QUANTIZE, out, in);
}

taper_status taper_translate_dequantize(taper_translator *t, const taper_node *node)
{
    uint32_t in, out;
    bool image;
    TAPER_REFUSE(t, taper_node_in(node, 0)->type != NULL && taper_node_in(node, 0)->type->kind == TAPER_TYPE_LIST,
                 "a list of tensors");
    TAPER_TRY(taper_translate_either(t, taper_node_in(node, 0), &in, &image));
    TAPER_REFUSE(t, !t->asking && !taper_translate_is_quantized(t, taper_node_in(node, 0)),
                 "an input that is not quantized");
    TAPER_TRY(taper_translate_result(t, t->result, NULL, image, &out));
    return TAPER_OPERATION(t, DEQUANTIZE, out, in);
}
