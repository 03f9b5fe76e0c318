// SPDX-License-Identifier: BSD-2-Clause
// Pictures as rows of 8-bit red, green, blue. Reading gives what PIL's Image.open(path).convert("RGB") gives: alpha is
// dropped. The one
// difference: PIL clips 16-bit grey pictures, here they keep their high byte, as 16-bit coloured ones do in both.
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

// The two decoders, for image_read: `out` holds what there is so far also on failure. They end in setjmp handlers, so
// that no local variable is changed after setjmp.
typedef struct image_decoding {
    const char *path;
    const unsigned char *bytes;
    size_t size, at;
    image *out;
    unsigned char *row; // a decoder's scratch; freed by image_read
    char problem[256];  // said when decoding fails
} image_decoding;
bool image_decode_png(image_decoding *decoding);
bool image_decode_jpeg(image_decoding *decoding);

#endif
