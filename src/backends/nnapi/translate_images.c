// SPDX-License-Identifier: BSD-2-Clause
// Rules for pools, batch norm, and resizing.
#include <math.h>

#include "backends/nnapi/translating.h"

// ---- pools

typedef struct window {
    int64_t kernel[2], stride[2], padding[2], padding_end[2]; // arrays in the order height, width
} window;

// Adds the pooling operation on an image operand.
static taper_status add_pool(taper_translator *t, const taper_node *node, int32_t code, const window *w, uint32_t image,
                             bool nchw)
{
    const int64_t numbers[] = {w->padding[1], w->padding_end[1], w->padding[0], w->padding_end[0],
                               w->stride[1],  w->stride[0],      w->kernel[1],  w->kernel[0]};
    uint32_t in[11] = {image}, out;
    size_t n = 1;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        TAPER_TRY(taper_translate_int32(t, numbers[i], &in[n++]));
    }
    TAPER_TRY(taper_translate_int32(t, t->fuse, &in[n++]));
    if (t->options->level >= 29) {
        TAPER_TRY(taper_translate_bool(t, nchw, &in[n++]));
    }
    TAPER_TRY(taper_translate_result_like(t, t->result, taper_node_in(node, 0), !nchw, &out));
    return taper_translate_operation(t, code, in, n, out);
}

// Reads the arguments of a pool. With ceil_mode, the padding at the end is increased until the last window fits.
static taper_status read_window(taper_translator *t, const taper_node *node, window *w, bool *grown)
{
    const taper_shape x = taper_translate_shape(t, taper_node_in(node, 0)),
                      y = taper_translate_shape(t, &node->outputs[0]);
    int64_t up, dilation[2];
    TAPER_TRY(taper_read_ints(&t->reader, node, "kernel_size", 2, 0, w->kernel));
    TAPER_TRY(taper_read_ints(&t->reader, node, "stride", 2, 0, w->stride));
    TAPER_TRY(taper_read_ints(&t->reader, node, "padding", 2, 0, w->padding));
    TAPER_TRY(taper_read_ints(&t->reader, node, "dilation", 2, 1, dilation));
    TAPER_TRY(taper_read_int(&t->reader, node, "ceil_mode", 0, &up));
    TAPER_REFUSE(t, dilation[0] != 1 || dilation[1] != 1, "a dilated pool");
    TAPER_REFUSE(t, t->options->pytorch && up != 0,
                 "a pool that rounds sizes up, which PyTorch's converter does wrong");
    *grown = false;
    for (size_t d = 0; d < 2; d++) {
        w->stride[d] = w->stride[d] == 0 ? w->kernel[d] : w->stride[d];
        TAPER_REFUSE(t, w->kernel[d] < 1 || w->stride[d] < 1, "a pool without extent");
        w->padding_end[d] = w->padding[d];
        TAPER_REFUSE(t, x.rank == 4 && (x.sizes[2 + d] > INT32_MAX || (y.rank == 4 && y.sizes[2 + d] > INT32_MAX)),
                     "a number that 32 bits do not hold");
        TAPER_REFUSE(t, up != 0 && t->options->open && (x.rank != 4 || x.sizes[2 + d] == TAPER_UNKNOWN),
                     "a pool that rounds sizes up, and sizes that are not known");
        if (up != 0 && x.rank == 4 && y.rank == 4 && x.sizes[2 + d] != TAPER_UNKNOWN &&
            y.sizes[2 + d] != TAPER_UNKNOWN) {
            const int64_t reach = (y.sizes[2 + d] - 1) * w->stride[d] + w->kernel[d],
                          more = reach - x.sizes[2 + d] - 2 * w->padding[d];
            w->padding_end[d] += more > 0 ? more : 0;
            *grown = *grown || more > 0;
        }
    }
    TAPER_REFUSE(t, t->options->pytorch && *grown, "a pool that rounds sizes up, which PyTorch's converter does wrong");
    return TAPER_OK;
}

taper_status taper_translate_max_pool(taper_translator *t, const taper_node *node)
{
    window w;
    bool grown, nchw;
    uint32_t image;
    TAPER_TRY(read_window(t, node, &w, &grown));
    TAPER_TRY(taper_translate_layer_input(t, taper_node_in(node, 0), &image, &nchw));
    return add_pool(t, node, ANEURALNETWORKS_MAX_POOL_2D, &w, image, nchw);
}

