// SPDX-License-Identifier: BSD-2-Clause
// Reads the orientation that cameras store in pictures and turns pictures upright, as PIL's ImageOps.exif_transpose
// does.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/image.h"

enum { ORIENTATION = 0x0112, SHORT = 3, ENTRY = 12 };

typedef struct tiff {
    const unsigned char *bytes;
    size_t size;
    bool little;
} tiff;

// Returns the number of `count` bytes at `at`, or 0 beyond the end of the data.
static uint32_t number_at(const tiff *t, size_t at, size_t count)
{
    uint32_t number = 0;
    if (at > t->size || count > t->size - at) {
        return 0;
    }
    for (size_t i = 0; i < count; i++) {
        number = number << 8 | t->bytes[at + (t->little ? count - 1 - i : i)];
    }
    return number;
}

int image_exif_orientation(const unsigned char *bytes, size_t size)
{
    if (size < 8 || (memcmp(bytes, "II*\0", 4) != 0 && memcmp(bytes, "MM\0*", 4) != 0)) {
        return 1;
    }
    const tiff t = {bytes, size, bytes[0] == 'I'};
    const size_t first = number_at(&t, 4, 4);
    // Number of entries of the first TIFF directory; 0 if it is beyond the end of the data.
    const uint32_t entries = number_at(&t, first, 2);
    for (uint32_t i = 0; i < entries; i++) {
        const size_t at = first + 2 + (size_t)i * ENTRY;
        if (at > size || size - at < ENTRY) {
            return 1;
        }
        if (number_at(&t, at, 2) == ORIENTATION && number_at(&t, at + 2, 2) == SHORT) {
            const uint32_t found = number_at(&t, at + 8, 2);
            return found >= 1 && found <= 8 ? (int)found : 1;
        }
    }
    return 1;
}

bool image_turn(const char *subject, int orientation, image *picture)
{
    // For each orientation: whether x and y are swapped, and which axes are reversed after the swap.
    static const struct {
        bool swap, flip_x, flip_y;
    } turns[] = {
        {false, false, false}, {false, true, false}, {false, true, true}, {false, false, true},
        {true, false, false},  {true, true, false},  {true, true, true},  {true, false, true},
    };
    if (orientation < 2 || orientation > 8) {
        return true;
    }
    const bool swap = turns[orientation - 1].swap;
    image turned;
    if (!image_create(subject, swap ? picture->height : picture->width, swap ? picture->width : picture->height,
                      &turned)) {
        return false;
    }
    const unsigned char *from = picture->pixels;
    for (int y = 0; y < picture->height; y++) {
        for (int x = 0; x < picture->width; x++, from += 3) {
            const int across = swap ? y : x, down = swap ? x : y;
            const int column = turns[orientation - 1].flip_x ? turned.width - 1 - across : across;
            const int row = turns[orientation - 1].flip_y ? turned.height - 1 - down : down;
            memcpy(turned.pixels + ((size_t)row * (size_t)turned.width + (size_t)column) * 3, from, 3);
        }
    }
    turned.full_width = swap ? picture->full_height : picture->full_width;
    turned.full_height = swap ? picture->full_width : picture->full_height;
    image_release(picture);
    *picture = turned;
    return true;
}
