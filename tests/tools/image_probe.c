// SPDX-License-Identifier: BSD-2-Clause
// image_probe IMAGE OUT.raw [WIDTH HEIGHT [NEEDED]]: decodes a picture as the tools do and writes it as raw RGB, for
// comparison with PIL. If WIDTH is 0, the picture is not resized.
#include <stdio.h>
#include <stdlib.h>

#include <taper/taper_app.h>

#include "common/image.h"

// Resizes with the library: makes the library's tensor without mean and std and converts it to bytes.
static bool resize(const image *from, int width, int height, image *to)
{
    const taper_picture picture = {
        .struct_size = sizeof picture, .width = from->width, .height = from->height, .planes = {from->pixels}};
    const taper_preparation how = {.struct_size = sizeof how, .width = width, .height = height, .std = {1, 1, 1}};
    taper_context *context = NULL;
    taper_value *tensor = NULL;
    taper_tensor_info info = {.struct_size = sizeof info};
    const bool done = taper_context_create(NULL, &context, NULL) == TAPER_OK &&
                      taper_picture_tensor(context, &picture, &how, &tensor, NULL) == TAPER_OK &&
                      taper_value_get_tensor(tensor, &info, NULL) == TAPER_OK &&
                      image_create("probe", width, height, to);
    const size_t plane = (size_t)width * (size_t)height;
    for (size_t i = 0; done && i < plane * 3; i++) {
        to->pixels[i] = (unsigned char)(((const float *)info.data)[i % 3 * plane + i / 3] * 255 + 0.5f);
    }
    taper_value_release(tensor);
    taper_context_release(context);
    return done;
}

int main(int argc, char **argv)
{
    image read = {0}, sized = {0};
    if (argc != 3 && argc != 5 && argc != 6) {
        return 2;
    }
    const image_reading how = {.needed = argc == 6 ? atoi(argv[5]) : 0};
    bool done = image_read(argv[1], &how, &read);
    const image *shown = &read;
    if (done && argc >= 5 && atoi(argv[3]) != 0) {
        done = resize(&read, atoi(argv[3]), atoi(argv[4]), &sized);
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
