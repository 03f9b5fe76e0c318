// SPDX-License-Identifier: BSD-2-Clause
// Pictures inside the library: rows of 8-bit red, green, blue.
#ifndef TAPER_APP_PICTURE_H
#define TAPER_APP_PICTURE_H

#include "base/memory.h"

typedef struct taper_rgb {
    int width, height;
    size_t stride;               // bytes from the start of a row to the start of the next row
    const unsigned char *pixels; // first byte of the pixels, in the caller's memory or in `block`
    unsigned char *block;        // owned memory, or NULL if the pixels are borrowed
    size_t size;                 // size of `block` in bytes
} taper_rgb;

// Creates a picture with uninitialized, contiguous rows. Fails if a side is longer than TAPER_PICTURE_SIDE.
TAPER_MUST_USE taper_status taper_rgb_create(const taper_allocator *allocator, int width, int height,
                                             taper_rgb *picture, taper_error *error);
void taper_rgb_free(const taper_allocator *allocator, taper_rgb *picture);

// Resizes like PIL's Image.resize(size, BILINEAR), with the same bits. If the picture already has that size, `to`
// borrows its pixels.
TAPER_MUST_USE taper_status taper_rgb_resize(const taper_allocator *allocator, const taper_rgb *picture, int width,
                                             int height, taper_rgb *to, taper_error *error);

#endif
