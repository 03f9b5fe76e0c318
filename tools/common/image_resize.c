// SPDX-License-Identifier: BSD-2-Clause
// PIL's antialiased bilinear resize: a horizontal and a vertical pass, each rounding to 8 bits, with fixed-point
// weights of a triangle that is as wide as the scale asks for.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/image.h"

enum { WEIGHT_BITS = 32 - 8 - 2 };

// For each output position the inputs [first, first + count) and their weights.
typedef struct filter {
    int *first, *count;
    int32_t *weights; // `width` for each position
    int width;
} filter;

static void filter_release(filter *f)
{
    free(f->first);
    free(f->count);
    free(f->weights);
}

static double triangle(double x)
{
    const double distance = x < 0 ? -x : x;
    return distance < 1 ? 1 - distance : 0;
}

static void filter_position(filter *f, int position, int from, double scale, double *weights)
{
    const double stretch = scale < 1 ? 1 : scale, center = (position + 0.5) * scale;
    int first = (int)(center - stretch + 0.5), end = (int)(center + stretch + 0.5);
    first = first < 0 ? 0 : first;
    end = end > from ? from : end;
    double sum = 0;
    for (int i = 0; i < end - first; i++) {
        weights[i] = triangle((i + first - center + 0.5) * (1 / stretch));
        sum += weights[i];
    }
    int32_t *out = f->weights + (size_t)position * (size_t)f->width;
    for (int i = 0; i < end - first; i++) {
        const double weight = sum != 0 ? weights[i] / sum : weights[i];
        out[i] = (int32_t)(0.5 + weight * (1 << WEIGHT_BITS)); // never negative
    }
    f->first[position] = first;
    f->count[position] = end - first;
}

static bool filter_create(int from, int to, filter *f)
{
    const double scale = (double)from / to, stretch = scale < 1 ? 1 : scale;
    f->width = (int)ceil(stretch) * 2 + 1;
    f->first = malloc((size_t)to * sizeof *f->first);
    f->count = malloc((size_t)to * sizeof *f->count);
    f->weights = calloc((size_t)to * (size_t)f->width, sizeof *f->weights);
    double *weights = malloc((size_t)f->width * sizeof *weights);
    const bool done = f->first != NULL && f->count != NULL && f->weights != NULL && weights != NULL;
    for (int position = 0; done && position < to; position++) {
        filter_position(f, position, from, scale, weights);
    }
    free(weights);
    return done;
}

static unsigned char rounded(int32_t sum)
{
    const int32_t value = sum >> WEIGHT_BITS;
    return (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void resize_rows(const image *from, const filter *f, image *out)
{
    for (int y = 0; y < out->height; y++) {
        const unsigned char *row = from->pixels + (size_t)y * (size_t)from->width * 3;
        unsigned char *to = out->pixels + (size_t)y * (size_t)out->width * 3;
        for (int x = 0; x < out->width; x++, to += 3) {
            const int32_t *weights = f->weights + (size_t)x * (size_t)f->width;
            const unsigned char *pixel = row + (size_t)f->first[x] * 3;
            int32_t red = 1 << (WEIGHT_BITS - 1), green = red, blue = red;
            for (int i = 0; i < f->count[x]; i++, pixel += 3) {
                red += pixel[0] * weights[i];
                green += pixel[1] * weights[i];
                blue += pixel[2] * weights[i];
            }
            to[0] = rounded(red);
            to[1] = rounded(green);
            to[2] = rounded(blue);
        }
    }
}

static bool resize_columns(const image *from, const filter *f, image *out)
{
    const size_t row = (size_t)from->width * 3;
    int32_t *sums = malloc(row * sizeof *sums);
    if (sums == NULL) {
        return false;
    }
    for (int y = 0; y < out->height; y++) {
        const int32_t *weights = f->weights + (size_t)y * (size_t)f->width;
        for (size_t i = 0; i < row; i++) {
            sums[i] = 1 << (WEIGHT_BITS - 1);
        }
        for (int k = 0; k < f->count[y]; k++) {
            const unsigned char *pixels = from->pixels + (size_t)(f->first[y] + k) * row;
            for (size_t i = 0; i < row; i++) {
                sums[i] += pixels[i] * weights[k];
            }
        }
        for (size_t i = 0; i < row; i++) {
            out->pixels[(size_t)y * row + i] = rounded(sums[i]);
        }
    }
    free(sums);
    return true;
}

static bool resize_width(const char *subject, const image *from, int width, image *out)
{
    filter f = {0};
    if (!image_create(subject, width, from->height, out)) {
        return false;
    }
    const bool done = filter_create(from->width, width, &f) || error_report_memory(subject);
    if (done) {
        resize_rows(from, &f, out);
    } else {
        image_release(out);
    }
    filter_release(&f);
    return done;
}

static bool resize_height(const char *subject, const image *from, int height, image *out)
{
    filter f = {0};
    if (!image_create(subject, from->width, height, out)) {
        return false;
    }
    const bool done =
        (filter_create(from->height, height, &f) && resize_columns(from, &f, out)) || error_report_memory(subject);
    if (!done) {
        image_release(out);
    }
    filter_release(&f);
    return done;
}

bool image_resize(const char *subject, const image *from, int width, int height, image *out)
{
    if (from->width == width && from->height == height) {
        return image_crop(subject, from, 0, 0, width, height, out);
    }
    if (from->height == height) {
        return resize_width(subject, from, width, out);
    }
    if (from->width == width) {
        return resize_height(subject, from, height, out);
    }
    image narrow;
    if (!resize_width(subject, from, width, &narrow)) {
        return false;
    }
    const bool done = resize_height(subject, &narrow, height, out);
    image_release(&narrow);
    return done;
}

bool image_crop(const char *subject, const image *from, int left, int top, int width, int height, image *out)
{
    if (left < 0 || top < 0 || width > from->width - left || height > from->height - top) {
        return error_report(subject, "the crop of %dx%d is larger than the picture", width, height);
    }
    if (!image_create(subject, width, height, out)) {
        return false;
    }
    for (int y = 0; y < height; y++) {
        memcpy(out->pixels + (size_t)y * (size_t)width * 3,
               from->pixels + ((size_t)(top + y) * (size_t)from->width + (size_t)left) * 3, (size_t)width * 3);
    }
    return true;
}
