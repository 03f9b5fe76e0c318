// SPDX-License-Identifier: BSD-2-Clause
// Rules for float convolutions and linear layers.
#include <math.h>

#include "backends/nnapi/translate_layers.h"
#include "base/checked.h"
#include "ops/nn/prepacked.h"
#include "ops/quantized/quantized_params.h"

// ---- convolutions

int taper_conv_kind(const taper_conv_geometry *g, int64_t in)
{
    return g->groups == 1 ? TAPER_CONV_PLAIN : g->groups == in ? TAPER_CONV_DEPTHWISE : TAPER_CONV_GROUPED;
}

taper_status taper_translate_check_geometry(taper_translator *t, const taper_conv_geometry *g, int kind)
{
    const bool dilated = g->dilation[0] != 1 || g->dilation[1] != 1;
    TAPER_REFUSE(t, g->padding[0] < 0 || g->padding[1] < 0 || g->padding_end[0] < 0 || g->padding_end[1] < 0,
                 "an output padding above the padding, or padding below 0");
    TAPER_REFUSE(t, dilated && (t->options->level < 29 || g->transposed || kind == TAPER_CONV_GROUPED),
                 "a dilation that NNAPI's convolution of this kind has not");
    TAPER_REFUSE(t, kind == TAPER_CONV_GROUPED && (t->options->level < 29 || g->transposed),
                 "groups that NNAPI's convolution of this kind has not");
    TAPER_REFUSE(t, g->transposed && t->options->level < 29, "an operation that the device's level lacks");
    TAPER_REFUSE(t, kind != TAPER_CONV_PLAIN && g->transposed, "groups that NNAPI's convolution of this kind has not");
    TAPER_REFUSE(t, t->options->pytorch && (dilated || kind == TAPER_CONV_GROUPED),
                 "PyTorch's converter has no such convolution");
    return TAPER_OK;
}

taper_status taper_translate_check_inputs(taper_translator *t, const taper_ir_value *x, int dim, int64_t inputs)
{
    const taper_shape shape = taper_translate_shape(t, x);
    const int64_t size = shape.rank >= dim ? shape.sizes[shape.rank - dim] : TAPER_UNKNOWN;
    TAPER_REFUSE(t, size != TAPER_UNKNOWN && size != inputs, "weights for another number of inputs");
    return TAPER_OK;
}

const uint8_t *taper_conv_weight_order(const taper_conv_geometry *g, int kind)
{
    static const uint8_t plain[4] = {0, 2, 3, 1}, turned[4] = {1, 2, 3, 0};
    return kind == TAPER_CONV_DEPTHWISE || g->transposed ? turned : plain;
}

taper_status taper_translate_add_conv(taper_translator *t, const taper_conv_geometry *g, int kind, int64_t multiplier,
                                      const taper_conv_layer *l, uint32_t *in, size_t *count)
{
    const int64_t numbers[] = {g->padding[1],     g->padding_end[1], g->padding[0],
                               g->padding_end[0], g->stride[1],      g->stride[0]};
    const bool dilated = g->dilation[0] != 1 || g->dilation[1] != 1;
    size_t n = 0;
    in[n++] = l->input;
    in[n++] = l->weight;
    in[n++] = l->bias;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        TAPER_TRY(taper_translate_int32(t, numbers[i], &in[n++]));
    }
    if (kind != TAPER_CONV_PLAIN) {
        TAPER_TRY(taper_translate_int32(t, kind == TAPER_CONV_DEPTHWISE ? multiplier : g->groups, &in[n++]));
    }
    TAPER_TRY(taper_translate_int32(t, t->fuse, &in[n++]));
    if (t->options->level >= 29) {
        TAPER_TRY(taper_translate_bool(t, l->nchw, &in[n++]));
    }
    if (dilated) {
        TAPER_TRY(taper_translate_int32(t, g->dilation[1], &in[n++]));
        TAPER_TRY(taper_translate_int32(t, g->dilation[0], &in[n++]));
    }
    *count = n;
    return TAPER_OK;
}

