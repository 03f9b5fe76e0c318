// SPDX-License-Identifier: BSD-2-Clause
// Converts images to floats. With enough pixels, a table has the result for each 8-bit colour; otherwise each colour
// needs a division.
#include "image.h"

// TABLE: number of colours in the table; FEW: with fewer pixels than this, the table costs more than it saves.
enum { TABLE = 256, FEW = 1024 };

// ---- bitmaps

static float of_colour(uint32_t colour, float mean, float std)
{
    return ((float)colour / 255.0f - mean) / std;
}

void image_from_pixels(const uint32_t *pixels, size_t count, const image_norm *norm, bool channels_last, float *out)
{
    float table[3][TABLE];
    const bool few = count < FEW;
    for (uint32_t c = 0; c < 3 && !few; c++) {
        for (uint32_t i = 0; i < TABLE; i++) {
            table[c][i] = of_colour(i, norm->mean[c], norm->std[c]);
        }
    }
    const size_t step = channels_last ? 3 : 1, channel = channels_last ? 1 : count;
    for (size_t i = 0; i < count; i++) {
        const uint32_t r = pixels[i] >> 16 & 0xff, g = pixels[i] >> 8 & 0xff, b = pixels[i] & 0xff;
        float *to = out + i * step;
        if (few) {
            to[0] = of_colour(r, norm->mean[0], norm->std[0]);
            to[channel] = of_colour(g, norm->mean[1], norm->std[1]);
            to[2 * channel] = of_colour(b, norm->mean[2], norm->std[2]);
        } else {
            to[0] = table[0][r];
            to[channel] = table[1][g];
            to[2 * channel] = table[2][b];
        }
    }
}

// ---- camera images

// Maps an index of the tensor to an index of the image, on one axis: start + step * index.
typedef struct axis {
    int64_t start, step;
    int64_t last; // last index of the image's axis
} axis;

static void centre(const image_yuv *image, const image_crop *crop, axis *x, axis *y)
{
    const bool turned = crop->degrees == 90 || crop->degrees == 270;
    // The largest centred part of the image, after rotation, with the aspect ratio of the tensor.
    int64_t width = turned ? image->height : image->width, height = turned ? image->width : image->height;
    if (crop->width * height <= crop->height * width) {
        width = crop->width * height / crop->height;
    } else {
        height = crop->height * width / crop->width;
    }
    const int64_t scale = width / crop->width; // integer, as in PyTorch: the remainder is cropped
    if (turned) {
        const int64_t swap = width;
        width = height;
        height = swap;
    }
    const int64_t left = (image->width - width) / 2, top = (image->height - height) / 2;
    const bool back_x = crop->degrees >= 180, back_y = crop->degrees == 90 || crop->degrees == 180;
    *x = (axis){back_x ? left + width - 1 : left, back_x ? -scale : scale, image->width - 1};
    *y = (axis){back_y ? top + height - 1 : top, back_y ? -scale : scale, image->height - 1};
}

// If the tensor is not square, a rotated image does not cover it. Pixels at the border are repeated there.
static int64_t place(const axis *a, int64_t index)
{
    const int64_t at = a->start + a->step * index;
    return at < 0 ? 0 : at > a->last ? a->last : at;
}

static bool plane_holds(size_t size, int64_t row, int64_t pixel, int64_t rows, int64_t columns)
{
    return row >= 0 && pixel >= 0 && (rows - 1) * row + (columns - 1) * pixel < (int64_t)size;
}

static int32_t clamp(int32_t colour)
{
    return colour > 255 ? 255 : colour < 0 ? 0 : colour;
}

typedef struct rgb {
    int32_t r, g, b;
} rgb;

static inline rgb rgb_of(int32_t y, int32_t u, int32_t v)
{
    const int32_t luma = y - 16 < 0 ? 0 : 1192 * (y - 16);
    u -= 128;
    v -= 128;
    return (rgb){clamp((luma + 1634 * v) >> 10), clamp((luma - 833 * v - 400 * u) >> 10),
                 clamp((luma + 2066 * u) >> 10)};
}

static inline float normal(int32_t colour, float mean255, float std255)
{
    return ((float)colour - mean255) / std255;
}

// The pixels of the image from which row y of the tensor is computed.
typedef struct row {
    const uint8_t *y, *u, *v;
} row;

static row row_of(const image_yuv *image, int64_t at)
{
    const ptrdiff_t uv = (ptrdiff_t)((at >> 1) * image->uv_row);
    return (row){image->y + at * image->y_row, image->u + uv, image->v + uv};
}

static inline rgb colour_at(const image_yuv *image, row r, int64_t x)
{
    const ptrdiff_t uv = (ptrdiff_t)((x >> 1) * image->uv_pixel);
    return rgb_of(r.y[x * image->y_pixel], r.u[uv], r.v[uv]);
}

const char *image_from_yuv(const image_yuv *image, const image_crop *crop, const image_norm *norm, bool channels_last,
                           float *out)
{
    if (image->width <= 0 || image->height <= 0) {
        return "Image has no pixels";
    }
    const int64_t half_width = (image->width + 1) / 2, half_height = (image->height + 1) / 2;
    if (!plane_holds(image->y_size, image->y_row, image->y_pixel, image->height, image->width) ||
        !plane_holds(image->u_size, image->uv_row, image->uv_pixel, half_height, half_width) ||
        !plane_holds(image->v_size, image->uv_row, image->uv_pixel, half_height, half_width)) {
        return "Image planes are smaller than their strides and the image's size say";
    }
    axis ax, ay;
    centre(image, crop, &ax, &ay);
    float mean[3], std[3], table[3][TABLE];
    const size_t count = (size_t)crop->width * (size_t)crop->height;
    const bool few = count < FEW;
    for (int c = 0; c < 3; c++) {
        mean[c] = 255 * norm->mean[c];
        std[c] = 255 * norm->std[c];
        for (int32_t i = 0; i < TABLE && !few; i++) {
            table[c][i] = normal(i, mean[c], std[c]);
        }
    }
    const size_t step = channels_last ? 3 : 1, channel = channels_last ? 1 : count;
    const bool inside =
        place(&ax, crop->width - 1) == ax.start + ax.step * (crop->width - 1) && place(&ax, 0) == ax.start;
    float *to = out;
    for (int32_t j = 0; j < crop->height; j++) {
        const row r = row_of(image, place(&ay, j));
        int64_t x = ax.start;
        for (int32_t i = 0; i < crop->width; i++, x += ax.step, to += step) {
            const rgb c = colour_at(image, r, inside ? x : place(&ax, i));
            if (few) {
                to[0] = normal(c.r, mean[0], std[0]);
                to[channel] = normal(c.g, mean[1], std[1]);
                to[2 * channel] = normal(c.b, mean[2], std[2]);
            } else {
                to[0] = table[0][c.r];
                to[channel] = table[1][c.g];
                to[2 * channel] = table[2][c.b];
            }
        }
    }
    return NULL;
}