// Adds zeros around the image if PyTorch counts padding in the average, because NNAPI does not count it.
static taper_status pad_first(taper_translator *t, window *w, uint32_t image, uint32_t *padded)
{
    const int32_t numbers[8] = {
        0, 0, (int32_t)w->padding[0], (int32_t)w->padding_end[0], (int32_t)w->padding[1], (int32_t)w->padding_end[1],
        0, 0};
    uint32_t pads;
    *padded = image;
    if (t->asking) {
        return TAPER_OK;
    }
    TAPER_REFUSE(t, t->options->level < 28, "an operation that the device's level lacks");
    TAPER_TRY(taper_translate_paddings(t, numbers, 4, &pads));
    const taper_network_operand *x = &t->network->operands[image];
    taper_shape shape = {.rank = 4};
    for (size_t d = 0; d < 4; d++) {
        shape.sizes[d] = x->sizes[d] == 0 ? TAPER_UNKNOWN : (int64_t)x->sizes[d] + numbers[2 * d] + numbers[2 * d + 1];
    }
    TAPER_TRY(taper_translate_between(t, image, &shape, true, padded));
    for (size_t d = 0; d < 2; d++) {
        w->padding[d] = w->padding_end[d] = 0;
    }
    return TAPER_OPERATION(t, PAD, *padded, image, pads);
}

taper_status taper_translate_avg_pool(taper_translator *t, const taper_node *node)
{
    window w;
    bool grown, nchw;
    int64_t counts, divisor;
    uint32_t image;
    TAPER_TRY(read_window(t, node, &w, &grown));
    TAPER_TRY(taper_read_int(&t->reader, node, "count_include_pad", 1, &counts));
    TAPER_TRY(taper_read_int(&t->reader, node, "divisor_override", 0, &divisor));
    const bool padded = w.padding[0] != 0 || w.padding[1] != 0;
    TAPER_REFUSE(t, divisor != 0, "a divisor of its own");
    TAPER_REFUSE(t, grown && (padded || t->options->portable), "an average over a window that lies partly outside");
    TAPER_REFUSE(t, padded && counts == 0 && (t->options->portable || t->options->pytorch),
                 "an average without the padding");
    TAPER_TRY(taper_translate_layer_input(t, taper_node_in(node, 0), &image, &nchw));
    if (padded && counts != 0 && !t->options->pytorch) {
        TAPER_TRY(pad_first(t, &w, image, &image));
    }
    return add_pool(t, node, ANEURALNETWORKS_AVERAGE_POOL_2D, &w, image, nchw);
}

// Adds the mean over height and width of an image of any size.
static taper_status mean_of_image(taper_translator *t, const taper_ir_value *x)
{
    static const int64_t space[2] = {1, 2};
    uint32_t image, axes, keep, out;
    TAPER_REFUSE(t, t->options->level < 28, "an operation that the device's level lacks");
    TAPER_TRY(taper_translate_image(t, x, &image));
    TAPER_TRY(taper_translate_vector(t, space, 2, &axes));
    TAPER_TRY(taper_translate_int32(t, 1, &keep));
    TAPER_TRY(taper_translate_result_like(t, t->result, x, true, &out));
    return TAPER_OPERATION(t, MEAN, out, image, axes, keep);
}

taper_status taper_translate_adaptive_pool(taper_translator *t, const taper_node *node)
{
    const taper_ir_value *x = taper_node_in(node, 0);
    const taper_shape shape = taper_translate_shape(t, x);
    int64_t wanted[2];
    window w = {.kernel = {1, 1}, .stride = {1, 1}};
    uint32_t image;
    bool nchw, same = shape.rank == 4;
    TAPER_TRY(taper_read_ints(&t->reader, node, "output_size", 2, 0, wanted));
    for (size_t d = 0; d < 2; d++) {
        TAPER_REFUSE(t, wanted[d] < 1, "an adaptive pool to no size");
        TAPER_REFUSE(t, t->options->pytorch && wanted[d] != 1, "PyTorch's converter has no adaptive pool but to 1 x 1");
        if (shape.rank != 4 || shape.sizes[2 + d] == TAPER_UNKNOWN) {
            if (shape.rank == 4 && t->options->open && wanted[0] == 1 && wanted[1] == 1) {
                return mean_of_image(t, x);
            }
            TAPER_REFUSE(t, !taper_translate_may_learn(t), "a tensor whose sizes are not known");
            same = false;
            continue;
        }
        TAPER_REFUSE(t, shape.sizes[2 + d] % wanted[d] != 0, "an adaptive pool with windows of several sizes");
        w.kernel[d] = shape.sizes[2 + d] / wanted[d];
        w.stride[d] = wanted[d] == 1 ? 1 : w.kernel[d];
        same = same && w.kernel[d] == 1;
    }
    if (same && !t->options->pytorch) {
        TAPER_TRY(taper_translate_image(t, x, &image));
        return taper_translate_same(t, t->result, x);
    }
    TAPER_TRY(taper_translate_layer_input(t, x, &image, &nchw));
    return add_pool(t, node, ANEURALNETWORKS_AVERAGE_POOL_2D, &w, image, nchw);
}

