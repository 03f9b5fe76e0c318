// SPDX-License-Identifier: BSD-2-Clause
// Any bytes as a picture, to both decoders; what comes out is scaled and cropped as for a network. A small picture is
// written as PNG and read back.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

// No pixel of a scaled picture is brighter or darker than all it was made of.
static void check_range(const image *from, const image *scaled)
{
    unsigned char low = 255, high = 0;
    for (size_t i = 0; i < (size_t)from->width * (size_t)from->height * 3; i++) {
        low = from->pixels[i] < low ? from->pixels[i] : low;
        high = from->pixels[i] > high ? from->pixels[i] : high;
    }
    for (size_t i = 0; i < (size_t)scaled->width * (size_t)scaled->height * 3; i++) {
        need(scaled->pixels[i] >= low && scaled->pixels[i] <= high);
    }
}

static void scale(const image *picture)
{
    const int sizes[][2] = {{7, 5}, {7, picture->height}, {picture->width, 5}, {picture->width, picture->height}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        image scaled, part;
        need(image_resize("fuzz", picture, sizes[i][0], sizes[i][1], &scaled));
        need(scaled.width == sizes[i][0] && scaled.height == sizes[i][1]);
        check_range(picture, &scaled);
        need(i != 3 || same(picture, &scaled));
        if (i == 0) {
            need(image_crop("fuzz", &scaled, 1, 1, 5, 4, &part) &&
                 memcmp(part.pixels, scaled.pixels + (7 + 1) * 3, (size_t)5 * 3) == 0);
            image_release(&part);
            need(!image_crop("fuzz", &scaled, 1, 1, 7, 4, &part) && !image_crop("fuzz", &scaled, 0, 0, 0, 4, &part));
        }
        image_release(&scaled);
    }
    image none;
    need(!image_resize("fuzz", picture, 0, 5, &none) && !image_resize("fuzz", picture, 7, IMAGE_SIDE_LIMIT + 1, &none));
}

static void write_again(const image *picture)
{
    char path[64];
    image again;
    (void)snprintf(path, sizeof path, "/tmp/fuzz_image_%ld.png", (long)getpid());
    need(image_write_png(path, picture) && image_read(path, &again) && same(picture, &again));
    image_release(&again);
    need(remove(path) == 0);
}

// Places that cannot be written to are reported. The noise is more than a stream keeps back.
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
        const image picture = {64, 64, noise};
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
