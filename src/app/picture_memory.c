// SPDX-License-Identifier: BSD-2-Clause
// Allocates and frees the memory of pictures.
#include "app/picture.h"
#include "app/settings.h"

taper_status taper_rgb_create(const taper_allocator *allocator, int width, int height, taper_rgb *picture,
                              taper_error *error)
{
    *picture = (taper_rgb){.width = width, .height = height};
    if (width < 1 || height < 1 || width > TAPER_PICTURE_SIDE || height > TAPER_PICTURE_SIDE) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "a picture of %dx%d: sides of 1 to %d pixels are supported", width,
                   height, TAPER_PICTURE_SIDE);
    }
    picture->stride = (size_t)width * 3;
    picture->size = picture->stride * (size_t)height; // the product is less than 2^30
    picture->block = taper_alloc(allocator, picture->size);
    picture->pixels = picture->block;
    return picture->block != NULL ? TAPER_OK : taper_fail_memory(error);
}

void taper_rgb_free(const taper_allocator *allocator, taper_rgb *picture)
{
    taper_free(allocator, picture->block, picture->size);
    picture->block = NULL;
}
