// SPDX-License-Identifier: BSD-2-Clause
// The arithmetic of attention for one type. attention_rows.c includes this file with ELEMENT, NAME(x), EXP, SQRT and
// ERF.

static void NAME(softmax)(ELEMENT *x, int64_t rows, int64_t width)
{
    for (int64_t r = 0; r < rows; r++, x += width) {
        ELEMENT max = width > 0 ? x[0] : 0, sum = 0;
        for (int64_t i = 1; i < width; i++) {
            max = x[i] > max || x[i] != x[i] ? x[i] : max;
        }
        for (int64_t i = 0; i < width; i++) {
            x[i] = EXP(x[i] - max);
            sum += x[i];
        }
        for (int64_t i = 0; i < width; i++) {
            x[i] /= sum;
        }
    }
}

static void NAME(layer_norm)(ELEMENT *x, int64_t rows, int64_t width, const ELEMENT *weight, const ELEMENT *bias,
                             double eps)
{
    for (int64_t r = 0; r < rows; r++, x += width) {
        double sum = 0.0, squares = 0.0;
        for (int64_t i = 0; i < width; i++) {
            sum += (double)x[i];
        }
        const double mean = sum / (double)width;
        for (int64_t i = 0; i < width; i++) {
            const double d = (double)x[i] - mean;
            squares += d * d;
        }
        const double scale = 1.0 / sqrt(squares / (double)width + eps);
        for (int64_t i = 0; i < width; i++) {
            x[i] = (ELEMENT)(((double)x[i] - mean) * scale) * weight[i] + bias[i];
        }
    }
}

static void NAME(activate)(ELEMENT *x, int64_t count, bool gelu)
{
    for (int64_t i = 0; i < count; i++) {
        x[i] = gelu ? (ELEMENT)0.5 * x[i] * (1 + ERF(x[i] * (ELEMENT)0.70710678118654752440)) : x[i] < 0 ? 0 : x[i];
    }
}

static void NAME(add)(ELEMENT *x, const ELEMENT *y, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        x[i] += y[i];
    }
}