int32_t taper_conv_code(const taper_conv_geometry *g, int kind)
{
    return g->transposed                  ? ANEURALNETWORKS_TRANSPOSE_CONV_2D
           : kind == TAPER_CONV_DEPTHWISE ? ANEURALNETWORKS_DEPTHWISE_CONV_2D
           : kind == TAPER_CONV_GROUPED   ? ANEURALNETWORKS_GROUPED_CONV_2D
                                          : ANEURALNETWORKS_CONV_2D;
}

static taper_status read_geometry(taper_translator *t, const taper_node *node, const int64_t *kernel,
                                  taper_conv_geometry *g)
{
    int64_t more[2], transposed;
    const taper_ir_value *padding = taper_read_argument(node, "padding");
    const taper_val *word = taper_read_constant(&t->reader, padding);
    const unsigned row = TAPER_FIELD(taper_node_facts(node), LAYER);
    TAPER_TRY(taper_read_ints(&t->reader, node, "stride", 2, 1, g->stride));
    TAPER_TRY(taper_read_ints(&t->reader, node, "dilation", 2, 1, g->dilation));
    TAPER_TRY(taper_read_ints(&t->reader, node, "output_padding", 2, 0, more));
    TAPER_TRY(taper_read_int(&t->reader, node, "groups", 1, &g->groups));
    TAPER_TRY(taper_read_int(&t->reader, node, "transposed", row == TAPER_LAYER_CONV_TRANSPOSED2, &transposed));
    g->transposed = transposed != 0;
    if (word != NULL && word->tag == TAPER_STRING) {
        const bool same = taper_val_string_is(*word, "same");
        for (size_t d = 0; d < 2; d++) {
            const int64_t total = same ? g->dilation[d] * (kernel[d] - 1) : 0;
            g->padding[d] = total / 2;
            g->padding_end[d] = total - total / 2;
        }
        TAPER_REFUSE(t,
                     t->options->portable && (g->padding[0] != g->padding_end[0] || g->padding[1] != g->padding_end[1]),
                     "padding that differs from side to side");
        return TAPER_OK;
    }
    TAPER_TRY(taper_read_ints(&t->reader, node, "padding", 2, 0, g->padding));
    for (size_t d = 0; d < 2; d++) { // for transposed convolutions, output padding reduces the padding at the end
        TAPER_REFUSE(t, g->transposed && more[d] != 0 && t->options->portable, "an output padding");
        g->padding_end[d] = g->padding[d] - (g->transposed ? more[d] : 0);
    }
    return TAPER_OK;
}

// Makes the operand of a bias. If there is no bias, the operand contains zeros, because NNAPI requires a bias.
static taper_status bias_of_floats(taper_translator *t, taper_tensor *bias, int64_t count, bool needed,
                                   uint32_t *operand)
{
    float *zeros;
    if (bias == NULL) {
        TAPER_REFUSE(t, t->options->pytorch && needed, "PyTorch's converter has no linear layer without bias");
        return taper_translate_new_floats(t, 1, &count, &zeros, operand);
    }
    return taper_translate_weight(t, bias, NULL, operand);
}

// Reads an argument that is a constant tensor or None.
static taper_status constant_bias(taper_translator *t, const taper_ir_value *value, taper_tensor **bias)
{
    const taper_val *constant = taper_read_constant(&t->reader, value);
    *bias = NULL;
    if (value != NULL && (constant == NULL || constant->tag != TAPER_NONE)) {
        TAPER_REFUSE(t, constant == NULL || constant->tag != TAPER_TENSOR, "a bias that is no constant");
        *bias = constant->as.tensor;
    }
    return TAPER_OK;
}

