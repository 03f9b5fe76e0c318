// SPDX-License-Identifier: BSD-2-Clause
// Convolutions and fully connected layers. Floats are summed as floats. Quantized numbers are summed as integers, and
// the sum is scaled once to the result's scale.
#include <math.h>

#include "cpu.h"

static bool is_depthwise(const call *c)
{
    return c->code == ANEURALNETWORKS_DEPTHWISE_CONV_2D;
}

static bool check_weights(call *c, uint32_t outputs)
{
    const tensor *weight = &c->in[1], *bias = &c->in[2];
    if (bias->rank != 1 || bias->sizes[0] != outputs) {
        return refuse(c, "a bias should have one dimension of %u", outputs);
    }
    const uint32_t channel_dim = is_depthwise(c) ? 3 : 0;
    if (weight->type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL && weight->channel_dim != channel_dim) {
        return refuse(c, "weights have their scales along dimension %u, not %u", weight->channel_dim, channel_dim);
    }
    return true;
}

// Reads the arguments after the bias: [paddings | scheme] strides [multiplier | groups] fuse [nchw [dilations]].
static bool read_window(call *c, image *in)
{
    window *w = &c->window;
    const bool extra = is_depthwise(c) || c->code == ANEURALNETWORKS_GROUPED_CONV_2D;
    const uint32_t least = 3 + 1 + 2 + extra + 1; // number of arguments if there is a scheme
    // Explicit paddings are three more ints than a scheme. There are explicit paddings if the argument after the last
    // argument of a call with a scheme is an int, not a bool.
    const bool scheme = c->in_count == least || (c->in_count < least + 3 || c->in[least].type == ANEURALNETWORKS_BOOL);
    uint32_t at = scheme ? 4 : 7;
    *w = (window){.stride_w = scalar_int(c, at), .stride_h = scalar_int(c, at + 1), .dilation_w = 1, .dilation_h = 1};
    at += 2;
    w->groups = w->multiplier = extra ? scalar_int(c, at++) : 1;
    w->fuse = scalar_int(c, at++);
    w->nchw = at < c->in_count && scalar_bool(c, at);
    if (at + 2 < c->in_count) {
        w->dilation_w = scalar_int(c, at + 1);
        w->dilation_h = scalar_int(c, at + 2);
    }
    *in = see_image(&c->in[0], w->nchw);
    w->height = (int32_t)c->in[1].sizes[1];
    w->width = (int32_t)c->in[1].sizes[2];
    if (w->dilation_w < 1 || w->dilation_h < 1) {
        return refuse(c, "dilations %d and %d", w->dilation_w, w->dilation_h);
    }
    if (scheme) {
        return read_scheme(c, scalar_int(c, 3), in);
    }
    w->left = scalar_int(c, 3);
    w->right = scalar_int(c, 4);
    w->top = scalar_int(c, 5);
    w->bottom = scalar_int(c, 6);
    return true;
}

bool prepare_conv(call *c)
{
    const tensor *weight = &c->in[1];
    if (c->in[0].rank != 4 || weight->rank != 4) {
        return refuse(c, "images and weights have 4 dimensions, not %u and %u", c->in[0].rank, weight->rank);
    }
    image in;
    uint32_t height, width;
    if (!read_window(c, &in)) {
        return false;
    }
    window *w = &c->window;
    const uint32_t outputs = weight->sizes[is_depthwise(c) ? 3 : 0];
    if (is_depthwise(c)) {
        if (weight->sizes[0] != 1 || w->multiplier < 1 || (uint64_t)in.channels * (uint32_t)w->multiplier != outputs) {
            return refuse(c, "%u weights and multiplier %d for %u channels", outputs, w->multiplier, in.channels);
        }
        w->groups = (int32_t)in.channels;
    } else if (w->groups < 1 || in.channels % (uint32_t)w->groups != 0 || outputs % (uint32_t)w->groups != 0 ||
               weight->sizes[3] != in.channels / (uint32_t)w->groups) {
        return refuse(c, "weights for %u channels of %u, %u results, %d groups", weight->sizes[3], in.channels, outputs,
                      w->groups);
    }
    if (!check_weights(c, outputs) || !check_window(c, &in, &height, &width)) {
        return false;
    }
    set_image(&c->out[0], w->nchw, in.batch, height, width, outputs);
    return true;
}

static double weight_scale(const tensor *weight, uint32_t output)
{
    return weight->channel_scales != NULL ? weight->channel_scales[output] : weight->scale;
}

