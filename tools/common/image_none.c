// SPDX-License-Identifier: BSD-2-Clause
// Replaces the picture functions in builds without libpng and libjpeg, for example for phones. All of these functions
// report an error.
#include <stdio.h>

#include "common/errors.h"
#include "common/image.h"

static bool refuse(image_decoding *decoding)
{
    snprintf(decoding->problem, sizeof decoding->problem, "this build of the program reads no pictures");
    return false;
}

bool image_decode_png(image_decoding *decoding)
{
    return refuse(decoding);
}

bool image_decode_jpeg(image_decoding *decoding)
{
    return refuse(decoding);
}

bool image_write_png(const char *path, const image *picture)
{
    (void)picture;
    return error_report(path, "this build of the program writes no pictures");
}

bool image_write_gray_png(const char *path, int width, int height, const unsigned char *pixels)
{
    (void)width;
    (void)height;
    (void)pixels;
    return error_report(path, "this build of the program writes no pictures");
}
