// SPDX-License-Identifier: BSD-2-Clause
#include "taper/vision.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/errors.h"
#include "common/files.h"
#include "common/json_value.h"
#include "taper/settings.h"

void vision_options_init(vision_options *options)
{
    *options = (vision_options){.mean = {(double)NAN}, .std = {(double)NAN}};
}

// ---- settings

static bool read_triple(const char *subject, const json_value *settings, const char *name, float triple[3])
{
    const json_value *member = json_member(settings, name);
    if (member == NULL) {
        return true;
    }
    bool done = member->kind == JSON_ARRAY && member->count == 3;
    for (size_t i = 0; done && i < 3; i++) {
        const json_value *number = &member->items[i];
        triple[i] = (float)number->number;
        done = (number->kind == JSON_INT || number->kind == JSON_DOUBLE) && isfinite(triple[i]);
    }
    return done || error_report(subject, "%s: \"%s\" must be three numbers", settings_name, name);
}

static bool is_side(const json_value *value)
{
    return value->kind == JSON_INT && value->integer >= 1 && value->integer <= IMAGE_SIDE_LIMIT;
}

static bool read_geometry(const char *subject, const json_value *settings, vision *v)
{
    const json_value *size = json_member(settings, "size"), *shorter = json_member(settings, "resize");
    if (size != NULL) {
        if (size->kind != JSON_ARRAY || size->count != 2 || !is_side(&size->items[0]) || !is_side(&size->items[1])) {
            return error_report(subject, "%s: \"size\" must be [width, height]", settings_name);
        }
        v->width = (int)size->items[0].integer;
        v->height = (int)size->items[1].integer;
        v->shorter = 0;
    }
    if (shorter != NULL) {
        if (!is_side(shorter)) {
            return error_report(subject, "%s: \"resize\" must be a number of pixels", settings_name);
        }
        v->shorter = (int)shorter->integer;
    }
    return true;
}

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
    for (size_t i = 0; i < length; i++) { // a label must not drive the terminal
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

static bool read_colors(const char *subject, const json_value *array, vision *v)
{
    v->colors = calloc(array->count + 1, sizeof *v->colors);
    if (v->colors == NULL) {
        return error_report_memory(subject);
    }
    for (size_t i = 0; i < array->count; i++) {
        const json_value *item = &array->items[i];
        if (item->kind != JSON_TEXT || item->length != 7 || item->text[0] != '#' ||
            strspn(item->text + 1, "0123456789abcdefABCDEF") != 6) {
            return error_report(subject, "%s: \"colors\" must be strings like \"#ff9f1c\"", settings_name);
        }
        const unsigned long rgb = strtoul(item->text + 1, NULL, 16);
        v->colors[i][0] = (unsigned char)(rgb >> 16 & 255);
        v->colors[i][1] = (unsigned char)(rgb >> 8 & 255);
        v->colors[i][2] = (unsigned char)(rgb & 255);
        v->color_count++;
    }
    return true;
}

static bool read_settings(const char *subject, const json_value *settings, vision *v)
{
    if (settings->kind != JSON_OBJECT) {
        return error_report(subject, "%s: must hold an object", settings_name);
    }
    const json_value *labels = json_member(settings, "labels"), *colors = json_member(settings, "colors");
    return read_geometry(subject, settings, v) && read_triple(subject, settings, "mean", v->mean) &&
           read_triple(subject, settings, "std", v->std) && (labels == NULL || labels_from_json(subject, labels, v)) &&
           (colors == NULL || colors->kind != JSON_ARRAY || read_colors(subject, colors, v));
}

static bool read_extra(const opened_model *opened, vision *v)
{
    json_value *settings;
    const bool done =
        settings_read(opened, &settings) && (settings == NULL || read_settings(opened->path, settings, v));
    json_free(settings);
    return done;
}

// torchvision's presets resize the shorter side to 256 for a crop of 224; other sizes keep the proportion.
static void apply_size(const vision_options *options, bool segment, vision *v)
{
    if (options->size[0] == 0) {
        return;
    }
    const int old = v->width < v->height ? v->width : v->height;
    const int smaller = options->size[0] < options->size[1] ? options->size[0] : options->size[1];
    if (segment) {
        v->shorter = 0;
    } else if (v->shorter != 0 && old != 0) {
        v->shorter = (int)((double)v->shorter * smaller / old + 0.5);
    }
    v->width = options->size[0];
    v->height = options->size[1];
}

bool vision_create(const opened_model *opened, const vision_options *options, bool segment, vision *v)
{
    static const float imagenet_mean[3] = {0.485f, 0.456f, 0.406f}, imagenet_std[3] = {0.229f, 0.224f, 0.225f};
    *v = (vision){.width = segment ? 0 : 224, .height = segment ? 0 : 224, .shorter = segment ? 520 : 256};
    memcpy(v->mean, imagenet_mean, sizeof v->mean);
    memcpy(v->std, imagenet_std, sizeof v->std);
    bool done = read_extra(opened, v) && (options->labels == NULL || read_labels_file(options->labels, v));
    apply_size(options, segment, v);
    for (int i = 0; i < 3; i++) {
        v->mean[i] = isnan(options->mean[0]) ? v->mean[i] : (float)options->mean[i];
        v->std[i] = isnan(options->std[0]) ? v->std[i] : (float)options->std[i];
        if (done && v->std[i] == 0) {
            done = error_report(opened->path, "the standard deviation of a channel is 0; give --std");
        }
    }
    if (!done) {
        vision_release(v);
    }
    return done;
}

void vision_release(vision *v)
{
    release_labels(v);
    free(v->colors);
    *v = (vision){0};
}

const char *vision_label(const vision *v, size_t index, char buffer[32])
{
    if (index < v->label_count) {
        return v->labels[index];
    }
    snprintf(buffer, 32, "class %zu", index);
    return buffer;
}
