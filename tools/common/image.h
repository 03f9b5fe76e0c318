// SPDX-License-Identifier: BSD-2-Clause
// Pictures as rows of 8-bit red, green, blue. Reading gives what PIL's ImageOps.exif_transpose(Image.open(path)) gives,
// converted to RGB: turned as the camera was held, alpha dropped. The one difference: PIL clips 16-bit grey pictures,
// here they keep their high byte, as 16-bit coloured ones do in both.
#ifndef TAPER_TOOLS_IMAGE_H
#define TAPER_TOOLS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

enum {
    IMAGE_SIDE_LIMIT = 16384,       // 268 million pixels
    IMAGE_MEGAPIXELS_MOST = 269,    // of that limit in both directions, rounded up
    IMAGE_PIXELS_ALLOWED = 1 << 27, // 134 million: more than cameras of 108 megapixels write
    IMAGE_REDUCED_ABOVE = 1 << 24,  // pixels: smaller pictures are always decoded as they are
    IMAGE_REDUCED_SPARE = 4,        // a reduced picture is still that many times larger than what is needed
};

typedef struct image {
    int width, height;
    unsigned char *pixels;       // width * height * 3
    int full_width, full_height; // in the file; larger than width and height if the picture was reduced while reading
} image;

// Members that are 0 have no say.
typedef struct image_reading {
    size_t most_pixels; // a picture with more is refused; 0: IMAGE_PIXELS_ALLOWED
    int needed;         // the longer side of what the picture is resized to; 0: every pixel is needed
} image_reading;

bool image_create(const char *subject, int width, int height, image *out);
void image_release(image *picture);

// Reads PNG or JPEG; failures are reported. A picture of more than IMAGE_REDUCED_ABOVE pixels that is much larger than
// what is needed is reduced to a half, a quarter or an eighth of its sides while it is decoded, so that it is never in
// memory as a whole. `how` may be NULL.
bool image_read(const char *path, const image_reading *how, image *out);
bool image_write_png(const char *path, const image *picture);
// One byte a pixel: grey.
bool image_write_gray_png(const char *path, int width, int height, const unsigned char *pixels);

// How a picture is to be turned, 1 to 8, by its EXIF data, which begins with a TIFF header; 1 where it does not say.
int image_exif_orientation(const unsigned char *bytes, size_t size);
// Turns and mirrors it so; image_read has done it. Failures are reported.
bool image_turn(const char *subject, int orientation, image *picture);

// The two decoders, for image_read: `out` holds what there is so far also on failure. They end in setjmp handlers, so
// that no local variable is changed after setjmp.
typedef struct image_decoding {
    const char *path;
    const unsigned char *bytes;
    size_t size, at;
    image_reading how;
    int divisor; // of both sides: 1, 2, 4 or 8
    image *out;
    unsigned char *row; // a decoder's scratch; freed by image_read
    int orientation;    // EXIF's, 1 to 8; 0: not said
    char problem[256];  // said when decoding fails
} image_decoding;
// Decoders report nothing themselves, since a line about the work may stand on the terminal: what is wrong becomes the
// problem.
// Whether a picture of that size may be decoded; sets the divisor.
bool image_decoding_accept(image_decoding *decoding, unsigned width, unsigned height);
// Makes room for a picture of that size in `out`, which is the accepted one's divided, and `row` with that many bytes.
bool image_decoding_start(image_decoding *decoding, int width, int height, size_t row);
// What a decoder may have in memory besides the picture, in bytes.
size_t image_decoding_memory(const image_decoding *decoding);
bool image_decode_png(image_decoding *decoding);
bool image_decode_jpeg(image_decoding *decoding);

#endif
