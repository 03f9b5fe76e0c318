// SPDX-License-Identifier: BSD-2-Clause
// Class maps: find the class of each pixel of a photo from the model's scores, and draw the classes over the photo.
#ifndef TAPER_TOOLS_OVERLAY_H
#define TAPER_TOOLS_OVERLAY_H

#include <stdint.h>

#include "common/image.h"
#include "taper/vision.h"

typedef struct class_map {
    int width, height;
    size_t classes;
    // True if `classes` is the model's number of classes; false if `classes` is 1 + the largest class in the map.
    bool counted;
    taper_value *mask; // value that owns classes_at, from taper_scores_mask
    const int16_t *classes_at;
} class_map;

// Computes the map with taper_scores_mask. Failures are reported.
bool class_map_create(const opened_model *opened, const taper_value *scores, int width, int height, class_map *map);
void class_map_release(class_map *map);
// Sets pixels[i] to the number of pixels of class i, for map->classes classes.
void class_map_count(const class_map *map, uint64_t *pixels);

void overlay_color(const vision *v, size_t index, unsigned char rgb[3]);
// Returns true for the background, class 0, whose pixels are not tinted. Returns false if the model has no background
// class.
bool overlay_is_background(const vision *v, const class_map *map, size_t index);
void overlay_draw(const vision *v, const class_map *map, image *photo);

#endif
