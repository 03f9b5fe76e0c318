// SPDX-License-Identifier: BSD-2-Clause
// Pictures as rows of 8-bit red, green and blue. Reading returns the same as PIL's
// ImageOps.exif_transpose(Image.open(path)), converted to RGB: turned upright, without alpha. There is one difference:
// for 16-bit grey pictures, PIL clips the values, and this reader keeps their high bytes. Both keep the high bytes of
// 16-bit colours.
#ifndef TAPER_TOOLS_IMAGE_H
#define TAPER_TOOLS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

enum {
    IMAGE_SIDE_LIMIT = 16384,       // 268 million pixels
    IMAGE_MEGAPIXELS_MOST = 269,    // the limit of both sides in megapixels, rounded up
    IMAGE_PIXELS_ALLOWED = 1 << 27, // 134 million pixels: cameras of 108 megapixels write fewer
    IMAGE_REDUCED_ABOVE = 1 << 24,  // pixels; smaller pictures are never reduced
    IMAGE_REDUCED_SPARE = 4,        // factor by which a reduced picture is still larger than needed
};

typedef struct image {
    int width, height;
    unsigned char *pixels; // width * height * 3
    // Size in the file; larger than width and height if the picture was reduced while reading.
    int full_width, full_height;
} image;

// Options of image_read. A member that is 0 has its default.
typedef struct image_reading {
    size_t most_pixels; // pictures with more pixels are refused; 0 for IMAGE_PIXELS_ALLOWED
    int needed;         // the longer side after the picture is resized; 0 if every pixel is needed
} image_reading;

bool image_create(const char *subject, int width, int height, image *out);
void image_release(image *picture);

// Reads PNG or JPEG. A picture of more than IMAGE_REDUCED_ABOVE pixels that is much larger than needed is reduced while
// it is decoded. Its sides are divided by 2, 4 or 8, so that it is never in memory as a whole. `how` may be NULL.
// Failures are reported.
bool image_read(const char *path, const image_reading *how, image *out);
bool image_write_png(const char *path, const image *picture);
// Writes a grey picture of one byte per pixel.
bool image_write_gray_png(const char *path, int width, int height, const unsigned char *pixels);

// Returns the orientation, 1 to 8, from EXIF data, which begins with a TIFF header. Returns 1 if the data has none.
int image_exif_orientation(const unsigned char *bytes, size_t size);
// Turns and mirrors the picture upright. image_read has already done this for its result. Failures are reported.
bool image_turn(const char *subject, int orientation, image *picture);

// The two decoders of image_read. After a failure, `out` still owns its pixels. Decoders return through setjmp
// handlers, so that no local variable may change after setjmp.
typedef struct image_decoding {
    const char *path;
    const unsigned char *bytes;
    size_t size, at;
    image_reading how;
    int divisor; // divisor of both sides: 1, 2, 4 or 8
    image *out;
    unsigned char *row; // a row for the decoder; freed by image_read
    int orientation;    // orientation from EXIF, 1 to 8; 0 if unknown
    char problem[256];  // reason, if decoding fails
} image_decoding;
// Decoders write their errors to `problem`, because a progress line may be on the terminal. Returns true if a picture
// of this size may be decoded, and then sets the divisor.
bool image_decoding_accept(image_decoding *decoding, unsigned width, unsigned height);
// Allocates `out` with this size, which is the accepted size after division, and `row` with that many bytes.
bool image_decoding_start(image_decoding *decoding, int width, int height, size_t row);
// Returns how many bytes a decoder may allocate besides the picture.
size_t image_decoding_memory(const image_decoding *decoding);
bool image_decode_png(image_decoding *decoding);
bool image_decode_jpeg(image_decoding *decoding);

#endif