static taper_status float_conv(taper_translator *t, const taper_ir_value *x, taper_tensor *weight, taper_tensor *bias,
                               const taper_conv_geometry *g)
{
    taper_conv_layer l;
    uint32_t in[16], out;
    size_t count;
    TAPER_REFUSE(t, g->groups < 1 || g->groups > INT32_MAX, "an invalid number of groups");
    for (size_t d = 0; d < weight->rank; d++) {
        TAPER_REFUSE(t, weight->sizes[d] > INT32_MAX, "a number that 32 bits do not hold");
    }
    const int64_t channels = g->transposed ? weight->sizes[0] : weight->sizes[1] * g->groups;
    const int kind = taper_conv_kind(g, channels);
    const int64_t outs = g->transposed ? weight->sizes[1] * g->groups : weight->sizes[0];
    TAPER_TRY(taper_translate_check_geometry(t, g, kind));
    TAPER_TRY(taper_translate_check_inputs(t, x, 3, channels));
    TAPER_REFUSE(t, outs % g->groups != 0 || channels % g->groups != 0, "groups that do not divide the channels");
    TAPER_REFUSE(t, bias != NULL && (bias->rank != 1 || bias->sizes[0] != outs), "a bias of another size");
    TAPER_REFUSE(t, kind == TAPER_CONV_DEPTHWISE && t->options->pytorch && outs != channels,
                 "PyTorch's converter has no such convolution");
    TAPER_TRY(bias_of_floats(t, bias, outs, false, &l.bias));
    TAPER_TRY(taper_translate_weight(t, weight, taper_conv_weight_order(g, kind), &l.weight));
    TAPER_TRY(taper_translate_layer_input(t, x, &l.input, &l.nchw));
    TAPER_TRY(taper_translate_add_conv(t, g, kind, channels != 0 ? outs / channels : 1, &l, in, &count));
    TAPER_TRY(taper_translate_result(t, t->result, NULL, !l.nchw, &out));
    return taper_translate_operation(t, taper_conv_code(g, kind), in, count, out);
}

taper_status taper_translate_conv(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *x = taper_node_in(node, 0);
    taper_tensor *weight = taper_read_tensor(&t->reader, taper_node_in(node, 1)), *bias;
    taper_conv_geometry g;
    TAPER_REFUSE(t, weight == NULL, "weights that are no constants");
    TAPER_REFUSE(t, weight->rank != 4, "a convolution over other than two dimensions");
    for (size_t d = 0; d < 4; d++) {
        TAPER_REFUSE(t, weight->sizes[d] > INT32_MAX, "a number that 32 bits do not hold");
    }
    TAPER_REFUSE(t, taper_translate_is_quantized(t, x), "floats expected, but the input is quantized");
    TAPER_TRY(read_geometry(t, node, weight->sizes + 2, &g));
    TAPER_TRY(constant_bias(t, taper_node_in(node, 2), &bias));
    return float_conv(t, x, weight, bias, &g);
}

// ---- linear layers

taper_status taper_translate_add_linear(taper_translator *t, const taper_ir_value *x, uint32_t weight, uint32_t bias,
                                        int64_t outs, const taper_result_quantizer *q)
{
    const taper_shape shape = taper_translate_shape(t, x), result = taper_translate_shape(t, t->result);
    uint32_t input, fuse, out, sizes, rows;
    TAPER_REFUSE(t, shape.rank == 1, "a linear layer of a vector");
    TAPER_REFUSE(t, t->options->pytorch && shape.rank != 2, "PyTorch's converter has no such linear layer");
    TAPER_TRY(taper_translate_plain(t, x, &input));
    // The result gets the leading dimensions of the input, so at most one of them may be unknown.
    if (shape.rank > 2 && t->options->open) {
        int64_t told[TAPER_MAX_RANK];
        TAPER_TRY(taper_translate_told_sizes(t, &result, told));
    }
    if (shape.rank <= 2 || t->asking) {
        TAPER_TRY(taper_translate_result(t, t->result, q, false, &out));
        TAPER_TRY(taper_translate_int32(t, t->fuse, &fuse));
        return TAPER_OPERATION(t, FULLY_CONNECTED, out, input, weight, bias, fuse);
    }
    int64_t told[TAPER_MAX_RANK];
    taper_shape flat = {.rank = 2, .sizes = {1, outs}};
    TAPER_TRY(taper_translate_told_sizes(t, &result, told));
    for (int d = 0; d + 1 < shape.rank && flat.sizes[0] != TAPER_UNKNOWN; d++) {
        TAPER_REFUSE(t,
                     shape.sizes[d] != TAPER_UNKNOWN && !taper_mul_i64(flat.sizes[0], shape.sizes[d], &flat.sizes[0]),
                     "a number that 32 bits do not hold");
        flat.sizes[0] = shape.sizes[d] == TAPER_UNKNOWN ? TAPER_UNKNOWN : flat.sizes[0];
    }
    TAPER_TRY(taper_translate_vector(t, told, (size_t)result.rank, &sizes));
    TAPER_TRY(taper_translate_result(t, t->result, q, false, &out));
    TAPER_TRY(taper_translate_between(t, out, &flat, false, &rows));
    TAPER_TRY(taper_translate_int32(t, t->fuse, &fuse));
    TAPER_TRY(TAPER_OPERATION(t, FULLY_CONNECTED, rows, input, weight, bias, fuse));
    return TAPER_OPERATION(t, RESHAPE, out, rows, sizes);
}

