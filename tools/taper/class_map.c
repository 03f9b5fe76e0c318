// SPDX-License-Identifier: BSD-2-Clause
// Computes the class of each pixel (overlay.h).
#include <string.h>

#include "common/errors.h"
#include "taper/overlay.h"

bool class_map_create(const opened_model *opened, const taper_value *scores, int width, int height, class_map *map)
{
    taper_tensor_info info = {.struct_size = sizeof info}, given = {.struct_size = sizeof given};
    *map = (class_map){.width = width, .height = height};
    if (taper_value_get_tensor(scores, &given, opened->error) != TAPER_OK ||
        taper_scores_mask(opened->context, scores, width, height, &map->mask, &map->classes, opened->error) !=
            TAPER_OK ||
        taper_value_get_tensor(map->mask, &info, opened->error) != TAPER_OK) {
        class_map_release(map);
        return error_report_library(opened->path, opened->error);
    }
    map->classes_at = info.data;
    map->counted = given.rank >= 3 && given.sizes[given.rank - 3] == (int64_t)map->classes && map->classes > 1;
    return true;
}

void class_map_release(class_map *map)
{
    taper_value_release(map->mask);
    *map = (class_map){0};
}

void class_map_count(const class_map *map, uint64_t *pixels)
{
    memset(pixels, 0, map->classes * sizeof *pixels);
    for (size_t i = 0; i < (size_t)map->width * (size_t)map->height; i++) {
        pixels[map->classes_at[i]]++;
    }
}
