// SPDX-License-Identifier: BSD-2-Clause
// PIL's antialiased bilinear resize: a horizontal and a vertical pass, each of which rounds to 8 bits. The weight of an
// input falls linearly with its distance from the output position, over a width that depends on the scale. Weights are
// fixed-point numbers.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "app/picture.h"
#include "base/arena.h"

enum { WEIGHT_BITS = 32 - 8 - 2 };

// For each output position, the range of inputs [first, first + count) and their weights.
typedef struct filter {
    int *first, *count;
    int32_t *weights; // `width` weights for each position
    int width;
    taper_arena arena;
} filter;

static double triangle(double x)
{
    const double distance = x < 0 ? -x : x;
    return distance < 1 ? 1 - distance : 0;
}

static void set_position(filter *f, int position, int from, double scale, double *weights)
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
        // Weights are never negative, so adding 0.5 rounds to nearest.
        out[i] = (int32_t)(0.5 + weight * (1 << WEIGHT_BITS));
    }
    f->first[position] = first;
    f->count[position] = end - first;
}

// Computes the filter. All of its memory is in the arena, which the caller frees.
static taper_status set_filter(filter *f, const taper_allocator *allocator, int from, int to, taper_error *error)
{
    const double scale = (double)from / to, stretch = scale < 1 ? 1 : scale;
    taper_arena_init(&f->arena, allocator);
    f->width = (int)ceil(stretch) * 2 + 1;
    f->first = taper_arena_array(&f->arena, (size_t)to, sizeof *f->first);
    f->count = taper_arena_array(&f->arena, (size_t)to, sizeof *f->count);
    f->weights = taper_arena_array(&f->arena, (size_t)to * (size_t)f->width, sizeof *f->weights);
    double *weights = taper_arena_array(&f->arena, (size_t)f->width, sizeof *weights);
    if (f->first == NULL || f->count == NULL || f->weights == NULL || weights == NULL) {
        return taper_fail_memory(error);
    }
    for (int position = 0; position < to; position++) {
        set_position(f, position, from, scale, weights);
    }
    return TAPER_OK;
}

static unsigned char rounded(int32_t sum)
{
    const int32_t value = sum >> WEIGHT_BITS;
    return (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
}

static void resize_rows(const taper_rgb *from, const filter *f, taper_rgb *to)
{
    for (int y = 0; y < to->height; y++) {
        const unsigned char *row = from->pixels + (size_t)y * from->stride;
        unsigned char *out = to->block + (size_t)y * to->stride;
        for (int x = 0; x < to->width; x++, out += 3) {
            const int32_t *weights = f->weights + (size_t)x * (size_t)f->width;
            const unsigned char *pixel = row + (size_t)f->first[x] * 3;
            int32_t red = 1 << (WEIGHT_BITS - 1), green = red, blue = red;
            for (int i = 0; i < f->count[x]; i++, pixel += 3) {
                red += pixel[0] * weights[i];
                green += pixel[1] * weights[i];
                blue += pixel[2] * weights[i];
            }
            out[0] = rounded(red);
            out[1] = rounded(green);
            out[2] = rounded(blue);
        }
    }
}

static taper_status resize_columns(const taper_rgb *from, filter *f, taper_rgb *to, taper_error *error)
{
    const size_t row = (size_t)from->width * 3;
    int32_t *sums = taper_arena_array(&f->arena, row, sizeof *sums);
    if (sums == NULL) {
        return taper_fail_memory(error);
    }
    for (int y = 0; y < to->height; y++) {
        const int32_t *weights = f->weights + (size_t)y * (size_t)f->width;
        for (size_t i = 0; i < row; i++) {
            sums[i] = 1 << (WEIGHT_BITS - 1);
        }
        for (int k = 0; k < f->count[y]; k++) {
            const unsigned char *pixels = from->pixels + (size_t)(f->first[y] + k) * from->stride;
            for (size_t i = 0; i < row; i++) {
                sums[i] += pixels[i] * weights[k];
            }
        }
        for (size_t i = 0; i < row; i++) {
            to->block[(size_t)y * to->stride + i] = rounded(sums[i]);
        }
    }
    return TAPER_OK;
}

// Makes one of the two passes: changes the width to `side` if `wide`, otherwise the height.
static taper_status resize_one(const taper_allocator *allocator, const taper_rgb *from, bool wide, int side,
                               taper_rgb *to, taper_error *error)
{
    filter f;
    TAPER_TRY(taper_rgb_create(allocator, wide ? side : from->width, wide ? from->height : side, to, error));
    taper_status status = set_filter(&f, allocator, wide ? from->width : from->height, side, error);
    if (status == TAPER_OK && wide) {
        resize_rows(from, &f, to);
    } else if (status == TAPER_OK) {
        status = resize_columns(from, &f, to, error);
    }
    taper_arena_free(&f.arena);
    if (status != TAPER_OK) {
        taper_rgb_free(allocator, to);
    }
    return status;
}

taper_status taper_rgb_resize(const taper_allocator *allocator, const taper_rgb *picture, int width, int height,
                              taper_rgb *to, taper_error *error)
{
    if (picture->width == width && picture->height == height) {
        *to = *picture;
        to->block = NULL;
        return TAPER_OK;
    }
    if (picture->width == width || picture->height == height) {
        return resize_one(allocator, picture, picture->height == height, picture->height == height ? width : height, to,
                          error);
    }
    taper_rgb narrow;
    TAPER_TRY(resize_one(allocator, picture, true, width, &narrow, error));
    const taper_status status = resize_one(allocator, &narrow, false, height, to, error);
    taper_rgb_free(allocator, &narrow);
    return status;
}
