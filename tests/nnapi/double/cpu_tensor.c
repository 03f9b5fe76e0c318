// SPDX-License-Identifier: BSD-2-Clause
// Functions that the emulation's operations share, for elements, sizes and windows.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cpu.h"

bool refuse(call *c, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->why, sizeof c->why, format, arguments);
    va_end(arguments);
    return false;
}

size_t type_width(int32_t type)
{
    switch (type) {
    case ANEURALNETWORKS_FLOAT32:
    case ANEURALNETWORKS_INT32:
    case ANEURALNETWORKS_UINT32:
    case ANEURALNETWORKS_TENSOR_FLOAT32:
    case ANEURALNETWORKS_TENSOR_INT32:
        return 4;
    case ANEURALNETWORKS_TENSOR_QUANT16_SYMM:
    case ANEURALNETWORKS_TENSOR_FLOAT16:
    case ANEURALNETWORKS_FLOAT16:
    case ANEURALNETWORKS_TENSOR_QUANT16_ASYMM:
        return 2;
    case ANEURALNETWORKS_BOOL:
    case ANEURALNETWORKS_TENSOR_BOOL8:
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM_PER_CHANNEL:
    case ANEURALNETWORKS_TENSOR_QUANT8_SYMM:
    case ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED:
        return 1;
    default:
        return 0;
    }
}

bool type_is_tensor(int32_t type)
{
    return type_width(type) != 0 && type != ANEURALNETWORKS_FLOAT32 && type != ANEURALNETWORKS_INT32 &&
           type != ANEURALNETWORKS_UINT32 && type != ANEURALNETWORKS_BOOL && type != ANEURALNETWORKS_FLOAT16;
}

bool type_is_quant8(int32_t type)
{
    return type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM || type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED ||
           type == ANEURALNETWORKS_TENSOR_QUANT8_SYMM;
}

size_t tensor_count(const tensor *t)
{
    size_t count = 1;
    for (uint32_t i = 0; i < t->rank; i++) {
        if (t->sizes[i] != 0 && count > (SIZE_MAX >> 4) / t->sizes[i]) {
            return SIZE_MAX;
        }
        count *= t->sizes[i];
    }
    return count;
}

bool tensor_sized(const tensor *t)
{
    bool sized = t->rank > 0 || !type_is_tensor(t->type);
    for (uint32_t i = 0; i < t->rank; i++) {
        sized = sized && t->sizes[i] > 0;
    }
    return sized;
}

int32_t list_int(const tensor *t, uint32_t at)
{
    int32_t number;
    memcpy(&number, (const char *)t->data + at * sizeof number, sizeof number);
    return number;
}

int32_t scalar_int(const call *c, uint32_t input)
{
    return list_int(&c->in[input], 0);
}

float scalar_float(const call *c, uint32_t input)
{
    float number;
    memcpy(&number, c->in[input].data, sizeof number);
    return number;
}

bool scalar_bool(const call *c, uint32_t input)
{
    return *(const uint8_t *)c->in[input].data != 0;
}

void set_sizes(tensor *out, uint32_t rank, const uint32_t *sizes)
{
    out->rank = rank;
    memcpy(out->sizes, sizes, rank * sizeof *sizes);
}

bool prepare_like_first(call *c)
{
    set_sizes(&c->out[0], c->in[0].rank, c->in[0].sizes);
    return true;
}

// ---- elements

int32_t get_quantized(const tensor *t, size_t at)
{
    return t->type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM ? ((const uint8_t *)t->data)[at]
                                                          : ((const int8_t *)t->data)[at];
}

void put_quantized(const tensor *t, size_t at, int32_t value)
{
    ((uint8_t *)t->data)[at] = (uint8_t)value;
}

void quantized_range(int32_t type, int32_t *low, int32_t *high)
{
    const bool plain = type == ANEURALNETWORKS_TENSOR_QUANT8_ASYMM;
    *low = plain ? 0 : -128;
    *high = plain ? 255 : 127;
}

float get_real(const tensor *t, size_t at)
{
    if (t->type == ANEURALNETWORKS_TENSOR_FLOAT32) {
        return ((const float *)t->data)[at];
    }
    if (t->type == ANEURALNETWORKS_TENSOR_INT32) {
        return (float)((const int32_t *)t->data)[at];
    }
    return t->scale * (float)(get_quantized(t, at) - t->zero_point);
}

void put_real(const tensor *t, size_t at, float value)
{
    if (t->type == ANEURALNETWORKS_TENSOR_FLOAT32) {
        ((float *)t->data)[at] = value;
        return;
    }
    int32_t low, high;
    quantized_range(t->type, &low, &high);
    const float rounded = roundf(value / t->scale) + (float)t->zero_point;
    put_quantized(t, at, !(rounded > (float)low) ? low : rounded < (float)high ? (int32_t)rounded : high);
}

// ---- activations, products

bool check_fuse(call *c, int32_t fuse)
{
    return (fuse >= 0 && fuse <= 3) || refuse(c, "fuse code %d", fuse);
}

static const float fuse_low[] = {-INFINITY, 0.0f, -1.0f, 0.0f}, fuse_high[] = {INFINITY, INFINITY, 1.0f, 6.0f};

