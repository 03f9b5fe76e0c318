// SPDX-License-Identifier: BSD-2-Clause
#include "taper/vision.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/files.h"
#include "common/json_value.h"

void vision_options_init(vision_options *options)
{
    *options = (vision_options){.mean = {(double)NAN}, .std = {(double)NAN}};
}

// ---- labels

static void release_labels(vision *v)
{
    for (size_t i = 0; i < v->label_count; i++) {
        free(v->labels[i]);
    }
    free(v->labels);
    v->labels = NULL;
    v->label_count = 0;
}

static bool add_label(const char *subject, vision *v, const char *text, size_t length)
{
    char *copy = malloc(length + 1);
    if (copy == NULL) {
        return error_report_memory(subject);
    }
    for (size_t i = 0; i < length; i++) { // replaces control characters, which could change the state of the terminal
        copy[i] = (unsigned char)text[i] < 32 || text[i] == 127 ? '?' : text[i];
    }
    copy[length] = '\0';
    v->labels[v->label_count++] = copy;
    return true;
}

static bool labels_from_json(const char *subject, const json_value *array, vision *v)
{
    release_labels(v);
    if (array->kind != JSON_ARRAY) {
        return error_report(subject, "labels must be an array of strings");
    }
    v->labels = calloc(array->count + 1, sizeof *v->labels);
    if (v->labels == NULL) {
        return error_report_memory(subject);
    }
    for (size_t i = 0; i < array->count; i++) {
        if (array->items[i].kind != JSON_TEXT) {
            return error_report(subject, "label %zu is %s, not a string", i, json_kind_name(array->items[i].kind));
        }
        if (!add_label(subject, v, array->items[i].text, array->items[i].length)) {
            return false;
        }
    }
    return true;
}

static bool labels_from_lines(const char *path, const char *text, size_t size, vision *v)
{
    size_t lines = 1;
    for (size_t i = 0; i < size; i++) {
        lines += text[i] == '\n';
    }
    release_labels(v);
    v->labels = calloc(lines, sizeof *v->labels);
    if (v->labels == NULL) {
        return error_report_memory(path);
    }
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(text + at, '\n', size - at);
        const size_t length = newline != NULL ? (size_t)(newline - (text + at)) : size - at;
        const bool carriage = length > 0 && text[at + length - 1] == '\r';
        if (!add_label(path, v, text + at, length - carriage)) {
            return false;
        }
        at += length + 1;
    }
    return true;
}

static bool read_labels_file(const char *path, vision *v)
{
    unsigned char *text;
    size_t size;
    if (!file_read(path, (size_t)1 << 26, &text, &size)) {
        return false;
    }
    bool done;
    if (size > 0 && text[0] == '[') {
        json_value *array = json_parse(path, (const char *)text, size);
        done = array != NULL && labels_from_json(path, array, v);
        json_free(array);
    } else {
        done = labels_from_lines(path, (const char *)text, size, v);
    }
    free(text);
    return done;
}

// ---- the settings with the options

// torchvision's presets resize the shorter side to 256 for a crop of 224. Other sizes keep this ratio.
static void apply_size(const vision_options *options, bool segment, taper_preparation *p)
{
    if (options->size[0] == 0) {
        return;
    }
    const int old = p->width < p->height ? p->width : p->height;
    const int smaller = options->size[0] < options->size[1] ? options->size[0] : options->size[1];
    if (segment) {
        p->resize = 0;
    } else if (p->resize != 0 && old != 0) {
        p->resize = (int)((double)p->resize * smaller / old + 0.5);
    }
    p->width = options->size[0];
    p->height = options->size[1];
}

static bool apply_options(const opened_model *opened, const vision_options *options, bool segment, taper_preparation *p)
{
    apply_size(options, segment, p);
    for (int i = 0; i < 3; i++) {
        p->mean[i] = isnan(options->mean[0]) ? p->mean[i] : (float)options->mean[i];
        p->std[i] = isnan(options->std[0]) ? p->std[i] : (float)options->std[i];
        if (p->std[i] == 0) {
            return error_report(opened->path, "the standard deviation of a channel is 0; give --std");
        }
        // Means above 2 are an error: they are meant for pictures with values from 0 to 255, which is a common
        // convention.
        if (fabsf(p->mean[i]) > 2 && isnan(options->std[0])) {
            return error_report(opened->path,
                                "mean %g is of channels in 0..255, here they are in 0..1: give --mean as 255th parts, "
                                "%.3g, and --std, which is %g now",
                                (double)p->mean[i], (double)p->mean[i] / 255, (double)p->std[i]);
        }
        if (fabsf(p->mean[i]) > 2 || fabsf(p->std[i]) > 16) {
            return error_report(opened->path,
                                "mean %g and std %g are of channels in 0..255, here they are in 0..1: give --mean and "
                                "--std as 255th parts, %.3g and %.3g",
                                (double)p->mean[i], (double)p->std[i], (double)p->mean[i] / 255,
                                (double)p->std[i] / 255);
        }
    }
    return true;
}

