// SPDX-License-Identifier: BSD-2-Clause
// Any bytes as a picture, to both decoders; what comes out is scaled and cropped as for a network.
#include <stdlib.h>

#include "common/image.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void decode(bool (*decoder)(image_decoding *decoding), const uint8_t *data, size_t size)
{
    image picture = {.pixels = NULL}, scaled = {.pixels = NULL}, part = {.pixels = NULL};
    image_decoding decoding = {.path = "fuzz", .bytes = data, .size = size, .out = &picture};
    if (decoder(&decoding) && (size_t)picture.width * (size_t)picture.height <= 1000000) {
        if (image_resize("fuzz", &picture, 7, 5, &scaled)) {
            (void)image_crop("fuzz", &scaled, 1, 1, 5, 4, &part);
        }
    }
    free(decoding.row);
    image_release(&picture);
    image_release(&scaled);
    image_release(&part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    decode(image_decode_png, data, size);
    decode(image_decode_jpeg, data, size);
    return 0;
}
