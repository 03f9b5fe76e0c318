// SPDX-License-Identifier: BSD-2-Clause
// Pooling and resizing of images.
#include <math.h>

#include "cpu.h"

// Prepares a pool. The arguments are x, paddings or a scheme, strides, window, fuse, [nchw].
bool prepare_pool(call *c)
{
    if (c->in[0].rank != 4) {
        return refuse(c, "an image has 4 dimensions, not %u", c->in[0].rank);
    }
    const bool scheme = c->in_count < 10;
    const uint32_t at = scheme ? 2 : 5;
    window *w = &c->window;
    *w = (window){.stride_w = scalar_int(c, at),
                  .stride_h = scalar_int(c, at + 1),
                  .width = scalar_int(c, at + 2),
                  .height = scalar_int(c, at + 3),
                  .fuse = scalar_int(c, at + 4),
                  .dilation_w = 1,
                  .dilation_h = 1,
                  .nchw = at + 5 < c->in_count && scalar_bool(c, at + 5)};
    const image in = see_image(&c->in[0], w->nchw);
    if (!scheme) {
        w->left = scalar_int(c, 1);
        w->right = scalar_int(c, 2);
        w->top = scalar_int(c, 3);
        w->bottom = scalar_int(c, 4);
    } else if (!read_scheme(c, scalar_int(c, 1), &in)) {
        return false;
    }
    if (w->left >= w->width || w->right >= w->width || w->top >= w->height || w->bottom >= w->height) {
        return refuse(c, "paddings %d %d %d %d are not smaller than the window of %d by %d", w->left, w->right, w->top,
                      w->bottom, w->width, w->height);
    }
    uint32_t height, width;
    if (!check_window(c, &in, &height, &width)) {
        return false;
    }
    set_image(&c->out[0], w->nchw, in.batch, height, width, in.channels);
    return true;
}

// Computes a pool. An average counts only the elements inside the image, not padding.
void run_pool(const call *c)
{
    const window *w = &c->window;
    const tensor *from = &c->in[0], *to = &c->out[0];
    const image in = see_image(from, w->nchw), out = see_image(to, w->nchw);
    const bool max = c->code == ANEURALNETWORKS_MAX_POOL_2D, quantized = from->type != ANEURALNETWORKS_TENSOR_FLOAT32;
    const size_t count = tensor_count(to);
    for (size_t i = 0; i < count; i++) {
        const uint32_t o = (uint32_t)(i % out.channels), ox = (uint32_t)(i / out.channels % out.width);
        const uint32_t oy = (uint32_t)(i / out.channels / out.width % out.height);
        const size_t n = i / out.channels / out.width / out.height;
        const int64_t top = (int64_t)oy * w->stride_h - w->top, left = (int64_t)ox * w->stride_w - w->left;
        float best = -INFINITY, real = 0.0f;
        int32_t most = INT32_MIN, low, high;
        int64_t sum = 0, seen = 0;
        for (int64_t y = top < 0 ? 0 : top; y < top + w->height && y < in.height; y++) {
            for (int64_t x = left < 0 ? 0 : left; x < left + w->width && x < in.width; x++, seen++) {
                const size_t at = n * in.step_n + (size_t)y * in.step_h + (size_t)x * in.step_w + o * in.step_c;
                if (quantized) {
                    const int32_t value = get_quantized(from, at);
                    most = value > most ? value : most;
                    sum += value;
                } else {
                    const float value = get_real(from, at);
                    best = value > best || value != value ? value : best;
                    real += value;
                }
            }
        }
        const size_t at = n * out.step_n + oy * out.step_h + ox * out.step_w + o * out.step_c;
        if (quantized) {
            fused_range(to, w->fuse, &low, &high);
            const int64_t mean = (sum + (sum < 0 ? -seen : seen) / 2) / seen, value = max ? most : mean;
            put_quantized(to, at, (int32_t)(value < low ? low : value > high ? high : value));
        } else {
            put_real(to, at, apply_fuse(w->fuse, max ? best : real / (float)seen));
        }
    }
}

// ---- resizing: x, width, height (ints: sizes; floats: scales), [nchw, align corners, half pixels]

static bool is_aligned(const call *c)
{
    return c->in_count > 4 && scalar_bool(c, 4);
}

static bool is_half(const call *c)
{
    return c->in_count > 5 && scalar_bool(c, 5);
}

