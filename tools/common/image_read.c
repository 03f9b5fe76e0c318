// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/files.h"
#include "common/image.h"
#include "common/waiting.h"

#define FILE_LIMIT ((size_t)1 << 30)

bool image_create(const char *subject, int width, int height, image *out)
{
    *out = (image){0};
    if (width < 1 || height < 1 || width > IMAGE_SIDE_LIMIT || height > IMAGE_SIDE_LIMIT) {
        return error_report(subject, "a picture of %dx%d: sides of 1 to %d pixels are supported", width, height,
                            IMAGE_SIDE_LIMIT);
    }
    out->pixels = malloc((size_t)width * (size_t)height * 3);
    if (out->pixels == NULL) {
        return error_report_memory(subject);
    }
    out->width = width;
    out->height = height;
    return true;
}

void image_release(image *picture)
{
    free(picture->pixels);
    *picture = (image){0};
}

bool image_decoding_start(image_decoding *decoding, int width, int height, size_t row)
{
    image *out = decoding->out;
    if (width < 1 || height < 1 || width > IMAGE_SIDE_LIMIT || height > IMAGE_SIDE_LIMIT) {
        snprintf(decoding->problem, sizeof decoding->problem,
                 "a picture of %dx%d: sides of 1 to %d pixels are supported", width, height, IMAGE_SIDE_LIMIT);
        return false;
    }
    decoding->row = malloc(row);
    out->pixels = calloc((size_t)width * (size_t)height, 3); // what a damaged file lacks is black
    out->width = width;
    out->height = height;
    if (decoding->row == NULL || out->pixels == NULL) {
        strcpy(decoding->problem, "out of memory");
        return false;
    }
    return true;
}

static bool decode(image_decoding *decoding)
{
    static const unsigned char png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    if (decoding->size >= sizeof png && memcmp(decoding->bytes, png, sizeof png) == 0) {
        return image_decode_png(decoding);
    }
    if (decoding->size >= 3 && memcmp(decoding->bytes, "\xFF\xD8\xFF", 3) == 0) {
        return image_decode_jpeg(decoding);
    }
    strcpy(decoding->problem, "neither a PNG nor a JPEG picture");
    return false;
}

bool image_read(const char *path, image *out)
{
    image_decoding decoding = {.path = path, .out = out};
    unsigned char *bytes;
    waiting shown;
    *out = (image){0};
    if (!file_read(path, FILE_LIMIT, &bytes, &decoding.size)) {
        return false;
    }
    decoding.bytes = bytes;
    waiting_begin(&shown, "reading", path);
    const bool decoded = decode(&decoding);
    waiting_end(&shown);
    const bool done =
        decoded ? image_turn(path, decoding.orientation, out) : error_report(path, "%s", decoding.problem);
    if (!done) {
        image_release(out);
    }
    free(decoding.row);
    free(bytes);
    return done;
}