// ---- batch norm: x * factor + summand for each channel

static const float *vector(const taper_translator *t, const taper_node *node, size_t at, int64_t count, int64_t *stride)
{
    const taper_tensor *tensor = taper_read_tensor(&t->reader, taper_node_in(node, at));
    *stride = 0;
    if (tensor == NULL || tensor->rank != 1 || tensor->dtype != TAPER_F32 || tensor->sizes[0] != count) {
        return NULL;
    }
    *stride = tensor->strides[0];
    return taper_tensor_data(tensor);
}

taper_status taper_translate_batch_norm(taper_translator *t, const taper_node *node)
{
    enum { WEIGHT = 1, BIAS, MEAN, VAR };
    const taper_ir_value *x = taper_node_in(node, 0);
    int64_t training, strides[5];
    double eps;
    const float *from[5];
    float *factor, *summand;
    uint32_t image, factors, summands, product, none, fuse, out;
    TAPER_TRY(taper_read_int(&t->reader, node, "training", 0, &training));
    TAPER_TRY(taper_read_number(&t->reader, node, "eps", 1e-5, &eps));
    const taper_tensor *mean = taper_read_tensor(&t->reader, taper_node_in(node, MEAN));
    TAPER_REFUSE(t, training != 0 || mean == NULL, "batch norm in training");
    TAPER_REFUSE(t, t->options->pytorch, "PyTorch's converter has no batch norm");
    TAPER_REFUSE(t, taper_translate_is_quantized(t, x), "floats expected, but the input is quantized");
    const int64_t channels = mean->rank == 1 ? mean->sizes[0] : 0;
    for (size_t i = WEIGHT; i <= VAR; i++) {
        const taper_val *constant = taper_read_constant(&t->reader, taper_node_in(node, i));
        from[i] = vector(t, node, i, channels, &strides[i]);
        TAPER_REFUSE(t, from[i] == NULL && (i >= MEAN || constant == NULL || constant->tag != TAPER_NONE),
                     "batch norm whose numbers are no constants");
    }
    TAPER_TRY(taper_translate_image(t, x, &image));
    TAPER_TRY(taper_translate_new_floats(t, 1, &channels, &factor, &factors));
    TAPER_TRY(taper_translate_new_floats(t, 1, &channels, &summand, &summands));
    for (int64_t c = 0; !t->asking && c < channels; c++) {
        const double scale =
            (from[WEIGHT] != NULL ? from[WEIGHT][c * strides[WEIGHT]] : 1.0) / sqrt(from[VAR][c * strides[VAR]] + eps);
        factor[c] = (float)scale;
        summand[c] =
            (float)((from[BIAS] != NULL ? from[BIAS][c * strides[BIAS]] : 0.0) - from[MEAN][c * strides[MEAN]] * scale);
    }
    TAPER_TRY(taper_translate_int32(t, ANEURALNETWORKS_FUSED_NONE, &none));
    TAPER_TRY(taper_translate_between(t, image, NULL, true, &product));
    TAPER_TRY(TAPER_OPERATION(t, MUL, product, image, factors, none));
    TAPER_TRY(taper_translate_int32(t, t->fuse, &fuse));
    TAPER_TRY(taper_translate_result(t, t->result, NULL, true, &out));
    return TAPER_OPERATION(t, ADD, out, product, summands, fuse);
}

// ---- resizing

// Computes height and width of the result. *factors receives the node's scale factors, if it has some.
static taper_status resized(taper_translator *t, const taper_node *node, int64_t *in, int64_t *out, double *factors)
{
    const taper_shape x = taper_translate_shape(t, taper_node_in(node, 0)),
                      y = taper_translate_shape(t, &node->outputs[0]);
    const taper_val *list = taper_read_constant(&t->reader, taper_read_argument(node, "scale_factors"));
    for (size_t d = 0; d < 2; d++) {
        in[d] = x.rank == 4 ? x.sizes[2 + d] : TAPER_UNKNOWN;
        out[d] = y.rank == 4 ? y.sizes[2 + d] : TAPER_UNKNOWN;
        factors[d] = 0;
        if (list != NULL && list->tag == TAPER_LIST && list->as.list->count == 2) {
            const taper_val factor = list->as.list->items[d];
            factors[d] = factor.tag == TAPER_DOUBLE ? factor.as.f : 0;
        } else {
            TAPER_TRY(taper_read_number(&t->reader, node, d == 0 ? "scales_h" : "scales_w", 0, &factors[d]));
        }
        const bool known = in[d] != TAPER_UNKNOWN && out[d] != TAPER_UNKNOWN;
        const bool whole = factors[d] >= 1 && factors[d] <= 64 && factors[d] == floor(factors[d]);
        TAPER_REFUSE(t, !known && !taper_translate_may_learn(t) && !(t->options->open && whole),
                     "a tensor whose sizes are not known");
        TAPER_REFUSE(t, factors[d] != 0 && known && (double)out[d] != factors[d] * (double)in[d],
                     "a scale that is not the ratio of the sizes");
    }
    return TAPER_OK;
}

