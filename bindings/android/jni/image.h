// SPDX-License-Identifier: BSD-2-Clause
// Converts images to floats, without Java. pytorch_android_torchvision gives bit-identical results.
#ifndef TAPER_BINDING_IMAGE_H
#define TAPER_BINDING_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct image_norm {
    float mean[3], std[3]; // red, green, blue
} image_norm;

// Converts `count` pixels 0xAARRGGBB to 3 * count floats: (colour / 255 - mean) / std.
void image_from_pixels(const uint32_t *pixels, size_t count, const image_norm *norm, bool channels_last, float *out);

typedef struct image_yuv {
    const uint8_t *y, *u, *v;
    size_t y_size, u_size, v_size;            // sizes of the planes in bytes
    int32_t y_row, y_pixel, uv_row, uv_pixel; // strides of rows and pixels in bytes
    int32_t width, height;
} image_yuv;

typedef struct image_crop {
    int32_t width, height; // size of the tensor
    int32_t degrees;       // clockwise rotation: 0, 90, 180 or 270
} image_crop;

// Returns NULL, or an error about the planes or sizes; `out` was then not written.
const char *image_from_yuv(const image_yuv *image, const image_crop *crop, const image_norm *norm, bool channels_last,
                           float *out);

#endif
