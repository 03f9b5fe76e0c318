// SPDX-License-Identifier: BSD-2-Clause
// The output pixels of a convolution, cut into strips for which a tap lies in the padding for all pixels or for none:
// the kernel leaves such taps out. Either an image falls into regions, of which an axis has three ranges at most (a
// wide dilation), and the strips of a region lie along its longer side; or a strip is one pixel of several images.
#ifndef TAPER_CPU_CONV_STRIPS_H
#define TAPER_CPU_CONV_STRIPS_H

#include "backends/cpu/conv_cpu.h"

enum { TAPER_CONV_RANGES = 3 };

typedef enum taper_conv_way { TAPER_CONV_ALONG, TAPER_CONV_DOWN, TAPER_CONV_IMAGES } taper_conv_way;

typedef struct taper_conv_region {
    uint32_t first;         // strip of an image
    uint32_t y, x;          // of its first pixel
    uint32_t length, parts; // of a line: pixels; strips
    bool down;              // lines are columns
} taper_conv_region;

typedef struct taper_conv_strips {
    size_t count;     // of all images
    size_t per_image; // or of all of them, by images
    taper_conv_region regions[TAPER_CONV_RANGES * TAPER_CONV_RANGES];
    size_t region_count;
    taper_conv_way way;
    size_t parts; // of a column, or of all images; 0: by regions
} taper_conv_strips;

typedef struct taper_conv_strip {
    size_t pixel, count; // the first, of all images
    size_t step;         // between pixels: 1, a row, an image
    taper_conv_way way;
} taper_conv_strip;

// Strips of at most mr pixels. False where that would not be less work than cutting pixels one behind the other.
bool taper_conv_strips_make(const taper_conv2d *job, size_t mr, taper_conv_strips *strips);
taper_conv_strip taper_conv_strip_at(const taper_conv_strips *strips, const taper_conv2d *job, size_t index);
// The share of the work that is left when taps in the padding are, in whichever way is less.
double taper_conv_strips_share(const taper_conv2d *job, size_t mr);

#endif
