// SPDX-License-Identifier: BSD-2-Clause
// Draws a class map over a photo: each class has a tint and a light border, and the background is dimmed.
#include "taper/overlay.h"

#include <string.h>

// Colours that differ from each other and from usual photos. The colours repeat if a model has more classes than there
// are colours.
static const unsigned char palette[][3] = {
    {255, 159, 28}, {46, 194, 126},  {58, 134, 255}, {241, 91, 181}, {155, 93, 229},  {0, 229, 255},   {224, 30, 90},
    {198, 255, 0},  {255, 214, 10},  {251, 86, 7},   {0, 187, 169},  {187, 134, 252}, {255, 112, 112}, {124, 179, 66},
    {64, 196, 255}, {255, 171, 145}, {171, 71, 188}, {212, 225, 87}, {38, 166, 154},  {240, 98, 146},
};

enum { PALETTE_COUNT = sizeof palette / sizeof *palette };

void overlay_color(const vision *v, size_t index, unsigned char rgb[3])
{
    static const unsigned char gray[3] = {128, 128, 128};
    if (!taper_settings_color(v->settings, index, rgb)) {
        memcpy(rgb, index == 0 ? gray : palette[(index - 1) % PALETTE_COUNT], 3);
    }
}

bool overlay_is_background(const vision *v, const class_map *map, size_t index)
{
    static const char *const names[] = {"background", "__background__", "unlabeled", "void"};
    if (index != 0 || map->classes < 2) {
        return false;
    }
    const bool labelled = vision_label_count(v) != 0;
    char buffer[32];
    for (size_t i = 0; labelled && i < sizeof names / sizeof *names; i++) {
        if (strcmp(vision_label(v, 0, buffer), names[i]) == 0) {
            return true;
        }
    }
    return !labelled;
}

static int class_at(const class_map *map, int x, int y)
{
    x = x < 0 ? 0 : x >= map->width ? map->width - 1 : x;
    y = y < 0 ? 0 : y >= map->height ? map->height - 1 : y;
    return map->classes_at[(size_t)y * (size_t)map->width + (size_t)x];
}

// Returns true if one of eight points at distance `reach` has another class.
static bool is_border(const class_map *map, int x, int y, int reach)
{
    const int here = class_at(map, x, y), slant = (reach * 7 + 5) / 10;
    return class_at(map, x - reach, y) != here || class_at(map, x + reach, y) != here ||
           class_at(map, x, y - reach) != here || class_at(map, x, y + reach) != here ||
           class_at(map, x - slant, y - slant) != here || class_at(map, x + slant, y - slant) != here ||
           class_at(map, x - slant, y + slant) != here || class_at(map, x + slant, y + slant) != here;
}

static unsigned char mix(int a, int b, int percent_b)
{
    return (unsigned char)((a * (100 - percent_b) + b * percent_b + 50) / 100);
}

static void tint(unsigned char *pixel, const unsigned char color[3], int percent)
{
    for (int c = 0; c < 3; c++) {
        pixel[c] = mix(pixel[c], color[c], percent);
    }
}

// Removes half of the colour and some brightness of a background pixel, so that the tints are visible.
static void step_back(unsigned char *pixel)
{
    const int gray = (77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2] + 128) >> 8;
    for (int c = 0; c < 3; c++) {
        pixel[c] = mix(mix(pixel[c], gray, 55), 0, 22);
    }
}

void overlay_draw(const vision *v, const class_map *map, image *photo)
{
    static const unsigned char white[3] = {255, 255, 255};
    const int side = photo->width < photo->height ? photo->width : photo->height;
    const int line = side / 240 + 1, halo = line + side / 400 + 1;
    for (int y = 0; y < photo->height; y++) {
        for (int x = 0; x < photo->width; x++) {
            unsigned char *pixel = photo->pixels + ((size_t)y * (size_t)photo->width + (size_t)x) * 3, color[3];
            const size_t here = (size_t)class_at(map, x, y);
            if (overlay_is_background(v, map, here)) {
                step_back(pixel);
                continue;
            }
            overlay_color(v, here, color);
            if (is_border(map, x, y, line)) {
                tint(color, white, 35);
                tint(pixel, color, 95);
            } else {
                tint(pixel, color, is_border(map, x, y, halo) ? 65 : 48);
            }
        }
    }
}
