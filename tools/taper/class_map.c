// SPDX-License-Identifier: BSD-2-Clause
// The part of overlay.h that finds the class of each pixel.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/tensor_data.h"
#include "taper/overlay.h"

enum { CLASS_LIMIT = 4096 };

// Scores in C order: classes planes of height rows of width.
typedef struct score_planes {
    const float *scores;
    size_t classes, height, width;
} score_planes;

// For each output position the input before it and how far it lies towards the next one (half-pixel centres).
static void place(size_t position, size_t from, size_t to, size_t *before, float *part)
{
    const double at = ((double)position + 0.5) * (double)from / (double)to - 0.5;
    const double inside = at > 0 ? at : 0;
    *before = (size_t)inside;
    *part = (float)(inside - (double)*before);
    if (*before + 1 >= from) {
        *before = from - 1;
        *part = 0;
    }
}

typedef struct column {
    size_t before, after;
    float part;
} column;

// One row of one class, upsampled in both directions.
static void upsample_row(const score_planes *s, size_t c, size_t before, float part, const column *columns, int width,
                         float *narrow, float *row)
{
    const float *upper = s->scores + (c * s->height + before) * s->width;
    const float *lower = before + 1 < s->height ? upper + s->width : upper;
    for (size_t x = 0; x < s->width; x++) {
        narrow[x] = upper[x] + (lower[x] - upper[x]) * part;
    }
    for (int x = 0; x < width; x++) {
        const float left = narrow[columns[x].before];
        row[x] = left + (narrow[columns[x].after] - left) * columns[x].part;
    }
}

static bool choose_classes(const score_planes *s, float threshold, class_map *map)
{
    const size_t width = (size_t)map->width;
    column *columns = calloc(width, sizeof *columns);
    float *narrow = calloc(s->width, sizeof *narrow), *row = calloc(width, sizeof *row),
          *best = calloc(width, sizeof *best);
    const bool done = columns != NULL && narrow != NULL && row != NULL && best != NULL;
    for (size_t x = 0; done && x < width; x++) {
        place(x, s->width, width, &columns[x].before, &columns[x].part);
        columns[x].after = columns[x].before + 1 < s->width ? columns[x].before + 1 : columns[x].before;
    }
    for (size_t y = 0; done && y < (size_t)map->height; y++) {
        uint16_t *classes = map->classes_at + y * width;
        size_t before;
        float part;
        place(y, s->height, (size_t)map->height, &before, &part);
        for (size_t x = 0; x < width; x++) {
            best[x] = s->classes == 1 ? threshold : -INFINITY;
        }
        for (size_t c = 0; c < s->classes; c++) {
            upsample_row(s, c, before, part, columns, map->width, narrow, row);
            for (size_t x = 0; x < width; x++) {
                const bool better = row[x] > best[x];
                best[x] = better ? row[x] : best[x];
                classes[x] = better ? (uint16_t)(s->classes == 1 ? 1 : c) : classes[x];
            }
        }
    }
    free(columns);
    free(narrow);
    free(row);
    free(best);
    return done;
}

// A single plane of probabilities is cut at one half, of logits at 0.
static float single_threshold(const float *scores, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (scores[i] < 0 || scores[i] > 1) {
            return 0;
        }
    }
    return 0.5f;
}

static bool from_scores(const opened_model *opened, const taper_tensor_info *info, class_map *map)
{
    const size_t lead = info->rank == 4 ? 1 : 0;
    if ((info->rank != 3 && info->rank != 4) || (lead == 1 && info->sizes[0] != 1) || info->sizes[lead] < 1 ||
        info->sizes[lead] > CLASS_LIMIT || info->sizes[lead + 1] < 1 || info->sizes[lead + 2] < 1) {
        return error_report(opened->path, "scores of 1 x classes x height x width are needed (up to %d classes)",
                            CLASS_LIMIT);
    }
    size_t count;
    float *scores = tensor_floats(opened->path, info, &count);
    if (scores == NULL) {
        return false;
    }
    const score_planes planes = {scores, (size_t)info->sizes[lead], (size_t)info->sizes[lead + 1],
                                 (size_t)info->sizes[lead + 2]};
    map->classes = planes.classes == 1 ? 2 : planes.classes;
    const bool done = choose_classes(&planes, planes.classes == 1 ? single_threshold(scores, count) : 0, map) ||
                      error_report_memory(opened->path);
    free(scores);
    return done;
}

static bool from_classes(const opened_model *opened, const taper_tensor_info *info, class_map *map)
{
    size_t lead = 0, count;
    while (info->rank - lead > 2 && info->sizes[lead] == 1) {
        lead++;
    }
    if (info->rank - lead != 2 || info->rank < 2 || info->sizes[lead] < 1 || info->sizes[lead + 1] < 1) {
        return error_report(opened->path, "a map of classes must be 1 x height x width");
    }
    float *classes = tensor_floats(opened->path, info, &count);
    if (classes == NULL) {
        return false;
    }
    const size_t height = (size_t)info->sizes[lead], width = (size_t)info->sizes[lead + 1];
    bool done = true;
    map->classes = 1;
    for (size_t i = 0; done && i < count; i++) {
        done = (classes[i] >= 0 && classes[i] < CLASS_LIMIT) ||
               error_report(opened->path, "the map of classes holds %g", (double)classes[i]);
        map->classes = done && (size_t)classes[i] >= map->classes ? (size_t)classes[i] + 1 : map->classes;
    }
    for (size_t y = 0; done && y < (size_t)map->height; y++) {
        const float *row = classes + y * height / (size_t)map->height * width;
        for (size_t x = 0; x < (size_t)map->width; x++) {
            map->classes_at[y * (size_t)map->width + x] = (uint16_t)row[x * width / (size_t)map->width];
        }
    }
    free(classes);
    return done;
}

bool class_map_create(const opened_model *opened, const taper_value *scores, int width, int height, class_map *map)
{
    taper_tensor_info info;
    *map = (class_map){.width = width, .height = height};
    if (!tensor_info(opened->path, scores, opened->error, &info)) {
        return false;
    }
    map->classes_at = calloc((size_t)width * (size_t)height, sizeof *map->classes_at);
    if (map->classes_at == NULL) {
        return error_report_memory(opened->path);
    }
    const bool whole = info.dtype == TAPER_I64 || info.dtype == TAPER_I32 || info.dtype == TAPER_I16 ||
                       info.dtype == TAPER_U8 || info.dtype == TAPER_I8 || info.dtype == TAPER_BOOL;
    const bool done = whole ? from_classes(opened, &info, map) : from_scores(opened, &info, map);
    if (!done) {
        class_map_release(map);
    }
    return done;
}

void class_map_release(class_map *map)
{
    free(map->classes_at);
    *map = (class_map){0};
}

void class_map_count(const class_map *map, uint64_t *pixels)
{
    memset(pixels, 0, map->classes * sizeof *pixels);
    for (size_t i = 0; i < (size_t)map->width * (size_t)map->height; i++) {
        pixels[map->classes_at[i]]++;
    }
}
