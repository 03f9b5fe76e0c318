// SPDX-License-Identifier: BSD-2-Clause
// Pictures inside the library: rows of 8-bit red, green, blue.
#ifndef TAPER_APP_PICTURE_H
#define TAPER_APP_PICTURE_H

#include "base/memory.h"

typedef struct taper_rgb {
    int width, height;
    size_t stride;               // bytes from a row to the next
    const unsigned char *pixels; // the caller's, or in `block`
    unsigned char *block;        // NULL: borrowed
    size_t size;                 // of block
} taper_rgb;

// Uninitialized, its rows follow each other. Sides beyond TAPER_PICTURE_SIDE are refused.
TAPER_MUST_USE taper_status taper_rgb_create(const taper_allocator *allocator, int width, int height,
                                             taper_rgb *picture, taper_error *error);
void taper_rgb_free(const taper_allocator *allocator, taper_rgb *picture);

// PIL's Image.resize(size, BILINEAR), to the bit. `to` may be the picture itself, borrowed, where it has that size.
TAPER_MUST_USE taper_status taper_rgb_resize(const taper_allocator *allocator, const taper_rgb *picture, int width,
                                             int height, taper_rgb *to, taper_error *error);

#endif
