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
    out->width = out->full_width = width;
    out->height = out->full_height = height;
    return true;
}

void image_release(image *picture)
{
    free(picture->pixels);
    *picture = (image){0};
}

static size_t pixels_allowed(const image_decoding *decoding)
{
    return decoding->how.most_pixels != 0 ? decoding->how.most_pixels : IMAGE_PIXELS_ALLOWED;
}

size_t image_decoding_memory(const image_decoding *decoding)
{
    return pixels_allowed(decoding) * 3; // size of the largest picture that may be decoded without reduction, in bytes
}

static int choose_divisor(const image_reading *how, size_t width, size_t height)
{
    const size_t shorter = width < height ? width : height;
    int divisor = 1;
    if (how->needed > 0 && width * height > IMAGE_REDUCED_ABOVE) {
        while (divisor < 8 && shorter / ((size_t)divisor * 2) >= (size_t)how->needed * IMAGE_REDUCED_SPARE) {
            divisor *= 2;
        }
    }
    return divisor;
}

bool image_decoding_accept(image_decoding *decoding, unsigned width, unsigned height)
{
    if (width < 1 || height < 1 || width > IMAGE_SIDE_LIMIT || height > IMAGE_SIDE_LIMIT) {
        snprintf(decoding->problem, sizeof decoding->problem,
                 "a picture of %ux%u: sides of 1 to %d pixels are supported", width, height, IMAGE_SIDE_LIMIT);
        return false;
    }
    const size_t pixels = (size_t)width * height, allowed = pixels_allowed(decoding);
    if (pixels > allowed) {
        snprintf(decoding->problem, sizeof decoding->problem,
                 "a picture of %ux%u: up to %zu million pixels are read; --load-pixels %zu allows more", width, height,
                 allowed / 1000000, (pixels + 999999) / 1000000);
        return false;
    }
    decoding->divisor = choose_divisor(&decoding->how, width, height);
    decoding->out->full_width = (int)width;
    decoding->out->full_height = (int)height;
    return true;
}

bool image_decoding_start(image_decoding *decoding, int width, int height, size_t row)
{
    image *out = decoding->out;
    decoding->row = calloc(row, 1);
    // The memory is zeroed, so the parts that a damaged file lacks are black.
    out->pixels = calloc((size_t)width * (size_t)height, 3);
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

bool image_read(const char *path, const image_reading *how, image *out)
{
    image_decoding decoding = {.path = path, .how = how != NULL ? *how : (image_reading){0}, .out = out};
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
