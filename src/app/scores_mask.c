// SPDX-License-Identifier: BSD-2-Clause
// taper_scores_mask (taper_app.h): the class of each pixel.
#include <taper/taper_app.h>

#include <math.h>
#include <string.h>

#include "app/app_values.h"
#include "app/settings.h"
#include "base/arguments.h"
#include "runtime/context.h"

enum { CLASS_LIMIT = 4096 };

// Scores in C order: `classes` planes with `height` rows of `width` scores each.
typedef struct score_planes {
    const float *scores;
    size_t classes, height, width;
} score_planes;

typedef struct class_map {
    int16_t *classes;
    size_t width, height, count; // width and height in pixels; number of classes
} class_map;

// Computes the input position before an output position, and the fraction of the way from that input to the next one.
// Pixels have half-pixel centres.
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

// Makes one row of one class by interpolating in both directions.
static void upsample_row(const score_planes *s, size_t c, size_t before, float part, const column *columns,
                         size_t width, float *narrow, float *row)
{
    const float *upper = s->scores + (c * s->height + before) * s->width;
    const float *lower = before + 1 < s->height ? upper + s->width : upper;
    for (size_t x = 0; x < s->width; x++) {
        narrow[x] = upper[x] + (lower[x] - upper[x]) * part;
    }
    for (size_t x = 0; x < width; x++) {
        const float left = narrow[columns[x].before];
        row[x] = left + (narrow[columns[x].after] - left) * columns[x].part;
    }
}

static taper_status choose_classes(taper_context *context, const score_planes *s, float threshold, class_map *m,
                                   taper_error *error)
{
    const size_t width = m->width;
    taper_arena arena;
    taper_arena_init(&arena, &context->allocator);
    column *columns = taper_arena_array(&arena, width, sizeof *columns);
    float *narrow = taper_arena_array(&arena, s->width, sizeof *narrow);
    float *row = taper_arena_array(&arena, width, sizeof *row), *best = taper_arena_array(&arena, width, sizeof *best);
    if (columns == NULL || narrow == NULL || row == NULL || best == NULL) {
        taper_arena_free(&arena);
        return taper_fail_memory(error);
    }
    for (size_t x = 0; x < width; x++) {
        place(x, s->width, width, &columns[x].before, &columns[x].part);
        columns[x].after = columns[x].before + 1 < s->width ? columns[x].before + 1 : columns[x].before;
    }
    for (size_t y = 0; y < m->height; y++) {
        int16_t *classes = m->classes + y * width;
        size_t before;
        float part;
        place(y, s->height, m->height, &before, &part);
        for (size_t x = 0; x < width; x++) {
            best[x] = s->classes == 1 ? threshold : -INFINITY;
            classes[x] = 0;
        }
        for (size_t c = 0; c < s->classes; c++) {
            upsample_row(s, c, before, part, columns, width, narrow, row);
            for (size_t x = 0; x < width; x++) {
                const bool better = row[x] > best[x];
                best[x] = better ? row[x] : best[x];
                classes[x] = better ? (int16_t)(s->classes == 1 ? 1 : c) : classes[x];
            }
        }
    }
    taper_arena_free(&arena);
    return TAPER_OK;
}

// Returns the threshold for a single plane: 0.5 if the scores are probabilities, 0 if they are logits.
static float single_threshold(const float *scores, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (scores[i] < 0 || scores[i] > 1) {
            return 0;
        }
    }
    return 0.5f;
}

static taper_status from_scores(taper_context *context, const taper_tensor *t, class_map *m, taper_error *error)
{
    const size_t lead = t->rank == 4 ? 1 : 0;
    if ((t->rank != 3 && t->rank != 4) || (lead == 1 && t->sizes[0] != 1) || t->sizes[lead] < 1 ||
        t->sizes[lead] > CLASS_LIMIT || t->sizes[lead + 1] < 1 || t->sizes[lead + 2] < 1) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "scores of 1 x classes x height x width are needed (up to %d classes)",
                   CLASS_LIMIT);
    }
    const float *scores = taper_tensor_data(t);
    const score_planes planes = {scores, (size_t)t->sizes[lead], (size_t)t->sizes[lead + 1],
                                 (size_t)t->sizes[lead + 2]};
    m->count = planes.classes == 1 ? 2 : planes.classes;
    return choose_classes(context, &planes,
                          planes.classes == 1 ? single_threshold(scores, planes.height * planes.width) : 0, m, error);
}

static taper_status from_classes(const taper_tensor *t, class_map *m, taper_error *error)
{
    size_t lead = 0;
    while (t->rank - lead > 2 && t->sizes[lead] == 1) {
        lead++;
    }
    if (t->rank - lead != 2 || t->rank < 2 || t->sizes[lead] < 1 || t->sizes[lead + 1] < 1) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "a map of classes must be 1 x height x width");
    }
    const float *classes = taper_tensor_data(t);
    const size_t height = (size_t)t->sizes[lead], width = (size_t)t->sizes[lead + 1];
    m->count = 1;
    for (size_t i = 0; i < height * width; i++) {
        if (!(classes[i] >= 0 && classes[i] < CLASS_LIMIT)) {
            TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "the map of classes holds %g", (double)classes[i]);
        }
        m->count = (size_t)classes[i] >= m->count ? (size_t)classes[i] + 1 : m->count;
    }
    for (size_t y = 0; y < m->height; y++) {
        const float *row = classes + y * height / m->height * width;
        for (size_t x = 0; x < m->width; x++) {
            m->classes[y * m->width + x] = (int16_t)row[x * width / m->width];
        }
    }
    return TAPER_OK;
}

taper_status taper_scores_mask(taper_context *context, const taper_value *scores, int width, int height,
                               taper_value **mask, size_t *classes, taper_error *error)
{
    taper_tensor *floats;
    taper_tensor_info info = {.struct_size = sizeof info};
    TAPER_NEED_OUT(mask, error);
    TAPER_NEED(context, error);
    TAPER_NEED(scores, error);
    if (width < 1 || height < 1 || width > TAPER_PICTURE_SIDE || height > TAPER_PICTURE_SIDE) {
        TAPER_FAIL(error, TAPER_ERROR_ARGUMENT, "a mask of %dx%d: sides of 1 to %d pixels are supported", width, height,
                   TAPER_PICTURE_SIDE);
    }
    TAPER_TRY(taper_app_floats(context, scores, &floats, error));
    const int64_t sizes[] = {height, width};
    const taper_dtype dtype = (taper_dtype)scores->val.as.tensor->dtype;
    taper_status status = taper_value_tensor(context, TAPER_I16, 2, sizes, mask, error);
    if (status == TAPER_OK) {
        status = taper_value_get_tensor(*mask, &info, error);
    }
    class_map m = {.classes = info.data, .width = (size_t)width, .height = (size_t)height};
    if (status == TAPER_OK) {
        status = taper_dtype_is_integral(dtype) || dtype == TAPER_BOOL ? from_classes(floats, &m, error)
                                                                       : from_scores(context, floats, &m, error);
    }
    taper_obj_release(&floats->head);
    if (status != TAPER_OK) {
        taper_value_release(*mask);
        *mask = NULL;
    } else if (classes != NULL) {
        *classes = m.count;
    }
    return status;
}
