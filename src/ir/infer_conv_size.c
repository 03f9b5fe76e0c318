// SPDX-License-Identifier: BSD-2-Clause
// Computes the sizes of a convolution's or pool's result.
#include "ir/infer.h"

static int64_t divide(int64_t a, int64_t b, bool up)
{
    const int64_t down = a >= 0 ? a / b : -((-a + b - 1) / b);
    return up && down * b != a ? down + 1 : down;
}

int64_t taper_infer_conv_size(const taper_conv_shape *w, size_t d, int64_t size)
{
    const int64_t numbers[] = {size, w->kernel[d], w->stride[d], w->padding[d], w->dilation[d], w->more[d]};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i] == TAPER_UNKNOWN || numbers[i] > INT32_MAX || numbers[i] < -INT32_MAX) {
            return TAPER_UNKNOWN;
        }
    }
    if (w->stride[d] < 1 || w->dilation[d] < 1 || w->kernel[d] < 1) {
        return TAPER_UNKNOWN;
    }
    const int64_t reach = w->dilation[d] * (w->kernel[d] - 1);
    if (w->transposed) {
        return (size - 1) * w->stride[d] - 2 * w->padding[d] + reach + 1 + w->more[d];
    }
    if (w->same) {
        return size;
    }
    int64_t out = divide(size + 2 * w->padding[d] - reach - 1, w->stride[d], w->up) + 1;
    if (w->up && (out - 1) * w->stride[d] >= size + w->padding[d]) {
        out--; // the last window must begin inside the image or its left padding
    }
    return out >= 0 ? out : TAPER_UNKNOWN;
}
