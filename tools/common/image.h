// SPDX-License-Identifier: BSD-2-Clause
// Pictures as rows of 8-bit red, green, blue. Reading gives what PIL's ImageOps.exif_transpose(Image.open(path)) gives,
// converted to RGB: turned as the camera was held, alpha dropped. The one difference: PIL clips 16-bit grey pictures,
// here they keep their high byte, as 16-bit coloured ones do in both.
#ifndef TAPER_TOOLS_IMAGE_H
#define TAPER_TOOLS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

enum { IMAGE_SIDE_LIMIT = 16384 }; // 256 megapixels

typedef struct image {
    int width, height;
    unsigned char *pixels; // width * height * 3
} image;

bool image_create(const char *subject, int width, int height, image *out);
void image_release(image *picture);

bool image_read(const char *path, image *out); // PNG or JPEG; failures are reported
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
    image *out;
    unsigned char *row; // a decoder's scratch; freed by image_read
    int orientation;    // EXIF's, 1 to 8; 0: not said
    char problem[256];  // said when decoding fails
} image_decoding;
// Room for a picture of that size in `out`, and `row` with so many bytes; what is wrong becomes the problem: a line
// about the work may stand on the terminal, so that decoders report nothing themselves.
bool image_decoding_start(image_decoding *decoding, int width, int height, size_t row);
bool image_decode_png(image_decoding *decoding);
bool image_decode_jpeg(image_decoding *decoding);

#endif