static taper_status linear(taper_translator *t, const taper_ir_value *x, taper_tensor *weight, taper_tensor *bias,
                           bool turned)
{
    static const uint8_t swapped[2] = {1, 0};
    uint32_t w, b;
    TAPER_REFUSE(t, weight == NULL, "weights that are no constants");
    TAPER_REFUSE(t, weight->rank != 2, "weights of other than two dimensions");
    TAPER_REFUSE(t, taper_translate_is_quantized(t, x), "floats expected, but the input is quantized");
    const int64_t outs = weight->sizes[turned ? 1 : 0];
    TAPER_TRY(taper_translate_check_inputs(t, x, 1, weight->sizes[turned ? 0 : 1]));
    TAPER_REFUSE(t, bias != NULL && (bias->rank != 1 || bias->sizes[0] != outs), "a bias of another size");
    TAPER_TRY(bias_of_floats(t, bias, outs, true, &b));
    TAPER_TRY(taper_translate_weight(t, weight, turned ? swapped : NULL, &w));
    return taper_translate_add_linear(t, x, w, b, outs, NULL);
}

taper_status taper_translate_linear(taper_translator *t, const taper_node *node)
{
    taper_tensor *bias;
    TAPER_TRY(constant_bias(t, taper_node_in(node, 2), &bias));
    return linear(t, taper_node_in(node, 0), taper_read_tensor(&t->reader, taper_node_in(node, 1)), bias, false);
}

taper_status taper_translate_addmm(taper_translator *t, const taper_node *node)
{
    double beta, alpha;
    taper_tensor *bias = taper_read_tensor(&t->reader, taper_node_in(node, 0));
    TAPER_TRY(taper_read_number(&t->reader, node, "beta", 1, &beta));
    TAPER_TRY(taper_read_number(&t->reader, node, "alpha", 1, &alpha));
    TAPER_REFUSE(t, beta != 1 || alpha != 1, "a sum with factors");
    TAPER_REFUSE(t, bias == NULL || bias->rank != 1, "a bias that is no constant vector");
    return linear(t, taper_node_in(node, 1), taper_read_tensor(&t->reader, taper_node_in(node, 2)), bias, true);
}

// ---- layers with weights packed for XNNPACK, and their activation

static taper_status fuse_bounds(taper_translator *t, double min, double max)
{
    const bool above = !(max < HUGE_VAL), below = !(min > -HUGE_VAL);
    TAPER_REFUSE(t, t->options->pytorch, "PyTorch's converter has no packed weights");
    const int32_t code = below && above          ? ANEURALNETWORKS_FUSED_NONE
                         : min == 0 && above     ? ANEURALNETWORKS_FUSED_RELU
                         : min == 0 && max == 6  ? ANEURALNETWORKS_FUSED_RELU6
                         : min == -1 && max == 1 ? ANEURALNETWORKS_FUSED_RELU1
                                                 : -1;
    TAPER_REFUSE(t, code < 0, "bounds that NNAPI has no activation for");
    TAPER_REFUSE(t, code != ANEURALNETWORKS_FUSED_NONE && t->fuse != ANEURALNETWORKS_FUSED_NONE,
                 "two activations of one layer");
    t->fuse = code != ANEURALNETWORKS_FUSED_NONE ? code : t->fuse;
    return TAPER_OK;
}

// Reads the object of packed weights. The operator that packed the weights has checked it.
taper_status taper_translate_packed(taper_translator *t, const taper_node *node, taper_object **object)
{
    const taper_val *packed = taper_read_constant(&t->reader, taper_node_in(node, 1));
    TAPER_REFUSE(t, packed == NULL || packed->tag != TAPER_OBJECT, "packed weights that are no constants");
    *object = packed->as.object;
    return TAPER_OK;
}

