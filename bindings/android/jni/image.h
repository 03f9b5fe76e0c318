// SPDX-License-Identifier: BSD-2-Clause
// Images to floats, without Java. The arithmetic is that of pytorch_android_torchvision, to the bit.
#ifndef TAPER_BINDING_IMAGE_H
#define TAPER_BINDING_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct image_norm {
    float mean[3], std[3]; // red, green, blue
} image_norm;

// count pixels, 0xAARRGGBB each, to 3 * count floats: (colour / 255 - mean) / std.
void image_from_pixels(const uint32_t *pixels, size_t count, const image_norm *norm, bool channels_last, float *out);

typedef struct image_yuv {
    const uint8_t *y, *u, *v;
    size_t y_size, u_size, v_size;            // bytes of the planes
    int32_t y_row, y_pixel, uv_row, uv_pixel; // strides
    int32_t width, height;
} image_yuv;

typedef struct image_crop {
    int32_t width, height; // of the tensor
    int32_t degrees;       // clockwise: 0, 90, 180, 270
} image_crop;

// NULL, or what is wrong with the planes or sizes: then out was not written.
const char *image_from_yuv(const image_yuv *image, const image_crop *crop, const image_norm *norm, bool channels_last,
                           float *out);

#endif