// Converts a sum to the result. Uses the bias and the scale of channel `output`.
static void put_sum(const call *c, size_t at, uint32_t output, float real, int64_t sum)
{
    const tensor *in = &c->in[0], *out = &c->out[0];
    if (out->type == ANEURALNETWORKS_TENSOR_FLOAT32) {
        put_real(out, at, apply_fuse(c->window.fuse, real + get_real(&c->in[2], output)));
        return;
    }
    int32_t low, high;
    fused_range(out, c->window.fuse, &low, &high);
    const double multiplier = (double)in->scale * weight_scale(&c->in[1], output) / (double)out->scale;
    const int64_t value = (int64_t)scale_sum(sum + list_int(&c->in[2], output), multiplier) + out->zero_point;
    put_quantized(out, at, (int32_t)(value < low ? low : value > high ? high : value));
}

// Adds the product of input x and weight y to *real, or to *sum for integers.
static void add_product(const call *c, size_t x, size_t y, float *real, int64_t *sum)
{
    const tensor *in = &c->in[0], *weight = &c->in[1];
    if (in->type == ANEURALNETWORKS_TENSOR_FLOAT32) {
        *real += ((const float *)in->data)[x] * ((const float *)weight->data)[y];
    } else {
        *sum += (int64_t)(get_quantized(in, x) - in->zero_point) * (get_quantized(weight, y) - weight->zero_point);
    }
}

void run_conv(const call *c)
{
    const window *w = &c->window;
    const tensor *weight = &c->in[1];
    const image in = see_image(&c->in[0], w->nchw), out = see_image(&c->out[0], w->nchw);
    const uint32_t inputs = in.channels / (uint32_t)w->groups, outputs = out.channels / (uint32_t)w->groups;
    // Strides in weights that are [out, height, width, in], or [1, height, width, out] for depthwise convolution.
    const size_t tap = weight->sizes[3], row = tap * weight->sizes[2], filter = row * weight->sizes[1];
    const bool depthwise = is_depthwise(c);
    const size_t count = tensor_count(&c->out[0]);
    for (size_t i = 0; i < count; i++) {
        const uint32_t o = (uint32_t)(i % out.channels), ox = (uint32_t)(i / out.channels % out.width);
        const uint32_t oy = (uint32_t)(i / out.channels / out.width % out.height);
        const size_t n = i / out.channels / out.width / out.height;
        float real = 0.0f;
        int64_t sum = 0;
        for (int32_t ky = 0; ky < w->height; ky++) {
            const int64_t y = (int64_t)oy * w->stride_h - w->top + (int64_t)ky * w->dilation_h;
            for (int32_t kx = 0; kx < w->width && y >= 0 && y < in.height; kx++) {
                const int64_t x = (int64_t)ox * w->stride_w - w->left + (int64_t)kx * w->dilation_w;
                if (x < 0 || x >= in.width) {
                    continue;
                }
                const size_t from = n * in.step_n + (size_t)y * in.step_h + (size_t)x * in.step_w +
                                    (size_t)(o / outputs) * inputs * in.step_c;
                const size_t by = (size_t)ky * row + (size_t)kx * tap + (depthwise ? o : o * filter);
                for (uint32_t k = 0; k < inputs; k++) {
                    add_product(c, from + k * in.step_c, by + k, &real, &sum);
                }
            }
        }
        put_sum(c, n * out.step_n + oy * out.step_h + ox * out.step_w + o * out.step_c, o, real, sum);
    }
}

// ---- transposed: weights [out, height, width, in]

