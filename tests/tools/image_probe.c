// SPDX-License-Identifier: BSD-2-Clause
// Writes what the tools make of a picture as raw RGB, for comparison with PIL: image_probe IMAGE OUT.raw [WIDTH HEIGHT]
#include <stdio.h>
#include <stdlib.h>

#include "common/image.h"

int main(int argc, char **argv)
{
    image read = {0}, sized = {0};
    if (argc != 3 && argc != 5) {
        return 2;
    }
    bool done = image_read(argv[1], &read);
    const image *shown = &read;
    if (done && argc == 5) {
        done = image_resize(argv[1], &read, atoi(argv[3]), atoi(argv[4]), &sized);
        shown = &sized;
    }
    FILE *out = done ? fopen(argv[2], "wb") : NULL;
    const size_t bytes = (size_t)shown->width * (size_t)shown->height * 3;
    done = out != NULL && fwrite(shown->pixels, 1, bytes, out) == bytes;
    if (out != NULL && fclose(out) != 0) {
        done = false;
    }
    image_release(&read);
    image_release(&sized);
    return done ? 0 : 1;
}