// Makes the arguments for height and width: sizes, or factors if the sizes are unknown.
static taper_status told_size(taper_translator *t, bool scales, const int64_t *size, const double *factors,
                              uint32_t *height, uint32_t *width)
{
    TAPER_TRY(scales ? taper_translate_float32(t, factors[0], height) : taper_translate_int32(t, size[0], height));
    return scales ? taper_translate_float32(t, factors[1], width) : taper_translate_int32(t, size[1], width);
}

static bool is_open(const int64_t *size)
{
    return size[0] == TAPER_UNKNOWN || size[1] == TAPER_UNKNOWN;
}

static taper_status add_nearest(taper_translator *t, const taper_node *node, const int64_t *size, const double *factors)
{
    const bool scales = factors[0] != 0 && (t->options->pytorch || is_open(size));
    uint32_t image, width, height, flag, out;
    bool nchw;
    TAPER_TRY(taper_translate_layer_input(t, taper_node_in(node, 0), &image, &nchw));
    TAPER_TRY(told_size(t, scales, size, factors, &height, &width));
    TAPER_TRY(taper_translate_result_like(t, t->result, taper_node_in(node, 0), !nchw, &out));
    TAPER_TRY(taper_translate_bool(t, nchw, &flag));
    return TAPER_OPERATION(t, RESIZE_NEAREST_NEIGHBOR, out, image, width, height, flag);
}

taper_status taper_translate_nearest(taper_translator *t, const taper_node *node)
{
    int64_t in[2], size[2];
    double factors[2];
    TAPER_TRY(resized(t, node, in, size, factors));
    return add_nearest(t, node, taper_translate_may_learn(t) ? (const int64_t[2]){1, 1} : size, factors);
}

// Translates a bilinear resize. Before level 30, only two resizes are supported: from a single pixel, which gives the
// same result with any interpolation, and to the same size.
taper_status taper_translate_bilinear(taper_translator *t, const taper_node *node)
{
    int64_t in[2], size[2], corners;
    double factors[2];
    uint32_t image, width, height, nchw, align, half, out;
    TAPER_TRY(resized(t, node, in, size, factors));
    TAPER_TRY(taper_read_int(&t->reader, node, "align_corners", 0, &corners));
    TAPER_REFUSE(t, t->options->pytorch, "PyTorch's converter has no such operation");
    if (in[0] == 1 && in[1] == 1 && t->options->level >= 29) {
        return add_nearest(t, node, taper_translate_may_learn(t) ? (const int64_t[2]){1, 1} : size, factors);
    }
    const bool known = in[0] != TAPER_UNKNOWN && in[1] != TAPER_UNKNOWN;
    if (known && in[0] == size[0] && in[1] == size[1]) {
        TAPER_TRY(taper_translate_image(t, taper_node_in(node, 0), &image));
        return taper_translate_same(t, t->result, taper_node_in(node, 0));
    }
    TAPER_REFUSE(t, (known || !taper_translate_may_learn(t)) && t->options->level < 30,
                 "bilinear resizing with PyTorch's corners, which level 30 has");
    TAPER_TRY(taper_translate_image(t, taper_node_in(node, 0), &image));
    if (t->asking) {
        return TAPER_OK;
    }
    TAPER_TRY(told_size(t, is_open(size), size, factors, &height, &width));
    TAPER_TRY(taper_translate_bool(t, false, &nchw));
    TAPER_TRY(taper_translate_bool(t, corners != 0, &align));
    TAPER_TRY(taper_translate_bool(t, corners == 0, &half));
    TAPER_TRY(taper_translate_result_like(t, t->result, taper_node_in(node, 0), true, &out));
    return TAPER_OPERATION(t, RESIZE_BILINEAR, out, image, width, height, nchw, align, half);
}