bool prepare_resize(call *c)
{
    if (c->in[0].rank != 4) {
        return refuse(c, "an image has 4 dimensions, not %u", c->in[0].rank);
    }
    c->window = (window){.nchw = c->in_count > 3 && scalar_bool(c, 3)};
    if (is_aligned(c) && is_half(c)) {
        return refuse(c, "aligned corners and half pixels at once");
    }
    if (c->in[1].type != c->in[2].type) {
        return refuse(c, "the width is an int and the height is not, or the reverse");
    }
    const image in = see_image(&c->in[0], c->window.nchw);
    const uint32_t sizes[2] = {in.width, in.height};
    int64_t made[2];
    for (uint32_t i = 0; i < 2; i++) {
        made[i] = c->in[1].type == ANEURALNETWORKS_INT32
                      ? scalar_int(c, 1 + i)
                      : (int64_t)floorf(fminf((float)sizes[i] * scalar_float(c, 1 + i), 1e9f));
        if (made[i] < 1 || made[i] > INT32_MAX) {
            return refuse(c, "a result of %lld", (long long)made[i]);
        }
    }
    set_image(&c->out[0], c->window.nchw, in.batch, (uint32_t)made[1], (uint32_t)made[0], in.channels);
    return true;
}

// Returns the position in the input from which an element of the result is interpolated.
static float find_source(const call *c, uint32_t at, uint32_t in, uint32_t out)
{
    if (is_aligned(c)) {
        return out > 1 ? (float)at * (float)(in - 1) / (float)(out - 1) : 0.0f;
    }
    const float scale = (float)in / (float)out;
    return is_half(c) ? ((float)at + 0.5f) * scale - 0.5f : (float)at * scale;
}

static uint32_t find_nearest(const call *c, uint32_t at, uint32_t in, uint32_t out)
{
    const float scale = (float)in / (float)out;
    const float source =
        is_aligned(c) ? roundf(find_source(c, at, in, out)) : floorf(((float)at + (is_half(c) ? 0.5f : 0.0f)) * scale);
    return source > (float)(in - 1) ? in - 1 : (uint32_t)source;
}

void run_resize(const call *c)
{
    const tensor *from = &c->in[0], *to = &c->out[0];
    const image in = see_image(from, c->window.nchw), out = see_image(to, c->window.nchw);
    const size_t count = tensor_count(to);
    for (size_t i = 0; i < count; i++) {
        const uint32_t o = (uint32_t)(i % out.channels), ox = (uint32_t)(i / out.channels % out.width);
        const uint32_t oy = (uint32_t)(i / out.channels / out.width % out.height);
        const size_t n = i / out.channels / out.width / out.height;
        const size_t plane = n * in.step_n + o * in.step_c;
        const size_t at = n * out.step_n + oy * out.step_h + ox * out.step_w + o * out.step_c;
        if (c->code == ANEURALNETWORKS_RESIZE_NEAREST_NEIGHBOR) {
            put_real(to, at,
                     get_real(from, plane + find_nearest(c, oy, in.height, out.height) * in.step_h +
                                        find_nearest(c, ox, in.width, out.width) * in.step_w));
            continue;
        }
        const float y = fmaxf(find_source(c, oy, in.height, out.height), 0.0f);
        const float x = fmaxf(find_source(c, ox, in.width, out.width), 0.0f);
        const uint32_t y0 = (uint32_t)y < in.height ? (uint32_t)y : in.height - 1;
        const uint32_t x0 = (uint32_t)x < in.width ? (uint32_t)x : in.width - 1;
        const uint32_t y1 = y0 + 1 < in.height ? y0 + 1 : y0, x1 = x0 + 1 < in.width ? x0 + 1 : x0;
        const float fy = y - (float)y0, fx = x - (float)x0;
        const float above = get_real(from, plane + y0 * in.step_h + x0 * in.step_w) * (1.0f - fx) +
                            get_real(from, plane + y0 * in.step_h + x1 * in.step_w) * fx;
        const float below = get_real(from, plane + y1 * in.step_h + x0 * in.step_w) * (1.0f - fx) +
                            get_real(from, plane + y1 * in.step_h + x1 * in.step_w) * fx;
        put_real(to, at, above * (1.0f - fy) + below * fy);
    }
}
