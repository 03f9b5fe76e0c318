// SPDX-License-Identifier: BSD-2-Clause
// Decodes any bytes as a picture with both decoders, then rotates and scales the picture as for a network. Writes a
// small picture as PNG and reads it again.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <taper/taper_app.h>

#include "common/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_PIXELS = 1000000, SMALL = 4096 };

static void need(bool holds)
{
    if (!holds) {
        abort();
    }
}

static bool same(const image *a, const image *b)
{
    return a->width == b->width && a->height == b->height &&
           memcmp(a->pixels, b->pixels, (size_t)a->width * (size_t)a->height * 3) == 0;
}

// Checks that each number of a scaled picture is within the range of the original.
static void check_range(const image *from, const float *scaled, size_t count)
{
    unsigned char low = 255, high = 0;
    for (size_t i = 0; i < (size_t)from->width * (size_t)from->height * 3; i++) {
        low = from->pixels[i] < low ? from->pixels[i] : low;
        high = from->pixels[i] > high ? from->pixels[i] : high;
    }
    for (size_t i = 0; i < count; i++) {
        need(scaled[i] >= (float)low / 255 && scaled[i] <= (float)high / 255);
    }
}

static void scale(const image *picture)
{
    static taper_context *context;
    const int sizes[][2] = {{7, 5}, {7, picture->height}, {picture->width, 5}, {picture->width, picture->height}};
    need(context != NULL || taper_context_create(NULL, &context, NULL) == TAPER_OK);
    taper_picture given = {
        .struct_size = sizeof given, .width = picture->width, .height = picture->height, .planes = {picture->pixels}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const taper_preparation how = {
            .struct_size = sizeof how, .width = sizes[i][0], .height = sizes[i][1], .std = {1, 1, 1}};
        taper_value *scaled;
        taper_tensor_info info = {.struct_size = sizeof info};
        given.orientation = (int)(i * 2 + 1);
        need(taper_picture_tensor(context, &given, &how, &scaled, NULL) == TAPER_OK &&
             taper_value_get_tensor(scaled, &info, NULL) == TAPER_OK);
        check_range(picture, info.data, info.bytes / sizeof(float));
        taper_value_release(scaled);
    }
}

static void write_again(const image *picture)
{
    char path[64];
    image again;
    (void)snprintf(path, sizeof path, "/tmp/fuzz_image_%ld.png", (long)getpid());
    need(image_write_png(path, picture) && image_read(path, NULL, &again) && same(picture, &again));
    image_release(&again);
    need(remove(path) == 0);
}

// Checks that errors of writing are reported. The written picture has random pixels, so its file is larger than the
// buffer of a stream.
static void write_nowhere(void)
{
    static unsigned char noise[64 * 64 * 3];
    static bool done;
    if (!done) {
        uint32_t bits = 1;
        for (size_t i = 0; i < sizeof noise; i++) {
            bits = bits * 1664525u + 1013904223u;
            noise[i] = (unsigned char)(bits >> 24);
        }
        const image picture = {.width = 64, .height = 64, .pixels = noise};
        need(!image_write_png("/nowhere/at/all.png", &picture));
        need(access("/dev/full", W_OK) != 0 || !image_write_png("/dev/full", &picture));
    }
    done = true;
}

static void decode(bool (*decoder)(image_decoding *decoding), const uint8_t *data, size_t size)
{
    image picture = {.pixels = NULL};
    image_decoding decoding = {.path = "fuzz", .bytes = data, .size = size, .out = &picture};
    const bool done = decoder(&decoding);
    if (done && (size_t)picture.width * (size_t)picture.height <= MOST_PIXELS) {
        scale(&picture);
        if ((size_t)picture.width * (size_t)picture.height <= SMALL) {
            write_again(&picture);
        }
    }
    free(decoding.row);
    image_release(&picture);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    write_nowhere();
    decode(image_decode_png, data, size);
    decode(image_decode_jpeg, data, size);
    return 0;
}
