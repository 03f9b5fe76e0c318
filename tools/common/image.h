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
    IMAGE_SIDE_LIMIT = 16384,    // largest width or height in pixels; a square of this size has 268 million pixels
    IMAGE_MEGAPIXELS_MOST = 269, // largest area in megapixels: 16384 squared, rounded up
    // Largest number of pixels by default, 134 million: cameras with 108 megapixels write fewer.
    IMAGE_PIXELS_ALLOWED = 1 << 27,
    IMAGE_REDUCED_ABOVE = 1 << 24, // number of pixels up to which pictures are never reduced
    IMAGE_REDUCED_SPARE = 4,       // a reduced picture is at least this many times as wide and high as needed
};

typedef struct image {
    int width, height;
    unsigned char *pixels; // width * height * 3 bytes, by rows
    // Size of the picture in the file, in pixels. It is larger than width and height if the picture was reduced while
    // reading.
    int full_width, full_height;
} image;

// Options of image_read. A member that is 0 has its default value.
typedef struct image_reading {
    size_t most_pixels; // largest number of pixels in a picture that is accepted; 0 for IMAGE_PIXELS_ALLOWED
    int needed;         // longer side in pixels after a later resize; 0 if every pixel of the file is needed
} image_reading;

bool image_create(const char *subject, int width, int height, image *out);
void image_release(image *picture);

// Reads PNG or JPEG. If a picture has more than IMAGE_REDUCED_ABOVE pixels and is much larger than needed, it is
// reduced while it is decoded: its sides are divided by 2, 4 or 8, so that the whole picture is never in memory. `how`
// may be NULL. Failures are reported.
bool image_read(const char *path, const image_reading *how, image *out);
bool image_write_png(const char *path, const image *picture);
// Writes a grey picture of one byte per pixel.
bool image_write_gray_png(const char *path, int width, int height, const unsigned char *pixels);

// Returns the orientation, 1 to 8, from EXIF data, which begins with a TIFF header. Returns 1 if the data has none.
int image_exif_orientation(const unsigned char *bytes, size_t size);
// Turns and mirrors the picture upright. image_read has already done this for its result. Failures are reported.
bool image_turn(const char *subject, int orientation, image *picture);

// The state of the two decoders of image_read. After a failure, `out` still owns its pixels. Decoders return through
// setjmp handlers, so no local variable may change after setjmp.
typedef struct image_decoding {
    const char *path;
    const unsigned char *bytes;
    size_t size, at;
    image_reading how;
    int divisor; // divisor of both sides: 1, 2, 4 or 8
    image *out;
    unsigned char *row; // buffer for one row of the decoder; image_read frees it
    int orientation;    // orientation from EXIF, 1 to 8; 0 if unknown
    char problem[256];  // reason why decoding failed
} image_decoding;
// Sets the divisor and returns true if a picture of this size may be decoded. Otherwise returns false, with the reason
// in `problem`. Decoders do not print errors, because a progress line may be on the terminal.
bool image_decoding_accept(image_decoding *decoding, unsigned width, unsigned height);
// Allocates the pixels of `out` for this size, which is the accepted size divided by the divisor. Also allocates `row`
// with that many bytes.
bool image_decoding_start(image_decoding *decoding, int width, int height, size_t row);
// Returns the number of bytes that a decoder may allocate in addition to the picture's pixels.
size_t image_decoding_memory(const image_decoding *decoding);
bool image_decode_png(image_decoding *decoding);
bool image_decode_jpeg(image_decoding *decoding);

#endif