bool vision_create(const opened_model *opened, const vision_options *options, bool segment, vision *v)
{
    *v = (vision){.preparation = {.struct_size = sizeof v->preparation}};
    v->most_pixels = (size_t)options->megapixels * 1000000;
    bool done = (taper_settings_read(opened->model, NULL, &v->settings, opened->error) == TAPER_OK &&
                 taper_settings_preparation(v->settings, segment ? "segment" : "classify", &v->preparation,
                                            opened->error) == TAPER_OK) ||
                error_report_library(opened->path, opened->error);
    if (done && options->labels != NULL) {
        done = read_labels_file(options->labels, v);
        v->has_labels = true;
        v->labels_path = options->labels;
    }
    done = done && apply_options(opened, options, segment, &v->preparation);
    if (!done) {
        vision_release(v);
    }
    return done;
}

void vision_release(vision *v)
{
    release_labels(v);
    taper_settings_release(v->settings);
    *v = (vision){0};
}

size_t vision_label_count(const vision *v)
{
    return v->has_labels      ? v->label_count
           : v->known != NULL ? v->known->count
                              : taper_settings_label_count(v->settings);
}

void vision_check_classes(vision *v, const opened_model *opened, size_t classes, bool counted)
{
    const size_t labels = vision_label_count(v);
    if (v->checked) {
        return;
    }
    v->checked = true;
    if (labels == 0 && !v->has_labels) {
        v->known = counted ? known_labels_of(classes) : NULL;
        if (v->known != NULL) {
            fprintf(stderr, "the model does not name its %zu classes: they are called as %s's, which has as many\n",
                    classes, v->known->set);
        }
    } else if (counted ? labels != classes : labels < classes) {
        const char *path = v->has_labels ? v->labels_path : opened->path;
        text_put(stderr, path, strlen(path), false);
        fprintf(stderr, ": there are %zu labels for %zu classes\n", labels, classes);
    }
}

const char *vision_label(const vision *v, size_t index, char buffer[32])
{
    if (index < vision_label_count(v)) {
        return v->has_labels      ? v->labels[index]
               : v->known != NULL ? v->known->names[index]
                                  : taper_settings_label(v->settings, index);
    }
    snprintf(buffer, 32, "class %zu", index);
    return buffer;
}

// ---- pictures and results

bool vision_read(const vision *v, const char *path, bool whole, image *picture)
{
    const taper_preparation *p = &v->preparation;
    image_reading how = {.most_pixels = v->most_pixels};
    if (!whole && p->width != 0) {
        how.needed = p->width > p->height ? p->width : p->height;
        how.needed = p->resize > how.needed ? p->resize : how.needed;
    }
    return image_read(path, &how, picture);
}

bool vision_prepare(const vision *v, const opened_model *opened, const char *path, const image *picture,
                    taper_value **input)
{
    const taper_picture given = {.struct_size = sizeof given,
                                 .format = TAPER_PIXELS_RGB,
                                 .width = picture->width,
                                 .height = picture->height,
                                 .planes = {picture->pixels}};
    taper_value *tensor;
    *input = NULL;
    if (taper_picture_tensor(opened->context, &given, &v->preparation, &tensor, opened->error) != TAPER_OK) {
        return error_report_library(path, opened->error);
    }
    const bool done =
        taper_settings_quantize(opened->context, v->settings, 0, tensor, input, opened->error) == TAPER_OK;
    taper_value_release(tensor);
    return done || error_report_library(path, opened->error);
}

bool vision_scores(const opened_model *opened, const taper_value *result, taper_value **tensor)
{
    return taper_scores_find(result, tensor, opened->error) == TAPER_OK ||
           error_report_library(opened->path, opened->error);
}
