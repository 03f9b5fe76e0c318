// SPDX-License-Identifier: BSD-2-Clause
// Class maps: the class of each pixel of a photo, from the model's scores, and its drawing over the photo.
#ifndef TAPER_TOOLS_OVERLAY_H
#define TAPER_TOOLS_OVERLAY_H

#include <stdint.h>

#include "common/image.h"
#include "taper/vision.h"

typedef struct class_map {
    int width, height;
    size_t classes;
    bool counted; // true if `classes` is the number of classes of the model, false if it is 1 + the greatest class seen
    taper_value *mask; // the owner of classes_at, from taper_scores_mask
    const int16_t *classes_at;
} class_map;

// Computes the map with taper_scores_mask. Failures are reported.
bool class_map_create(const opened_model *opened, const taper_value *scores, int width, int height, class_map *map);
void class_map_release(class_map *map);
// Fills pixels[map->classes] with the number of pixels of each class.
void class_map_count(const class_map *map, uint64_t *pixels);

void overlay_color(const vision *v, size_t index, unsigned char rgb[3]);
// Returns true if the pixels of the class are not tinted: class 0, if it is the background.
bool overlay_is_background(const vision *v, const class_map *map, size_t index);
void overlay_draw(const vision *v, const class_map *map, image *photo);

#endif
