// SPDX-License-Identifier: BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/files.h"
#include "common/image.h"

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

bool image_read(const char *path, image *out)
{
    static const unsigned char png[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
    image_decoding decoding = {.path = path, .out = out};
    unsigned char *bytes;
    *out = (image){0};
    if (!file_read(path, FILE_LIMIT, &bytes, &decoding.size)) {
        return false;
    }
    decoding.bytes = bytes;
    bool done;
    if (decoding.size >= sizeof png && memcmp(bytes, png, sizeof png) == 0) {
        done = image_decode_png(&decoding);
    } else if (decoding.size >= 3 && memcmp(bytes, "\xFF\xD8\xFF", 3) == 0) {
        done = image_decode_jpeg(&decoding);
    } else {
        strcpy(decoding.problem, "neither a PNG nor a JPEG picture");
        done = false;
    }
    done = done && image_turn(path, decoding.orientation, out);
    if (!done) {
        image_release(out);
        if (decoding.problem[0] != '\0') { // image_create has reported its own
            error_report(path, "%s", decoding.problem);
        }
    }
    free(decoding.row);
    free(bytes);
    return done;
}