taper_status taper_translate_prepacked_conv(taper_translator *t, const taper_node *node)
{
    taper_run run = taper_run_on(t->options->heap, NULL, NULL);
    const taper_call call = {.run = &run, .op = node->op, .schema = node->schema};
    taper_conv_args args = {.min = -HUGE_VAL, .max = HUGE_VAL};
    taper_object *object;
    TAPER_TRY(taper_translate_packed(t, node, &object));
    TAPER_REFUSE(t, taper_prepacked_conv_state(&call, object, &args) != TAPER_OK, "packed weights that cannot be read");
    const taper_conv_params *p = &args.params;
    const taper_conv_geometry g = {
        .stride = {p->stride[0], p->stride[1]},
        .padding = {p->padding[0], p->padding[1]},
        .padding_end = {p->padding[0] - p->output_padding[0], p->padding[1] - p->output_padding[1]},
        .dilation = {p->dilation[0], p->dilation[1]},
        .groups = p->groups,
        .transposed = p->transposed};
    TAPER_TRY(fuse_bounds(t, args.min, args.max));
    return float_conv(t, taper_node_in(node, 0), args.weight, args.bias, &g);
}

taper_status taper_translate_prepacked_linear(taper_translator *t, const taper_node *node)
{
    taper_run run = taper_run_on(t->options->heap, NULL, NULL);
    const taper_call call = {.run = &run, .op = node->op, .schema = node->schema};
    taper_linear_args args = {.min = -HUGE_VAL, .max = HUGE_VAL};
    taper_object *object;
    TAPER_TRY(taper_translate_packed(t, node, &object));
    TAPER_REFUSE(t, taper_prepacked_linear_state(&call, object, &args) != TAPER_OK,
                 "packed weights that cannot be read");
    TAPER_TRY(fuse_bounds(t, args.min, args.max));
    return linear(t, taper_node_in(node, 0), args.weight, args.bias, args.weight_is_in_out);
}

double taper_translate_packed_work(const taper_translator *t, const taper_node *node)
{
    const taper_val *packed = taper_read_constant(&t->reader, taper_node_in(node, 1));
    const taper_shape x = taper_translate_shape(t, taper_node_in(node, 0)),
                      y = taper_translate_shape(t, &node->outputs[0]);
    taper_run run = taper_run_on(t->options->heap, NULL, NULL);
    taper_qconv_params conv;
    taper_qlinear_params linear;
    if (packed == NULL || packed->tag != TAPER_OBJECT) {
        return 0;
    }
    const taper_tensor *weight = NULL;
    bool transposed = false;
    const taper_call call = {.run = &run, .op = node->op, .schema = node->schema};
    taper_conv_args conv_args = {.min = -HUGE_VAL};
    taper_linear_args linear_args = {.min = -HUGE_VAL};
    const unsigned kind = TAPER_FIELD(taper_node_facts(node), LAYER);
    if (kind == TAPER_LAYER_LINEAR) {
        weight = taper_prepacked_linear_state(&call, packed->as.object, &linear_args) == TAPER_OK ? linear_args.weight
                                                                                                  : NULL;
    } else if (kind != TAPER_LAYER_NONE) {
        weight = taper_prepacked_conv_state(&call, packed->as.object, &conv_args) == TAPER_OK ? conv_args.weight : NULL;
        transposed = conv_args.params.transposed;
    } else if (taper_qconv_open(&run, packed->as.object, 0, &conv) == TAPER_OK) {
        weight = conv.weight;
        transposed = conv.conv.transposed;
    } else if (taper_qlinear_open(&run, packed->as.object, &linear) == TAPER_OK) {
        weight = linear.weight;
    }
    const taper_shape space = transposed ? x : y;
    if (weight == NULL || space.rank < 0 || weight->sizes[0] == 0) {
        return 1;
    }
    double work = (double)taper_tensor_numel(weight) / (double)weight->sizes[0];
    for (int d = 0; d < space.rank; d++) {
        work *= space.sizes[d] == TAPER_UNKNOWN ? 1 : (double)space.sizes[d];
    }
    return work;
}
