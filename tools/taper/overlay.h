// SPDX-License-Identifier: BSD-2-Clause
// Class maps: from a model's scores to one class for each pixel of a photo, and drawn over it.
#ifndef TAPER_TOOLS_OVERLAY_H
#define TAPER_TOOLS_OVERLAY_H

#include <stdint.h>

#include "common/image.h"
#include "taper/vision.h"

typedef struct class_map {
    int width, height;
    size_t classes;
    bool counted;      // it is how many the model has, not the greatest that was seen
    taper_value *mask; // taper_scores_mask
    const int16_t *classes_at;
} class_map;

// As taper_scores_mask has it. Failures are reported.
bool class_map_create(const opened_model *opened, const taper_value *scores, int width, int height, class_map *map);
void class_map_release(class_map *map);
// Pixels of each class; map->classes numbers.
void class_map_count(const class_map *map, uint64_t *pixels);

void overlay_color(const vision *v, size_t index, unsigned char rgb[3]);
// Whether pixels of a class stay as they are in the photo: class 0 when it is the background.
bool overlay_is_background(const vision *v, const class_map *map, size_t index);
void overlay_draw(const vision *v, const class_map *map, image *photo);

#endif