float apply_fuse(int32_t fuse, float value)
{
    return value < fuse_low[fuse] ? fuse_low[fuse] : value > fuse_high[fuse] ? fuse_high[fuse] : value;
}

void fused_range(const tensor *t, int32_t fuse, int32_t *low, int32_t *high)
{
    quantized_range(t->type, low, high);
    const float least = roundf(fuse_low[fuse] / t->scale) + (float)t->zero_point;
    const float most = roundf(fuse_high[fuse] / t->scale) + (float)t->zero_point;
    *low = least > (float)*low ? (least < (float)*high ? (int32_t)least : *high) : *low;
    *high = most < (float)*high ? (most > (float)*low ? (int32_t)most : *low) : *high;
}

int32_t scale_sum(int64_t sum, double multiplier)
{
    int exponent;
    const int64_t mantissa = llround(ldexp(frexp(multiplier, &exponent), 31)); // frexp's factor is in [0.5, 1)
    const int shift = 31 - exponent;
    sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    if (shift > 62) {
        return 0;
    }
    if (shift < 1) {
        return sum > 0 ? INT32_MAX : sum < 0 ? INT32_MIN : 0;
    }
    const int64_t product = (sum < 0 ? -sum : sum) * mantissa; // cannot overflow: below 2^62
    const int64_t rounded = (product + ((int64_t)1 << (shift - 1))) >> shift;
    const int64_t scaled = rounded > INT32_MAX ? INT32_MAX : rounded;
    return (int32_t)(sum < 0 ? -scaled : scaled);
}

bool find_axis(call *c, int32_t number, uint32_t rank, uint32_t *axis)
{
    const int64_t from = number < 0 ? (int64_t)number + rank : number;
    if (from < 0 || from >= rank) {
        return refuse(c, "dimension %d of %u", number, rank);
    }
    *axis = (uint32_t)from;
    return true;
}

// ---- images and windows

image see_image(const tensor *t, bool nchw)
{
    const uint32_t h = nchw ? 2 : 1, w = nchw ? 3 : 2, ch = nchw ? 1 : 3;
    size_t steps[4] = {0, 0, 0, 1};
    for (int i = 2; i >= 0; i--) {
        steps[i] = steps[i + 1] * t->sizes[i + 1];
    }
    return (image){t->sizes[0], t->sizes[h], t->sizes[w], t->sizes[ch], steps[0], steps[h], steps[w], steps[ch]};
}

void set_image(tensor *t, bool nchw, uint32_t batch, uint32_t height, uint32_t width, uint32_t channels)
{
    const uint32_t last[4] = {batch, height, width, channels}, first[4] = {batch, channels, height, width};
    set_sizes(t, 4, nchw ? first : last);
}

// Returns the extent of a window in pixels, including the gaps of its dilation.
static int64_t reach(int32_t size, int32_t dilation)
{
    return ((int64_t)size - 1) * dilation + 1;
}

static void share_padding(int64_t in, int32_t size, int32_t dilation, int32_t stride, int32_t *before, int32_t *after)
{
    const int64_t out = (in + stride - 1) / stride;
    const int64_t total = (out - 1) * stride + reach(size, dilation) - in;
    *before = total > 0 ? (int32_t)(total / 2) : 0;
    *after = total > 0 ? (int32_t)(total - total / 2) : 0;
}

bool read_scheme(call *c, int32_t scheme, const image *in)
{
    window *w = &c->window;
    if (scheme != ANEURALNETWORKS_PADDING_SAME && scheme != ANEURALNETWORKS_PADDING_VALID) {
        return refuse(c, "padding scheme %d", scheme);
    }
    w->left = w->right = w->top = w->bottom = 0;
    if (scheme == ANEURALNETWORKS_PADDING_SAME && w->stride_w > 0 && w->stride_h > 0) {
        share_padding(in->width, w->width, w->dilation_w, w->stride_w, &w->left, &w->right);
        share_padding(in->height, w->height, w->dilation_h, w->stride_h, &w->top, &w->bottom);
    }
    return true;
}

bool check_window(call *c, const image *in, uint32_t *height, uint32_t *width)
{
    const window *w = &c->window;
    if (w->left < 0 || w->right < 0 || w->top < 0 || w->bottom < 0) {
        return refuse(c, "paddings %d %d %d %d", w->left, w->right, w->top, w->bottom);
    }
    if (w->stride_w < 1 || w->stride_h < 1 || w->dilation_w < 1 || w->dilation_h < 1 || w->width < 1 || w->height < 1) {
        return refuse(c, "a window of %d by %d, strides %d and %d, dilations %d and %d", w->width, w->height,
                      w->stride_w, w->stride_h, w->dilation_w, w->dilation_h);
    }
    const int64_t wide = (int64_t)in->width + w->left + w->right - reach(w->width, w->dilation_w);
    const int64_t high = (int64_t)in->height + w->top + w->bottom - reach(w->height, w->dilation_h);
    if (wide < 0 || high < 0 || wide >= UINT32_MAX || high >= UINT32_MAX) {
        return refuse(c, "a window of %d by %d does not fit an image of %u by %u", w->width, w->height, in->width,
                      in->height);
    }
    *width = (uint32_t)(wide / w->stride_w) + 1;
    *height = (uint32_t)(high / w->stride_h) + 1;
    return check_fuse(c, w->fuse);
}
