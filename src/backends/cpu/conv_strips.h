// SPDX-License-Identifier: BSD-2-Clause
// Divides the output pixels of a convolution into strips in which a tap is in the padding for all pixels or for none,
// so that the kernel can omit such taps. There are three methods. First, an image can be divided into regions, with at
// most three ranges along an axis (for a wide dilation), and the strips of a region are along its longer side. Second,
// a strip can be a part of a column. Third, a strip can be one pixel of several images.
#ifndef TAPER_CPU_CONV_STRIPS_H
#define TAPER_CPU_CONV_STRIPS_H

#include "backends/cpu/conv_cpu.h"

enum { TAPER_CONV_RANGES = 3 };

typedef enum taper_conv_way { TAPER_CONV_ALONG, TAPER_CONV_DOWN, TAPER_CONV_IMAGES } taper_conv_way;

typedef struct taper_conv_region {
    uint32_t first;         // number of the region's first strip in the image
    uint32_t y, x;          // row and column of the region's first pixel
    uint32_t length, parts; // number of pixels of a line of the region; number of strips of a line
    bool down;              // true if the lines of the region are columns
} taper_conv_region;

typedef struct taper_conv_strips {
    size_t count;     // number of strips of all images
    size_t per_image; // number of strips of an image, or of all images if a strip contains pixels of several images
    taper_conv_region regions[TAPER_CONV_RANGES * TAPER_CONV_RANGES];
    size_t region_count;
    taper_conv_way way;
    size_t parts; // number of strips of a line (a column, or a pixel in all images); 0 if `regions` is used
} taper_conv_strips;

typedef struct taper_conv_strip {
    size_t pixel, count; // number of the first pixel, counted over all images; number of pixels
    size_t step;         // distance of two pixels of the strip, in pixels: 1, a row, or an image
    taper_conv_way way;
} taper_conv_strip;

// Computes strips of at most mr pixels. Returns false if these strips would not take less work than strips of
// consecutive pixels.
bool taper_conv_strips_make(const taper_conv2d *job, size_t mr, taper_conv_strips *strips);
taper_conv_strip taper_conv_strip_at(const taper_conv_strips *strips, const taper_conv2d *job, size_t index);
// Returns the share of the work that remains if taps in the padding are omitted, for the best division into strips.
double taper_conv_strips_share(const taper_conv2d *job, size_t mr);

#endif