bool prepare_transposed(call *c)
{
    const tensor *weight = &c->in[1];
    if (c->in[0].rank != 4 || weight->rank != 4) {
        return refuse(c, "images and weights have 4 dimensions, not %u and %u", c->in[0].rank, weight->rank);
    }
    window *w = &c->window;
    // Arguments with a scheme: x, weights, bias, sizes, scheme, strides, fuse, nchw.
    const bool scheme = c->in_count == 9;
    const uint32_t at = scheme ? 5 : 7;
    *w = (window){.stride_w = scalar_int(c, at),
                  .stride_h = scalar_int(c, at + 1),
                  .fuse = scalar_int(c, at + 2),
                  .nchw = scalar_bool(c, at + 3),
                  .dilation_w = 1,
                  .dilation_h = 1,
                  .width = (int32_t)weight->sizes[2],
                  .height = (int32_t)weight->sizes[1]};
    const image in = see_image(&c->in[0], w->nchw);
    if (weight->sizes[3] != in.channels || !check_weights(c, weight->sizes[0])) {
        return c->why[0] != '\0' ? false : refuse(c, "weights for %u channels of %u", weight->sizes[3], in.channels);
    }
    if (w->stride_w < 1 || w->stride_h < 1) {
        return refuse(c, "strides %d and %d", w->stride_w, w->stride_h);
    }
    int64_t height, width;
    if (scheme) {
        if (c->in[3].rank != 1 || c->in[3].sizes[0] != 4) {
            return refuse(c, "the sizes of a result should be 4 ints");
        }
        height = list_int(&c->in[3], w->nchw ? 2 : 1);
        width = list_int(&c->in[3], w->nchw ? 3 : 2);
        // The paddings belong to a convolution of an image that has the size of the result.
        const image back = {.height = (uint32_t)height, .width = (uint32_t)width};
        if (height < 1 || width < 1 || !read_scheme(c, scalar_int(c, 4), &back)) {
            return c->why[0] != '\0' ? false
                                     : refuse(c, "a result of %lld by %lld", (long long)width, (long long)height);
        }
    } else {
        w->left = scalar_int(c, 3);
        w->right = scalar_int(c, 4);
        w->top = scalar_int(c, 5);
        w->bottom = scalar_int(c, 6);
        height = ((int64_t)in.height - 1) * w->stride_h + w->height - w->top - w->bottom;
        width = ((int64_t)in.width - 1) * w->stride_w + w->width - w->left - w->right;
    }
    if (w->left < 0 || w->right < 0 || w->top < 0 || w->bottom < 0 || height < 1 || width < 1 || height > INT32_MAX ||
        width > INT32_MAX) {
        return refuse(c, "paddings %d %d %d %d leave %lld by %lld", w->left, w->right, w->top, w->bottom,
                      (long long)width, (long long)height);
    }
    set_image(&c->out[0], w->nchw, in.batch, (uint32_t)height, (uint32_t)width, weight->sizes[0]);
    return check_fuse(c, w->fuse);
}

void run_transposed(const call *c)
{
    const window *w = &c->window;
    const tensor *weight = &c->in[1];
    const image in = see_image(&c->in[0], w->nchw), out = see_image(&c->out[0], w->nchw);
    const size_t tap = weight->sizes[3], row = tap * weight->sizes[2], filter = row * weight->sizes[1];
    const size_t count = tensor_count(&c->out[0]);
    for (size_t i = 0; i < count; i++) {
        const uint32_t o = (uint32_t)(i % out.channels), ox = (uint32_t)(i / out.channels % out.width);
        const uint32_t oy = (uint32_t)(i / out.channels / out.width % out.height);
        const size_t n = i / out.channels / out.width / out.height;
        float real = 0.0f;
        int64_t sum = 0;
        for (int32_t ky = 0; ky < w->height; ky++) {
            const int64_t y = (int64_t)oy + w->top - ky;
            for (int32_t kx = 0; kx < w->width && y >= 0 && y % w->stride_h == 0 && y / w->stride_h < in.height; kx++) {
                const int64_t x = (int64_t)ox + w->left - kx;
                if (x < 0 || x % w->stride_w != 0 || x / w->stride_w >= in.width) {
                    continue;
                }
                const size_t from =
                    n * in.step_n + (size_t)(y / w->stride_h) * in.step_h + (size_t)(x / w->stride_w) * in.step_w;
                for (uint32_t k = 0; k < in.channels; k++) {
                    add_product(c, from + k * in.step_c, o * filter + (size_t)ky * row + (size_t)kx * tap + k, &real,
                                &sum);
                }
            }
        }
        put_sum(c, n * out.step_n + oy * out.step_h + ox * out.step_w + o * out.step_c, o, real, sum);
    }
}

// ---- fully connected: weights [units, inputs]

bool prepare_linear(call *c)
{
    const tensor *in = &c->in[0], *weight = &c->in[1];
    if (in->rank < 2 || weight->rank != 2) {
        return refuse(c, "an input of %u and weights of %u dimensions", in->rank, weight->rank);
    }
    const size_t count = tensor_count(in);
    if (count % weight->sizes[1] != 0) {
        return refuse(c, "rows of %u do not fit an input of %zu", weight->sizes[1], count);
    }
    const uint32_t sizes[2] = {(uint32_t)(count / weight->sizes[1]), weight->sizes[0]};
    set_sizes(&c->out[0], 2, sizes);
    c->window.fuse = scalar_int(c, 3);
    return check_weights(c, weight->sizes[0]) && check_fuse(c, c->window.fuse);
}

void run_linear(const call *c)
{
    const size_t units = c->in[1].sizes[0], inputs = c->in[1].sizes[1], count = tensor_count(&c->out[0]);
    for (size_t i = 0; i < count; i++) {
        float real = 0.0f;
        int64_t sum = 0;
        for (size_t k = 0; k < inputs; k++) {
            add_product(c, i / units * inputs + k, i % units * inputs + k, &real, &sum);
        }
        put_sum(c, i, (uint32_t)(i % units), real, sum);
    }
}
